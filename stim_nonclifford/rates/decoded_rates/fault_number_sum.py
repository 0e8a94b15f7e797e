"""The logical error rate of a circuit whose shots are all accepted, as a sum over the number of faults.

    rate = sum over k of P(k faults act) P(the decoder fails, given k)

The first factor is known exactly. Of small k, all fault sets are enumerated. Beyond, the second factor is
estimated without a bias: up to some k by backward deletion from there and direct samples of orphans, which
deletion cannot reach; and of larger k by direct samples: plain shots, if these are all k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from ..estimation.failing_sets import FailingSets
from ..estimation.ratios import Ratio, Sums, sums_over
from ..estimation.tally import WRONG, Tally
from ..results import RateStratum
from ..results.strata import name_of_faults
from ..samplers.backward_deletion import BackwardDeletion, Orphans
from ..samplers.direct_samples import DirectSamples
from ..samplers.enumeration import Enumeration
from ..samplers.sampler import Sampler
from ..samplers.strata import Stratum

FEWEST_FAILURES = 64
"""Effective failing samples before their variance is believed, and a count or a pilot ends: a count that ends
at n failures has a rate that is 1/n too large on average. Doubled, errors are surer, and coarse ones take
twice as long."""


@dataclass
class FaultNumberSum:
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
        if self.deletion is not None and self.deletion.tally.effective_failures < FEWEST_FAILURES:
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
