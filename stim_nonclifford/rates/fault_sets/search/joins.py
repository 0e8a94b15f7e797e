"""Joins of random halves: a sampler of the fault sets of a weight, or of several (``halves``).

A join of n left and n right halves estimates the sum over sets X of odds(X) f(X), with the density d_w at
which it finds sets of weight w, by the two-sample U-statistic

    T = sum over pairs (i, j) of halves that are a set X of weight w of   f(X) / d_w.

With h_ij the term of such a pair, and 0 for others, its variance is

    sum_i (sum_j h_ij)^2 + sum_j (sum_i h_ij)^2 - sum_ij h_ij^2

without a bias, up to 1/n (W. Hoeffding, Annals of Mathematical Statistics 19, 293 (1948)). Several joins are
pooled in proportion to their densities, to n^2.

The interval of such a sum needs the largest event that a join may have (``interval``): one more half, with
all its sets. It is extrapolated from the sums of the halves: with the k largest sums X_1 >= X_2 >= ... and
Hill's index g = mean of ln(X_i / X_(k+1)), the level that as many further halves exceed with probability q is
X_(k+1) (k / q)^g (B. M. Hill, Annals of Statistics 3, 1163 (1975); I. Weissman, Journal of the American
Statistical Association 73, 812 (1978)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....base.arrays import Floats, Integers, Numbers
from ...estimation.interval import COVERAGE
from ...estimation.limits import Settings, price
from .halves import Halves
from .strata import KEPT, WRONG, OutcomeClasses, StratumSums, product_sum

FEW = 10
"""Effective hits, (sum)^2 / (sum of squares), and largest sums, from which the size of others is
extrapolated. Doubled, intervals are wider where little was found."""

_FIRST_SETS = 20_000
"""Sets that the first sample of a stratum should find, about. Doubled, first variances are better, and
searches that need little more than the first samples take longer."""

_FIRST_HALVES = 400_000
"""The most halves of a first join. Doubled, so is the cost of weights with few sets."""


@dataclass(frozen=True)
class Join:
    """Fault sets that a join found and that can be kept, each as often as it was found."""

    halves: int  # number of left halves, and of right halves
    classes: Numbers  # the outcome class of each find
    # uint32, shape (finds, largest weight): mechanisms, filled up with the number of mechanisms
    members: Numbers
    sizes: Integers  # for each find the number of its mechanisms
    weights: Floats  # shape (finds,): importance weights in units of odds
    sides: tuple[Integers, Integers]  # for each find the number of its left half, and of its right half
    largest: float  # the largest sum of importance weights of a half, kept or not
    sets: int = 0  # number of finds that pass the checks, kept or not
    # those of them that may be kept, as far as that is known without outcome distributions
    candidates: int = 0
    passing: float = 0.0  # the sum of the importance weights of all finds, kept or not

    def covariance(self, values: Floats) -> Floats:
        """The covariance of sums over finds, of values with shape (finds, n)."""
        total = -_gram(values)
        for side in self.sides:
            total += _gram(np.stack([np.bincount(side, column) for column in values.T], axis=1))
        return total


class JoinedSets:
    """Pooled joins for the fault sets of some weights.

    The total odds of those that pass are ``expected``, before any was found.
    """

    method = "join"

    def __init__(
        self, weights: range, masses: Floats, expected: float, num_mechanisms: int, settings: Settings
    ) -> None:
        self.weights = weights
        self.halves = Halves(weights, masses)
        halves = min(
            math.sqrt(_FIRST_SETS * self.halves.scale / expected), _FIRST_HALVES, settings.most_halves
        )
        self.first_halves = int(max(1, halves))  # the size of the first join
        self.joins: list[Join] = []
        self._expected = expected
        self._num_mechanisms = num_mechanisms
        self._settings = settings

    @property
    def draws(self) -> int:
        """Number of halves."""
        return 2 * sum(each.halves for each in self.joins)

    @property
    def sets(self) -> int:
        """Sets that pass the checks, each as often as it was found."""
        return sum(each.sets for each in self.joins)

    @property
    def passing(self) -> float:
        """The total odds of all sets that pass the checks."""
        return sum(self.share(each) * each.passing for each in self.joins)

    def share(self, join: Join) -> float:
        """The part that a join has in the pooled estimate."""
        return join.halves**2 / sum(each.halves**2 for each in self.joins)

    def coefficients(self, num_classes: int) -> Floats:
        """The total odds of the sets by outcome class: float64, shape (num_classes,)."""
        sums = np.zeros(num_classes)
        for each in self.joins:
            sums += self.share(each) * np.bincount(each.classes, each.weights, minlength=num_classes)
        return sums

    def sums(self, outcomes: OutcomeClasses, factor: float, most: float) -> StratumSums:
        """The sums, as probabilities of sets whose odds count ``factor``; ``most`` bounds those that pass."""
        found, covariance, parts = np.zeros(2), np.zeros((3, 3)), []
        for join in self.joins:
            weights = factor * self.share(join) * join.weights[:, np.newaxis]
            # Finds that are kept, that are wrong, and all of them.
            values = np.hstack([weights * outcomes.probabilities[join.classes], weights])
            found += values.sum(axis=0)[:2]
            covariance += join.covariance(values)
            parts.append(values)
        missed = min(self._missed(parts, covariance, factor), most)
        kept, wrong = found.tolist()
        return StratumSums(kept, wrong, covariance[:2, :2], missed)

    def _missed(self, parts: list[Floats], covariance: Floats, factor: float) -> float:
        """What one more half may add to the pooled sum, with all its sets."""
        for column in (WRONG, KEPT, 2):
            total = math.fsum(float(values[:, column].sum()) for values in parts)
            if total**2 >= FEW * covariance[column, column] > 0:
                events = [  # of each join, the sums over the finds of each left half, and of each right one
                    [np.bincount(side, values[:, column]) for side in join.sides]
                    for join, values in zip(self.joins, parts, strict=True)
                ]
                return max(_tail(np.concatenate(side)) for side in zip(*events, strict=True))
        if self.sets < FEW:
            return math.inf
        # As many sets as any half has, each wrong with certainty.
        return factor * max(self.share(join) * join.largest for join in self.joins)

    @property
    def _sets_of_density(self) -> float:
        """The finds of a join with the density 1 at the smallest weight, about."""
        return self.passing if self.sets >= FEW else self._expected

    def next_joins(self, growth: float) -> tuple[int, int]:
        """The size and the number of the next joins: ``growth`` times as many halves as there are.

        Finds grow as the square of the halves. So joins are large, until there are as many finds as halves.
        Then several joins leave less variance: their finds share fewer halves.
        """
        wanted, of_one = growth * self.draws / 2, self.halves.scale / self._sets_of_density
        # Sets that may be kept are stored.
        candidates = sum(each.candidates for each in self.joins)
        part_stored = (candidates + 1) / (self.sets + 1)
        fits = math.sqrt(0.5 * self._settings.most_classes * of_one / part_stored)
        most = max(1.0, min(of_one, fits, self._settings.most_halves))
        times = max(1, math.ceil(wanted / most - 0.5))
        return int(max(1, min(wanted / times, most))), times

    @property
    def cost_of_doubling(self) -> float:
        """The cost of as many halves as there are, about; infinite if no more can be kept."""
        if sum(len(each.classes) for each in self.joins) > self._settings.most_halves:
            return math.inf
        halves, times = self.next_joins(1.0)
        return times * price(halves=halves, sets=halves**2 / self.halves.scale * self._sets_of_density)

    def add(self, halves: int, found: dict[str, Any], outcomes: OutcomeClasses) -> None:
        """Adds a join, whose outcome classes were evaluated."""
        members, classes = found["members"].reshape(-1, self.weights[-1]), found["keys"]
        sizes = np.count_nonzero(members < self._num_mechanisms, axis=1)
        importance = self.halves.importance_weights(halves)
        weights = importance[sizes]
        matters = outcomes.probabilities[classes].any(axis=1)
        left, right = (np.unique(found[side][matters], return_inverse=True)[1] for side in ("left", "right"))
        self.joins.append(
            Join(
                halves=halves,
                classes=classes[matters],
                members=members[matters],
                sizes=sizes[matters],
                weights=weights[matters],
                sides=(left, right),
                largest=float(importance.max()) * max(1, int(found["most_of_draw"])),
                sets=int(found["sets"]),
                candidates=int(found["candidates"]),
                passing=float(found["left_out"] + weights.sum()),
            )
        )


def _gram(values: Floats) -> Floats:
    """The products of the columns of values with each other."""
    count = values.shape[1]
    return np.array([[product_sum(values[:, a], values[:, b]) for b in range(count)] for a in range(count)])


def _tail(sums: Floats) -> float:
    """The level that as many further halves exceed with probability 1 - COVERAGE; at least the largest sum.

    Hill's index is at most 1/2, as the sums are bounded and have a variance.
    """
    sums = np.sort(sums[sums > 0])[::-1]
    count = min(FEW, len(sums) - 1)
    if count < 1:
        return float(sums[0]) if len(sums) else 0.0
    index = min(0.5, float(np.log(sums[:count] / sums[count]).mean()))
    return max(float(sums[0]), float(sums[count]) * math.exp(index * math.log(count / (1 - COVERAGE))))
