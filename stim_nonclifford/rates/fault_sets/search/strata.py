"""Strata of fault sets by their number of mechanisms, and the tallies of what is kept, and kept and wrong.

P(kept and wrong) is the probability that no mechanism acts times the sum over fault sets X of odds(X) f(X),
where f is the probability that a shot with these faults is kept and wrong; P(kept) likewise. A stratum has
the part of these sums that comes from sets of one weight (number of mechanisms), or of several.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .outcomes import KEPT, WRONG, Floats, OutcomeClasses

__all__ = ["Bound", "EnumeratedSets", "Stratum", "Tally", "product_sum"]

Numbers = npt.NDArray[np.uint32]


def product_sum(a: Floats, b: Floats) -> float:
    """A sum of products, which does not depend on the number of threads, as that of BLAS does."""
    return float((a * b).sum())


@dataclass(frozen=True)
class Tally:
    """Sums over the fault sets of a stratum, with their variances.

    Attributes:
        passing: Sum over the sets that pass the noise-only checks: P(these mechanisms act, no other one).
        kept: The part of it that is kept.
        wrong: The part of it that is kept and wrong.
        covariance: float64, shape (2, 2): of the estimates of ``kept`` and ``wrong``; 0 if all are known.
        missed: The largest event of a sample that may have been missed: what it would add to ``wrong``
            (or ``kept``, in a search for that alone).
    """

    passing: float
    kept: float
    wrong: float
    covariance: Floats = field(default_factory=lambda: np.zeros((2, 2)))
    missed: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        """The tally of two independent samples; one event may have been missed, the larger one."""
        return Tally(
            self.passing + other.passing,
            self.kept + other.kept,
            self.wrong + other.wrong,
            self.covariance + other.covariance,
            max(self.missed, other.missed),
        )

    def scaled(self, factor: float) -> Tally:
        """The sums times a factor."""
        return Tally(
            factor * self.passing,
            factor * self.kept,
            factor * self.wrong,
            factor**2 * self.covariance,
            factor * self.missed,
        )

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


@dataclass(frozen=True)
class Bound:
    """Proven bounds on the sets of a stratum, without enumerating them (``native/.../fault_set_bounds.h``).

    Attributes:
        most: float64, shape (num_circuits,): on the total odds of the sets that pass.
        partners: On the part of all halves with which a half makes a set that passes.
    """

    most: Floats
    partners: float


class Stratum(Protocol):
    """The fault sets of one weight, or of several that are sampled together."""

    weights: range

    @property
    def method(self) -> str:
        """How its sets were found: ``"enumerated"`` or ``"join"``."""

    @property
    def draws(self) -> int:
        """Halves and unions that were drawn; 0 if all sets were enumerated."""

    @property
    def rounds(self) -> int:
        """Number of samples; 0 if all sets were enumerated."""

    @property
    def sets(self) -> int:
        """Sets that pass the checks, each as often as it was found."""

    @property
    def classes(self) -> Numbers:
        """The outcome classes of its sets that can be kept, some of them several times."""

    def passing(self, circuit: int) -> float:
        """The total odds of its sets that pass the checks."""

    def tallies(self, circuit: int, outcomes: OutcomeClasses, bound: Bound) -> tuple[Tally, ...]:
        """The sums for a circuit, one tally for each sampler."""

    def coefficients(self, circuit: int, num_classes: int) -> Floats:
        """The total odds of its sets by outcome class: float64, shape (num_classes,)."""


class EnumeratedSets:
    """All sets of a weight: the sums are exact.

    Args:
        weight: The weight.
        found: What ``FaultSetStudy.enumerate`` found.
        num_circuits: Number of circuits.
    """

    method = "enumerated"
    draws = 0
    rounds = 0

    def __init__(self, weight: int, found: dict[str, Any], num_circuits: int) -> None:
        self.weights = range(weight, weight + 1)
        self.sets, self.steps = int(found["sets"]), int(found["steps"])
        self.candidates, self.num_classes = int(found["candidates"]), int(found["num_keys"])
        self.classes: Numbers = np.asarray(found["keys"])
        self._odds = np.asarray(found["masses"]).reshape(len(self.classes), num_circuits)
        self._left_out = np.asarray(found["left_out"])

    def passing(self, circuit: int) -> float:
        """See ``Stratum``."""
        return float(self._odds[:, circuit].sum() + self._left_out[circuit])

    def tallies(self, circuit: int, outcomes: OutcomeClasses, bound: Bound) -> tuple[Tally, ...]:
        """See ``Stratum``."""
        odds, values = self._odds[:, circuit], outcomes.probabilities[self.classes]
        kept, wrong = (product_sum(odds, values[:, column]) for column in (KEPT, WRONG))
        return (Tally(self.passing(circuit), kept, wrong),)

    def coefficients(self, circuit: int, num_classes: int) -> Floats:
        """See ``Stratum``."""
        sums = np.zeros(num_classes)
        sums[self.classes] = self._odds[:, circuit]
        return sums
