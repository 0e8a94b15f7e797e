"""A search for the fault sets of some circuits: its strata, and what was enumerated and sampled of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from ....simulation.plan import SamplingPlan
from .halves import Halves
from .joins import FEW, JoinedSets
from .limits import Limits, Work, sampling_seconds, steps_seconds
from .mechanisms import MAX_WEIGHT, Mechanisms, study_of
from .outcomes import Asked, OutcomeClasses
from .sampled import SampledSets
from .strata import Bound, EnumeratedSets, Stratum, Tally
from .unions import UnionSets, union_sizes

__all__ = ["Search"]

_LONG_WIDTH = 14
"""From this peak width on, outcome classes with which no shot is kept are not stored: outcome distributions
of all classes would take longer than the search. If it is doubled, d=7 takes minutes."""

_MOST_MECHANISMS = 5000
"""Mechanisms up to which unions are sampled. If it is doubled, d=7 takes longer."""


class Search:
    """A search for the fault sets of circuits that differ in the odds of their mechanisms.

    Args:
        plan: The plan of the first circuit.
        mechanisms: The mechanisms of each circuit; all but odds and probabilities are equal.
        limits: What it may cost.
        seed: 0 <= seed < 2^64.
        threads: Number of threads.
        report: Called with a line about what is under way.
        asked: The sums that it is for.
        begin: When its time began, on the clock of ``time.perf_counter``; None: now.

    Attributes:
        mechanisms: Those of the first circuit.
        odds: float64, shape (num_circuits, num_mechanisms).
        masses: float64, shape (num_circuits, max_weight + 1): the total odds of all sets of a weight.
        nothing: For each circuit the probability that no mechanism acts.
        factors: For each circuit the probability that no mechanism acts and the removed coins pass.
        strata: The strata from weight 0 on. Only the last one may be of several weights.
        study: The native search.
        outcomes: The outcome classes of all sets found.
        work: What was done.
        max_weight: Larger sets are neither enumerated nor sampled.
        kept_only: Whether outcome classes with which no shot is kept are left out.
    """

    def __init__(
        self,
        plan: SamplingPlan,
        mechanisms: Sequence[Mechanisms],
        limits: Limits,
        seed: int,
        threads: int,
        report: Callable[[str], None],
        asked: Asked = Asked.BOTH,
        begin: float | None = None,
    ) -> None:
        begin = time.perf_counter() if begin is None else begin
        self.asked = asked
        self.limits = limits
        self.mechanisms = first = mechanisms[0]
        self.odds = np.array([each.odds for each in mechanisms])
        self.nothing = [each.nothing for each in mechanisms]
        self.factors = [each.nothing * each.coin_factor for each in mechanisms]
        self.study = study_of(plan, first, threads, limits.max_bytes)
        self.kept_only = self.study.tells_kept or plan.peak_width >= _LONG_WIDTH
        self.outcomes = OutcomeClasses(self.study, plan.num_outputs, asked)
        self.max_weight = min(MAX_WEIGHT, first.most_members)
        self.masses = np.array([each.masses(self.max_weight) for each in mechanisms])
        self.strata: list[Stratum] = []
        self.work = Work(limits, begin)
        self._seed, self._round = seed, 0
        self._report = report
        self._tallies: dict[tuple[int, int], tuple[tuple[int, int], tuple[Tally, ...]]] = {}

    @property
    def num_circuits(self) -> int:
        """Number of circuits."""
        return len(self.odds)

    @property
    def next_weight(self) -> int:
        """The first weight that was neither enumerated nor sampled."""
        return self.strata[-1].weights.stop if self.strata else 0

    @property
    def enumerated(self) -> list[EnumeratedSets]:
        """The strata of the weights from 0 on of which all sets are known."""
        first = next((k for k, each in enumerate(self.strata) if each.draws), len(self.strata))
        return [each for each in self.strata[:first] if isinstance(each, EnumeratedSets)]

    @property
    def sampled(self) -> list[SampledSets]:
        """The strata that are sampled."""
        return [each for each in self.strata if isinstance(each, SampledSets)]

    @property
    def is_cut(self) -> bool:
        """Whether there are larger sets than ``max_weight``."""
        return self.max_weight == MAX_WEIGHT

    def enumerate(self, weight: int, max_steps: float, part_of_time: float = 1.0) -> bool:
        """Enumerates a weight, the first one that was not; False if that takes too much.

        ``max_steps`` limits its steps, ``part_of_time`` the part of the time left that it may take.
        """
        self._report(f"weight {weight}: all sets")
        seconds = part_of_time * self.work.seconds_left
        cost = min(self.limits.work, max(0.1, seconds) / self.work.seconds_per_cost)
        found = self.study.enumerate(
            weight,
            self.odds.ravel(),
            self.num_circuits,
            int(max_steps),
            int(2 * self.limits.exact_keys),
            self.kept_only,
            max(1.0, seconds),
            int(cost / steps_seconds(0, 0, 1)),
        )
        self.work.spent += steps_seconds(found["steps"], found["sets"], found["num_keys"] * self.tosses)
        if not found["is_complete"]:
            return False
        self.outcomes.evaluate()
        # What was sampled of this weight is not needed any more.
        self.strata[weight : weight + 1] = [EnumeratedSets(weight, found, self.num_circuits)]
        self.__dict__.pop("_bounds", None)  # those of larger sets follow from what is known of smaller ones
        return True

    @property
    def tosses(self) -> float:
        """The mean number of outcome distributions of a class: one for each toss of the coins that matter."""
        classes, distributions = self.study.evaluated
        return distributions / classes if classes else 1.0

    def begin_sample(self, weights: range) -> SampledSets:
        """A stratum of some weights, without any sample yet."""
        known = self.enumerated[:4]
        joins = JoinedSets(Halves(weights, self.masses[0]), self.odds)
        is_small = self.odds.shape[1] <= _MOST_MECHANISMS and known[-1].sets <= self.limits.stored_sets
        has_outcomes = self.asked is Asked.BOTH and self.mechanisms.keys.shape[1] > 0
        sizes = None
        if len(weights) == 1 and is_small and has_outcomes and not self.mechanisms.target.any():
            sizes = union_sizes(weights[0], [each.passing(0) for each in known])
        return SampledSets(joins, sizes and UnionSets(sizes, self.mechanisms.checks, self.odds))

    def join(self, sample: SampledSets, halves: int) -> None:
        """Adds a join of so many halves of each kind, or of fewer if these find too many sets."""
        of_joins, of_unions = sample.joins, sample.unions
        ratios = self.odds / self.odds[0]
        while True:
            self._report(f"weight {sample.weights[0]}: {halves:.3g} x {halves:.3g} joins")
            self._round += 1
            found = self.study.join(
                *of_joins.halves.draws_of_sizes(halves),
                of_joins.halves.importance_weights(halves),
                self._seed,
                self._round,
                int(self.limits.exact_keys),
                ratios.ravel(),
                self.num_circuits,
                self.kept_only,
            )
            new = self.study.evaluated[0]
            self.work.spent += sampling_seconds(halves, found["sets"])
            if found["is_complete"]:
                break
            halves = max(1, halves // 8)
        self.outcomes.evaluate()
        self.work.spent += sampling_seconds(0, 0, (self.study.evaluated[0] - new) * self.tosses)
        of_joins.add(halves, found, self.outcomes, of_unions.contains if of_unions else None)

    def unite(self, sample: SampledSets, draws: int) -> None:
        """Adds a sample of unions, of so many draws, or of fewer if these have too many outcome classes."""
        unions, cost = sample.unions, 0.0
        assert unions is not None
        while True:
            self._report(f"weight {sample.weights[0]}: {draws:.3g} unions of sets that pass")
            before = self.study.evaluated[0]
            self._round += 1
            max_keys = int(self.limits.exact_keys)
            found = self.study.compose(
                *unions.sizes, draws, self._seed, self._round, max_keys, self.kept_only
            )
            pairs = found["combinations"] if found["is_complete"] else draws
            cost += sampling_seconds(pairs, 0, self.study.evaluated[0] - before)
            if found["is_complete"]:
                break
            draws = max(1, draws // 8)
        self.work.spent += cost
        self.outcomes.evaluate()
        unions.add(draws, found, self.outcomes, cost)

    @cached_property
    def _bounds(self) -> dict[str, np.ndarray]:
        """Proven upper bounds for each weight, in odds of the first circuit; see ``fault_set_bounds.h``."""
        closed = np.ones(1)
        if not self.mechanisms.target.any():
            closed = np.array([stratum.passing(0) for stratum in self.enumerated] or [1.0])
        found = self.study.bounds(closed, 1e-40 * float(self.masses[0].max()))
        # Mechanisms that exclude each other leave no sets of the largest weights.
        weights = self.masses.shape[1]
        return {name: np.minimum(found[name][:weights], self.masses[0]) for name in ("passing", "most")}

    def bound(self, weights: range) -> Bound:
        """Proven bounds on the sets of some weights that pass, and on the halves that complete a half."""
        masses = self.masses[0]
        ratios = (self.odds / self.odds[0]).max(axis=1, keepdims=True) ** np.array(weights)
        most = np.minimum(self.masses[:, weights], self._bounds["passing"][weights] * ratios).sum(axis=1)
        parts = np.divide(self._bounds["most"], masses, where=masses > 0, out=np.ones_like(masses))
        return Bound(most, Halves(weights, masses).partners(np.minimum(1.0, parts)))

    def tally(self, stratum: Stratum, circuit: int) -> Tally:
        """The sums of a stratum for a circuit, in units of ``factors``."""
        first, *others = self.tallies(stratum, circuit)
        return sum(others, first)

    def tallies(self, stratum: Stratum, circuit: int) -> tuple[Tally, ...]:
        """The sums of a stratum for a circuit, one tally for each sampler."""
        place, state = (stratum.weights[0], circuit), (stratum.rounds, len(self.enumerated))
        if self._tallies.get(place, (None, None))[0] != state:
            # Enumerated strata need no bounds, which take long.
            bound = self.bound(stratum.weights) if stratum.draws else Bound(np.zeros(0), 0.0)
            self._tallies[place] = state, stratum.tallies(circuit, self.outcomes, bound)
        return self._tallies[place][1]

    def expected_passing(self, weights: range, circuit: int = 0) -> float:
        """The total odds of the sets of some weights that pass, extrapolated from smaller ones."""
        before = [each for each in self.strata if each.weights.stop <= weights[0]]
        known = [(each.weights[0], each.passing(circuit)) for each in before]
        # Where none were found, there may still be some.
        found = [(k, passing) for k, passing in known if passing] or [(0, 0.0)]
        (j, a), (k, b) = found[-2:] if len(found) > 1 else (found[-1], found[-1])
        if not b:
            return 1e-6 * math.fsum(self.masses[circuit, weights])
        if j == k:
            return b * math.fsum(self.masses[circuit, weights]) / float(self.masses[circuit, k])
        ratio = min(1.0, (b / a) ** (1 / (k - j)))
        return b * math.fsum(ratio ** (weight - k) for weight in weights)

    def passing(self, sample: SampledSets) -> float:
        """The total odds of the sets of a stratum that pass, about."""
        return sample.passing(0) if sample.sets >= FEW else self.expected_passing(sample.weights)

    def expected_enumeration(self, weight: int) -> tuple[float, float, float]:
        """Steps, sets and outcome classes of the first weight that was not enumerated, from those before."""
        before, last = self.enumerated[weight - 2 : weight]
        branching = self.study.branching
        if weight == 2:
            # Single mechanisms are no guide: pairs of equal ones pass the checks, too.
            pairs = float(self.study.num_twins)
            return max(pairs, float(self.odds.shape[1])), pairs, pairs
        steps = max(last.steps, self.odds.shape[1]) * branching
        growth = last.sets / before.sets if before.sets else branching
        of_classes = last.num_classes / before.num_classes if before.num_classes else growth
        return steps, last.sets * growth, last.num_classes * min(growth, of_classes)

    def rest(self, circuit: int, first_weight: int) -> float:
        """Probability of all sets from a weight on, and that no mechanism of any other set acts."""
        if first_weight > self.max_weight and not self.is_cut:
            return 0.0
        nothing, masses = self.nothing[circuit], self.masses[circuit]
        above = nothing * math.fsum(masses[first_weight:])
        if not self.is_cut:
            return above
        # Each mass is at most that of the weight before times the sum of the odds over the weight. (The
        # difference of all known masses to 1 has rounding errors, larger than what matters at small rates.)
        ratio = float(masses[1]) / (self.max_weight + 1)
        if ratio < 1:
            return above + nothing * float(masses[-1]) * ratio / (1 - ratio)
        return max(above, 1 - nothing * math.fsum(masses[:first_weight]))

    def rest_passing(self, circuit: int, first_weight: int) -> float:
        """An upper bound on the part of ``rest`` that passes the noise-only checks."""
        if first_weight > self.max_weight:
            return 0.0
        weights = np.arange(first_weight, self.max_weight + 1)
        ratio = float((self.odds[circuit] / self.odds[0]).max())
        bounds = self._bounds["passing"][weights] * ratio ** weights.astype(np.float64)
        passing = self.nothing[circuit] * math.fsum(np.minimum(self.masses[circuit, weights], bounds))
        return passing + (self.rest(circuit, self.max_weight + 1) if self.is_cut else 0.0)
