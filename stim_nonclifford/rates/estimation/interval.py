"""Logical error rates from tallies: sums over strata, ratios, standard errors and confidence intervals.

The rate per accepted shot is R = Y / K, with Y the sum of the means of ``WRONG`` over all tallies, and K that
of ``ACCEPTED``, or 1 if no shot is discarded. To first order (delta method) its variance is V / K², with

    V = sum over tallies of (var W - 2 R cov(W, A) + R² var A),

and the zero-count bound is the largest one of any tally, b = max w / n, or of a list of fault sets that was
drawn: one more set of such a list adds its probability times that of a gap, which is at most the largest one
of any stratum. The standard error is sqrt(V + b²) / K. The interval is that of M. P. Fay and E. J. Feuer
(Statistics in Medicine 16, 791, 1997) for a sum of weighted counts with a mean, the variance V and the
largest weight b; what was enumerated is a known summand. Where most accepted shots are wrong, it is the
interval of those that are right.

**Intervals** of sums of few weighted events: a sum of weighted Poisson counts has about the distribution of a
scaled gamma variable with its mean and variance. For one weight the interval is the exact one of Garwood
(1936); where nothing was counted it ends at the largest weight times ln(2 / (1 - coverage)).

Of counts from several samples, too, the one more event is the largest of any sample, and not one of each.
Where nothing was counted, this is proven: let the samples have events of weights w_i <= W and means m_i. If
the sum of all w_i m_i is above W ln(2 / (1 - coverage)), the sum of all m_i is above ln(2 / (1 - coverage)).
So nothing is counted with a probability below (1 - coverage) / 2, however many samples there are. Where
something was counted, it is Fay and Feuer's formula, whose largest weight is that of all cells of a table.
That this covers is not proven. It did in their simulations, and it does in those of the tests.

**Uncertainty.** A standard error knows of what was sampled. An interval also knows of what was not found, and
of what was not evaluated. Where it is wider than ``NARROW`` standard errors on a side, the standard error
says too little. The one that holds is printed, and decides when a search stops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ...base.arrays import Floats, Indices, Integers
from .tally import ACCEPTED, Tally

COVERAGE = 0.95
"""The probability with which an interval of a result contains the true value."""

ROUNDING = 1e-12
"""Relative error of rates without any other one."""

NARROW = 3.0
"""Standard errors that an interval may reach on a side, for the standard error to describe it. Doubled, rates
are printed with a standard error where their interval is twice as wide."""

_SHOWN_DIGITS = 5e-7
"""Relative error of a rate with six digits. Doubled, its last digit may be wrong where it is called exact."""


@dataclass(frozen=True)
class Ratio:
    """A rate per accepted shot."""

    rate: float
    standard_error: float  # its standard error, with the zero-count bound
    interval: tuple[float, float]  # (low, high): holds the rate with a probability of 95%


@dataclass(frozen=True)
class Sums:
    """Sums over tallies at several least gaps; arrays have the shape (gaps,) or (tallies, gaps)."""

    accepted: Floats  # K, the probability that a shot is accepted with at least the gap
    accepted_variance: Floats  # its variance
    wrong: Floats  # Y, the probability that it is wrong, too
    wrong_variance: Floats  # its variance
    exact: Floats  # the part of Y that was enumerated
    unseen: Floats  # the zero-count bound of each tally
    shares: Floats  # the part of each tally in Y
    variances: Floats  # the contribution of each tally to V
    variance: Floats  # V, with the uncertainty of the strata's probabilities
    unlisted_bounds: Floats  # what one fault set more in a stratum would add to Y

    @property
    def bounds(self) -> Floats:
        """The largest zero-count bound of any tally, at each gap."""
        return np.asarray(self.unseen.max(axis=0))

    def bound(self, place: int) -> float:
        """The zero-count bound b at one of the gaps."""
        return max(float(self.bounds[place]), float(self.unlisted_bounds[place]))

    @property
    def relative_errors(self) -> Floats:
        """What more samples reduce of standard error over rate, at each gap; 0 if all is exact."""
        errors = np.sqrt(self.variances.sum(axis=0) + self.bounds**2)
        rates = np.where(self.wrong > 0, self.wrong, np.where(errors > 0, 1e-300, 1.0))
        return np.asarray(errors / rates)

    def ratio(self, place: int, accepted: float, bound: float | None = None) -> Ratio:
        """The rate per accepted shot, of K, at a gap; the interval may have another bound than b."""
        wrong, variance, exact = (float(each[place]) for each in (self.wrong, self.variance, self.exact))
        own = self.bound(place)
        wider = ratio_of(wrong, accepted, variance, own if bound is None else bound, exact)
        return replace(ratio_of(wrong, accepted, variance, own, exact), interval=wider.interval)


def ratio_of(wrong: float, accepted: float, variance: float, bound: float, exact: float = 0.0) -> Ratio:
    """The rate per accepted shot, from Y, K, V, b and the part of Y that is known exactly."""
    if accepted <= 0:
        return Ratio(0.0, math.inf, (0.0, 1.0))
    if not variance and not bound:
        rate = wrong / accepted
        return Ratio(rate, 0.0, (rate * (1 - ROUNDING), min(1.0, rate * (1 + ROUNDING))))
    right = accepted - wrong
    if wrong > right:
        low, high = interval_of_weighted_sum(max(right, 0.0), variance, bound)
        low, high = accepted - high, accepted - low
    else:
        low, high = interval_of_weighted_sum(max(wrong - exact, 0.0), variance, bound)
        low, high = exact + low, exact + high
    interval = max(0.0, low / accepted) * (1 - ROUNDING), min(1.0, high / accepted * (1 + ROUNDING))
    return Ratio(wrong / accepted, math.sqrt(variance + bound**2) / accepted, interval)


@dataclass(frozen=True)
class Unlisted:
    """What accepted fault sets may add that belong to no stratum."""

    wrong: Floats | float = 0.0  # about their part of Y: shape (gaps,)
    accepted: float = 0.0  # about their probability
    bound: float = 0.0  # the zero-count bound of the strata's probabilities, if fault sets were drawn


def sums_over(
    tallies: Sequence[Tally],
    least_gaps: Integers,
    strata: Indices,
    relative_errors: Floats,
    unlisted: Unlisted,
    quantity: int,
    all_are_accepted: bool,
) -> Sums:
    """Sums over tallies, each of which belongs to one of the strata.

    The probabilities of strata have relative errors, which all tallies of a stratum share. The quantity is
    ``WRONG``, or that of an observable. If no shot is discarded, K is 1. Gaps ascend, and all shots of a
    stratum have the first one.
    """
    means = np.array([tally.means(least_gaps) for tally in tallies])
    spreads = np.array([tally.variances(least_gaps) for tally in tallies])
    wrong, accepted = means[:, quantity], means[:, ACCEPTED]
    of_wrong, together = spreads[:, 0, quantity], spreads[:, 1, quantity]
    of_accepted = spreads[:, 0, ACCEPTED]
    all_wrong, all_accepted = wrong.sum(axis=0), accepted.sum(axis=0)
    rates = all_wrong / np.maximum(all_accepted, 1e-300)
    if all_are_accepted:
        all_accepted, rates = np.ones(len(least_gaps)), np.zeros(len(least_gaps))
    variances = np.maximum(of_wrong - 2 * rates * together + rates**2 * of_accepted, 0)
    squares = relative_errors[:, np.newaxis] ** 2
    belongs = (strata == np.arange(len(relative_errors))[:, np.newaxis]).astype(np.float64)
    by_stratum = belongs @ accepted, belongs @ wrong
    of_listing = (squares * (by_stratum[1] - rates * by_stratum[0]) ** 2).sum(axis=0)
    of_accepted = of_accepted.sum(axis=0) + (squares * by_stratum[0] ** 2).sum(axis=0)
    of_wrong = of_wrong.sum(axis=0) + (squares * by_stratum[1] ** 2).sum(axis=0)
    of_unlisted = (unlisted.wrong * all_wrong) ** 2
    is_exact = np.array([tally.is_exact for tally in tallies]) & (relative_errors[strata] == 0)
    return Sums(
        accepted=all_accepted,
        accepted_variance=of_accepted + unlisted.accepted**2,
        wrong=all_wrong,
        wrong_variance=of_wrong + of_unlisted,
        exact=wrong[is_exact].sum(axis=0),
        unseen=np.array([tally.bounds(least_gaps) for tally in tallies]),
        shares=wrong,
        variances=variances,
        variance=variances.sum(axis=0) + of_listing + of_unlisted + (rates * unlisted.accepted) ** 2,
        unlisted_bounds=unlisted.bound
        * (by_stratum[0] / np.maximum(by_stratum[0][:, :1], 1e-300)).max(axis=0),
    )


def interval_of_weighted_sum(total: float, variance: float, largest: float) -> tuple[float, float]:
    """Limits for the mean of a sum of weighted Poisson counts, with the probability ``COVERAGE``.

    The variance is the sum of the squares of the weights, the largest one that of any event, counted or not.

    Examples:
        >>> low, high = interval_of_weighted_sum(4.0, 4.0, 1.0)  # four events
        >>> round(low, 2), round(high, 2)
        (1.09, 10.24)
        >>> low, high = interval_of_weighted_sum(0.0, 0.0, 1.0)  # none: up to ln 40
        >>> low, round(high, 6)
        (0.0, 3.688879)
    """
    low, tail = max(total, 0.0), (1 - COVERAGE) / 2
    if total > 0 and variance > 0:
        low = variance / total * _gamma_quantile(total**2 / variance, tail)
    if largest == 0:
        return low, max(low, total)
    total, variance = total + largest, variance + largest**2
    return low, max(low, variance / total * _gamma_quantile(total**2 / variance, 1 - tail))


@lru_cache(maxsize=256)
def _gamma_quantile(shape: float, probability: float) -> float:
    from scipy.special import gammaincinv  # takes as long to import as Sinter and this package

    return float(gammaincinv(shape, probability))


def uncertainty_of(rate: float, standard_error: float, interval: tuple[float, float]) -> float:
    """The larger of the standard error and a third of the distance to the farther end of the interval.

    Where the interval is narrow that is the standard error.

    Examples:
        >>> uncertainty_of(1.0, 0.1, (0.8, 1.2))
        0.1
        >>> uncertainty_of(1.0, 0.1, (0.8, 4.0))
        1.0
    """
    return max(standard_error, _reach(rate, interval) / NARROW)


def is_narrow(rate: float, standard_error: float, interval: tuple[float, float]) -> bool:
    """Whether the standard error describes the uncertainty; arguments as in ``uncertainty_of``.

    Two standard errors that are more than the rate do not: a rate is not negative.
    """
    return 2 * standard_error <= rate and _reach(rate, interval) <= NARROW * standard_error


def rate_text(
    rate: float, standard_error: float, interval: tuple[float, float], coverage: float = COVERAGE
) -> str:
    """Six digits of a rate with the uncertainty that holds: its standard error, or its interval.

    Examples:
        >>> rate_text(3.31766e-9, 2.9e-11, (3.26e-9, 3.38e-9))
        '3.31766e-09 ± 2.9e-11'
        >>> rate_text(1.958e-11, 9.2e-13, (1.78e-11, 2.7e-8))
        '1.958e-11 (95% interval: 1.78e-11 to 2.7e-08)'
        >>> rate_text(0.25, 0.0, (0.25, 0.25))
        '0.25 (exact)'
        >>> rate_text(0.0, 0.0, (0.0, 3e-12))
        'at most 3e-12 (95% interval), as no malignant set was found'
    """
    low, high = interval
    if not rate:
        limit = f"at most {high:.3g} ({coverage:.0%} interval), as no malignant set was found"
        return limit if high else "0 (exact)"
    if _reach(rate, interval) <= _SHOWN_DIGITS * rate:
        return f"{rate:.6g} (exact)"
    if is_narrow(rate, standard_error, interval):
        return f"{rate:.6g} ± {standard_error:.2g}"
    return f"{rate:.6g} ({coverage:.0%} interval: {low:.6g} to {high:.6g})"


def _reach(rate: float, interval: tuple[float, float]) -> float:
    low, high = interval
    return max(high - rate, rate - low)
