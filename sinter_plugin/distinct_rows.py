"""Decodes equal rows of detection events once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["DistinctRows"]

Rows = NDArray[np.uint8]
Words = NDArray[np.uint64]

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_LARGEST_STORE = 1 << 20


class DistinctRows:
    """Predictions for rows of detection events, each computed once if it is seen often.

    A store holds rows with their predictions. A row has one place in it, given by its hash value. The first
    row to come keeps its place, so that frequent rows, which come early, are those that are stored. Rows of a
    batch that are not in the store are decoded once each. Rows are compared bit by bit: equal hash values do
    no harm.

    Examples:
        >>> rows = np.array([[1, 0], [0, 2], [1, 0]], dtype=np.uint8)
        >>> distinct = DistinctRows(lambda rows: rows[:, :1], row_bytes=2, result_bytes=1, max_bytes=1 << 20)
        >>> distinct.results(rows).tolist()
        [[1], [0], [1]]
        >>> distinct.statistics()
        {'rows': 3, 'stored_rows': 2, 'rows_found_in_store': 0, 'rows_equal_to_others': 1, 'rows_decoded': 2}
    """

    def __init__(
        self, decode: Callable[[Rows], Rows], *, row_bytes: int, result_bytes: int, max_bytes: int
    ) -> None:
        """Sets up an empty store.

        Args:
            decode: Maps rows, uint8 of shape (n, row_bytes), to results, uint8 of shape (n, result_bytes).
                The result of a row must not depend on the other rows.
            row_bytes: Bytes of a row.
            result_bytes: Bytes of a result.
            max_bytes: Memory for the store. With 0, every row is decoded, even if it equals another one.
        """
        self._decode = decode
        self._row_bytes = row_bytes
        self._num_words = max(1, -(-row_bytes // 8))
        self._enabled = max_bytes > 0
        places = max(2, min(_LARGEST_STORE, max_bytes // (8 * self._num_words + result_bytes + 1)))
        self._bits = places.bit_length() - 1  # a power of two
        places = 1 << self._bits if self._enabled else 0
        self._rows: Words = np.zeros((places, self._num_words), dtype=np.uint64)
        self._results: Rows = np.zeros((places, result_bytes), dtype=np.uint8)
        self._is_filled: NDArray[np.bool_] = np.zeros(places, dtype=np.bool_)
        self._total = self._found = self._decoded = 0

    def results(self, rows: Rows) -> Rows:
        """The results of rows.

        Args:
            rows: uint8, shape (n, row_bytes).

        Returns:
            uint8, shape (n, result_bytes).
        """
        self._total += len(rows)
        if not self._enabled or not len(rows):
            self._decoded += len(rows)
            return self._decode(np.ascontiguousarray(rows))
        words: Words = np.zeros((len(rows), self._num_words), dtype=np.uint64)
        words.view(np.uint8)[:, : self._row_bytes] = rows
        hashes = _hashes(words)
        places = (hashes >> np.uint64(64 - self._bits)).astype(np.intp)
        results = self._results[places]
        is_known = self._is_filled[places]
        for k in range(self._num_words):
            is_known &= self._rows[places, k] == words[:, k]
        unknown = np.flatnonzero(~is_known)
        self._found += len(rows) - len(unknown)
        if len(unknown):
            first, group = _groups(hashes[unknown], words[unknown])
            chosen = unknown[first]
            fresh = self._decode(np.ascontiguousarray(rows[chosen]))
            self._decoded += len(chosen)
            results[unknown] = fresh[group]
            self._store(places[chosen], words[chosen], fresh)
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
            "stored_rows": int(np.count_nonzero(self._is_filled)),
            "rows_found_in_store": self._found,
            "rows_equal_to_others": self._total - self._found - self._decoded,
            "rows_decoded": self._decoded,
        }

    def _store(self, places: NDArray[np.intp], words: Words, results: Rows) -> None:
        is_free = ~self._is_filled[places]
        # If several go to the same place, NumPy writes the last one; its row and result must fit together.
        places, last = np.unique(places[is_free][::-1], return_index=True)
        chosen = np.flatnonzero(is_free)[::-1][last]
        self._rows[places] = words[chosen]
        self._results[places] = results[chosen]
        self._is_filled[places] = True


def _hashes(words: Words) -> Words:
    """A hash value of each row, of which the high bits depend on all bits of the row."""
    value: Words = np.zeros(len(words), dtype=np.uint64)
    for k in range(words.shape[1]):
        value ^= words[:, k]
        value *= _MULTIPLIER
        value ^= value >> np.uint64(29)
    return value * _MULTIPLIER


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
