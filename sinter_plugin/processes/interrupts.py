"""SIGTERM and SIGHUP interrupt a run as Ctrl-C does."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from typing import Any

__all__ = ["Interrupt", "interrupted_by_signals"]

# Often several signals arrive: the terminal, the shell and the system send one each, or users press Ctrl-C
# twice. For this long after the first signal, further ones are ignored, so that the run can end properly.
_ENDING_SECONDS = 10.0


class Interrupt:
    """A signal handler that raises a KeyboardInterrupt, and ignores further signals for some seconds."""

    def __init__(self) -> None:
        self._first: float | None = None

    def __call__(self, number: int, frame: Any) -> None:
        """Handles a signal."""
        now = time.monotonic()
        if self._first is not None and now - self._first < _ENDING_SECONDS:
            return
        self._first = now
        raise KeyboardInterrupt


@contextlib.contextmanager
def interrupted_by_signals() -> Iterator[Interrupt]:
    """A context in which SIGINT, SIGTERM and SIGHUP raise a KeyboardInterrupt in the main thread.

    SIGTERM is sent by batch systems, SIGHUP when a terminal or a connection is closed. Signals that the
    process ignores remain ignored; ``nohup`` ignores SIGHUP.
    """
    interrupt = Interrupt()
    previous_handlers = {number: signal.signal(number, interrupt) for number in _interrupting_signals()}
    try:
        yield interrupt
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


def _interrupting_signals() -> list[signal.Signals]:
    signals = [signal.SIGTERM]
    for name in ("SIGINT", "SIGHUP"):  # Windows has no SIGHUP
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signals.append(number)
    return signals
