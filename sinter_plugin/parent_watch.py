"""Ends a worker when the process that started it is gone; Sinter's workers would go on sampling for ever.

Sinter kills its workers itself, but cannot if it is killed, or ended by a signal such as SIGHUP. The sampler
takes the watch along: what is pickled for a process that is being spawned tells that process whose child
it is, and starts the watch there when it is unpickled. So it works for every worker that gets a sampler of
this plugin, whoever started the collection.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from multiprocessing.context import get_spawning_popen

__all__ = ["SpawningProcess"]

_POLL_SECONDS = 1.0
_PR_SET_PDEATHSIG = 1

_watching = threading.Lock()  # taken for good by the first watch of a process


@dataclass(frozen=True)
class SpawningProcess:
    """The process that spawns another one.

    Attributes:
        pid: Its process id.
        in_main_thread: Whether it is its main thread that spawns.
    """

    pid: int
    in_main_thread: bool

    @classmethod
    def current(cls) -> SpawningProcess | None:
        """This process, if it is pickling something for a process that it spawns, else None.

        Examples:
            >>> SpawningProcess.current() is None  # pickled to a file, or to be copied
            True
        """
        if getattr(get_spawning_popen(), "method", None) != "spawn":
            return None
        return cls(os.getpid(), threading.current_thread() is threading.main_thread())

    def end_with_it(self) -> None:
        """Makes this process, the spawned one, end when the spawning process does. Once is enough."""
        if not _watching.acquire(blocking=False):
            return
        # The kernel sends its signal when the thread that spawned ends, which need not be the process.
        if sys.platform == "linux" and self.in_main_thread:
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != self.pid:  # It was gone before.
                os._exit(1)
        threading.Thread(target=_watch_parent, name="parent watch", daemon=True).start()


def _watch_parent() -> None:
    while True:
        time.sleep(_POLL_SECONDS)
        parent = multiprocessing.parent_process()  # None until this process has been set up
        if parent is not None and not parent.is_alive():
            os._exit(1)
