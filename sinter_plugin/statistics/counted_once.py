"""Checks, before rows of several files are added up, that no shot and no estimate is counted twice.

Rows of runs with a seed say which shots they count (``shot_ranges``), and estimates are never added up. A
file of other rows that is named twice, or is there as a copy, shows by its content.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sinter

from .csv_rows import ESTIMATE, FAULT_SETS, Row
from .shot_ranges import OverlapError, ShotRange, joined_ranges, ranges_in

__all__ = ["check_counted_once"]


@dataclass(frozen=True, eq=False)
class _Place:
    path: str
    number: int
    row: sinter.TaskStats

    def __str__(self) -> str:
        return f"{self.path}, line {self.number}"


def check_counted_once(files: Sequence[tuple[str, Sequence[Row]]]) -> None:
    """Checks that rows can be added up."""
    places = [_Place(path, each.number, each.stats) for path, rows in files for each in rows]
    _check_tasks(places)
    _check_ranges(places)
    _check_copies(files)


def _check_tasks(places: Iterable[_Place]) -> None:
    """Checks that rows of a task agree about what it is, and that estimates are there once."""
    known: dict[str, _Place] = {}
    for place in places:
        row, first = place.row, known.setdefault(place.row.strong_id, place)
        if first is place:
            continue
        if row.decoder == first.row.decoder == FAULT_SETS:
            raise ValueError(
                f"{place}: there is an estimate of the same circuit in {first}, and estimates are not added"
                f" up. Leave one of them out. {_about(row)}"
            )
        if (row.decoder, row.json_metadata) != (first.row.decoder, first.row.json_metadata):
            raise ValueError(
                f"{place}: the row has the strong_id of {first}, but other metadata or another decoder:"
                f" {row.decoder}, {row.json_metadata!r} instead of {first.row.decoder},"
                f" {first.row.json_metadata!r}. Correct the metadata, or leave one of the files out."
            )


def _check_ranges(places: Iterable[_Place]) -> None:
    """Checks that no two rows count the same numbered shots."""
    ranges: dict[tuple[str, int], list[tuple[ShotRange, _Place]]] = {}
    for place in places:
        try:
            own = joined_ranges(ranges_in(place.row.custom_counts))
        except OverlapError as error:
            raise _overlap(str(error), place, place) from None
        except ValueError as error:
            raise ValueError(f"{place}: {error}. Correct the row, or delete it and lose its shots.") from None
        for one in own:
            ranges.setdefault((place.row.strong_id, one.seed), []).append((one, place))
    for (_, seed), found in ranges.items():
        found.sort(key=lambda each: each[0])
        farthest, farthest_place = found[0]
        for one, place in found[1:]:
            if one.first < farthest.end:
                last = min(one.end, farthest.end) - 1
                what = f"the shots {one.first} to {last} of seed {seed} are counted 2 times"
                raise _overlap(what, farthest_place, place)
            farthest, farthest_place = one, place


def _check_copies(files: Sequence[tuple[str, Sequence[Row]]]) -> None:
    """Checks that no two files have the same rows."""
    known: dict[tuple[str, ...], str] = {}
    for path, rows in files:
        content = tuple(row.text for row in rows)
        if rows and content in known:
            raise ValueError(
                f"{path} has the rows of {known[content]}: the same shots would be counted twice. Leave one"
                " of them out. If they are different shots, `sinter combine` adds them up without a look."
            )
        known[content] = path


def _overlap(what: str, place: _Place, other: _Place) -> ValueError:
    where = f"{place}" if place is other else f"{place} and {other}"
    return ValueError(f"{where}: {what}. Leave one of the files or rows out. {_about(other.row)}")


def _about(row: sinter.TaskStats) -> str:
    metadata = row.json_metadata
    if row.decoder == FAULT_SETS:
        metadata = {key: value for key, value in metadata.items() if key != ESTIMATE}
    return f"(Decoder {row.decoder}, metadata {metadata!r}.)"
