"""What the GPU engine uses of CuPy, on the host: kernels run as the host backend runs them.

Streams, events and devices do nothing but write what happens into a log. Kernels are recognised by the
definitions at the head of their source.
"""

import contextlib
import functools
import importlib.machinery
import re
import types
from typing import Any

import numpy as np

from stim_nonclifford import _native


class CUDARuntimeError(RuntimeError):
    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


class CUDADriverError(RuntimeError):
    pass


class CompileException(Exception):
    pass


class OutOfMemoryError(MemoryError):
    pass


class DeviceArray:
    """Not a ``np.ndarray``, as CuPy's arrays are none; passes everything on to one."""

    __module__ = "cupy"

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def data(self) -> Any:
        return types.SimpleNamespace(ptr=self.array.ctypes.data)

    def get(self) -> np.ndarray:
        return self.array.copy()

    def set(self, values: np.ndarray) -> None:
        assert values.dtype == self.array.dtype
        self.array[...] = values

    def __len__(self) -> int:
        return len(self.array)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.array, name)
        if not callable(value):
            return value
        return lambda *arguments, **keywords: wrapped(value(*arguments, **keywords))

    def __getitem__(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        plain = tuple(k.array if isinstance(k, DeviceArray) else k for k in keys)
        return wrapped(self.array[plain])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.array[key] = value.array if isinstance(value, DeviceArray) else value

    def _computed(self, function: Any, other: Any) -> Any:
        return DeviceArray(function(self.array, getattr(other, "array", other)))

    def __rshift__(self, other: Any) -> Any:
        return self._computed(np.right_shift, other)

    def __lshift__(self, other: Any) -> Any:
        return self._computed(np.left_shift, other)

    def __and__(self, other: Any) -> Any:
        return self._computed(np.bitwise_and, other)

    def __ior__(self, other: Any) -> Any:
        self[...] = self._computed(np.bitwise_or, other)
        return self

    def __iand__(self, other: Any) -> Any:
        self[...] = self & other
        return self


def wrapped(value: Any) -> Any:
    return DeviceArray(value) if isinstance(value, np.ndarray) else value


class RawKernel:
    """A kernel of the source's definitions."""

    shared_size_bytes = 1 << 10

    def __init__(self, source: str, name: str, log: list[tuple[Any, ...]]) -> None:
        self.name = name
        self.log = log
        self.defined = dict(re.findall(r"^#define SNC_([A-Z_]+) (.+)$", source, flags=re.MULTILINE))
        self.max_dynamic_shared_size_bytes = 48 << 10

    def __call__(self, grid: Any, block: Any, arguments: Any, *, shared_mem: int = 0) -> None:
        assert len(grid) == len(block) == 1
        assert block[0] == int(self.defined["BLOCK_THREADS"])
        assert shared_mem <= self.max_dynamic_shared_size_bytes
        assert self.max_dynamic_shared_size_bytes + self.shared_size_bytes <= 227 << 10
        self.log.append(("launch", self.name))
        job, *rest = arguments
        assert [type(argument) for argument in rest] == ([] if self.name == "noise" else [np.uint32])
        team_size = int(self.defined["TEAM_SIZE"])
        _native.run_on_host(
            kernel=self.name,
            job=job.array,
            round=int(rest[0]) if rest else 0,
            num_teams=grid[0] * (block[0] // team_size),
            row_words=sum(map(int, re.findall(r"\d+", self.defined["LAYOUT"]))),
            team_size=team_size,
            in_shared=self.defined["IN_SHARED"] == "true",
            separate=self.defined["SEPARATE"] == "true",
            reversed=False,
        )


class RawModule:
    """Modules of equal source share their functions, as in CuPy, and with them the limit of shared memory."""

    def __init__(
        self,
        *,
        code: str,
        options: tuple[str, ...],
        backend: str,
        functions: dict[str, RawKernel],
        log: list[tuple[Any, ...]],
    ) -> None:
        assert backend == "nvrtc"
        assert "--fmad=false" in options
        assert "--device-as-default-execution-space" in options
        self.code, self.functions, self.log = code, functions, log

    def get_function(self, name: str) -> RawKernel:
        assert f" {name}(const snc::Job* job" in self.code
        if self.code not in self.functions:
            self.functions[self.code] = RawKernel(self.code, name, self.log)
        return self.functions[self.code]


class Stream(contextlib.nullcontext[None]):
    def __init__(self, *, non_blocking: bool, log: list[tuple[Any, ...]]) -> None:
        super().__init__()
        self.log = log
        assert non_blocking

    def record(self) -> object:
        self.log.append(("record", self))
        return self

    def wait_event(self, event: object) -> None:
        assert isinstance(event, Stream)
        self.log.append(("wait", self, event))


class Event:
    """Every time between two of them is a millisecond."""

    def record(self, stream: Stream) -> None:
        assert isinstance(stream, Stream)


class Device(contextlib.nullcontext[None]):
    compute_capability = "90"

    def __init__(self, device: int | None = None) -> None:
        super().__init__()
        self.id = device or 0

    log: list[tuple[Any, ...]]

    def synchronize(self) -> None:
        self.log.append(("finish",))


def empty_module(runtime: dict[str, Any], cuda: dict[str, Any]) -> Any:
    """A module with the exceptions, and with what has these names in ``cupy.cuda`` and its runtime."""
    cupy: Any = types.ModuleType("cupy")
    cupy.__version__ = "0"
    cupy.__spec__ = importlib.machinery.ModuleSpec("cupy", None)
    cupy.cuda = types.SimpleNamespace(
        compiler=types.SimpleNamespace(CompileException=CompileException),
        driver=types.SimpleNamespace(CUDADriverError=CUDADriverError),
        memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        runtime=types.SimpleNamespace(
            CUDARuntimeError=CUDARuntimeError,
            cudaDevAttrMultiProcessorCount=16,
            cudaDevAttrMaxSharedMemoryPerBlockOptin=97,
            **runtime,
        ),
        **cuda,
    )
    cupy.get_default_memory_pool = lambda: types.SimpleNamespace(free_bytes=lambda: 0)
    return cupy


def make_cupy(
    *, devices: int = 1, status: int = 0, driver: int = 13000, compute_capability: str = "90"
) -> Any:
    """A module; ``status``, if not 0, is the error that counting GPUs gives."""

    def get_device_count() -> int:
        if status:
            raise CUDARuntimeError(status)
        return devices

    def made(make: Any) -> Any:
        return lambda *arguments, **keywords: DeviceArray(make(*arguments, **keywords))

    log: list[tuple[Any, ...]] = []
    functions: dict[str, RawKernel] = {}
    callers = Stream(non_blocking=True, log=log)
    attributes = {13: 1_000_000, 16: 2, 36: 1_000_000, 37: 512, 97: 227 << 10}
    runtime = {
        "getDeviceCount": get_device_count,
        "driverGetVersion": lambda: driver,
        "runtimeGetVersion": lambda: 13020,
        "cudaDevAttrClockRate": 13,
        "cudaDevAttrMemoryClockRate": 36,
        "cudaDevAttrGlobalMemoryBusWidth": 37,
        "deviceGetAttribute": lambda attribute, device: attributes[attribute],
        "getDeviceProperties": lambda device: {"name": b"Stand-in"},
        "memGetInfo": lambda: (1 << 30, 2 << 30),
    }
    cuda = {
        "Device": type("Device", (Device,), {"compute_capability": compute_capability, "log": log}),
        "Event": Event,
        "Stream": functools.partial(Stream, log=log),
        "get_current_stream": lambda: callers,
        "get_elapsed_time": lambda start, end: 1.0,
    }
    cupy = empty_module(runtime, cuda)
    cupy.log = log
    cupy.RawModule = functools.partial(RawModule, functions=functions, log=log)
    for name in ("empty", "zeros", "full", "arange"):
        setattr(cupy, name, made(getattr(np, name)))
    cupy.asarray = lambda array: DeviceArray(array.copy())
    cupy.concatenate = lambda parts, axis=0: DeviceArray(np.concatenate([p.array for p in parts], axis))
    return cupy
