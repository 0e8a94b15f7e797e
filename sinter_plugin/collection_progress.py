"""Shows how far a run is: on a terminal at all times, in a log once per hour."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time

from .range_collection import CollectionTask, RangeCollection

__all__ = ["HourlyLog", "ProgressLine"]

LOG_SECONDS = 3600.0
"""Between two lines of a log."""

_TERMINAL_SECONDS = 1.0


class HourlyLog:
    """Prints a message on standard error once per hour, with the time, beginning with the first."""

    def __init__(self) -> None:
        self._shown_at = float("-inf")

    def show(self, message: str) -> None:
        """Prints a message if it is time for it.

        Args:
            message: The message.
        """
        if time.monotonic() - self._shown_at >= LOG_SECONDS:
            self._shown_at = time.monotonic()
            self.print(message)

    @staticmethod
    def print(message: str) -> None:
        """Prints a message.

        Args:
            message: The message.
        """
        with contextlib.suppress(OSError):  # nobody may be there to read it
            print(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {message}", file=sys.stderr, flush=True)


class ProgressLine:
    """Shows a line on standard error: every second in the same place on a terminal, otherwise once per hour.

    A log also has a line for the beginning and one for the end of a run.
    """

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._log = HourlyLog()
        self._started = time.monotonic()
        self._shown_at = float("-inf")

    def show(self, run: RangeCollection) -> None:
        """Shows a line if it is time for it.

        Args:
            run: The run.
        """
        if not self._is_terminal:
            self._log.show(self._line(run))
        elif time.monotonic() - self._shown_at >= _TERMINAL_SECONDS:
            self._shown_at = time.monotonic()
            self._print(self._line(run))

    def end(self, run: RangeCollection) -> None:
        """Shows the last line.

        Args:
            run: The run.
        """
        if self._is_terminal:
            self._print(self._line(run), end="\n")
        else:
            self._log.print(self._line(run))

    def _line(self, run: RangeCollection) -> str:
        done = sum(task.ranges.is_done for task in run.tasks)
        seconds = time.monotonic() - self._started
        shots = sum(task.ranges.accepted.shots for task in run.tasks)
        parts = [
            f"{done} of {len(run.tasks)} tasks done",
            f"{run.num_slots} workers" if run.num_slots != 1 else "1 worker",
            f"{shots:.3g} shots in {_duration(seconds)}",
        ]
        current = next((task for task in run.tasks if not task.ranges.is_done), None)
        if current is not None:
            parts.append(_state(current))
        return "; ".join(parts)

    @staticmethod
    def _print(line: str, end: str = "") -> None:
        width = shutil.get_terminal_size().columns - 1
        with contextlib.suppress(OSError):  # the terminal may have been closed
            print(f"\r\x1b[K{line[:width]}", end=end, file=sys.stderr, flush=True)


def _state(task: CollectionTask) -> str:
    total = task.start + task.ranges.accepted
    return (
        f"{task.task.decoder} {task.task.json_metadata}: {total.shots:.4g} shots, {total.discards:.4g}"
        f" discarded, {total.errors} errors"
    )


def _duration(seconds: float) -> str:
    """A duration as text.

    Examples:
        >>> _duration(59), _duration(3700), _duration(200_000)
        ('59 s', '1 h 1 min', '55 h 33 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = int(seconds // 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
