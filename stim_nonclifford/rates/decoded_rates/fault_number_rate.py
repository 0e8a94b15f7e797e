"""The logical error rate of a circuit whose shots are all accepted, as a sum over the number of faults.

    rate = sum over k of P(k faults act) P(the decoder fails, given k)

The first factor is known exactly. Of small k, all fault sets are enumerated. Beyond, the second factor is
estimated without a bias: if few samples suffice, by direct samples of all larger k; otherwise by backward
deletion from the least k at which some 0.5% of the sets fail, by direct samples of orphans, which deletion
cannot reach, and by direct samples of larger k. Where the decoder fails in 1% of the shots, these are direct
samples of all k: plain shots.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ...base.errors import ResourceLimitError
from ..decoding.classifying import Classifier
from ..estimation.allocation import Contributions, allocate, factors
from ..estimation.deadline import Deadline, TimeIsOver
from ..estimation.failing_sets import FailingSets
from ..estimation.interval import COVERAGE
from ..estimation.ratios import Ratio, Sums, ratio_of, sums_over
from ..estimation.tally import WRONG, Tally
from ..results import LogicalErrorRate, RateStratum
from ..results.logical_error_rate import FaultSets
from ..results.strata import name_of_faults
from ..samplers.backward_deletion import BackwardDeletion, Orphans
from ..samplers.direct_samples import DirectSamples
from ..samplers.enumeration import Enumeration
from ..samplers.sampler import Sampler
from ..samplers.strata import Floats, Stratum
from .faults.mechanisms import FaultModel, fault_model, seed_words
from .questions import DecodingProblem

if TYPE_CHECKING:
    from ..budget.failing_sets import FailureStudy
    from ..results import DecodedFailure
    from ..results.error_budget import ErrorBudget, Grouping

_MOST_DECODES = 1 << 18
"""Fault sets that are enumerated, with their coins and outcomes. Doubled, that takes twice the time (half a
second with PyMatching), and hardly ever reaches one fault more."""

_PLAIN_RATE = 0.01
"""From this rate on, plain shots are counted. Doubled, deletion takes as long at the same rate."""

_FIRST_SAMPLES = 1 << 10
"""Samples of each sampler before its error is evaluated. Doubled, easy circuits take longer."""

_GROWTH = 1.25
"""Factor between the numbers of faults that are tried as the start of deletion. Doubled, a start is found
sooner, and may be too large."""

_MARGIN = 0.1
"""The part by which deletion has more samples than a pilot asks for. Doubled, searches overshoot by more."""

_RATE_AT_START = 0.005
"""Deletion starts where about this part of the fault sets fails. Doubled, lineages are longer."""

_PART_OF_ORPHANS = 0.25
"""Direct samples of orphans cost this part of the rest, at most, where more of them would not suffice either.
Doubled, an interval that has room for an orphan has half as much of it."""

_MOST_FOR_ORPHANS = 8
"""What may be spent on orphans, as a multiple of the rest, if the interval then has hardly any room for one.
Doubled, more intervals are narrow, and such a search takes twice as long."""

_ROOM_FOR_ORPHANS = 0.5
"""The part of the relative error that is asked for, which one orphan may have. Doubled, intervals reach 6%
instead of 3% further up."""

_MOST_UNSEEN = 1 << 20
"""Samples of which none fails, after which the search ends. Doubled, it takes twice as long to give up."""

_FEWEST_FAILURES = 64
"""Effective failing samples before their variance is believed, and a count or a pilot ends: a count that ends
at n failures has a rate that is 1/n too large on average. Doubled, errors are surer, and coarse ones take
twice as long."""


def fault_number_rate(
    circuit: DecodingProblem,
    relative_error: float,
    seed: int,
    report: Callable[[str], None],
    deadline: Deadline,
) -> LogicalErrorRate:
    """The logical error rate of a circuit of which all shots are accepted.

    Raises:
        ResourceLimitError: There is no estimate within the limit on the time, or no failing shot is found.
        ValueError: The decoder returned something else than predictions, or is not deterministic.
    """
    model = fault_model(circuit.symptoms)
    classifier = Classifier(model, circuit.decoder.predict, deadline)
    has_no_orphans = circuit.decoder.finds_least_weight and model.outcomes is None
    rng = np.random.default_rng(seed_words(model, seed))
    stratum = Stratum(model)
    search = FaultNumberSearch(stratum, classifier, has_no_orphans, deadline, rng, report)
    try:
        search.run(relative_error)
    except TimeIsOver:
        search.count_pilot()
        if not search.total.is_known:
            raise ResourceLimitError(
                f"max_seconds={deadline.max_seconds:g} ended the search {search.reached()}. The rate is at"
                f" most {search.upper_bound():.2g} ({COVERAGE:.0%}). Allow several times as much."
            ) from None
    classifier.check_repeats(circuit.decoder.name)
    total = search.total
    if not total.rate and not total.is_exact:
        raise ResourceLimitError(
            f"The decoder {circuit.decoder.name} failed in none of {classifier.asked:,} shots, with"
            f" {stratum.numbers.mean:.3g} errors per shot: the rate is at most {search.upper_bound():.2g}"
            f" ({COVERAGE:.0%}). If it can fail, that is too rare to be found."
        )
    ratio = total.ratio()
    each = [total.ratio(WRONG + 1 + k) for k in range(model.num_observables)] or [ratio]
    study = cache(partial(_study, circuit, total, model, classifier))
    result = LogicalErrorRate(
        decoder=circuit.decoder.name,
        logical_error_rate=ratio.rate,
        standard_error=ratio.standard_error,
        interval=ratio.interval,
        coverage=COVERAGE,
        observable_rates=tuple(one.rate for one in each),
        observable_errors=tuple(one.standard_error for one in each),
        kept=1.0,
        kept_error=0.0,
        kept_and_wrong=ratio.rate,
        strata=total.strata(),
        asked_relative_error=relative_error,
        seconds=deadline.seconds,
        decodes=classifier.decoded,
        notes=_notes(total),
    )
    fault_sets = FaultSets(partial(_budget, study, result), partial(_failures, study))
    return result._with(_fault_sets=fault_sets if ratio.rate else None)


class FaultNumberSearch:
    """Samples ``total``, a sum over numbers of faults, until its error is small."""

    def __init__(
        self,
        stratum: Stratum,
        classifier: Classifier,
        has_no_orphans: bool,
        deadline: Deadline,
        rng: np.random.Generator,
        report: Callable[[str], None],
    ) -> None:
        self._stratum, self._classifier = stratum, classifier
        self._deadline, self._rng, self._report = deadline, rng, report
        self._pilot = self._direct(0)
        self.total = _Sum(stratum, classifier.num_observables, has_no_orphans)

    def run(self, relative_error: float) -> None:
        """Samples until the rate has a relative error, or TimeIsOver is raised."""
        sizes = (self._stratum.size(k) for k in range(len(self._stratum.faults) + 1))
        if all(every <= _MOST_DECODES for every in itertools.accumulate(sizes)):
            self._enumerate()
            if self.total.is_exact:
                return
        pilot = self._pilot.tally
        while max(pilot.failures, _PLAIN_RATE * pilot.samples) < _FEWEST_FAILURES:
            self._take(self._pilot, _FIRST_SAMPLES)
        failures, shots = pilot.failures, pilot.samples
        self._report(f"{self._stratum.numbers.mean:.3g} faults per shot: {failures} of {shots} shots failed")
        if failures >= _PLAIN_RATE * shots:
            # Other shots than those that this choice depends on.
            self._count(0, _FIRST_SAMPLES, relative_error)
            return
        samples = self._enumerate(relative_error)
        least = len(self.total.enumerated)
        start = self._start(least) if samples is None else None
        if start is None:
            self._count(least, samples or _FIRST_SAMPLES, relative_error)
        else:
            self._delete(start, least, relative_error)

    def count_pilot(self) -> None:
        """Falls back to the plain shots of the pilot, where nothing else is better."""
        tally, total = self._pilot.tally, self.total
        if tally.failures and not (
            total.is_known and total.relative_variance * total.rate**2 < tally.variance
        ):
            self.total = replace(total, enumerated=[], deletion=None, orphans=None, larger=self._pilot)

    def _take(self, sampler: Sampler, samples: int) -> None:
        sampler.take(samples, self._rng, self._deadline)

    def _direct(self, least: int) -> DirectSamples:
        return DirectSamples(self._stratum, self._classifier, least, self._stratum.numbers.most, True)

    def _enumerate(self, relative_error: float = 0.0) -> int | None:
        """Enumerates one number of faults after the other, as long as there are few enough sets.

        It returns how many direct samples of all others suffice, if these are fewer than the next sets.
        """
        done = 0.0
        for number in range(len(self.total.enumerated), len(self._stratum.faults) + 1):
            size = self._stratum.size(number)
            wanted = relative_error * self.total.rate
            if wanted > 0:
                # At most, the variance of samples is P²/4, and their zero-count bound is P/n.
                others = float(self._stratum.numbers.probabilities[number:].sum())
                samples = math.ceil(max((others / wanted) ** 2 / 2, 2 * others / wanted, 64))
                if samples < min(size, _FIRST_SAMPLES):
                    return samples
            if done + size > _MOST_DECODES:
                return None
            found = Enumeration(self._stratum, self._classifier, number, True)
            self._take(found, 0)
            self.total.enumerated.append(found)
            done += size
        return None

    def _count(self, least: int, samples: int, relative_error: float) -> None:
        """Draws all numbers of faults from one on directly, at first so many samples."""
        self.total.larger = self._direct(least)
        self._take(self.total.larger, samples)
        self._allocate(relative_error)

    def _allocate(self, relative_error: float) -> None:
        """Samples until the relative error is reached, or too many samples have no failure."""
        samplers = self.total.sampled

        def contributions() -> Contributions | None:
            self._show()
            first = samplers[0].tally
            excess = self.total.relative_variance / relative_error**2 - 1
            is_believed = bool(self.total.enumerated) or first.failures >= _FEWEST_FAILURES
            if (excess <= 0 and is_believed) or (not first.failures and first.samples >= _MOST_UNSEEN):
                return None
            # If few failures suffice by their own error, which is not believed, this is a small step.
            return Contributions(*self._squares_and_costs(relative_error), max(excess, 1e-9))

        def take(number: int, growth: float) -> None:
            self._take(samplers[number], math.ceil(growth * samplers[number].tally.samples))

        allocate(contributions, take)

    def _start(self, least: int) -> int | None:
        """The number of faults that deletion starts from; None: even large sets fail too rarely."""
        size = max(1, math.floor(self._stratum.numbers.mean), least)
        while size <= self._stratum.numbers.most:
            trial = DirectSamples(self._stratum, self._classifier, size, size)
            self._take(trial, 2 * _FIRST_SAMPLES)
            if trial.tally.failures >= _RATE_AT_START * trial.tally.samples:
                return size
            size = max(size + 1, round(_GROWTH * size))
        return None

    def _delete(self, start: int, least: int, relative_error: float) -> None:
        parts = self._stratum, self._classifier
        pilot = self.total.deletion = BackwardDeletion(*parts, start, least, True)
        larger = self.total.larger = self._direct(start + 1)
        if least < start:
            self.total.orphans = Orphans(*parts, least, start - 1, True)
        while pilot.tally.effective_failures < _FEWEST_FAILURES:
            self._take(pilot, max(_FIRST_SAMPLES, pilot.tally.samples // 2))
            self._show()
        if larger.probability:
            self._take(larger, _FIRST_SAMPLES)
        needed = self._needed(relative_error)
        samples = math.ceil(needed * pilot.tally.samples)
        orphans, most_draws, many = self.total.orphans, None, 0
        if orphans is not None:
            few, many = self._samples_of_orphans(pilot.cost * needed + larger.cost, relative_error)
            if not self.total.has_no_orphans:
                most_draws = pilot.draws_for(orphans.probability / many * samples)
                orphans = self.total.orphans = Orphans(*parts, least, start - 1, True, most_draws)
            self._take(orphans, few)
        # Other samples than the pilot's: a search that ends when its error is small ends early if few weights
        # were large, and is too low on average.
        samples = math.ceil(max(needed, self._needed(relative_error)) * pilot.tally.samples)
        found = self.total.deletion = BackwardDeletion(*parts, start, least, True, most_draws)
        try:
            while (left := samples - found.tally.samples) > 0:
                self._take(found, min(pilot.tally.samples, left))
                self._show()
        except TimeIsOver:
            if found.tally.samples < pilot.tally.samples:
                self.total.deletion = pilot
                if orphans is not None and orphans.tally.failures:  # the pilot may have reached them, too
                    self.total.orphans = Orphans(*parts, least, start - 1, True)
            raise
        self._allocate(relative_error)
        if orphans is not None and orphans.tally.samples < many:
            while (left := many - orphans.tally.samples) > 0:
                self._take(orphans, min(max(_FIRST_SAMPLES, orphans.tally.samples // 2), left))
                self._show()
            self._allocate(relative_error)

    def _needed(self, relative_error: float) -> float:
        """How many times as many samples deletion needs, beside those of other samplers."""
        needed = factors(*self._squares_and_costs(relative_error))
        return max(1.0, (1 + _MARGIN) * float(needed[0]))

    def _squares_and_costs(self, relative_error: float) -> tuple[Floats, Floats]:
        """What samplers contribute to the error, and what they cost so far; see ``Contributions``."""
        allowed = (relative_error * max(self.total.rate, 1e-100)) ** 2
        samplers = self.total.sampled
        squares = np.array([each.tally.variance for each in samplers]) / allowed
        return squares, np.array([float(each.cost) for each in samplers])

    def _samples_of_orphans(self, others: float, relative_error: float) -> tuple[int, int]:
        """How many direct samples look for orphans: so many that cost little, and all of them.

        Args:
            others: What all other samples cost.
            relative_error: What is asked for.
        """
        orphans = self.total.orphans
        assert orphans is not None
        law = self._stratum.numbers.probabilities[orphans.least : orphans.most + 1]
        cost = float(law @ np.arange(1 + orphans.least, 2 + orphans.most)) / float(law.sum())
        few = max(_FIRST_SAMPLES, math.ceil(_PART_OF_ORPHANS * others / cost))
        wanted = orphans.probability / (_ROOM_FOR_ORPHANS * relative_error * self.total.rate)
        if self.total.has_no_orphans or wanted * cost > _MOST_FOR_ORPHANS * others:
            return few, few
        return min(few, math.ceil(wanted)), math.ceil(wanted)

    def _show(self) -> None:
        first = self.total.sampled[0]
        what = f"sets of {first.most} faults"
        if first is self.total.larger:
            what = f"sets of {first.least} or more faults" if first.least else "shots"
        found = f"{first.tally.failures:,} of {first.tally.samples:,} {what} failed"
        if self.total.is_known:  # before, larger sets are missing, or the error is too small
            found += f": {self.total.rate:.3g} ± {math.sqrt(self.total.relative_variance):.1%}"
        self._report(found)

    def reached(self) -> str:
        """How far a search came that ended before the rate was known."""
        if self.total.deletion is not None:
            tally, faults = self.total.deletion.tally, self.total.deletion.most
            return f"when {tally.failures:,} sets of {faults} faults had failed, which do not suffice"
        if least := len(self.total.enumerated):
            if self.total.larger is not None:
                samples = self.total.larger.tally.samples
                return f"when none of {samples:,} sets of {least} or more faults had failed"
            return f"when all sets of up to {least - 1} faults had been enumerated"
        return f"when {self._pilot.tally.failures} of {self._pilot.tally.samples:,} shots had failed"

    def upper_bound(self) -> float:
        """An upper limit of the rate (95%), also where it is not known."""
        pilot = self._pilot.tally
        spread = float(pilot.variances()[0][WRONG, 0])
        return min(self.total.ratio().interval[1], ratio_of(pilot.mean, 1.0, spread, pilot.bound).interval[1])


@dataclass
class _Sum:
    """P(the decoder fails) for one circuit, as a sum over disjoint parts of all fault sets.

    Attributes:
        stratum: All fault sets.
        num_observables: Number of observables.
        has_no_orphans: Whether each failing set is proven to have a failing superset of one fault more; see
            ``RateDecoder.finds_least_weight``.
        enumerated: The numbers of faults from 0 on whose sets were all enumerated.
        deletion: The numbers above these, up to the one that deletion starts from.
        orphans: The numbers below that one, for what deletion cannot reach.
        larger: All larger numbers.
    """

    stratum: Stratum
    num_observables: int
    has_no_orphans: bool
    enumerated: list[Enumeration] = field(default_factory=list)
    deletion: BackwardDeletion | None = None
    orphans: Orphans | None = None
    larger: DirectSamples | None = None

    @property
    def is_exact(self) -> bool:
        """Whether all fault sets were enumerated."""
        return len(self.enumerated) == len(self.stratum.faults) + 1

    @property
    def rate(self) -> float:
        """The logical error rate."""
        return float(self.sums().wrong[0])

    @property
    def relative_variance(self) -> float:
        """The variance of ``rate`` over its square; infinite if the rate is 0."""
        sums = self.sums()
        variance = float(sums.variance[0] + sums.bounds[0] ** 2)
        return variance / float(sums.wrong[0]) ** 2 if sums.wrong[0] else math.inf

    def ratio(self, quantity: int = WRONG) -> Ratio:
        """The rate, its error and interval, of ``WRONG`` or of an observable."""
        sums, orphans = self.sums(quantity), self.orphans
        bound = float(sums.bounds[0])
        if orphans is not None and not self.has_no_orphans:
            bound = max(bound, orphans.tally.bound)
        return sums.ratio(0, 1.0, bound)

    @property
    def orphans_left(self) -> tuple[int, int, int] | None:
        """The direct samples among which no orphan was found, and their least and largest number of faults.

        None where it is proven that there are none.
        """
        orphans = self.orphans
        if self.has_no_orphans or orphans is None or orphans.tally.failures:
            return None
        return orphans.tally.samples, orphans.least, orphans.most

    @property
    def is_known(self) -> bool:
        """Whether there is an estimate with a reliable standard error."""
        if self.is_exact:
            return True
        if self.deletion is not None and self.deletion.tally.effective_failures < _FEWEST_FAILURES:
            return False
        larger = self.larger
        return self.rate > 0 and (larger is None or larger.tally.samples > 0 or not larger.probability)

    @property
    def sampled(self) -> list[BackwardDeletion | Orphans | DirectSamples]:
        """The samplers that have samples, deletion first; of orphans only if one was found."""
        parts = (self.deletion, self.larger, self.orphans)
        found = [each for each in parts if each is not None and each.tally.samples]
        # What orphans may add, of which none was drawn, is in the interval.
        return [each for each in found if each is not self.orphans or each.tally.failures]

    def _used(self) -> list[Sampler]:
        """The samplers whose parts make up all fault sets, as far as they have samples."""
        return [*self.enumerated, *self.sampled]

    def sums(self, quantity: int = WRONG) -> Sums:
        """The sums over all parts."""
        tallies = [each.tally for each in self._used()] or [Tally(self.num_observables, 0.0)]
        found = sums_over(
            tallies,
            np.array([np.iinfo(np.int64).min]),
            np.zeros(len(tallies), dtype=np.intp),
            np.zeros(1),
            quantity=quantity,
            all_are_accepted=True,
        )
        return replace(found, unseen=np.maximum(found.unseen, self._unsampled()))

    def _unsampled(self) -> float:
        """The probability of the numbers of faults of which nothing was drawn."""
        if self.is_exact:
            return 0.0
        law, least = self.stratum.numbers.probabilities, len(self.enumerated)
        if self.larger is None:
            return float(law[least:].sum())
        parts: list[Sampler] = [self.larger]
        if self.orphans is not None and not self.has_no_orphans:
            parts.append(self.orphans)
        found = max(0.0 if each.tally.samples else each.probability for each in parts)
        if self.deletion is not None and not self.deletion.tally.failures:
            found = max(found, float(law[least : self.deletion.most + 1].sum()))
        return found

    def strata(self) -> tuple[RateStratum, ...]:
        """The rates of the numbers of faults, and of all numbers beyond those of deletion."""
        law = self.stratum.numbers.probabilities.tolist()
        found = [
            _stratum(each.least, each.least, "enumerated", each.probability, each.tally)
            for each in self.enumerated
        ]
        means, variances = np.zeros((2, len(law)))
        for part in (self.deletion, self.orphans):
            if part is not None and part.tally.samples:
                mean, square = part.by_number / part.tally.samples
                means += mean
                variances += np.maximum(square - mean**2, 0) / part.tally.samples
        deletion = self.deletion
        for size in np.flatnonzero(means).tolist():
            assert deletion is not None
            # Sets of the largest number are drawn; those of smaller numbers are subsets of them.
            is_deleted = deletion.by_number[0, size] > 0
            method = "backward deletion" if is_deleted else "direct samples"
            each = _stratum(size, size, method, law[size], deletion.tally)
            error = math.sqrt(float(variances[size]))
            each = replace(each, kept_and_wrong=float(means[size]), standard_error=error)
            found.append(each if size == deletion.most else replace(each, sets=0, wrong=None, draws=0))
        larger = self.larger
        if larger is not None and larger.tally.samples:
            found.append(_stratum(larger.least, None, "direct samples", larger.probability, larger.tally))
        return tuple(found)

    def failing_sets(self) -> FailingSets:
        """Failing sets, each as likely to be among them as in a shot that fails."""
        return FailingSets.joined(
            [(each.failing_sets(), 1 if each.tally.is_exact else each.tally.samples) for each in self._used()]
        )


def _stratum(least: int, most: int | None, method: str, probability: float, tally: Tally) -> RateStratum:
    """A stratum of fault numbers, of which all shots are accepted."""
    return RateStratum(
        name=name_of_faults(least, most),
        method=method,
        probability=probability,
        sets=tally.samples,
        wrong=tally.failures,
        kept=probability,
        kept_and_wrong=tally.mean,
        standard_error=0.0 if tally.is_exact else math.sqrt(tally.variance),
        least_faults=least,
        most_faults=most,
        draws=0 if tally.is_exact else tally.samples,
    )


def _notes(total: _Sum) -> tuple[str, ...]:
    """What else there is to say of a sum over fault numbers."""
    if total.orphans_left is None:
        return ()
    samples, least, most = total.orphans_left
    numbers = f"{least} to {most}" if least < most else f"{least}"
    return (
        f"among {samples:,} random sets of {numbers} faults, none failed that backward deletion cannot reach"
        " or reaches too rarely: the interval has room for one",
    )


def _study(circuit: DecodingProblem, total: _Sum, model: FaultModel, classifier: Classifier) -> FailureStudy:
    from ..budget.failing_sets import FailureStudy  # SciPy takes as long to import as this package

    assert circuit.fault_table is not None
    return FailureStudy(total.failing_sets(), model, classifier, circuit.fault_table())


def _budget(study: Callable[[], FailureStudy], result: LogicalErrorRate, by: Grouping) -> ErrorBudget:
    return study().budget(by, result.logical_error_rate, result.standard_error, result.interval)


def _failures(study: Callable[[], FailureStudy], count: int) -> list[DecodedFailure]:
    return study().failures(count)
