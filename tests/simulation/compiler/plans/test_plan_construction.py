"""What plans need of a circuit. That they sample what they should is tested by test_exact_distribution."""

import pytest

from stim_nonclifford import Circuit
from stim_nonclifford.simulation.compiler.plans.requested_outputs import RequestedOutputs, needed_operations

from ....support.laws.plans import plan_of, swept


def test_a_plan_of_nothing() -> None:
    quantum, table = swept(Circuit("RX 0\nT 0\nMX 0").to_stim())
    plan = plan_of(quantum.operations, table, RequestedOutputs.of([]), 0)
    assert len(plan.operations) == plan.num_row_bits == plan.num_branch_bits == plan.peak_width == 0


@pytest.mark.parametrize(
    ("reported", "postselected", "num_needed"),
    [([0, 1], [], 4), ([1], [], 4), ([0], [], 2), ([0], [1], 4), ([], [0], 2), ([], [], 0)],
)
def test_operations_end_with_the_last_outcome_that_is_read(
    reported: list[int], postselected: list[int], num_needed: int
) -> None:
    circuit = Circuit("RX 0 1\nT 0 1\nX_ERROR(0.1) 0 1\nMX 0 1")
    quantum, table = swept(circuit.to_stim(), keep_order=True)
    kinds = [operation.kind.name for operation in quantum.operations]
    assert kinds == ["ACTIVATE", "MEASURE", "ACTIVATE", "MEASURE"]
    requested = RequestedOutputs.of(reported, postselected)
    needed = needed_operations(quantum.operations, table.outcomes, requested)
    assert needed == quantum.operations[:num_needed]
    assert plan_of(quantum.operations, table, requested, 0).num_outcomes == num_needed // 2


def test_an_outcome_that_only_decides_a_pauli_is_needed_if_that_is_read() -> None:
    circuit = Circuit("RX 0\nT 0\nMX 0\nCX rec[-1] 1\nR 0\nM 1")
    quantum, table = swept(circuit.to_stim())
    assert [operation.kind.name for operation in quantum.operations] == ["ACTIVATE", "MEASURE"]
    assert (
        needed_operations(quantum.operations, table.outcomes, RequestedOutputs.of([1])) == quantum.operations
    )
