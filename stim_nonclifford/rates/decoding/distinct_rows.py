"""Decodes equal rows of detection events once."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.uint8]

DEFAULT_STORE_BYTES = 32 << 20
"""Memory for decoded rows. Doubled, it takes twice the memory, and rare rows are decoded again less often."""

_ENTRY_BYTES = 170
"""Bytes of an entry of the store, beside its row and its result: two objects and their place, about.

If entries had twice as many, the store would take twice the memory that it may.
"""

_SAVED_FOR_REPEAT = 16
"""Decodes that the store saves for each stored row that is decoded once more. Doubled, that takes half the
time, and a decoder that is random is found out in twice as many rows."""

_MOST_REPEATS = 1024
"""Rows that are decoded once more, before these are as rare among those that are decoded as among those that
are saved. Doubled, a decoder that is random in one of 200 results is found out as surely as now in one of
100: with 99.99%."""


class DistinctRows:
    """A store of the results of rows of detection events, each computed once.

    Of equal rows in a batch, one is decoded. The store holds those that came first: frequent rows are among
    them.

    A decoder may predict differently for equal rows. Then one prediction would stand for all shots with these
    events. So a sample of the stored rows is decoded again, in another order and among other rows: a row
    whose later predictions differ from the first one with probability q escapes r decodes with probability
    (1 - q)^r. What cannot be seen are predictions that follow from the row within one process, but differ in
    the next: a store changes nothing there.

    With ``max_bytes=0``, every row is decoded, even if it equals another one.

    Attributes:
        asked: Number of rows whose results were asked for.
        decoded: Number of rows that were decoded for them.
        repeated: Number of stored rows that were decoded once more.
        is_random: Whether one of them had another result than before.

    Examples:
        >>> rows = np.array([[1, 0], [0, 2], [1, 0]], dtype=np.uint8)
        >>> distinct = DistinctRows(row_bytes=2, result_bytes=1)
        >>> distinct.results(rows, lambda rows: rows[:, :1]).tolist()
        [[1], [0], [1]]
        >>> distinct.asked, distinct.decoded
        (3, 2)
    """

    def __init__(self, *, row_bytes: int, result_bytes: int, max_bytes: int = DEFAULT_STORE_BYTES) -> None:
        self._result_bytes = result_bytes
        self._room = max_bytes // (_ENTRY_BYTES + row_bytes + result_bytes) if row_bytes else 0
        self._store: dict[bytes, bytes] = {}
        self._names: list[bytes] = []  # of the store
        self._rng = np.random.default_rng(0)
        self.asked = self.decoded = self.repeated = 0
        self.is_random = False

    def __len__(self) -> int:
        """Number of stored rows."""
        return len(self._store)

    def results(self, rows: Rows, decode: Callable[[Rows], Rows]) -> Rows:
        """The results of rows, uint8, shape (rows, result_bytes), up to the first one that was not decoded.

        ``decode`` returns the results of rows; of the first ones, if its time is over.
        """
        if not self._room:
            found = decode(np.ascontiguousarray(rows)) if len(rows) else self._array([])
            self.decoded += len(found)
        else:
            found = self._spread(rows, decode)
        self.asked += len(found)
        saved = self.asked - self.decoded
        repeats = min(saved // _SAVED_FOR_REPEAT, _MOST_REPEATS + self.decoded // _SAVED_FOR_REPEAT)
        self._decode_again(repeats, decode)
        return found

    def decode_again(self, decode: Callable[[Rows], Rows]) -> None:
        """Decodes stored rows once more until 1024 have been, however few the store has saved."""
        self._decode_again(_MOST_REPEATS, decode)

    def _spread(self, rows: Rows, decode: Callable[[Rows], Rows]) -> Rows:
        """The results of rows, of which most may be silent: one of these is looked up."""
        fires = np.asarray(rows.any(axis=1))
        if fires.all():
            return self._looked_up(rows, decode)
        silent = int(fires.argmin())
        fires[silent] = True
        places = np.flatnonzero(fires)
        some = self._looked_up(rows[places], decode)
        end = len(rows) if len(some) == len(places) else int(places[len(some)])
        found = np.empty((end, self._result_bytes), dtype=np.uint8)
        if end > silent:
            found[:] = some[np.searchsorted(places, silent)]
        found[places[: len(some)]] = some
        return found

    def _looked_up(self, rows: Rows, decode: Callable[[Rows], Rows]) -> Rows:
        names = _bytes_of(rows)
        results = [*map(self._store.get, names)]
        unknown = [k for k, result in enumerate(results) if result is None]
        first: dict[bytes, int] = {}
        for k in unknown:
            first.setdefault(names[k], k)
        places = [*first.values()]
        fresh = decode(np.ascontiguousarray(rows[places])) if places else self._array([])
        end = len(names) if len(fresh) == len(places) else places[len(fresh)]
        found = dict(zip(first, _bytes_of(fresh), strict=False))
        for k in unknown[: bisect.bisect_left(unknown, end)]:
            results[k] = found[names[k]]
        stored = [*itertools.islice(found.items(), self._room - len(self._store))]
        self._store.update(stored)
        self._names += [name for name, _ in stored]
        self.decoded += len(fresh)
        return self._array(results[:end])

    def _decode_again(self, repeats: int, decode: Callable[[Rows], Rows]) -> None:
        """Decodes stored rows once more, in one batch and in another order, until so many rows have been.

        If there are fewer, they are decoded again and again: so many results are compared, however few
        different rows there are.
        """
        count = repeats - self.repeated
        if not self._store or count <= 0:
            return
        size = len(self._names)
        chosen = self._rng.choice(size, min(count, size), replace=False)
        names = [self._names[k] for k in np.resize(chosen, count).tolist()]
        rows = np.frombuffer(b"".join(names), dtype=np.uint8).reshape(count, -1).copy()
        again = decode(rows)
        self.repeated += len(again)
        before = self._array([self._store[name] for name in names[: len(again)]])
        self.is_random |= not np.array_equal(again, before)

    def forget(self) -> None:
        """Empties the store. Every row is decoded from now on."""
        self._room = 0
        self._store.clear()
        self._names.clear()

    def _array(self, results: Iterable[Any]) -> Rows:
        return np.frombuffer(b"".join(results), dtype=np.uint8).reshape(-1, self._result_bytes).copy()


def _bytes_of(rows: Rows) -> list[bytes]:
    found: list[bytes] = np.ascontiguousarray(rows).view(f"V{rows.shape[1]}")[:, 0].tolist()
    return found
