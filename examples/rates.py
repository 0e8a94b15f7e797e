"""Rates with error bars, in the form in which the examples print them."""

from __future__ import annotations

import math

import scipy.stats
import sinter

LIKELIHOOD_FACTOR = 1000
"""Error bars include all rates whose likelihood is within this factor of the best one."""


def interval(hits: float, shots: float) -> str:
    """A rate and its error bar.

    Examples:
        >>> interval(7, 10_000_000)
        '7e-07 [1.13e-07, 2.19e-06]'
    """
    if not shots:
        return "-"
    low, best, high = likelihood_region(hits, shots)
    return f"{best:.4g} [{low:.3g}, {high:.3g}]"


def likelihood_region(hits: float, shots: float) -> tuple[float, float, float]:
    """The smallest, the best and the largest rate of the error bar.

    Examples:
        >>> low, best, high = likelihood_region(7, 10_000_000)
        >>> best
        7e-07
    """
    fit = sinter.fit_binomial(
        num_shots=round(shots), num_hits=round(hits), max_likelihood_factor=LIKELIHOOD_FACTOR
    )
    return fit.low, fit.best, fit.high


def p_value(hits: float, shots: float, rate: float) -> str:
    """The two-sided p-value of a binomial count for a given rate.

    Examples:
        >>> p_value(60, 100, 0.5)
        '0.0569'
    """
    if not shots:
        return "-"
    return f"{scipy.stats.binomtest(round(hits), round(shots), rate).pvalue:.3g}"


def ratio(hits: int, shots: int, other_hits: int, other_shots: int) -> str:
    """The ratio of two small rates and its error bar.

    Given the total number of hits, the number of hits in the first run is binomial, with a probability that
    depends on the ratio alone. The error bar is therefore that of the profile likelihood.

    Examples:
        >>> ratio(10, 1000, 5, 1000)
        '2 [0.279, 23.6]'
    """
    if not (hits + other_hits and shots and other_shots):
        return "-"
    fit = sinter.fit_binomial(
        num_shots=hits + other_hits, num_hits=hits, max_likelihood_factor=LIKELIHOOD_FACTOR
    )
    best, low, high = (
        share / (1 - share) * other_shots / shots if share < 1 - 1e-9 else math.inf
        for share in (fit.best, fit.low, fit.high)
    )
    return f"{best:.3g} [{low:.3g}, {high:.3g}]"
