"""The uncertainty of an estimated rate: the one that holds is printed, and decides when a search stops.

A standard error knows of what was sampled. An interval also knows of what was not found, and of what was not
evaluated. Where it is wider than ``NARROW`` standard errors on a side, the standard error says too little.
"""

from __future__ import annotations

from .interval import COVERAGE

NARROW = 3.0
"""Standard errors that an interval may reach on a side, for the standard error to describe it. Doubled, rates
are printed with a standard error where their interval is twice as wide."""

_SHOWN_DIGITS = 5e-7
"""Relative error of a rate with six digits. Doubled, its last digit may be wrong where it is called exact."""

Interval = tuple[float, float]


def uncertainty_of(rate: float, standard_error: float, interval: Interval) -> float:
    """The larger of the standard error and a third of the distance to the farther end of the interval.

    Where the interval is narrow that is the standard error.

    Examples:
        >>> uncertainty_of(1.0, 0.1, (0.8, 1.2))
        0.1
        >>> uncertainty_of(1.0, 0.1, (0.8, 4.0))
        1.0
    """
    return max(standard_error, _reach(rate, interval) / NARROW)


def is_narrow(rate: float, standard_error: float, interval: Interval) -> bool:
    """Whether the standard error describes the uncertainty; arguments as in ``uncertainty_of``.

    Two standard errors that are more than the rate do not: a rate is not negative.

    Examples:
        >>> is_narrow(1.0, 0.1, (0.8, 1.2)), is_narrow(1.0, 0.1, (0.8, 4.0)), is_narrow(1.0, 1.0, (0.8, 4.0))
        (True, False, False)
    """
    return 2 * standard_error <= rate and _reach(rate, interval) <= NARROW * standard_error


def rate_text(rate: float, standard_error: float, interval: Interval, coverage: float = COVERAGE) -> str:
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


def _reach(rate: float, interval: Interval) -> float:
    low, high = interval
    return max(high - rate, rate - low)
