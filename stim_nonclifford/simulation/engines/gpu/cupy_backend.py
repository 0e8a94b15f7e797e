"""The backend for GPUs, through CuPy."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from ....base.errors import EngineUnavailableError, ResourceLimitError
from .backend import Array
from .cuda_source import COMPILE_OPTIONS, KernelLaunch, cuda_source

_REMEDY = "pip install 'cupy-cuda13x[ctk]' (or cupy-cuda12x for drivers of CUDA 12)"
_MIN_CAPABILITY = 70
# Numbers of cudaError_t.
_NO_DEVICE, _DRIVER_TOO_OLD = 100, 35


def gpu_may_be_there() -> bool:
    """Whether CuPy is installed. This function does not import it."""
    return importlib.util.find_spec("cupy") is not None


class CupyStream:
    """A CUDA stream."""

    def __init__(self, cupy: ModuleType, kernels: dict[KernelLaunch, Any], shared_bytes: int) -> None:
        self._cupy = cupy
        self._kernels = kernels
        self._shared_bytes = shared_bytes
        self._stream = cupy.cuda.Stream(non_blocking=True)

    def active(self) -> AbstractContextManager[Any]:
        """See ``Stream.active``."""
        return self._stream

    def launch(self, kernel: KernelLaunch, job: Array, round_number: int | None = None) -> None:
        """See ``Stream.launch``."""
        arguments = (job,) if round_number is None else (job, np.uint32(round_number))
        with self._stream:
            self._function(kernel)(
                (kernel.num_blocks,), (kernel.block_threads,), arguments, shared_mem=kernel.shared_bytes
            )

    def mark(self) -> object:
        """See ``Stream.mark``."""
        return self._stream.record()

    def wait_for(self, mark: object) -> None:
        """See ``Stream.wait_for``."""
        self._stream.wait_event(mark)

    def _function(self, kernel: KernelLaunch) -> Any:
        function = self._kernels.get(kernel)
        if function is None:
            module = self._cupy.RawModule(code=cuda_source(kernel), options=COMPILE_OPTIONS, backend="nvrtc")
            function = module.get_function(kernel.name)
            # CuPy has one function for each source text, whatever the plan: the limit must do for all plans.
            function.max_dynamic_shared_size_bytes = self._shared_bytes - function.shared_size_bytes
            self._kernels[kernel] = function
        return function


class CupyBackend:
    """The GPU ``device`` of those in ``CUDA_VISIBLE_DEVICES``, or CuPy's current one; see ``Backend``."""

    def __init__(self, device: int | None = None) -> None:
        cupy = _import_cupy()
        count = _count_devices(cupy)
        if device is not None and not 0 <= device < count:
            raise EngineUnavailableError(
                f"There is no GPU with device={device}: {count} GPUs are visible, numbered from 0. The"
                " environment variable CUDA_VISIBLE_DEVICES selects the visible ones."
            )
        self.xp: ModuleType = cupy
        self._cupy = cupy
        self._device = cupy.cuda.Device(device)
        capability = int(self._device.compute_capability)
        if capability < _MIN_CAPABILITY:
            raise EngineUnavailableError(
                f"The GPU has compute capability {capability / 10}; engine='gpu' needs"
                f" {_MIN_CAPABILITY / 10} (Volta) or later. Use engine='cpu'."
            )
        runtime = cupy.cuda.runtime
        self.multiprocessors = int(
            runtime.deviceGetAttribute(runtime.cudaDevAttrMultiProcessorCount, self._device.id)
        )
        self.shared_bytes = int(
            runtime.deviceGetAttribute(runtime.cudaDevAttrMaxSharedMemoryPerBlockOptin, self._device.id)
        )
        self._kernels: dict[KernelLaunch, Any] = {}

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """See ``Backend.active``."""
        cuda = self._cupy.cuda
        failures = (
            cuda.runtime.CUDARuntimeError,
            cuda.driver.CUDADriverError,
            cuda.compiler.CompileException,
        )
        try:
            with self._device:
                yield
        except cuda.memory.OutOfMemoryError as error:
            raise ResourceLimitError(
                f"The GPU has too little free memory for the results: {error}. Ask for fewer shots per call,"
                " delete arrays that you keep on the GPU, or use engine='cpu'."
            ) from error
        except failures as error:
            raise EngineUnavailableError(
                f"The GPU failed: {error}. Errors of the GPU are often found only when results are read."
                " Start Python anew, as CUDA may not work in this process any more; or use engine='cpu'."
            ) from error

    def free_bytes(self) -> int:
        """See ``Backend.free_bytes``."""
        with self._device:
            free, _ = self._cupy.cuda.runtime.memGetInfo()
            return int(free) + int(self._cupy.get_default_memory_pool().free_bytes())

    def new_stream(self) -> CupyStream:
        """See ``Backend.new_stream``."""
        with self._device:
            return CupyStream(self._cupy, self._kernels, self.shared_bytes)

    def mark_caller(self) -> object:
        """See ``Backend.mark_caller``."""
        with self._device:
            return self._cupy.cuda.get_current_stream().record()

    def address(self, array: Array) -> int:
        """See ``Backend.address``."""
        return int(array.data.ptr)

    def to_device(self, array: npt.NDArray[Any]) -> Array:
        """See ``Backend.to_device``."""
        with self._device:
            return self._cupy.asarray(array)

    def to_host(self, array: Array) -> npt.NDArray[Any]:
        """See ``Backend.to_host``."""
        return np.asarray(array.get())

    def upload(self, array: Array, values: npt.NDArray[Any]) -> None:
        """See ``Backend.upload``."""
        array.set(values)

    def finish(self) -> None:
        """See ``Backend.finish``."""
        self._device.synchronize()

    def is_out_of_memory(self, error: Exception) -> bool:
        """See ``Backend.is_out_of_memory``."""
        return isinstance(error, self._cupy.cuda.memory.OutOfMemoryError)


def _import_cupy() -> ModuleType:
    try:
        import cupy
    except ImportError as error:
        raise EngineUnavailableError(f"engine='gpu' needs CuPy: {_REMEDY}. ({error})") from error
    return cupy


def _count_devices(cupy: ModuleType) -> int:
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if error.status == _NO_DEVICE:
            count = 0
        elif error.status == _DRIVER_TOO_OLD and cupy.cuda.runtime.driverGetVersion() == 0:
            raise EngineUnavailableError(
                "engine='gpu' needs an NVIDIA GPU with its driver, but no driver is installed. Install it, or"
                " use engine='cpu'."
            ) from error
        elif error.status == _DRIVER_TOO_OLD:
            known = _version(cupy.cuda.runtime.driverGetVersion())
            needed = _version(cupy.cuda.runtime.runtimeGetVersion())
            raise EngineUnavailableError(
                f"The NVIDIA driver is too old for this CuPy: it supports CUDA {known}, but CuPy was built"
                f" for CUDA {needed}. Update the driver, or install a CuPy for older drivers:"
                " pip install 'cupy-cuda12x[ctk]'."
            ) from error
        else:
            raise EngineUnavailableError(f"The GPU cannot be used: {error}") from error
    if count == 0:
        raise EngineUnavailableError(
            "engine='gpu' needs an NVIDIA GPU, but none is visible. nvidia-smi lists all GPUs; the"
            " environment variable CUDA_VISIBLE_DEVICES hides those that it does not name. Otherwise, use"
            " engine='cpu'."
        )
    return count


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"
