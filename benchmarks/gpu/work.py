"""The work of the GPU engine's kernels, from the plan, and the limits of a GPU.

All counts are per shot. Those of the noise kernel are what it really does (``noise``). Those of
simulations include only what the algorithm needs: bytes of shared memory and of HBM follow from what is read
and written, and multiply-adds from the rotations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.gpu.noise import GLOBAL_BYTES, ISSUE_SLOTS, SHARED_PASSES, noise_sections
from stim_nonclifford import _native
from stim_nonclifford.simulation.engines.gpu.device_plan import DevicePlan
from stim_nonclifford.simulation.plan import SamplingPlan, plain_attributes

WARP = 32
PASS_BYTES = 128
"""What a pass of shared memory could move, if no banks conflicted."""
COEFFICIENT_BYTES = 16
# Multiply-adds per coefficient. A pair of coefficients takes four for the squared norm of the vector, and two
# for the inner product; a weak measurement adds a multiple of one coefficient to the other; another
# measurement adds pairs, and normalizes the sums.
FUSED_PER_ROTATION, FUSED_PER_WEIGHTS, FUSED_PER_WEAK_PROJECTION, FUSED_PER_PROJECTION = 2, 3, 4, 2
# enum StepKind in native/kernels/launch/plan_image.h; the fourth is the weak measurement.
ROTATE_STEP, ACTIVATE_STEP, MEASURE_STEP = 0, 1, 2


@dataclass(frozen=True)
class Work:
    """Work of one shot."""

    # instructions of threads: of warps, times 32; 0 for a kernel that they do not limit
    instructions: float = 0.0
    shared_bytes: float = 0.0  # bytes that shared memory could move in the time that its accesses take
    hbm_bytes: float = 0.0  # bytes read from and written to the GPU's main memory
    fused: float = 0.0  # fused multiply-adds in double precision

    def __add__(self, other: Work) -> Work:
        return Work(
            self.instructions + other.instructions,
            self.shared_bytes + other.shared_bytes,
            self.hbm_bytes + other.hbm_bytes,
            self.fused + other.fused,
        )

    def __mul__(self, times: float) -> Work:
        return Work(
            self.instructions * times, self.shared_bytes * times, self.hbm_bytes * times, self.fused * times
        )


@dataclass(frozen=True)
class Limits:
    """The most that a GPU can do per second: thread instructions, bytes, multiply-adds."""

    instructions: float
    shared_bytes: float
    hbm_bytes: float
    fused: float

    def shares(self, work: Work, shots_per_second: float) -> dict[str, float]:
        """For each limit, the fraction of it that is reached."""
        return {
            "instruction issue": work.instructions * shots_per_second / self.instructions,
            "shared memory": work.shared_bytes * shots_per_second / self.shared_bytes,
            "HBM": work.hbm_bytes * shots_per_second / self.hbm_bytes,
            "FP64": work.fused * shots_per_second / self.fused,
        }


def limits_of(cupy: Any) -> Limits:
    """The limits of CuPy's current device, at its highest clock."""
    runtime = cupy.cuda.runtime
    device = cupy.cuda.Device().id

    def attribute(name: str) -> float:
        return float(runtime.deviceGetAttribute(getattr(runtime, f"cudaDevAttr{name}"), device))

    cycles = attribute("MultiProcessorCount") * attribute("ClockRate") * 1e3
    # Per multiprocessor and cycle, by compute capability. Other GPUs than these have hardly any FP64 units.
    fused_per_cycle = {"80": 32, "90": 64, "100": 64}.get(cupy.cuda.Device().compute_capability, 1)
    return Limits(
        instructions=4 * WARP * cycles,
        shared_bytes=128 * cycles,
        hbm_bytes=2e3 * attribute("MemoryClockRate") * attribute("GlobalMemoryBusWidth") / 8,
        fused=fused_per_cycle * cycles,
    )


def noise_work(plan: SamplingPlan, *, written_bytes: float) -> Work:
    """The work of the noise kernel, for plans whose rows of shots are kept in registers."""
    sections = noise_sections(plan)
    return Work(
        instructions=WARP * sections.cost(ISSUE_SLOTS),
        shared_bytes=PASS_BYTES * sections.cost(SHARED_PASSES),
        hbm_bytes=sections.cost(GLOBAL_BYTES) + written_bytes,
    )


def simulation_work(plan: SamplingPlan, device_plan: DevicePlan) -> Work:
    """The work of the kernel `simulate` for one shot that no check discards."""
    image = _native.plan_image(plain_attributes(plan))
    work = Work()
    steps = _native.image_steps(image)
    for k, (kind, width, new_coordinates, rotations, projects, sums) in enumerate(steps):
        old_size, size = 2.0**width, 2.0 ** (width + new_coordinates)
        passed, fused = 0.0, 0  # coefficients, and multiply-adds for each
        if kind in (ROTATE_STEP, ACTIVATE_STEP):
            passed = old_size + size
            fused += FUSED_PER_ROTATION * rotations + FUSED_PER_WEIGHTS * sums
            fused += FUSED_PER_WEAK_PROJECTION * projects
        else:
            if not sums:  # by the pass before
                passed += size
                fused += FUSED_PER_WEIGHTS
            if kind == MEASURE_STEP:
                passed += 1.5 * size
                fused += FUSED_PER_PROJECTION
            elif k + 1 < len(steps) and not steps[k + 1][4]:  # projected in a pass of its own
                passed += 2 * size
                fused += FUSED_PER_WEAK_PROJECTION
        is_narrow = width + new_coordinates <= device_plan.shared_width
        vector_bytes = COEFFICIENT_BYTES * passed
        work += Work(
            shared_bytes=vector_bytes if is_narrow else 0,
            hbm_bytes=0 if is_narrow else vector_bytes,
            fused=fused * size,
        )
    return work
