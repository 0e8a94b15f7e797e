"""Decodes equal rows of detection events once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...base.arrays import Bytes, Words

DEFAULT_STORE_BYTES = 32 << 20
"""Memory for decoded rows. Doubled, it takes twice the memory, and rare rows are decoded again less often."""

_ENTRY_BYTES = 48
"""Bytes of an entry of the store, beside its row and its result: a hash, a place, and room to grow, about."""

_SAVED_FOR_REPEAT = 16
"""Decodes that the store saves for each stored row that is decoded once more. Doubled, that takes half the
time, and a decoder that is random is found out in twice as many rows."""

_MOST_REPEATS = 1024
"""Rows that are decoded once more, before these are as rare as among those that are saved. Doubled, a decoder
is found out, with 99.99%, that is random in one of 200 results in place of 100."""


class DistinctRows:
    """A store of the results of rows of detection events, each computed once; of size 0, all are decoded.

    It holds the rows that came first: frequent ones are among them. A decoder may predict differently for
    equal rows, and one prediction would stand for all of them. So a sample of the stored rows is decoded
    again, in another order and among other rows: a row whose later predictions differ from the first one with
    probability q escapes r decodes with probability (1 - q)^r. (Predictions that differ from process to
    process alone cannot be seen.)
    """

    def __init__(self, *, row_bytes: int, result_bytes: int, max_bytes: int = DEFAULT_STORE_BYTES) -> None:
        self._result_bytes = result_bytes
        self._row_bytes = row_bytes
        self._room = max_bytes // (_ENTRY_BYTES + row_bytes + result_bytes) if row_bytes else 0
        self._rng = np.random.default_rng(0)
        self._multipliers = np.random.default_rng(1).integers(
            1 << 64, size=-(-row_bytes // 8), dtype=np.uint64
        )
        self._size = 0
        self._words: Words = np.empty((0, len(self._multipliers)), dtype=np.uint64)  # the stored rows
        self._results: Bytes = np.empty((0, result_bytes), dtype=np.uint8)
        self._hashes: Words = np.empty(0, dtype=np.uint64)  # of the stored rows, ascending
        self._places = np.empty(0, dtype=np.intp)  # where the row of each hash is
        self.asked = 0  # rows whose results were asked for
        self.decoded = 0  # rows that were decoded for them
        self.repeated = 0  # stored rows that were decoded once more
        self.is_random = False  # whether one of these had another result than before

    def __len__(self) -> int:
        """Number of stored rows."""
        return self._size

    def results(self, rows: Bytes, decode: Callable[[Bytes], Bytes]) -> Bytes:
        """The results of rows, shape (rows, result_bytes), or of the first ones if ``decode`` has no time."""
        if not self._room:
            found = decode(np.ascontiguousarray(rows)) if len(rows) else self._results[:0]
            self.decoded += len(found)
        else:
            found = self._looked_up(rows, decode)
        self.asked += len(found)
        saved = self.asked - self.decoded
        repeats = min(saved // _SAVED_FOR_REPEAT, _MOST_REPEATS + self.decoded // _SAVED_FOR_REPEAT)
        self.decode_again(decode, repeats)
        return found

    def _looked_up(self, rows: Bytes, decode: Callable[[Bytes], Bytes]) -> Bytes:
        """The results of rows, those that are not stored from ``decode``."""
        padded = np.zeros((len(rows), 8 * len(self._multipliers)), dtype=np.uint8)
        padded[:, : self._row_bytes] = rows
        words = padded.view(np.uint64)
        hashes = words @ (self._multipliers | np.uint64(1))
        hashes ^= hashes >> np.uint64(32)
        found = np.empty((len(rows), self._result_bytes), dtype=np.uint8)
        is_known = np.zeros(len(rows), dtype=np.bool_)
        if self._size:
            places = self._places[np.minimum(np.searchsorted(self._hashes, hashes), self._size - 1)]
            is_known = (self._words[places] == words).all(axis=1)
            found[is_known] = self._results[places[is_known]]
        unknown = np.flatnonzero(~is_known)
        if not len(unknown):
            return found
        some, first, of_unknown = np.unique(hashes[unknown], return_index=True, return_inverse=True)
        order = np.argsort(first)
        first, number = first[order], np.argsort(order)[of_unknown.reshape(-1)]
        if not (words[unknown[first[number]]] == words[unknown]).all():  # different rows have the same hash
            some, first, number = hashes[unknown], np.arange(len(unknown)), np.arange(len(unknown))
            order = first
        fresh = decode(np.ascontiguousarray(rows[unknown[first]]))
        is_decoded = number < len(fresh)
        found[unknown[is_decoded]] = fresh[number[is_decoded]]
        self.decoded += len(fresh)
        self._store(words[unknown[first]][: len(fresh)], some[order][: len(fresh)], fresh)
        return found if len(fresh) == len(first) else found[: int(unknown[first[len(fresh)]])]

    def _store(self, words: Words, hashes: Words, results: Bytes) -> None:
        """Stores rows that are not there yet, as far as there is room."""
        begin, count = self._size, min(len(hashes), self._room - self._size)
        if count <= 0:
            return
        self._size += count
        if self._size > len(self._words):
            more = max(self._size, min(2 * len(self._words), self._room)) - len(self._words)
            self._words = np.concatenate([self._words, np.zeros((more, words.shape[1]), dtype=np.uint64)])
            self._results = np.concatenate(
                [self._results, np.zeros((more, self._result_bytes), dtype=np.uint8)]
            )
        self._words[begin : self._size] = words[:count]
        self._results[begin : self._size] = results[:count]
        order = np.argsort(hashes[:count])
        ascending = hashes[:count][order]
        at = np.searchsorted(self._hashes, ascending)
        self._hashes = np.insert(self._hashes, at, ascending)
        self._places = np.insert(self._places, at, begin + order)

    def decode_again(self, decode: Callable[[Bytes], Bytes], repeats: int = _MOST_REPEATS) -> None:
        """Decodes stored rows once more, some of them again and again, until so many results are compared."""
        count = repeats - self.repeated
        if not self._size or count <= 0:
            return
        chosen = self._rng.choice(self._size, min(count, self._size), replace=False)
        places = np.resize(chosen, count)
        rows = np.ascontiguousarray(self._words[places].view(np.uint8)[:, : self._row_bytes])
        again = decode(rows)
        self.repeated += len(again)
        self.is_random |= not np.array_equal(again, self._results[places[: len(again)]])

    def forget(self) -> None:
        """Empties the store. Every row is decoded from now on."""
        self._room = self._size = 0
        self._words, self._results = self._words[:0], self._results[:0]
        self._hashes, self._places = self._hashes[:0], self._places[:0]
