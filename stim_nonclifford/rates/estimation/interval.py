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

from functools import lru_cache

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
