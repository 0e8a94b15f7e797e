"""Confidence intervals for sums of few weighted events.

M. P. Fay, E. J. Feuer, Statistics in Medicine 16, 791 (1997): the sum T of weighted Poisson counts has about
the distribution of a scaled gamma variable with its mean and variance. For one weight the interval is the
exact one of Garwood (1936); where nothing was counted it ends at the largest weight times
ln(2 / (1 - coverage)).

Of counts from several samples, too, the one more event is the largest of any sample, and not one of each.
Where nothing was counted, this is proven: let the samples have events of weights w_i <= W and means m_i. If
the sum of all w_i m_i is above W ln(2 / (1 - coverage)), the sum of all m_i is above ln(2 / (1 - coverage)).
So nothing is counted with a probability below (1 - coverage) / 2, however many samples there are. Where
something was counted, it is Fay and Feuer's formula, whose largest weight is that of all cells of a table.
That this covers is not proven. It did in their simulations, and it does in those of the tests.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

__all__ = ["COVERAGE", "gamma_quantile", "interval_of_weighted_sum", "upper_limit_of_weighted_sum"]

COVERAGE = 0.95
"""The probability with which an interval of a result contains the true value."""


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
        low = variance / total * gamma_quantile(total**2 / variance, (1 - coverage) / 2)
    elif total > 0:
        low = total
    return low, max(low, upper_limit_of_weighted_sum(total, variance, largest, coverage))


def upper_limit_of_weighted_sum(total: float, variance: float, largest: float, coverage: float) -> float:
    """The upper one of the limits of ``interval_of_weighted_sum``; arguments as there."""
    if largest == 0:
        return total
    total, variance = total + largest, variance + largest**2
    return variance / total * gamma_quantile(total**2 / variance, 1 - (1 - coverage) / 2)


_LARGE_SHAPE = 100.0
"""From this shape on, the density is integrated; below, its series is added up. Doubled, the series needs
more terms."""

_TERMS = np.arange(1.0, 513.0)
"""Terms of the series: for quantiles of smaller shapes, those beyond are far below rounding errors. Twice as
many take twice the time."""

_DEVIATIONS = 9.0
"""Standard deviations below the mean where the integral begins. Doubled, nodes are half as dense."""

_NODES = 64
"""Nodes of the integral. Doubled, it takes twice the time, and is not more accurate."""

_MOST_STEPS = 100
"""Steps of Newton's method, at most; a few suffice. Doubled, nothing changes."""

_LAST_STEP = 1e-9
"""After a step as small, in units of which the function bends, the next one is a rounding error. Doubled, it
still is."""


@lru_cache(maxsize=256)
def gamma_quantile(shape: float, probability: float) -> float:
    """Where the distribution function of a gamma variable of scale 1 has a value.

    It is ``scipy.special.gammaincinv``, whose import takes longer than many an estimate.

    Args:
        shape: a > 0: the mean of the variable.
        probability: 0 < probability < 1.

    Returns:
        x with P(a, x) = probability, with P the regularized incomplete gamma function.

    Examples:
        >>> round(gamma_quantile(1.0, 0.975), 12) == round(math.log(40), 12)
        True
    """
    return _by_integral(shape, probability) if shape >= _LARGE_SHAPE else _by_series(shape, probability)


def _by_series(shape: float, probability: float) -> float:
    """Newton's method for ln P as a function of ln x.

    P(a, x) = x^a exp(-x) / Gamma(a + 1) * S with S = 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ..., and
    the derivative is a / S. The function is concave, and the beginning is below the solution, as
    x^a / Gamma(a + 1) is above P. So all steps stay below.
    """
    of_one = math.lgamma(shape + 1)
    log_x = (math.log(probability) + of_one) / shape
    for _ in range(_MOST_STEPS):
        x = math.exp(log_x)
        series = 1 + float(np.cumprod(x / (shape + _TERMS)).sum())
        step = series / shape * (math.log(probability / series) + x + of_one - shape * log_x)
        log_x += step
        if abs(step) <= _LAST_STEP / max(1.0, shape):
            break
    return math.exp(log_x)


def _by_integral(shape: float, probability: float) -> float:
    """Newton's method for P, from the mean on.

    With x = a (1 + m), P(a, x) is sqrt(a / 2 pi) / G times the integral over s < m of
    exp(-a (s - ln(1 + s))) / (1 + s), with G = exp(1 / 12 a - 1 / 360 a^3 + 1 / 1260 a^5) (Stirling). It is
    convex below the mode, and concave above.
    """
    sigma = 1 / math.sqrt(shape)
    stirling = 1 / (12 * shape) - 1 / (360 * shape**3) + 1 / (1260 * shape**5)
    factor = math.exp(-stirling) / math.sqrt(2 * math.pi) / sigma
    nodes, weights = _legendre()
    begin, end = -_DEVIATIONS * sigma, 0.0
    for _ in range(_MOST_STEPS):
        at = begin + (end - begin) * nodes
        densities = factor * np.exp(-shape * (at - np.log1p(at))) / (1 + at)
        below = (end - begin) * float((weights * densities).sum())
        density = factor * math.exp(-shape * (end - math.log1p(end))) / (1 + end)
        step = (probability - below) / density
        end = max(end + step, begin / 2 + end / 2)
        if abs(step) <= _LAST_STEP * sigma:
            break
    return shape * (1 + end)


@lru_cache
def _legendre() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Nodes and weights of Gauss and Legendre for the interval from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return (nodes + 1) / 2, weights / 2
