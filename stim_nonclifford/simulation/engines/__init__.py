"""Engines draw shots from plans. All of them return the same shots for the same seed, but for ``trajectory``.

``contract`` declares the methods of an engine. ``reference`` is the engine in plain NumPy that defines the
results, ``cpu`` is the fast engine in C++, and ``gpu`` is the engine for NVIDIA GPUs. ``auto`` runs short
calls on the CPU and long ones on a GPU. ``trajectory`` needs no plan: it follows each shot by itself.
``options`` has the options of users, and ``random_streams`` defines the random numbers of a shot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..plan import SamplingPlan
from .auto import AutoEngine
from .contract import (
    DeviceSamplingEngine,
    KeptRowsEngine,
    OutcomePasses,
    PackedBits,
    PassEngine,
    RowEngine,
    SamplingEngine,
    Tally,
)
from .cost import (
    CountedCost,
    check_cost,
    check_memory,
    counted_cost,
    follows_shots,
    gpu_simulation_seconds,
    warn_of_slow_shots,
)
from .cpu import DEFAULT_CACHE_BYTES, CpuEngine
from .gpu import CupyBackend, GpuEngine, GpuOutcomes, gpu_may_be_there
from .options import EngineName, EngineOptions
from .reference import ReferenceEngine
from .trajectory import TrajectoryEngine, reference_detectors, reference_records

__all__ = [
    "DEFAULT_CACHE_BYTES",
    "AutoEngine",
    "CountedCost",
    "CpuEngine",
    "DeviceSamplingEngine",
    "EngineName",
    "EngineOptions",
    "GpuEngine",
    "KeptRowsEngine",
    "OutcomePasses",
    "PackedBits",
    "PassEngine",
    "ReferenceEngine",
    "RowEngine",
    "SamplingEngine",
    "Tally",
    "TrajectoryEngine",
    "check_rows",
    "counted_cost",
    "engine_factory",
    "follows_shots",
    "likely_outputs",
    "reference_detectors",
    "reference_records",
    "row_engine",
]


def engine_factory(options: EngineOptions) -> Callable[[SamplingPlan], SamplingEngine]:
    """Returns a function that constructs the chosen engine for a plan.

    It raises a ResourceLimitError if the machine has too little memory for the coefficient vectors, and warns
    of shots that take long.

    Examples:
        >>> engine_factory(EngineOptions(engine="reference")).__name__
        'reference'
    """
    cache_bytes, device = options.cache_bytes, options.device

    def cpu(plan: SamplingPlan) -> CpuEngine:
        check_cost(plan, options.threads)
        return CpuEngine(plan, threads=options.threads, cache_bytes=cache_bytes)

    def reference(plan: SamplingPlan) -> ReferenceEngine:
        check_memory(plan.peak_width, 1)
        warn_of_slow_shots(plan)
        return ReferenceEngine(plan)

    def no_trajectories(plan: SamplingPlan) -> SamplingEngine:
        raise ValueError(
            "The trajectory engine follows each shot, and takes no plan. Choose another engine, such as"
            " engine='cpu'."
        )

    if options.engine == "reference":
        return reference
    if options.engine == "trajectory":
        return no_trajectories
    if options.engine == "gpu":
        backend = CupyBackend(device)
        return lambda plan: GpuEngine(plan, backend, cache_bytes=cache_bytes)
    if options.engine == "auto" and gpu_may_be_there():
        return lambda plan: AutoEngine(
            cpu(plan),
            lambda: GpuEngine(plan, CupyBackend(device), cache_bytes=cache_bytes),
            gpu_seconds=gpu_simulation_seconds(plan),
        )
    return cpu


def check_rows(options: EngineOptions) -> None:
    """Checks that there is an engine that draws noise and outcomes apart."""
    if options.engine == "trajectory":
        raise NotImplementedError(
            "Circuits with DECODE are sampled by engine='cpu' or 'gpu', not by engine='trajectory'. Choose"
            " engine='cpu' and threads=n."
        )


def row_engine(options: EngineOptions, plan: SamplingPlan) -> RowEngine:
    """The engine that draws noise and outcomes apart: for ``"auto"`` and ``"cpu"`` that of the CPU."""
    check_rows(options)
    name: EngineName = "reference" if options.engine == "reference" else "cpu"
    engine = engine_factory(replace(options, engine=name, device=None))(plan)
    assert isinstance(engine, (CpuEngine, ReferenceEngine))
    if options.engine == "gpu":
        gpu = engine_factory(options)(plan)
        assert isinstance(gpu, GpuEngine)
        return GpuOutcomes(gpu, engine)
    return engine


def likely_outputs(plan: SamplingPlan) -> npt.NDArray[np.bool_]:
    """The outputs that the outcomes flip without noise on their more likely values.

    See ``reference.likely_outputs``.
    """
    check_cost(plan, 1)
    return CpuEngine(plan, cache_bytes=0).likely_outputs()
