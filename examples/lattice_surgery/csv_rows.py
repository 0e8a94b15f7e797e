"""Files of rows to which a command adds, so that it can be stopped and resumed."""

from __future__ import annotations

import csv
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

RowT = TypeVar("RowT")


def read_rows(path: Path, empty: RowT) -> list[RowT]:
    """The rows of a file; none if there is no file.

    Args:
        path: The file.
        empty: A row whose cells have the types of the columns, an instance of a dataclass.
    """
    if not path.exists():
        return []
    cells: dict[str, Any] = vars(empty)
    with path.open(encoding="utf-8", newline="") as file:
        return [
            type(empty)(**{name: type(cells[name])(text) for name, text in row.items()})
            for row in csv.DictReader(file)
        ]


def append_row(path: Path, row: Any) -> None:
    """Adds a row, an instance of a dataclass, to a file."""
    is_new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = asdict(row)
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(cells)
        writer.writerow(f"{cell:.6g}" if isinstance(cell, float) else cell for cell in cells.values())


def with_error(value: float, error: float) -> str:
    """A value with its standard error in units of the last digit, as 0.0189(10).

    Examples:
        >>> with_error(0.01894, 0.00097), with_error(0.8536, 0.0035), with_error(1.0, 5e-5)
        ('0.0189(10)', '0.854(4)', '1.00000(5)')
        >>> with_error(0.5, 0.0)
        '0.5'
    """
    if not error:
        return f"{value:.6g}"
    digits = 1
    while error * 10**digits < 1.95:
        digits += 1
    return f"{value:.{digits}f}({error * 10**digits:.0f})"
