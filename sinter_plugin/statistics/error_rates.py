"""The logical error rate of a row of statistics, counted or computed, with its interval."""

from __future__ import annotations

from collections.abc import Callable

import sinter

from .rows import ESTIMATE, FAULT_SETS

__all__ = ["COVERAGE", "error_rate"]

COVERAGE = 0.95
"""The probability with which the interval of a counted row contains the true rate, as for fault sets."""


def error_rate(stats: sinter.TaskStats | sinter.AnonTaskStats) -> sinter.Fit:
    r"""The logical error rate per kept shot, with its 95% interval, for plots of counted and computed rows.

    Counted rows have the interval of Clopper and Pearson. Rows that ``python -m sinter_plugin estimate`` has
    computed have the interval of the estimate.

    Args:
        stats: A row.

    Returns:
        The interval's ends and the rate. The rate is None if no error was counted, or no fault set was found
        that causes one: ``sinter plot`` then draws the interval alone.

    Raises:
        ValueError: The row has counts that an earlier version of this package wrote in place of an estimate.

    Examples:
        >>> error_rate(sinter.AnonTaskStats(shots=2000, errors=10, discards=1000))
        sinter.Fit(low=0.004..., best=0.01, high=0.018...)

        In a figure, beside rows of ``estimate``::

            sinter plot --in stats.csv rates.csv --x_func m.p --type custom_y \
                --y_func "__import__('sinter_plugin').error_rate(stat)"
    """
    if isinstance(stats, sinter.TaskStats) and stats.decoder == FAULT_SETS:
        if stats.shots:
            raise ValueError(
                f"The row of {stats.json_metadata!r} has counts that no sampler has taken: an earlier version"
                " wrote them. Compute it again with `python -m sinter_plugin estimate`."
            )
        estimate = stats.json_metadata[ESTIMATE]
        rate, (low, high) = estimate["logical_error_rate"], estimate["interval"]
        return sinter.Fit(low=low, best=rate if rate or not high else None, high=high)
    kept = stats.shots - stats.discards
    low, high = _clopper_pearson(stats.errors, kept)
    return sinter.Fit(low=low, best=stats.errors / kept if stats.errors else None, high=high)


def _clopper_pearson(hits: int, shots: int) -> tuple[float, float]:
    """The rates at which so many hits or more, and so many or fewer, are a chance of 2.5% each."""
    from scipy.special import betainc  # takes as long to import as Sinter and this package

    tail = (1 - COVERAGE) / 2
    best = hits / shots if shots else 0.0
    # SciPy's betaincinv is wrong for exactly 1000 hits among more than 10^8.
    low = _crossing(lambda rate: float(betainc(hits, shots - hits + 1, rate)), tail, best) if hits else 0.0
    if hits == shots:
        return low, 1.0
    highest = min(1.0, (10 * hits + 10) / shots)
    return low, _crossing(lambda rate: float(betainc(hits + 1, shots - hits, rate)), 1 - tail, highest)


def _crossing(rising: Callable[[float], float], level: float, high: float) -> float:
    """Where a rising function, which is 0 at 0, reaches a level before ``high``."""
    low = 0.0
    while low < (middle := (low + high) / 2) < high:
        if rising(middle) < level:
            low = middle
        else:
            high = middle
    return high
