"""What is known of the fault sets of some circuits: the strata that were looked at, and their sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ....simulation.plan import SamplingPlan
from ...estimation.interval import interval_of_weighted_sum
from . import costs
from .laws import Floats, KeyValues
from .limits import Limits
from .mechanisms import MAX_WEIGHT, Mechanisms, study_of
from .sampling.forecast import Forecast
from .sampling.halves import Halves
from .sampling.joins import JoinedSets
from .sampling.unions import Composition
from .strata import CircuitTotals, ExactWeight, Stratum, Sums, next_passing

__all__ = ["Exploration"]

_LONG_LAW_WIDTH = 14
"""From this peak width on, the laws of all signatures would take longer than the search for fault sets."""

_NEGLIGIBLE = 1e-40
"""Sets of so little weight, relative to that of all sets, are not told apart."""

_LEAST_SECONDS, _LEAST_SECONDS_OF_LAWS = 1.0, 0.1
"""An enumeration, and the laws that it needs, may take as long, whatever time is left."""

_MOST_MECHANISMS = 5000
"""Mechanisms up to which unions are sampled apart. At d=7, with 8,360, the lists of smaller sets take longer
than they help."""

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
        self.begin_to_spend()
        self._round = 0
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
            if isinstance(stratum, JoinedSets):
                stratum.limit(*self._most_of(stratum.halves_of_joins))

    def passing_odds(self, stratum: JoinedSets) -> float:
        """The odds of all sets of a weight that pass the checks, about."""
        return stratum.passing(0) if stratum.sets else sum(map(self.next_passing_odds, stratum.weights))

    def next_passing_odds(self, weight: int, circuit: int = 0) -> float:
        """The odds of all sets of a weight that pass the checks, extrapolated from the weights before."""
        before = [stratum for stratum in self.strata if stratum.weights[-1] < weight]
        return next_passing(before, self.masses[circuit], weight, circuit)

    def sample_of(self, weights: range) -> JoinedSets:
        """A sample of the sets of some weights, without any join yet."""
        halves = Halves(weights, self.odds[0], self.masses[0])
        most, partners = self._most_of(halves)
        expected = math.fsum(map(self.next_passing_odds, weights))
        exact = [self.exact(k) for k in range(min(4, self.num_exact))]
        composition = None
        is_small = self.odds.shape[1] <= _MOST_MECHANISMS and exact[-1].sets <= self.limits.stored_sets
        differ = not self.passing_only and self.mechanisms.keys.shape[1] > 0
        if len(weights) == 1 and is_small and differ and not self.mechanisms.target.any():
            passing = [each.passing(0) for each in exact]
            composition = Composition.of(weights[0], passing, self.mechanisms.checks)
        return JoinedSets(self.odds, most, halves, partners, expected, composition)

    def compose(self, stratum: JoinedSets, draws: int) -> None:
        """Adds a sample of unions, from as many combinations as would be so many of the same mass."""
        max_keys, cost, weight = int(self.limits.exact_keys), 0.0, stratum.weight
        while True:
            self._report(f"weight {weight}: {draws:.3g} unions of sets that pass")
            evaluated = self.study.evaluated[0]
            self._round += 1
            found = self.study.compose(
                weight // 2,
                weight - weight // 2,
                draws,
                self.seed,
                self._round,
                max_keys,
                self.limits.kept_only,
            )
            combinations = found["combinations"] if found["is_complete"] else draws
            cost += costs.of_unions(combinations, self.study.evaluated[0] - evaluated)
            if found["is_complete"]:
                break
            draws = max(1, draws // 8)
        self.spent += cost
        self._evaluate()
        stratum.add_unions(draws, found, self.values.kept, cost)

    def _most_of(self, halves: Halves) -> tuple[Floats, float]:
        """Bounds on all sets that pass, and on the part of all halves that complete a half."""
        bounds, masses = self.bounds, self.masses[0]
        ratios = (self.odds / self.odds[0]).max(axis=1, keepdims=True) ** np.array(halves.weights)
        passing = bounds["passing"][halves.weights] * ratios
        most = np.minimum(self.masses[:, halves.weights], passing).sum(axis=1)
        parts = np.divide(bounds["most"], masses, where=masses > 0, out=np.ones_like(masses))
        return most, halves.partners(np.minimum(1.0, parts))

    def join(self, stratum: JoinedSets, halves: int) -> None:
        """Adds a join of so many halves of each kind, or of fewer if these find too many sets."""
        ratios = self.odds / self.odds[0]
        while True:
            self._report(f"weight {stratum.weight}: {halves:.3g} x {halves:.3g} joins")
            self._round += 1
            found = self.study.join(
                *stratum.halves_of_joins.draws_of_sizes(halves),
                stratum.halves_of_joins.counts_of_weights(halves),
                self.seed,
                self._round,
                int(self.limits.most_sets_of_join),
                ratios.ravel(),
                len(ratios),
                self.limits.kept_only,
            )
            self.spent += costs.of_join(halves, found["sets"], found["candidates"])
            if found["is_complete"]:
                break
            halves = max(1, halves // 8)
        self._evaluate()
        stratum.add(halves, found, self.values.kept)

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

    def forecasts(self, stratum: JoinedSets) -> list[Forecast]:
        """What more draws of a weight would bring, for each circuit."""
        rates = map(self._rate_that_matters, range(len(self.odds)))
        return [stratum.forecast(c, self.values, rate) for c, rate in enumerate(rates)]

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
