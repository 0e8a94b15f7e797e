"""Ends a collection when a worker dies, or on SIGTERM and SIGHUP; Sinter does neither.

Sinter waits for ever for the shots of a worker that was killed, for example for want of memory. And SIGTERM,
which batch systems send, or SIGHUP, which comes when a terminal or a connection is closed, ends Sinter's
main process without a word.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

__all__ = ["WorkerDiedError", "stop_on_worker_death"]

_POLL_SECONDS = 0.1
# At its beginning Sinter starts its workers one by one; at its end it kills them, and is done soon after.
_GRACE_SECONDS = 3.0
# Signals rarely come alone: the terminal, the shell and the system send one each, and users press Ctrl-C
# twice. For so long after the first one the others must not disturb the end of the run.
_ENDING_SECONDS = 10.0


class WorkerDiedError(RuntimeError):
    """A worker process ended before the collection did."""


@contextlib.contextmanager
def stop_on_worker_death(num_workers: int) -> Iterator[None]:
    """Makes SIGTERM, SIGHUP and the death of a child process interrupt the main thread, as Ctrl-C does.

    To be used in the main thread, around code that starts worker processes and waits for them. No child
    process is left when it ends.

    Args:
        num_workers: The number of child processes that will be started.

    Raises:
        WorkerDiedError: A child process died.
        KeyboardInterrupt: The user interrupted, or SIGTERM or SIGHUP came from elsewhere.
    """
    finished = threading.Event()
    worker_died = threading.Event()
    watch = threading.Thread(target=_watch_children, args=(num_workers, finished, worker_died), daemon=True)
    interrupt = _Interrupt()
    previous_handlers = {number: signal.signal(number, interrupt) for number in _interrupting_signals()}
    watch.start()
    try:
        yield
    except (KeyboardInterrupt, AttributeError):
        if worker_died.is_set():
            raise WorkerDiedError(
                "A worker process died; it may have been killed, for example for want of memory."
            ) from None
        if interrupt.came:
            # Sinter's clean-up stumbles, with an AttributeError, over workers that were not yet started.
            raise KeyboardInterrupt from None
        raise
    finally:
        finished.set()
        watch.join()
        for child in multiprocessing.active_children():
            child.kill()
            child.join()
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


def _interrupting_signals() -> list[signal.Signals]:
    """SIGTERM, and SIGINT and SIGHUP unless they are ignored, as ``nohup`` has it."""
    signals = [signal.SIGTERM]
    for name in ("SIGINT", "SIGHUP"):  # Windows has no SIGHUP.
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signals.append(number)
    return signals


class _Interrupt:
    """A signal handler that raises a KeyboardInterrupt, and lets what follows at once pass by."""

    def __init__(self) -> None:
        self._first: float | None = None

    @property
    def came(self) -> bool:
        return self._first is not None

    def __call__(self, number: int, frame: Any) -> None:
        now = time.monotonic()
        if self._first is not None and now - self._first < _ENDING_SECONDS:
            return
        self._first = now
        raise KeyboardInterrupt


def _watch_children(num_workers: int, finished: threading.Event, worker_died: threading.Event) -> None:
    last_alive = 0
    last_good = None  # when there were none missing, or one more than before; None before the first
    while not finished.wait(_POLL_SECONDS):
        alive = len(multiprocessing.active_children())
        if alive > last_alive or alive == num_workers:
            last_good = time.monotonic()
        last_alive = alive
        if last_good is not None and time.monotonic() - last_good > _GRACE_SECONDS:
            worker_died.set()
            # To that very thread: a signal to the process need not wake it from reading its queue.
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
            return
