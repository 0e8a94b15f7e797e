"""Ends a collection in an orderly way when a worker dies, and on SIGTERM and SIGHUP.

If a worker is killed, for example for lack of memory, Sinter alone would wait for its shots for ever. SIGTERM
(sent by batch systems) and SIGHUP (sent when a terminal or a connection is closed) would end Sinter's main
process without any message (see ``interrupts``).
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import signal
import threading
import time
from collections.abc import Iterator

from .interrupts import interrupted_by_signals

__all__ = ["TimeIsUpError", "WorkerDiedError", "stop_on_worker_death"]

_POLL_SECONDS = 0.1
# For this long, workers may be missing: Sinter starts its workers one by one, and stops them before its end.
_GRACE_SECONDS = 3.0


class WorkerDiedError(RuntimeError):
    """A worker process ended before the collection did."""


class TimeIsUpError(RuntimeError):
    """A run has had its time."""


@contextlib.contextmanager
def stop_on_worker_death(num_workers: int, max_seconds: float | None = None) -> Iterator[None]:
    """A context in which SIGTERM, SIGHUP and the death of a child process interrupt the main thread.

    To be used in the main thread, around code that starts worker processes and waits for them. The context
    ends all remaining child processes when it is left.

    Args:
        num_workers: The number of child processes that will be started.
        max_seconds: The context ends after that; None for no limit.

    Yields:
        None.

    Raises:
        WorkerDiedError: A child process died.
        TimeIsUpError: The time is up.
        KeyboardInterrupt: The user interrupted the run, or another process sent SIGTERM or SIGHUP.
    """
    finished = threading.Event()
    worker_died = threading.Event()
    time_is_up = threading.Event()
    deadline = math.inf if max_seconds is None else time.monotonic() + max_seconds
    watch = threading.Thread(
        target=_watch_children,
        args=(num_workers, finished, worker_died, deadline, time_is_up),
        daemon=True,
    )
    with interrupted_by_signals() as interrupt:
        watch.start()
        try:
            yield
        except (KeyboardInterrupt, AttributeError):
            if worker_died.is_set():
                raise WorkerDiedError(
                    "A worker process died. It may have been killed, for example for lack of memory."
                ) from None
            if time_is_up.is_set():
                raise TimeIsUpError from None
            if interrupt.came:
                # Sinter's clean-up raises an AttributeError if some workers have not been started yet.
                raise KeyboardInterrupt from None
            raise
        finally:
            finished.set()
            watch.join()
            for child in multiprocessing.active_children():
                child.kill()
                child.join()


def _watch_children(
    num_workers: int,
    finished: threading.Event,
    worker_died: threading.Event,
    deadline: float,
    time_is_up: threading.Event,
) -> None:
    last_alive = 0
    last_good = None  # last time at which no worker was missing or one was started; None before the first
    while not finished.wait(_POLL_SECONDS):
        alive = len(multiprocessing.active_children())
        if alive > last_alive or alive == num_workers:
            last_good = time.monotonic()
        last_alive = alive
        if last_good is not None and time.monotonic() - last_good > _GRACE_SECONDS:
            worker_died.set()
        elif time.monotonic() >= deadline:
            time_is_up.set()
        if worker_died.is_set() or time_is_up.is_set():
            # Sent to the main thread: a signal to the process might not wake that thread from its wait.
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
            return
