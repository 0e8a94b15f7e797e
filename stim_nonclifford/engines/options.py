"""The options of engines, which every sampler takes as keyword arguments."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Literal, get_args

from .cpu import DEFAULT_CACHE_BYTES, MAX_THREADS

__all__ = ["EngineName", "EngineOptions"]

EngineName = Literal["auto", "cpu", "gpu", "reference"]


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """The choice of an engine, and its options.

    ``Circuit.compile_sampler`` and ``Circuit.compile_detector_sampler`` take them as keyword arguments of the
    same names. Shots do not depend on them.

    Attributes:
        engine: ``"cpu"`` is the engine for CPUs, in C++. ``"gpu"`` is the engine for NVIDIA GPUs, which needs
            CuPy (``pip install 'cupy-cuda13x[ctk]'``). ``"auto"`` starts on the CPU. It moves long
            work to a GPU if CuPy is installed and a GPU can be used. ``"reference"`` is the engine in plain
            NumPy that defines the results of the others; it ignores the other options.
        threads: Number of threads on the CPU, including the calling thread; at most 1024.
        cache_bytes: Limit for stored outcome laws, in bytes of the CPU's or of the GPU's memory. Beyond it,
            shots are simulated and their outcome laws are not stored.
        device: Number of the GPU among those in ``CUDA_VISIBLE_DEVICES``; None for CuPy's current device.

    Raises:
        TypeError: ``threads`` or ``cache_bytes`` is not an integer.
        ValueError: The engine is unknown, a number is out of range, or ``device`` is given for an engine
            that uses no GPU.

    Examples:
        >>> EngineOptions(threads=2)
        EngineOptions(engine='auto', threads=2, cache_bytes=536870912, device=None)
        >>> EngineOptions(engine="numpy")
        Traceback (most recent call last):
        ...
        ValueError: engine must be 'auto', 'cpu', 'gpu' or 'reference', but is 'numpy'.
    """

    engine: EngineName = "auto"
    threads: int = 1
    cache_bytes: int = DEFAULT_CACHE_BYTES
    device: int | None = None

    def __post_init__(self) -> None:
        for name in ("threads", "cache_bytes"):
            value = getattr(self, name)
            try:
                object.__setattr__(self, name, operator.index(value))
            except TypeError:
                raise TypeError(f"{name} must be an integer, but is {value!r}.") from None
        if self.threads < 1:
            raise ValueError(f"threads must be at least 1, but is {self.threads}.")
        if self.threads > MAX_THREADS:
            raise ValueError(f"threads must be at most {MAX_THREADS}, but is {self.threads}.")
        if self.cache_bytes < 0:
            raise ValueError(f"cache_bytes must not be negative, but is {self.cache_bytes}.")
        if self.cache_bytes >= 1 << 63:
            raise ValueError(f"cache_bytes must be below 2^63, but is {self.cache_bytes}.")
        engine, device = self.engine, self.device
        if engine not in get_args(EngineName):
            raise ValueError(f"engine must be 'auto', 'cpu', 'gpu' or 'reference', but is {engine!r}.")
        if device is not None and engine not in ("auto", "gpu"):
            raise ValueError(f"device={device} needs engine='gpu' or 'auto', but engine is {engine!r}.")
