"""The engine for ``engine="auto"`` if there may be a GPU: short calls run on the CPU, long ones on it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ...base.errors import EngineUnavailableError, ResourceLimitError
from .contract import DeviceRows, DeviceSamplingEngine, PackedBits, SamplingEngine, Tally

START_SECONDS = 20.0
"""A call that would take longer than this on the CPU starts a GPU.

The start takes about a second, to import CuPy and to make a context. If CuPy's cache has no kernels for the
circuit, NVRTC compiles them first, in another 6 to 8 seconds.
"""

_USE_SECONDS = 0.1
"""A call that would take longer than this on the CPU runs on a GPU that has been started."""

_TRIAL_SECONDS = 0.5
_TRIAL_GROWTH = 4

_Trial = Callable[[SamplingEngine, int, int], object]
"""Draws shots with an engine, from a first shot on."""


class AutoEngine:
    """Runs short calls on the CPU and long ones on a GPU. Both engines return the same shots.

    A call runs on one engine from beginning to end. It is long if the CPU would need more than 20 seconds for
    it, or more than 0.1 seconds once the GPU has been started. As long as this is not known, the CPU first
    draws 1, 4, 16, ... shots of a call on trial, for about half a second in all. The chosen engine draws them
    once more.

    The GPU simulates outcomes with coefficients, which the CPU does without for some plans. A call of such a
    plan stays on the CPU if the simulations alone (``gpu_seconds`` each) would take the GPU longer than the
    CPU takes for its shots.
    """

    def __init__(
        self,
        cpu: SamplingEngine,
        make_gpu: Callable[[], DeviceSamplingEngine],
        clock: Callable[[], float] = time.perf_counter,
        gpu_seconds: float = 0.0,
    ) -> None:
        self._cpu = cpu
        self._make_gpu = make_gpu
        self._gpu_seconds = gpu_seconds
        self._clock = clock
        self._gpu: DeviceSamplingEngine | None = None
        self._no_gpu = False
        self._seconds_per_shot: float | None = None
        self._simulations_per_shot = 0.0
        self._trial_shots, self._trial_seconds = 1, 0.0

    @property
    def name(self) -> str:
        """See ``SamplingEngine.name``."""
        return "cpu" if self._gpu is None else "cpu, gpu"

    def count(
        self, seed: int, first_shot: int, shots: int, max_errors: int = 0, *, list_errors: bool = False
    ) -> Tally:
        """See ``SamplingEngine.count``."""

        def trial(engine: SamplingEngine, first: int, size: int) -> Tally:
            return engine.count(seed, first, size, list_errors=list_errors)

        engine = self._chosen(trial, first_shot, shots)
        return engine.count(seed, first_shot, shots, max_errors, list_errors=list_errors)

    def sample(self, seed: int, first_shot: int, shots: int, *, num_outputs: int | None = None) -> PackedBits:
        """See ``SamplingEngine.sample``."""

        def call(engine: SamplingEngine, first: int, size: int) -> PackedBits:
            return engine.sample(seed, first, size, num_outputs=num_outputs)

        return call(self._chosen(call, first_shot, shots), first_shot, shots)

    def sample_kept(self, seed: int, first_shot: int, shots: int) -> PackedBits:
        """See ``SamplingEngine.sample_kept``."""

        def call(engine: SamplingEngine, first: int, size: int) -> PackedBits:
            return engine.sample_kept(seed, first, size)

        return call(self._chosen(call, first_shot, shots), first_shot, shots)

    def sample_kept_numbered(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64]]:
        """See ``SamplingEngine.sample_kept_numbered``."""

        def call(engine: SamplingEngine, first: int, size: int) -> tuple[PackedBits, npt.NDArray[np.int64]]:
            return engine.sample_kept_numbered(seed, first, size)

        return call(self._chosen(call, first_shot, shots), first_shot, shots)

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

    def _chosen(self, trial: _Trial, first_shot: int, shots: int) -> SamplingEngine:
        """The engine on which a call runs."""
        limit = START_SECONDS if self._gpu is None else _USE_SECONDS
        if self._no_gpu or not self._takes_longer(limit, trial, first_shot, shots):
            return self._cpu
        if self._simulations_per_shot * self._gpu_seconds > (self._seconds_per_shot or 0.0):
            return self._cpu
        try:
            return self._started_gpu()
        except (EngineUnavailableError, ResourceLimitError):
            self._no_gpu = True
            return self._cpu

    def _takes_longer(self, limit: float, trial: _Trial, first_shot: int, shots: int) -> bool:
        """Whether a call would take more seconds than the limit on the CPU."""
        # The first shots of an engine take longer than later ones, which find stored outcome laws.
        while self._seconds_per_shot is None or self._seconds_per_shot * shots > limit:
            if self._trial_shots >= shots or self._trial_seconds >= _TRIAL_SECONDS:
                break
            start, simulations = self._clock(), self._cpu.statistics()["simulations"]
            trial(self._cpu, first_shot, self._trial_shots)
            elapsed = self._clock() - start
            self._seconds_per_shot = elapsed / self._trial_shots
            simulations = self._cpu.statistics()["simulations"] - simulations
            self._simulations_per_shot = simulations / self._trial_shots
            self._trial_seconds += elapsed
            self._trial_shots *= _TRIAL_GROWTH
        return self._seconds_per_shot is not None and self._seconds_per_shot * shots > limit
