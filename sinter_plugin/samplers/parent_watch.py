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
from multiprocessing.context import get_spawning_popen
from typing import Any

_SPAWNING_PROCESS = "spawning process"  # key of the pickled state; no attribute has this name

_POLL_SECONDS = 1.0
_PR_SET_PDEATHSIG = 1

_watching = threading.Lock()  # the first watch of a process acquires it and never releases it


class EndsWithItsParent:
    """A sampler whose workers end when the process that spawned them has ended."""

    def __getstate__(self) -> dict[str, Any]:
        if getattr(get_spawning_popen(), "method", None) != "spawn":
            return {**self.__dict__}
        in_main_thread = threading.current_thread() is threading.main_thread()
        return {**self.__dict__, _SPAWNING_PROCESS: (os.getpid(), in_main_thread)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if _SPAWNING_PROCESS in state:
            _end_with(*state.pop(_SPAWNING_PROCESS))
        self.__dict__.update(state)


def _end_with(parent: int, in_main_thread: bool) -> None:
    """Lets this process end when its parent, or the parent's thread, does. Further calls do nothing."""
    if not _watching.acquire(blocking=False):
        return
    # Linux sends this signal when the spawning thread ends. Only the main thread ends with its process.
    if sys.platform == "linux" and in_main_thread:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent ended before the call of prctl
            os._exit(1)
    threading.Thread(target=_watch_parent, name="parent watch", daemon=True).start()


def _watch_parent() -> None:
    while True:
        time.sleep(_POLL_SECONDS)
        parent = multiprocessing.parent_process()  # None until this process has been set up
        if parent is not None and not parent.is_alive():
            os._exit(1)
