"""The GPU engine: the kernels of ``stim_nonclifford/kernels``, run by CuPy.

``cuda_source`` collects the source text that NVRTC compiles. ``backend`` declares the methods of a device;
``cupy_backend`` implements them for a GPU, and ``host_backend`` on the host, for tests. ``device_plan``
copies a plan to the device, and chooses the sizes of launches. ``outcome_store`` has the device's memory for
trees of outcomes, and ``chunk_sampler`` the memory for a chunk of shots. ``engine`` samples shots in chunks;
``outcomes`` has it draw outcomes alone.
"""

from __future__ import annotations

from .cupy_backend import CupyBackend, gpu_may_be_there
from .engine import GpuEngine
from .outcomes import GpuOutcomes

__all__ = ["CupyBackend", "GpuEngine", "GpuOutcomes", "gpu_may_be_there"]
