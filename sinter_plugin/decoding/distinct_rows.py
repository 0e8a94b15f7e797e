"""Decodes equal rows of detection events once."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["DistinctRows"]

Rows = NDArray[np.uint8]
Words = NDArray[np.uint64]

_MIXING = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
_INCREMENT = np.uint64(0x9E3779B97F4A7C15)
_LARGEST_STORE = 1 << 20
_FEW_ROWS = 1000
_SKIPPED_BATCHES = 15

_COST_OF_FREQUENT_ROWS = 0.25
"""Frequent rows have few detection events, so that decoding them takes less time than decoding others."""


class DistinctRows:
    """Predictions for rows of detection events, each computed once if it is seen often.

    A store holds rows with their predictions. A row has one place in it, given by its hash value. Rows that
    occur twice in a batch are stored, and keep their place, so that the store holds frequent rows. Equal rows
    of a batch that are not in the store are decoded once. Rows are compared bit by bit: equal hash values do
    no harm. For slow decoders, ``store_all`` stores every row.

    Looking rows up takes time, too. If fewer than half of the rows are equal to others, and the decoder is so
    fast that it would hardly take longer, the next batches are decoded without a look at the store. This
    changes the statistics, but no result.

    Examples:
        >>> rows = np.array([[1, 0], [0, 2], [1, 0]], dtype=np.uint8)
        >>> distinct = DistinctRows(lambda rows: rows[:, :1], row_bytes=2, result_bytes=1, max_bytes=1 << 20)
        >>> distinct.results(rows).tolist()
        [[1], [0], [1]]
        >>> distinct.statistics()
        {'rows': 3, 'stored_rows': 1, 'rows_found_in_store': 0, 'rows_equal_to_others': 1, 'rows_decoded': 2}
    """

    def __init__(
        self,
        decode: Callable[[Rows], Rows],
        *,
        row_bytes: int,
        result_bytes: int,
        max_bytes: int,
        store_all: bool = False,
    ) -> None:
        """Sets up an empty store.

        Args:
            decode: Maps rows, uint8 of shape (n, row_bytes), to results, uint8 of shape (n, result_bytes).
                The result of a row must not depend on the other rows.
            row_bytes: Bytes of a row.
            result_bytes: Bytes of a result.
            max_bytes: Memory for the store. With 0, every row is decoded, even if it equals another one.
            store_all: Whether to store rows that occur once in a batch, too, as long as their place is free.
        """
        self._decode = decode
        self._needed = 1 if store_all else 2
        self._row_bytes = row_bytes
        self._num_words = max(1, -(-row_bytes // 8))
        self._enabled = max_bytes > 0
        places = max(2, min(_LARGEST_STORE, max_bytes // (8 * self._num_words + 8 + result_bytes)))
        self._bits = places.bit_length() - 1  # a power of two
        places = 1 << self._bits if self._enabled else 0
        self._hashes: Words = np.zeros(places, dtype=np.uint64)  # 0 in free places
        self._rows: Words = np.zeros((places, self._num_words), dtype=np.uint64)
        self._results: Rows = np.zeros((places, result_bytes), dtype=np.uint8)
        self._total = self._found = self._decoded = self._stored = 0
        self._rows_to_skip = 0

    def results(self, rows: Rows) -> Rows:
        """The results of rows.

        Args:
            rows: uint8, shape (n, row_bytes).

        Returns:
            uint8, shape (n, result_bytes).
        """
        self._total += len(rows)
        if not self._enabled or not len(rows) or self._rows_to_skip > 0:
            self._rows_to_skip -= len(rows)
            return self._decoded_rows(rows)
        start = time.perf_counter()
        words: Words = np.zeros((len(rows), self._num_words), dtype=np.uint64)
        words.view(np.uint8)[:, : self._row_bytes] = rows
        hashes = _hashes(words)
        places = (hashes >> np.uint64(64 - self._bits)).astype(np.intp)
        is_known = self._hashes[places] == hashes
        known = np.flatnonzero(is_known)
        is_known[known] = np.all(self._rows[places[known]] == words[known], axis=1)
        known, unknown = np.flatnonzero(is_known), np.flatnonzero(~is_known)
        self._found += len(known)
        results: Rows = np.empty((len(rows), self._results.shape[1]), dtype=np.uint8)
        results[known] = self._results[places[known]]
        first, group = _groups(hashes[unknown], words[unknown])
        chosen = unknown[first]
        before = time.perf_counter()
        fresh = self._decoded_rows(rows[chosen])
        decoding = time.perf_counter() - before
        results[unknown] = fresh[group]
        often = np.flatnonzero(np.bincount(group, minlength=len(first)) >= self._needed)
        self._store(places[chosen[often]], hashes[chosen[often]], words[chosen[often]], fresh[often])
        self._choose(len(rows), len(chosen), decoding, time.perf_counter() - start - decoding)
        return results

    def statistics(self) -> dict[str, int]:
        """How often rows were equal to others.

        Returns:
            ``rows``: all rows; ``stored_rows``: rows in the store; ``rows_found_in_store``;
            ``rows_equal_to_others``: rows that were not in the store, but equal to another one of the same
            batch; ``rows_decoded``: rows passed to the decoder. The last three add up to ``rows``.
        """
        return {
            "rows": self._total,
            "stored_rows": self._stored,
            "rows_found_in_store": self._found,
            "rows_equal_to_others": self._total - self._found - self._decoded,
            "rows_decoded": self._decoded,
        }

    def _decoded_rows(self, rows: Rows) -> Rows:
        self._decoded += len(rows)
        if not len(rows):
            return np.empty((0, self._results.shape[1]), dtype=np.uint8)
        return self._decode(np.ascontiguousarray(rows))

    def _store(self, places: NDArray[np.intp], hashes: Words, words: Words, results: Rows) -> None:
        free = np.flatnonzero(self._hashes[places] == 0)
        places, first = np.unique(places[free], return_index=True)  # of several, one
        chosen = free[first]
        self._hashes[places] = hashes[chosen]
        self._rows[places] = words[chosen]
        self._results[places] = results[chosen]
        self._stored += len(places)

    def _choose(self, rows: int, decoded: int, decoding: float, looking: float) -> None:
        """Chooses whether the next rows are looked up, by the seconds that this took for these rows."""
        saved = rows - decoded
        if rows < _FEW_ROWS or 2 * saved >= rows:
            return
        if looking > decoding / max(decoded, 1) * saved * _COST_OF_FREQUENT_ROWS:
            self._rows_to_skip = _SKIPPED_BATCHES * rows


def _hashes(words: Words) -> Words:
    """A hash value of each row, of which the high bits depend on all bits of the row; never 0."""
    value: Words = np.zeros(len(words), dtype=np.uint64)
    for k in range(words.shape[1]):
        value ^= words[:, k]
        for shift, multiplier in _MIXING:  # splitmix64, a bijection that spreads every bit
            value ^= value >> shift
            value *= multiplier
        value ^= value >> np.uint64(31)
        value += _INCREMENT
    value[value == 0] = 1  # 0 marks free places
    return value


def _groups(hashes: Words, words: Words) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Equal rows: the index of one row of each group, and the group of each row.

    Rows that differ have groups of their own, even if their hash values are equal.
    """
    order = np.argsort(hashes, kind="stable")
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = np.any(words[order[1:]] != words[order[:-1]], axis=1)
    group = np.empty(len(order), dtype=np.intp)
    group[order] = np.cumsum(is_first) - 1
    return order[is_first], group
