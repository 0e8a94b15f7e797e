"""SIGTERM and SIGHUP interrupt a run as Ctrl-C does; and what a run says must not end it."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

__all__ = ["interrupted_by_signals", "say"]

# Often several signals arrive: the terminal, the shell and the system send one each, or users press Ctrl-C
# twice. For this long after the first signal, further ones are ignored, so that the run can end properly.
_ENDING_SECONDS = 10.0


@contextlib.contextmanager
def interrupted_by_signals() -> Iterator[None]:
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

    names = [
        name for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)
    ]  # Windows has no SIGHUP
    numbers = [getattr(signal, name) for name in names]
    chosen = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    previous_handlers = {number: signal.signal(number, interrupt) for number in chosen}
    try:
        yield
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


def say(message: str, end: str = "\n") -> None:
    """Shows a message to the user, if somebody is there: the terminal may have been closed."""
    with contextlib.suppress(OSError):
        print(message, end=end, file=sys.stderr, flush=True)
