"""Joins of random halves: a sampler of the fault sets of a weight, or of several (``halves``).

A join of n left and n right halves estimates the sum over sets X of odds(X) f(X), with the density d_w at
which it finds sets of weight w, by the two-sample U-statistic

    T = sum over pairs (i, j) of halves that are a set X of weight w of   f(X) / d_w.

Several joins are pooled in proportion to their densities, to n^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ...._native import FaultSetStudy
from .halves import Halves
from .limits import Limits, price
from .outcomes import Floats, OutcomeClasses
from .strata import FEW, FIRST_SETS, Found, Numbers, Sample, SampledSets

__all__ = ["JoinedSets"]

_FIRST_HALVES = 400_000
"""The most halves of a first sample. If it is doubled, so is the cost of weights with few sets."""

_NOT_STORED = 2**32 - 1
"""The number of an outcome class with which no shot is kept, where only the others are stored."""


class JoinedSets(SampledSets):
    """Pooled joins for the sets of some weights.

    ``masses`` are the total odds of all sets of each weight, ``expected`` those of the sets of the stratum
    that pass, before any was found. ``excluded`` tells which sets, by their members, another stratum has.
    """

    unit = "halves of either kind"

    def __init__(
        self,
        weights: range,
        masses: Floats,
        expected: float,
        num_mechanisms: int,
        limits: Limits,
        excluded: Callable[[Numbers], npt.NDArray[np.bool_]] | None = None,
    ) -> None:
        self.halves = Halves(weights, masses)
        halves = min(math.sqrt(FIRST_SETS * self.halves.scale / expected), _FIRST_HALVES, limits.most_halves)
        super().__init__(weights, limits, int(max(1, halves)))
        self._expected = expected
        self._num_mechanisms = num_mechanisms
        self._excluded = excluded

    @property
    def _sets_of_density(self) -> float:
        """The finds of a join with the density 1 at the smallest weight, about."""
        return self.passing if self.sets >= FEW else self._expected

    def next_draws(self, growth: float) -> tuple[int, int]:
        """See ``SampledSets``.

        Finds grow as the square of the halves. So joins are large, until there are as many finds as halves.
        Then several joins leave less variance: their finds share fewer halves.
        """
        wanted, of_one = growth * self.draws / 2, self.halves.scale / self._sets_of_density
        # Sets that may be kept are stored.
        candidates = sum(each.candidates for each in self.samples)
        part_stored = (candidates + 1) / (self.sets + 1)
        fits = math.sqrt(0.5 * self._limits.most_classes * of_one / part_stored)
        most = max(1.0, min(of_one, fits, self._limits.most_halves))
        times = max(1, math.ceil(wanted / most - 0.5))
        return int(max(1, min(wanted / times, most))), times

    def expected_cost(self, draws: int) -> float:
        """See ``SampledSets``."""
        return price(halves=draws, sets=draws**2 / self.halves.scale * self._sets_of_density)

    def draw(self, native: FaultSetStudy, draws: int, seed: int, number: int, kept_only: bool) -> Found:
        """See ``SampledSets``."""
        halves, weights = self.halves.draws_of_sizes(draws), self.halves.importance_weights(draws)
        most, ratios = int(self._limits.most_classes), np.ones(self._num_mechanisms)
        return native.join(*halves, weights, seed, number, most, ratios, 1, kept_only)

    def add(self, draws: int, found: Found, outcomes: OutcomeClasses) -> None:
        """See ``SampledSets``."""
        members, classes = found["members"].reshape(-1, self.weights[-1]), found["keys"]
        sizes = np.count_nonzero(members < self._num_mechanisms, axis=1)
        importance = self.halves.importance_weights(draws)
        weights = importance[sizes]
        stored = classes != _NOT_STORED
        stored[stored] = outcomes.probabilities[classes[stored]].any(axis=1)
        if self._excluded is not None:
            stored[stored] = ~self._excluded(members[stored])
        self.samples.append(
            Sample(
                draws=2 * draws,
                density=float(draws) ** 2,
                classes=classes[stored],
                members=members[stored],
                sizes=sizes[stored],
                weights=weights[stored],
                sides=tuple(
                    np.unique(found[side][stored], return_inverse=True)[1] for side in ("left", "right")
                ),
                largest=float(importance.max()) * max(1, int(found["most_of_draw"])),
                sets=int(found["sets"]),
                candidates=int(found["candidates"]),
                passing=float(found["left_out"][0] + weights.sum()),
            )
        )
