"""Logical error rates of decoded circuits: the one driver, whatever the stratification.

The rate per accepted shot with at least a gap g is Y(g) / K(g), sums over strata S and over the number k of
free faults beside them,

    Y(g) = sum over S, k of P(S) pi_k P(wrong, gap >= g | S, k),

and K(g) without "wrong". Without a gap and without postselection, K is 1.

* **Strata.** All shots are one stratum, of which all mechanisms are free. If detectors are postselected, and
  that takes many shots, accepted fault sets are listed and make strata (``partition``).
* **Parts.** Each number k of free faults with few fault sets is a part, and all larger ones are another.
* **Samplers.** A part is enumerated once that takes about as many shots as are wanted of it; before, its
  shots are drawn directly. Where very many are needed, a sampler of rare failures takes over: backward
  deletion if all shots are accepted and have no gap; if they have one, splitting, for wrong shots from some
  gap on.
* **Allocation.** One loop draws from the part whose variance falls most for its cost (``estimation``), until
  the rate is known at all gaps that can be reached. How many shots a gap still needs is known beforehand:

      N(g) = sum over parts i of min(sets of i, f_i n_i + P_i / (eps Y)),

  where f_i n_i are the shots that a variance of (eps Y)² takes, and eps is the relative error that is asked
  for. A gap that needs too many ends the curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ...base.arrays import Floats, Integers
from ...base.errors import ResourceLimitError
from ..decoding.classifying import Classifier
from ..estimation.allocation import Contributions, allocate, factors
from ..estimation.interval import COVERAGE, Sums, Unlisted, sums_over
from ..estimation.limits import Deadline, TimeIsOver
from ..estimation.tally import ACCEPTED, WRONG, FailingSets, Tally
from ..results import GapPoint, LogicalErrorRate, RateStratum
from ..results.logical_error_rate import FaultSets
from ..results.strata import name_of_faults
from ..samplers.backward_deletion import BackwardDeletion, Lineages, Orphans
from ..samplers.sampler import DirectSamples, Enumeration, Sampler
from ..samplers.splitting import Splitting
from ..samplers.strata import Stratum
from ..samplers.undetected_sets import MOST_MEMBERS
from .faults.mechanisms import fault_model, seed_words
from .partition import MOST_TIME, Partition, partition, probability_of_no_member
from .questions import DecodingProblem

if TYPE_CHECKING:
    from ..budget.failing_sets import FailureStudy
    from ..results.error_budget import ErrorBudget, Grouping

FIRST_SHOTS = 128
"""Shots of each part before any is preferred. Doubled, easy questions take a little longer."""

MANY_SHOTS = 1 << 18
"""If all fault sets are so many, all are enumerated, and the rate is exact. If the rate needs more shots, a
sampler of rare failures takes over, for which sets of few faults are enumerated up to that number. Doubled,
either takes longer: half a second more with PyMatching."""

_SHOTS_OF_LEVELS = 200.0
"""The shots of splitting for a relative variance of 1, over the square of the number of levels, each of which
a quarter of the states reaches. Measured: 60 to 300, and up to 860 where a stratum has 1e-7 of its shots.
Doubled, some curves take 1.5 times as long."""

_RATE_AT_START = 0.005
"""Deletion starts where about this part of the fault sets fails. Doubled, lineages are longer."""

_FEWEST_FAILURES = 64
"""Effective failing samples before the variance of deletion is believed. Doubled, errors are surer, and
coarse ones take twice as long."""

_MOST_FOR_ORPHANS = 8
"""What may be spent on orphans, as a multiple of the rest, if the interval then has hardly any room for one;
otherwise, as much as the rest. Doubled, more intervals are narrow, and such a search takes longer."""

_ROOM_FOR_ORPHANS = 0.5
"""The part of the relative error that is asked for, which one orphan may have. Doubled, intervals reach 6%
instead of 3% further up."""

_MOST_AT_ONCE = 1 << 17
"""Shots of a part before errors are evaluated again. Doubled, searches overshoot by more."""

_MOST_SHOTS = 1 << 22
"""A search without a limit on the time ends after about so many shots, unless all are accepted. Doubled, one
that cannot succeed takes twice as long."""

_LISTED_FROM = 1 << 20
"""If more shots are needed, accepted sets are listed; and so many without a failure end the search for one.
Doubled, some questions take twice as long."""

_MOST_TIMES = math.exp(MOST_MEMBERS / 2)
"""Accepted sets are listed if accepted shots are at most so many times as likely as those in which nothing
flips a postselected detector: if their numbers of members have a Poisson distribution, its mean is at most
half of the members that listed sets have at most, and these have 95% of it."""

_PART_OF_SHOTS = math.sqrt(3) / 2
"""With lists, what the error of shots may be of the one that is asked for: that of lists is at most half."""

_STEP, _MOST_POINTS = 5, 50
"""The step from one gap of the curve to the next, in decibels, and about how many there are at most. Doubled,
curves are coarser, and longer ones have more points."""

_LEAST_KEPT = 1e-2
"""The largest gap of a curve is one of at least this part of the accepted shots. Doubled, it is smaller."""


def decoded_rate(
    asked: DecodingProblem,
    relative_error: float,
    seed: int,
    report: Callable[[str], None],
    deadline: Deadline,
    listed_from: int = _LISTED_FROM,
) -> LogicalErrorRate:
    """The logical error rate of a circuit with a decoder, per accepted shot.

    If more than ``listed_from`` shots are needed, accepted fault sets are listed; at once if it is 0. Refused
    is what cannot be said in the time that there is, and a rate of which nothing was found.
    """
    model = fault_model(asked.symptoms, tuple(np.flatnonzero(asked.postselected).tolist()))
    seeds = np.random.SeedSequence(seed_words(model, seed)).spawn(3)

    def search_of(shots: Partition, own: np.random.SeedSequence) -> Search:
        return Search(Parts(asked, shots, relative_error, deadline, own), report)

    search: Search | None = None
    if asked.weight is None and listed_from:
        search = search_of(Partition((Stratum(model),), model), seeds[0])
        may_list = model.postselects and model.num_mechanisms > 0
        may_list &= model.outcomes is None or model.outcomes.can_be_divided
        if search.run(listed_from if may_list else _MOST_SHOTS) or not may_list:
            return search.result()
        if search.accepted > _MOST_TIMES * probability_of_no_member(asked):
            search.run(_MOST_SHOTS)
            return search.result()
    limit = deadline if search is None else deadline.part(MOST_TIME)
    try:
        found = partition(asked, relative_error, np.random.default_rng(seeds[1]), limit)
        leaves_too_much = found.unlisted_part(0) > relative_error
        if search is None or not leaves_too_much or search.shots_needed > _MOST_SHOTS:
            of_sets = search_of(found, seeds[2])
            of_sets.run(_MOST_SHOTS)
            return of_sets.result()
    except (ResourceLimitError, TimeIsOver) as error:
        if search is None:
            if isinstance(error, ResourceLimitError):
                raise
            raise ResourceLimitError(
                f"max_seconds={deadline.max_seconds:g} ended the search while accepted fault sets were being"
                " listed. Allow several times as much, or count errors with the sampler"
                " soft_desaturated_gap."
            ) from None
    search.run(_MOST_SHOTS)
    return search.result()


@dataclass
class Part:
    """The fault sets of a stratum with some numbers of free faults, and what samples them."""

    stratum: int
    sampler: Sampler
    rng: np.random.Generator


class Parts:
    """The parts of all fault sets, and their sums."""

    def __init__(
        self,
        asked: DecodingProblem,
        shots: Partition,
        relative_error: float,
        deadline: Deadline,
        seed: np.random.SeedSequence,
    ) -> None:
        self.asked, self.model, self.strata = asked, shots.model, shots.strata
        self.relative_error, self.deadline = relative_error, deadline
        self.is_listed = shots.wrong_sizes is not None
        # Whether all shots are accepted, and have no gap.
        self.accepts_all = not (asked.confidence or asked.postselected.any() or self.is_listed)
        self.classifier = Classifier(self.model, asked.decoder.predict, deadline)
        # The relative error that samples are to have.
        self.wanted = relative_error * (_PART_OF_SHOTS if self.is_listed else 1.0)
        self._shots, self._seed = shots, seed
        self.every = [
            Part(index, self.direct(stratum, least, most), self.rng())
            for index, stratum in enumerate(self.strata)
            for least, most in _ranges_of(stratum)
        ]

    def rng(self) -> np.random.Generator:
        """A random number generator of its own."""
        return np.random.default_rng(*self._seed.spawn(1))

    def direct(self, stratum: Stratum, least: int, most: int) -> DirectSamples:
        """Direct samples of some numbers of free faults of a stratum."""
        return DirectSamples(stratum, self.classifier, least, most, self.accepts_all)

    def enumerate(self, part: Part) -> None:
        """Enumerates a part, in place of its samples."""
        stratum, least = self.strata[part.stratum], part.sampler.least
        every = Enumeration(stratum, self.classifier, least, self.accepts_all)
        every.take(0, part.rng, self.deadline)
        part.sampler = every

    def replace(self, number: int, least: int, samplers: list[Sampler]) -> None:
        """Other samplers of a stratum from a number of free faults on."""
        self.every = [
            *(each for each in self.every if each.stratum != number or each.sampler.least < least),
            *(Part(number, sampler, self.rng()) for sampler in samplers),
        ]

    def first_not_enumerated(self, number: int) -> int:
        """The least number of free faults of a stratum whose fault sets were not enumerated."""
        mine = [each.sampler for each in self.every if each.stratum == number]
        return min(each.least for each in mine if not each.tally.is_exact)

    def splits_from(self, sums: Sums, number: int) -> int | None:
        """The place of the gap from which on splitting a stratum costs least; None: it does not pay twice.

        Direct samples need N(g) shots. With p the part of the stratum's shots that is wrong and has at least
        the gap g, splitting needs about N(g) p c (1 + log(1/p) / log 4)², where c is ``_SHOTS_OF_LEVELS``.
        """
        mine = [k for k, each in enumerate(self.counted) if each.stratum == number]
        mine = [k for k in mine if not self.tallies[k].is_exact]
        if not mine or not self.asked.confidence:
            return None
        direct = self.needed(sums)[mine].sum(axis=0)
        probability = sum(self.counted[k].sampler.probability for k in mine)
        wrong = np.maximum(sums.shares[mine].sum(axis=0), sums.unseen[mine].max(axis=0))
        part = np.minimum(wrong / probability, 1.0)
        split = direct * part * _SHOTS_OF_LEVELS * (1 - np.log(part) / math.log(4)) ** 2
        below, rest = np.maximum.accumulate(direct), np.maximum.accumulate(split[::-1])[::-1]
        costs = np.append(0.0, below[:-1]) + rest
        place = int(costs.argmin())
        return place if 2 * costs[place] < below[-1] else None

    @property
    def counted(self) -> list[Part]:
        """The parts whose sums are the rate: not those where nothing is expected, and nothing was found."""
        return [each for each in self.every if each.sampler.counts]

    @property
    def tallies(self) -> list[Tally]:
        """Their tallies."""
        return [each.sampler.tally for each in self.counted]

    @property
    def taken(self) -> int:
        """How many shots these have."""
        return sum(tally.samples for tally in self.tallies)

    @property
    def costs(self) -> Floats:
        """What was spent on each: shape (parts,)."""
        return np.array([float(each.sampler.cost) for each in self.counted])

    def sums(self, gaps: Integers, quantity: int = WRONG) -> Sums:
        """The sums over all parts at some least gaps."""
        owners = np.array([each.stratum for each in self.counted], dtype=np.intp)
        errors = np.array([stratum.relative_error for stratum in self.strata])
        unlisted = self._shots.unlisted_at(gaps) if self.is_listed else Unlisted()
        return sums_over(self.tallies, gaps, owners, errors, unlisted, quantity, self.accepts_all)

    def gaps(self) -> Integers:
        """The least gaps of the curve: all shots, steps, and the largest one that is not too rare."""
        if not self.asked.confidence:
            return np.array([np.iinfo(np.int64).min])
        seen = np.unique(np.concatenate([tally.gaps for tally in self.tallies]))
        accepted = np.sum([tally.means(seen)[ACCEPTED] for tally in self.tallies], axis=0)
        often = seen[accepted >= _LEAST_KEPT * accepted.max(initial=0.0)]
        least, most = (int(often.min(initial=0)), int(often.max(initial=0)))
        is_usual = _STEP < most - least <= _STEP * _MOST_POINTS
        step = max(1, _STEP if is_usual else -(-(most - least) // _MOST_POINTS))
        return np.unique([*range(least, most, step), most]).astype(np.int64)

    def needed(self, sums: Sums) -> Floats:
        """About how many shots each part needs in all: the terms of N(g), shape (parts, gaps).

        Y is at least as large as what may not have been seen.
        """
        shots = np.array([tally.samples for tally in self.tallies])[:, np.newaxis]
        sizes = np.array([each.sampler.size for each in self.counted])[:, np.newaxis]
        is_exact = np.array([tally.is_exact for tally in self.tallies])[:, np.newaxis]
        wanted = self.wanted * np.maximum(sums.wrong, np.maximum(sums.bounds, 1e-300))
        costs = self.costs[:, np.newaxis]
        each = (factors(sums.variances / wanted**2, costs) + sums.unseen / wanted) * shots
        return np.where(is_exact, 0.0, np.minimum(each, sizes))


def _ranges_of(stratum: Stratum) -> list[tuple[int, int]]:
    """The numbers of free faults of each part: the last one has all that cannot be enumerated."""
    law = stratum.numbers.probabilities
    found: list[tuple[int, int]] = []
    for number in np.flatnonzero(law[::-1].cumsum()[::-1]).tolist():
        if stratum.size(number) > _MOST_AT_ONCE:
            return [*found, (number, stratum.numbers.most)]
        found.append((number, number))
    return found


def _split(parts: Parts, number: int, place: int) -> None:
    """Samples wrong shots of a stratum by multilevel splitting from a gap on, and all others directly.

    What was enumerated stays. The samples that showed where splitting pays do not count, as that choice
    depends on them.
    """
    least, stratum, classifier = parts.first_not_enumerated(number), parts.strata[number], parts.classifier
    gaps = parts.gaps()
    gap, top = int(gaps[place]), int(gaps[-1])
    floor = parts.wanted * float(parts.sums(gaps).wrong.min())
    samplers = [
        DirectSamples(stratum, classifier, least, stratum.numbers.most, wrong_below=gap),
        Splitting(stratum, classifier, least, gap, top, floor),
    ]
    for sampler in samplers:
        sampler.take(FIRST_SHOTS, parts.rng(), parts.deadline)
    parts.replace(number, least, samplers)


def _delete(parts: Parts) -> None:
    """Samples all shots by backward deletion, from the first number of faults that has too many sets on.

    A first run of deletion says how many samples are needed, and which weights are too large. It does not
    count in the end: a search that ends when its own error is small ends early if few weights were large, and
    is too low on average.
    """
    (stratum,), rng, deadline = parts.strata, parts.rng(), parts.deadline
    _enumerate_few_faults(parts)
    least = parts.first_not_enumerated(0)
    start = _start(parts, least, rng)
    if start is None:
        return
    pilot = BackwardDeletion(stratum, parts.classifier, least, start, True)
    while pilot.tally.effective_failures < _FEWEST_FAILURES:
        pilot.take(max(FIRST_SHOTS, pilot.tally.samples), rng, deadline)
    larger: list[Sampler] = []
    if start < stratum.numbers.most:
        larger = [parts.direct(stratum, start + 1, stratum.numbers.most)]
        larger[0].take(FIRST_SHOTS, rng, deadline)
    has_orphans = least < start and not parts.asked.decoder.finds_least_weight
    orphans = [Orphans(stratum, parts.classifier, least, start - 1, True, [])] if has_orphans else []
    parts.replace(0, least, [pilot, *larger, *orphans])
    sums = parts.sums(parts.gaps())
    place = next(k for k, each in enumerate(parts.counted) if each.sampler is pilot)
    needed = math.ceil(max(float(parts.needed(sums)[place, 0]), pilot.tally.samples))
    limits, samples_of_orphans = None, 0
    if orphans:
        rest = float(parts.costs.sum()) + pilot.cost * (needed / pilot.tally.samples - 1)
        samples_of_orphans = _samples_of_orphans(parts, orphans[0], float(sums.wrong[0]), rest)
        limits = pilot.draws_for(orphans[0].probability / samples_of_orphans * needed)
        orphans = [Orphans(stratum, parts.classifier, least, start - 1, True, limits)]
    deletion = BackwardDeletion(stratum, parts.classifier, least, start, True, limits)
    deletion.take(pilot.tally.samples, rng, deadline)
    parts.replace(0, least, [deletion, *larger, *orphans])
    while (left := needed - deletion.tally.samples) > 0:
        deletion.take(min(pilot.tally.samples, left), rng, deadline)
    while orphans and (left := samples_of_orphans - orphans[0].tally.samples) > 0:
        orphans[0].take(min(max(FIRST_SHOTS, orphans[0].tally.samples), left), rng, deadline)


def _enumerate_few_faults(parts: Parts) -> None:
    """Enumerates one number of faults after the other, as long as there are few enough sets."""
    listed = 0.0
    for each in sorted(parts.every, key=lambda each: each.sampler.least):
        is_exact = each.sampler.tally.is_exact
        listed += each.sampler.tally.samples if is_exact else each.sampler.size
        if listed > MANY_SHOTS:
            return
        if not is_exact:
            parts.enumerate(each)


def _start(parts: Parts, least: int, rng: np.random.Generator) -> int | None:
    """The number of faults that deletion starts from; None: even large sets fail too rarely."""
    (stratum,) = parts.strata

    def fails(number: int) -> bool:
        trial = DirectSamples(stratum, parts.classifier, number, number)
        trial.take(16 * FIRST_SHOTS, rng, parts.deadline)
        return trial.tally.failures >= _RATE_AT_START * trial.tally.samples

    below, above = least - 1, max(1, math.floor(stratum.numbers.mean), least)
    while not fails(above):
        below, above = above, min(2 * above, stratum.numbers.most)
        if below == above:
            return None
    while below >= least and above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if fails(middle) else (middle, above)
    return above


def _samples_of_orphans(parts: Parts, orphans: Orphans, rate: float, rest: float) -> int:
    """How many direct samples look for orphans: one hardly matters then, or they cost as the rest."""
    law = parts.strata[0].numbers.probabilities[orphans.least : orphans.most + 1]
    cost = float(law @ np.arange(1 + orphans.least, 2 + orphans.most)) / float(law.sum())
    wanted = orphans.probability / (_ROOM_FOR_ORPHANS * parts.wanted * rate)
    if wanted * cost > _MOST_FOR_ORPHANS * rest:
        wanted = rest / cost
    return max(FIRST_SHOTS, math.ceil(wanted))


class Search:
    """Draws and enumerates parts until the rate is known at all gaps that can be reached."""

    def __init__(self, parts: Parts, report: Callable[[str], None]) -> None:
        self._parts, self._report = parts, report
        self._refined: set[int] = set()
        report(f"{len(parts.strata)} strata, {len(parts.every)} parts")

    def run(self, most_shots: int) -> bool:
        """Works until errors are as asked for, or time is over; whether there is nothing more to do.

        Gaps that need more than ``most_shots`` are left aside.
        """
        parts = self._parts
        try:
            if sum(each.sampler.size for each in parts.every) <= MANY_SHOTS:
                for each in parts.every:
                    parts.enumerate(each)
            for each in sorted(parts.every, key=lambda each: -each.sampler.probability):
                if not each.sampler.tally.samples:
                    self._draw(each, FIRST_SHOTS)
            allocate(partial(self._contributions, most_shots), self._take)
        except TimeIsOver:
            sampled = sum(bool(each.sampler.tally.samples) for each in parts.every)
            if sampled < len(parts.every) and not parts.accepts_all:
                raise ResourceLimitError(
                    f"max_seconds={parts.deadline.max_seconds:g} ended the search when {sampled} of"
                    f" {len(parts.every)} parts of all fault sets had been sampled. Allow several times as"
                    " much, or count errors with SoftDecodingSampler."
                ) from None
            return True
        return bool((parts.sums(parts.gaps()).relative_errors <= parts.wanted).all())

    def _contributions(self, most_shots: int) -> Contributions | None:
        """What parts contribute to the error at the gap that is next; None: there is no such gap.

        A stratum that needs very many shots gets another sampler before.
        """
        parts = self._parts
        while True:
            sums = parts.sums(gaps := parts.gaps())
            if (place := self._next_gap(sums, most_shots)) is None:
                return None
            self._show(sums, place, int(gaps[place]))
            found = self._refinement(sums, place) if most_shots == _MOST_SHOTS else None
            if found is None:
                break
            number, refine = found
            self._refined.add(number)
            refine()
        allowed = parts.wanted * max(float(sums.wrong[place]), 1e-100)
        squares = (sums.variances[:, place] + sums.unseen[:, place] ** 2) / allowed**2
        square = (sums.variances[:, place].sum() + sums.bounds[place] ** 2) / allowed**2
        return Contributions(squares, parts.costs, float(square) - 1)

    def _take(self, number: int, growth: float) -> None:
        """Draws so many times the shots that a part has."""
        chosen = self._parts.counted[number]
        shots = math.ceil(growth * chosen.sampler.tally.samples)
        self._draw(chosen, min(max(shots, FIRST_SHOTS), _MOST_AT_ONCE))

    def _draw(self, part: Part, shots: int) -> None:
        """Draws so many shots, or enumerates the part. What was drawn when time is over is counted."""
        if part.sampler.size > shots:
            part.sampler.take(shots, part.rng, self._parts.deadline)
        else:
            self._parts.enumerate(part)

    @property
    def accepted(self) -> float:
        """The probability that a shot is accepted, as far as is known."""
        return float(self._parts.sums(self._parts.gaps()).accepted[0])

    @property
    def shots_needed(self) -> float:
        """About how many shots the rate needs, whatever the gap."""
        return float(self._parts.needed(self._parts.sums(self._parts.gaps()))[:, 0].sum())

    def _next_gap(self, sums: Sums, most_shots: int) -> int | None:
        """The gap that is not known yet and needs the fewest shots; None: none can be reached."""
        parts, is_limited = self._parts, self._parts.deadline.is_limited
        missing = np.flatnonzero(sums.relative_errors > parts.wanted)
        if not len(missing):
            return None
        if parts.accepts_all:
            return 0 if sums.wrong[0] or parts.taken <= _LISTED_FROM else None
        if parts.taken > most_shots and not (is_limited and most_shots == _MOST_SHOTS):
            return None
        needed = parts.needed(sums).sum(axis=0)[missing]
        place = int(missing[needed.argmin()])
        if needed.min() <= most_shots:
            return place
        if most_shots < _MOST_SHOTS:
            return None  # there is another way
        # At least one rate is to be known as well as may be.
        is_worth_it = place == 0 or is_limited
        return place if is_worth_it or self._refinement(sums, place) is not None else None

    def _refinement(self, sums: Sums, place: int) -> tuple[int, Callable[[], None]] | None:
        """The stratum that needs most shots at a gap, if they are many, and what gets it a better sampler."""
        parts = self._parts
        strata = [each.stratum for each in parts.counted]
        needed = np.bincount(strata, parts.needed(sums)[:, place])
        number = int(needed.argmax())
        if number in self._refined or needed.sum() < MANY_SHOTS:
            return None
        if parts.accepts_all:
            return number, partial(_delete, parts)
        split_from = parts.splits_from(sums, number)
        return None if split_from is None else (number, partial(_split, parts, number, split_from))

    def _show(self, sums: Sums, place: int, gap: int) -> None:
        parts, at = self._parts, f" at gap {gap}" if self._parts.asked.confidence else ""
        rate = sums.wrong[place] / max(sums.accepted[place], 1e-300)
        self._report(
            f"{parts.taken:,} shots, {parts.classifier.decoded:,} decodes, {parts.deadline.seconds:.0f} s:"
            f" {rate:.3g} ± {sums.relative_errors[place]:.2g}{at}"
        )

    def result(self) -> LogicalErrorRate:
        """The result; refused if no shot was accepted, if none is wrong, or if the decoder is random."""
        return _result(self._parts)


def _result(parts: Parts) -> LogicalErrorRate:
    decoder = parts.asked.decoder.name
    parts.classifier.check_repeats(decoder)
    gaps = parts.gaps()
    sums = parts.sums(gaps)
    _check_found(parts, sums)
    points = [_point(parts, sums, place, int(gap)) for place, gap in enumerate(gaps)]
    limit = max(1.0, parts.relative_error)
    ends = (place for place in range(1, len(points)) if points[place].relative_error > limit)
    first, last = points[0], next(ends, len(points))
    numbers = range(WRONG + 1, WRONG + 1 + parts.classifier.num_observables)
    observables = [parts.sums(gaps[:1], k).ratio(0, first.kept) for k in numbers]
    found = LogicalErrorRate(
        decoder=decoder,
        logical_error_rate=first.logical_error_rate,
        standard_error=first.standard_error,
        interval=first.interval,
        coverage=COVERAGE,
        observable_rates=tuple(each.rate for each in observables),
        observable_errors=tuple(each.standard_error for each in observables),
        kept=first.kept,
        kept_error=first.kept_error,
        kept_and_wrong=first.kept_and_wrong,
        strata=tuple(_rows(parts, sums, gaps, last - 1)),
        gap_curve=tuple(points[:last]) if parts.asked.confidence else (),
        decodes=parts.classifier.decoded,
        seconds=parts.deadline.seconds,
        asked_relative_error=parts.relative_error,
        notes=(*_notes_on_orphans(parts), *map(_end_of_curve, points[last : last + 1])),
    )
    if not parts.accepts_all or parts.asked.fault_table is None or not found.logical_error_rate:
        return found
    study = cache(partial(_study, parts))

    def budget(by: Grouping) -> ErrorBudget:
        return study().budget(by, found.logical_error_rate, found.standard_error, found.interval)

    return found._with(_fault_sets=FaultSets(budget, lambda count: study().failures(count)))


def _check_found(parts: Parts, sums: Sums) -> None:
    """Refuses where no shot was accepted, or none of all shots is wrong."""
    if not sums.accepted[0]:
        raise ResourceLimitError(
            f"None of {parts.taken:,} shots is kept, and the sets of faults that keep one could not be"
            " listed. Postselect fewer detectors, or estimate the rate at weaker noise."
        )
    is_exact = all(tally.is_exact for tally in parts.tallies)
    if parts.accepts_all and not sums.wrong[0] and not is_exact:
        ended = ". If it can fail, that is too rare to be found"
        if parts.deadline.is_over:
            ended = f", when max_seconds={parts.deadline.max_seconds:g} ended the search"
        raise ResourceLimitError(
            f"The decoder {parts.asked.decoder.name} failed in none of {parts.classifier.asked:,} shots,"
            f" with {parts.strata[0].numbers.mean:.3g} errors per shot: the rate is at most"
            f" {sums.ratio(0, 1.0).interval[1]:.2g} ({COVERAGE:.0%}){ended}."
        )


def _point(parts: Parts, sums: Sums, place: int, gap: int) -> GapPoint:
    # Without postselection, all shots have the least gap. Shots of listed sets are all accepted.
    is_all = place == 0 and not parts.asked.postselected.any() and not parts.is_listed
    unseen = 0.0
    if place > 0 or not parts.is_listed:
        unseen = max(tally.bound for tally in parts.tallies)
    accepted = 1.0 if is_all else float(sums.accepted[place])
    apart = [each.sampler.tally.bound for each in parts.every if not each.sampler.counts]
    ratio = sums.ratio(place, accepted, max([sums.bound(place), *apart]))
    return GapPoint(
        gap,
        accepted,
        0.0 if is_all else math.sqrt(float(sums.accepted_variance[place]) + unseen**2),
        float(sums.wrong[place]),
        math.hypot(math.sqrt(float(sums.wrong_variance[place])), sums.bound(place)),
        ratio.standard_error,
        ratio.interval,
    )


def _notes_on_orphans(parts: Parts) -> list[str]:
    """What there is to say of orphans, if none was found."""
    found = []
    for sampler in (each.sampler for each in parts.every if not each.sampler.counts):
        numbers = name_of_faults(sampler.least, sampler.most)
        found.append(
            f"among {sampler.tally.samples:,} random sets of {numbers}, none failed that backward"
            " deletion cannot reach or reaches too rarely: the interval has room for one"
        )
    return found


def _rows(parts: Parts, sums: Sums, gaps: Integers, last: int) -> list[RateStratum]:
    """The strata; if accepted sets were not listed, the numbers of faults."""
    row = partial(_row, parts, sums=sums, gaps=gaps, last=last)
    counted = parts.counted
    if parts.is_listed:
        return [
            row(stratum.name, [k for k, each in enumerate(counted) if each.stratum == number])
            for number, stratum in enumerate(parts.strata)
        ]
    found = []
    numbers = [(each.sampler.least, each.sampler.most) for each in counted]
    for least, largest in dict.fromkeys(numbers):
        mine = [k for k, each in enumerate(numbers) if each == (least, largest)]
        sampler = counted[mine[0]].sampler
        most = largest if largest < parts.strata[0].numbers.most else None
        own = row(name_of_faults(least, most), mine, least=least, most=most)
        found += [own] if not isinstance(sampler, Lineages) else _rows_by_number(parts, sampler, own)
    return sorted(found, key=lambda row: row.least_faults)


def _rows_by_number(parts: Parts, sampler: Lineages, row: RateStratum) -> list[RateStratum]:
    """The numbers of faults of lineages; those of smaller numbers are subsets of the sets drawn."""
    found = []
    means, squares = sampler.by_number / sampler.tally.samples
    errors = np.sqrt(np.maximum(squares - means**2, 0) / sampler.tally.samples)
    for size in np.flatnonzero(means).tolist():
        probability = float(parts.strata[0].numbers.probabilities[size])
        each = replace(
            row,
            name=name_of_faults(size, size),
            probability=probability,
            kept=probability,
            kept_and_wrong=float(means[size]),
            standard_error=float(errors[size]),
            least_faults=size,
            most_faults=size,
        )
        found.append(each if size == sampler.most else replace(each, sets=0, wrong=None, draws=0))
    return found


def _row(
    parts: Parts,
    name: str,
    mine: list[int],
    sums: Sums,
    gaps: Integers,
    last: int,
    least: int = 0,
    most: int | None = None,
) -> RateStratum:
    """What some parts have in the rate."""
    samplers = [parts.counted[k].sampler for k in mine]
    tallies = [each.tally for each in samplers]
    stratum = parts.strata[parts.counted[mine[0]].stratum]
    wrong = sums.shares[mine].sum(axis=0)
    probability = stratum.probability
    if not parts.is_listed:
        probability = samplers[0].probability
    kept = sum(float(tally.means(gaps[:1])[ACCEPTED][0]) for tally in tallies)
    at_largest = float(wrong[last] / sums.wrong[last]) if sums.wrong[last] else 0.0
    return RateStratum(
        name=name,
        method=", ".join(dict.fromkeys(each.method for each in samplers)),
        probability=probability,
        sets=sum(tally.samples for tally in tallies),
        wrong=sum(tally.failures for tally in tallies),
        kept=probability if parts.accepts_all else kept,
        kept_and_wrong=float(wrong[0]),
        standard_error=math.hypot(
            math.sqrt(float(sums.variances[mine, 0].sum())),
            stratum.relative_error * float(wrong[0]),
            float(sums.unseen[mine, 0].max(initial=0.0)),
        ),
        least_faults=least,
        most_faults=most,
        draws=sum(0 if tally.is_exact else tally.samples for tally in tallies),
        share_at_largest_gap=at_largest if parts.asked.confidence else None,
    )


def _study(parts: Parts) -> FailureStudy:
    from ..budget.failing_sets import FailureStudy  # SciPy takes as long to import as this package

    assert parts.asked.fault_table is not None
    sampled = [
        (each.failing_sets(), 1 if each.tally.is_exact else each.tally.samples)
        for each in (part.sampler for part in parts.counted)
    ]
    sets = FailingSets.joined(sampled)
    return FailureStudy(sets, parts.model, parts.classifier, parts.asked.fault_table())


def _end_of_curve(point: GapPoint) -> str:
    return (
        f"the curve ends before gap {point.gap}, where the logical error rate per kept shot is below"
        f" {point.interval[1]:.2g}: larger gaps need more shots than were taken (with max_seconds, they"
        " are taken for so long)"
    )
