"""Engines run plans. Each gives the same shots for the same seed.

``contract`` says what an engine does, ``reference`` is its plain definition in NumPy, ``cpu`` the fast one
in C++. ``random_streams`` defines the random numbers of a shot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from ..plan import Plan
from .contract import PackedBits, SamplingEngine, Tally
from .cpu import DEFAULT_CACHE_BYTES, CpuEngine
from .reference import ReferenceEngine

__all__ = [
    "DEFAULT_CACHE_BYTES",
    "CpuEngine",
    "EngineName",
    "PackedBits",
    "ReferenceEngine",
    "SamplingEngine",
    "Tally",
    "engine_factory",
]

EngineName = Literal["auto", "cpu", "reference"]


def engine_factory(
    engine: str, *, threads: int = 1, cache_bytes: int = DEFAULT_CACHE_BYTES
) -> Callable[[Plan], SamplingEngine]:
    """How to make an engine for a plan.

    Args:
        engine: ``"auto"`` or ``"cpu"``: the CPU engine. ``"reference"``: the plain one, which ignores the
            other arguments.
        threads: Number of threads.
        cache_bytes: Limit for stored outcome laws, in bytes.

    Raises:
        ValueError: There is no such engine, or a number is out of range.

    Examples:
        >>> engine_factory("gpu")
        Traceback (most recent call last):
        ...
        ValueError: Unknown engine 'gpu'; there are 'auto', 'cpu' and 'reference'.
    """
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}.")
    if cache_bytes < 0:
        raise ValueError(f"cache_bytes must not be negative, but is {cache_bytes}.")
    if engine in ("auto", "cpu"):
        return lambda plan: CpuEngine(plan, threads=threads, cache_bytes=cache_bytes)
    if engine == "reference":
        return ReferenceEngine
    raise ValueError(f"Unknown engine {engine!r}; there are 'auto', 'cpu' and 'reference'.")
