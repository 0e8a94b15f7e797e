"""Joins of random halves: a sampler of the fault sets of a weight, or of several (``halves``).

A join of n left and n right halves estimates the sum over sets X of odds(X) f(X), with the density d_w at
which it finds sets of weight w, by the two-sample U-statistic

    T = sum over pairs (i, j) of halves that are a set X of weight w of   f(X) / d_w.

Finds that share a half depend on each other. The variance is estimated without bias, up to 1/n, by

    sum_i (sum_j h_ij)^2 + sum_j (sum_i h_ij)^2 - sum_ij h_ij^2,    h_ij = f(X) / d_w

(W. Hoeffding, Annals of Mathematical Statistics 19, 293 (1948)). Several joins are pooled in proportion to
their densities: to n^2, which does not depend on what a join finds, so that the estimate is unbiased.

The interval of such a sum needs the largest event that a sample may have (``interval``): here one more half,
with all its sets. It is extrapolated from the sums of the halves that were drawn: with the k largest sums
X_1 >= X_2 >= ... and Hill's index g = mean of ln(X_i / X_(k+1)), the level that as many further halves exceed
with probability q is X_(k+1) (k / q)^g (B. M. Hill, Annals of Statistics 3, 1163 (1975); I. Weissman, Journal
of the American Statistical Association 73, 812 (1978)).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...estimation.interval import COVERAGE
from .halves import Halves
from .outcomes import KEPT, WRONG, Floats, OutcomeClasses
from .strata import Bound, Numbers, Tally, product_sum

__all__ = ["FEW", "Join", "JoinedSets"]

FEW = 10
"""Effective hits, (sum)^2 / (sum of squares), and largest sums, from which the size of others is
extrapolated. If it is doubled, intervals are wider where little was found."""

_NOT_STORED = 2**32 - 1
"""The number of an outcome class with which no shot is kept, where only the others are stored."""

_CHUNK = 1 << 18


@dataclass(frozen=True)
class Join:
    """A join, with the sets that it found and that can be kept, each as often as it was found.

    Attributes:
        halves: Number of left halves, and of right halves.
        classes: The outcome class of each find.
        members: uint32, shape (finds, largest weight): mechanisms, filled up with the number of mechanisms.
        weights: float64, shape (finds, num_circuits): importance weights in units of odds, 1 / d_w for the
            first circuit.
        sides: For each find the number of its left half, and of its right half.
        passing: For each circuit the sum of the importance weights of all finds, kept or not.
        most_of_half: The largest number of finds of a half, kept or not.
    """

    halves: int
    classes: Numbers
    members: Numbers
    weights: Floats
    sides: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
    passing: Floats
    most_of_half: int

    def covariance(self, values: Floats) -> Floats:
        """The covariance of sums over finds, of values with shape (finds, n): see above."""
        total = -_gram(values)
        for side in self.sides:
            total += _gram(_sums_of_halves(side, values))
        return total


class JoinedSets:
    """Pooled joins for the sets of some weights.

    Args:
        halves: The halves of joins.
        odds: Odds of the mechanisms in each circuit, float64, shape (num_circuits, num_mechanisms); halves
            are drawn with those of the first one.

    Attributes:
        weights: The weights of its sets.
        joins: The joins.
        sets: Sets found that pass the checks, each as often as it was found.
        candidates: Those of them that may be kept, as far as that is known without outcome distributions.
    """

    def __init__(self, halves: Halves, odds: Floats) -> None:
        self.weights = halves.weights
        self.halves = halves
        self.joins: list[Join] = []
        self.sets = self.candidates = 0
        relative = odds / odds[0]
        self._ratios = np.hstack(
            [relative, np.ones((len(odds), 1))]
        )  # the last one for what fills up members
        self._largest_ratio = relative.max(axis=1) ** self.weights[-1]

    @property
    def num_halves(self) -> int:
        """Number of left halves of all joins."""
        return sum(each.halves for each in self.joins)

    @property
    def num_stored(self) -> int:
        """Number of finds that can be kept."""
        return sum(len(each.classes) for each in self.joins)

    def share(self, join: Join) -> float:
        """The part that a join has in the pooled estimate, in proportion to its density."""
        return join.halves**2 / sum(each.halves**2 for each in self.joins)

    def sizes(self, members: Numbers) -> npt.NDArray[np.int64]:
        """The numbers of members of sets, without those that fill them up; shape (sets,)."""
        return np.count_nonzero(members < self._ratios.shape[1] - 1, axis=1)

    def add(
        self,
        halves: int,
        found: dict[str, Any],
        outcomes: OutcomeClasses,
        excluded: Callable[[Numbers], npt.NDArray[np.bool_]] | None = None,
    ) -> None:
        """Adds a join.

        ``found`` is what ``FaultSetStudy.join`` found with so many halves of each kind. ``excluded`` has the
        sets, by their members, that are part of another stratum.
        """
        members, classes = found["members"].reshape(-1, self.weights[-1]), found["keys"]
        stored = classes != _NOT_STORED
        stored[stored] = outcomes.probabilities[classes[stored]].any(axis=1)
        if excluded is not None:
            stored[stored] = ~excluded(members[stored])
        passing = found["left_out"].astype(np.float64)
        importance = self.halves.importance_weights(halves)
        weights = [np.zeros((0, len(self._ratios)))]
        for first in range(0, len(classes), _CHUNK):
            part = slice(first, first + _CHUNK)
            chunk = np.stack([np.prod(ratios[members[part]], axis=1) for ratios in self._ratios], axis=1)
            chunk *= importance[self.sizes(members[part])][:, None]
            passing += chunk.sum(axis=0)
            weights.append(chunk[stored[part]])
        left, right = (np.unique(found[side][stored], return_inverse=True)[1] for side in ("left", "right"))
        self.sets += int(found["sets"])
        self.candidates += int(found["candidates"])
        self.joins.append(
            Join(
                halves,
                classes[stored],
                members[stored],
                np.concatenate(weights),
                (left, right),
                passing,
                int(found["most_of_draw"]),
            )
        )

    def passing(self, circuit: int) -> float:
        """The total odds of all sets that pass the checks."""
        return sum(self.share(each) * float(each.passing[circuit]) for each in self.joins)

    def tally(self, circuit: int, outcomes: OutcomeClasses, bound: Bound) -> Tally:
        """The sums for a circuit, by the pooled U-statistics."""
        found, passing, parts = np.zeros(2), self.passing(circuit), []
        covariance = np.zeros((3, 3))
        for join in self.joins:
            weights = self.share(join) * join.weights[:, circuit, None]
            # Finds that are wrong, that are kept, and all of them.
            values = np.hstack([weights * outcomes.probabilities[join.classes], weights])
            found += values.sum(axis=0)[:2]
            covariance += join.covariance(values)
            parts.append(values)
        missed = min(self._missed(parts, covariance, circuit, bound), float(bound.most[circuit]))
        return Tally(passing, float(found[KEPT]), float(found[WRONG]), covariance[:2, :2], missed)

    def _missed(self, parts: list[Floats], covariance: Floats, circuit: int, bound: Bound) -> float:
        """What one more half may add to the pooled sum, with all its sets.

        Args:
            parts: For each join what each find adds to P(kept), to P(kept and wrong), and to the total odds.
            covariance: The covariance of their sums.
            circuit: The number of the circuit.
            bound: What else is known of the sets.
        """
        for column in (WRONG, KEPT, 2):
            hits = [values[:, column] for values in parts]
            total = math.fsum(float(each.sum()) for each in hits)
            if total**2 >= FEW * covariance[column, column] > 0:
                sides = (
                    [
                        _sums_of_halves(join.sides[k], each)
                        for join, each in zip(self.joins, hits, strict=True)
                    ]
                    for k in range(2)
                )
                return max(_tail(np.concatenate(side)) for side in sides)
        # Too little was found: as many sets as any half has, or may have, each wrong with certainty.
        most = 0.0
        for join in self.joins:
            largest = float(self._largest_ratio[circuit] * self.halves.importance_weights(join.halves).max())
            partners = 1 + join.halves * bound.partners if self.sets < FEW else 1
            most = max(most, self.share(join) * largest * max(partners, join.most_of_half))
        return most


def _gram(values: Floats) -> Floats:
    """The products of the columns of values with each other."""
    count = values.shape[1]
    return np.array([[product_sum(values[:, a], values[:, b]) for b in range(count)] for a in range(count)])


def _sums_of_halves(side: npt.NDArray[np.int64], values: Floats) -> Floats:
    """Sums over the finds that share a half, by half; values of shape (finds,) or (finds, n)."""
    if values.ndim == 1:
        return np.bincount(side, values).astype(np.float64)
    return np.stack([_sums_of_halves(side, column) for column in values.T], axis=1)


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
