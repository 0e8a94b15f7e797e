"""Strata of fault sets by their number of mechanisms, and their sums: enumerated ones, and pooled samples.

P(kept and wrong) is the probability that no mechanism acts times the sum over fault sets X of odds(X) f(X),
where f is the probability that a shot with these faults is kept and wrong; P(kept) likewise. A stratum has
the part of these sums that comes from sets of one weight (number of mechanisms), or of several.

A sample estimates it as a sum over finds of importance weight times f. Samples of a sampler are pooled in
proportion to densities that do not depend on what they find, so that the estimate is unbiased. Finds are
independent, or share draws (the two halves of a find of ``joins``). Then the variance is, with h_ij the value
of the find of the draws i and j,

    sum_i (sum_j h_ij)^2 + sum_j (sum_i h_ij)^2 - sum_ij h_ij^2

without a bias, up to 1/n (W. Hoeffding, Annals of Mathematical Statistics 19, 293 (1948)).

The interval of such a sum needs the largest event that a sample may have (``interval``): one more draw, with
all its sets. It is extrapolated from the sums of the draws: with the k largest sums X_1 >= X_2 >= ... and
Hill's index g = mean of ln(X_i / X_(k+1)), the level that as many further draws exceed with probability q is
X_(k+1) (k / q)^g (B. M. Hill, Annals of Statistics 3, 1163 (1975); I. Weissman, Journal of the American
Statistical Association 73, 812 (1978)).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...._native import FaultSetStudy
from ...estimation.interval import COVERAGE
from .limits import Limits
from .outcomes import KEPT, WRONG, Floats, OutcomeClasses

__all__ = [
    "FEW",
    "FIRST_SETS",
    "EnumeratedSets",
    "FaultSetStratum",
    "Found",
    "Sample",
    "SampledSets",
    "StratumSums",
]

Found = dict[str, Any]
"""A sample of the native search. It is not complete if there were too many sets."""

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint32]

FEW = 10
"""Effective hits, (sum)^2 / (sum of squares), and largest sums, from which the size of others is
extrapolated. If it is doubled, intervals are wider where little was found."""

FIRST_SETS = 20_000
"""Sets that the first sample of a stratum should find, about. If it is doubled, first variances are better,
and searches that need little more than the first samples take longer."""


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

    def __add__(self, other: StratumSums) -> StratumSums:
        """The sums of two independent samples; one event may have been missed, the larger one."""
        return StratumSums(
            self.passing + other.passing,
            self.kept + other.kept,
            self.wrong + other.wrong,
            self.covariance + other.covariance,
            max(self.missed, other.missed),
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
        self.passing = float(self._odds.sum() + found["left_out"][0])

    def sums(self, outcomes: OutcomeClasses, factor: float) -> StratumSums:
        """The sums, as probabilities of sets whose odds count ``factor``."""
        values = factor * outcomes.probabilities[self.classes]
        kept, wrong = (_product_sum(self._odds, values[:, column]) for column in (KEPT, WRONG))
        return StratumSums(factor * self.passing, kept, wrong)

    def coefficients(self, num_classes: int) -> Floats:
        """The total odds of the sets by outcome class: float64, shape (num_classes,)."""
        return np.bincount(self.classes, self._odds, minlength=num_classes).astype(np.float64)


@dataclass(frozen=True)
class Sample:
    """Fault sets that a sample found and that can be kept, each as often as it was found.

    Attributes:
        draws: Number of random draws.
        density: What the sample counts where several are pooled.
        classes: The outcome class of each find.
        members: uint32, shape (finds, largest weight): mechanisms, filled up with the number of mechanisms.
        sizes: For each find the number of its mechanisms.
        weights: float64, shape (finds,): importance weights in units of odds.
        sides: For each find the draws that it may share with others, one array for each kind of draw; none if
            all finds are independent.
        largest: The largest sum of importance weights of a draw, as far as the sample tells.
        sets: Number of finds that pass the checks, kept or not.
        candidates: Those of them that may be kept, as far as that is known without outcome distributions.
        passing: The sum of the importance weights of all finds, kept or not.
    """

    draws: int
    density: float
    classes: Numbers
    members: Numbers
    sizes: Integers
    weights: Floats
    sides: tuple[Integers, ...]
    largest: float
    sets: int = 0
    candidates: int = 0
    passing: float = 0.0

    def covariance(self, values: Floats) -> Floats:
        """The covariance of sums over finds, of values with shape (finds, n)."""
        if not self.sides:
            return _gram(values)
        total = -_gram(values)
        for side in self.sides:
            total += _gram(np.stack([np.bincount(side, column) for column in values.T], axis=1))
        return total

    def events(self, values: Floats) -> list[Floats]:
        """The sums over the finds of each draw, for each kind of draw; of values with shape (finds,)."""
        return [np.bincount(side, values).astype(np.float64) for side in self.sides] or [values]


class SampledSets(ABC):
    """Pooled samples of the fault sets of some weights by one sampler, whose draws are called ``unit``.

    Args:
        weights: The weights of its sets.
        limits: The memory for samples.
        first_draws: The size of the first sample.

    Attributes:
        first_draws: The size of the first sample.
        samples: The samples.
        cost: What they cost, by the prices of ``limits``.
    """

    method = "join"
    unit: str

    def __init__(self, weights: range, limits: Limits, first_draws: int) -> None:
        self.weights = weights
        self.first_draws = first_draws
        self.samples: list[Sample] = []
        self.cost = 0.0
        self._limits = limits

    @property
    def draws(self) -> int:
        """Number of random draws."""
        return sum(each.draws for each in self.samples)

    @property
    def sets(self) -> int:
        """Sets that pass the checks, each as often as it was found."""
        return sum(each.sets for each in self.samples)

    @property
    def num_stored(self) -> int:
        """Number of finds that can be kept."""
        return sum(len(each.classes) for each in self.samples)

    @property
    def passing(self) -> float:
        """The total odds of all sets that pass the checks."""
        return sum(self.share(each) * each.passing for each in self.samples)

    def share(self, sample: Sample) -> float:
        """The part that a sample has in the pooled estimate."""
        return sample.density / sum(each.density for each in self.samples)

    def coefficients(self, num_classes: int) -> Floats:
        """The total odds of the sets by outcome class: float64, shape (num_classes,)."""
        sums = np.zeros(num_classes)
        for each in self.samples:
            sums += self.share(each) * np.bincount(each.classes, each.weights, minlength=num_classes)
        return sums

    def sums(self, outcomes: OutcomeClasses, factor: float, most: float) -> StratumSums:
        """The sums, as probabilities of sets whose odds count ``factor``; ``most`` bounds ``passing``."""
        found, covariance, parts = np.zeros(2), np.zeros((3, 3)), []
        for sample in self.samples:
            weights = factor * self.share(sample) * sample.weights[:, np.newaxis]
            # Finds that are kept, that are wrong, and all of them.
            values = np.hstack([weights * outcomes.probabilities[sample.classes], weights])
            found += values.sum(axis=0)[:2]
            covariance += sample.covariance(values)
            parts.append(values)
        missed = min(self._missed(parts, covariance, factor), most)
        kept, wrong = found.tolist()
        return StratumSums(factor * self.passing, kept, wrong, covariance[:2, :2], missed)

    def _missed(self, parts: list[Floats], covariance: Floats, factor: float) -> float:
        """What one more draw may add to the pooled sum, with all its sets."""
        for column in (WRONG, KEPT, 2):
            total = math.fsum(float(values[:, column].sum()) for values in parts)
            if total**2 >= FEW * covariance[column, column] > 0:
                events = [
                    sample.events(values[:, column])
                    for sample, values in zip(self.samples, parts, strict=True)
                ]
                return max(_tail(np.concatenate(side)) for side in zip(*events, strict=True))
        if self.sets < FEW:
            return math.inf
        # As many sets as any draw has, each wrong with certainty.
        return factor * max(self.share(sample) * sample.largest for sample in self.samples)

    @abstractmethod
    def next_draws(self, growth: float) -> tuple[int, int]:
        """The size and the number of the next samples: ``growth`` times as many draws as there are."""

    @abstractmethod
    def expected_cost(self, draws: int) -> float:
        """The cost of a sample of a size, about."""

    @abstractmethod
    def draw(self, native: FaultSetStudy, draws: int, seed: int, number: int, kept_only: bool) -> Found:
        """A sample of a size by the native search.

        Args:
            native: The search.
            draws: The size.
            seed: The seed of the estimate.
            number: The number of the sample; others have other random numbers.
            kept_only: Whether outcome classes with which no shot is kept are left out.
        """

    @abstractmethod
    def add(self, draws: int, found: Found, outcomes: OutcomeClasses) -> None:
        """Adds a sample, whose outcome classes were evaluated."""


FaultSetStratum = EnumeratedSets | SampledSets
"""The fault sets of some weights that are known in one way."""


def _product_sum(a: Floats, b: Floats) -> float:
    """A sum of products, which does not depend on the number of threads, as that of BLAS does."""
    return float((a * b).sum())


def _gram(values: Floats) -> Floats:
    """The products of the columns of values with each other."""
    count = values.shape[1]
    return np.array([[_product_sum(values[:, a], values[:, b]) for b in range(count)] for a in range(count)])


def _tail(sums: Floats) -> float:
    """The level that as many further draws exceed with probability 1 - COVERAGE; at least the largest sum.

    Hill's index is at most 1/2, as the sums are bounded and have a variance.
    """
    sums = np.sort(sums[sums > 0])[::-1]
    count = min(FEW, len(sums) - 1)
    if count < 1:
        return float(sums[0]) if len(sums) else 0.0
    index = min(0.5, float(np.log(sums[:count] / sums[count]).mean()))
    return max(float(sums[0]), float(sums[count]) * math.exp(index * math.log(count / (1 - COVERAGE))))
