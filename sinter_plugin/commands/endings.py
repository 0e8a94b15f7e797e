"""How commands that save statistics print rows, and end: interrupted, without workers, or without a file."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import sinter

from ..runs.executors import WorkersLostError
from ..runs.progress import say
from ..statistics.statistics_file import StatisticsFileError


def exit_code_of(work: Callable[[], int], goes_on: str) -> int:
    """The exit code of some work: its own; 130 after an interrupt; 1 if workers or the file were lost."""
    try:
        with _interrupted_by_signals():
            return work()
    except KeyboardInterrupt:
        say(f"\nInterrupted. Run the same command again to {goes_on}.")
        return 130
    except WorkersLostError as error:
        say(f"\n{error} Run the same command again to {goes_on}.")
    except StatisticsFileError as error:
        say(f"\n{error}")
    return 1


# Often several signals arrive: the terminal, the shell and the system send one each, or users press Ctrl-C
# twice. For this long after the first signal, further ones are ignored, so that the run can end properly.
_ENDING_SECONDS = 10.0


@contextlib.contextmanager
def _interrupted_by_signals() -> Iterator[None]:
    """A context in which SIGINT, SIGTERM and SIGHUP raise a KeyboardInterrupt in the main thread.

    SIGTERM is sent by batch systems, SIGHUP when a terminal or a connection is closed. Signals that the
    process ignores remain ignored; ``nohup`` ignores SIGHUP.
    """
    first: float | None = None

    def interrupt(number: int, frame: Any) -> None:
        nonlocal first
        now = time.monotonic()
        if first is None or now - first >= _ENDING_SECONDS:
            first = now
            raise KeyboardInterrupt

    # Windows has no SIGHUP.
    numbers = [getattr(signal, name, None) for name in ("SIGTERM", "SIGINT", "SIGHUP")]
    chosen = [each for each in numbers if each and signal.getsignal(each) is not signal.SIG_IGN]
    previous_handlers = {number: signal.signal(number, interrupt) for number in chosen}
    try:
        yield
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


class RowPrinter:
    """Prints rows below Sinter's header to standard output, which may be a file of some name."""

    def __init__(self, name: str | None = None) -> None:
        self._name, self._header = name, f"{sinter.CSV_HEADER}\n"

    def show(self, row: sinter.TaskStats) -> None:
        """Prints a row, and the header before the first one."""
        print_text(f"{self._header}{row.to_csv_line()}", self._name)
        self._header = ""


def print_text(text: str, name: str | None = None) -> None:
    """Prints text to standard output, which may be a file of some name."""
    try:
        print(text, flush=True)
    except OSError as error:
        error.filename = name or "standard output"
        raise
