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

Its variance is taken as that of a Poisson process of all finds: more than it has, as pairs that are taken in
any case have no chance in their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ...._native import FaultSetStudy
from .limits import Limits
from .mechanisms import Words, packed_words
from .outcomes import OutcomeClasses
from .strata import FIRST_SETS, Found, Numbers, Sample, SampledSets

__all__ = ["UnionSets", "union_sizes"]

_UNION_WEIGHTS = 4, 5, 6
"""Weights of sets that may be unions of sets of two and of three mechanisms."""


def union_sizes(weight: int, passing: Sequence[float]) -> tuple[int, int] | None:
    """The sizes of the parts of unions of a weight; None: there are none, or their parts are not known.

    ``passing`` has the total odds of the sets that pass, for each weight that was enumerated.
    """
    left, right = weight // 2, weight - weight // 2
    if weight not in _UNION_WEIGHTS or right >= len(passing) or not passing[left] * passing[right]:
        return None
    return left, right


class UnionSets(SampledSets):
    """Pooled samples of the unions of parts of two sizes; no check may be flipped."""

    unit = "unions of sets that pass"

    def __init__(self, sizes: tuple[int, int], checks: npt.NDArray[np.bool_], limits: Limits) -> None:
        super().__init__(range(sum(sizes), sum(sizes) + 1), limits, FIRST_SETS)
        self.sizes = sizes
        self._checks: Words = packed_words(checks)

    def contains(self, members: Numbers) -> npt.NDArray[np.bool_]:
        """Which of some sets that pass are unions: uint32, shape (sets, weight) -> bool, shape (sets,)."""
        found, columns = np.zeros(len(members), dtype=np.bool_), self._checks[members.T]
        for left in combinations(range(members.shape[1]), self.sizes[0]):
            # The checks of the other part are the same.
            found |= ~np.bitwise_xor.reduce(columns[list(left)], axis=0).any(axis=1)
        return found

    def next_draws(self, growth: float) -> tuple[int, int]:
        """See ``SampledSets``."""
        return int(min(growth * self.draws, self._limits.most_halves)), 1

    def expected_cost(self, draws: int) -> float:
        """See ``SampledSets``."""
        return self.cost * draws / self.draws

    def draw(self, native: FaultSetStudy, draws: int, seed: int, number: int, kept_only: bool) -> Found:
        """See ``SampledSets``."""
        most = int(self._limits.most_classes)
        return native.compose(*self.sizes, draws, seed, number, most, kept_only)

    def add(self, draws: int, found: Found, outcomes: OutcomeClasses) -> None:
        """See ``SampledSets``."""
        stored = outcomes.probabilities[found["keys"]].any(axis=1)
        weight = sum(self.sizes)
        self.samples.append(
            Sample(
                draws=draws,
                density=float(draws),
                classes=found["keys"][stored],
                members=found["members"].reshape(-1, weight)[stored],
                sizes=np.full(np.count_nonzero(stored), weight),
                weights=found["counts"][stored],
                sides=(),
                largest=float(found["spacing"]),
                sets=int(stored.sum()),
            )
        )
