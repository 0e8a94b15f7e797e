"""Reads files of statistics: names the line that is broken or was cut off."""

from __future__ import annotations

import collections
import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sinter

from .row_warnings import counted

FAULT_SETS = "soft_fault_sets"
"""The decoder's name in rows of estimates, which have no shots; see ``estimate_command``."""

ESTIMATE = "estimate"
"""The key of the estimate in the metadata of such a row."""

ESTIMATES = "estimates"
"""The custom count of such a row: 1. If it is more, estimates were added up."""

# Sinter did not always write the last one, custom_counts.
_REQUIRED_COLUMNS = [name.strip() for name in sinter.CSV_HEADER.split(",")][:-1]


@dataclass(frozen=True)
class Row:
    """A line of a file."""

    path: str  # the path of the file
    number: int  # the number of the line, counted from 1
    text: str  # the line as it is in the file, without its end
    stats: sinter.TaskStats  # what it says

    def __str__(self) -> str:
        return f"{self.path}, line {self.number}"


def read_rows(content: bytes, path: str) -> list[Row]:
    """Reads a file of statistics, and checks every line."""
    *lines, last = content.decode("utf-8", "surrogateescape").split("\n")
    if last:
        raise ValueError(
            f"{path}, line {len(lines) + 1}: the line does not end with a newline: the file may have been cut"
            f" off: {_shown(last)}. Add the newline if the line is complete; otherwise delete the line, whose"
            " shots are then lost."
        )
    rows: list[Row] = []
    first_rows: dict[str, Row] = {}
    columns: list[str] = []
    for number, line in enumerate(lines, start=1):
        text = line.rstrip("\r")
        try:
            if number == 1:
                columns = [name.strip() for name in text.split(",")]
                if not {*columns} >= {*_REQUIRED_COLUMNS}:
                    wanted = f"the first line must name the columns {_REQUIRED_COLUMNS}"
                    raise ValueError(f"{wanted}, but is {_shown(text)}.")
            elif text:
                rows.append(Row(path, number, text, _row(text, columns, first_rows)))
                first_rows.setdefault(rows[-1].stats.strong_id, rows[-1])
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
    return rows


def _row(text: str, columns: Sequence[str], first_rows: dict[str, Row]) -> sinter.TaskStats:
    """Reads a row, and compares it with those before."""
    try:
        stats = _stats(text, columns)
        first = first_rows.get(stats.strong_id)
        if first and (stats.decoder, stats.json_metadata) != (first.stats.decoder, first.stats.json_metadata):
            raise ValueError(f"line {first.number} has the same strong_id but other metadata or decoder")
    except (csv.Error, ValueError) as error:
        raise ValueError(
            f"not a row of statistics, {error}: {_shown(text)}. Correct the line, or delete it and lose its"
            " shots."
        ) from None
    if stats.decoder == FAULT_SETS and (stats.shots or stats.custom_counts.get(ESTIMATES, 1) != 1):
        raise ValueError(
            f"an estimate that was added to itself, or to {counted(stats.shots, 'shot')}. Delete such lines,"
            " and compute the rates again with `python -m sinter_plugin estimate`."
        )
    return stats


def _stats(text: str, columns: Sequence[str]) -> sinter.TaskStats:
    """Reads a row as Sinter does, but refuses values that Sinter would accept by mistake."""
    values = next(csv.reader([text], strict=True))
    if len(values) != len(columns):
        raise ValueError(f"{counted(len(values), 'value')} instead of {len(columns)}")
    row = dict(zip(columns, values, strict=True))
    shots, errors, discards = (int(_number(row, name, int)) for name in ("shots", "errors", "discards"))
    if errors + discards > shots:
        raise ValueError("more errors and discards than shots")
    counts = _json(row, "custom_counts") if row.get("custom_counts") else {}
    if not isinstance(counts, dict) or not all(isinstance(count, int) for count in counts.values()):
        raise ValueError("custom_counts are not whole numbers by name")
    if row["decoder"].startswith("soft_") and counts and counts.get("survivors", 0) != shots - discards:
        raise ValueError("survivors are not shots - discards")
    return sinter.TaskStats(
        strong_id=row["strong_id"],
        decoder=row["decoder"],
        json_metadata=_json(row, "json_metadata"),
        shots=shots,
        errors=errors,
        discards=discards,
        seconds=_number(row, "seconds", float),
        custom_counts=collections.Counter(counts),
    )


def _number(row: dict[str, str], name: str, kind: type[int] | type[float]) -> float:
    try:
        number = kind(row[name])
    except ValueError:
        number = -1
    if not number >= 0:
        raise ValueError(f"{name} are {row[name]!r}")
    return number


def _json(row: dict[str, str], name: str) -> Any:
    try:
        return json.loads(row[name])
    except ValueError:
        raise ValueError(f"{name} cannot be read as JSON") from None


def _shown(text: str) -> str:
    """A line in the form for messages; the middle of a very long line is left out."""
    return repr(text if len(text) <= 500 else f"{text[:350]} ... {text[-150:]}")
