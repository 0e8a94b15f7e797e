"""The logical error rate of a row of statistics, counted or computed, with its interval."""

from __future__ import annotations

import sinter

from stim_nonclifford.base.binomial import clopper_pearson

from .csv_rows import ESTIMATE, FAULT_SETS

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
    low, high = clopper_pearson(stats.errors, kept, COVERAGE)
    return sinter.Fit(low=low, best=stats.errors / kept if stats.errors else None, high=high)
