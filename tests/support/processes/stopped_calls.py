"""Exceptions of signal handlers in the middle of calls, as a KeyboardInterrupt is one."""

import contextlib
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

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
def heard_soon(within: float = 0.5) -> Iterator[None]:
    """The same, and it is heard within so many seconds of work of this thread, whatever others do.

    Python's garbage collector waits: after thousands of tests, it takes long.
    """
    seconds = 0.3
    gc.disable()
    try:
        begin = time.thread_time()
        with stopped(seconds):
            yield
        assert time.thread_time() - begin < seconds + within
    finally:
        gc.enable()


@contextmanager
def stopped_from_a_thread(turns: int = 20) -> Iterator[None]:
    """Raises ``Stop`` when another thread of Python has had so many turns while the main thread was in one call.

    The call must not end by itself. One that kept Python's lock would go on for a minute, and fail then.
    """
    main, done, had_turns = threading.main_thread(), threading.Event(), threading.Event()

    def run() -> None:
        place, times = (0, 0), 0
        while times < turns:
            if done.wait(0.001):
                return
            frame = sys._current_frames()[main.ident or 0]
            before, place = place, (id(frame), frame.f_lasti)
            is_before_the_call = frame.f_code.co_filename in (
                __file__,
                contextlib.__file__,
                threading.__file__,
            )
            times = times + 1 if place == before and not is_before_the_call else 0
        had_turns.set()
        os.kill(os.getpid(), signal.SIGALRM)

    def stop(number: int, frame: object) -> None:
        assert had_turns.is_set(), "Python's lock was not released"
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 60)
    other = threading.Thread(target=run)
    try:
        other.start()
        yield
    except Stop:
        pass
    else:
        pytest.fail("the call ended by itself")
    finally:
        done.set()
        other.join()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
