"""The logical error rate of one circuit as a sum over fault numbers.

    rate = sum over k of P(k mechanisms act) P(the decoder fails, given k)

The first factor is known exactly. Of small k, all sets are looked at (``enumeration``). Beyond, the second
factor is estimated without a bias: up to the least k at which some 0.5% of the sets fail, by backward
deletion from there and direct samples of orphans, which deletion cannot reach; and of larger k by direct
samples. Where the decoder fails in 1% of all shots, plain shots are counted, whatever k is.

What was seen has a standard error. The interval also has room for what was not: for one more sample of the
largest weight (Fay and Feuer, Statistics in Medicine 16, 791, 1997).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...estimation.deadline import TimeIsOver
from ...results import RateStratum
from ...results.strata import name_of_faults
from ..answers.decoding import FailureTest
from ..failing.sets import EXACT, FailingSets
from ..faults.mechanisms import FaultModel, Floats
from .backward_deletion import BackwardDeletion, Orphans
from .classify import Classify, fails
from .direct_samples import DirectSamples
from .enumeration import Enumeration
from .plain_counts import PlainCounts
from .sized_sets import SizedSets
from .tally import Tally, interval_of_tallies
from .weighted_sets import WeightedSets

__all__ = ["FaultNumberSum"]

_PLAIN_RATE = 0.01
"""From this rate on, plain shots are counted. At twice the rate, deletion takes as long."""

_PILOT_SHOTS = 1 << 10
_MOST_PILOT_SHOTS = 6 << 10
_PILOT_FAILURES = 30
"""Plain shots that tell whether a rate is above ``_PLAIN_RATE``. With more, the choice is surer."""

_FEWEST_FAILURES = 100
"""Failures before a count ends: one that ends at n failures has a rate that is 1/n too large."""

_RATE_AT_START = 0.005
"""Deletion starts where so many sets fail, about. At twice as many, lineages are longer."""

_GROWTH = 1.25
"""Steps of the fault number at which it may start. Larger ones find a start sooner, that may be too large."""

_STEP_SHOTS = 1 << 11
_FIRST_SHOTS = 1 << 10
_FEWEST_EFFECTIVE = 64
"""Failing samples of equal weights, as it were, before their variance is believed."""

_PART_OF_LARGER = 1 / 3
"""The part of the variance that numbers beyond the start may have."""

_MARGIN = 1.1
_GROWTH_AT_END = 0.1
"""Samples that are drawn beyond those that the pilot says are needed, and if they do not suffice."""

_PIECES = 16
"""Parts in which the samples are drawn, between which progress is shown."""

_PART_OF_ORPHANS = 0.25
"""Direct samples of orphans cost this part of the rest, at most.

With twice as much, an interval that has room for an orphan has half as much of it.
"""

_MOST_UNSEEN = 1 << 20
"""Direct samples of which none fails, after which the search ends."""

_REPLICAS = 64
"""Independent replicas of failing sets, for the errors of budgets. With half as many, these are less sure."""


class FaultNumberSum:
    """P(the decoder fails) for one circuit.

    Args:
        model: The mechanisms.
        log_odds: ln of their odds.
        test: The decoder.
        has_no_orphans: Whether each failing set is known to have a failing superset of one fault more; see
            ``answers.decoders.finds_least_weight``.

    Attributes:
        sized: The distribution of fault sets.
    """

    def __init__(
        self, model: FaultModel, log_odds: Floats, test: FailureTest, has_no_orphans: bool = False
    ) -> None:
        self._model = model
        self._classify = Classify(model, test)
        self._has_no_orphans = has_no_orphans
        self.sized = SizedSets(model, log_odds)
        self._plain = self._pilot = PlainCounts(model, log_odds, self._classify)
        self._counts = False
        self._exact = Enumeration(self.sized, self._classify)
        self._deletion: BackwardDeletion | None = None
        self._orphans: Orphans | None = None
        self._larger: DirectSamples | None = None

    @property
    def _tallies(self) -> list[Tally]:
        if self._counts:
            return [self._plain.tally]
        parts = (self._deletion, self._orphans, self._larger)
        return [each.tally for each in parts if each is not None and each.tally.samples]

    @property
    def _exact_means(self) -> Floats:
        return np.zeros_like(self._exact.means) if self._counts else self._exact.means

    @property
    def is_exact(self) -> bool:
        """Whether all fault sets were looked at."""
        return self._exact.is_complete and not self._counts

    @property
    def rates(self) -> Floats:
        """The rates of any observable, and of each: shape (1 + observables,)."""
        return np.minimum(sum((tally.means for tally in self._tallies), self._exact_means), 1.0)

    @property
    def rate(self) -> float:
        """The logical error rate."""
        return float(self.rates[0])

    @property
    def variances(self) -> Floats:
        """The variances of ``rates``."""
        return self._variances_of_samples() + self._unseen() ** 2

    def _variances_of_samples(self) -> Floats:
        # What orphans may add, of which none was seen, is in the interval.
        found = np.zeros_like(self._exact.means)
        for tally in self._tallies:
            is_of_orphans = self._orphans is not None and tally is self._orphans.tally
            found += tally.spreads if is_of_orphans and not tally.sums[0] else tally.variances
        return found

    @property
    def interval(self) -> tuple[float, float]:
        """(low, high): the interval of Fay and Feuer."""
        left_out = self._has_no_orphans and self._orphans is not None and not self._orphans.tally.sums[0]
        tallies = [
            tally
            for tally in self._tallies
            if not (left_out and self._orphans is not None and tally is self._orphans.tally)
        ]
        return interval_of_tallies(float(self._exact_means[0]), tallies, self._unseen())

    def _unseen(self) -> float:
        """The probability of fault numbers that nothing was seen of."""
        if self._counts or self._exact.is_complete:
            return 0.0
        least, law = self._exact.most + 1, self.sized.law
        if self._larger is not None and not self._larger.tally.samples:
            return self._larger.probability
        if self._orphans is not None and not self._orphans.tally.samples and not self._has_no_orphans:
            return self._orphans.probability
        return 0.0 if self._tallies else float(law[least:].sum())

    @property
    def orphans_left(self) -> tuple[int, int, int] | None:
        """The direct samples among which no orphan was found, and their least and largest fault number.

        None where it is known that there are none.
        """
        orphans = self._orphans
        if self._has_no_orphans or self._counts or orphans is None or orphans.tally.sums[0]:
            return None
        return orphans.tally.samples, orphans.least, orphans.most

    def count_pilot(self) -> None:
        """Falls back to the plain shots of the pilot, where nothing else says more."""
        variance = self._pilot.tally.variances[0]
        if self._pilot.failures and not (self.is_known and self.variances[0] < variance):
            self._plain, self._counts = self._pilot, True

    @property
    def is_known(self) -> bool:
        """Whether there is an estimate whose error can be believed."""
        if self._counts:
            return self._plain.failures > 0
        if self._exact.is_complete:
            return True
        larger = self._larger
        if larger is None:
            return self.rate > 0
        if self._deletion is not None and self._deletion.tally.effective_failures < _FEWEST_EFFECTIVE:
            return False
        return self.rate > 0 and (larger.tally.samples > 0 or not larger.probability)

    def run(
        self,
        relative_error: float,
        rng: np.random.Generator,
        check: Callable[[], None],
        report: Callable[[str], None],
    ) -> None:
        """Samples until the rate has an error.

        Args:
            relative_error: The error, over the rate.
            rng: What is drawn with.
            check: Is called now and then; may raise ``TimeIsOver`` to end the work.
            report: Is told how far it is.
        """
        if self._exact.may_be_complete:
            self._exact.run(check)
            if self._exact.is_complete:
                return
        if self._is_frequent(rng, check, report):
            self._count(relative_error, rng, check, report)
            return
        if self._exact.most < 0:
            self._exact.run(check)
        least = self._exact.most + 1
        start = self._start(least, rng, check)
        if start is None:
            self._larger = DirectSamples(self.sized, self._classify, least)
            self._sample_rest(relative_error, rng, check, report)
        else:
            self._delete(start, relative_error, rng, check, report)

    def _is_frequent(
        self, rng: np.random.Generator, check: Callable[[], None], report: Callable[[str], None]
    ) -> bool:
        plain = self._plain
        while plain.failures < _PILOT_FAILURES and plain.tally.samples < _MOST_PILOT_SHOTS:
            plain.take(_PILOT_SHOTS, rng, check)
        report(
            f"{self.sized.mean:.3g} faults per shot: {plain.failures} of {plain.tally.samples} shots failed"
        )
        return plain.failures >= _PLAIN_RATE * plain.tally.samples

    def _count(
        self,
        relative_error: float,
        rng: np.random.Generator,
        check: Callable[[], None],
        report: Callable[[str], None],
    ) -> None:
        """Counts other shots than those that were looked at for this choice."""
        self._plain = PlainCounts(self._model, self._log_odds(), self._classify)
        self._counts = True
        plain = self._plain
        while True:
            wanted = max(_FEWEST_FAILURES, (1 - self.rate) / relative_error**2)
            if plain.failures >= wanted:
                return
            plain.take(max(_PILOT_SHOTS, plain.tally.samples // 4), rng, check)
            report(f"{plain.failures:,} of {plain.tally.samples:,} shots failed")

    def _log_odds(self) -> Floats:
        found = np.zeros(self._model.num_mechanisms)
        found[self.sized.faults] = np.log(self.sized.odds)
        return found

    def _start(self, least: int, rng: np.random.Generator, check: Callable[[], None]) -> int | None:
        """The fault number of the samples of backward deletion; None: even large sets fail too rarely."""
        size = max(1, math.floor(self.sized.mean), least)
        while size <= self.sized.most:
            check()
            states = self.sized.drawn(size, _STEP_SHOTS, rng)
            wrong = self._classify(states.rows, states.numbers, remember=False)
            if fails(wrong).mean() >= _RATE_AT_START:
                return size
            size = max(size + 1, round(_GROWTH * size))
        return None

    def _sample_rest(
        self,
        relative_error: float,
        rng: np.random.Generator,
        check: Callable[[], None],
        report: Callable[[str], None],
    ) -> None:
        """Samples all numbers that were not enumerated, where deletion has nothing to start from."""
        larger = self._larger
        assert larger is not None
        samples = _FIRST_SHOTS
        while True:
            larger.take(samples, rng, check)
            report(f"{larger.tally.samples:,} sets of {larger.least} or more faults: rate {self.rate:.3g}")
            if float(self.variances[0]) <= (relative_error * self.rate) ** 2:
                return
            if not larger.tally.sums[0] and larger.tally.samples >= _MOST_UNSEEN:
                return
            samples = larger.tally.samples // 2

    def _delete(
        self,
        start: int,
        relative_error: float,
        rng: np.random.Generator,
        check: Callable[[], None],
        report: Callable[[str], None],
    ) -> None:
        least = self._exact.most + 1
        pilot = self._deletion = BackwardDeletion(self.sized, self._classify, start, least)
        larger = self._larger = DirectSamples(self.sized, self._classify, start + 1)
        if least < start:
            self._orphans = Orphans(self.sized, self._classify, least, start - 1)
        pilot.take(_FIRST_SHOTS, rng, check)
        while pilot.tally.effective_failures < _FEWEST_EFFECTIVE:
            self._report(report)
            pilot.take(max(_FIRST_SHOTS, pilot.tally.samples // 2), rng, check)
        if larger.probability:
            larger.take(_FIRST_SHOTS, rng, check)
        while larger.tally.variances[0] > _PART_OF_LARGER * (relative_error * self.rate) ** 2:
            larger.take(larger.tally.samples // 2, rng, check)
        # Samples that choose their own number say too little: a search ends early if few of them were heavy.
        others = pilot.costs * self._needed(pilot, relative_error) + larger.costs
        self._look_for_orphans(others, relative_error, rng, check)
        samples = math.ceil(self._needed(pilot, relative_error) * pilot.tally.samples)
        self._deletion = BackwardDeletion(self.sized, self._classify, start, least)
        try:
            piece = max(_FIRST_SHOTS, samples // _PIECES)
            for begin in range(0, samples, piece):
                self._deletion.take(min(piece, samples - begin), rng, check)
                self._report(report)
        except TimeIsOver:
            if self._deletion.tally.samples < pilot.tally.samples:
                self._deletion = pilot
            raise
        while not self.rate or float(self.variances[0]) > (relative_error * self.rate) ** 2:
            self._deletion.take(math.ceil(self._deletion.tally.samples * _GROWTH_AT_END), rng, check)
            self._report(report)

    def _needed(self, pilot: BackwardDeletion, relative_error: float) -> float:
        """How many times as many samples deletion needs, with what other samplers leave of the error."""
        of_pilot = float(pilot.tally.variances[0])
        others = float(self._variances_of_samples()[0]) - of_pilot
        rest = (relative_error * self.rate) ** 2 - others
        return max(1.0, _MARGIN * of_pilot / rest)

    def _look_for_orphans(
        self, others: float, relative_error: float, rng: np.random.Generator, check: Callable[[], None]
    ) -> None:
        """Takes direct samples of orphans, as long as they matter and cost little."""
        orphans = self._orphans
        if orphans is None:
            return
        samples = _FIRST_SHOTS
        while float(orphans.tally.variances[0]) > (_PART_OF_LARGER * relative_error * self.rate) ** 2:
            if orphans.costs > _PART_OF_ORPHANS * others and not orphans.tally.sums[0]:
                break
            orphans.take(samples, rng, check)
            samples = max(_FIRST_SHOTS, orphans.tally.samples // 2)

    def _report(self, report: Callable[[str], None]) -> None:
        deletion = self._deletion
        assert deletion is not None
        found = f"{deletion.failures:,} of {deletion.tally.samples:,} sets of {deletion.start} faults failed"
        if self.is_known:  # before, larger sets are missing, or the error is too small
            found += f": {self.rate:.3g} ± {math.sqrt(float(self.variances[0])) / self.rate:.1%}"
        report(found)

    def reached(self) -> str:
        """How far a search came that ended before the rate was known."""
        if self._deletion is not None:
            found = self._deletion
            return f"when {found.failures:,} sets of {found.start} faults had failed, which do not suffice"
        if self._larger is not None:
            samples = self._larger.tally.samples
            return f"when none of {samples:,} sets of {self._larger.least} or more faults had failed"
        if self._exact.most >= 0:
            return f"when all sets of up to {self._exact.most} faults had been looked at"
        return f"when {self._pilot.failures} of {self._pilot.tally.samples:,} shots had failed"

    def bound(self) -> float:
        """An upper limit of the rate (95%)."""
        plain, found = self._pilot.tally, [1.0]
        if plain.samples:
            found.append(interval_of_tallies(0.0, [plain])[1])
        if self._exact.most >= 0 and self._larger is not None and self._larger.tally.samples:
            found.append(self.interval[1])
        return min(found)

    def strata(self) -> tuple[RateStratum, ...]:
        """The rates of the fault numbers, and of all beyond those of deletion."""
        if self._counts:
            error, tally = math.sqrt(float(self.variances[0])), self._plain.tally
            counts = tally.samples, self._plain.failures
            return (_stratum(0, None, "direct samples", 1.0, *counts, self.rate, error),)
        law = self.sized.law.tolist()
        found = [
            _stratum(size, size, "enumerated", law[size], *self._exact.counts[size], rate, 0.0)
            for size, rate in enumerate(self._exact.by_size)
        ]
        means, variances = np.zeros((2, len(law)))
        for part in (self._deletion, self._orphans):
            if part is not None and part.tally.samples:
                mean = part.sums / part.tally.samples
                means += mean
                variances += np.maximum(part.squares / part.tally.samples - mean**2, 0) / part.tally.samples
        deletion = self._deletion
        for size in np.flatnonzero(means).tolist():
            assert deletion is not None
            # Sets of the largest number are drawn; those of smaller numbers are subsets of them.
            counts = (deletion.tally.samples, deletion.failures) if size == deletion.start else (0, 0)
            error = math.sqrt(float(variances[size]))
            found.append(
                _stratum(size, size, "backward deletion", law[size], *counts, float(means[size]), error)
            )
        larger = self._larger
        if larger is not None and larger.tally.samples:
            error, rate = math.sqrt(float(larger.tally.variances[0])), float(larger.tally.means[0])
            counts = larger.tally.samples, larger.failures
            found.append(
                _stratum(larger.least, None, "direct samples", larger.probability, *counts, rate, error)
            )
        return tuple(found)

    def failing_sets(self) -> FailingSets:
        """Failing sets, each as likely to be among them as in a shot that fails."""
        parts: list[tuple[WeightedSets, int]] = [(self._plain.found, 1)]
        if not self._counts:
            sampled = (self._deletion, self._orphans, self._larger)
            parts = [(self._exact.found(), 1)]
            parts += [(each.found, max(each.tally.samples, 1)) for each in sampled if each is not None]
        rng = np.random.default_rng(0)
        joined = WeightedSets(self._model.num_observables, keeps_all=True)
        for found, samples in parts:
            owners = np.where(
                found.owners == EXACT, EXACT, found.owners + int(joined.owners.max(initial=0)) + 1
            )
            joined.add(found.members, found.numbers, found.wrong, found.weights / samples, owners, rng)
        members = -np.sort(-joined.members, axis=1)
        return FailingSets(
            members=members[:, : max(1, int((members >= 0).sum(axis=1).max(initial=0)))],
            numbers=joined.numbers,
            replicas=np.where(joined.owners == EXACT, EXACT, joined.owners % _REPLICAS),
            weights=joined.weights,
        )


def _stratum(
    least: int,
    most: int | None,
    method: str,
    probability: float,
    sets: int,
    wrong: int,
    rate: float,
    error: float,
) -> RateStratum:
    """A stratum of fault numbers, of which all shots are accepted."""
    name = name_of_faults(least, most)
    draws = 0 if method == "enumerated" else sets
    return RateStratum(name, method, probability, sets, wrong, probability, rate, error, least, most, draws)
