"""Shows how far a run is: on a terminal at all times, in a log once per hour."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time

import sinter

__all__ = ["ProgressLine"]

LOG_SECONDS = 3600.0
"""Between two lines of a log."""

_TERMINAL_SECONDS = 1.0


class ProgressLine:
    """Shows a line on standard error: every second in the same place on a terminal, otherwise once per hour.

    A log also has a line for the beginning and one for the end of a run.
    """

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._started = time.monotonic()
        self._shown_at = float("-inf")

    def show(
        self,
        *,
        done: int,
        tasks: int,
        workers: int,
        shots: int,
        current: sinter.TaskStats | None,
        at_end: bool,
    ) -> None:
        """Shows a line if it is time for it."""
        now = time.monotonic()
        pause = _TERMINAL_SECONDS if self._is_terminal else LOG_SECONDS
        if not at_end and now - self._shown_at < pause:
            return
        self._shown_at = now
        parts = [
            f"{done} of {tasks} tasks done",
            f"{workers} workers" if workers != 1 else "1 worker",
            f"{shots:.3g} shots in {_duration(now - self._started)}",
        ]
        if current is not None:
            parts.append(
                f"{current.decoder} {current.json_metadata}: {current.shots:.4g} shots,"
                f" {current.discards:.4g} discarded, {current.errors} errors"
            )
        line = "; ".join(parts)
        if self._is_terminal:
            line = f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}"
        else:
            line = f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {line}"
        with contextlib.suppress(OSError):  # nobody may be there to read it
            print(line, end="\n" if at_end or not self._is_terminal else "", file=sys.stderr, flush=True)


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
