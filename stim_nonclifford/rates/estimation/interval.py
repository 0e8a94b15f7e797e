"""Logical error rates from tallies: sums over strata, ratios, standard errors and confidence intervals.

The rate per accepted shot is R = Y / K, with Y the sum of the means of ``WRONG`` over all tallies, and K that
of ``ACCEPTED``, or 1 if no shot is discarded. To first order (delta method) its variance is V / K², with

    V = sum over tallies of (var W - 2 R cov(W, A) + R² var A),

and the zero-count bound is the largest one of any tally, b = max w / n, or of a list of fault sets that was
drawn. The standard error is sqrt(V + b²) / K. The interval is that of M. P. Fay and E. J. Feuer (Statistics
in Medicine 16, 791, 1997) for a sum of weighted counts with a mean, the variance V and the largest weight b;
what was enumerated is a known summand. Where most accepted shots are wrong, it is the interval of those that
are right.

**Intervals** of sums of few weighted events: a sum of weighted Poisson counts has about the distribution of a
scaled gamma variable with its mean and variance. For one weight the interval is the exact one of Garwood
(1936); where nothing was counted it ends at the largest weight times ln(2 / (1 - coverage)).

Of counts from several samples, too, the one more event is the largest of any sample, and not one of each.
Where nothing was counted, this is proven: let the samples have events of weights w_i <= W and means m_i. If
the sum of all w_i m_i is above W ln(2 / (1 - coverage)), the sum of all m_i is above ln(2 / (1 - coverage)).
So nothing is counted with a probability below (1 - coverage) / 2, however many samples there are. Where
something was counted, it is Fay and Feuer's formula, whose largest weight is that of all cells of a table.
That this covers is not proven. It did in their simulations, and it does in those of the tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .tally import ACCEPTED, WRONG, Tally

Floats = npt.NDArray[np.float64]

COVERAGE = 0.95
"""The probability with which an interval of a result contains the true value."""

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Ratio:
    """A rate per accepted shot.

    Attributes:
        rate: The rate.
        standard_error: Its standard error, with the zero-count bound.
        interval: (low, high): holds the rate with a probability of 95%.
    """

    rate: float
    standard_error: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Sums:
    """Sums over tallies at several least gaps; arrays have the shape (gaps,) or (tallies, gaps).

    Attributes:
        accepted: K, the probability that a shot is accepted with at least the gap.
        accepted_variance: Its variance.
        wrong: Y, the probability that it is wrong, too.
        wrong_variance: Its variance.
        exact: The part of Y that was enumerated.
        unseen: The zero-count bound of each tally.
        shares: The part of each tally in Y.
        variances: The contribution of each tally to V.
        variance: V, with the uncertainty of the strata's probabilities.
        unlisted_bound: What one fault set more in a stratum would add to Y.
    """

    accepted: Floats
    accepted_variance: Floats
    wrong: Floats
    wrong_variance: Floats
    exact: Floats
    unseen: Floats
    shares: Floats
    variances: Floats
    variance: Floats
    unlisted_bound: float = 0.0

    @property
    def bounds(self) -> Floats:
        """The largest zero-count bound of any tally, at each gap."""
        return np.asarray(self.unseen.max(axis=0))

    def bound(self, place: int) -> float:
        """The zero-count bound b at one of the gaps."""
        return max(float(self.bounds[place]), self.unlisted_bound)

    @property
    def relative_errors(self) -> Floats:
        """What more samples reduce of standard error over rate, at each gap; 0 if all is exact."""
        errors = np.sqrt(self.variances.sum(axis=0) + self.bounds**2)
        rates = np.where(self.wrong > 0, self.wrong, np.where(errors > 0, 1e-300, 1.0))
        return np.asarray(errors / rates)

    def ratio(self, place: int, accepted: float, bound: float | None = None) -> Ratio:
        """The rate per accepted shot, of which there are K, at one of the gaps.

        The interval has the zero-count bound of the gap, or another one.
        """
        wrong, exact = float(self.wrong[place]), float(self.exact[place])
        own = self.bound(place)
        found = ratio_of(wrong, accepted, float(self.variance[place]), own, exact)
        if bound is None or bound == own:
            return found
        wider = ratio_of(wrong, accepted, float(self.variance[place]), bound, exact)
        return Ratio(found.rate, found.standard_error, wider.interval)


def ratio_of(wrong: float, accepted: float, variance: float, bound: float, exact: float = 0.0) -> Ratio:
    """The rate per accepted shot, from Y, K, V, b and the part of Y that is known exactly.

    Examples:
        >>> found = ratio_of(0.0, 1.0, 0.0, 1e-3)  # none of a thousand shots is wrong
        >>> found.rate, found.standard_error, round(found.interval[1], 6)
        (0.0, 0.001, 0.003689)
    """
    if accepted <= 0:
        return Ratio(0.0, math.inf, (0.0, 1.0))
    if not variance and not bound:
        rate = wrong / accepted
        return Ratio(rate, 0.0, (rate * (1 - _ROUNDING), min(1.0, rate * (1 + _ROUNDING))))
    right = accepted - wrong
    if wrong > right:
        low, high = interval_of_weighted_sum(max(right, 0.0), variance, bound, COVERAGE)
        low, high = accepted - high, accepted - low
    else:
        low, high = interval_of_weighted_sum(max(wrong - exact, 0.0), variance, bound, COVERAGE)
        low, high = exact + low, exact + high
    interval = max(0.0, low / accepted) * (1 - _ROUNDING), min(1.0, high / accepted * (1 + _ROUNDING))
    return Ratio(wrong / accepted, math.sqrt(variance + bound**2) / accepted, interval)


def sums_over(
    tallies: Sequence[Tally],
    least_gaps: npt.NDArray[np.int64],
    strata: npt.NDArray[np.intp],
    relative_errors: Floats,
    unlisted: Floats | float = 0.0,
    unlisted_accepted: float = 0.0,
    unlisted_bound: float = 0.0,
    quantity: int = WRONG,
    all_are_accepted: bool = False,
) -> Sums:
    """Sums over tallies.

    Args:
        tallies: The tallies.
        least_gaps: int64, shape (gaps,).
        strata: intp, shape (tallies,): the stratum of each tally.
        relative_errors: float64, shape (strata,): standard error over value of the probabilities of strata,
            which are common to all tallies of a stratum.
        unlisted: float64, shape (gaps,): about what part of Y no stratum has.
        unlisted_accepted: About what probability of accepted shots no stratum has.
        unlisted_bound: The zero-count bound of the strata's fault sets, if these were drawn.
        quantity: ``WRONG``, or that of an observable.
        all_are_accepted: Whether no shot is discarded: K is 1 then.
    """
    means = np.array([tally.means(least_gaps) for tally in tallies])
    spreads = np.array([tally.variances(least_gaps) for tally in tallies])
    wrong, accepted = means[:, quantity], means[:, ACCEPTED]
    of_wrong, together = spreads[:, 0, quantity], spreads[:, 1, quantity]
    of_accepted = spreads[:, 0, ACCEPTED]
    all_wrong = wrong.sum(axis=0)
    if all_are_accepted:
        all_accepted, rates = np.ones(len(least_gaps)), np.zeros(len(least_gaps))
    else:
        all_accepted = accepted.sum(axis=0)
        rates = all_wrong / np.maximum(all_accepted, 1e-300)
    variances = np.maximum(of_wrong - 2 * rates * together + rates**2 * of_accepted, 0)
    squares = relative_errors[:, np.newaxis] ** 2
    belongs = (strata == np.arange(len(relative_errors))[:, np.newaxis]).astype(np.float64)
    by_stratum = belongs @ accepted, belongs @ wrong
    of_listing = (squares * (by_stratum[1] - rates * by_stratum[0]) ** 2).sum(axis=0)
    is_exact = np.array([tally.is_exact for tally in tallies]) & (relative_errors[strata] == 0)
    return Sums(
        accepted=all_accepted,
        accepted_variance=of_accepted.sum(axis=0)
        + (squares * by_stratum[0] ** 2).sum(axis=0)
        + unlisted_accepted**2,
        wrong=all_wrong,
        wrong_variance=of_wrong.sum(axis=0)
        + (squares * by_stratum[1] ** 2).sum(axis=0)
        + (unlisted * all_wrong) ** 2,
        exact=wrong[is_exact].sum(axis=0),
        unseen=np.array([tally.bounds(least_gaps) for tally in tallies]),
        shares=wrong,
        variances=variances,
        variance=variances.sum(axis=0)
        + of_listing
        + (unlisted * all_wrong) ** 2
        + (rates * unlisted_accepted) ** 2,
        unlisted_bound=unlisted_bound,
    )


def interval_of_weighted_sum(
    total: float, variance: float, largest: float, coverage: float
) -> tuple[float, float]:
    """Limits for the mean of a sum of weighted Poisson counts.

    Args:
        total: The sum of the weights of the events that were counted.
        variance: The sum of their squares.
        largest: The largest weight that an event can have, counted or not.
        coverage: Of the interval, for example 0.95.

    Returns:
        (low, high).

    Examples:
        >>> low, high = interval_of_weighted_sum(4.0, 4.0, 1.0, 0.95)  # four events
        >>> round(low, 2), round(high, 2)
        (1.09, 10.24)
        >>> low, high = interval_of_weighted_sum(0.0, 0.0, 1.0, 0.95)  # none: up to ln 40
        >>> low, round(high, 6)
        (0.0, 3.688879)
    """
    low = 0.0
    if total > 0 and variance > 0:
        low = variance / total * _gamma_quantile(total**2 / variance, (1 - coverage) / 2)
    elif total > 0:
        low = total
    return low, max(low, upper_limit_of_weighted_sum(total, variance, largest, coverage))


def upper_limit_of_weighted_sum(total: float, variance: float, largest: float, coverage: float) -> float:
    """The upper one of the limits of ``interval_of_weighted_sum``; arguments as there."""
    if largest == 0:
        return total
    total, variance = total + largest, variance + largest**2
    return variance / total * _gamma_quantile(total**2 / variance, 1 - (1 - coverage) / 2)


@lru_cache(maxsize=256)
def _gamma_quantile(shape: float, probability: float) -> float:
    from scipy.special import gammaincinv  # takes as long to import as Sinter and this package

    return float(gammaincinv(shape, probability))
