"""A backend that runs the GPU's kernels on the host, thread by thread, for tests without a GPU."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from ...._native import run_on_host
from .backend import Array
from .cuda_source import KernelLaunch


class HostStream:
    """A stream whose work is done immediately."""

    def __init__(self, reversed_order: bool) -> None:
        self._reversed = reversed_order

    def active(self) -> AbstractContextManager[Any]:
        """See ``Stream.active``."""
        return contextlib.nullcontext()

    def launch(self, kernel: KernelLaunch, job: Array, round_number: int | None = None) -> None:
        """See ``Stream.launch``."""
        run_on_host(
            kernel=kernel.name,
            job=job,
            round=round_number or 0,
            num_teams=kernel.num_teams,
            row_words=kernel.row_words,
            team_size=kernel.team_size,
            in_shared=kernel.in_shared,
            separate=kernel.separate,
            reversed=self._reversed,
        )

    def mark(self) -> object:
        """See ``Stream.mark``."""
        return None

    def wait_for(self, mark: object) -> None:
        """See ``Stream.wait_for``."""


class HostBackend:
    """See ``Backend``."""

    xp: ModuleType = np
    multiprocessors = 2

    def __init__(
        self, *, free_bytes: int = 1 << 30, shared_bytes: int = 227 << 10, reversed_order: bool = False
    ) -> None:
        self._free_bytes = free_bytes
        self.shared_bytes = shared_bytes
        self._reversed = reversed_order

    def active(self) -> AbstractContextManager[Any]:
        """See ``Backend.active``."""
        return contextlib.nullcontext()

    def free_bytes(self) -> int:
        """See ``Backend.free_bytes``."""
        return self._free_bytes

    def new_stream(self) -> HostStream:
        """See ``Backend.new_stream``."""
        return HostStream(self._reversed)

    def mark_caller(self) -> object:
        """See ``Backend.mark_caller``."""
        return None

    def address(self, array: Array) -> int:
        """See ``Backend.address``."""
        return int(array.ctypes.data)

    def to_device(self, array: npt.NDArray[Any]) -> Array:
        """See ``Backend.to_device``."""
        return array.copy()

    def to_host(self, array: Array) -> npt.NDArray[Any]:
        """See ``Backend.to_host``."""
        return np.array(array)

    def upload(self, array: Array, values: npt.NDArray[Any]) -> None:
        """See ``Backend.upload``."""
        array[...] = values

    def finish(self) -> None:
        """See ``Backend.finish``."""

    def is_out_of_memory(self, error: Exception) -> bool:
        """See ``Backend.is_out_of_memory``."""
        return isinstance(error, MemoryError)
