"""Decides where more is looked at, until the error is small enough.

Every weight that matters is sampled a little first. That tells what it costs to enumerate it, or to sample
more of it, and what error that leaves. Of all that can be done next, for all weights and circuits, what takes
away most of the error for its cost is done.

All decisions follow from counts and sums that depend on the seed alone; only ``max_seconds`` looks at a
clock.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from ....simulation.engines.time_limit import time_limit
from ...estimation.interval import COVERAGE
from ...estimation.uncertainty import uncertainty_of
from ..wrong_tool import refuse
from .costs import of_enumeration, of_join
from .enumeration import check_first, enumerate_cheap, expected_enumeration
from .exploration import Exploration
from .mechanisms import MAX_WEIGHT
from .sampling.forecast import ErrorTerms, Forecast
from .sampling.joins import JoinedSets

__all__ = ["Estimator"]

_LEAST_SECONDS = 0.5
"""A search may take as long even if no time is left: with more, a limit would be exceeded by as much."""

_FIRST_SETS = 2e4
"""About how many sets the first sample of a weight should find. If it is doubled, forecasts are better, and
searches that need little more than the first samples take longer."""

_FIRST_HALVES = 400_000
"""The most halves of a first sample: if it is doubled, so is what a weight costs of which nearly no set
passes."""

_FIRST_UNIONS = 1 << 16
"""Draws for the first unions: they cost little."""

_FEWEST_HALVES = 1000
"""The fewest halves of a join: fewer say little of how much different halves vary."""

_GROWTHS = (1.0, 3.0, 9.0, 27.0)
"""The sizes of further joins of a weight, as multiples of the sample that there is."""

_LAST_GROWTHS = (0.05, 0.1, 0.2, 0.4, 0.7)
"""The sizes of joins that are enough to end the search: a larger one may cost as much as all before."""

_NEAR_THE_END = 0.4
"""The square of the error that is too much, in units of what was asked for, where such joins may do."""

_TIMES = 1, 3, 9
"""How many joins may be made in place of one. Where finds with a common half depend on each other, a larger
join finds more sets for each half, and they tell hardly more than those of a smaller one."""

_LARGE_GROWTHS = (*_GROWTHS, 81.0, 243.0)
_SMALL_PART = 0.2
"""A sample is enough if it leaves this part of the square of the error that was asked for. If it is doubled,
fewer weights are enumerated."""

_PART_OF_REST = 0.8
"""Where there is hardly another error, it may leave this part of what the others leave to it."""

_PART_OF_LIMIT = 0.2, 0.25
"""The part of the time left, and of the work limit, that the enumeration of a weight may cost where samples
that cost as much would not be enough."""

_LITTLE = 3.0, 0.1
"""Weights that probably have so many times the error asked for, and this part of P(kept and wrong), or less,
may have one sample together. If it is doubled, the largest weights are sampled less evenly."""

_FEWEST_ALONE = 3
"""Weights that have samples of their own: they tell how much larger sets matter."""

_PART_BEYOND = 0.3
"""The part of what may be left out that is left out beyond such a sample: to include it costs hardly more."""

_LARGEST_WEAK, _WEAK_PASSING = 12, 1e-3
"""Sets of more mechanisms than this are not sampled if a larger part of them passes the checks: each has too
many halves to be found by."""

_FIRST_TO_FORESEE, _FORESEEN = 5, 100.0
"""From this weight on, that is foreseen (the part that passes falls less and less from weight to weight), if
such sets seem to matter so many times more than those that are looked at at all."""

_ENOUGH = 0.98
"""The search ends when the uncertainty is this part of the one that was asked for."""

_MOST_OF_REST = 0.1
"""The part of it that weights that were not looked at may have, if there is time to look at others."""

_FIRST_COST = 0.5
"""Seconds that a single action may cost even if less was spent on all before it."""

_NOTHING = 1e-15
"""Without a wrong set, the search aims at an upper limit of about this logical error rate."""

_WORK_FOR_NOTHING = 0.1
"""If this part of the work limit has found no wrong set, the search ends."""


@dataclass(frozen=True)
class _Action:
    """Something that can be done next.

    Attributes:
        cost: In seconds of one core.
        gain: By how much the sum over circuits of (error / error asked for)^2 falls.
        run: Does it.
        is_needed: Whether nothing of the same cost would be enough.
    """

    cost: float
    gain: float
    run: Callable[[], object]
    is_needed: bool = False


@dataclass(frozen=True)
class _Joins:
    """So many joins of so many halves of each kind, at a cost."""

    halves: int
    times: int
    cost: float

    def error(self, forecast: Forecast) -> ErrorTerms:
        """What they leave of the error."""
        return forecast.with_joins(self.halves, self.times)


class Estimator:
    """Looks at fault sets until the logical error rates of their circuits are known well enough.

    Args:
        known: The circuits, and what is known so far.
    """

    def __init__(self, known: Exploration) -> None:
        self._known = known
        self._can_enumerate = True

    def run(self) -> None:
        """Looks at all weights, and then again where that helps most; until ``max_seconds`` are over."""
        with contextlib.suppress(TimeoutError), time_limit(max(_LEAST_SECONDS, self._known.seconds_left)):
            self._run()
        check_first(self._known)

    def _run(self) -> None:
        self._can_enumerate = enumerate_cheap(
            self._known, lambda: self._is_done() and not self._matter_more()
        )
        check_first(self._known)
        self._check_events()
        self._sample_first()
        while not self._is_done():
            possible = [
                each
                for each in self._actions()
                if each.gain > 0 and self._has_time(each.cost, each.is_needed)
            ]
            if not possible:
                return
            max(possible, key=lambda action: action.gain / action.cost).run()
            self._sample_first()

    def _matter_more(self) -> bool:
        """Whether weights that were not looked at may matter."""
        known = self._known
        return known.next_weight <= known.max_weight and any(
            known.rest_passing(c, known.next_weight) * known.coin_factor(c) > self._negligible(c)
            for c in range(len(known.odds))
        )

    def _sample_first(self) -> None:
        """A first sample of every weight that may matter."""
        known = self._known
        while self._matter_more() and not known.is_out_of_time:
            first = known.next_weight
            sample = known.sample_of(self._weights_together(first) or range(first, first + 1))
            if not sample.has_several_weights:
                self._check_passing(sample)
            halves = math.sqrt(_FIRST_SETS * sample.scale / known.passing_odds(sample))
            most = min(halves, _FIRST_HALVES, known.limits.join_draws)
            known.join(sample, int(max(_FEWEST_HALVES, most)))
            if sample.composed is not None:
                known.compose(sample, _FIRST_UNIONS)
            known.strata.append(sample)
            self._foresee_passing()

    def _weights_together(self, first: int) -> range | None:
        """The weights from one on of which one sample is enough: they matter little, but cannot be left out.

        How much they matter is foreseen as if a wrong set were as frequent among those that pass as at any
        smaller weight.
        """
        known = self._known
        if first < known.num_exact + _FEWEST_ALONE:
            return None
        last, little = first, min(_LITTLE[0] * known.limits.relative_error, _LITTLE[1])
        for c in range(len(known.odds)):
            totals = known.totals(c)
            wrong = max(each.wrong / (each.passing or 1.0) for *_, each in totals.by_weight[1:])
            larger = range(first, known.max_weight + 1)
            passing = math.fsum(known.next_passing_odds(weight, c) for weight in larger)
            if not totals.wrong or known.factor(c) * passing * wrong > little * totals.wrong:
                return None
            enough = _PART_BEYOND * self._negligible(c) / known.coin_factor(c)
            while last < known.max_weight and known.rest_passing(c, last + 1) > enough:
                last += 1
        return range(first, last + 1)

    def _check_passing(self, sample: JoinedSets) -> None:
        """Refuses where many large sets pass the checks: each has too many halves to be found by."""
        weight = sample.weight
        part = self._known.passing_odds(sample) / float(self._known.masses[0, weight])
        if weight > _LARGEST_WEAK and part > _WEAK_PASSING:
            refuse(f"sets of {weight} mechanisms matter, of which {part:.1%} pass")

    def _foresee_passing(self) -> None:
        """Refuses as above where that is to be expected, before many weights were looked at in vain."""
        known = self._known
        weight, first = len(known.strata) - 1, _LARGEST_WEAK + 1
        if not _FIRST_TO_FORESEE <= weight < first <= known.max_weight or not all(
            known.rest_passing(c, first) * known.coin_factor(c) > _FORESEEN * self._negligible(c)
            for c in range(len(known.odds))
        ):
            return
        before, last = (known.strata[k].passing(0) / known.masses[0, k] for k in (weight - 1, weight))
        if before and (part := last * min(1.0, last / before) ** (first - weight)) > _WEAK_PASSING:
            refuse(f"sets of {first} mechanisms matter, of which {part:.1%} or more pass")

    def _check_events(self) -> None:
        """Refuses where sets matter that are larger than those that can be looked at."""
        known = self._known
        for c in range(len(known.odds)):
            allowed = known.limits.relative_error * (known.totals(c).kept or known.factor(c))
            if known.is_cut and known.rest(c, known.max_weight + 1) * known.coin_factor(c) > allowed:
                mean = float(known.masses[c, 1])
                refuse(
                    f"a shot has {mean:.3g} noise events on average, and weights above {MAX_WEIGHT} matter",
                    checks_are_weak=False,
                )

    def _negligible(self, circuit: int) -> float:
        """Probability of unexplored weights that does no harm to the interval."""
        return _MOST_OF_REST * math.sqrt(self._allowed(circuit))

    def _allowed(self, circuit: int) -> float:
        """The square of the error that was asked for."""
        allowed = self._known.limits.relative_error * self._known.totals(circuit).wrong
        # Where no wrong set was found, an upper limit far below all that can be compared with it.
        return (allowed or _NOTHING * self._known.factor(circuit)) ** 2

    def _excess(self, circuit: int) -> float:
        """How far the square of the uncertainty is above what is aimed at, in units of what was asked for."""
        known, asked = self._known, math.sqrt(self._allowed(circuit))
        totals = known.totals(circuit)
        low, high = known.interval_of_wrong(circuit, COVERAGE)
        high -= totals.rest_passing
        uncertainty = uncertainty_of(totals.wrong, totals.error_of_sampled, (low, high))
        aim = _ENOUGH - min(_MOST_OF_REST, totals.rest_passing / asked)
        return (uncertainty / asked) ** 2 - aim**2

    def _is_done(self) -> bool:
        return self._known.is_out_of_time or all(self._excess(c) <= 0 for c in range(len(self._known.odds)))

    def _has_time(self, cost: float, is_needed: bool = False) -> bool:
        """Whether that may be done: it costs not much more than all before, and is within the limits.

        What is needed may cost a part of the limits from the start.
        """
        known = self._known
        spent = known.spent
        of_time, of_work = _PART_OF_LIMIT
        is_needed = is_needed and (
            cost <= of_work * known.limits.work
            and cost * known.seconds_per_cost <= of_time * known.seconds_left
        )
        if (cost > max(_FIRST_COST, spent) and not is_needed) or spent + cost > known.limits.work:
            return False
        found = any(known.totals(c).wrong for c in range(len(known.odds)))
        if not found and spent + cost > _WORK_FOR_NOTHING * known.limits.work:
            return False
        return known.seconds_left >= cost * known.seconds_per_cost

    def _actions(self) -> Iterator[_Action]:
        """All that can be done next, of every weight that is not exact."""
        known = self._known
        excess = [max(0.0, self._excess(c)) for c in range(len(known.odds))]
        units = [known.factor(c) ** 2 / self._allowed(c) for c in range(len(known.odds))]
        wholes = [self._whole(c) for c in range(len(known.odds))]
        for sample in self._samples():
            forecasts = known.forecasts(sample)

            def gain(error: Callable[[Forecast], ErrorTerms], forecasts: list[Forecast] = forecasts) -> float:
                return sum(
                    min(most, unit * (whole.together - whole.changed(each.now, error(each)).together))
                    for most, unit, whole, each in zip(excess, units, wholes, forecasts, strict=True)
                )

            weight = sample.weight
            if weight == known.num_exact and self._can_enumerate and not sample.has_several_weights:
                steps, sets, candidates, keys = expected_enumeration(known, weight)
                if known.limits.may_enumerate(weight, steps, keys):
                    cost = of_enumeration(steps, sets, candidates, keys) + known.cost_of_tosses(keys)
                    enumerate_all = partial(self._enumerate, weight, 3 * steps)
                    is_needed = not self._is_sample_enough(sample, cost, units)
                    yield _Action(cost, gain(lambda _: ErrorTerms.of(0.0)), enumerate_all, is_needed)
                    if is_needed and self._has_time(cost, is_needed):
                        continue  # what was sampled before would be in vain
            for joins in self._further(sample, _GROWTHS, _TIMES):
                yield _Action(joins.cost, gain(joins.error), partial(self._join, sample, joins))
            for growth in _GROWTHS:
                if (cost := self._cost_of_unions(sample, growth)) < math.inf:
                    removed = gain(partial(Forecast.with_unions, growth=growth))
                    yield _Action(cost, removed, partial(self._compose, sample, growth))
            last = self._further(sample, _LAST_GROWTHS) if sum(excess) < _NEAR_THE_END else ()
            for joins in last:
                if (enough := gain(joins.error)) >= sum(excess):
                    yield _Action(joins.cost, enough, partial(self._join, sample, joins))

    def _whole(self, circuit: int) -> ErrorTerms:
        """What the error of all weights is made of."""
        each = [self._known.forecasts(one)[circuit].now for one in self._samples()]
        return ErrorTerms(math.fsum(one.variance for one in each), math.fsum(one.events for one in each))

    def _samples(self) -> list[JoinedSets]:
        return [each for each in self._known.strata if isinstance(each, JoinedSets)]

    def _is_sample_enough(self, sample: JoinedSets, cost: float, units: list[float]) -> bool:
        """Whether some join that costs less leaves little of the error of a weight."""
        of_unions, forecasts = self._enough_unions(sample, units)
        allowed = [
            max(_SMALL_PART, _PART_OF_REST * (_ENOUGH - unit * self._error_of_others(sample, c)))
            for c, unit in enumerate(units)
        ]
        return any(
            joins.cost + of_unions < cost
            and all(
                unit * joins.error(each).alone <= part
                for unit, each, part in zip(units, forecasts, allowed, strict=True)
            )
            for joins in self._further(sample, _LARGE_GROWTHS)
        )

    def _enough_unions(self, sample: JoinedSets, units: list[float]) -> tuple[float, list[Forecast]]:
        """What enough unions cost, and what they leave: half of the little that a sample may leave."""
        forecasts = self._known.forecasts(sample)
        for growth in (0.0, *_LARGE_GROWTHS):
            grown = [each.more_unions(growth) for each in forecasts]
            errors = (unit * each.error_of_unions for unit, each in zip(units, grown, strict=True))
            if max(errors) <= _SMALL_PART / 2:
                return self._cost_of_unions(sample, growth) if growth else 0.0, grown
        return math.inf, forecasts

    def _cost_of_unions(self, sample: JoinedSets, growth: float) -> float:
        """The cost of so many times as many unions as there are; infinite if these are none, or too many."""
        limits = self._known.limits
        if sample.composed is None or sample.finds > limits.stored_sets:
            return math.inf
        draws = growth * sample.composed.draws
        return sample.composed.cost_of_draw * draws if draws <= limits.union_draws else math.inf

    def _compose(self, sample: JoinedSets, growth: float) -> None:
        assert sample.composed is not None
        self._known.compose(sample, int(growth * sample.composed.draws))

    def _error_of_others(self, sample: JoinedSets, circuit: int) -> float:
        """The sum of the squares of the errors of all other weights."""
        others = (each for each in self._samples() if each != sample)
        return math.fsum(self._known.forecasts(each)[circuit].now.alone for each in others)

    def _further(
        self, sample: JoinedSets, growths: tuple[float, ...], often: tuple[int, ...] = (1,)
    ) -> Iterator[_Joins]:
        """Further joins of several sizes. ``often`` says how many joins may make one of them."""
        known = self._known
        if max(len(sample.keys), known.study.num_keys) > known.limits.stored_sets:
            return
        forecast = known.forecasts(sample)[0]
        for growth in growths:
            for times in often:
                wanted = forecast.halves_for(growth * sample.density / times)
                halves = self._most_halves(sample, wanted)
                yield _Joins(halves, times, times * self._cost_of_join(sample, halves))

    def _cost_of_join(self, sample: JoinedSets, halves: int) -> float:
        sets = halves**2 / sample.scale * self._known.passing_odds(sample)
        cost = of_join(halves, sets, sets * sample.part_of_candidates)
        return cost + self._known.cost_of_tosses(sets)

    def _most_halves(self, sample: JoinedSets, wanted: float) -> int:
        """As many halves as are wanted, or as fit into memory with the sets that they find."""
        limits = self._known.limits
        candidates = self._known.passing_odds(sample) * sample.part_of_candidates
        most = math.sqrt(0.5 * limits.most_sets_of_join * sample.scale / candidates)
        return int(max(_FEWEST_HALVES, min(wanted, most, limits.join_draws)))

    def _join(self, sample: JoinedSets, joins: _Joins) -> None:
        for _ in range(joins.times):
            self._known.join(sample, joins.halves)
            if self._known.is_out_of_time:
                return

    def _enumerate(self, weight: int, max_steps: float) -> None:
        self._can_enumerate = self._known.enumerate(weight, max_steps)
