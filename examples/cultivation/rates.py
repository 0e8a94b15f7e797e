"""Rates with error bars, in the form in which the examples print them."""

from __future__ import annotations

import math

import scipy.stats
import sinter

from stim_nonclifford.rates.estimation.interval import is_narrow

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


def with_uncertainty(value: float, error: float, interval: tuple[float, float]) -> str:
    """A value with its standard error, or with the far end of its 95% interval, if that is no guide.

    Examples:
        >>> with_uncertainty(3.3284e-9, 2.9e-11, (3.27e-9, 3.39e-9))
        '3.328(29)e-09'
        >>> with_uncertainty(1.958e-11, 9.2e-13, (1.78e-11, 2.7e-8))
        '1.958e-11 (to 2.7e-08)'
        >>> with_uncertainty(1.958e-11, 9.2e-13, (1e-15, 2e-11))
        '1.958e-11 (from 1e-15)'
    """
    low, high = interval
    if high - low < 1e-6 * value or is_narrow(value, error, interval):
        return with_error(value, error)
    far = f"to {high:.4g}" if high - value > value - low else f"from {low:.4g}"
    return f"{value:.4g} ({far})"


def with_error(value: float, error: float) -> str:
    """A value and its standard error with two digits.

    Examples:
        >>> with_error(3.3284e-9, 2.9e-11)
        '3.328(29)e-09'
        >>> with_error(9.7, 0.1234)
        '9.70(12)'
        >>> with_error(2e-9, 0.0)
        '2.000000e-09'
    """
    if not error:
        return f"{value:.6e}"
    exponent = 0 if 0.01 <= value < 1000 else math.floor(math.log10(value))
    digits = min(9, max(0, 1 - math.floor(math.log10(error / 10**exponent))))
    shown = f"{value / 10**exponent:.{digits}f}({round(error / 10**exponent * 10**digits)})"
    return shown + (f"e{exponent:+03}" if exponent else "")


def quotient(t: tuple[float, float, tuple[float, float]], s: tuple[float, float, tuple[float, float]]) -> str:
    """The quotient of two values, each with its standard error and its 95% interval.

    Its interval is that of the farthest ends.

    Examples:
        >>> t = 2e-9, 2e-11, (1.96e-9, 2.04e-9)
        >>> quotient(t, (1e-9, 1e-11, (0.98e-9, 1.02e-9)))
        '2.000(28)'
        >>> quotient(t, (1e-9, 1e-11, (0.98e-9, 1e-7)))
        '2 (from 0.0196)'
    """
    value = t[0] / s[0]
    error = value * math.hypot(t[1] / t[0], s[1] / s[0])
    return with_uncertainty(value, error, (t[2][0] / s[2][1], t[2][1] / s[2][0]))
