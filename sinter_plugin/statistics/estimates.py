"""Rows of logical error rates that are computed, and the rates of these and of counted rows.

The counts of a computed row are zero, and the estimate is in the metadata.

The decoder's name in such a row is ``soft_fault_sets``, so that it is never added to counted shots. The
custom count ``estimates`` is 1, which gives away a row that was added to itself.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping
from typing import Any

import sinter

from stim_nonclifford.base.arguments import check_types
from stim_nonclifford.base.probabilities import clopper_pearson
from stim_nonclifford.rates.estimation.interval import rate_text, uncertainty_of
from stim_nonclifford.rates.results import GapPoint, LogicalErrorRate

from .csv_rows import ESTIMATE, ESTIMATES, FAULT_SETS

COVERAGE = 0.95
"""The probability with which the interval of a counted row contains the true rate, as for fault sets."""

GAP = "gap"
"""The least gap in the metadata of a row of a curve."""


def estimate_row(
    strong_id: str,
    metadata: Mapping[str, Any],
    rate: LogicalErrorRate,
    point: GapPoint | None,
    max_seconds: float | None,
) -> sinter.TaskStats:
    """The row of a rate, or of a point of its curve, for which so much time was allowed."""
    shown = rate if point is None else point
    seconds = rate.seconds / max(1, len(rate.gap_curve))
    facts = {
        "kept": shown.kept,
        "kept_and_wrong": shown.kept_and_wrong,
        "logical_error_rate": shown.logical_error_rate,
        "standard_error": shown.standard_error,
        "interval": list(shown.interval),
        "coverage": rate.coverage,
        "seconds": round(seconds, 3),
        "seed": rate.seeds[0],
        "asked_relative_error": rate.asked_relative_error,
        "asked_max_seconds": max_seconds,
    }
    return sinter.TaskStats(
        strong_id=strong_id,
        decoder=FAULT_SETS,
        json_metadata={**metadata, ESTIMATE: facts},
        seconds=seconds,
        custom_counts=collections.Counter({ESTIMATES: 1}),
    )


def is_enough(facts: Mapping[str, Any], relative_error: float, max_seconds: float | None) -> bool:
    """Whether an estimate has the error that is asked for, or has been asked for as much before."""
    rate = facts["logical_error_rate"]
    uncertainty = uncertainty_of(rate, facts["standard_error"], facts["interval"])
    if rate and uncertainty <= relative_error * rate:
        return True
    had_seconds = facts["asked_max_seconds"]
    had_as_long = had_seconds is None or (max_seconds is not None and max_seconds <= had_seconds)
    return bool(facts["asked_relative_error"] <= relative_error and had_as_long)


def is_narrower(facts: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    """Whether an estimate has a smaller error than a known one.

    Much smaller: of two estimates that have cost the same, it must not decide which one happens to be lower.
    """
    (low, high), (known_low, known_high) = facts["interval"], known["interval"]
    return bool(high - low < 0.9 * (known_high - known_low))


def shown_estimate(facts: Mapping[str, Any]) -> str:
    """An estimate in a line."""
    rate, standard_error = facts["logical_error_rate"], facts["standard_error"]
    text = rate_text(rate, standard_error, facts["interval"], facts["coverage"])
    text = f"logical error rate per kept shot {text}; kept {facts['kept']:.8g}"
    error = facts["asked_relative_error"]
    if rate and uncertainty_of(rate, standard_error, facts["interval"]) > rate * error:
        text += f"; a relative error of {error:g} was out of reach, or of time"
    return text


def error_rate(stats: sinter.TaskStats | sinter.AnonTaskStats) -> sinter.Fit:
    r"""The logical error rate per kept shot, with its 95% interval, for plots of counted and computed rows.

    Counted rows have the interval of Clopper and Pearson. Rows that ``python -m sinter_plugin estimate`` has
    computed have the interval of the estimate.

    Args:
        stats: A row.

    Returns:
        The interval's ends and the rate. The rate is None if no error was counted, or no fault set was found
        that causes one: ``sinter plot`` then draws the interval alone.

    Examples:
        >>> error_rate(sinter.AnonTaskStats(shots=2000, errors=10, discards=1000))
        sinter.Fit(low=0.004..., best=0.01, high=0.018...)

        In a figure, beside rows of ``estimate``::

            sinter plot --in stats.csv rates.csv --x_func m.p --type custom_y \
                --y_func "__import__('sinter_plugin').error_rate(stat)"
    """
    wanted = "a sinter.TaskStats or sinter.AnonTaskStats"
    check_types(stats, "stats", wanted, sinter.TaskStats, sinter.AnonTaskStats)
    if isinstance(stats, sinter.TaskStats) and stats.decoder == FAULT_SETS:
        estimate = stats.json_metadata[ESTIMATE]
        rate, (low, high) = estimate["logical_error_rate"], estimate["interval"]
        return sinter.Fit(low=low, best=rate if rate or not high else None, high=high)
    kept = stats.shots - stats.discards
    low, high = clopper_pearson(stats.errors, kept, COVERAGE)
    return sinter.Fit(low=low, best=stats.errors / kept if stats.errors else None, high=high)
