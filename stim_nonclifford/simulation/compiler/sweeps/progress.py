"""Progress: a line on the terminal while a long pass of the compiler runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SILENT_SECONDS = 2.0
_PERIOD_SECONDS = 0.2


@contextmanager
def progress_of(what: str, num_steps: int, *, backward: bool = False) -> Iterator[Callable[[int], None]]:
    """Shows how far a pass is, from two seconds on, if the standard error stream is a terminal.

    The line is erased at the end. Notebooks and log files get none. The pass calls the function with the
    number of the step that it follows, in the main thread only. Python handles signals during the call, so
    that Ctrl-C stops the pass.
    """
    stream = sys.stderr
    is_shown = stream is not None and stream.isatty()
    next_time = time.monotonic() + _SILENT_SECONDS
    width = 0

    def progress(step: int) -> None:
        nonlocal next_time, width
        if not is_shown or time.monotonic() < next_time:
            return
        next_time = time.monotonic() + _PERIOD_SECONDS
        done = num_steps - step if backward else step
        line = f"compiling: {what}, {100 * done // max(1, num_steps)}% of {num_steps:,} steps"
        width = max(width, len(line))
        stream.write(f"\r{line:{width}}")
        stream.flush()

    try:
        yield progress
    finally:
        if width:
            stream.write(f"\r{'':{width}}\r")
            stream.flush()
