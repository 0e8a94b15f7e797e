"""Engines run plans. Each gives the same shots for the same seed.

``contract`` says what an engine does, ``reference`` is its plain definition in NumPy, ``cpu`` the fast one
in C++, ``gpu`` the one for NVIDIA GPUs; ``auto`` goes from the CPU to a GPU when work is long.
``random_streams`` defines the random numbers of a shot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from ..plan import Plan
from .auto import AutoEngine
from .contract import DeviceSamplingEngine, PackedBits, SamplingEngine, Tally
from .cpu import DEFAULT_CACHE_BYTES, CpuEngine
from .gpu import CupyBackend, GpuEngine, gpu_may_be_there
from .reference import ReferenceEngine

__all__ = [
    "DEFAULT_CACHE_BYTES",
    "AutoEngine",
    "CpuEngine",
    "DeviceSamplingEngine",
    "EngineName",
    "GpuEngine",
    "PackedBits",
    "ReferenceEngine",
    "SamplingEngine",
    "Tally",
    "engine_factory",
    "likely_outputs",
]

EngineName = Literal["auto", "cpu", "gpu", "reference"]


def engine_factory(
    engine: str,
    *,
    threads: int = 1,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    device: int | None = None,
) -> Callable[[Plan], SamplingEngine]:
    """How to make an engine for a plan.

    Args:
        engine: ``"cpu"``: the CPU engine. ``"gpu"``: the one for GPUs. ``"auto"``: the CPU engine, and for
            long work the one for GPUs, if CuPy and a GPU are there. ``"reference"``: the plain one, which
            ignores the other arguments.
        threads: Number of threads of the CPU engine.
        cache_bytes: Limit for stored outcome laws, in bytes.
        device: Number of the GPU among those that ``CUDA_VISIBLE_DEVICES`` shows; None for CuPy's current
            one.

    Returns:
        A function that makes an engine.

    Raises:
        EngineUnavailableError: ``"gpu"`` is asked for, and no GPU can be used.
        ValueError: There is no such engine, a number is out of range, or ``device`` is given for an engine
            that uses no GPU.

    Examples:
        >>> engine_factory("numpy")
        Traceback (most recent call last):
        ...
        ValueError: Unknown engine 'numpy'; there are 'auto', 'cpu', 'gpu' and 'reference'.
    """
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}.")
    if cache_bytes < 0:
        raise ValueError(f"cache_bytes must not be negative, but is {cache_bytes}.")
    if engine not in get_args(EngineName):
        raise ValueError(f"Unknown engine {engine!r}; there are 'auto', 'cpu', 'gpu' and 'reference'.")
    if device is not None and engine not in ("auto", "gpu"):
        raise ValueError(f"device={device} goes with engine='gpu' or 'auto', not with {engine!r}.")

    def cpu(plan: Plan) -> CpuEngine:
        return CpuEngine(plan, threads=threads, cache_bytes=cache_bytes)

    if engine == "reference":
        return ReferenceEngine
    if engine == "gpu":
        backend = CupyBackend(device)
        return lambda plan: GpuEngine(plan, backend, cache_bytes=cache_bytes)
    if engine == "auto" and gpu_may_be_there():
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
