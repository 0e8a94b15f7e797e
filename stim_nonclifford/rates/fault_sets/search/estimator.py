"""Decides where more is looked at, until the error is small enough.

Every weight that matters is sampled a little first. That tells what each way of looking at it costs, and
what error it leaves: all of its sets, more draws, or a larger join. From that follows what is to be done in
all, for all weights and circuits (``allocation``). A part of it is done, and the rest is considered again.

All decisions follow from counts and sums that depend on the seed alone; only ``max_seconds`` looks at a
clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from operator import methodcaller
from typing import NoReturn

from .allocation import Option, allocate
from .costs import of_draws, of_enumeration, of_join
from .enumeration import enumerate_cheap, expected_enumeration
from .exploration import Exploration
from .samples import MISSED_COUNTS, Outlook, SampledWeight
from .study import MAX_WEIGHT
from .wrong_tool import refuse

__all__ = ["ENOUGH", "Estimator"]

_FIRST_SETS = 2e4
"""About how many sets the first sample of a weight should find."""

_FIRST_HALVES = 200_000
_FEWEST_HALVES = 1000

_FIRST_DRAW_COST = 0.2
"""Seconds for the first draws; where these take longer, joins tell first whether draws are worth it."""

_GROWTHS = tuple(0.5 * 2.0**k for k in range(12))
"""The sizes of further samples of a weight, as multiples of the sample that there is."""

_MARGIN = 0.8
"""Samples are made for this part of the square of the error at which the search ends: it varies."""

_PART_OF_LIMIT = 0.5
"""The part of the time left, and of the work limit, that the enumeration of a weight may cost."""

_Error = Callable[[Outlook], float]

ENOUGH = 0.8
"""The search ends when the square of the error is this part of the square that was asked for."""

_DARING = 2.0
"""How many times as much as all before a sample may cost: what is known may be wrong."""

_FIRST_COST = 0.5
"""Seconds that a single action may cost even if less was spent on all before it."""

_NOTHING = 1e-15
"""Without a wrong set, the search aims at an upper limit of about this logical error rate."""

_WORK_FOR_NOTHING = 0.1
"""If this part of the work limit has found no wrong set, the search ends."""

_MANY_TOSSES = 2.0
"""Laws for each signature that are worth a word where they take too long."""

_LARGEST_GROWTH = 25.0
"""By how much a join that is to find the first set of a weight has more combinations than the one before."""


class Estimator:
    """Looks at fault sets until the logical error rates of their circuits are known well enough.

    Args:
        known: The circuits, and what is known so far.
    """

    def __init__(self, known: Exploration) -> None:
        self._known = known
        self._can_enumerate = True

    def run(self) -> None:
        """Looks at all weights, and then again where that helps most."""
        enumerate_cheap(self._known)
        if len(self._known.strata) < min(3, self._known.max_weight + 1):
            self._refuse_first()
        self._check_events()
        self._sample_first()
        while not self._is_done() and (option := self._next()) is not None:
            assert option.run is not None
            option.run()
            self._sample_first()

    def _refuse_first(self) -> NoReturn:
        """Says why the first weights could not be enumerated."""
        known = self._known
        keys, laws = known.study.evaluated
        reason = f"there are too many sets of {len(known.strata)} mechanisms that pass them"
        if laws > _MANY_TOSSES * keys:
            reason += (
                f", each with an outcome law that is an average over about {laws / keys:.0f} tosses of coins"
                " (random records of measurements)"
            )
        if known.limits.max_seconds is not None:
            reason += f", for max_seconds={known.limits.max_seconds:g}: more time may do"
        refuse(reason)

    def look_closer(self, weight: int) -> None:
        """Joins more halves of a weight, if it is a sampled one and the limits allow more."""
        stratum = self._known.strata[weight]
        if isinstance(stratum, SampledWeight):
            halves = self._most_halves(stratum, math.sqrt(_LARGEST_GROWTH) * stratum.halves)
            if self._has_time(self._cost_of_join(stratum, halves)):
                self._known.join(stratum, halves)

    def _sample_first(self) -> None:
        """A first sample of every weight that may matter."""
        known = self._known
        while (weight := len(known.strata)) <= known.max_weight and any(
            known.rest_passing(c, weight) * known.coin_factor(c) > self._negligible(c)
            for c in range(len(known.odds))
        ):
            if known.is_out_of_time:
                return
            steps = self._expected_draw_steps(weight)
            stratum = known.sample_of(weight)
            cost = of_draws(steps, _FIRST_SETS) + known.cost_of_tosses(_FIRST_SETS)
            is_cheap = cost < _FIRST_DRAW_COST
            if (is_cheap or not known.may_join(stratum)) and steps <= known.limits.draw_steps:
                known.draw(stratum, _FIRST_SETS / known.next_passing_odds(weight))
            if not stratum.rounds or known.may_join(stratum):
                passing = known.passing_odds(stratum)
                most = min(_FIRST_HALVES, known.limits.join_draws)
                halves = int(min(math.sqrt(_FIRST_SETS * stratum.scale / passing), most))
                known.join(stratum, max(_FEWEST_HALVES, halves))
            known.strata.append(stratum)

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
        return 0.1 * math.sqrt(self._allowed(circuit))

    def _allowed(self, circuit: int) -> float:
        """The square of the error that was asked for."""
        allowed = self._known.limits.relative_error * self._known.totals(circuit).wrong
        # Where no wrong set was found, an upper limit far below all that can be compared with it.
        return (allowed or _NOTHING * self._known.factor(circuit)) ** 2

    def _excess(self, circuit: int) -> float:
        """How far the square of the error is above what is aimed at, in units of what was asked for."""
        error = self._known.totals(circuit).error_with(MISSED_COUNTS)
        return error**2 / self._allowed(circuit) - ENOUGH

    def _is_done(self) -> bool:
        return self._known.is_out_of_time or all(self._excess(c) <= 0 for c in range(len(self._known.odds)))

    @property
    def _budget(self) -> float:
        """What all further work may cost."""
        known = self._known
        work = known.limits.work
        if not any(known.totals(c).wrong for c in range(len(known.odds))):
            work *= _WORK_FOR_NOTHING
        return min(work - known.spent, known.seconds_left / known.seconds_per_cost)

    def _has_time(self, cost: float) -> bool:
        """Whether a sample may cost that: not much more than all before, and within the limits."""
        return cost <= max(_FIRST_COST, _DARING * self._known.spent) and cost <= self._budget

    def _next(self) -> Option | None:
        """What is done next: of all that shall be done, what removes most error for its cost."""
        known = self._known
        units = [known.factor(c) ** 2 / self._allowed(c) for c in range(len(known.odds))]
        menus = [self._menu(weight, units) for weight in range(known.num_exact, len(known.strata))]
        budget = self._budget
        chosen = allocate(menus, self._enough(menus), budget)
        for option in chosen:
            # Samples of its weight would be in vain, and it may take all the time.
            if option.is_complete:
                return option
        # What costs too much at once is begun with the best sample that does not.
        possible = [
            (menu, option if self._has_time(option.cost) else self._best_possible(menu))
            for menu, option in zip(menus, chosen, strict=True)
            if option.run
        ]
        if not possible:
            # What is left is too little for the best choice.
            possible = [
                (menu, option) for menu in menus for option in menu[1:] if self._has_time(option.cost)
            ]
        gains = [
            self._gain(menu[0], option) / option.cost if option.run else 0.0 for menu, option in possible
        ]
        best = max(range(len(gains)), key=gains.__getitem__, default=None)
        return None if best is None or gains[best] <= 0 else possible[best][1]

    def _best_possible(self, menu: list[Option]) -> Option:
        """The sample for which there is time that leaves least error; else nothing."""
        samples = [each for each in menu[1:] if not each.is_complete and self._has_time(each.cost)]
        return min(samples, key=lambda each: sum(each.error), default=menu[0])

    def _enough(self, menus: list[list[Option]]) -> list[float]:
        """For each circuit what the errors of all weights may add up to; infinite if they are small."""
        enough = []
        for c in range(len(self._known.odds)):
            excess = self._excess(c)
            # Few events count more than the sum of the squares of their errors.
            now = sum(menu[0].error[c] for menu in menus)
            part = min(1.0, now / (excess + ENOUGH)) if excess > 0 else 0.0
            enough.append(_MARGIN * ENOUGH * part if excess > 0 else math.inf)
        return enough

    def _gain(self, before: Option, option: Option) -> float:
        """How much of the error that is too much an option removes."""
        return sum(
            min(max(0.0, self._excess(c)), old - new)
            for c, (old, new) in enumerate(zip(before.error, option.error, strict=True))
        )

    def _menu(self, weight: int, units: list[float]) -> list[Option]:
        """What can be done about a weight that is not exact: first of all, nothing."""
        known = self._known
        stratum = known.strata[weight]
        assert isinstance(stratum, SampledWeight)
        outlooks = known.outlooks(stratum)

        def errors(error: _Error) -> tuple[float, ...]:
            return tuple(unit * error(outlook) for unit, outlook in zip(units, outlooks, strict=True))

        menu = [Option(0.0, errors(lambda outlook: outlook.error))]
        if weight == known.num_exact and self._can_enumerate:
            steps, sets, candidates, keys = expected_enumeration(known, weight)
            cost = of_enumeration(steps, sets, candidates, keys) + known.cost_of_tosses(keys)
            part = _PART_OF_LIMIT * min(known.limits.work, known.seconds_left / known.seconds_per_cost)
            if known.limits.may_enumerate(weight, steps, keys) and cost <= min(part, self._budget):
                enumerate_all = partial(self._enumerate, weight, 3 * steps)
                menu.append(Option(cost, (0.0,) * len(units), enumerate_all, is_complete=True))
        for cost, error, run in self._samplings(stratum):
            if cost <= self._budget:
                menu.append(Option(cost, errors(error), run))
        return menu

    def _samplings(self, stratum: SampledWeight) -> Iterator[tuple[float, _Error, Callable[[], object]]]:
        """Draws and joins of several sizes: what they cost, the error that they leave, and what does them."""
        known = self._known
        limits = known.limits
        if max(len(stratum.keys), known.study.num_keys) > limits.stored_sets:
            return
        steps = stratum.draw_steps or self._expected_draw_steps(stratum.weight)
        outlook = known.outlooks(stratum)[0]
        densities = [growth * stratum.density for growth in _GROWTHS]
        if stratum.density < outlook.told_density < math.inf:
            densities.append(outlook.told_density)
        for density in densities:
            draws = density * stratum.passing(0)
            if stratum.sets and steps <= limits.draw_steps and draws <= limits.draws:
                error = methodcaller("with_draws", density)
                cost = of_draws(steps, draws) + known.cost_of_tosses(draws)
                yield cost, error, partial(known.draw, stratum, density)
            if not known.may_join(stratum):
                continue
            halves = self._most_halves(stratum, outlook.halves_for(density))
            error = methodcaller("with_join", halves)
            yield self._cost_of_join(stratum, halves), error, partial(known.join, stratum, halves)

    def _expected_draw_steps(self, weight: int) -> float:
        """Steps of a search for draws: those of an enumeration of the sets with one mechanism less."""
        last = self._known.num_exact - 1
        branching = max(2.0, self._known.study.branching)
        return float(self._known.exact(last).steps) * branching ** (weight - 1 - last)

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

    def _enumerate(self, weight: int, max_steps: float) -> None:
        self._can_enumerate = self._known.enumerate(weight, max_steps)
