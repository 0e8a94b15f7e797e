"""The options of engines, which every sampler takes as keyword arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ...base.arguments import choice, integer, integer_or_none
from .cpu import DEFAULT_CACHE_BYTES, MAX_THREADS

_MAX_BYTES = (1 << 63) - 1

EngineName = Literal["auto", "cpu", "gpu", "reference", "trajectory"]


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """The choice of an engine, and its options.

    ``Circuit.compile_sampler`` and ``Circuit.compile_detector_sampler`` take them as keyword arguments of the
    same names. Shots do not depend on them, but for shots that are followed by themselves
    (``engine="trajectory"``), which have other random numbers.

    Attributes:
        engine: ``"cpu"`` is the engine for CPUs, in C++. ``"gpu"`` is the engine for NVIDIA GPUs, which needs
            CuPy (``pip install 'cupy-cuda13x[ctk]'``). ``"auto"`` runs a call on a GPU if the CPU would
            need more than 20 seconds for it, CuPy is installed and a GPU can be used; not if the CPU does
            without the vector that would keep the GPU busy longer; it follows each shot if records
            switch blocks, or if qubits relax and that is cheaper by numbers of operations
            (``plan().cost``). ``"reference"`` is the engine in plain
            NumPy that defines the results of the others; it ignores the other options. ``"trajectory"``
            follows the state of each shot on the CPU, in place of a plan for all of them: other shots of the
            same distribution. Relaxation hardly ever makes its vectors longer.
        threads: Number of threads on the CPU, including the calling thread; at most 1024.
        cache_bytes: Limit for stored outcome laws, in bytes of the CPU's or of the GPU's memory. Beyond it,
            shots are simulated and their outcome laws are not stored.
        device: Number of the GPU among those in ``CUDA_VISIBLE_DEVICES``; None for CuPy's current device.

    Raises:
        TypeError: ``threads``, ``cache_bytes`` or ``device`` is not an integer.
        ValueError: The engine is unknown, a number is out of range, or ``device`` is given for an engine
            that uses no GPU.

    Examples:
        >>> EngineOptions(threads=2)
        EngineOptions(engine='auto', threads=2, cache_bytes=536870912, device=None)
        >>> EngineOptions(engine="numpy")
        Traceback (most recent call last):
        ...
        ValueError: engine must be 'auto', 'cpu', 'gpu', 'reference' or 'trajectory', but is 'numpy'.
    """

    engine: EngineName = "auto"
    threads: int = 1
    cache_bytes: int = DEFAULT_CACHE_BYTES
    device: int | None = None

    def __post_init__(self) -> None:
        engine = choice(self.engine, "engine", get_args(EngineName))
        device = integer_or_none(self.device, "device")
        # As plain integers: NumPy's may have 8 bits.
        object.__setattr__(self, "threads", integer(self.threads, "threads", 1, MAX_THREADS))
        object.__setattr__(self, "cache_bytes", integer(self.cache_bytes, "cache_bytes", 0, _MAX_BYTES))
        object.__setattr__(self, "device", device)
        if device is not None and engine not in ("auto", "gpu"):
            raise ValueError(f"device={device} needs engine='gpu' or 'auto', but engine is {engine!r}.")
