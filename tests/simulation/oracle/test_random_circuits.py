"""The random circuits: limits, choice of instructions, reproducibility, shrinking."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
import stim
from hypothesis import find, given, settings

from ...support.oracle.density_matrix import record_distribution, used_qubits
from ...support.oracle.random_circuits import Family, circuits, mirrored_circuit, random_circuit


def instructions_of(circuit: stim.Circuit) -> list[stim.CircuitInstruction]:
    return list(circuit.flattened())


def test_all_instructions_occur() -> None:
    """Seed 1; the circuits of a fixed seed do not vary."""
    rng = np.random.default_rng(1)
    names: set[str] = set()
    tags: set[str] = set()
    for _ in range(500):
        circuit = random_circuit(rng, num_qubits=3)
        names.update(instruction.name for instruction in circuit)
        for instruction in instructions_of(circuit):
            names.add(instruction.name)
            tags.add(f"{instruction.name}[{instruction.tag.partition('(')[0]}]")
    assert names == set(stim.gate_data())
    non_clifford = {f"{gate}[T]" for gate in ("S", "S_DAG", "SPP", "SPP_DAG")}
    non_clifford |= {f"I[{call}]" for call in ("R_X", "R_Y", "R_Z", "U3")}
    non_clifford |= {f"II[R_{axis * 2}]" for axis in "XYZ"}
    non_clifford |= {"SPP[R_PAULI]", "SPP_DAG[R_PAULI]"}
    assert tags >= non_clifford


@pytest.mark.parametrize("num_qubits", [1, 2, 6])
def test_limits(num_qubits: int) -> None:
    """Seed 2."""
    rng = np.random.default_rng(2)
    for max_records in (0, 1, 5, 8):
        for _ in range(30):
            circuit = random_circuit(rng, num_qubits=num_qubits, max_records=max_records)
            assert set(used_qubits(circuit)) <= set(range(num_qubits))
            assert circuit.num_measurements <= max_records


def test_equal_seeds_give_equal_circuits() -> None:
    """Seed 3."""
    first, second = (random_circuit(np.random.default_rng(3)) for _ in range(2))
    assert first == second
    assert first != random_circuit(np.random.default_rng(4))


def test_only_chosen_instructions_occur() -> None:
    """Seed 5."""
    rng = np.random.default_rng(5)
    circuit = random_circuit(
        rng, num_operations=200, instructions={Family.T, Family.RESETS}, measure_at_end=False
    )
    names = {f"{i.name}[{i.tag}]" for i in circuit if isinstance(i, stim.CircuitInstruction)}
    assert names == {"S[T]", "S_DAG[T]", "SPP[T]", "SPP_DAG[T]", "R[]", "RX[]", "RY[]"}


def test_mirrored_circuits_undo_their_gates() -> None:
    """Seed 7."""
    rng = np.random.default_rng(7)
    for num_qubits in (1, 2, 3, 4) * 10:
        circuit = mirrored_circuit(rng, num_qubits=num_qubits)
        assert circuit.num_measurements == num_qubits
        assert circuit.num_detectors == 2
        noiseless = record_distribution(circuit.without_noise(), cutoff=1e-12)
        assert noiseless == pytest.approx({(0,) * num_qubits: 1.0}, abs=1e-12)


@settings(max_examples=50, deadline=None, derandomize=True, database=None)
@given(circuits(max_qubits=3, max_records=6))
def test_strategy_respects_limits(circuit: stim.Circuit) -> None:
    assert set(used_qubits(circuit)) <= {0, 1, 2}
    assert circuit.num_measurements <= 6


@pytest.mark.parametrize(
    "condition",
    [
        lambda circuit: circuit.num_detectors > 0,
        lambda circuit: any(i.tag == "T" for i in circuit.flattened()),
        lambda circuit: any(i.name == "CX" and "rec" in str(i) for i in circuit.flattened()),
    ],
)
def test_shrinking(condition: Callable[[stim.Circuit], bool]) -> None:
    """Seed 6. Up to two lines are needed; Hypothesis does not promise to find the shortest."""
    smallest = find(
        circuits(measure_at_end=False),
        condition,
        settings=settings(max_examples=2000, deadline=None, database=None),
        random=random.Random(6),
    )
    assert len(smallest.flattened()) <= 5
