"""The arrays of plans are consistent. That they sample what they should is tested by test_exact_distribution."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from stim_nonclifford import Circuit
from stim_nonclifford.simulation.compiler.plans.requested_outputs import RequestedOutputs, needed_operations
from stim_nonclifford.simulation.plan import ACTIVATE, MEASURE, ROTATE, SamplingPlan

from ....support.laws.plans import plan_of, random_request, swept
from ....support.oracle.random_circuits import random_circuit
from ....support.seeds import seeds


def assert_arrays_are_consistent(plan: SamplingPlan) -> None:
    operations = plan.operations
    measures = operations["kind"] == MEASURE
    assert operations["outcome"][measures].tolist() == list(range(plan.num_outcomes))
    assert set(operations["outcome"][~measures].tolist()) <= {-1}
    np.testing.assert_array_equal(operations["segment"], np.cumsum(measures) - measures)
    # The vector that an operation leaves has the width that the next one finds.
    change = np.select([operations["kind"] == ACTIVATE, operations["kind"] == MEASURE], [1, -1], 0)
    np.testing.assert_array_equal(operations["width"], np.cumsum(change) - change)
    assert plan.peak_width == peak_width_of(operations)
    # Each rotation of the circuit is a term of one operation.
    ends = np.append(0, operations["end_term"])
    np.testing.assert_array_equal(operations["first_term"], ends[:-1])
    assert ends[-1] == len(plan.rotation_terms) == len(plan.rotation_term_steps)
    assert len(np.unique(plan.rotation_term_steps)) == len(plan.rotation_term_steps)
    assert not np.any((operations["kind"] == MEASURE) & (ends[1:] > ends[:-1]))
    assert np.all(ends[1:][operations["kind"] == ROTATE] > ends[:-1][operations["kind"] == ROTATE])
    signs = plan.rotation_terms["sign"]
    assert len(np.unique(signs[signs >= 0])) == np.count_nonzero(signs >= 0)
    assert np.all(signs < plan.num_signs)
    np.testing.assert_allclose(plan.rotation_terms["cosine"] ** 2 + plan.rotation_terms["sine"] ** 2, 1)
    for k, deadline in enumerate(plan.outcome_check_deadlines.tolist()):
        flipping = [m for m in range(plan.num_outcomes) if plan.num_signs + k in plan.outcome_effects.row(m)]
        assert deadline == max(flipping, default=-1)


def peak_width_of(operations: npt.NDArray[np.void]) -> int:
    """Without coordinates that enter about Z, and are measured about X or Y at once."""
    largest = 0
    for k in np.flatnonzero(operations["kind"] == ACTIVATE).tolist():
        width = int(operations["width"][k])
        leaves = k + 1 < len(operations) and operations["pivot"][k + 1] == width
        is_weak = (
            leaves
            and operations["kind"][k + 1] == MEASURE
            and operations["x"][k + 1]
            and not operations["x"][k]
        )
        largest = max(largest, width + (not is_weak))
    return largest


@pytest.mark.parametrize("seed", seeds(20, quick=4))
def test_random_circuits(seed: int) -> None:
    """Of the seeds [15, seed, 0], ...: any records reported, any postselected on."""
    kinds: set[int] = set()
    for k in range(12):
        rng = np.random.default_rng([15, seed, k])
        quantum, table = swept(random_circuit(rng, num_qubits=3, num_operations=25, max_records=7))
        plan = plan_of(quantum.operations, table, random_request(rng, table.num_outputs), table.base_outputs)
        assert_arrays_are_consistent(plan)
        kinds |= set(plan.operations["kind"].tolist())
    assert {ACTIVATE, MEASURE} <= kinds


def test_a_plan_of_nothing() -> None:
    quantum, table = swept(Circuit("RX 0\nT 0\nMX 0").to_stim())
    plan = plan_of(quantum.operations, table, RequestedOutputs.of([]), 0)
    assert_arrays_are_consistent(plan)
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
