"""The logical error rate of a circuit whose shots are all kept, as a sum over the number of faults.

    rate = sum over k of P(k faults act) P(the decoder fails, given k)

The first factor is known exactly. Of small k, all fault sets are enumerated. Beyond, the second factor is
estimated without a bias: up to the least k at which some 0.5% of the sets fail, by backward deletion from
there and direct samples of orphans, which deletion cannot reach; and of larger k by direct samples. Where the
decoder fails in 1% of all shots, plain shots are counted, whatever k is. The samplers are those of
``rates.samplers``; ``estimation.ratios`` has the error and the interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..decoding.classifying import Classifier
from ..estimation.deadline import Deadline, TimeIsOver
from ..estimation.failing_sets import FailingSets
from ..estimation.ratios import Ratio, Sums, sums_over
from ..estimation.tally import WRONG, Tally
from ..results import RateStratum
from ..results.strata import name_of_faults
from ..samplers.backward_deletion import BackwardDeletion, Orphans
from ..samplers.direct_samples import DirectSamples
from ..samplers.enumeration import Enumeration
from ..samplers.plain_shots import PlainShots
from ..samplers.sampler import Sampler
from ..samplers.strata import Stratum

__all__ = ["FaultNumberSum"]

_MOST_DECODES = 1 << 18
"""Fault sets that are enumerated, with their coins and outcomes. Doubled, that takes twice the time (half a
second with PyMatching), and hardly ever reaches one fault more."""

_PLAIN_RATE = 0.01
"""From this rate on, plain shots are counted. Doubled, deletion takes as long at the same rate."""

_FIRST_SAMPLES = 1 << 10
"""Samples of each sampler before its error is looked at. Doubled, easy circuits take longer."""

_FEWEST_FAILURES = 64
"""Effective failing samples before their variance is believed. Doubled, errors are surer, and deletion takes
longer where 12% would do."""

_RATE_AT_START = 0.005
"""Deletion starts where about this part of the fault sets fails. Doubled, lineages are longer."""

_PART_OF_OTHERS = 1 / 3
"""The part of the variance that numbers of faults beyond the start may have. Doubled, deletion has to make up
for it with four times the samples."""

_PART_OF_ORPHANS = 0.25
"""Direct samples of orphans cost this part of the rest, at most. Doubled, an interval that has room for an
orphan has half as much of it."""

_MOST_UNSEEN = 1 << 20
"""Samples of which none fails, after which the search ends. Doubled, it takes twice as long to give up."""


class FaultNumberSum:
    """P(the decoder fails) for one circuit of which all shots are kept.

    Args:
        stratum: All fault sets.
        classifier: The decoder.
        has_no_orphans: Whether each failing set is known to have a failing superset of one fault more; see
            ``RateDecoder.finds_least_weight``.
        deadline: The limit on the time.
        rng: The random numbers.
        report: Is told how far it is.
    """

    def __init__(
        self,
        stratum: Stratum,
        classifier: Classifier,
        has_no_orphans: bool,
        deadline: Deadline,
        rng: np.random.Generator,
        report: Callable[[str], None],
    ) -> None:
        self._stratum, self._classifier, self._has_no_orphans = stratum, classifier, has_no_orphans
        self._deadline, self._rng, self._report = deadline, rng, report
        self._pilot = self._plain = PlainShots(stratum, classifier, True)
        self._counts = False
        self._enumerated: list[Enumeration] = []
        self._deletion: BackwardDeletion | None = None
        self._orphans: Orphans | None = None
        self._larger: DirectSamples | None = None

    def run(self, relative_error: float) -> None:
        """Samples until the rate has an error.

        Args:
            relative_error: The error, over the rate.

        Raises:
            TimeIsOver: The limit has been reached.
        """
        every = sum(self._stratum.size(k) for k in range(len(self._stratum.faults) + 1))
        if every <= _MOST_DECODES:
            self._enumerate()
            if self.is_exact:
                return
        while self._plain.tally.failures < 30 and self._plain.tally.samples < 6 * _FIRST_SAMPLES:
            self._take(self._plain, _FIRST_SAMPLES)
        failures, shots = self._plain.tally.failures, self._plain.tally.samples
        self._report(f"{self.mean_faults:.3g} faults per shot: {failures} of {shots} shots failed")
        if failures >= _PLAIN_RATE * shots:
            self._count(relative_error)
            return
        samples = self._enumerate(relative_error)
        least = len(self._enumerated)
        start = self._start(least) if samples is None else None
        if start is None:
            self._larger = self._direct(least)
            self._sample_rest(samples or _FIRST_SAMPLES, relative_error)
        else:
            self._delete(start, least, relative_error)

    @property
    def mean_faults(self) -> float:
        """The mean number of faults of a shot."""
        return self._stratum.numbers.mean

    @property
    def is_exact(self) -> bool:
        """Whether all fault sets were enumerated."""
        return len(self._enumerated) == len(self._stratum.faults) + 1 and not self._counts

    @property
    def rate(self) -> float:
        """The logical error rate."""
        return float(self._sums().wrong[0])

    @property
    def relative_variance(self) -> float:
        """The variance of ``rate`` over its square; infinite if the rate is 0."""
        sums = self._sums()
        variance = float(sums.variance[0]) + sums.bound**2
        return variance / float(sums.wrong[0]) ** 2 if sums.wrong[0] else math.inf

    def ratio(self, quantity: int = WRONG) -> Ratio:
        """The rate, its error and interval.

        Args:
            quantity: ``WRONG``, or that of an observable.
        """
        sums, orphans = self._sums(quantity), self._orphans
        bound = sums.bound
        if orphans is not None and not self._has_no_orphans and not self._counts:
            bound = max(bound, orphans.tally.bound)
        return sums.ratio(0, 1.0, bound)

    @property
    def orphans_left(self) -> tuple[int, int, int] | None:
        """The direct samples among which no orphan was found, and their least and largest number of faults.

        None where it is known that there are none.
        """
        orphans = self._orphans
        if self._has_no_orphans or self._counts or orphans is None or orphans.tally.failures:
            return None
        return orphans.tally.samples, orphans.least, orphans.most

    def count_pilot(self) -> None:
        """Falls back to the plain shots of the pilot, where nothing else is better."""
        tally = self._pilot.tally
        if tally.failures and not (self.is_known and self.relative_variance * self.rate**2 < tally.variance):
            self._plain, self._counts = self._pilot, True

    @property
    def is_known(self) -> bool:
        """Whether there is an estimate whose error can be believed."""
        if self._counts:
            return self._plain.tally.failures > 0
        if self.is_exact:
            return True
        if self._deletion is not None and self._deletion.tally.effective_failures < _FEWEST_FAILURES:
            return False
        larger = self._larger
        return self.rate > 0 and (larger is None or larger.tally.samples > 0 or not larger.probability)

    def _used(self) -> list[Sampler]:
        """The samplers whose parts make up all fault sets, as far as they have samples."""
        if self._counts:
            return [self._plain]
        parts = (*self._enumerated, self._deletion, self._orphans, self._larger)
        return [each for each in parts if each is not None and each.tally.samples]

    def _sums(self, quantity: int = WRONG) -> Sums:
        # What orphans may add, of which none was drawn, is in the interval.
        tallies = [each.tally for each in self._used() if each is not self._orphans or each.tally.failures]
        tallies = tallies or [Tally(self._classifier.num_observables, 0.0)]
        found = sums_over(
            tallies,
            np.array([np.iinfo(np.int64).min]),
            np.zeros(len(tallies), dtype=np.intp),
            np.zeros(1),
            quantity=quantity,
            all_are_accepted=True,
        )
        return replace(found, bound=max(found.bound, self._unsampled()))

    def _unsampled(self) -> float:
        """The probability of the numbers of faults of which nothing was drawn."""
        if self._counts or self.is_exact:
            return 0.0
        law = self._stratum.numbers.probabilities
        if self._larger is None:
            return float(law[len(self._enumerated) :].sum())
        parts: list[Sampler] = [self._larger]
        if self._orphans is not None and not self._has_no_orphans:
            parts.append(self._orphans)
        return max(0.0 if each.tally.samples else each.probability for each in parts)

    def _take(self, sampler: Sampler, samples: int) -> None:
        sampler.take(samples, self._rng, self._deadline)

    def _direct(self, least: int) -> DirectSamples:
        return DirectSamples(self._stratum, self._classifier, least, self._stratum.numbers.most, True)

    def _enumerate(self, relative_error: float = 0.0) -> int | None:
        """Enumerates one number of faults after the other, as long as there are few enough sets.

        Returns:
            How many direct samples of all other numbers suffice, if they are fewer than the next sets.
        """
        done = 0.0
        for number in range(len(self._enumerated), len(self._stratum.faults) + 1):
            size = self._stratum.size(number)
            wanted = relative_error * self.rate
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
            self._enumerated.append(found)
            done += size
        return None

    def _count(self, relative_error: float) -> None:
        """Counts other shots than those that this choice depends on."""
        plain = self._plain = PlainShots(self._stratum, self._classifier, True)
        self._counts = True
        # A count that ends at n failures has a rate that is 1/n too large on average.
        while plain.tally.failures < max(100, (1 - plain.tally.mean) / relative_error**2):
            self._take(plain, max(_FIRST_SAMPLES, plain.tally.samples // 4))
            self._report(f"{plain.tally.failures:,} of {plain.tally.samples:,} shots failed")

    def _start(self, least: int) -> int | None:
        """The number of faults that deletion starts from; None: even large sets fail too rarely."""
        size = max(1, math.floor(self.mean_faults), least)
        while size <= self._stratum.numbers.most:
            trial = DirectSamples(self._stratum, self._classifier, size, size)
            self._take(trial, 2 * _FIRST_SAMPLES)
            if trial.tally.failures >= _RATE_AT_START * trial.tally.samples:
                return size
            size = max(size + 1, round(1.25 * size))
        return None

    def _sample_rest(self, samples: int, relative_error: float) -> None:
        """Samples all numbers that were not enumerated, where deletion has nothing to start from."""
        larger = self._larger
        assert larger is not None
        self._take(larger, samples)
        while self.relative_variance > relative_error**2:
            if not larger.tally.failures and larger.tally.samples >= _MOST_UNSEEN:
                return
            self._take(larger, math.ceil(larger.tally.samples / 2))
            self._report(
                f"{larger.tally.samples:,} sets of {larger.least} or more faults: rate {self.rate:.3g}"
            )

    def _delete(self, start: int, least: int, relative_error: float) -> None:
        pilot = self._deletion = BackwardDeletion(self._stratum, self._classifier, start, least, True)
        larger = self._larger = self._direct(start + 1)
        if least < start:
            self._orphans = Orphans(self._stratum, self._classifier, least, start - 1, True)
        while pilot.tally.effective_failures < _FEWEST_FAILURES:
            self._take(pilot, max(_FIRST_SAMPLES, pilot.tally.samples // 2))
            self._show()
        if larger.probability:
            self._take(larger, _FIRST_SAMPLES)
            while larger.tally.variance > _PART_OF_OTHERS * (relative_error * self.rate) ** 2:
                self._take(larger, larger.tally.samples // 2)
        self._look_for_orphans(pilot.cost * self._needed(relative_error) + larger.cost, relative_error)
        # Other samples than the pilot's: a search that ends when its error is small ends early if few weights
        # were large, and is too low on average.
        samples = math.ceil(self._needed(relative_error) * pilot.tally.samples)
        found = self._deletion = BackwardDeletion(self._stratum, self._classifier, start, least, True)
        try:
            for _ in range(0, samples, piece := max(_FIRST_SAMPLES, samples // 16)):
                self._take(found, min(piece, samples - found.tally.samples))
                self._show()
        except TimeIsOver:
            if found.tally.samples < pilot.tally.samples:
                self._deletion = pilot
            raise
        while self.relative_variance > relative_error**2:
            self._take(found, math.ceil(0.1 * found.tally.samples))
            self._show()

    def _needed(self, relative_error: float) -> float:
        """How many times as many samples deletion needs, with what other samplers leave of the error."""
        assert self._deletion is not None
        of_deletion = self._deletion.tally.variance
        sums = self._sums()
        others = max(0.0, float(sums.variance[0]) + sums.bound**2 - of_deletion)
        rest = (relative_error * self.rate) ** 2 - others
        return max(1.0, 1.1 * of_deletion / rest) if rest > 0 else 1.0

    def _look_for_orphans(self, others: float, relative_error: float) -> None:
        """Takes direct samples of orphans, as long as they matter and cost little."""
        orphans = self._orphans
        if orphans is None:
            return
        while orphans.tally.variance > (_PART_OF_OTHERS * relative_error * self.rate) ** 2:
            if orphans.cost > _PART_OF_ORPHANS * others and not orphans.tally.failures:
                break
            self._take(orphans, max(_FIRST_SAMPLES, orphans.tally.samples // 2))

    def _show(self) -> None:
        deletion = self._deletion
        assert deletion is not None
        tally = deletion.tally
        found = f"{tally.failures:,} of {tally.samples:,} sets of {deletion.most} faults failed"
        if self.is_known:  # before, larger sets are missing, or the error is too small
            found += f": {self.rate:.3g} ± {math.sqrt(self.relative_variance):.1%}"
        self._report(found)

    def reached(self) -> str:
        """How far a search came that ended before the rate was known."""
        if self._deletion is not None:
            tally, faults = self._deletion.tally, self._deletion.most
            return f"when {tally.failures:,} sets of {faults} faults had failed, which do not suffice"
        if self._larger is not None:
            samples = self._larger.tally.samples
            return f"when none of {samples:,} sets of {self._larger.least} or more faults had failed"
        if self._enumerated:
            return f"when all sets of up to {len(self._enumerated) - 1} faults had been enumerated"
        return f"when {self._pilot.tally.failures} of {self._pilot.tally.samples:,} shots had failed"

    def upper_bound(self) -> float:
        """An upper limit of the rate (95%), also where it is not known."""
        found = [self.ratio().interval[1]]
        if self._pilot.tally.samples:
            counted = FaultNumberSum(
                self._stratum, self._classifier, True, self._deadline, self._rng, self._report
            )
            counted._plain, counted._counts = self._pilot, True
            found.append(counted.ratio().interval[1])
        return min(found)

    def strata(self) -> tuple[RateStratum, ...]:
        """The rates of the numbers of faults, and of all numbers beyond those of deletion."""
        if self._counts:
            return (_stratum(0, None, "direct samples", 1.0, self._plain.tally),)
        law = self._stratum.numbers.probabilities.tolist()
        found = [
            _stratum(each.least, each.least, "enumerated", each.probability, each.tally)
            for each in self._enumerated
        ]
        means, variances = np.zeros((2, len(law)))
        for part in (self._deletion, self._orphans):
            if part is not None and part.tally.samples:
                mean, square = part.by_number / part.tally.samples
                means += mean
                variances += np.maximum(square - mean**2, 0) / part.tally.samples
        deletion = self._deletion
        for size in np.flatnonzero(means).tolist():
            assert deletion is not None
            # Sets of the largest number are drawn; those of smaller numbers are subsets of them.
            each = _stratum(size, size, "backward deletion", law[size], deletion.tally)
            error = math.sqrt(float(variances[size]))
            each = replace(each, kept_and_wrong=float(means[size]), standard_error=error)
            found.append(each if size == deletion.most else replace(each, sets=0, wrong=None, draws=0))
        larger = self._larger
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
