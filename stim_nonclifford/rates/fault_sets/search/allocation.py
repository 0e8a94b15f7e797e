"""Allocation of time: weights that cost little are enumerated, others sampled until the error is small.

The strata are sampled independently, and ``estimation.allocation`` says which is next, or whether the first
weight that is sampled is enumerated, after a first sample of each. No step costs more than all before it, so
that a wrong choice at most doubles the time.

All decisions follow from counts and sums that depend on the seed alone; only ``max_seconds`` needs a clock.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace

import numpy as np

from ...._native import random_words
from ....simulation.engines.random_streams import Stream
from ....simulation.engines.time_limit import time_limit
from ....simulation.plan import SamplingPlan
from ...estimation.allocation import Contributions, allocate
from ...estimation.interval import uncertainty_of
from ...estimation.limits import Deadline, Settings, price
from ..wrong_tool import refuse
from .estimate import Estimate, Totals, totals_of
from .mechanisms import MAX_WEIGHT, Mechanisms, decided_by_faults, mechanisms_of
from .search import Search
from .strata import KEPT, WRONG

_ALONE = 3
"""Weights that are sampled each on its own; all larger ones are one stratum. Doubled, strong noise takes
longer."""

_MOST_OF_REST = 0.1
"""The part of the error asked for that weights may have which are left out. Doubled, fewer weights are
sampled, and the others more."""

_PART = 0.25
"""The part of the time left that an enumeration may take, and of time and memory that P(kept) has if it has a
search of its own. Doubled, less is left for samples, and for P(kept and wrong)."""

_LEAST_SECONDS = 0.5
"""Seconds that a search may take even if no time is left. Doubled, a limit is exceeded by as much."""

_MAX_PAIRS = 0.25
"""Part of the pairs of mechanisms that may pass where larger sets are too many to enumerate. Doubled,
circuits whose checks detect nothing are refused after minutes."""

_FREE = 0.1
"""Seconds that the enumeration of a weight may cost where smaller ones are enough. Doubled, P(kept) has more
digits in small circuits."""

_TOLERANCE = 3.0
"""How many times as many steps as expected an enumeration may take. Doubled, a wrong expectation costs
more."""

_NOTHING = 1e-15
"""Without a wrong set, the search aims at an upper limit of this logical error rate. Doubled, empty searches
end a little earlier."""


def estimate_of(plan: SamplingPlan, settings: Settings, deadline: Deadline) -> Estimate:
    """The estimate of P(kept) and P(kept and wrong); arguments as for ``Search``.

    Where the faults of a shot decide everything, a wrong shot is one whose faults flip no check, and flip the
    observable: one more check. As malignant sets are rare, P(kept) and P(kept and wrong) have a search each.
    """
    mechanisms = mechanisms_of(plan)
    searches: list[tuple[Mechanisms, Settings, int | None, Deadline]]
    searches = [(mechanisms, settings, None, deadline)]
    if decided_by_faults(plan, mechanisms):
        # The squares of the relative errors add up to that of the rate.
        each = replace(settings, relative_error=settings.relative_error / math.sqrt(2))
        first = replace(each, max_bytes=int(_PART * settings.max_bytes))
        other = int(random_words(settings.seed, Stream.ROUNDS, 0, 1)[0])  # rounds count from 1
        second = replace(each, max_bytes=settings.max_bytes - first.max_bytes, seed=other)
        searches = [
            (mechanisms, first, KEPT, deadline.part(_PART)),
            (mechanisms.with_flipped_observable(), second, WRONG, deadline),
        ]
    found = []
    for own in searches:
        search = Search(plan, *own)
        Allocation(search).run()
        search.native.release()
        found.append(search)
    return Estimate(found)


class Allocation:
    """Enumerates and samples until the sum asked for is known well enough."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._can_enumerate = True

    def run(self) -> None:
        """Enumerates, and then samples where that helps most; refuses where too many fault sets matter."""
        seconds = max(_LEAST_SECONDS, self._search.deadline.seconds_left)
        with contextlib.suppress(TimeoutError), time_limit(seconds):
            self._can_enumerate = self._enumerate_cheap()
            _check_first(self._search)
            _check_events(self._search)
            self._sample_rest()
            allocate(self._contributions, self._take)
        _check_first(self._search)

    def _enumerate_cheap(self) -> bool:
        """Enumerates weights as long as they cost little; False if one took too much."""
        search, settings = self._search, self._search.settings
        for weight in range(len(search.strata), search.max_weight + 1):
            max_steps, part_of_time = settings.most_steps, 1.0
            if weight >= 2:
                cost, max_steps = self._expected(weight)
                most = settings.work
                if weight > 2:
                    part_of_time = _PART
                    is_done = search.deadline.is_over or self._excess(totals_of(search)) <= 0
                    is_enough = is_done and not self._rest_matters(weight, self._allowed())
                    most = _FREE if is_enough else settings.first_cost
                if cost > most:
                    return True
            if not search.enumerate(weight, max_steps, part_of_time):
                return False
            if weight == 2:
                self._check_pairs(search.enumerated[2].passing)
        return True

    def _expected(self, weight: int) -> tuple[float, float]:
        """The cost of an enumeration, infinite if it may not be, and how many steps it may take."""
        settings = self._search.settings
        steps, sets, classes = self._search.expected_enumeration(weight)
        cost = price(steps=steps, sets=sets, outcomes=classes * self._search.tosses)
        may_be = settings.may_enumerate(weight, steps, classes)
        return cost if may_be else math.inf, min(settings.most_steps, _TOLERANCE * steps)

    def _sample_rest(self) -> None:
        """A first sample of every weight that may matter: a few alone, and all larger ones together."""
        search = self._search
        while not search.deadline.is_over:
            first = last = search.next_weight
            allowed = self._allowed()
            if not self._rest_matters(first, allowed):
                return
            if first >= len(search.enumerated) + _ALONE:
                while last < search.max_weight and self._rest_matters(last + 1, allowed):
                    last += 1
            stratum = search.joined(range(first, last + 1))
            search.sample(stratum, stratum.first_halves)
            search.strata.append(stratum)

    def _rest_matters(self, first: int, allowed: float) -> bool:
        """Whether weights from one on may matter to a standard error that is asked for."""
        search = self._search
        if first > search.max_weight:
            return False
        return search.rest_passing(first) * search.mechanisms.coin_factor > _MOST_OF_REST * allowed

    def _check_pairs(self, passing: float) -> None:
        """Refuses where many pairs pass the checks, with these odds, and larger sets are too many to list."""
        search = self._search
        part, count = passing / float(search.masses[2]), len(search.mechanisms.odds)
        larger, allowed = range(2, search.max_weight), self._allowed()
        weight = next((k for k in larger if not self._rest_matters(k + 1, allowed)), 2)
        if part >= _MAX_PAIRS and math.comb(count, weight - 1) > search.settings.most_steps:
            sets = float(math.comb(count, weight))
            refuse(
                f"{part:.0%} of the pairs of mechanisms pass them, and there are {sets:.2g} sets of {weight}"
            )

    def _allowed(self, totals: Totals | None = None) -> float:
        """The standard error that was asked for."""
        asked = (totals or totals_of(self._search)).asked
        # Where no wrong set was found, an upper limit far below all that can be compared with it.
        return self._search.settings.relative_error * asked or _NOTHING * self._search.factor

    def _excess(self, totals: Totals) -> float:
        """How far the square of the uncertainty is above what was asked for, in units of that."""
        uncertainty = uncertainty_of(totals.asked, totals.error_of_sum, totals.interval_of_sum)
        return (uncertainty / self._allowed(totals)) ** 2 - 1

    def _contributions(self) -> Contributions | None:
        """What the sampled strata contribute to the error; None: it is small enough, or time is over."""
        search = self._search
        totals = totals_of(search)
        excess = self._excess(totals)
        if excess <= 0 or search.deadline.is_over:
            return None
        unit, rate = self._allowed(totals) ** -2, totals.rate
        sums = map(search.sums, search.sampled)
        squares = [unit * (each.variance(rate, totals.column) + each.missed**2) for each in sums]
        enumeration, weight = (0.0, math.inf), len(search.enumerated)
        if self._can_enumerate and search.sampled and search.sampled[0].weights == range(weight, weight + 1):
            enumeration = squares[0], self._expected(weight)[0]
        costs = np.array([each.cost_of_doubling for each in search.sampled])
        # A step may cost no more than all before it, and what the limits leave.
        left = search.settings.work / (1 if totals.asked else 10) - search.spent
        affordable = search.deadline.seconds_left / search.seconds_per_cost
        most = min(max(search.settings.first_cost, search.spent), left, affordable)
        return Contributions(np.array(squares), costs, excess, most, enumeration)

    def _take(self, part: int, growth: float) -> None:
        """Samples a stratum further, or enumerates the first one."""
        search = self._search
        if part == len(search.sampled):
            weight = len(search.enumerated)
            self._can_enumerate = search.enumerate(weight, self._expected(weight)[1])
        else:
            halves, times = search.sampled[part].next_joins(growth)
            for _ in range(times):
                search.sample(search.sampled[part], halves)
                if search.deadline.is_over:
                    break
        self._sample_rest()


def _check_first(search: Search) -> None:
    """Refuses where not even the pairs of mechanisms could be enumerated."""
    if len(search.strata) >= min(3, search.max_weight + 1):
        return
    reason = f"there are too many sets of {len(search.strata)} mechanisms that pass them"
    if search.tosses > 2:
        reason += (
            f", each with an outcome law that is an average over about {search.tosses:.0f} tosses of"
            " coins (random records of measurements)"
        )
    if search.settings.max_seconds is not None:
        reason += f", for max_seconds={search.settings.max_seconds:g}: more time may do"
    refuse(reason)


def _check_events(search: Search) -> None:
    """Refuses where sets matter that are larger than ``MAX_WEIGHT``."""
    allowed = search.settings.relative_error * (totals_of(search).kept or search.factor)
    rest = search.rest(search.max_weight + 1) * search.mechanisms.coin_factor
    if search.is_cut and rest > allowed:
        mean = float(search.masses[1])
        refuse(
            f"a shot has {mean:.3g} noise events on average, and weights above {MAX_WEIGHT} matter",
            checks_are_weak=False,
        )
