"""Ends a worker when the process that started it has ended; otherwise the worker would sample for ever.

Sinter stops its workers itself, but cannot do so if it is killed, or ended by a signal such as SIGHUP. The
watch therefore travels with the sampler: it begins where a sampler is unpickled that was pickled for a
process that is being spawned. So the watch exists in every worker that gets a sampler of this plugin, however
the collection was started.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from multiprocessing.context import get_spawning_popen
from typing import Any

_IS_SPAWNED = "is spawned"  # key of the pickled state; no attribute has this name

_POLL_SECONDS = 1.0

_watching = threading.Lock()  # the first watch of a process acquires it and never releases it


class EndsWithItsParent:
    """A sampler whose workers end when the process that spawned them has ended."""

    def __getstate__(self) -> dict[str, Any]:
        is_spawned = getattr(get_spawning_popen(), "method", None) == "spawn"
        return {**self.__dict__, _IS_SPAWNED: is_spawned}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state.pop(_IS_SPAWNED) and _watching.acquire(blocking=False):
            threading.Thread(target=_watch_parent, name="parent watch", daemon=True).start()
        self.__dict__.update(state)


def _watch_parent() -> None:
    while True:
        time.sleep(_POLL_SECONDS)
        parent = multiprocessing.parent_process()  # None until this process has been set up
        if parent is not None and not parent.is_alive():
            os._exit(1)
