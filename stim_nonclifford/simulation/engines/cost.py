"""What the simulation of a shot costs, said before it is paid."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import NamedTuple

from ...base.errors import HOW_TO_NARROW, ResourceLimitError, SlowShotsWarning
from ...base.memory import bytes_text, machine_bytes
from ..compiler import CompiledCircuit, followed_nanoseconds
from ..plan import SamplingPlan
from ..reduction import reduction_of, simulated_width, simulation_nanoseconds
from .options import EngineOptions

_COEFFICIENT_BYTES = 16

_COEFFICIENTS_PER_SECOND = 1e9
"""About what a thread of a current CPU makes of long vectors; see ``docs/methods/cost.md``."""

_GPU_CORES = 100
"""A GPU does as much with vectors as so many threads of its host; see ``docs/results/performance.md``."""

_FAST_WIDTH = 16
"""Narrower vectors take neither much memory nor much time."""

_MOST_REPEATED = 4.0
"""How many times faster a plan is than counted, because outcomes that come again are stored.

With 1, small codes would be followed although their plans are faster; with 20, cultivation would have its
plan, which is slower.
"""

_NARROW = 6
"""Plans of so few coordinates are not compared with anything: their coefficients take less than all else."""

_MAX_SECONDS = 2.0
"""Shots that take longer are warned of."""


class CountedCost(NamedTuple):
    """Nanoseconds of a shot, from numbers of operations: the same on every machine.

    Attributes:
        planned: With a plan, if no outcome comes again; infinite if the plan has more than 24 coordinates.
        followed: If the shot is followed by itself.

    Examples:
        >>> CountedCost(planned=150_000, followed=10_000).follows
        True
    """

    planned: float
    followed: float

    @property
    def follows(self) -> bool:
        """Whether ``engine="auto"`` follows each shot."""
        return self.planned > _MOST_REPEATED * self.followed

    def __str__(self) -> str:
        plan = f"{self.planned:,.0f} ns with a plan"
        if math.isinf(self.planned):
            plan = "more than 24 coordinates with a plan"
        chosen = "follows each shot" if self.follows else "takes the plan, as many outcomes come again"
        return (
            f"By numbers of operations, a shot takes {plan}, and {self.followed:,.0f} ns if it is followed by"
            f' itself (engine="trajectory"). engine="auto" {chosen}.'
        )


def counted_cost(
    compiled: CompiledCircuit, planned: Callable[[CompiledCircuit], SamplingPlan]
) -> CountedCost | None:
    """The costs between which ``engine="auto"`` chooses; None if it takes the plan in any case.

    Args:
        compiled: The circuit. A choice is only made if qubits relax or outcomes are misread.
        planned: Makes the plan of a circuit for the same outputs.
    """
    if not compiled.program.has_non_pauli_channels or compiled.quantum.peak_width <= _NARROW:
        return None
    try:
        followed = followed_nanoseconds(compiled, planned)
    except ResourceLimitError:
        return None  # the refusal of the plan says more
    try:
        plan = planned(compiled)
    except ResourceLimitError:
        return CountedCost(math.inf, followed)
    return CountedCost(-math.expm1(-plan.mean_events) * simulation_nanoseconds(plan), followed)


def follows_shots(
    compiled: CompiledCircuit, options: EngineOptions, planned: Callable[[CompiledCircuit], SamplingPlan]
) -> bool:
    """Whether the shots of a circuit are followed one by one, and have no plan; see ``counted_cost``."""
    if options.engine != "auto" or not compiled.program.has_plan:
        return options.engine in ("auto", "trajectory")
    cost = counted_cost(compiled, planned)
    return cost is not None and cost.follows


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
        f"The circuit needs 2^{width} coefficients ({bytes_text(vector)} bytes) for each thread, that is"
        f" {bytes_text(num_vectors * vector)} bytes for {num_vectors}; this machine has {memory:,} bytes of"
        f" memory. {advice}"
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
