"""Strata of fault sets by their number of mechanisms, and their sums; those of enumerated sets are exact.

P(kept and wrong) is the probability that no mechanism acts times the sum over fault sets X of odds(X) f(X),
where f is the probability that a shot with these faults is kept and wrong; P(kept) likewise. A stratum has
the part of these sums that comes from sets of one weight (number of mechanisms), or of several.

Fault sets that flip the same signature (the signs of the quantum outcome distribution) and the same outputs
are an *outcome class*: for all of them f is the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...._native import FaultSetStudy
from ....base.arrays import Floats, Integers, Numbers, Words

KEPT, WRONG = 0, 1
"""Columns of sums over fault sets: probability of being kept, and of being kept and wrong."""


class OutcomeClasses:
    """Probabilities of being kept, and kept and wrong, for the outcome classes of a search.

    They are ``probabilities``, of shape (num_classes, 2): P(kept | class) and P(kept and wrong | class). If
    only one column is needed, the other one is 0.
    """

    def __init__(self, native: FaultSetStudy, num_outputs: int, column: int | None = None) -> None:
        self._native = native
        self._num_outputs = num_outputs
        self._column = column
        self.probabilities: Floats = np.zeros((0, 2))
        self._patterns: dict[int, int] = {}
        self._entries: list[tuple[Integers, Integers, Floats]] = []

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
        """The sum over classes of coefficient times probability, for each combination of flipped observables.

        A combination has bit k for observable k. That of no observable is left out.
        """
        sums = np.zeros(len(self._patterns) + 1)
        for classes, patterns, probabilities in self._entries:
            sums += np.bincount(patterns, coefficients[classes] * probabilities, minlength=len(sums))
        return {pattern: float(sums[k]) for pattern, k in self._patterns.items() if sums[k] > 0}

    def _number_patterns(self, outputs: Words) -> Integers:
        """A number for each combination of outputs, 0 for none of them."""
        if not outputs.size:
            return np.zeros(len(outputs), dtype=np.int64)
        distinct, inverse = np.unique(outputs, axis=0, return_inverse=True)
        numbers = []
        for words in distinct.tolist():
            pattern = sum(word << 64 * k for k, word in enumerate(words))
            numbers.append(self._patterns.setdefault(pattern, len(self._patterns) + 1) if pattern else 0)
        return np.array(numbers, dtype=np.int64)[inverse.ravel()]


@dataclass(frozen=True)
class StratumSums:
    """Sums over the fault sets of a stratum, with their variances."""

    kept: float = 0.0
    wrong: float = 0.0  # kept and wrong
    # shape (2, 2): of the estimates of ``kept`` and ``wrong``; 0 if all are known
    covariance: Floats = field(default_factory=lambda: np.zeros((2, 2)))
    missed: float = 0.0  # the largest event of a sample that may have been missed, in the sum asked for

    def variance(self, rate: float, column: int = WRONG) -> float:
        """The variance of ``wrong`` - rate x ``kept``, or that of ``kept``, in a search for that alone."""
        if column == KEPT:
            return float(self.covariance[KEPT, KEPT])
        (kept, both), (_, wrong) = self.covariance.tolist()
        return max(0.0, wrong - 2 * rate * both + rate**2 * kept)

    @property
    def standard_error(self) -> float:
        """The standard error of ``wrong``, with the largest event that may have been missed."""
        return math.hypot(math.sqrt(max(0.0, float(self.covariance[WRONG, WRONG]))), self.missed)


class EnumeratedSets:
    """All sets of a weight, as ``FaultSetStudy.enumerate`` found them: the sums are exact."""

    method = "enumerated"
    draws = 0

    def __init__(self, weight: int, found: dict[str, Any]) -> None:
        self.weights = range(weight, weight + 1)
        self.sets, self.steps = int(found["sets"]), int(found["steps"])  # sets that pass the checks
        # sets that may be kept, as far as that is known without outcome distributions, and their classes
        self.candidates, self.num_classes = int(found["candidates"]), int(found["num_keys"])
        self.classes: Numbers = np.asarray(found["keys"])  # the outcome classes that can be kept
        self._odds: Floats = np.asarray(found["masses"])
        self.passing = float(self._odds.sum() + found["left_out"])

    def sums(self, outcomes: OutcomeClasses, factor: float) -> StratumSums:
        """The sums, as probabilities of sets whose odds count ``factor``."""
        values = factor * outcomes.probabilities[self.classes]
        kept, wrong = (product_sum(self._odds, values[:, column]) for column in (KEPT, WRONG))
        return StratumSums(kept, wrong)

    def coefficients(self, num_classes: int) -> Floats:
        """The total odds of the sets by outcome class: shape (num_classes,)."""
        return np.bincount(self.classes, self._odds, minlength=num_classes).astype(np.float64)


def product_sum(a: Floats, b: Floats) -> float:
    """A sum of products, which does not depend on the number of threads, as that of BLAS does."""
    return float((a * b).sum())
