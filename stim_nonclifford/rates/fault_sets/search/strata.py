"""Strata of fault sets by their number of mechanisms, and their sums; those of enumerated sets are exact.

P(kept and wrong) is the probability that no mechanism acts times the sum over fault sets X of odds(X) f(X),
where f is the probability that a shot with these faults is kept and wrong; P(kept) likewise. A stratum has
the part of these sums that comes from sets of one weight (number of mechanisms), or of several.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .outcomes import KEPT, WRONG, Floats, OutcomeClasses

Numbers = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class StratumSums:
    """Sums over the fault sets of a stratum, with their variances.

    Attributes:
        passing: Sum over the sets that pass the noise-only checks: P(these mechanisms act, no other one).
        kept: The part of it that is kept.
        wrong: The part of it that is kept and wrong.
        covariance: float64, shape (2, 2): of the estimates of ``kept`` and ``wrong``; 0 if all are known.
        missed: The largest event of a sample that may have been missed: what it would add to ``wrong``
            (or ``kept``, in a search for that alone).
    """

    passing: float = 0.0
    kept: float = 0.0
    wrong: float = 0.0
    covariance: Floats = field(default_factory=lambda: np.zeros((2, 2)))
    missed: float = 0.0

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
    """All sets of a weight, as ``FaultSetStudy.enumerate`` found them: the sums are exact.

    Attributes:
        weights: The weight.
        sets: Number of sets that pass the checks.
        steps: Steps of the search.
        candidates: Number of sets that may be kept, as far as that is known without outcome distributions.
        num_classes: Number of their outcome classes.
        classes: The outcome classes with which a shot can be kept.
        passing: The total odds of the sets that pass the checks.
    """

    method = "enumerated"
    draws = 0

    def __init__(self, weight: int, found: dict[str, Any]) -> None:
        self.weights = range(weight, weight + 1)
        self.sets, self.steps = int(found["sets"]), int(found["steps"])
        self.candidates, self.num_classes = int(found["candidates"]), int(found["num_keys"])
        self.classes: Numbers = np.asarray(found["keys"])
        self._odds: Floats = np.asarray(found["masses"])
        self.passing = float(self._odds.sum() + found["left_out"])

    def sums(self, outcomes: OutcomeClasses, factor: float) -> StratumSums:
        """The sums, as probabilities of sets whose odds count ``factor``."""
        values = factor * outcomes.probabilities[self.classes]
        kept, wrong = (product_sum(self._odds, values[:, column]) for column in (KEPT, WRONG))
        return StratumSums(factor * self.passing, kept, wrong)

    def coefficients(self, num_classes: int) -> Floats:
        """The total odds of the sets by outcome class: float64, shape (num_classes,)."""
        return np.bincount(self.classes, self._odds, minlength=num_classes).astype(np.float64)


def product_sum(a: Floats, b: Floats) -> float:
    """A sum of products, which does not depend on the number of threads, as that of BLAS does."""
    return float((a * b).sum())
