"""Logical error against kept fraction, from counts by confidence gap."""

from __future__ import annotations

import collections
import csv
import json
import pathlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import sinter

from stim_nonclifford.base import arguments

MAX_LIKELIHOOD_FACTOR = 1000
"""Sinter's default for error bars."""


@dataclass(frozen=True)
class GapPoint:
    """What is kept if shots with a smaller gap are discarded, too.

    Attributes:
        gap: The smallest gap that is kept, as counted: in decibels for matching decoders.
        shots: Number of attempted shots.
        kept: Number of shots with this gap or a larger one.
        errors: Number of kept shots with a wrong prediction.
        kept_fraction: ``kept / shots``, with the interval of hypotheses that are at most 1000 times less
            likely than the best one (``sinter.fit_binomial``).
        error_rate: ``errors / kept``, the logical error rate of kept shots, with its interval.
    """

    gap: int
    shots: int
    kept: int
    errors: int
    kept_fraction: sinter.Fit
    error_rate: sinter.Fit

    @property
    def attempts_per_kept_shot(self) -> float:
        """Expected number of attempts until a shot is kept."""
        return self.shots / self.kept


@dataclass(frozen=True)
class CalibrationPoint:
    """The shots with one gap, for a comparison of the gap with what it promises.

    Attributes:
        gap: The gap, in decibels.
        kept: Number of shots with it.
        errors: Number of those with a wrong prediction.
        error_rate: ``errors / kept``, with its interval.
        promised: The error rate that the gap stands for, 1 / (1 + 10^(gap / 10)), if the two likeliest errors
            were the only ones.
    """

    gap: int
    kept: int
    errors: int
    error_rate: sinter.Fit
    promised: float


def gap_points(
    stats: sinter.TaskStats | sinter.AnonTaskStats, *, max_likelihood_factor: float = MAX_LIKELIHOOD_FACTOR
) -> list[GapPoint]:
    """The curve of logical error against kept fraction, with the gap as the dial.

    Args:
        stats: Statistics whose ``custom_counts`` have ``C<gap>`` (right predictions) and ``E<gap>`` (wrong
            ones).
        max_likelihood_factor: The Bayes factor of the intervals.

    Returns:
        One point for each gap that occurs, from the smallest, with which all shots are kept that detectors
        did not discard, to the largest.

    Raises:
        ValueError: There are no such counts, or they are more than the shots.

    Examples:
        >>> counts = collections.Counter({"C0": 30, "E0": 10, "C20": 50, "survivors": 90})
        >>> stats = sinter.AnonTaskStats(shots=100, errors=10, discards=10, custom_counts=counts)
        >>> for point in gap_points(stats):
        ...     print(point.gap, point.kept, point.errors, point.kept_fraction.best, point.error_rate.high)
        0 90 10 0.9 0.270...
        20 50 0 0.5 0.129
    """
    max_likelihood_factor = arguments.number(max_likelihood_factor, "max_likelihood_factor", 1)
    right, wrong = _counts(stats)
    total = sum(right.values()) + sum(wrong.values())
    if total > stats.shots:
        raise ValueError(f"There are {total} counts by gap, but only {stats.shots} shots.")
    points = []
    kept = errors = 0
    for gap in sorted({*right, *wrong}, reverse=True):
        kept += right[gap] + wrong[gap]
        errors += wrong[gap]
        kept_fraction = _fit(stats.shots, kept, max_likelihood_factor)
        error_rate = _fit(kept, errors, max_likelihood_factor)
        points.append(GapPoint(gap, stats.shots, kept, errors, kept_fraction, error_rate))
    return points[::-1]


def gap_calibration(
    stats: sinter.TaskStats | sinter.AnonTaskStats, *, max_likelihood_factor: float = MAX_LIKELIHOOD_FACTOR
) -> list[CalibrationPoint]:
    """The error rate at each gap, beside the one that the gap stands for.

    Args:
        stats: As for ``gap_points``.
        max_likelihood_factor: The Bayes factor of the intervals.

    Returns:
        One point for each gap that occurs, ascending.

    Raises:
        ValueError: There are no such counts.

    Examples:
        >>> counts = collections.Counter({"C10": 90, "E10": 10})
        >>> [point] = gap_calibration(sinter.AnonTaskStats(shots=100, errors=10, custom_counts=counts))
        >>> point.error_rate.best, round(point.promised, 3)
        (0.1, 0.091)
    """
    max_likelihood_factor = arguments.number(max_likelihood_factor, "max_likelihood_factor", 1)
    right, wrong = _counts(stats)
    return [
        CalibrationPoint(
            gap=gap,
            kept=right[gap] + wrong[gap],
            errors=wrong[gap],
            error_rate=_fit(right[gap] + wrong[gap], wrong[gap], max_likelihood_factor),
            promised=1 / (1 + 10 ** (gap / 10)),
        )
        for gap in sorted({*right, *wrong})
    ]


def counts_of(point: GapPoint) -> sinter.AnonTaskStats:
    """The counts of a point, as if shots with smaller gaps were discarded by detectors."""
    return sinter.AnonTaskStats(shots=point.shots, errors=point.errors, discards=point.shots - point.kept)


def has_gaps(stats: sinter.TaskStats | sinter.AnonTaskStats) -> bool:
    """Whether statistics have counts by gap."""
    return any(_gaps(stats.custom_counts))


def read_gap_stats(*paths: str | pathlib.Path) -> list[sinter.TaskStats]:
    """The statistics in files of Sinter that have counts by gap, added up by task.

    Args:
        paths: CSV files, as ``sinter collect`` writes them.

    Returns:
        The statistics with such counts.
    """
    found = sinter.read_stats_from_csv_files(*(str(arguments.path(each, "Each of paths")) for each in paths))
    return [stats for stats in found if has_gaps(stats)]


def write_gap_points(stats: Iterable[sinter.TaskStats], path: str | pathlib.Path) -> None:
    """Writes the points of several statistics to a CSV file, one line per gap.

    Args:
        stats: Statistics with counts by gap.
        path: The file.
    """
    file_path = arguments.path(path, "path")
    stats = list(arguments.iterable(stats, "stats", "an iterable of sinter.TaskStats"))
    names = ["gap", "shots", "kept", "errors", "kept_fraction"]
    names += ["error_rate", "error_rate_low", "error_rate_high"]
    with open(file_path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["decoder", "json_metadata", *names])
        for one in stats:
            for point in gap_points(one):
                rate = point.error_rate
                numbers: list[Any] = [point.gap, point.shots, point.kept, point.errors]
                numbers += [point.kept_fraction.best, rate.best, rate.low, rate.high]
                writer.writerow([one.decoder, json.dumps(one.json_metadata), *numbers])


def _counts(
    stats: sinter.TaskStats | sinter.AnonTaskStats,
) -> tuple[collections.Counter[int], collections.Counter[int]]:
    wanted = "a sinter.TaskStats or sinter.AnonTaskStats"
    arguments.check_types(stats, "stats", wanted, sinter.TaskStats, sinter.AnonTaskStats)
    counts: dict[str, collections.Counter[int]] = {"C": collections.Counter(), "E": collections.Counter()}
    for letter, gap, count in _gaps(stats.custom_counts):
        counts[letter][gap] += count
    if not any(counts.values()):
        raise ValueError(
            "The statistics have no counts by gap (custom_counts C<gap> and E<gap>). Collect them with the"
            " sampler soft_pymatching_gap, or with SoftDecodingSampler(confidence=True)."
        )
    return counts["C"], counts["E"]


def _gaps(custom_counts: Any) -> Iterator[tuple[str, int, int]]:
    for key, count in custom_counts.items():
        if key[:1] in ("C", "E") and key[1:].removeprefix("-").isdecimal():
            yield key[0], int(key[1:]), count


def _fit(shots: int, hits: int, factor: float) -> sinter.Fit:
    return sinter.fit_binomial(num_shots=shots, num_hits=hits, max_likelihood_factor=factor)
