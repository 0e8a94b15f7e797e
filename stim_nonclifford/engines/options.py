"""What users choose about engines: the keyword arguments that every sampler takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from .cpu import DEFAULT_CACHE_BYTES

__all__ = ["EngineName", "EngineOptions"]

EngineName = Literal["auto", "cpu", "gpu", "reference"]


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Which engine samples, and with what.

    ``Circuit.compile_sampler`` and ``Circuit.compile_detector_sampler`` take these as keyword arguments of
    the same names. Shots depend on none of them.

    Attributes:
        engine: ``"cpu"``: the engine for CPUs, in C++. ``"gpu"``: the one for NVIDIA GPUs, which needs CuPy
            (``pip install 'stim-nonclifford[cuda13]'``). ``"auto"``: starts on the CPU, and goes on on a GPU
            when work is long, if CuPy and a GPU are there. ``"reference"``: the plain one in NumPy, which
            defines what the others do; it ignores the other options.
        threads: Number of threads on the CPU, the calling one included.
        cache_bytes: Limit for stored outcome laws, in bytes of the CPU's or of the GPU's memory. Past it,
            shots are simulated without storing.
        device: Number of the GPU, among those that ``CUDA_VISIBLE_DEVICES`` shows; None for CuPy's current
            one.

    Raises:
        ValueError: There is no such engine, a number is out of range, or ``device`` is given for an engine
            that uses no GPU.

    Examples:
        >>> EngineOptions(threads=2)
        EngineOptions(engine='auto', threads=2, cache_bytes=536870912, device=None)
        >>> EngineOptions(engine="numpy")
        Traceback (most recent call last):
        ...
        ValueError: Unknown engine 'numpy'; there are 'auto', 'cpu', 'gpu' and 'reference'.
    """

    engine: EngineName = "auto"
    threads: int = 1
    cache_bytes: int = DEFAULT_CACHE_BYTES
    device: int | None = None

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise ValueError(f"threads must be at least 1, not {self.threads}.")
        if self.cache_bytes < 0:
            raise ValueError(f"cache_bytes must not be negative, but is {self.cache_bytes}.")
        engine, device = self.engine, self.device
        if engine not in get_args(EngineName):
            raise ValueError(f"Unknown engine {engine!r}; there are 'auto', 'cpu', 'gpu' and 'reference'.")
        if device is not None and engine not in ("auto", "gpu"):
            raise ValueError(f"device={device} goes with engine='gpu' or 'auto', not with {engine!r}.")
