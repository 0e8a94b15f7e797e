"""Calls from several threads, one after the other."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """Lets one thread at a time into an object."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._holder: int | None = None

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The turn of the calling thread: waits until no other thread has it. Ctrl-C ends the waiting."""
        # The lock first: a thread of this process that holds it has noted the process before.
        locked = self._lock.locked()
        if self._process != os.getpid():
            if locked:
                raise RuntimeError(
                    f"The process was forked while another thread was inside a call of this {self._name}."
                    f" Compile the circuit again in the new process, and use that {self._name}."
                )
            self._process = os.getpid()
        caller = threading.get_ident()
        if self._holder == caller:
            raise RuntimeError(
                f"This thread is inside another call of this {self._name}, so that a call from here (from a"
                f" signal handler, for example) would wait for ever. Use another {self._name} here."
            )
        with self._lock:
            self._holder = caller
            try:
                yield
            finally:
                self._holder = None
