"""Checks, before rows of several files are added up, that no shot and no estimate is counted twice.

Rows of runs with a seed say which shots they count (``shot_ranges``), and estimates are never added up. Other
rows can only be compared. A file that was named twice, copied, or copied and then continued on two machines,
shows by rows that are equal in every column. But short rows can be equal by chance: Sinter's workers report
one shot without an error many times. So equal rows are refused only

* if all rows of a file occur in another file, or more than once in their own;
* if two files begin with the same rows, more of them than by chance; or
* if so much was counted in a row that chance is no explanation.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sinter

from .csv_rows import ESTIMATE, FAULT_SETS, Row
from .shot_ranges import OverlapError, ShotRange, joined_ranges, ranges_in

__all__ = ["check_counted_once"]

_CHANCE = 0.01
"""Equal rows are refused if less than so many of them are expected by chance."""


@dataclass(frozen=True, eq=False)
class _Place:
    path: str
    file: int  # the same path can be named twice
    number: int
    row: sinter.TaskStats
    text: str  # the row, as Sinter writes it

    def __str__(self) -> str:
        return f"{self.path}, line {self.number}"


def check_counted_once(files: Sequence[tuple[str, Sequence[Row]]]) -> None:
    """Checks that rows can be added up.

    Args:
        files: The files: the path of each, and its rows.

    Raises:
        ValueError: A shot or an estimate is counted twice, or two rows contradict each other. The message
            names the files and lines, and the remedy.
    """
    places = [
        _Place(path, file, each.number, each.stats, each.stats.to_csv_line())
        for file, (path, rows) in enumerate(files)
        for each in rows
    ]
    _check_tasks(places)
    _check_ranges(places)
    _check_equal_rows([place for place in places if not _is_numbered(place.row)])


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


def _check_equal_rows(places: Sequence[_Place]) -> None:
    """Checks rows without numbered shots."""
    rows_of_task = Counter(place.row.strong_id for place in places)
    same: dict[str, list[_Place]] = {}
    for place in places:
        same.setdefault(place.text, []).append(place)
    for first, *others in same.values():
        rows = rows_of_task[first.row.strong_id]
        if others and _chance_of_equal(first.row) * rows * (rows - 1) / 2 < _CHANCE:
            raise _equal(first, others[0], "and chance is no explanation")
    counts = {text: Counter(each.file for each in found) for text, found in same.items()}
    files = [list(group) for _, group in itertools.groupby(places, key=lambda place: place.file)]
    for number, file in enumerate(files):
        # The files that have every row of this one, besides itself: itself only if it has each of them twice.
        have_all = set.intersection(
            *({k for k, n in counts[place.text].items() if n > (k == place.file)} for place in file)
        )
        if have_all:
            other = next(each for each in same[file[0].text] if each is not file[0] and each.file in have_all)
            where = "is there twice" if other.file == file[0].file else f"is in {other.path}, too"
            raise _equal(file[0], other, f"and every row of {file[0].path} {where}")
        for earlier in files[:number]:
            if _chance_of_same_beginning(file, earlier) < _CHANCE:
                raise _equal(earlier[0], file[0], "and the files begin alike, as a copy and its original do")


def _is_numbered(row: sinter.TaskStats) -> bool:
    return row.decoder == FAULT_SETS or bool(ranges_in(row.custom_counts))


def _chance_of_equal(row: sinter.TaskStats) -> float:
    """How likely another row of as many shots would be equal, roughly.

    Errors and discards are binomial; the difference of two such counts is 0 with probability 0.28 over the
    standard deviation. The time scatters by 10%, and has three digits in the file.
    """
    chance = 1.0
    for hits, shots in ((row.discards, row.shots), (row.errors, row.shots - row.discards)):
        if 0 < hits < shots:
            chance *= min(1.0, 1 / math.sqrt(4 * math.pi * hits * (1 - hits / shots)))
    digit = 0.001 if row.seconds < 1 else 0.01 if row.seconds < 10 else 0.1
    return chance * min(1.0, digit / max(0.1 * row.seconds, digit))


def _chance_of_same_beginning(file: Sequence[_Place], other: Sequence[_Place]) -> float:
    """How likely the files of two runs would begin with as many equal rows as these, roughly."""
    chance = 1.0
    for place, others in zip(file, other, strict=False):
        if place.text != others.text:
            break
        chance *= 0.5 * _chance_of_equal(place.row)  # the shots need not be as many, either
    return chance


def _overlap(what: str, place: _Place, other: _Place) -> ValueError:
    where = f"{place}" if place is other else f"{place} and {other}"
    return ValueError(f"{where}: {what}. Leave one of the files or rows out. {_about(other.row)}")


def _equal(place: _Place, other: _Place, why: str) -> ValueError:
    return ValueError(
        f"{place} and {other}: the rows are equal in every column, {why}: the same shots would be counted"
        " twice. Leave one of them out. If they are different shots, `sinter combine` adds them up without a"
        f" look. {_about(place.row)}"
    )


def _about(row: sinter.TaskStats) -> str:
    metadata = row.json_metadata
    if row.decoder == FAULT_SETS:
        metadata = {key: value for key, value in metadata.items() if key != ESTIMATE}
    return f"(Decoder {row.decoder}, metadata {metadata!r}.)"
