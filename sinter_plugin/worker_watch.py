"""Ends a collection when a worker dies, or on SIGTERM; Sinter does neither.

Sinter waits for ever for the shots of a worker that was killed, for example for want of memory. And a
SIGTERM, which batch systems send, ends Sinter's main process but leaves its workers sampling.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
import time
from collections.abc import Iterator

__all__ = ["WorkerDiedError", "stop_on_worker_death"]

_POLL_SECONDS = 0.1
# At its beginning Sinter starts its workers one by one; at its end it kills them, and is done soon after.
_GRACE_SECONDS = 3.0


class WorkerDiedError(RuntimeError):
    """A worker process ended before the collection did."""


@contextlib.contextmanager
def stop_on_worker_death(num_workers: int) -> Iterator[None]:
    """Makes SIGTERM and the death of a child process interrupt the main thread, as Ctrl-C does.

    To be used in the main thread, around code that starts worker processes and waits for them.

    Args:
        num_workers: The number of child processes that will be started.

    Raises:
        WorkerDiedError: A child process died.
        KeyboardInterrupt: The user interrupted, or SIGTERM came from elsewhere.
    """
    finished = threading.Event()
    worker_died = threading.Event()
    watch = threading.Thread(target=_watch_children, args=(num_workers, finished, worker_died), daemon=True)
    previous_handler = signal.signal(signal.SIGTERM, signal.default_int_handler)
    watch.start()
    try:
        yield
    except KeyboardInterrupt:
        if worker_died.is_set():
            raise WorkerDiedError(
                "A worker process died; it may have been killed, for example for want of memory."
            ) from None
        raise
    finally:
        finished.set()
        watch.join()
        signal.signal(signal.SIGTERM, previous_handler)


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
