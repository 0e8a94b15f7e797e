"""Allocation of time: weights that cost little are enumerated, others sampled until the error is small.

The error of a rate is a sum over strata, as the strata are sampled independently. After a first sample of
each, time goes to the stratum and sampler where the square of the error falls most per second (J. Neyman,
Journal of the Royal Statistical Society 97, 558 (1934), in steps):

    gain = min(excess, variance * g / (1 + g)),    cost = g * (cost of the samples so far),

where a further sample is g times as large as those so far. To enumerate the first weight that is sampled
removes all of its error. As no action costs more than all before it, a wrong choice at most doubles the time.

All decisions follow from counts and sums that depend on the seed alone; only ``max_seconds`` needs a clock.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ...._native import random_words
from ....simulation.engines.random_streams import Stream
from ....simulation.engines.time_limit import time_limit
from ....simulation.plan import SamplingPlan
from ...estimation.interval import COVERAGE
from ...estimation.uncertainty import uncertainty_of
from ..wrong_tool import refuse
from .estimate import CircuitTotals, Estimate, totals_of
from .limits import Limits, sampling_seconds, steps_seconds
from .mechanisms import MAX_WEIGHT, Mechanisms, decided_by_faults
from .outcomes import Asked
from .sampled import SampledSets
from .search import Search
from .strata import Tally

__all__ = ["Allocation", "enumerate_to", "estimate_of"]

_FIRST_SETS = 2e4
"""Sets that the first sample of a stratum should find, about. If it is doubled, first variances are better,
and searches that need little more than the first samples take longer."""

_FIRST_HALVES = 400_000
"""The most halves of a first sample. If it is doubled, so is the cost of weights with few sets."""

_FEWEST_HALVES = 1000
"""The fewest halves of a join. If it is doubled, small circuits take longer."""

_ALONE = 3
"""Weights that are sampled each on its own; all larger ones are one stratum. If it is doubled, strong noise
takes longer."""

_MOST_OF_REST = 0.1
"""The part of the error asked for that weights may have which are left out. If it is doubled, fewer weights
are sampled, and the others more."""

_LARGEST_WEAK, _WEAK_PASSING = 12, 1e-3
"""Sets of more mechanisms than this are refused if a larger part of them passes the checks: each has too many
halves to be found by. If the part is doubled, such circuits take minutes."""

_PART_FOR_KEPT = 0.25
"""The part of time and memory for P(kept), where it has a search of its own. If it is doubled, less is left
for P(kept and wrong)."""

_LEAST_SECONDS = 0.5
"""Seconds that a search may take even if no time is left. Doubled, a limit is exceeded by as much."""

_FIRST_UNIONS = 1 << 16
"""Draws of the first unions. Doubled, they still cost little beside joins."""

_REST_OF_RATE, _REST_WITHOUT_RATE = 1e-3, 1e-9
"""Larger sets matter until they add less than this part of what is asked for, or less than this probability
where no set is wrong yet. Doubled, fewer circuits are refused for their weak checks."""

_MAX_PAIRS = 0.25
"""Part of the pairs of mechanisms that may pass where larger sets are too many to enumerate. If it is
doubled, circuits whose checks detect nothing are refused after minutes."""

_FREE = 0.1
"""Seconds that the enumeration of a weight may cost where smaller ones are enough. If it is doubled,
P(kept) has more digits in small circuits."""

_PART_OF_TIME = 0.3
"""The part of the time left that an enumeration may take. If it is doubled, less is left for samples."""

_TOLERANCE = 3.0
"""How many times as many steps as expected an enumeration may take. If it is doubled, a wrong expectation
costs more."""

_NOTHING = 1e-15
"""Without a wrong set, the search aims at an upper limit of this logical error rate. If it is doubled, empty
searches end a little earlier."""


@dataclass(frozen=True)
class _Action:
    """A possible next step: its cost, how much it lowers the square of the error, and what runs it."""

    cost: float
    gain: float
    run: Callable[[], object]


def enumerate_to(search: Search, last: int) -> None:
    """Enumerates all weights up to one, as long as the limits allow."""
    for weight in range(len(search.strata), min(last, search.max_weight) + 1):
        if not search.enumerate(weight, search.limits.exact_steps):
            return


def estimate_of(
    plan: SamplingPlan,
    mechanisms: Sequence[Mechanisms],
    limits: Limits,
    seed: int,
    threads: int,
    report: Callable[[str], None],
    begin: float | None = None,
) -> Estimate:
    """The estimate of P(kept) and P(kept and wrong); arguments as for ``Search``.

    Where the faults of a shot decide everything, a wrong shot is one whose faults flip no check, and flip the
    observable: one more check. Then P(kept) and P(kept and wrong) have a search each, with other checks. That
    pays because malignant sets are rare: of distance-7 cultivation with S gates at p = 10^-3, one in 3 *
    10^12 of the kept shots is wrong.

    Raises:
        ResourceLimitError: Too many fault sets matter.
    """
    begin = time.perf_counter() if begin is None else begin
    searches = [(Asked.BOTH, mechanisms, limits, seed)]
    if decided_by_faults(plan, mechanisms[0]):
        # The squares of the relative errors add up to that of the rate.
        each = replace(limits, relative_error=limits.relative_error / math.sqrt(2))
        part, seconds = _PART_FOR_KEPT, limits.max_seconds
        first = replace(
            each,
            max_bytes=int(part * limits.max_bytes),
            max_seconds=None if seconds is None else part * seconds,
        )
        second = replace(each, max_bytes=int((1 - part) * limits.max_bytes))
        wrong = [model.with_flipped_observable() for model in mechanisms]
        other = int(random_words(seed, Stream.ROUNDS, 0, 1)[0])  # rounds count from 1
        searches = [(Asked.KEPT, mechanisms, first, seed), (Asked.WRONG, wrong, second, other)]
    found = []
    for asked, models, allowed, number in searches:
        search = Search(plan, models, allowed, number, threads, report, asked, begin)
        Allocation(search).run()
        search.study.release()
        found.append(search)
    return Estimate(found)


class Allocation:
    """Enumerates and samples until the sums asked for are known well enough.

    Args:
        search: The search.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._circuits = range(search.num_circuits)
        self._can_enumerate = True

    def run(self) -> None:
        """Enumerates, and then samples where that helps most, until ``max_seconds`` are over.

        Raises:
            ResourceLimitError: Too many fault sets matter.
        """
        seconds = max(_LEAST_SECONDS, self._search.work.seconds_left)
        with contextlib.suppress(TimeoutError), time_limit(seconds):
            self._can_enumerate = self._enumerate_cheap()
            _check_first(self._search)
            _check_events(self._search)
            self._sample_rest()
            while not self._is_done() and (action := self._best()) is not None:
                action.run()
                self._sample_rest()
        _check_first(self._search)

    def _enumerate_cheap(self) -> bool:
        """Enumerates weights as long as they cost little; False if one took too much."""
        search, limits = self._search, self._search.limits
        for weight in range(len(search.strata), search.max_weight + 1):
            max_steps, part_of_time = limits.exact_steps, 1.0
            if weight == 2:
                _check_pairs(search)
            if weight >= 2:
                steps, sets, classes = search.expected_enumeration(weight)
                max_steps = min(max_steps, _TOLERANCE * steps)
            if weight > 2:
                part_of_time = _PART_OF_TIME
                is_enough = self._is_done() and not self._rest_matters()
                cost = steps_seconds(steps, sets, classes * search.tosses)
                if cost > (_FREE if is_enough else limits.first_cost):
                    return True
                if not limits.may_enumerate(weight, steps, classes):
                    return True
            elif weight == 2 and not limits.may_enumerate(weight, steps, classes):
                return True
            if not search.enumerate(weight, max_steps, part_of_time):
                return False
            if weight == 2:
                for c in self._circuits:
                    _check_pruning(search, c, search.enumerated[2].passing(c), self._totals(c).asked)
        return True

    def _sample_rest(self) -> None:
        """A first sample of every weight that may matter: a few alone, and all larger ones together."""
        search = self._search
        while self._rest_matters() and not search.work.is_out_of_time:
            first = last = search.next_weight
            if first >= len(search.enumerated) + _ALONE:
                while last < search.max_weight and self._rest_matters(last + 1):
                    last += 1
                self._check_passing(last)
            sample = search.begin_sample(range(first, last + 1))
            halves = math.sqrt(_FIRST_SETS * sample.joins.halves.scale / search.passing(sample))
            halves = min(halves, _FIRST_HALVES, search.limits.join_draws)
            search.join(sample, int(max(_FEWEST_HALVES, halves)))
            if sample.unions is not None:
                search.unite(sample, _FIRST_UNIONS)
            search.strata.append(sample)

    def _rest_matters(self, first: int | None = None) -> bool:
        """Whether weights from one on, or all that were left out so far, may matter."""
        search = self._search
        first = search.next_weight if first is None else first
        return first <= search.max_weight and any(
            search.rest_passing(c, first) * search.factors[c] / search.nothing[c]
            > _MOST_OF_REST * self._allowed(self._totals(c))
            for c in self._circuits
        )

    def _check_passing(self, last: int) -> None:
        """Refuses where many large sets pass the checks: each has too many halves to be found by."""
        search, weight = self._search, _LARGEST_WEAK + 1
        if last >= weight:
            part = search.expected_passing(range(weight, weight + 1)) / float(search.masses[0, weight])
            if part > _WEAK_PASSING:
                refuse(f"sets of {weight} mechanisms matter, of which {part:.1%} or more pass")

    def _totals(self, circuit: int) -> CircuitTotals:
        return totals_of(self._search, circuit)

    def _allowed(self, totals: CircuitTotals) -> float:
        """The standard error that was asked for."""
        asked = totals.asked
        # Where no wrong set was found, an upper limit far below all that can be compared with it.
        return self._search.limits.relative_error * asked if asked else _NOTHING * self._search.factors[0]

    def _excess(self, totals: CircuitTotals) -> float:
        """How far the square of the uncertainty is above what was asked for, in units of that."""
        uncertainty = uncertainty_of(totals.asked, totals.error_of_sum, totals.interval_of_sum(COVERAGE))
        return (uncertainty / self._allowed(totals)) ** 2 - 1

    def _is_done(self) -> bool:
        if self._search.work.is_out_of_time:
            return True
        return all(self._excess(self._totals(c)) <= 0 for c in self._circuits)

    def _best(self) -> _Action | None:
        """The possible action that lowers the square of the error most for its cost; None: there is none."""
        found = [each for each in self._actions() if each.gain > 0 and self._may_cost(each.cost)]
        return max(found, key=lambda action: action.gain / action.cost, default=None)

    def _may_cost(self, cost: float) -> bool:
        """Whether an action may cost so much: not more than all before it, and within the limits."""
        search, work = self._search, self._search.work
        most = search.limits.work
        if not any(self._totals(c).asked for c in self._circuits):
            most /= 10
        if cost > max(search.limits.first_cost, work.spent) or work.spent + cost > most:
            return False
        return cost * work.seconds_per_cost <= work.seconds_left

    def _actions(self) -> Iterator[_Action]:
        """All that can be done next."""
        search, limits = self._search, self._search.limits
        totals = [self._totals(c) for c in self._circuits]
        excess = [max(0.0, self._excess(each)) for each in totals]
        for number, sample in enumerate(search.sampled):
            of_joins, of_unions = self._squares(sample, totals)
            if not number and self._can_enumerate and len(sample.weights) == 1:
                weight = sample.weights[0]
                steps, sets, classes = search.expected_enumeration(weight)
                if limits.may_enumerate(weight, steps, classes):
                    gain = sum(map(min, excess, map(sum, zip(of_joins, of_unions, strict=True))))
                    cost = steps_seconds(steps, sets, classes * search.tosses)
                    yield _Action(cost, gain, partial(self._enumerate, weight, _TOLERANCE * steps))
            if sample.num_stored > limits.stored_sets:
                continue
            growth = _growth(excess, of_joins)
            halves, times = self._joins(sample, growth)
            cost = times * self._cost_of_join(sample, halves)
            yield _Action(cost, _gain(excess, of_joins, growth), partial(self._join, sample, halves, times))
            if sample.unions is not None:
                growth = _growth(excess, of_unions)
                draws = int(min(growth * sample.unions.draws, 1e8, limits.max_bytes / 10))
                cost = sample.unions.cost * draws / sample.unions.draws
                gain = _gain(excess, of_unions, draws / sample.unions.draws)
                yield _Action(cost, gain, partial(search.unite, sample, draws))

    def _squares(self, sample: SampledSets, totals: list[CircuitTotals]) -> tuple[list[float], list[float]]:
        """The squares of the errors of joins and of unions, in units of what was asked for, by circuit."""
        search = self._search
        found: tuple[list[float], list[float]] = [], []
        for c, of_all in enumerate(totals):
            unit = (search.factors[c] / self._allowed(of_all)) ** 2
            tallies = [*search.tallies(sample, c), Tally(0.0, 0.0, 0.0)]
            for squares, tally in zip(found, tallies, strict=False):
                squares.append(unit * (tally.variance(of_all.rate, of_all.column) + tally.missed**2))
        return found

    def _joins(self, sample: SampledSets, growth: float) -> tuple[int, int]:
        """Halves and number of joins that are ``growth`` times as many halves as there are.

        Finds grow as the square of the halves. So joins are large, until to find sets costs as much as to
        draw halves. Then several joins leave less variance: their finds share fewer halves.
        """
        search, joins = self._search, sample.joins
        passing, wanted = search.passing(sample), growth * joins.num_halves
        balanced = sampling_seconds(1, 0) / sampling_seconds(0, 1) * joins.halves.scale / passing
        # Sets that may be kept are stored.
        stored = passing * (joins.candidates + 1) / (joins.sets + 1)
        fits = math.sqrt(0.5 * search.limits.exact_keys * joins.halves.scale / stored)
        most = max(_FEWEST_HALVES, min(balanced, fits, search.limits.join_draws))
        times = max(1, math.ceil(wanted / most - 0.5))
        return int(max(_FEWEST_HALVES, min(wanted / times, most))), times

    def _cost_of_join(self, sample: SampledSets, halves: int) -> float:
        sets = halves**2 / sample.joins.halves.scale * self._search.passing(sample)
        return sampling_seconds(halves, sets)

    def _join(self, sample: SampledSets, halves: int, times: int) -> None:
        for _ in range(times):
            self._search.join(sample, halves)
            if self._search.work.is_out_of_time:
                return

    def _enumerate(self, weight: int, max_steps: float) -> None:
        self._can_enumerate = self._search.enumerate(weight, max_steps)


def _growth(excess: list[float], squares: list[float]) -> float:
    """Relative size of the next sample: as large as those so far, or less where that ends the search."""
    enough = (
        part / (square - part) if square > part else 1.0 for part, square in zip(excess, squares, strict=True)
    )
    return min(1.0, max(0.1, *enough))


def _gain(excess: list[float], squares: list[float], growth: float) -> float:
    """How much a sampler of which there is ``growth`` times more lowers the squares, as far as that helps."""
    falls = [square * growth / (1 + growth) for square in squares]
    return sum(map(min, excess, falls))


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
    if search.limits.max_seconds is not None:
        reason += f", for max_seconds={search.limits.max_seconds:g}: more time may do"
    refuse(reason)


def _check_pairs(search: Search) -> None:
    """Refuses before the outcome distributions of all pairs, if nothing about these changes that."""
    if not search.mechanisms.target.any():
        passing = float(search.study.weight_of_twins)
        _check_pruning(search, 0, passing, totals_of(search, 0).asked + search.factors[0] * passing)


def _check_pruning(search: Search, circuit: int, passing: float, asked: float) -> None:
    """Refuses where nearly all pairs pass the checks, and larger sets are too many to enumerate.

    Args:
        search: The search.
        circuit: The number of the circuit.
        passing: The total odds of its pairs that pass.
        asked: The sum asked for, about.
    """
    part = passing / float(search.masses[circuit, 2])
    if part < _MAX_PAIRS:
        return
    enough = _REST_OF_RATE * asked or _REST_WITHOUT_RATE
    larger = range(3, search.max_weight + 1)
    weight = next((k for k in larger if search.rest(circuit, k + 1) < enough), 2)
    count = search.odds.shape[1]
    if math.comb(count, weight - 1) > search.limits.exact_steps:
        sets = float(math.comb(count, weight))
        refuse(f"{part:.0%} of the pairs of mechanisms pass them, and there are {sets:.2g} sets of {weight}")


def _check_events(search: Search) -> None:
    """Refuses where sets matter that are larger than ``MAX_WEIGHT``."""
    for c in range(search.num_circuits):
        allowed = search.limits.relative_error * (totals_of(search, c).kept or search.factors[c])
        rest = search.rest(c, search.max_weight + 1) * search.factors[c] / search.nothing[c]
        if search.is_cut and rest > allowed:
            mean = float(search.masses[c, 1])
            refuse(
                f"a shot has {mean:.3g} noise events on average, and weights above {MAX_WEIGHT} matter",
                checks_are_weak=False,
            )
