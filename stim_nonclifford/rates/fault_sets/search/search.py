"""A search for the fault sets of a circuit: its strata, and what was enumerated and sampled of them."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from ....base.arrays import Floats
from ....simulation.plan import SamplingPlan
from ...estimation.limits import Deadline, Settings, price
from .joins import JoinedSets
from .mechanisms import MAX_WEIGHT, Mechanisms, native_search
from .strata import EnumeratedSets, OutcomeClasses, StratumSums

FaultSetStratum = EnumeratedSets | JoinedSets
"""The fault sets of some weights that are known in one way."""


class Search:
    """A search for the fault sets of a circuit, for both sums or for one: ``KEPT`` or ``WRONG``."""

    def __init__(
        self,
        plan: SamplingPlan,
        mechanisms: Mechanisms,
        settings: Settings,
        column: int | None = None,
        deadline: Deadline | None = None,
    ) -> None:
        self.deadline = Deadline(settings.max_seconds) if deadline is None else deadline
        self.column = column
        self.settings = settings
        self.mechanisms = mechanisms
        # The probability that no mechanism acts and the removed coins pass.
        self.factor = mechanisms.nothing * mechanisms.coin_factor
        self.native = native_search(plan, mechanisms, settings.threads, settings.max_bytes)
        self.outcomes = OutcomeClasses(self.native, plan.num_outputs, column)
        self.max_weight = min(MAX_WEIGHT, len(mechanisms.odds_of_members))
        self.masses = mechanisms.masses(self.max_weight)  # the total odds of all sets of each weight
        self.strata: list[FaultSetStratum] = []  # from weight 0 on; only the last one may be of several
        self.spent, self._prepared = 0.0, self.deadline.seconds  # what it cost so far, by fixed prices
        self._round = 0
        self._sums: dict[FaultSetStratum, StratumSums] = {}

    @property
    def next_weight(self) -> int:
        """The first weight that was neither enumerated nor sampled."""
        return self.strata[-1].weights.stop if self.strata else 0

    @property
    def enumerated(self) -> list[EnumeratedSets]:
        """The strata of the weights from 0 on of which all sets are known."""
        return [each for each in self.strata if isinstance(each, EnumeratedSets)]

    @property
    def sampled(self) -> list[JoinedSets]:
        """The strata that are sampled."""
        return [each for each in self.strata if isinstance(each, JoinedSets)]

    @property
    def is_cut(self) -> bool:
        """Whether there are larger sets than ``max_weight``."""
        return self.max_weight == MAX_WEIGHT

    @property
    def seconds_per_cost(self) -> float:
        """The time on this machine, now, of what costs a second; 1 before it can be measured."""
        return max(1e-3, self.deadline.seconds - self._prepared) / self.spent if self.spent > 0.1 else 1.0

    @property
    def tosses(self) -> float:
        """The mean number of outcome distributions of a class: one for each toss of the coins that matter."""
        classes, distributions = self.native.evaluated
        return distributions / classes if classes else 1.0

    def enumerate(self, weight: int, max_steps: float, part_of_time: float = 1.0) -> bool:
        """Enumerates the first weight that was not; False if that takes too many steps, or too long."""
        self.settings.report(f"weight {weight}: all sets")
        seconds = part_of_time * self.deadline.seconds_left
        cost = min(self.settings.work, max(0.1, seconds) / self.seconds_per_cost)
        found = self.native.enumerate(
            weight,
            int(max_steps),
            int(2 * self.settings.most_classes),
            max(1.0, seconds),
            int(cost / price(outcomes=1)),
        )
        self.spent += price(
            steps=found["steps"], sets=found["sets"], outcomes=found["num_keys"] * self.tosses
        )
        if not found["is_complete"]:
            return False
        self.outcomes.evaluate()
        # What was sampled of this weight is not needed any more.
        others = self.strata[weight:]
        larger = [each for each in others if each.weights[0] > weight]
        self.strata[weight:] = [EnumeratedSets(weight, found), *larger]
        self.__dict__.pop("bounds", None)  # those of larger sets follow from what is known of smaller ones
        self._sums.clear()
        return True

    def joined(self, weights: range) -> JoinedSets:
        """A stratum of some weights, without any join yet."""
        num_mechanisms = len(self.mechanisms.odds)
        return JoinedSets(weights, self.masses, self.expected_passing(weights), num_mechanisms, self.settings)

    def sample(self, stratum: JoinedSets, halves: int) -> None:
        """Adds a join of a size to a stratum, or of fewer halves if these find too many sets."""
        before, cost = self.native.evaluated[0], 0.0
        while True:
            self.settings.report(f"weight {stratum.weights[0]}: {halves:.3g} halves of either kind")
            self._round += 1
            found = stratum.halves.found(
                self.native, halves, self.settings.seed, self._round, int(self.settings.most_classes)
            )
            cost += price(halves=halves, sets=found["sets"])
            if found["is_complete"]:
                break
            halves = max(1, halves // 8)
        self.outcomes.evaluate()
        cost += price(outcomes=(self.native.evaluated[0] - before) * self.tosses)
        stratum.add(halves, found, self.outcomes)
        self.spent += cost
        self._sums.pop(stratum, None)

    @cached_property
    def bounds(self) -> Floats:
        """Proven upper bounds on the total odds of the sets of each weight that pass, without a search."""
        closed = np.ones(1)
        if not self.mechanisms.target.any():
            closed = np.array([stratum.passing for stratum in self.enumerated] or [1.0])
        found = self.native.bounds(closed, 1e-40 * float(self.masses.max()))["passing"]
        # Mechanisms that exclude each other leave no sets of the largest weights.
        return np.minimum(found[: len(self.masses)], self.masses)

    def sums(self, stratum: FaultSetStratum) -> StratumSums:
        """The sums of a stratum."""
        if stratum not in self._sums:
            if isinstance(stratum, JoinedSets):
                most = self.factor * float(self.bounds[stratum.weights].sum())
                self._sums[stratum] = stratum.sums(self.outcomes, self.factor, most)
            else:  # needs no bounds, which take long
                self._sums[stratum] = stratum.sums(self.outcomes, self.factor)
        return self._sums[stratum]

    def expected_passing(self, weights: range) -> float:
        """The total odds of the sets of some weights that pass, extrapolated from smaller ones."""
        before = [each for each in self.strata if each.weights.stop <= weights[0]]
        # Where none were found, there may still be some.
        found = [(each.weights[0], each.passing) for each in before if each.passing] or [(0, 0.0)]
        (j, a), (k, b) = found[-2:] if len(found) > 1 else (found[-1], found[-1])
        if not b:
            return 1e-6 * math.fsum(self.masses[weights])
        if j == k:
            return b * math.fsum(self.masses[weights]) / float(self.masses[k])
        ratio = min(1.0, (b / a) ** (1 / (k - j)))
        return b * math.fsum(ratio ** (weight - k) for weight in weights)

    def expected_enumeration(self, weight: int) -> tuple[float, float, float]:
        """Steps, sets and outcome classes of the first weight that was not enumerated, from those before."""
        before, last = self.enumerated[weight - 2 : weight]
        branching, num_mechanisms = self.native.branching, float(len(self.mechanisms.odds))
        if weight == 2:
            # Single mechanisms are no guide: pairs of equal ones pass the checks, too.
            pairs = float(self.native.num_twins)
            return max(pairs, num_mechanisms), pairs, pairs
        steps = max(last.steps, num_mechanisms) * branching
        growth = last.sets / before.sets if before.sets else branching
        of_classes = last.num_classes / before.num_classes if before.num_classes else growth
        return steps, last.sets * growth, last.num_classes * min(growth, of_classes)

    def rest(self, first_weight: int) -> float:
        """Probability of all sets from a weight on, and that no mechanism of any other set acts."""
        if first_weight > self.max_weight and not self.is_cut:
            return 0.0
        nothing, masses = self.mechanisms.nothing, self.masses
        above = nothing * math.fsum(masses[first_weight:])
        if not self.is_cut:
            return above
        # Each mass is at most that of the weight before times the sum of the odds over the weight. (The
        # difference of all known masses to 1 has rounding errors, larger than what matters at small rates.)
        ratio = float(masses[1]) / (self.max_weight + 1)
        if ratio < 1:
            return above + nothing * float(masses[-1]) * ratio / (1 - ratio)
        return max(above, 1 - nothing * math.fsum(masses[:first_weight]))

    def rest_passing(self, first_weight: int) -> float:
        """An upper bound on the part of ``rest`` that passes the noise-only checks."""
        if first_weight > self.max_weight:
            return 0.0
        passing = self.mechanisms.nothing * math.fsum(self.bounds[first_weight:])
        return passing + (self.rest(self.max_weight + 1) if self.is_cut else 0.0)
