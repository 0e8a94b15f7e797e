"""Reads the rows of a file of statistics one by one, each with the number of its line."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass

import sinter

from .rows import check_rows, shown

__all__ = ["NumberedRow", "whole_rows"]


@dataclass(frozen=True)
class NumberedRow:
    """A row of a file.

    Attributes:
        number: The number of its line, counted from 1.
        stats: What it says.
    """

    number: int
    stats: sinter.TaskStats


def whole_rows(lines: Iterable[bytes], path: str) -> list[NumberedRow]:
    r"""The rows of a file that was written to its end.

    Args:
        lines: The lines of the file with their line ends.
        path: The path of the file, for messages.

    Returns:
        The rows, in the order of the file.

    Raises:
        ValueError: The file is empty or was cut off, or a line is not a row of statistics.

    Examples:
        >>> header = b"shots,errors,discards,seconds,decoder,strong_id,json_metadata,custom_counts\n"
        >>> row = b'9,1,2,0.5,soft_postselect,abc,"{""p"":1}","{""survivors"":7}"'
        >>> [each.number for each in whole_rows([header, row + b"\n", b"\n", row + b"\n"], "stats.csv")]
        [2, 4]
        >>> whole_rows([header, row], "stats.csv")
        Traceback (most recent call last):
        ...
        ValueError: stats.csv, line 2: the line does not end with a newline: the file may have been cut off...
    """
    lines = list(lines)
    if not lines:
        raise ValueError(f"{path} is empty. Leave it out, or run its command again.")
    end = check_rows(lines, path)
    if end is not None:
        remedy = "add the newline" if end.is_whole else "delete the line, whose shots are then lost"
        raise ValueError(
            f"{path}, line {end.line_number}: the line does not end with a newline: the file may have been"
            f" cut off: {shown(end.text)}. Run the command that wrote it again, which repairs it; or"
            f" {remedy}."
        )
    header, *rows = (line.decode("utf-8", "surrogateescape") for line in lines)
    found = []
    for number, row in enumerate(rows, start=2):
        if row.strip():
            [stats] = sinter.read_stats_from_csv_files(io.StringIO(header + row))
            found.append(NumberedRow(number, stats))
    return found
