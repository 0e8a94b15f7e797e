"""Unions of two undetected fault sets: a sampler of some of the sets of 4, 5 and 6 mechanisms.

Many malignant sets are unions of two smaller sets that flip no check: two mechanisms that cancel, and hide
what three others do. Joins find them rarely, and then many at once. Unions need no search, as all sets of two
and of three mechanisms that pass are known. So they are a stratum apart from all other sets of their weight.

The outcome class of a union is the XOR of those of its parts. Pairs (a, b) of classes, of mass m_ab (the
product of the total odds of their sets), are taken all if m_ab >= s, and otherwise as a Poisson process with
mean m_ab / s; of each pair, u unions are drawn in proportion to their odds. With t(X) the number of ways to
divide a set X into such parts, the estimator of the sum over unions of odds(X) f(X) is that of M. H. Hansen
and W. N. Hurwitz (Annals of Mathematical Statistics 14, 333 (1943)):

    sum over the unions X drawn that are sets of   max(m_ab, s) / u * f(X) / t(X).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from .joins import FEW
from .mechanisms import Words, packed_words
from .outcomes import KEPT, WRONG, Floats, OutcomeClasses
from .strata import Bound, Numbers, Tally

__all__ = ["UnionSample", "UnionSets", "union_sizes"]

_UNION_WEIGHTS = 4, 5, 6
"""Weights of sets that may be unions of sets of two and of three mechanisms."""

_CHUNK = 1 << 16


def union_sizes(weight: int, passing: Sequence[float]) -> tuple[int, int] | None:
    """The sizes of the parts of unions of a weight.

    Args:
        weight: The weight.
        passing: For each weight that was enumerated the total odds of the sets that pass.

    Returns:
        The sizes; None: there are no such unions, or their parts are not known.
    """
    left, right = weight // 2, weight - weight // 2
    if weight not in _UNION_WEIGHTS or right >= len(passing) or not passing[left] * passing[right]:
        return None
    return left, right


@dataclass(frozen=True)
class UnionSample:
    """A sample of unions that can be kept.

    Attributes:
        draws: The total mass of all pairs of classes over s.
        s: The largest importance weight.
        classes: The outcome class of each find.
        members: uint32, shape (finds, weight).
        weights: float64, shape (finds, num_circuits): importance weights in units of odds.
        pair: For each find the number of its pair of classes.
        unions: For each pair the number u of unions drawn; 1: the pair itself was drawn.
    """

    draws: int
    s: float
    classes: Numbers
    members: Numbers
    weights: Floats
    pair: npt.NDArray[np.int64]
    unions: Floats

    def covariance(self, values: Floats) -> Floats:
        """The covariance of sums over finds, of values with shape (finds, n).

        Pairs that were drawn are a Poisson process. Unions of other pairs are independent draws.
        """
        count, pairs = values.shape[1], len(self.unions)
        many, found = self.unions > 1, np.zeros((count, count))
        sums = [np.bincount(self.pair, column, minlength=pairs) for column in values.T]
        for a in range(count):
            for b in range(count):
                products = np.bincount(self.pair, values[:, a] * values[:, b], minlength=pairs)
                among = products - sums[a] * sums[b] / self.unions
                among *= self.unions / np.maximum(self.unions - 1, 1)
                found[a, b] = np.where(many, among, products).sum()
        return found


class UnionSets:
    """Pooled samples of the unions of a weight.

    Args:
        sizes: The sizes of their parts.
        checks: bool, shape (num_mechanisms, num_checks): what each mechanism flips; none may be flipped.
        odds: Odds of the mechanisms in each circuit, float64, shape (num_circuits, num_mechanisms).

    Attributes:
        samples: The samples.
        draws: Draws of all samples.
        cost: The processor time of all samples, about.
    """

    def __init__(self, sizes: tuple[int, int], checks: npt.NDArray[np.bool_], odds: Floats) -> None:
        self.sizes = sizes
        self.samples: list[UnionSample] = []
        self.draws = 0
        self.cost = 0.0
        self._checks: Words = packed_words(checks)
        self._ratios = odds / odds[0]
        self._largest_ratio = self._ratios.max(axis=1) ** sum(sizes)

    @property
    def num_stored(self) -> int:
        """Number of finds that can be kept."""
        return sum(len(each.classes) for each in self.samples)

    def share(self, sample: UnionSample) -> float:
        """The part that a sample has in the pooled estimate."""
        return sample.draws / self.draws

    def contains(self, members: Numbers) -> npt.NDArray[np.bool_]:
        """Which of some sets that pass are unions: uint32, shape (sets, weight) -> bool, shape (sets,)."""
        found = np.zeros(len(members), dtype=np.bool_)
        for begin in range(0, len(members), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            columns = self._checks[members[part].T]
            for left in combinations(range(members.shape[1]), self.sizes[0]):
                # The checks of the other part are the same.
                found[part] |= ~np.bitwise_xor.reduce(columns[list(left)], axis=0).any(axis=1)
        return found

    def add(self, draws: int, found: dict[str, Any], outcomes: OutcomeClasses, cost: float) -> None:
        """Adds what ``FaultSetStudy.compose`` found with so many draws at a cost, evaluated."""
        stored = outcomes.probabilities[found["keys"]].any(axis=1)
        members = found["members"].reshape(-1, sum(self.sizes))[stored]
        ratios = np.stack([np.prod(each[members], axis=1) for each in self._ratios], axis=1)
        self.samples.append(
            UnionSample(
                draws,
                float(found["spacing"]),
                found["keys"][stored],
                members,
                ratios * found["counts"][stored][:, None],
                found["of_combination"][stored].astype(np.int64),
                found["unions"].astype(np.float64),
            )
        )
        self.draws += draws
        self.cost += cost

    def tally(self, circuit: int, outcomes: OutcomeClasses, bound: Bound) -> Tally:
        """The sums for a circuit."""
        found, missed, most = Tally(0.0, 0.0, 0.0), 0.0, float(bound.most[circuit])
        for each in self.samples:
            values = each.weights[:, circuit, None] * outcomes.probabilities[each.classes]
            kept, wrong = values.sum(axis=0).tolist()
            covariance = each.covariance(values)
            found += Tally(0.0, kept, wrong, covariance).scaled(self.share(each))
            # The largest find, if there were enough of them; else any union may be wrong with certainty.
            largest = each.s * float(self._largest_ratio[circuit])
            for column in (WRONG, KEPT):
                if values[:, column].sum() ** 2 >= FEW * covariance[column, column] > 0:
                    largest = each.s * float((values[:, column] / each.weights[:, 0]).max())
                    break
            missed = max(missed, self.share(each) * largest)
        return found + Tally(0.0, 0.0, 0.0, missed=min(missed, most))
