"""Logical error rates per accepted shot, as a curve over the decoder's gap: one stratified estimator.

The rate at a least gap g is Y(g) / K(g), sums over kinds of accepted fault sets S, and over the number k of
free faults beside them,

    Y(g) = sum over S, k of P(S) pi_k P(wrong, gap >= g | S, k),

and K(g) without "wrong". S is a stratum, and S with k a substratum of it. Those with few fault sets are
enumerated; from the others, shots are drawn directly. ``estimation.allocation`` says from which next, and
``estimation.ratios`` has the errors. How many shots a gap still needs is known beforehand:

    N(g) = sum over substrata i of min(sets of i, f_i n_i + P_i / (eps Y)),

where f_i n_i are the shots that a variance of (eps Y)² takes, and eps is the relative error that is asked
for. A gap that needs too many ends the curve.

Without a state to check, all shots are one stratum at first, of which all mechanisms are free. If detectors
are postselected, and that takes many shots, accepted fault sets are listed and make strata, where that is
possible (``partition``).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from ...base.errors import ResourceLimitError
from ..decoding.classifying import Classifier
from ..estimation.allocation import Contributions, allocate, factors
from ..estimation.deadline import Deadline, TimeIsOver
from ..estimation.interval import COVERAGE
from ..estimation.ratios import Sums, sums_over
from ..estimation.tally import ACCEPTED, WRONG, Tally
from ..results import GapPoint, LogicalErrorRate, RateStratum
from ..samplers.direct_samples import DirectSamples
from ..samplers.enumeration import Enumeration
from ..samplers.sampler import Sampler
from ..samplers.splitting import Splitting
from ..samplers.strata import Stratum
from .faults.mechanisms import FaultModel, Floats, fault_model, seed_words
from .partition import MOST_TIME, Partition, partition, probability_of_no_member
from .questions import DecodingProblem

_FIRST_SHOTS = 128
"""Shots of each substratum before any is preferred. Doubled, easy questions take a little longer."""

_LISTED_AT = 2.5
"""A substratum is enumerated if so many times the shots that are wanted are all. Doubled, that is earlier."""

_MOST_AT_ONCE = 1 << 17
"""Shots of a substratum before errors are evaluated again. Doubled, searches overshoot by more."""

_PART_OF_SUBSTRATUM = 0.25
"""Numbers of faults that cannot be enumerated share a substratum, until those beyond have this part of what
all of these have. Doubled, there are twice as many substrata."""

_MOST_SHOTS = 1 << 22
"""A search without a limit on the time ends after about so many shots. Doubled, one that cannot succeed takes
twice as long."""

_LISTED_FROM = 1 << 20
"""If more shots are needed, accepted sets are listed; 0: they are listed at once. Doubled, some questions
take twice as long."""

_MOST_TIMES = 20.0
"""Accepted sets are listed if accepted shots are at most so many times as likely as those in which nothing
flips a postselected detector: if their numbers of members have a Poisson distribution, its mean is 3, and
sets that can be listed have 95% of it. Doubled, more searches list sets to no use."""

_SPLIT_FROM = 1 << 18
"""If a gap needs more shots, the stratum that needs most of them is split. Doubled, curves take longer."""

_PART_OF_SHOTS = math.sqrt(3) / 2
"""With lists, what the error of shots may be of the error that is asked for: that of lists is at most half of
it. Squared, searches take a quarter longer."""

_STEP, _MOST_POINTS = 5, 50
"""The step from one gap of the curve to the next, in decibels, and about how many there are at most. Doubled,
curves are coarser, and longer ones have more points."""

_LEAST_KEPT = 1e-2
"""The largest gap of a curve is one of at least this part of the accepted shots. Doubled, it is smaller."""


def accepted_rate(
    asked: DecodingProblem,
    relative_error: float,
    seed: int,
    report: Callable[[str], None],
    deadline: Deadline,
) -> LogicalErrorRate:
    """The logical error rate per accepted shot of a circuit.

    Raises:
        ResourceLimitError: Nothing can be said in the time that there is; or no shot is accepted.
        ValueError: The decoder is not deterministic; or the check of the state takes for granted what is not
            so.
    """
    seeds = np.random.SeedSequence(seed_words(fault_model(asked.symptoms), seed)).spawn(3)
    search: _Search | None = None
    if asked.weight is None and _LISTED_FROM:
        symptoms, mask = asked.symptoms, tuple(np.flatnonzero(asked.postselected).tolist())
        model = fault_model(symptoms, mask)
        search = _Search(asked, relative_error, deadline, report, model, (Stratum(model),), None, seeds[0])
        may_list = model.postselects and model.num_mechanisms > 0
        may_list &= model.outcomes is None or model.outcomes.can_be_divided
        if search.run(_LISTED_FROM if may_list else _MOST_SHOTS) or not may_list:
            return search.result()
        if search.accepted > _MOST_TIMES * probability_of_no_member(asked):
            search.run(_MOST_SHOTS)
            return search.result()
    limit = deadline if search is None else deadline.part(MOST_TIME)
    try:
        found = partition(asked, relative_error, np.random.default_rng(seeds[1]), limit)
        leaves_too_much = found.unlisted_part(0) > relative_error
        if search is None or not leaves_too_much or search.shots_needed > _MOST_SHOTS:
            of_sets = _Search(
                asked, relative_error, deadline, report, found.model, found.strata, found, seeds[2]
            )
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


class _Search:
    """Draws and enumerates substrata until the rate is known at all gaps that can be reached."""

    def __init__(
        self,
        asked: DecodingProblem,
        relative_error: float,
        deadline: Deadline,
        report: Callable[[str], None],
        model: FaultModel,
        strata: tuple[Stratum, ...],
        listed: Partition | None,
        seed: np.random.SeedSequence,
    ) -> None:
        self._asked, self._relative_error = asked, relative_error
        self._deadline, self._report = deadline, report
        self._postselects = bool(asked.postselected.any())
        self._strata, self._listed = strata, listed
        self._classifier = Classifier(model, asked.decoder.predict, deadline)
        self._wanted = relative_error * (1.0 if listed is None else _PART_OF_SHOTS)
        self._seed = seed
        self._substrata = _substrata_of(strata, self._classifier, seed)
        report(f"{len(strata)} strata, {len(self._substrata)} substrata")

    def run(self, most_shots: int) -> bool:
        """Works until errors are as asked for, or time is over; whether there is nothing more to do.

        Gaps that need more than ``most_shots`` are left aside.
        """
        try:
            for each in sorted(self._substrata, key=lambda each: -each.sampler.probability):
                if not each.sampler.tally.samples:
                    each.take(_FIRST_SHOTS, self._deadline)
            allocate(partial(self._contributions, most_shots), self._take)
        except TimeIsOver:
            sampled = sum(bool(tally.samples) for tally in self._tallies)
            if sampled < len(self._substrata):
                raise ResourceLimitError(
                    f"max_seconds={self._deadline.max_seconds:g} ended the search when {sampled} of"
                    f" {len(self._substrata)} strata of fault sets had been sampled. Allow several times as"
                    " much, or count errors with SoftDecodingSampler."
                ) from None
            return True
        return bool((self._sums(self._gaps()).relative_errors <= self._wanted).all())

    def _contributions(self, most_shots: int) -> Contributions | None:
        """What substrata contribute to the error at the gap that is next; None: there is no such gap.

        A stratum that needs very many shots is split before.
        """
        while (place := self._next_gap(sums := self._sums(gaps := self._gaps()), most_shots)) is not None:
            self._show(sums, place, int(gaps[place]))
            number = self._stratum_to_split(sums, place) if most_shots == _MOST_SHOTS else None
            if number is None:
                return self._contributions_at(sums, place)
            self._split(number, int(gaps[-1]), self._wanted * float(sums.wrong.min()))
        return None

    def _contributions_at(self, sums: Sums, place: int) -> Contributions:
        allowed = self._wanted * max(float(sums.wrong[place]), 1e-100)
        squares = (sums.variances[:, place] + sums.unseen[:, place] ** 2) / allowed**2
        square = (sums.variances[:, place].sum() + sums.bounds[place] ** 2) / allowed**2
        costs = np.array([float(tally.samples) for tally in self._tallies])
        return Contributions(squares, costs, float(square) - 1)

    def _take(self, number: int, growth: float) -> None:
        """Draws so many times the shots that a substratum has."""
        chosen = self._substrata[number]
        shots = math.ceil(growth * chosen.sampler.tally.samples)
        chosen.take(min(max(shots, _FIRST_SHOTS), _MOST_AT_ONCE), self._deadline)

    @property
    def accepted(self) -> float:
        """The probability that a shot is accepted, as far as is known."""
        return float(self._sums(self._gaps()).accepted[0])

    @property
    def shots_needed(self) -> float:
        """About how many shots the rate needs, whatever the gap."""
        return float(self._needed(self._sums(self._gaps()))[:, 0].sum())

    def _gaps(self) -> npt.NDArray[np.int64]:
        """The least gaps of the curve: all shots, steps, and the largest one that is not too rare."""
        if not self._asked.confidence:
            return np.array([np.iinfo(np.int64).min])
        seen = np.unique(np.concatenate([tally.gaps for tally in self._tallies]))
        accepted = np.sum([tally.means(seen)[ACCEPTED] for tally in self._tallies], axis=0)
        often = seen[accepted >= _LEAST_KEPT * accepted.max(initial=0.0)]
        least, most = (int(often.min(initial=0)), int(often.max(initial=0)))
        is_usual = _STEP < most - least <= _STEP * _MOST_POINTS
        step = max(1, _STEP if is_usual else -(-(most - least) // _MOST_POINTS))
        return np.unique([*range(least, most, step), most]).astype(np.int64)

    @property
    def _tallies(self) -> list[Tally]:
        return [each.sampler.tally for each in self._substrata]

    def _sums(self, gaps: npt.NDArray[np.int64], quantity: int = WRONG) -> Sums:
        listed, found = self._listed, np.zeros(len(gaps))
        if listed is not None:
            found = np.array([listed.unlisted_part(max(int(gap), 0)) for gap in gaps])
        return sums_over(
            self._tallies,
            gaps,
            np.array([each.stratum for each in self._substrata], dtype=np.intp),
            np.array([stratum.relative_error for stratum in self._strata]),
            found,
            0.0 if listed is None else listed.unlisted,
            0.0 if listed is None else listed.unseen,
            quantity,
        )

    def _next_gap(self, sums: Sums, most_shots: int) -> int | None:
        """The gap that is not known yet and needs the fewest shots; None: none can be reached."""
        missing = np.flatnonzero(sums.relative_errors > self._wanted)
        if not len(missing):
            return None
        taken = sum(tally.samples for tally in self._tallies)
        if taken > most_shots and not (self._deadline.is_limited and most_shots == _MOST_SHOTS):
            return None
        needed = self._needed(sums).sum(axis=0)[missing]
        place = int(missing[needed.argmin()])
        if needed.min() <= most_shots:
            return place
        if most_shots < _MOST_SHOTS:
            return None  # there is another way
        # At least one rate is to be known as well as may be.
        is_worth_it = place == 0 or self._deadline.is_limited
        return place if is_worth_it or self._stratum_to_split(sums, place) is not None else None

    def _needed(self, sums: Sums) -> Floats:
        """About how many shots each substratum needs in all: the terms of N(g), shape (substrata, gaps).

        Y is at least as large as what may not have been seen.
        """
        shots = np.array([tally.samples for tally in self._tallies])[:, np.newaxis]
        sizes = np.array([each.size for each in self._substrata])[:, np.newaxis]
        is_exact = np.array([tally.is_exact for tally in self._tallies])[:, np.newaxis]
        wanted = self._wanted * np.maximum(sums.wrong, np.maximum(sums.bounds, 1e-300))
        each = (factors(sums.variances / wanted**2, shots) + sums.unseen / wanted) * shots
        return np.where(is_exact, 0.0, np.minimum(each, sizes))

    def _stratum_to_split(self, sums: Sums, place: int) -> int | None:
        """The stratum that needs most shots at a gap, if these are many, and it is not split yet."""
        needed = np.bincount([each.stratum for each in self._substrata], self._needed(sums)[:, place])
        number = int(needed.argmax())
        samplers = [each.sampler for each in self._substrata if each.stratum == number]
        is_split = any(isinstance(each, Splitting) for each in samplers)
        return None if is_split or not self._asked.confidence or needed.sum() < _SPLIT_FROM else number

    def _split(self, number: int, top: int, floor: float) -> None:
        """Replaces the substrata of a stratum by multilevel splitting, but for those that were enumerated."""
        mine = [each for each in self._substrata if each.stratum == number]
        exact = {each.least: each for each in mine if each.sampler.tally.is_exact}
        least = next(k for k in itertools.count() if k not in exact)
        sampler = Splitting(self._strata[number], self._classifier, least, top, floor)
        rng = np.random.default_rng(*self._seed.spawn(1))
        split = _Substratum(number, self._strata[number], sampler, self._classifier, rng)
        split.take(_FIRST_SHOTS, self._deadline)
        others = [each for each in self._substrata if each not in mine]
        self._substrata = [*others, *(exact[k] for k in range(least)), split]

    def _show(self, sums: Sums, place: int, gap: int) -> None:
        at = f" at gap {gap}" if self._asked.confidence else ""
        self._report(
            f"{sum(tally.samples for tally in self._tallies):,} shots, {self._classifier.decoded:,}"
            f" decodes, {self._deadline.seconds:.0f} s: relative error {sums.relative_errors[place]:.2g}{at}"
        )

    def result(self) -> LogicalErrorRate:
        """The result; ResourceLimitError if no shot was accepted, ValueError if the decoder is random."""
        self._classifier.check_repeats(self._asked.decoder.name)
        gaps = self._gaps()
        sums = self._sums(gaps)
        if not sums.accepted[0]:
            shots = sum(tally.samples for tally in self._tallies)
            raise ResourceLimitError(
                f"None of {shots:,} shots is kept, and the sets of faults that keep one could not be listed."
                " Postselect fewer detectors, or estimate the rate at weaker noise."
            )
        points = [self._point(sums, place, int(gap)) for place, gap in enumerate(gaps)]
        first, last = points[0], len(points)
        for place, point in enumerate(points[1:], 1):
            if point.relative_error > max(1.0, self._relative_error):
                last = place
                break
        notes = [] if last == len(points) else [self._end_of_curve(points[last])]
        numbers = range(WRONG + 1, WRONG + 1 + self._classifier.num_observables)
        observables = [self._sums(gaps[:1], k).ratio(0, float(sums.accepted[0])) for k in numbers]
        return LogicalErrorRate(
            decoder=self._asked.decoder.name,
            logical_error_rate=first.logical_error_rate,
            standard_error=first.standard_error,
            interval=first.interval,
            coverage=COVERAGE,
            observable_rates=tuple(each.rate for each in observables),
            observable_errors=tuple(each.standard_error for each in observables),
            kept=first.kept,
            kept_error=first.kept_error,
            kept_and_wrong=first.kept_and_wrong,
            strata=tuple(self._described(sums, gaps, last - 1)),
            gap_curve=tuple(points[:last]) if self._asked.confidence else (),
            decodes=self._classifier.decoded,
            seconds=self._deadline.seconds,
            asked_relative_error=self._relative_error,
            notes=tuple(notes),
        )

    def _point(self, sums: Sums, place: int, gap: int) -> GapPoint:
        # Without postselection, all shots have the least gap. Shots of listed sets are all accepted.
        is_all = place == 0 and not self._postselects
        unseen = 0.0
        if place > 0 or self._listed is None:
            unseen = max(tally.bound for tally in self._tallies)
        accepted = 1.0 if is_all else float(sums.accepted[place])
        ratio = sums.ratio(place, accepted)
        return GapPoint(
            gap,
            accepted,
            0.0 if is_all else math.sqrt(float(sums.accepted_variance[place]) + unseen**2),
            float(sums.wrong[place]),
            math.hypot(math.sqrt(float(sums.wrong_variance[place])), sums.bound(place)),
            ratio.standard_error,
            ratio.interval,
        )

    def _end_of_curve(self, point: GapPoint) -> str:
        return (
            f"the curve ends before gap {point.gap}, where the logical error rate per kept shot is below"
            f" {point.interval[1]:.2g}: larger gaps need more shots than were taken (with max_seconds, they"
            " are taken for so long)"
        )

    def _described(self, sums: Sums, gaps: npt.NDArray[np.int64], last: int) -> list[RateStratum]:
        found = []
        for number, stratum in enumerate(self._strata):
            mine = [k for k, each in enumerate(self._substrata) if each.stratum == number]
            tallies = [self._tallies[k] for k in mine]
            wrong = sums.shares[mine].sum(axis=0)
            exact = [tally.is_exact for tally in tallies]
            is_split = any(isinstance(self._substrata[k].sampler, Splitting) for k in mine)
            drawn = "splitting" if is_split else "direct" if any(exact) else "direct samples"
            method = drawn if not any(exact) else "enumerated" if all(exact) else f"enumerated, {drawn}"
            at_largest = float(wrong[last] / sums.wrong[last]) if sums.wrong[last] else 0.0
            found.append(
                RateStratum(
                    name=stratum.name,
                    method=method,
                    probability=stratum.probability,
                    sets=sum(tally.samples for tally in tallies),
                    wrong=sum(tally.failures for tally in tallies),
                    kept=sum(float(tally.means(gaps[:1])[ACCEPTED][0]) for tally in tallies),
                    kept_and_wrong=float(wrong[0]),
                    standard_error=math.hypot(
                        math.sqrt(float(sums.variances[mine, 0].sum())),
                        stratum.relative_error * float(wrong[0]),
                        float(sums.unseen[mine, 0].max(initial=0.0)),
                    ),
                    draws=sum(0 if tally.is_exact else tally.samples for tally in tallies),
                    share_at_largest_gap=at_largest if self._asked.confidence else None,
                )
            )
        return found


class _Substratum:
    """A stratum with an exact number of free faults, or with all numbers from one on.

    Attributes:
        stratum: The index of the stratum.
        sampler: Its direct samples; or all of its fault sets, once these are few beside the samples.
        size: About how many shots enumerate the substratum; infinite if that is impossible.
    """

    def __init__(
        self,
        index: int,
        stratum: Stratum,
        sampler: DirectSamples | Splitting,
        classifier: Classifier,
        rng: np.random.Generator,
    ) -> None:
        self.stratum, self._of, self._classifier, self._rng = index, stratum, classifier, rng
        self.sampler: Sampler = sampler
        self.least = sampler.least
        self.size = sampler.size if isinstance(sampler, DirectSamples) else math.inf

    def take(self, shots: int, deadline: Deadline) -> None:
        """Draws so many shots, or enumerates the substratum. What was drawn when time is over is counted."""
        if self.size > _LISTED_AT * shots:
            self.sampler.take(shots, self._rng, deadline)
            return
        every = Enumeration(self._of, self._classifier, self.least)
        every.take(shots, self._rng, deadline)
        self.sampler = every


def _substrata_of(
    strata: tuple[Stratum, ...], classifier: Classifier, seed: np.random.SeedSequence
) -> list[_Substratum]:
    """The substrata of strata. The last one of each has all larger numbers of free faults: at most 1e-15."""
    found = []
    for index, (stratum, own) in enumerate(zip(strata, seed.spawn(len(strata)), strict=True)):
        law = stratum.numbers.probabilities
        beyond = np.append(law[::-1].cumsum()[::-1], 0.0)
        ranges, least = [], 0
        while least < len(law) and beyond[least] > 0:
            largest = least
            if stratum.size(least) > _LISTED_AT * _MOST_AT_ONCE:
                left = _PART_OF_SUBSTRATUM * beyond[least] if beyond[least] > 1e-15 else 0.0
                largest = int(np.flatnonzero(beyond[least + 1 :] <= left)[0]) + least
            ranges.append((least, largest))
            least = largest + 1
        for (least, largest), each in zip(ranges, own.spawn(len(ranges)), strict=True):
            sampler = DirectSamples(stratum, classifier, least, largest)
            if sampler.probability > 0:
                found.append(_Substratum(index, stratum, sampler, classifier, np.random.default_rng(each)))
    return found
