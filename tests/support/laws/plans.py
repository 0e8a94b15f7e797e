"""Plans made of what the two sweeps find."""

from collections.abc import Sequence

import numpy as np
import stim

from stim_nonclifford.simulation.compiler.plans.plan_construction import construct_plan, schedule
from stim_nonclifford.simulation.compiler.plans.requested_outputs import RequestedOutputs, needed_operations
from stim_nonclifford.simulation.compiler.program.flattening import program_of
from stim_nonclifford.simulation.compiler.sweeps.backward_sweep import backward_sweep
from stim_nonclifford.simulation.compiler.sweeps.effects import EffectTable
from stim_nonclifford.simulation.compiler.sweeps.forward_sweep import QuantumProgram, forward_sweep
from stim_nonclifford.simulation.compiler.sweeps.operations import Operation
from stim_nonclifford.simulation.plan import SamplingPlan


def swept(circuit: stim.Circuit, *, keep_order: bool = False) -> tuple[QuantumProgram, EffectTable]:
    """What the sweeps find, with the measurement records as outputs."""
    program = program_of(circuit)
    quantum = forward_sweep(program, keep_order=keep_order)
    return quantum, backward_sweep(program, quantum, "records")


def random_request(rng: np.random.Generator, num_outputs: int) -> RequestedOutputs:
    """Outputs to report, in any order, and outputs to postselect on; some are both."""
    reported = rng.permutation(num_outputs)[: rng.integers(num_outputs + 1)]
    postselected = rng.permutation(num_outputs)[: rng.integers(num_outputs)]
    return RequestedOutputs.of(reported.tolist(), postselected.tolist())


def plan_of(
    operations: Sequence[Operation], table: EffectTable, requested: RequestedOutputs, constant: int
) -> SamplingPlan:
    """The plan for one way of reading outputs, which are ``constant`` on the base path without noise."""
    needed = needed_operations(operations, table.outcomes, requested)
    return construct_plan(table, needed, schedule(needed, table), requested, constant)


def plan_of_noise(table: EffectTable, requested: RequestedOutputs, constant: int = 0) -> SamplingPlan:
    """The same without quantum operations."""
    return plan_of([], table, requested, constant)
