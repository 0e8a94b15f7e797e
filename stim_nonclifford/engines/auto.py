"""The engine for ``engine="auto"`` if there may be a GPU: starts on the CPU, moves long work to the GPU."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from ..errors import EngineUnavailableError, ResourceLimitError
from ..plan import BLOCK_SHOTS
from .contract import DeviceRows, DeviceSamplingEngine, PackedBits, SamplingEngine, Tally

__all__ = ["START_SECONDS", "AutoEngine"]

START_SECONDS = 20.0
"""If the rest would take longer than this on the CPU, a GPU is started.

The start takes about a second, to import CuPy and to make a context. If CuPy's cache has no kernels for the
circuit, NVRTC compiles them first, in another 6 to 8 seconds.
"""

_USE_SECONDS = 0.1
"""If the rest would take longer than this on the CPU, a GPU that has been started is used."""

_SLICE_SECONDS = 0.5
_FIRST_SLICE = BLOCK_SHOTS
_GROWTH = 4


class AutoEngine:
    """Starts on the CPU, and continues on a GPU if the work takes long. Both engines return the same shots.

    Args:
        cpu: The engine to start with.
        make_gpu: Function that constructs the GPU engine; called when that engine is first needed.
        clock: Function that returns the time in seconds.
    """

    def __init__(
        self,
        cpu: SamplingEngine,
        make_gpu: Callable[[], DeviceSamplingEngine],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._cpu = cpu
        self._make_gpu = make_gpu
        self._clock = clock
        self._gpu: DeviceSamplingEngine | None = None
        self._no_gpu = False
        self._seconds_per_shot: float | None = None

    def count(
        self, seed: int, first_shot: int, shots: int, max_errors: int = 0, *, list_errors: bool = False
    ) -> Tally:
        """See ``SamplingEngine.count``."""
        attempted = discards = errors = 0
        patterns: dict[int, int] = {}
        error_shots: list[int] = []
        for engine, begin, size in self._slices(first_shot, shots):
            part = engine.count(seed, begin, size, max(0, max_errors - errors), list_errors=list_errors)
            attempted += part.shots
            discards += part.discards
            errors += part.errors
            for pattern, count in part.patterns.items():
                patterns[pattern] = patterns.get(pattern, 0) + count
            error_shots += part.error_shots
            if max_errors and errors >= max_errors:
                break
        return Tally(attempted, discards, errors, patterns, error_shots)

    def sample(self, seed: int, first_shot: int, shots: int, *, num_outputs: int | None = None) -> PackedBits:
        """See ``SamplingEngine.sample``."""
        return _joined(
            [
                engine.sample(seed, *where, num_outputs=num_outputs)
                for engine, *where in self._slices(first_shot, shots)
            ]
        )

    def sample_kept(self, seed: int, first_shot: int, shots: int) -> PackedBits:
        """See ``SamplingEngine.sample_kept``."""
        return _joined(
            [engine.sample_kept(seed, *where) for engine, *where in self._slices(first_shot, shots)]
        )

    def sample_kept_numbered(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64]]:
        """See ``SamplingEngine.sample_kept_numbered``."""
        parts = [
            engine.sample_kept_numbered(seed, *where) for engine, *where in self._slices(first_shot, shots)
        ]
        return _joined([rows for rows, _ in parts]), np.concatenate([numbers for _, numbers in parts])

    def sample_on_device(self, seed: int, first_shot: int, shots: int) -> DeviceRows:
        """See ``DeviceSamplingEngine.sample_on_device``."""
        return self._started_gpu().sample_on_device(seed, first_shot, shots)

    def sample_kept_on_device(self, seed: int, first_shot: int, shots: int) -> DeviceRows:
        """See ``DeviceSamplingEngine.sample_kept_on_device``."""
        return self._started_gpu().sample_kept_on_device(seed, first_shot, shots)

    def statistics(self) -> dict[str, int]:
        """The sums of the statistics of both engines."""
        total = Counter(self._cpu.statistics())
        if self._gpu is not None:
            total.update(self._gpu.statistics())
        return dict(total)

    def _started_gpu(self) -> DeviceSamplingEngine:
        if self._gpu is None:
            self._gpu = self._make_gpu()
        return self._gpu

    def _slices(self, first_shot: int, shots: int) -> Iterator[tuple[SamplingEngine, int, int]]:
        """Splits a range of shots at ends of blocks; yields (engine, first shot, number of shots)."""
        end = first_shot + shots
        size = self._slice_size(_FIRST_SLICE)
        if not shots:
            yield self._cpu, first_shot, 0
        while first_shot < end:
            if self._gpu_is_worth(end - first_shot):
                yield self._started_gpu(), first_shot, end - first_shot
                return
            stop = min(end, (first_shot + size) // BLOCK_SHOTS * BLOCK_SHOTS)
            start = self._clock()
            yield self._cpu, first_shot, stop - first_shot
            elapsed = self._clock() - start
            self._seconds_per_shot = elapsed / (stop - first_shot)
            first_shot = stop
            size = self._slice_size(size * _GROWTH)

    def _slice_size(self, largest: int) -> int:
        """The number of shots in the next slice: at most ``largest``, or half a second of work."""
        if not self._seconds_per_shot:
            return max(BLOCK_SHOTS, largest)
        return max(BLOCK_SHOTS, min(largest, int(_SLICE_SECONDS / self._seconds_per_shot)))

    def _gpu_is_worth(self, shots: int) -> bool:
        if self._no_gpu or self._seconds_per_shot is None:
            return False
        seconds = shots * self._seconds_per_shot
        if self._gpu is not None:
            return seconds >= _USE_SECONDS
        if seconds < START_SECONDS:
            return False
        try:
            self._started_gpu()
        except (EngineUnavailableError, ResourceLimitError):
            self._no_gpu = True
        return not self._no_gpu


def _joined(parts: list[PackedBits]) -> PackedBits:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
