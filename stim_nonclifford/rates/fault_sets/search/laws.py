"""What outcome laws say about keys: the probability that a shot with this key is kept, and kept and wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...._native import FaultSetStudy

__all__ = ["FEW", "KeyValues", "sum_of_products"]

Floats = npt.NDArray[np.float64]

FEW = 10.0
"""Fewer effective hits, (sum of sizes)^2 / (sum of squares), say nothing of the sizes that hits may have."""


def sum_of_products(a: Floats, b: Floats) -> float:
    """A sum of products. Those of BLAS depend, in the last digit, on the number of its threads."""
    return float((a * b).sum())


class KeyValues:
    """Probabilities for the keys of a study, evaluated as they come up.

    Args:
        study: The study.
        num_outputs: Number of outputs of its plan: the observables.
        passing_only: Whether outputs do not matter. Then a shot that is kept counts as wrong, too.
    """

    def __init__(self, study: FaultSetStudy, num_outputs: int, passing_only: bool = False) -> None:
        self._study = study
        self._passing_only = passing_only
        self._num_outputs = num_outputs
        self.kept: Floats = np.zeros(0)
        """Probability that all outcome checks pass, for each key."""
        self.wrong: Floats = np.zeros(0)
        """The same, and that an observable is flipped."""
        self._patterns: dict[int, int] = {}
        self._entries: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]] = []

    def evaluate(self) -> None:
        """Evaluates the keys that are new."""
        laws = self._study.evaluate()
        starts = laws["starts"].astype(np.int64)
        count = len(starts) - 1
        keys = np.repeat(np.arange(count), np.diff(starts))
        probabilities = laws["probabilities"]
        patterns = self._number_patterns(laws["outputs"].reshape(len(keys), -(-self._num_outputs // 64)))
        is_wrong = (patterns > 0) | self._passing_only
        self.kept = np.concatenate([self.kept, np.bincount(keys, probabilities, minlength=count)])
        self.wrong = np.concatenate(
            [self.wrong, np.bincount(keys, probabilities * is_wrong, minlength=count)]
        )
        self._entries.append((keys[is_wrong] + laws["first"], patterns[is_wrong], probabilities[is_wrong]))

    def pattern_sums(self, coefficients: Floats) -> dict[int, float]:
        """For each combination of flipped observables the sum over keys of coefficient times probability.

        Args:
            coefficients: float64, shape (num_keys,).

        Returns:
            Combination (bit k for observable k) -> sum; without the combination of none.
        """
        sums = np.zeros(len(self._patterns) + 1)
        for keys, patterns, probabilities in self._entries:
            sums += np.bincount(patterns, coefficients[keys] * probabilities, minlength=len(sums))
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
