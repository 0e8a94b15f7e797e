"""The GPU engine: the kernels of ``stim_nonclifford/kernels``, run by CuPy.

``cuda_source`` makes the text that NVRTC compiles; ``backend`` says what a device can do, ``cupy_backend``
does it on a GPU and ``host_backend``, for tests, on the host; ``device_plan`` puts a plan on the device and
decides the sizes of launches; ``outcome_store`` and ``lane`` are the device's memory for trees of outcomes
and for a chunk of shots; ``engine`` takes shots chunk by chunk.
"""

from __future__ import annotations

from .cupy_backend import CupyBackend, gpu_may_be_there
from .engine import GpuEngine

__all__ = ["CupyBackend", "GpuEngine", "gpu_may_be_there"]
