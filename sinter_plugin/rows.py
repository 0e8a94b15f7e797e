"""Checks files of statistics: finds broken lines, and tells whether the last line is complete.

When Sinter fails to read such a file, it does not name the line. When it appends rows, it does not check that
the last line ends with a newline.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import sinter

from .row_warnings import counted

__all__ = ["ESTIMATE", "ESTIMATES", "FAULT_SETS", "OpenEnd", "check_rows", "shown", "strong_id_of"]

FAULT_SETS = "soft_fault_sets"
"""The decoder's name in rows of estimates, which have no shots; see ``estimate_command``."""

ESTIMATE = "estimate"
"""The key of the estimate in the metadata of such a row."""

ESTIMATES = "estimates"
"""The custom count of such a row: 1. If it is more, estimates were added up."""

_COLUMNS = [name.strip() for name in sinter.CSV_HEADER.split(",")]
_REQUIRED_COLUMNS = {*_COLUMNS} - {"custom_counts"}


@dataclass(frozen=True)
class OpenEnd:
    """A last line that does not end with a newline.

    Attributes:
        line_number: The number of the line, counted from 1.
        offset: The position of its first byte in the file.
        text: The text of the line.
        is_whole: Whether only the newline is missing.
    """

    line_number: int
    offset: int
    text: str
    is_whole: bool


def check_rows(
    lines: Iterable[bytes],
    path: str,
    *,
    for_appending: bool = False,
    survivor_counters: Collection[str] = (),
) -> OpenEnd | None:
    r"""Checks every line of a file of statistics.

    A row that was cut off is never accepted as a whole one. The newline is written last, so a row with a
    newline is whole. A row without one is whole if its last value, a JSON object, is closed. If that value is
    empty, it may have been cut off; whether other rows of the same decoder have it decides.

    Args:
        lines: The lines of the file with their line ends.
        path: The path of the file, for messages.
        for_appending: Whether Sinter will append rows. Then the columns must be those that Sinter writes.
        survivor_counters: Names of samplers that report ``survivors`` in every row with kept shots.

    Returns:
        The last line if it has no newline; otherwise None.

    Raises:
        ValueError: A line with a newline is not a row of statistics, or it is undecidable whether the last
            line is whole. The message names the line and the remedy.

    Examples:
        >>> header = b"shots,errors,discards,seconds,decoder,strong_id,json_metadata,custom_counts\n"
        >>> row = b'9,1,2,0.5,soft_postselect,abc,"{""p"":1}","{""survivors"":7}"'
        >>> check_rows([header, row + b"\n"], "stats.csv") is None
        True
        >>> check_rows([header, row], "stats.csv").is_whole
        True
        >>> check_rows([header, row[:-1]], "stats.csv").is_whole
        False
        >>> check_rows([header, b"9,1,2,0.5\n"], "stats.csv")
        Traceback (most recent call last):
        ...
        ValueError: stats.csv, line 2: not a row of statistics, 4 values instead of 8: '9,1,2,0.5'. Correct
        the line, or delete it and lose its shots.
    """
    rows: _Rows | None = None
    offset = 0
    for number, line in enumerate(lines, start=1):
        is_closed = line.endswith((b"\n", b"\r"))  # a lone "\r" is half of a "\r\n"
        text = line.decode("utf-8", "surrogateescape").rstrip("\r\n")
        is_whole = True
        try:
            if rows is None:
                if not is_closed and sinter.CSV_HEADER.startswith(text):
                    return OpenEnd(number, offset, text, is_whole=text == sinter.CSV_HEADER)
                rows = _Rows(_columns(text, for_appending), survivor_counters)
            elif text and is_closed:
                rows.add(text, number)
            elif text:
                is_whole = rows.is_whole(text, number)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        if not line.endswith(b"\n"):
            return OpenEnd(number, offset, text, is_whole)
        offset += len(line)
    return None


def _columns(header: str, for_appending: bool) -> list[str]:
    columns = [name.strip() for name in header.split(",")]
    if for_appending and columns != _COLUMNS:
        raise ValueError(
            f"the first line names the columns {columns}, but rows with the columns {_COLUMNS} are to be"
            " appended. Save to another file, and add both up with `python -m sinter_plugin combine`. If only"
            " the last name is missing, add it to the first line instead."
        )
    if not {*columns} >= _REQUIRED_COLUMNS:
        raise ValueError(
            f"the first line must name the columns {sorted(_REQUIRED_COLUMNS)}, but is {shown(header)}."
        )
    return columns


@dataclass(frozen=True)
class _Row:
    shots: int
    discards: int
    decoder: str
    strong_id: str
    json_metadata: Any
    custom_counts: str  # as in the file
    num_values: int


class _Rows:
    """The rows of a file that have been read so far."""

    def __init__(self, columns: list[str], survivor_counters: Collection[str]) -> None:
        self._columns = columns
        self._survivor_counters = survivor_counters
        self._first_rows: dict[str, tuple[int, _Row]] = {}  # by strong_id, with the line number
        self._counts: dict[str, bool] = {}  # by decoder: whether any of its rows has custom_counts

    def add(self, text: str, number: int) -> None:
        """Adds a row; raises ValueError if it is not a row of statistics."""
        try:
            row = self._read(text)
            if row.num_values < len(self._columns):
                raise ValueError(f"{counted(row.num_values, 'value')} instead of {len(self._columns)}")
            first_number, first = self._first_rows.setdefault(row.strong_id, (number, row))
            if (row.decoder, row.json_metadata) != (first.decoder, first.json_metadata):
                raise ValueError(f"line {first_number} has the same strong_id but other metadata or decoder")
        except ValueError as error:
            raise ValueError(
                f"not a row of statistics, {error}: {shown(text)}. Correct the line, or delete it and lose"
                " its shots."
            ) from None
        if row.decoder == FAULT_SETS:
            _check_estimate(row)
        self._counts[row.decoder] = bool(row.custom_counts) or self._counts.get(row.decoder, False)

    def is_whole(self, text: str, number: int) -> bool:
        """Whether a last row without a newline is whole; raises ValueError if that is undecidable."""
        try:
            row = self._read(text)
        except ValueError:
            return False
        if row.num_values < len(self._columns):
            return False
        last_column = self._columns[-1]
        if last_column == "json_metadata" and type(row.json_metadata) not in (int, float):
            return True  # its closing character is there; a number has none, and may lack digits
        if last_column == "custom_counts":
            if row.custom_counts:
                return True
            if row.decoder == FAULT_SETS:
                return False  # these always have some
            if row.decoder in self._survivor_counters:
                return row.shots == row.discards
            if row.decoder in self._counts:
                return not self._counts[row.decoder]
        raise ValueError(
            f"the line does not end with a newline, and {last_column} may have been cut off: {shown(text)}."
            " If it is complete, add a newline to the line; otherwise delete the line."
        )

    def _read(self, text: str) -> _Row:
        """Reads a row as Sinter does, but refuses values that Sinter would accept by mistake."""
        try:
            values = next(csv.reader([text], strict=True))
        except csv.Error as error:
            raise ValueError(str(error)) from None
        row = dict(zip(self._columns, values, strict=False))
        if len(values) > len(self._columns) or not row.keys() >= _REQUIRED_COLUMNS:
            raise ValueError(f"{counted(len(values), 'value')} instead of {len(self._columns)}")
        shots, errors, discards = (_whole_number(row, name) for name in ("shots", "errors", "discards"))
        if errors + discards > shots:
            raise ValueError("more errors and discards than shots")
        if not _is_duration(row["seconds"]):
            raise ValueError(f"seconds are {row['seconds']!r}")
        counts = _json(row, "custom_counts") if row.get("custom_counts") else {}
        if not isinstance(counts, dict) or not all(isinstance(count, int) for count in counts.values()):
            raise ValueError("custom_counts are not whole numbers by name")
        if (
            counts
            and row["decoder"] in self._survivor_counters
            and counts.get("survivors", 0) != shots - discards
        ):
            raise ValueError("survivors are not shots - discards")
        return _Row(
            shots=shots,
            discards=discards,
            decoder=row["decoder"],
            strong_id=row["strong_id"],
            json_metadata=_json(row, "json_metadata"),
            custom_counts=row.get("custom_counts", ""),
            num_values=len(values),
        )


def _check_estimate(row: _Row) -> None:
    remedy = "Delete such lines, and compute the rates again with `python -m sinter_plugin estimate`."
    if row.shots:
        raise ValueError(
            f"{row.shots} shots that nobody has taken: an earlier version of this package wrote counts in"
            f" place of an estimate. {remedy}"
        )
    if row.custom_counts and json.loads(row.custom_counts).get(ESTIMATES) != 1:
        raise ValueError(f"an estimate that was added to itself. {remedy}")


def _whole_number(row: dict[str, str], name: str) -> int:
    try:
        number = int(row[name])
    except ValueError:
        number = -1
    if number < 0:
        raise ValueError(f"{name} are {row[name]!r}")
    return number


def _is_duration(text: str) -> bool:
    try:
        return float(text) >= 0
    except ValueError:
        return False


def _json(row: dict[str, str], name: str) -> Any:
    try:
        return json.loads(row[name])
    except ValueError:
        raise ValueError(f"{name} cannot be read as JSON") from None


def shown(text: str) -> str:
    """A line in the form for messages; the middle of a very long line is left out."""
    return repr(text if len(text) <= 500 else f"{text[:350]} ... {text[-150:]}")


def strong_id_of(line: bytes) -> str | None:
    """The strong_id of a row that Sinter has written; None for an empty line."""
    values = next(csv.reader([line.decode("utf-8", "surrogateescape")]), [])
    column = _COLUMNS.index("strong_id")
    return values[column] if len(values) > column else None
