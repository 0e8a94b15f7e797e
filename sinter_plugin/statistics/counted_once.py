"""Checks, before rows of several files are added up, that no shot and no estimate is counted twice.

Rows of runs with a seed say which shots they count (``shot_ranges``), and estimates are never added up. A
file of other rows that is named twice, or is there as a copy, shows by its content.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from .csv_rows import ESTIMATE, FAULT_SETS, Row
from .shot_ranges import OverlapError, ShotRange, joined_ranges, ranges_in

__all__ = ["check_counted_once"]


def check_counted_once(files: Sequence[Sequence[Row]]) -> None:
    """Checks that the rows of files can be added up."""
    rows = [row for file in files for row in file]
    _check_tasks(rows)
    _check_ranges(rows)
    known: dict[tuple[str, ...], Row] = {}
    for file in files:
        first = known.setdefault(tuple(row.text for row in file), file[0]) if file else None
        if first is not None and first is not file[0]:
            raise ValueError(
                f"{file[0].path} has the rows of {first.path}: the same shots would be counted twice. Leave"
                " one of them out. If they are different shots, `sinter combine` adds them up without a look."
            )


def _check_tasks(rows: Iterable[Row]) -> None:
    """Checks that rows of a task agree about what it is, and that estimates are there once."""
    known: dict[str, Row] = {}
    for row in rows:
        first = known.setdefault(row.stats.strong_id, row)
        here, there = row.stats, first.stats
        if first is row:
            continue
        if here.decoder == there.decoder == FAULT_SETS:
            raise ValueError(
                f"{row}: there is an estimate of the same circuit in {first}, and estimates are not added"
                f" up. Leave one of them out. {_about(row)}"
            )
        if (here.decoder, here.json_metadata) != (there.decoder, there.json_metadata):
            raise ValueError(
                f"{row}: the row has the strong_id of {first}, but other metadata or another decoder:"
                f" {here.decoder}, {here.json_metadata!r} instead of {there.decoder},"
                f" {there.json_metadata!r}. Correct the metadata, or leave one of the files out."
            )


def _check_ranges(rows: Iterable[Row]) -> None:
    """Checks that no two rows count the same numbered shots."""
    ranges: dict[tuple[str, int], list[tuple[ShotRange, Row]]] = {}
    for row in rows:
        try:
            own = joined_ranges(ranges_in(row.stats.custom_counts))
        except OverlapError as error:
            raise _overlap(str(error), row, row) from None
        except ValueError as error:
            raise ValueError(f"{row}: {error}. Correct the row, or delete it and lose its shots.") from None
        for one in own:
            ranges.setdefault((row.stats.strong_id, one.seed), []).append((one, row))
    for found in ranges.values():
        found.sort(key=lambda each: each[0])
        for (one, row), (other, other_row) in itertools.pairwise(found):
            try:
                joined_ranges([one, other])
            except OverlapError as error:
                raise _overlap(str(error), row, other_row) from None


def _overlap(what: str, row: Row, other: Row) -> ValueError:
    where = f"{row}" if row is other else f"{row} and {other}"
    return ValueError(f"{where}: {what}. Leave one of the files or rows out. {_about(other)}")


def _about(row: Row) -> str:
    metadata = row.stats.json_metadata
    if row.stats.decoder == FAULT_SETS:
        metadata = {key: value for key, value in metadata.items() if key != ESTIMATE}
    return f"(Decoder {row.stats.decoder}, metadata {metadata!r}.)"
