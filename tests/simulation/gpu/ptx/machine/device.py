"""The GPU: its memory, and launches of kernels."""

from __future__ import annotations

import ctypes
import weakref
from collections import Counter, defaultdict
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .kernels import Allocation, CompiledKernel, Mode, Request
from .streams import Span, Timeline, Touched

_POOL_BYTES = 512
_MESSAGE_BYTES = 1 << 16
_LARGEST_GARBAGE = 1 << 26


class EmulationError(RuntimeError):
    """What would fail, or be undefined, on a GPU."""


@dataclass(frozen=True, kw_only=True)
class Properties:
    """Of a device, and how it is emulated."""

    mode: Mode = "plain"  # see ``kernels.Mode``
    # of the order of threads and of streams, and of the contents of memory that is not initialized
    seed: int = 1
    architecture: str = "compute_75"
    multiprocessors: int = 2
    shared_bytes: int = 227 << 10  # largest shared memory of a block
    free_bytes: int = 64 << 20
    preempt: int = 2  # one in so many atomics and volatile reads lets another thread go first; 0: none
    turns: int = 0  # about how many turns of threads a launch has before another stream may go on; 0: all


@dataclass(frozen=True)
class Shape:
    """The shape of a launch."""

    kernel: str
    num_blocks: int
    block_threads: int
    dynamic_shared: int


class Device:
    """A device."""

    def __init__(self, properties: Properties | None = None) -> None:
        self.properties = properties or Properties()
        self.random = np.random.default_rng(self.properties.seed)
        self.findings: Counter[str] = Counter()
        self.compiled: dict[tuple[str, tuple[str, ...]], CompiledKernel] = {}
        self.timeline = Timeline(self.random, self.findings)
        self.reused = 0  # allocations that got the memory of an earlier one
        self._live: dict[int, tuple[int, _Memory]] = {}
        self._pool: defaultdict[tuple[int, int], list[_Memory]] = defaultdict(list)
        self._tick = np.ones(1, dtype=np.uint32)

    def allocate(self, shape: Any, dtype: Any) -> npt.NDArray[Any]:
        """An array as CuPy's pool gives it: where an array was that is deleted, if it was allocated in the same stream.

        The pool waits for nothing: other streams may still use the memory. New memory is garbage.
        """
        shape = tuple(np.atleast_1d(shape).tolist())
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        place = (self.timeline.current[-1].number, -(-size // _POOL_BYTES))
        free = self._pool[place]
        if free:
            memory = free.pop()
            self.reused += 1
        else:
            memory = _Memory(place[1] * _POOL_BYTES, self.properties.mode == "races")
            if size <= _LARGEST_GARBAGE:
                memory.bytes[...] = np.frombuffer(self.random.bytes(len(memory.bytes)), dtype=np.uint8)
        self._live[memory.begin] = (size, memory)
        # The array that is returned, and all views of it, keep this object.
        loan = _Loan(memory, memory.bytes)
        weakref.finalize(loan, self._free, memory, place)
        array: npt.NDArray[Any] = np.asarray(loan)[:size].view(dtype).reshape(shape)
        return array

    def span_of(self, array: npt.NDArray[Any]) -> list[Span]:
        """The memory of an array, if it is on the device."""
        if not array.size:
            return []
        begin = int(array.ctypes.data)
        ends = [step * (count - 1) for step, count in zip(array.strides, array.shape, strict=True)]
        low, high = begin + sum(min(0, end) for end in ends), begin + sum(max(0, end) for end in ends)
        return [(owner, low, high + array.itemsize) for owner, _ in self._owners(array)]

    def unowned(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The same array, for work that is done later: it does not keep the memory from being given to another array."""
        for _, memory in self._owners(array):
            return np.asarray(_Loan(memory, array))
        return array

    def _owners(self, array: npt.NDArray[Any]) -> list[tuple[int, _Memory]]:
        begin = int(array.ctypes.data)
        return [
            (owner, memory) for owner, (size, memory) in self._live.items() if owner <= begin < owner + size
        ]

    def compile(self, source: str, options: tuple[str, ...]) -> CompiledKernel:
        """The kernel of a source."""
        key = (source, options)
        if key not in self.compiled:
            self.compiled[key] = CompiledKernel(
                source, options, self.properties.architecture, self.properties.mode
            )
        return self.compiled[key]

    def run(self, compiled: CompiledKernel, shape: Shape, params: bytes) -> Generator[None, None, Touched]:
        """Runs a launch in pieces. Returns the allocations that it has read and written."""
        live = list(self._live.items())
        spans: list[Span] = [(begin, 0, 1 << 64) for begin, _ in live]
        rows = [Allocation(begin, size, memory.cells_at) for begin, (size, memory) in live]
        table = (Allocation * len(live))(*rows)
        arguments = ctypes.create_string_buffer(params, len(params))
        message = ctypes.create_string_buffer(_MESSAGE_BYTES)
        touched = np.zeros(len(live), dtype=np.uint8)
        launch = compiled.begin(
            Request(
                allocations=ctypes.addressof(table),
                num_allocations=len(live),
                params=ctypes.addressof(arguments),
                num_blocks=shape.num_blocks,
                block_threads=shape.block_threads,
                dynamic_shared=shape.dynamic_shared,
                preempt=self.properties.preempt,
                random=int(self.random.integers(1 << 62)),
                message=ctypes.addressof(message),
                tick=self._tick.ctypes.data,
                touched=touched.ctypes.data,
            )
        )
        try:
            while not (status := compiled.run(launch, self._turns())):
                yield
        finally:
            compiled.end(launch)
        if message.value:
            lines = [compiled.explained(line) for line in message.value.decode().splitlines()]
            self.findings.update(f"{shape.kernel}: {line}" for line in lines)
            if status == 2:
                raise EmulationError(f"{shape.kernel}: " + "\n".join(lines))
        reads = [span for span, bits in zip(spans, touched, strict=True) if bits & 1]
        return reads, [span for span, bits in zip(spans, touched, strict=True) if bits & 2]

    def _turns(self) -> int:
        most = self.properties.turns
        return int(self.random.integers(1, 2 * most)) if most else (1 << 63) - 1

    def _free(self, memory: _Memory, place: tuple[int, int]) -> None:
        self._live.pop(memory.begin, None)
        self._pool[place].append(memory)


class _Memory:
    """A piece of memory whose address is a multiple of 512, and the cells of its bytes."""

    def __init__(self, size: int, has_cells: bool) -> None:
        raw = np.zeros(size + _POOL_BYTES, dtype=np.uint8)
        skip = -raw.ctypes.data % _POOL_BYTES
        self.bytes: npt.NDArray[np.uint8] = raw[skip : skip + size]
        self.begin = int(self.bytes.ctypes.data)
        self._cells = np.zeros(size * CELL_BYTES, dtype=np.uint8) if has_cells else None

    @property
    def cells_at(self) -> int | None:
        """The address of the cells, if there are some."""
        return None if self._cells is None else int(self._cells.ctypes.data)


class _Loan:
    """Lends memory to an array, of the layout of another array in it."""

    def __init__(self, memory: _Memory, layout: npt.NDArray[Any]) -> None:
        self.__array_interface__ = layout.__array_interface__
        self._memory = memory


CELL_BYTES = 32
"""As in ``runtime/launch.h``, which checks it."""
