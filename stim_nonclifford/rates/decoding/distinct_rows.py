"""Decodes equal rows of detection events once."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["DistinctRows"]

Rows = NDArray[np.uint8]

_ENTRY_BYTES = 170
"""Bytes of an entry of the store, beside its row and its result: two objects and their place, about.

If entries had twice as many, the store would take twice the memory that it may.
"""

_SKIPPED_BATCHES = 15
"""Batches that are decoded without the store where it does not pay. Doubled, rows that become frequent later
are found out half as soon."""

_COST_OF_FREQUENT_ROWS = 0.25
"""The time to decode a frequent row, which has few detection events, over that for other rows.

Doubled, the store is used where it saves half as much.
"""

_ALWAYS_REPEATED = 1000
"""Repeated decodes until which all rows that were decoded before are decoded again.

Doubled, a decoder that is random on few rows is found out in twice as many runs.
"""

_MOST_REPEATS = 20
"""Repeated decodes of one row of a batch at most. Doubled, frequent rows are decoded up to twice as often."""

_SHARE_REPEATED = 1 / 16
"""The part of the rows that is decoded again after that. Doubled, decoding them again takes twice as long."""


class DistinctRows:
    """Predictions for rows of detection events, each computed once.

    Of equal rows in a batch, one is decoded. A store holds rows with their predictions, those that came
    first: frequent rows are among them. If fewer than half of the rows are equal to others, and looking them
    up takes longer than decoding them all would, the next batches are decoded without a look at the store.
    This changes the statistics, but no result.

    A decoder may predict differently for equal rows. Then one prediction would stand for all shots with these
    events. So repeated rows are decoded again, in another order and among other rows: those of a batch that
    were decoded before, up to 20 times each, until there were 1000 such decodes; from then on, of each batch
    one in 16 of its distinct ones. One other prediction, and ``is_random`` is true, and every row is decoded
    from then on. A row whose later predictions differ from the first one with probability q escapes r decodes
    with probability (1 - q)^r. What cannot be seen are predictions that follow from the row within one
    process, but differ in the next: a store changes nothing there.

    Examples:
        >>> rows = np.array([[1, 0], [0, 2], [1, 0]], dtype=np.uint8)
        >>> distinct = DistinctRows(lambda rows: rows[:, :1], row_bytes=2, result_bytes=1, max_bytes=1 << 20)
        >>> distinct.results(rows).tolist()
        [[1], [0], [1]]
        >>> found = distinct.statistics()
        >>> found["rows"], found["rows_equal_to_others"], found["rows_decoded"], found["rows_asked_again"]
        (3, 1, 2, 2)
    """

    def __init__(
        self, decode: Callable[[Rows], Rows], *, row_bytes: int, result_bytes: int, max_bytes: int
    ) -> None:
        """Sets up an empty store.

        Args:
            decode: Maps rows, uint8 of shape (n, row_bytes), to results, uint8 of shape (n, result_bytes).
            row_bytes: Bytes of a row.
            result_bytes: Bytes of a result.
            max_bytes: Memory for the store. With 0, every row is decoded, even if it equals another one.
        """
        self._decode = decode
        self._key = np.dtype((np.void, row_bytes))
        self._result_bytes = result_bytes
        self._is_enabled = max_bytes > 0 and row_bytes > 0
        self._most_rows = max_bytes // (_ENTRY_BYTES + row_bytes + result_bytes)
        self._store: dict[bytes, bytes] = {}
        self._blank = bytes(result_bytes)
        self._total = self._found = self._decoded = 0
        self._rows_to_skip = 0
        self._repeated = 0
        self._rng = np.random.default_rng(0)
        self.is_random = False

    def results(self, rows: Rows) -> Rows:
        """The results of rows.

        Args:
            rows: uint8, shape (n, row_bytes).

        Returns:
            uint8, shape (n, result_bytes).
        """
        self._total += len(rows)
        if not self._is_enabled or not len(rows) or self._rows_to_skip > 0:
            self._rows_to_skip -= len(rows)
            return self._decoded_rows(rows)
        start = time.perf_counter()
        keys = np.ascontiguousarray(rows).view(self._key)[:, 0]
        distinct, first, group, numbers = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        names: list[bytes] = distinct.tolist()
        found = [self._store.get(name) for name in names]
        unknown = [k for k, result in enumerate(found) if result is None]
        self._found += len(rows) - int(numbers[unknown].sum())
        before = time.perf_counter()
        fresh = self._decoded_rows(rows[first[unknown]])
        decoding = time.perf_counter() - before
        room = self._most_rows - len(self._store)
        self._store.update({names[k]: fresh[j].tobytes() for j, k in enumerate(unknown[: max(0, room)])})
        distinct_results: Rows = (
            np.frombuffer(
                b"".join(self._blank if result is None else result for result in found), dtype=np.uint8
            )
            .reshape(-1, self._result_bytes)
            .copy()
        )
        distinct_results[unknown] = fresh
        is_repeated = numbers > 1
        is_repeated[[k for k, result in enumerate(found) if result is not None]] = True
        if self._differ_when_repeated(
            rows[first[is_repeated]], distinct_results[is_repeated], numbers[is_repeated]
        ):
            self.is_random, self._is_enabled = True, False
            self._found -= len(rows) - int(numbers[unknown].sum())
            self._decoded -= len(unknown)
            return self._decoded_rows(rows)
        results: Rows = distinct_results[group.ravel()]
        looking = time.perf_counter() - start - decoding
        saved = len(rows) - len(unknown)
        per_row = decoding / max(len(unknown), 1)
        if 2 * saved < len(rows) and looking > saved * per_row * _COST_OF_FREQUENT_ROWS:
            self._rows_to_skip = _SKIPPED_BATCHES * len(rows)
        return results

    def statistics(self) -> dict[str, int]:
        """How often rows were equal to others.

        Returns:
            ``rows``: all rows; ``stored_rows``: rows in the store; ``rows_found_in_store``;
            ``rows_equal_to_others``: rows that were not in the store, but equal to another one of the same
            batch; ``rows_decoded``: rows whose result the decoder computed. These three add up to
            ``rows``. ``rows_asked_again``: rows that it decoded once more, to see whether it is random.
        """
        return {
            "rows": self._total,
            "stored_rows": len(self._store),
            "rows_found_in_store": self._found,
            "rows_equal_to_others": self._total - self._found - self._decoded,
            "rows_decoded": self._decoded,
            "rows_asked_again": self._repeated,
        }

    def _differ_when_repeated(self, rows: Rows, results: Rows, numbers: NDArray[np.intp]) -> bool:
        """Whether some of the rows, which a batch has ``numbers`` times, get another result than before."""
        chosen = np.arange(len(rows))
        if self._repeated < _ALWAYS_REPEATED:
            chosen = np.repeat(chosen, np.minimum(numbers, _MOST_REPEATS))
        else:
            chosen = chosen[self._rng.random(len(rows)) < _SHARE_REPEATED]
        if not len(chosen):
            return False
        chosen = self._rng.permutation(chosen)
        self._repeated += len(chosen)
        again = self._decode(np.ascontiguousarray(rows[chosen]))
        return not np.array_equal(again, results[chosen])

    def _decoded_rows(self, rows: Rows) -> Rows:
        self._decoded += len(rows)
        if not len(rows):
            return np.empty((0, self._result_bytes), dtype=np.uint8)
        return self._decode(np.ascontiguousarray(rows))
