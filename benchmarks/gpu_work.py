"""The work of the GPU engine's kernels, counted from the plan, and the limits of a GPU.

All counts are per shot, and include only what the algorithm needs. Instructions of the noise kernel are
counted in its machine code for sm_90. Bytes of shared memory and of HBM follow from what is read and written,
and multiply-adds from the rotations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stim_nonclifford import _native
from stim_nonclifford.engines.gpu.device_plan import DevicePlan
from stim_nonclifford.plan import BLOCK_SHOTS, SamplingPlan, plain_attributes

__all__ = ["Limits", "Work", "limits_of", "noise_work", "simulation_work"]

# Instructions per thread, counted in the disassembly of the kernel for rows of four words.
INSTRUCTIONS_PER_COUNT = 80  # a quarter of one Philox block, and the search in the thresholds
INSTRUCTIONS_PER_PLACE = 45  # in the order by numbers of events
INSTRUCTIONS_PER_EVENT_DRAWN = 69  # a quarter of one Philox block, and the alias table
INSTRUCTIONS_PER_EVENT_APPLIED = 17
INSTRUCTIONS_PER_ROW = 75
WARP = 32
COEFFICIENT_BYTES = 16
# Multiply-adds per coefficient. A pair of coefficients takes four for the squared norm of the vector, and two
# for the inner product; a weak measurement adds a multiple of one coefficient to the other; another
# measurement adds pairs, and normalizes the sums.
FUSED_PER_ROTATION, FUSED_PER_WEIGHTS, FUSED_PER_WEAK_PROJECTION, FUSED_PER_PROJECTION = 2, 3, 4, 2
# enum StepKind in kernels/plan_image.h; the fourth is the weak measurement.
ROTATE_STEP, ACTIVATE_STEP, MEASURE_STEP = 0, 1, 2


@dataclass(frozen=True)
class Work:
    """Work of one shot.

    Attributes:
        instructions: Instructions per thread; 0 for a kernel that they do not limit.
        shared_bytes: Bytes read from and written to shared memory.
        hbm_bytes: Bytes read from and written to the GPU's main memory.
        fused: Fused multiply-adds in double precision.
    """

    instructions: float = 0.0
    shared_bytes: float = 0.0
    hbm_bytes: float = 0.0
    fused: float = 0.0

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


def noise_work(plan: SamplingPlan, device_plan: DevicePlan, *, queued: float, written_bytes: float) -> Work:
    """The work of the noise kernel.

    Args:
        plan: The plan.
        device_plan: The plan on the device.
        queued: The fraction of shots that are queued for the other kernels.
        written_bytes: Bytes of outputs written per shot.

    Returns:
        The work per shot.
    """
    events = plan.mean_events
    row_bytes = 8 * (device_plan.noise.row_words or device_plan.wide_row_words)
    at_most = plan.count_thresholds.astype(np.float64) / 2.0**64
    # Shots without events are only counted, unless the plan has coins.
    listed = 1.0 if len(plan.coins) else 1.0 - float(at_most[0])
    shared = 8 + events * (4 + 4)
    table_bytes = events * (16 + row_bytes)
    queue_bytes = queued * 8 * (1 + device_plan.signature_words + device_plan.output_words)
    return Work(
        instructions=INSTRUCTIONS_PER_COUNT
        + INSTRUCTIONS_PER_PLACE
        + INSTRUCTIONS_PER_EVENT_DRAWN * events
        + INSTRUCTIONS_PER_EVENT_APPLIED * _iterations(at_most)
        + INSTRUCTIONS_PER_ROW * listed,
        shared_bytes=shared + (table_bytes if device_plan.noise.in_shared else 0),
        hbm_bytes=queue_bytes + written_bytes,
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


def _iterations(at_most: npt.NDArray[np.float64]) -> float:
    """Iterations of the loop over events per shot: as many as the thread with most events of a warp has.

    Args:
        at_most: The probabilities of at most 0, 1, ... events.

    Returns:
        The number, for shots in the order of their numbers of events.

    Examples:
        >>> round(_iterations(np.array([0.5])), 3)
        0.515
    """
    # For each k the shots of a block with more than k events, and the warps that have some of them.
    shots = BLOCK_SHOTS * (1 - at_most)
    warps = (1 - np.exp(-shots)) * np.maximum(1, shots / WARP + 0.5 - 0.5 / WARP)
    return float(warps.sum()) * WARP / BLOCK_SHOTS
