"""Confidence intervals for sums of few weighted events.

M. P. Fay, E. J. Feuer, Statistics in Medicine 16, 791 (1997): the sum T of weighted Poisson counts has about
the distribution of a scaled gamma variable with its mean and variance. For one weight the interval is the
exact one of Garwood (1936); where nothing was counted it ends at the largest weight times
ln(2 / (1 - coverage)).
"""

from __future__ import annotations

__all__ = ["COVERAGE", "interval_of_weighted_sum"]

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
    from scipy.special import gammaincinv  # takes as long to import as this package

    tail = (1 - coverage) / 2
    low = 0.0
    if total > 0 and variance > 0:
        low = variance / total * float(gammaincinv(total**2 / variance, tail))
    elif total > 0:
        low = total
    if largest == 0:
        return low, max(low, total)
    total, variance = total + largest, variance + largest**2
    return low, variance / total * float(gammaincinv(total**2 / variance, 1 - tail))
