"""The methods of a device that the engine uses."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any, Protocol

import numpy.typing as npt

from .cuda_source import KernelLaunch

Array = Any
"""An array on the device, of NumPy or CuPy."""


class Stream(Protocol):
    """A CUDA stream: its work runs in order, and may overlap with the work of other streams."""

    def active(self) -> AbstractContextManager[Any]:
        """A context in which work and copies go to this stream."""
        ...

    def launch(self, kernel: KernelLaunch, job: Array, round_number: int | None = None) -> None:
        """Launches a kernel with its arguments: a job and, for the kernels that have one, a round number."""
        ...

    def mark(self) -> object:
        """Returns an event that occurs when all work submitted so far is done."""
        ...

    def wait_for(self, mark: object) -> None:
        """Delays later work of this stream until an event of any stream has occurred."""
        ...


class Backend(Protocol):
    """A device with its memory."""

    xp: ModuleType  # the module with NumPy's functions for the device: NumPy or CuPy
    multiprocessors: int  # number of multiprocessors. At least one thread block can run on each
    shared_bytes: int  # largest shared memory of a thread block

    def active(self) -> AbstractContextManager[Any]:
        """A context in which arrays are allocated on this device, and results of it are awaited."""
        ...

    def free_bytes(self) -> int:
        """The free memory of the device in bytes."""
        ...

    def new_stream(self) -> Stream:
        """Creates a stream."""
        ...

    def mark_caller(self) -> object:
        """Returns an event that occurs when all work that the caller has submitted so far is done."""
        ...

    def address(self, array: Array) -> int:
        """The address of an array in the memory of the device."""
        ...

    def to_device(self, array: npt.NDArray[Any]) -> Array:
        """Copies an array to the device."""
        ...

    def to_host(self, array: Array) -> npt.NDArray[Any]:
        """Copies an array to the host, after all work of the active stream."""
        ...

    def upload(self, array: Array, values: npt.NDArray[Any]) -> None:
        """Overwrites an array on the device, as work of the active stream."""
        ...

    def finish(self) -> None:
        """Waits for all work on the device."""
        ...

    def is_out_of_memory(self, error: Exception) -> bool:
        """Whether an error means that the device is out of memory."""
        ...
