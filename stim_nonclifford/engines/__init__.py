"""Engines run plans. Each gives the same shots for the same seed.

``contract`` says what an engine does, ``reference`` is its plain definition in NumPy, ``cpu`` the fast one
in C++, ``gpu`` the one for NVIDIA GPUs; ``auto`` goes from the CPU to a GPU when work is long.
``options`` is what users choose, ``random_streams`` defines the random numbers of a shot.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..plan import Plan
from .auto import AutoEngine
from .contract import DeviceSamplingEngine, PackedBits, SamplingEngine, Tally
from .cpu import DEFAULT_CACHE_BYTES, CpuEngine
from .gpu import CupyBackend, GpuEngine, gpu_may_be_there
from .options import EngineName, EngineOptions
from .reference import ReferenceEngine

__all__ = [
    "DEFAULT_CACHE_BYTES",
    "AutoEngine",
    "CpuEngine",
    "DeviceSamplingEngine",
    "EngineName",
    "EngineOptions",
    "GpuEngine",
    "PackedBits",
    "ReferenceEngine",
    "SamplingEngine",
    "Tally",
    "engine_factory",
    "likely_outputs",
]


def engine_factory(options: EngineOptions) -> Callable[[Plan], SamplingEngine]:
    """How to make an engine for a plan.

    Args:
        options: Which engine, and with what.

    Returns:
        A function that makes an engine.

    Raises:
        EngineUnavailableError: ``"gpu"`` is asked for, and no GPU can be used.

    Examples:
        >>> engine_factory(EngineOptions(engine="reference")).__name__
        'ReferenceEngine'
    """
    cache_bytes, device = options.cache_bytes, options.device

    def cpu(plan: Plan) -> CpuEngine:
        return CpuEngine(plan, threads=options.threads, cache_bytes=cache_bytes)

    if options.engine == "reference":
        return ReferenceEngine
    if options.engine == "gpu":
        backend = CupyBackend(device)
        return lambda plan: GpuEngine(plan, backend, cache_bytes=cache_bytes)
    if options.engine == "auto" and gpu_may_be_there():
        return lambda plan: AutoEngine(
            cpu(plan), lambda: GpuEngine(plan, CupyBackend(device), cache_bytes=cache_bytes)
        )
    return cpu


def likely_outputs(plan: Plan) -> npt.NDArray[np.bool_]:
    """What the outcomes flip without noise if every outcome is the more likely one; see ``reference``.

    Args:
        plan: The plan; it must not postselect.

    Returns:
        bool, shape (num_outputs,).
    """
    return CpuEngine(plan, cache_bytes=0).likely_outputs()
