"""Decodes equal rows of detection events once."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["DistinctRows"]

Rows = NDArray[np.uint8]

_ENTRY_BYTES = 170
"""Memory of an entry of the store, beside its row and its result: two objects and their place, about."""

_SKIPPED_BATCHES = 15

_COST_OF_FREQUENT_ROWS = 0.25
"""Frequent rows have few detection events, so that decoding them takes less time than decoding others."""

_ALWAYS_ASKED_AGAIN = 1000
"""Until there were so many questions, repeated rows are all decoded again."""

_TIMES_ASKED_AGAIN = 20
"""At most so often in a batch each, and no oftener than they are there."""

_SHARE_ASKED_AGAIN = 1 / 16
"""And so is this share of those after them, at random."""


class DistinctRows:
    """Predictions for rows of detection events, each computed once.

    Of equal rows in a batch, one is decoded. A store holds rows with their predictions, those that came
    first: frequent rows are among them. If fewer than half of the rows are equal to others, and looking them
    up takes longer than decoding them all would, the next batches are decoded without a look at the store.
    This changes the statistics, but no result.

    A decoder may answer equal rows differently. Then one answer would stand for all shots with these events.
    So repeated rows are decoded again, in another order and among other rows: those of a batch that were
    decoded before, up to 20 times each, until there were 1000 such questions; from then on, of each batch
    one in 16 of its distinct ones. One other answer, and ``is_random`` is true, and every row is decoded
    from then on. A row whose later answers differ from the first one with probability q escapes r questions
    with probability (1 - q)^r. What cannot be seen are answers that follow from the row within one process,
    but differ in the next: a store changes nothing there.

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
        self._asked_again = 0
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
        if self._differ_when_asked_again(
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
            batch; ``rows_decoded``: rows whose result the decoder was asked for. These three add up to
            ``rows``. ``rows_asked_again``: rows that it was asked for once more, to see whether it is random.
        """
        return {
            "rows": self._total,
            "stored_rows": len(self._store),
            "rows_found_in_store": self._found,
            "rows_equal_to_others": self._total - self._found - self._decoded,
            "rows_decoded": self._decoded,
            "rows_asked_again": self._asked_again,
        }

    def _differ_when_asked_again(self, rows: Rows, answers: Rows, numbers: NDArray[np.intp]) -> bool:
        """Whether some of the rows, which are there so many times, get another answer than before."""
        asked = np.arange(len(rows))
        if self._asked_again < _ALWAYS_ASKED_AGAIN:
            asked = np.repeat(asked, np.minimum(numbers, _TIMES_ASKED_AGAIN))
        else:
            asked = asked[self._rng.random(len(rows)) < _SHARE_ASKED_AGAIN]
        if not len(asked):
            return False
        asked = self._rng.permutation(asked)
        self._asked_again += len(asked)
        again = self._decode(np.ascontiguousarray(rows[asked]))
        return not np.array_equal(again, answers[asked])

    def _decoded_rows(self, rows: Rows) -> Rows:
        self._decoded += len(rows)
        if not len(rows):
            return np.empty((0, self._result_bytes), dtype=np.uint8)
        return self._decode(np.ascontiguousarray(rows))
