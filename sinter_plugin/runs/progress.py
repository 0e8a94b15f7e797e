"""What a run says, and how far it is: on a terminal at all times, in a log once per hour."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Callable

LOG_SECONDS = 3600.0
"""Between two lines of a log."""

_TERMINAL_SECONDS = 1.0


def say(message: str, end: str = "\n") -> None:
    """Shows a message to the user, if somebody is there: the terminal may have been closed."""
    with contextlib.suppress(OSError):
        print(message, end=end, file=sys.stderr, flush=True)


class ProgressLine:
    """Shows a line on standard error: every second in the same place on a terminal, otherwise once per hour.

    A log also has a line for the beginning and one for the end of a run.
    """

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._started = time.monotonic()
        self._shown_at = float("-inf")

    def show(self, text: Callable[[str], str], *, at_end: bool) -> None:
        """Shows the text for the time that has passed, if it is time for it or the end of the run."""
        now = time.monotonic()
        pause = _TERMINAL_SECONDS if self._is_terminal else LOG_SECONDS
        if not at_end and now - self._shown_at < pause:
            return
        self._shown_at = now
        line = text(_duration(now - self._started))
        if self._is_terminal:
            line = f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}"
            say(line, end="\n" if at_end else "")
        else:
            say(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {line}")


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = int(seconds // 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
