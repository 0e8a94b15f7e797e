"""Outcome classes of fault sets, with the probabilities of being kept, and kept and wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...._native import FaultSetStudy

Floats = npt.NDArray[np.float64]

KEPT, WRONG = 0, 1
"""Columns of sums over fault sets: probability of being kept, and of being kept and wrong."""


class OutcomeClasses:
    """Probabilities of being kept, and kept and wrong, for the outcome classes of a search.

    Fault sets that flip the same signature (the signs of the quantum outcome distribution) and the same
    outputs are an outcome class: for all of them a shot is kept with the same probability.

    Args:
        column: The only sum that is needed; the other column is 0. None: both are needed.

    Attributes:
        probabilities: float64, shape (num_classes, 2): P(kept | class) and P(kept and wrong | class).
    """

    def __init__(self, native: FaultSetStudy, num_outputs: int, column: int | None = None) -> None:
        self._native = native
        self._num_outputs = num_outputs
        self._column = column
        self.probabilities: Floats = np.zeros((0, 2))
        self._patterns: dict[int, int] = {}
        self._entries: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]] = []

    def evaluate(self) -> None:
        """Computes the probabilities of classes that are new."""
        found = self._native.evaluate()
        starts = found["starts"].astype(np.int64)
        count = len(starts) - 1
        classes = np.repeat(np.arange(count), np.diff(starts))
        probabilities = found["probabilities"]
        patterns = self._number_patterns(found["outputs"].reshape(len(classes), -(-self._num_outputs // 64)))
        is_wrong = patterns > 0
        of_kept = np.bincount(classes, probabilities, minlength=count)
        of_wrong = np.bincount(classes, probabilities * is_wrong, minlength=count)
        new = np.stack([of_kept, of_wrong], axis=1)
        if self._column is not None:
            new[:, 1 - self._column] = 0.0
        self.probabilities = np.concatenate([self.probabilities, new])
        self._entries.append(
            (classes[is_wrong] + found["first"], patterns[is_wrong], probabilities[is_wrong])
        )

    def pattern_sums(self, coefficients: Floats) -> dict[int, float]:
        """For each combination of flipped observables the sum over classes of coefficient times probability.

        A combination has bit k for observable k. That of no observable is left out.
        """
        sums = np.zeros(len(self._patterns) + 1)
        for classes, patterns, probabilities in self._entries:
            sums += np.bincount(patterns, coefficients[classes] * probabilities, minlength=len(sums))
        return {pattern: float(sums[k]) for pattern, k in self._patterns.items() if sums[k] > 0}

    def _number_patterns(self, outputs: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """A number for each combination of outputs, 0 for none of them."""
        if not outputs.size:
            return np.zeros(len(outputs), dtype=np.int64)
        distinct, inverse = np.unique(outputs, axis=0, return_inverse=True)
        numbers = []
        for words in distinct.tolist():
            pattern = sum(word << 64 * k for k, word in enumerate(words))
            numbers.append(self._patterns.setdefault(pattern, len(self._patterns) + 1) if pattern else 0)
        return np.array(numbers, dtype=np.int64)[inverse.ravel()]
