"""Exceptions of signal handlers in the middle of calls, as a KeyboardInterrupt is one."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

__all__ = ["Stop", "heard_soon", "needs_timer", "stopped", "ticking"]

needs_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer here")


class Stop(BaseException):
    """As KeyboardInterrupt, which would stop the tests if it came too late."""


@contextmanager
def stopped(seconds: float) -> Iterator[None]:
    """Raises ``Stop`` after some time, from a signal handler. It must come before the end."""

    def stop(number: int, frame: object) -> None:
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with pytest.raises(Stop):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def heard_soon(seconds: float = 0.3, within: float = 0.5) -> Iterator[None]:
    """The same, and it is heard within so many seconds of the work of this process, whatever others do."""
    begin = time.process_time()
    with stopped(seconds):
        yield
    assert time.process_time() - begin < seconds + within


@contextmanager
def ticking() -> Iterator[list[float]]:
    """A list to which another thread appends the time every millisecond, as long as Python's lock lets it."""
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.wait(0.001):
            ticks.append(time.monotonic())

    other = threading.Thread(target=tick)
    other.start()
    try:
        yield ticks
    finally:
        done.set()
        other.join()
