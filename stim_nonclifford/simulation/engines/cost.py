"""What the simulation of a shot costs, said before it is paid."""

from __future__ import annotations

import warnings

from ...base.errors import HOW_TO_NARROW, ResourceLimitError, SlowShotsWarning
from ...base.memory import machine_bytes
from ..plan import SamplingPlan
from ..reduction import reduction_of, simulated_width

__all__ = ["check_cost", "check_memory", "gpu_simulation_seconds", "warn_of_slow_shots"]

_COEFFICIENT_BYTES = 16

_COEFFICIENTS_PER_SECOND = 1e9
"""About what a thread of a current CPU makes of long vectors; see ``docs/results/performance.md``."""

_GPU_CORES = 100
"""A GPU makes about as much of vectors as so many threads of its host; see ``docs/results/gpu.md``."""

_FAST_WIDTH = 16
"""Narrower vectors take neither much memory nor much time."""

_MAX_SECONDS = 2.0
"""Shots that take longer are warned of."""


def check_cost(plan: SamplingPlan, threads: int) -> None:
    """Checks the memory that the CPU engine needs, and warns of slow shots."""
    width = plan.peak_width if plan.peak_width < _FAST_WIDTH else simulated_width(plan)
    check_memory(width, threads)
    if width == plan.peak_width:
        warn_of_slow_shots(plan)


def check_memory(width: int, num_vectors: int) -> None:
    """Checks that the machine has the memory for the coefficient vectors of an engine."""
    vector, memory = _COEFFICIENT_BYTES << width, machine_bytes()
    if num_vectors * vector <= memory:
        return
    advice = f"Choose at most threads={memory // vector}." if vector <= memory else HOW_TO_NARROW
    raise ResourceLimitError(
        f"The circuit needs 2^{width} coefficients ({vector:,} bytes) for each thread, that is"
        f" {num_vectors * vector:,} bytes for {num_vectors}; this machine has {memory:,} bytes of memory."
        f" {advice}"
    )


def warn_of_slow_shots(plan: SamplingPlan) -> None:
    """Warns if a shot takes more than some seconds."""
    coefficients = plan.total_coefficients
    seconds = coefficients / _COEFFICIENTS_PER_SECOND
    if seconds <= _MAX_SECONDS:
        return
    vector = _COEFFICIENT_BYTES << plan.peak_width
    warnings.warn(
        f"Simulating a shot takes about {seconds:.2g} s, unless it begins like an earlier one:"
        f" {coefficients:.2g} coefficient operations at about {_COEFFICIENTS_PER_SECOND:.0g} a second, on a"
        f" vector of 2^{plan.peak_width} coefficients ({vector:,} bytes). {HOW_TO_NARROW}",
        SlowShotsWarning,
        stacklevel=2,
    )


def gpu_simulation_seconds(plan: SamplingPlan) -> float:
    """The seconds of a GPU for the outcomes of a shot, where the CPU needs no coefficients for them.

    They are computed from numbers of operations. Where the CPU needs coefficients, too, they are 0.
    """
    reduction = reduction_of(plan)
    return reduction.vector_cost / 1e9 / _GPU_CORES if reduction.eliminates else 0.0
