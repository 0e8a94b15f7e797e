"""How commands that save statistics print rows, and end: interrupted, without workers, or without a file."""

from __future__ import annotations

from collections.abc import Callable

import sinter

from ..runs.executors import WorkersLostError
from ..runs.interrupts import interrupted_by_signals, say
from ..statistics.statistics_file import StatisticsFileError

__all__ = ["exit_code_of", "print_row", "print_text"]


def exit_code_of(work: Callable[[], int], goes_on: str) -> int:
    """The exit code of some work: its own; 130 after an interrupt; 1 if workers or the file were lost."""
    try:
        with interrupted_by_signals():
            return work()
    except KeyboardInterrupt:
        say(f"\nInterrupted. Run the same command again to {goes_on}.")
        return 130
    except WorkersLostError as error:
        say(f"\n{error} Run the same command again to {goes_on}.")
    except StatisticsFileError as error:
        say(f"\n{error}")
    return 1


def print_row(row: sinter.TaskStats, has_header: bool, name: str | None = None) -> None:
    """Prints a row, below Sinter's header, to standard output, which may be a file of some name."""
    print_text(row.to_csv_line() if has_header else f"{sinter.CSV_HEADER}\n{row.to_csv_line()}", name)


def print_text(text: str, name: str | None = None) -> None:
    """Prints text to standard output, which may be a file of some name."""
    try:
        print(text, flush=True)
    except OSError as error:
        error.filename = name or "standard output"
        raise
