"""Ends a worker when the process that started it has ended; otherwise the worker would sample for ever.

Sinter stops its workers itself, but cannot do so if it is killed, or ended by a signal such as SIGHUP. The
watch therefore travels with the sampler. When a sampler is pickled for a process that is being spawned, it
records the spawning process. When it is unpickled there, it starts to watch that process. So the watch exists
in every worker that gets a sampler of this plugin, however the collection was started.
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
from typing import Any

__all__ = ["EndsWithItsParent", "SpawningProcess"]

_SPAWNING_PROCESS = "spawning process"  # key of the pickled state; no attribute has this name

_POLL_SECONDS = 1.0
_PR_SET_PDEATHSIG = 1

_watching = threading.Lock()  # the first watch of a process acquires it and never releases it


@dataclass(frozen=True)
class SpawningProcess:
    """A process that spawns another process.

    Attributes:
        pid: Its process id.
        in_main_thread: Whether its main thread spawns the other process.
    """

    pid: int
    in_main_thread: bool

    @classmethod
    def current(cls) -> SpawningProcess | None:
        """This process, if it is pickling objects for a process that it spawns; otherwise None.

        Examples:
            >>> SpawningProcess.current() is None  # no process is being spawned
            True
        """
        if getattr(get_spawning_popen(), "method", None) != "spawn":
            return None
        return cls(os.getpid(), threading.current_thread() is threading.main_thread())

    def end_with_it(self) -> None:
        """Called in the spawned process: ends it when the spawning process ends. Further calls do nothing."""
        if not _watching.acquire(blocking=False):
            return
        # Linux sends this signal when the spawning thread ends. Only the main thread ends with its process.
        if sys.platform == "linux" and self.in_main_thread:
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != self.pid:  # the parent ended before the call of prctl
                os._exit(1)
        threading.Thread(target=_watch_parent, name="parent watch", daemon=True).start()


class EndsWithItsParent:
    """A sampler whose workers end when the process that spawned them has ended."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, _SPAWNING_PROCESS: SpawningProcess.current()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        spawning_process = state.pop(_SPAWNING_PROCESS, None)
        if spawning_process is not None:
            spawning_process.end_with_it()
        self.__dict__.update(state)


def _watch_parent() -> None:
    while True:
        time.sleep(_POLL_SECONDS)
        parent = multiprocessing.parent_process()  # None until this process has been set up
        if parent is not None and not parent.is_alive():
            os._exit(1)
