"""A module that stands for CuPy, with what the engine and the benchmarks use of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .....support.engines import fake_cupy
from .device import Device, EmulationError, Shape
from .streams import Stream, at_once

_DEFAULT_SHARED = 48 << 10
_LARGEST_GRID, _LARGEST_BLOCK = (1 << 31) - 1, 1024


class DeviceArray(fake_cupy.DeviceArray):
    """An array on the device, whose work is that of the current stream."""

    __module__ = "cupy"

    def __init__(self, device: Device, array: npt.NDArray[Any]) -> None:
        super().__init__(array)
        self.device = device

    def get(self) -> npt.NDArray[Any]:
        found = np.empty(self.shape, dtype=self.dtype)
        timeline = self.device.timeline
        self._submit("get", found.__setitem__, ..., self, reads=[self])
        timeline.synchronize(timeline.current[-1])
        return found

    def set(self, values: npt.NDArray[Any]) -> None:
        assert values.dtype == self.array.dtype
        self._assign("set", ..., values.copy())

    def fill(self, value: Any) -> None:
        self._assign("fill", ..., value)

    def copy(self) -> DeviceArray:
        new = DeviceArray(self.device, self.device.allocate(self.array.shape, self.array.dtype))
        new[...] = self
        return new

    def view(self, dtype: Any) -> DeviceArray:
        return DeviceArray(self.device, self.array.view(dtype))

    def reshape(self, *shape: Any) -> DeviceArray:
        return DeviceArray(self.device, self.array.reshape(*shape))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._assign("assignment", key, value)

    def __getitem__(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        timeline = self.device.timeline
        if any(isinstance(k, DeviceArray) for k in keys):
            # A new array. CuPy waits for the number of selected rows.
            timeline.synchronize(timeline.current[-1])
            plain = tuple(k.array if isinstance(k, DeviceArray) else k for k in keys)
            chosen = self.array[plain]
            new = DeviceArray(self.device, self.device.allocate(chosen.shape, chosen.dtype))
            masks = [k for k in keys if isinstance(k, DeviceArray)]
            # The mask is not changed any more, so that the rows can be named now.
            (rows,) = np.nonzero(plain[0])
            self._submit(
                "selection",
                lambda to, of: np.take(of, rows, 0, to),
                new,
                self,
                reads=[self, *masks],
                writes=new,
            )
            return new
        value = self.array[key]
        return DeviceArray(self.device, value) if isinstance(value, np.ndarray) else value

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "dtype", "nbytes", "size", "ndim"):
            return getattr(self.array, name)
        raise AttributeError(f"the stand-in for CuPy has no {name}")

    def _computed(self, function: Any, other: Any) -> DeviceArray:
        plain = other.array if isinstance(other, DeviceArray) else other
        shape = np.broadcast_shapes(self.array.shape, np.shape(plain))
        new = DeviceArray(self.device, self.device.allocate(shape, np.result_type(self.array, plain)))
        reads = [x for x in (self, other) if isinstance(x, DeviceArray)]
        name = function.__name__
        self._submit(name, lambda to, a, b: function(a, b, out=to), new, self, other, reads=reads, writes=new)
        return new

    def _assign(self, name: str, key: Any, value: Any) -> None:
        target = self.array[key]
        written = DeviceArray(self.device, target) if isinstance(target, np.ndarray) else self
        reads = [value] if isinstance(value, DeviceArray) else []
        self._submit(name, lambda to, of: to.__setitem__(key, of), self, value, reads=reads, writes=written)

    def _submit(
        self,
        name: str,
        function: Callable[..., Any],
        *arguments: Any,
        reads: Sequence[DeviceArray] = (),
        writes: DeviceArray | None = None,
    ) -> None:
        """Calls a function later, with the arrays in place of those of the device."""
        device = self.device
        plain = [device.unowned(x.array) if isinstance(x, DeviceArray) else x for x in arguments]
        device.timeline.submit(
            name,
            at_once(lambda: function(*plain)),
            reads=[span for array in reads for span in device.span_of(array.array)],
            writes=[] if writes is None else device.span_of(writes.array),
        )


class RawKernel:
    """A kernel; launches check what the driver checks."""

    def __init__(self, device: Device, source: str, options: tuple[str, ...], name: str) -> None:
        self.device, self.compiled = device, device.compile(source, options)
        if self.compiled.kernel.name != name:
            raise EmulationError(f"there is no kernel {name}")
        self.shared_size_bytes = self.compiled.kernel.static_shared
        self.max_dynamic_shared_size_bytes = _DEFAULT_SHARED - self.shared_size_bytes

    def __call__(self, grid: Any, block: Any, arguments: Any, *, shared_mem: int = 0) -> None:
        kernel, device = self.compiled.kernel, self.device
        if self.max_dynamic_shared_size_bytes + self.shared_size_bytes > device.properties.shared_bytes:
            raise EmulationError("the limit of dynamic shared memory is beyond that of the device")
        if not 0 <= shared_mem <= self.max_dynamic_shared_size_bytes:
            raise EmulationError(f"{shared_mem} bytes of dynamic shared memory")
        if (
            len(grid) != 1
            or not 0 < grid[0] <= _LARGEST_GRID
            or len(block) != 1
            or not 0 < block[0] <= _LARGEST_BLOCK
        ):
            raise EmulationError(f"grid {grid}, block {block}")
        if block[0] > kernel.max_threads:
            raise EmulationError(f"{block[0]} threads, compiled for at most {kernel.max_threads}")
        packed = [_bytes_of(argument) for argument in arguments]
        if [len(p) for p in packed] != kernel.params:
            raise EmulationError(f"arguments of {[len(p) for p in packed]} bytes, declared {kernel.params}")
        params = b""
        for p in packed:
            params += bytes(-len(params) % len(p)) + p
        shape = Shape(kernel.name, grid[0], block[0], shared_mem)
        device.timeline.submit(kernel.name, lambda: device.run(self.compiled, shape, params))


def _bytes_of(argument: Any) -> bytes:
    if isinstance(argument, DeviceArray):
        return int(argument.data.ptr).to_bytes(8, "little")
    return bytes(argument.tobytes())


def make_cupy(device: Device) -> Any:
    """The module; put it into ``sys.modules["cupy"]``."""
    timeline, properties = device.timeline, device.properties

    def made(shape: Any, dtype: Any) -> DeviceArray:
        return DeviceArray(device, device.allocate(shape, dtype))

    def full(shape: Any, value: Any, dtype: Any) -> DeviceArray:
        array = made(shape, dtype)
        array.fill(value)
        return array

    def asarray(values: npt.NDArray[Any]) -> DeviceArray:
        array = made(values.shape, values.dtype)
        array.set(values)
        return array

    def concatenate(parts: Sequence[DeviceArray], axis: int = 0) -> DeviceArray:
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        array = made(shape, parts[0].dtype)
        begin = 0
        for part in parts:
            end = begin + part.shape[axis]
            array[(slice(None),) * axis + (slice(begin, end),)] = part
            begin = end
        return array

    def new_stream(*, non_blocking: bool) -> Stream:
        assert non_blocking
        return Stream(timeline)

    class RawModule:
        def __init__(self, *, code: str, options: tuple[str, ...], backend: str) -> None:
            assert backend == "nvrtc"
            self.code, self.options = code, options

        def get_function(self, name: str) -> RawKernel:
            return RawKernel(device, self.code, tuple(self.options), name)

    class CudaDevice(contextlib.nullcontext[None]):
        compute_capability = "90"

        def __init__(self, number: int | None = None) -> None:
            super().__init__()
            self.id = number or 0

        def synchronize(self) -> None:
            timeline.synchronize_all()

    attributes = {16: properties.multiprocessors, 97: properties.shared_bytes}
    runtime = {
        "getDeviceCount": lambda: 1,
        "deviceGetAttribute": lambda attribute, device: attributes[attribute],
        "memGetInfo": lambda: (properties.free_bytes, properties.free_bytes),
    }
    current = {"get_current_stream": lambda: timeline.current[-1]}
    cupy = fake_cupy.empty_module(runtime, {"Device": CudaDevice, "Stream": new_stream, **current})
    cupy.empty, cupy.full, cupy.asarray, cupy.concatenate = made, full, asarray, concatenate
    cupy.zeros = lambda shape, dtype: full(shape, 0, dtype)
    cupy.arange = lambda count, dtype: asarray(np.arange(count, dtype=dtype))
    cupy.RawModule = RawModule
    return cupy
