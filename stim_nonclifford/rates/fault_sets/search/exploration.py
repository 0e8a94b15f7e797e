"""What is known of the fault sets of some circuits: the strata that were looked at, and their sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...._native import random_words
from ....simulation.engines.random_streams import Stream
from ....simulation.plan import SamplingPlan
from ..interval import interval_of_weighted_sum
from ..wrong_tool import refuse
from . import costs
from .halves import Composition, Halves, MixedHalves, halves_of
from .laws import Floats, KeyValues
from .limits import Limits
from .mechanisms import MAX_WEIGHT, Mechanisms, study_of
from .samples import SampledWeight
from .strata import CircuitTotals, ExactWeight, Outlook, Stratum, Sums, next_passing

__all__ = ["Exploration"]

MAX_PASSING = 0.05
"""Part of the sets that may pass the noise-only checks."""

_LONG_LAW_WIDTH = 14
"""From this peak width on, the laws of all signatures would take longer than the search for fault sets."""

_NEGLIGIBLE = 1e-40
"""Sets of so little weight, relative to that of all sets, are not told apart."""

_LEAST_SECONDS, _LEAST_SECONDS_OF_LAWS = 1.0, 0.1
"""An enumeration, and the laws that it needs, may take as long, whatever time is left."""

_DRAWS_OF_CLUMP = 16.0
"""Sets that are drawn together, about, where a search for one takes long."""

_MOST_MECHANISMS = 5000
"""Mechanisms up to which sets are drawn together, as a clump that was missed counts for more than a set, and
up to which composed sets are sampled apart. At d=7, with 8,360, intervals after a minute ended at 2.7 to 5
times the estimate with clumps, and at 1.5 to 1.7 times without, in half of the processor time."""

_PART_OF_BRANCHING = 0.4
"""The part of the mechanisms that may flip back a check that is left where bits of keys are checks, too."""

_TOLERANCE, _TOLERANCE_OF_ALL = 10.0, 3.0
"""How many times as many steps as expected the list of a key may take, and those of all keys together."""

_RATE_THAT_MATTERS = 1e-3
"""Below, the error of P(kept) adds nothing to that of P(wrong | kept)."""


class Exploration(costs.Spending):
    """The fault sets of circuits that differ in the odds of their mechanisms, weight by weight.

    Args:
        plan: The plan of the first circuit.
        mechanisms: The mechanisms of each circuit; all but odds and probabilities are equal.
        limits: What it may cost.
        seed: 0 <= seed < 2^64.
        threads: Number of threads.
        report: Called with a line about what is under way.
        passing_only: Whether P(kept) alone is asked for. It takes the place of P(kept and wrong), too; also
            an attribute.
        elapsed: Seconds of ``max_seconds`` that are over.

    Attributes:
        mechanisms: Those of the first circuit.
        odds: float64, shape (num_circuits, num_mechanisms).
        masses: float64, shape (num_circuits, max_weight + 1): the sum of the odds of all sets of a weight.
        strata: What is known of the weights from 0 on. Only the last ones may be of several weights.
        study: The native search.
        values: What the outcome laws say of the keys of all sets found.
        max_weight: Larger sets are not looked at.
    """

    def __init__(
        self,
        plan: SamplingPlan,
        mechanisms: Sequence[Mechanisms],
        limits: Limits,
        seed: int,
        threads: int,
        report: Callable[[str], None],
        passing_only: bool = False,
        elapsed: float = 0.0,
    ) -> None:
        super().__init__(limits, elapsed)
        self.passing_only = passing_only
        self.seed = seed
        self._report = report
        self.mechanisms = first = mechanisms[0]
        self.odds = np.array([each.odds for each in mechanisms])
        self._factors = np.array([each.nothing * each.coin_factor for each in mechanisms])
        self._nothing = np.array([each.nothing for each in mechanisms])
        self.study = study_of(plan, first, threads, limits.max_bytes)
        kept_only = self.study.tells_kept or plan.peak_width >= _LONG_LAW_WIDTH
        self.limits = replace(limits, kept_only=kept_only)
        self.values = KeyValues(self.study, plan.num_outputs, passing_only)
        self.max_weight = min(MAX_WEIGHT, first.most_members)
        self.masses = np.array([each.masses(self.max_weight) for each in mechanisms])
        self.strata: list[Stratum] = []
        self._tosses = 0
        self._draw_steps = costs.DrawSteps(max(2.0, self.study.branching))
        self.begin_to_spend()
        self._round = 0
        self._listed: dict[int, float] = {}
        self._known_sums: dict[tuple[int, int, float], tuple[int, Sums]] = {}
        self._known_totals: dict[int, tuple[list[int], CircuitTotals]] = {}

    def factor(self, circuit: int) -> float:
        """Probability that no mechanism acts and the removed coins pass."""
        return float(self._factors[circuit])

    def probability_of_nothing(self, circuit: int) -> float:
        """Probability that no mechanism acts."""
        return float(self._nothing[circuit])

    def coin_factor(self, circuit: int) -> float:
        """Probability that the removed coins pass."""
        return float(self._factors[circuit] / self._nothing[circuit])

    def cost_of_tosses(self, keys: float) -> float:
        """What coins add to the cost of so many signatures, as far as those evaluated so far tell."""
        evaluated, laws = self.study.evaluated
        return costs.of_laws(keys * (laws / evaluated - 1)) if evaluated else 0.0

    @property
    def next_weight(self) -> int:
        """The first one that was not looked at."""
        return self.strata[-1].weights.stop if self.strata else 0

    @property
    def num_exact(self) -> int:
        """Number of weights, from 0 on, of which all sets are known."""
        return next(
            (k for k, stratum in enumerate(self.strata) if not isinstance(stratum, ExactWeight)),
            len(self.strata),
        )

    def exact(self, weight: int) -> ExactWeight:
        """A weight that was enumerated."""
        stratum = self.strata[weight]
        assert isinstance(stratum, ExactWeight)
        return stratum

    def enumerate(self, weight: int, max_steps: float, part_of_time: float = 1.0) -> bool:
        """Enumerates a weight, the first one that was not; False if that takes too much.

        ``max_steps`` limits its steps, ``part_of_time`` the part of the time left that it may take.
        """
        self._report(f"weight {weight}: all sets")
        max_keys = int(self.limits.exact_keys * 2)
        seconds = part_of_time * self.seconds_left
        for_laws = max(_LEAST_SECONDS_OF_LAWS, seconds) / self.seconds_per_cost
        max_laws = costs.laws_for(min(self.limits.work, for_laws))
        found = self.study.enumerate(
            weight,
            self.odds.ravel(),
            len(self.odds),
            int(max_steps),
            max_keys,
            self.limits.kept_only,
            max(_LEAST_SECONDS, seconds),
            int(max_laws),
        )
        counted = (found[name] for name in ("steps", "sets", "candidates", "num_keys"))
        self.spent += costs.of_enumeration(*counted)
        if not found["is_complete"]:
            return False
        self._evaluate()
        # What was sampled of this weight is not needed any more.
        self.strata[weight : weight + 1] = [ExactWeight(weight, found, len(self.odds))]
        self._known_sums.clear()
        self._tighten_bounds()
        return True

    def _evaluate(self) -> None:
        """Evaluates the laws of new keys."""
        self.values.evaluate()
        keys, laws = self.study.evaluated
        self.spent += costs.of_laws(laws - keys - self._tosses)
        self._tosses = laws - keys

    def _tighten_bounds(self) -> None:
        """Bounds anew, as those of larger sets follow from what is known of smaller ones."""
        self._known_totals.clear()
        self.__dict__.pop("bounds", None)
        for stratum in self.strata:
            if isinstance(stratum, SampledWeight):
                stratum.limit(*self._most_of(stratum.halves_of_joins))

    def draw(self, stratum: SampledWeight, density: float) -> None:
        """Adds draws, on average so many for each unit of odds."""
        spacing, passing = 1 / density, self.passing_odds(stratum)
        while True:
            draws = max(1000.0, passing / spacing)
            self._report(f"weight {stratum.weight}: {draws:.3g} draws")
            self._round += 1
            found = self.study.draw(
                stratum.weight,
                spacing,
                self._seed_of_round(),
                int(2 * draws),
                self.draws_of_clump,
                passing,
                max(_LEAST_SECONDS, self.seconds_left),
            )
            num_drawn = len(found["members"]) / stratum.weight
            self._spend(stratum, costs.of_draws(found["steps"], num_drawn))
            if found["is_complete"]:
                break
            if self.is_out_of_time:
                return
            # Far more sets pass than at the weights before.
            spacing *= 30
        keys = self.study.number_keys(found["members"], stratum.weight, self.limits.kept_only)
        self._evaluate()
        beginnings, mass = self._steps_to_beginnings(stratum.weight), float(self.masses[0, stratum.weight])
        self._draw_steps.learn(found["steps"] - beginnings, num_drawn, passing / mass)
        stratum.add_draws(found["members"], keys, found["clumps"], spacing, self.values.kept)

    def steps_of_draws(self, weight: int, draws: float, passing: float) -> float:
        """About how many steps so many draws take; ``passing``: the odds of all sets that pass."""
        part = passing / float(self.masses[0, weight])
        return self._draw_steps.expected(self._steps_to_beginnings(weight), draws, part)

    def _steps_to_beginnings(self, weight: int) -> float:
        last, branching = self.num_exact - 1, self._draw_steps.branching
        steps = float(self.exact(last).steps) * branching ** (weight - 2 - last)
        return steps if self.draws_of_clump else steps * branching

    def _spend(self, stratum: SampledWeight, cost: float) -> None:
        stratum.cost += cost
        self.spent += cost

    def passing_odds(self, stratum: SampledWeight) -> float:
        """The odds of all sets of a weight that pass the checks, about."""
        return stratum.passing(0) if stratum.sets else sum(map(self.next_passing_odds, stratum.weights))

    def may_join(self, stratum: SampledWeight) -> bool:
        """Whether few enough combinations of halves pass the checks for joins."""
        return self.passing_odds(stratum) <= MAX_PASSING * float(self.masses[0, stratum.weights].sum())

    def next_passing_odds(self, weight: int, circuit: int = 0) -> float:
        """The odds of all sets of a weight that pass the checks, extrapolated from the weights before."""
        before = [stratum for stratum in self.strata if stratum.weights[-1] < weight]
        return next_passing(before, self.masses[circuit], weight, circuit)

    def sample_of(self, weight: int) -> SampledWeight:
        """A weight of which nothing was sampled yet."""
        left, right = sizes = halves_of(weight)
        halves = Halves(self.odds[0], sizes, (float(self.masses[0, left]), float(self.masses[0, right])))
        most, partners = self._most_of(halves)
        expected = self.next_passing_odds(weight)
        exact = [self.exact(k) for k in range(min(4, self.num_exact))]
        composition = None
        is_small = self.odds.shape[1] <= _MOST_MECHANISMS and exact[-1].sets <= self.limits.stored_sets
        if is_small and self.may_list and not self.mechanisms.target.any():
            passing = [each.passing(0) for each in exact]
            composition = Composition.of(weight, passing, self.mechanisms.checks)
        return SampledWeight(self.odds, most, halves, partners, expected, composition)

    def sample_of_all(self, weights: range) -> SampledWeight:
        """Of all sets of several weights, of which nothing was sampled yet."""
        halves = MixedHalves(weights, self.masses[0], self.odds.shape[1])
        expected = math.fsum(map(self.next_passing_odds, weights))
        most, partners = self._most_of(halves)
        return SampledWeight(self.odds, most, halves, partners, expected)

    def compose(self, stratum: SampledWeight, draws: int) -> None:
        """Adds a sample of composed sets, from as many combinations as would be so many of the same mass."""
        max_keys, cost = int(self.limits.exact_keys), 0.0
        while True:
            self._report(f"weight {stratum.weight}: {draws:.3g} unions of sets that pass")
            evaluated = self.study.evaluated[0]
            self._round += 1
            found = self.study.compose(
                *halves_of(stratum.weight), draws, self.seed, self._round, max_keys, self.limits.kept_only
            )
            combinations = found["combinations"] if found["is_complete"] else draws
            cost += costs.of_composed(combinations, self.study.evaluated[0] - evaluated)
            if found["is_complete"]:
                break
            draws = max(1, draws // 8)
        self._spend(stratum, cost)
        self._evaluate()
        stratum.add_composed(draws, found, self.values.kept, cost)

    def _most_of(self, halves: Halves | MixedHalves) -> tuple[Floats, float]:
        """Bounds on all sets that pass, and on the part of all halves that complete a half."""
        bounds, masses = self.bounds, self.masses[0]
        ratios = (self.odds / self.odds[0]).max(axis=1, keepdims=True) ** np.array(halves.weights)
        passing = bounds["passing"][halves.weights] * ratios
        most = np.minimum(self.masses[:, halves.weights], passing).sum(axis=1)
        parts = np.divide(bounds["most"], masses, where=masses > 0, out=np.ones_like(masses))
        return most, halves.partners(np.minimum(1.0, parts))

    def join(self, stratum: SampledWeight, halves: int) -> None:
        """Adds a join of so many halves of each kind."""
        while True:
            self._report(f"weight {stratum.weight}: {halves:.3g} x {halves:.3g} joins")
            found = self._joined(stratum, halves)
            self._spend(stratum, costs.of_join(halves, found["sets"], found["candidates"]))
            if found["sets"] > MAX_PASSING * halves**2:
                part = found["sets"] / halves**2
                refuse(f"{part:.0%} of the sets of {stratum.weight} mechanisms pass them")
            if found["is_complete"]:
                break
            halves = max(1000, halves // 8)
        self._evaluate()
        stratum.add_join(halves, found, self.values.kept)

    def _joined(self, stratum: SampledWeight, halves: int) -> dict[str, Any]:
        ratios = self.odds / self.odds[0]
        self._round += 1
        return self.study.join(
            *stratum.halves_of_joins.draws_of_sizes(halves),
            stratum.halves_of_joins.counts_of_weights(halves),
            self.seed,
            self._round,
            int(self.limits.most_sets_of_join),
            ratios.ravel(),
            len(ratios),
            self.limits.kept_only,
        )

    def list_keys(self, stratum: SampledWeight, number: int) -> None:
        """Lists all sets with the keys that make most of a weight's variance, and begins its sample anew."""
        self._report(f"weight {stratum.weight}: all sets of {number} keys")
        examples = stratum.heavy_sets(self.values)[0][:number]
        each = _TOLERANCE * self._steps_of_key(stratum.weight)
        found = self.study.sets_like(
            examples.ravel(),
            stratum.weight,
            int(each),
            int(max(each, _TOLERANCE_OF_ALL * each / _TOLERANCE * number)),
            int(self.limits.stored_sets / 4),
        )
        self.spent += costs.of_list(found["steps"]) + self._cost_of_keyed_pairs
        self._listed[stratum.weight] = found["steps"] / number
        keys = self.study.number_keys(found["members"], stratum.weight, self.limits.kept_only)
        stratum.begin_anew(found["members"].reshape(-1, stratum.weight), keys)

    def cost_of_list(self, stratum: SampledWeight, number: int) -> float:
        """The cost of a list of all sets with so many keys, about."""
        return costs.of_list(number * self._steps_of_key(stratum.weight)) + self._cost_of_keyed_pairs

    @property
    def draws_of_clump(self) -> float:
        """Sets that are drawn together; 0: each alone."""
        pays = not self.passing_only and self.odds.shape[1] <= _MOST_MECHANISMS
        return _DRAWS_OF_CLUMP if pays else 0.0

    @property
    def may_list(self) -> bool:
        """Whether sets differ in keys."""
        return not self.passing_only and self.mechanisms.keys.shape[1] > 0

    @property
    def _cost_of_keyed_pairs(self) -> float:
        """Of the tables for the first list."""
        return 0.0 if self._listed else costs.of_pairs(self.odds.shape[1])

    def _steps_of_key(self, weight: int) -> float:
        """About how many steps find all sets of a weight with a given key."""
        branching = max(2.0, _PART_OF_BRANCHING * self.study.branching)
        return self._listed.get(weight, branching ** (weight - 2))

    @cached_property
    def bounds(self) -> dict[str, Floats]:
        """Proven upper bounds for each weight, in odds of the first circuit; see ``fault_set_bounds.h``."""
        closed = np.ones(1)
        if not self.mechanisms.target.any():
            exact = [stratum for stratum in self.strata if isinstance(stratum, ExactWeight)]
            closed = np.array([stratum.passing(0) for stratum in exact])
        nothing_else = _NEGLIGIBLE * float(self.masses[0].max())
        found = self.study.bounds(closed, nothing_else)
        # Mechanisms that exclude each other leave no sets of the largest weights.
        weights = self.masses.shape[1]
        return {name: np.minimum(found[name][:weights], self.masses[0]) for name in ("passing", "most")}

    def _seed_of_round(self) -> int:
        """Independent for each pass over the sets."""
        return int(random_words(self.seed, Stream.ROUNDS, self._round, 1)[0])

    def totals(self, circuit: int = 0) -> CircuitTotals:
        """What is known of a circuit so far."""
        state = [stratum.rounds for stratum in self.strata]
        if self._known_totals.get(circuit, (None, None))[0] != state:
            self._known_totals[circuit] = state, self._totals_of(circuit)
        return self._known_totals[circuit][1]

    def _totals_of(self, circuit: int) -> CircuitTotals:
        rate, first = self._rate_that_matters(circuit), self.next_weight
        return CircuitTotals.of(
            self.strata,
            [self._sums(stratum, circuit, rate) for stratum in self.strata],
            self.masses[circuit],
            (self.factor(circuit), self.probability_of_nothing(circuit)),
            (self.rest(circuit, first), self.rest_passing(circuit, first)),
        )

    def interval_of_wrong(
        self, circuit: int, coverage: float, largest: float | None = None
    ) -> tuple[float, float]:
        """Limits for P(kept and wrong); ``largest`` says what one more event may add, if known better."""
        totals = self.totals(circuit)
        sampled = totals.wrong - totals.exact_wrong
        largest = totals.largest if largest is None else largest
        low, high = interval_of_weighted_sum(sampled, totals.variance, largest, coverage)
        return totals.exact_wrong + low, totals.exact_wrong + high + totals.rest_passing

    def interval(self, circuit: int, coverage: float) -> tuple[float, float]:
        """Limits for the logical error rate."""
        totals = self.totals(circuit)
        low, high = self.interval_of_wrong(circuit, coverage)
        # All sets that were not looked at and pass may be kept and wrong, or all kept and right.
        return (low / (totals.kept + totals.rest_passing), high / totals.kept) if totals.kept else (0.0, 1.0)

    def error_patterns(self, circuit: int) -> dict[int, float]:
        """For each combination of flipped observables P(kept and this combination)."""
        coefficients = np.zeros(len(self.values.kept))
        for stratum in self.strata:
            coefficients += self.factor(circuit) * stratum.coefficients(circuit, len(coefficients))
        return self.values.pattern_sums(coefficients)

    def signatures(self, stratum: Stratum) -> int:
        """With how many signatures of a weight a shot can be kept."""
        return stratum.signatures(self.values)

    def malignant(self, stratum: Stratum) -> int:
        """How many of the signatures of a weight can make a kept shot wrong."""
        return stratum.malignant(self.values)

    def outlooks(self, stratum: SampledWeight) -> list[Outlook]:
        """What more draws of a weight would bring, for each circuit."""
        rates = map(self._rate_that_matters, range(len(self.odds)))
        return [stratum.outlook(c, self.values, rate) for c, rate in enumerate(rates)]

    def _rate_that_matters(self, circuit: int) -> float:
        """About the logical error rate; 0 where the error of P(kept) adds nothing to its own."""
        if self.passing_only:
            return 0.0
        sums = [self._sums(stratum, circuit, 0.0) for stratum in self.strata]
        kept, wrong = math.fsum(each.kept for each in sums), math.fsum(each.wrong for each in sums)
        return wrong / kept if kept and wrong / kept > _RATE_THAT_MATTERS else 0.0

    def _sums(self, stratum: Stratum, circuit: int, rate: float) -> Sums:
        place, state = (stratum.weight, circuit, rate), stratum.rounds
        if self._known_sums.get(place, (None, None))[0] != state:
            self._known_sums[place] = state, stratum.sums(circuit, self.values, rate)
        return self._known_sums[place][1]

    def rest(self, circuit: int, first_weight: int) -> float:
        """Probability of all sets from a weight on, and that no mechanism of any other set acts."""
        if first_weight > self.max_weight and not self.is_cut:
            return 0.0
        nothing = float(self._nothing[circuit])
        masses = self.masses[circuit]
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
        """An upper bound on the same, of the sets that pass the noise-only checks."""
        if first_weight > self.max_weight:
            return 0.0
        nothing = float(self._nothing[circuit])
        weights = np.arange(first_weight, self.max_weight + 1)
        ratio = float((self.odds[circuit] / self.odds[0]).max())
        bounds = self.bounds["passing"][weights] * ratio ** weights.astype(np.float64)
        passing = nothing * math.fsum(np.minimum(self.masses[circuit, weights], bounds))
        return passing + (self.rest(circuit, self.max_weight + 1) if self.is_cut else 0.0)

    @property
    def is_cut(self) -> bool:
        """Whether there are larger sets than those that can be looked at."""
        return self.max_weight == MAX_WEIGHT
