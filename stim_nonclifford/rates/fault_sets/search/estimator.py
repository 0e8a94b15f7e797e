"""Decides where more is looked at, until the error is small enough.

Every weight that matters is sampled a little first. That tells what each way of looking at it costs, and
what error it leaves: all of its sets, more draws, or a larger join. Of all that can be done next, for all
weights and circuits, what takes away most of the error for its cost is done.

All decisions follow from counts and sums that depend on the seed alone; only ``max_seconds`` looks at a
clock.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import methodcaller

from ....base.time_limit import time_limit
from ..interval import COVERAGE
from ..uncertainty import uncertainty_of
from ..wrong_tool import refuse
from .costs import of_draws, of_enumeration, of_join
from .enumeration import check_first, enumerate_cheap, expected_enumeration
from .exploration import Exploration
from .mechanisms import MAX_WEIGHT
from .samples import SampledWeight
from .strata import ErrorParts, Outlook

__all__ = ["Estimator"]

_LEAST_SECONDS = 0.5
"""A search may take as long even if no time is left: with more, a limit would be exceeded by as much."""

_FIRST_SETS = 2e4
"""About how many sets the first sample of a weight should find."""

_FIRST_HALVES = 200_000
_FIRST_COMPOSED = 1 << 16
"""Draws for the first composed sets: they cost little."""
_FIRST_HALVES_OF_MANY = 400_000
"""For the first sample of several weights."""

_FEWEST_HALVES = 1000

_FIRST_DRAW_COST = 0.2
"""Seconds for the first draws; where these take longer, joins tell first whether draws are worth it."""

_GROWTHS = (1.0, 3.0, 9.0, 27.0)
"""The sizes of further samples of a weight, as multiples of the sample that there is."""

_LAST_GROWTHS = (0.05, 0.1, 0.2, 0.4, 0.7)
"""The same of samples that are enough to end the search: a larger one may cost as much as all before."""

_NEAR_THE_END = 0.4
"""The square of the error that is too much, in units of what was asked for, where such samples may do."""

_TIMES = 1, 3, 9
"""How many joins may be made in place of one. Where finds with a common half depend on each other, a larger
join finds more sets for each half, and they tell hardly more than those of a smaller one. Small samples do
not show that yet, so that what a weight will cost in all is not judged by it."""

_LARGE_GROWTHS = (*_GROWTHS, 81.0, 243.0)
_SMALL_PART = 0.2
"""A sample is enough if it leaves this part of the square of the error that was asked for."""

_PART_OF_REST = 0.8
"""Where there is hardly another error, it may leave this part of what the others leave to it."""

_PART_OF_LIMIT = 0.2, 0.25
"""The part of the time left, and of the work limit, that the enumeration of a weight may cost where samples
that cost as much would not be enough."""

_LITTLE = 3.0, 0.1
"""Weights that probably have so many times the error asked for, and this part of P(kept and wrong), or less,
may have one sample together."""

_FEWEST_ALONE = 3
"""Weights that have samples of their own: they tell how much larger sets matter."""

_PART_BEYOND = 0.3
"""The part of what may be left out that is left out beyond such a sample: to include it costs hardly more."""

_LARGEST_WEAK, _WEAK_PASSING = 12, 1e-3
"""Sets of more mechanisms than this are not sampled if a larger part of them passes the checks."""

_FIRST_TO_FORESEE = 5
"""From this weight on, that is foreseen: the part that passes falls less and less from weight to weight."""

_FORESEEN = 100.0
"""By how much such sets must then seem to matter more than those that are looked at at all."""

_NUMBERS_OF_KEYS = tuple(2**k for k in range(11))
"""The numbers of keys whose sets may be listed at a time."""

_COST_OF_PILOT = 0.2
"""The cost of the sample that chooses the keys of a list, in seconds of one core."""

_WORTH_A_LIST = 0.85
"""A list is made if, with it, this part of the cost is enough."""

_Error = Callable[[Outlook], ErrorParts]

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

_LARGEST_GROWTH = 25.0
"""By how much a join that is to find the first set of a weight has more combinations than the one before."""


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
class _ListPlan:
    """To list the sets of so many keys, and to sample the others until little of the error is left."""

    cost: float
    error: _Error
    number: int


def _error_anew(share: float, error: _Error, outlook: Outlook) -> ErrorParts:
    return error(outlook.anew(share))


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
        enumerate_cheap(self._known, lambda: self._is_done() and not self._matter_more())
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

    def look_closer(self, weight: int) -> None:
        """Joins more halves of a weight, if it is a sampled one and the limits allow more."""
        stratum = self._known.strata[weight]
        if isinstance(stratum, SampledWeight):
            halves = self._most_halves(stratum, math.sqrt(_LARGEST_GROWTH) * stratum.halves)
            if self._has_time(self._cost_of_join(stratum, halves)):
                self._known.join(stratum, halves)

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
        while self._matter_more():
            weight = known.next_weight
            if known.is_out_of_time:
                return
            if (weights := self._weights_together(weight)) is not None:
                stratum = known.sample_of_all(weights)
                known.join(stratum, self._first_halves(stratum, _FIRST_HALVES_OF_MANY))
                known.strata.append(stratum)
                continue
            stratum = known.sample_of(weight)
            self._check_passing(stratum)
            steps = known.steps_of_draws(weight, _FIRST_SETS, known.next_passing_odds(weight))
            cost = of_draws(steps, _FIRST_SETS) + known.cost_of_tosses(_FIRST_SETS)
            is_cheap = cost < _FIRST_DRAW_COST
            if (is_cheap or not known.may_join(stratum)) and steps <= known.limits.draw_steps:
                known.draw(stratum, _FIRST_SETS / known.next_passing_odds(weight))
            if not stratum.rounds or known.may_join(stratum):
                known.join(stratum, self._first_halves(stratum, _FIRST_HALVES))
            if stratum.composed is not None:
                known.compose(stratum, _FIRST_COMPOSED)
            known.strata.append(stratum)
            self._foresee_passing()

    def _first_halves(self, stratum: SampledWeight, most: float) -> int:
        """As many as find the first sets."""
        halves = math.sqrt(_FIRST_SETS * stratum.scale / self._known.passing_odds(stratum))
        return int(max(_FEWEST_HALVES, min(halves, most, self._known.limits.join_draws)))

    def _weights_together(self, first: int) -> range | None:
        """The weights from one on of which one sample is enough: they matter little, but cannot be left out.

        How much they matter is foreseen as if a wrong set were as frequent among those that pass as at any
        smaller weight.
        """
        known = self._known
        if known.passing_only or first < known.num_exact + _FEWEST_ALONE:
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
        weights = range(first, last + 1)
        return weights if len(weights) > 1 and known.may_join(known.sample_of_all(weights)) else None

    def _check_passing(self, stratum: SampledWeight) -> None:
        """Refuses where many large sets pass the checks: each has too many halves to be found by."""
        weight = stratum.weight
        part = self._known.passing_odds(stratum) / float(self._known.masses[0, weight])
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
        for weight in range(known.num_exact, len(known.strata)):
            stratum = known.strata[weight]
            assert isinstance(stratum, SampledWeight)
            outlooks = known.outlooks(stratum)

            def gain(error: _Error, outlooks: list[Outlook] = outlooks) -> float:
                return sum(
                    min(most, unit * (all_.together - all_.changed(outlook.now, error(outlook)).together))
                    for most, unit, all_, outlook in zip(excess, units, wholes, outlooks, strict=True)
                )

            if weight == known.num_exact and self._can_enumerate and not stratum.has_several_weights:
                steps, sets, candidates, keys = expected_enumeration(known, weight)
                if known.limits.may_enumerate(weight, steps, keys):
                    cost = of_enumeration(steps, sets, candidates, keys) + known.cost_of_tosses(keys)
                    enumerate_all = partial(self._enumerate, weight, 3 * steps)
                    is_needed = not self._is_sample_enough(stratum, cost, units)
                    yield _Action(cost, gain(lambda _: ErrorParts.of(0.0)), enumerate_all, is_needed)
                    if is_needed and self._has_time(cost, is_needed):
                        continue  # what was sampled before would be in vain
            plan = self._cheaper_with_list(stratum, units)
            if plan is not None and self._has_time(plan.cost, True):
                cost, error, number = plan.cost, plan.error, plan.number
                yield _Action(cost, gain(error), partial(self._list, stratum, number), True)
                continue  # what is sampled before is dropped
            for each, error, run in self._further(stratum, _GROWTHS, _TIMES):
                yield _Action(each, gain(error), run)
            last = self._further(stratum, _LAST_GROWTHS, (1,)) if sum(excess) < _NEAR_THE_END else ()
            for each, error, run in last:
                if (enough := gain(error)) >= sum(excess):
                    yield _Action(each, enough, run)

    def _whole(self, circuit: int) -> ErrorParts:
        """What the error of all weights is made of."""
        each = [self._known.outlooks(one)[circuit].now for one in self._sampled()]
        return ErrorParts(math.fsum(one.variance for one in each), math.fsum(one.events for one in each))

    def _sampled(self) -> Iterator[SampledWeight]:
        return (each for each in self._known.strata if isinstance(each, SampledWeight))

    def _is_sample_enough(self, stratum: SampledWeight, cost: float, units: list[float]) -> bool:
        """Whether some sample that costs less leaves little of the error of a weight."""
        parts = (
            max(_SMALL_PART, _PART_OF_REST * (_ENOUGH - unit * self._error_of_others(stratum, c)))
            for c, unit in enumerate(units)
        )
        scaled = [unit * _SMALL_PART / part for unit, part in zip(units, parts, strict=True)]
        return self._cost_of_enough(stratum, scaled, 0.0)[0] < cost

    def _error_of_others(self, stratum: SampledWeight, circuit: int) -> float:
        """The sum of the squares of the errors of all other weights."""
        others = (each for each in self._sampled() if each != stratum)
        return math.fsum(self._known.outlooks(each)[circuit].now.alone for each in others)

    def _cost_of_enough(
        self, stratum: SampledWeight, units: list[float], listed: float
    ) -> tuple[float, _Error | None]:
        """What a sample costs that leaves little of the error, if a share of the variance is listed."""
        outlooks = [each.anew(listed) if listed else each for each in self._known.outlooks(stratum)]
        of_composed, outlooks = self._enough_composed(stratum, units, outlooks)
        found = (
            (of_composed + cost, error)
            for cost, error, _ in self._samplings(stratum, _LARGE_GROWTHS)
            if all(unit * error(one).alone <= _SMALL_PART for unit, one in zip(units, outlooks, strict=True))
        )
        return min(found, key=lambda each: each[0], default=(math.inf, None))

    def _enough_composed(
        self, stratum: SampledWeight, units: list[float], outlooks: list[Outlook]
    ) -> tuple[float, list[Outlook]]:
        """What enough composed sets cost, and what they leave: half of the little that a sample may leave."""
        if stratum.composed is None:
            return 0.0, outlooks
        for growth in (0.0, *_LARGE_GROWTHS):
            grown = [each.more_composed(growth) for each in outlooks]
            errors = (unit * one.error_of_composed for unit, one in zip(units, grown, strict=True))
            if max(errors) <= _SMALL_PART / 2:
                return growth * stratum.composed.draws * stratum.composed.cost_of_draw, grown
        return math.inf, outlooks

    def _cheaper_with_list(self, stratum: SampledWeight, units: list[float]) -> _ListPlan | None:
        """How to list the sets of some keys, if a sample of the others is enough far sooner."""
        known = self._known
        if not known.may_list or stratum.has_list or stratum.cost < _COST_OF_PILOT:
            return None
        if stratum.composed is not None or stratum.has_several_weights:
            return None  # what makes most of the variance is composed, or they matter little
        best: _ListPlan | None = None
        most = _WORTH_A_LIST * self._cost_of_enough(stratum, units, 0.0)[0]
        shares = stratum.heavy_sets(known.values)[1]
        for number in (n for n in _NUMBERS_OF_KEYS if n <= len(shares)):
            share = float(shares[number - 1])
            cost = known.cost_of_list(stratum, number)
            if share and cost < most:
                sample, error = self._cost_of_enough(stratum, units, share)
                if cost + sample < most and error is not None:
                    most = cost + sample
                    best = _ListPlan(most, partial(_error_anew, share, error), number)
        return best

    def _list(self, stratum: SampledWeight, number: int) -> None:
        """Lists the sets of so many keys, and samples the others as much as all were before."""
        smallest = min(self._samplings(stratum, (1.0,)), key=lambda each: each[0])
        self._known.list_keys(stratum, number)
        smallest[2]()

    def _samplings(
        self, stratum: SampledWeight, growths: tuple[float, ...], often: tuple[int, ...] = (1,)
    ) -> Iterator[tuple[float, _Error, Callable[[], object]]]:
        """Draws and joins of several sizes: what they cost, the error that they leave, and what does them.

        ``often`` says how many joins may make one of the samples.
        """
        known = self._known
        limits = known.limits
        if max(len(stratum.keys), known.study.num_keys) > limits.stored_sets:
            return
        outlook = known.outlooks(stratum)[0]
        for growth in growths:
            density = growth * stratum.density
            draws = density * stratum.passing(0)
            steps = known.steps_of_draws(stratum.weight, draws, stratum.passing(0))
            may_draw = stratum.sets and not stratum.has_several_weights
            if may_draw and steps <= limits.draw_steps and draws <= limits.draws:
                error = methodcaller("with_draws", density)
                cost = of_draws(steps, draws) + known.cost_of_tosses(draws)
                yield cost, error, partial(known.draw, stratum, density)
            if not known.may_join(stratum):
                continue
            for times in often:
                halves = self._most_halves(stratum, outlook.halves_for(density / times))
                error = methodcaller("with_joins", halves, times)
                cost = times * self._cost_of_join(stratum, halves)
                yield cost, error, partial(self._join, stratum, halves, times)

    def _compositions(
        self, stratum: SampledWeight, growths: tuple[float, ...]
    ) -> Iterator[tuple[float, _Error, Callable[[], object]]]:
        """The same of composed sets."""
        if stratum.composed is None:
            return
        for growth in growths:
            draws = int(growth * stratum.composed.draws)
            if draws <= self._known.limits.composed_draws and stratum.finds <= self._known.limits.stored_sets:
                cost = stratum.composed.cost_of_draw * draws
                error = methodcaller("with_composed", growth)
                yield cost, error, partial(self._known.compose, stratum, draws)

    def _further(
        self, stratum: SampledWeight, growths: tuple[float, ...], often: tuple[int, ...]
    ) -> Iterator[tuple[float, _Error, Callable[[], object]]]:
        """Both, as above."""
        return chain(self._samplings(stratum, growths, often), self._compositions(stratum, growths))

    def _cost_of_join(self, stratum: SampledWeight, halves: int) -> float:
        sets = halves**2 / stratum.scale * self._known.passing_odds(stratum)
        cost = of_join(halves, sets, sets * stratum.part_of_candidates)
        return cost + self._known.cost_of_tosses(sets)

    def _most_halves(self, stratum: SampledWeight, wanted: float) -> int:
        """As many halves as are wanted, or as fit into memory with the sets that they find."""
        limits = self._known.limits
        candidates = self._known.passing_odds(stratum) * stratum.part_of_candidates
        most = math.sqrt(0.5 * limits.most_sets_of_join * stratum.scale / candidates)
        return int(max(_FEWEST_HALVES, min(wanted, most, limits.join_draws)))

    def _join(self, stratum: SampledWeight, halves: int, times: int) -> None:
        for _ in range(times):
            self._known.join(stratum, halves)
            if self._known.is_out_of_time:
                return

    def _enumerate(self, weight: int, max_steps: float) -> None:
        self._can_enumerate = self._known.enumerate(weight, max_steps)
