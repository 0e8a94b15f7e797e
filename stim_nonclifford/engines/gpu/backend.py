"""What the engine needs of a device."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .cuda_source import Kernel

__all__ = ["Array", "Backend", "Queue"]

Array = Any
"""An array on the device: of NumPy or CuPy."""


class Queue(Protocol):
    """Work in order; work in different queues may overlap (a CUDA stream)."""

    def active(self) -> AbstractContextManager[Any]:
        """In its context, work and copies go to this queue."""
        ...

    def launch(self, kernel: Kernel, job: Array, round_number: int | None = None) -> None:
        """Launches a kernel with a job, and a round if it has any."""
        ...

    def mark(self) -> object:
        """A mark after the work given so far."""
        ...

    def wait_for(self, mark: object) -> None:
        """Lets later work wait for a mark of any queue."""
        ...


class Backend(Protocol):
    """A device with its memory.

    Attributes:
        xp: NumPy, or the module with its functions for the device.
        multiprocessors: How many blocks of threads can be at work at least.
        shared_bytes: Shared memory of a block, at most.
    """

    xp: ModuleType
    multiprocessors: int
    shared_bytes: int

    def active(self) -> AbstractContextManager[Any]:
        """In its context, arrays are made on this device."""
        ...

    def free_bytes(self) -> int:
        """Memory that is free."""
        ...

    def new_queue(self) -> Queue:
        """A queue for work."""
        ...

    def address(self, array: Array) -> int:
        """The address of an array's memory on the device."""
        ...

    def to_device(self, array: npt.NDArray[Any]) -> Array:
        """A copy on the device."""
        ...

    def to_host(self, array: Array) -> npt.NDArray[Any]:
        """A copy on the host, made after all work in the active queue."""
        ...

    def upload(self, array: Array, values: npt.NDArray[np.uint8]) -> None:
        """Overwrites an array on the device, in the active queue."""
        ...

    def finish(self) -> None:
        """Waits for all work on the device."""
        ...

    def is_out_of_memory(self, error: Exception) -> bool:
        """Whether an error says that memory is used up."""
        ...
