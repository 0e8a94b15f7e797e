"""Circuits of Qiskit, with the same states and distributions."""

import numpy as np
import pytest

from stim_nonclifford import Circuit

from ...support.oracle.density_matrix import record_distribution
from ...support.seeds import seeds
from .qiskit_branches import circuit_with_feedback, compare_bits, distribution_of

qiskit = pytest.importorskip("qiskit")


@pytest.mark.parametrize("seed", seeds(60, quick=6))
def test_random_circuits_have_the_same_state(seed: int) -> None:
    from qiskit.circuit.random import random_circuit

    size = 2 + seed % 4
    circuit = random_circuit(size, 6, max_operands=min(size, 4), seed=2000 + seed)
    expected = qiskit.quantum_info.Statevector(circuit).data
    found = Circuit.from_qiskit(circuit).state_vector()
    assert abs(np.vdot(found, expected)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("seed", seeds(60, quick=6))
def test_random_circuits_with_feedback_have_the_same_distribution(seed: int) -> None:
    circuit = circuit_with_feedback(qiskit, 100 + seed)
    found = record_distribution(Circuit.from_qiskit(circuit).to_stim(), cutoff=1e-14)
    compare_bits(distribution_of(circuit), found)


def test_loops_are_unrolled() -> None:
    circuit = qiskit.QuantumCircuit(1)
    angle = qiskit.circuit.Parameter("a")
    with circuit.for_loop(range(3), angle):
        circuit.rz(angle * np.pi / 4, 0)
        circuit.h(0)
    found = Circuit.from_qiskit(circuit)
    assert found == Circuit("R_Z(0) 0\nH 0\nR_Z(0.25) 0\nH 0\nR_Z(0.5) 0\nH 0")


def test_names_are_kept() -> None:
    circuit = qiskit.QuantumCircuit(2, 1)
    circuit.h(0)
    circuit.t(0)
    circuit.cx(0, 1)
    circuit.barrier()
    circuit.p(np.pi / 4, 1)
    circuit.measure(1, 0)
    assert Circuit.from_qiskit(circuit) == Circuit("H 0\nT 0\nCX 0 1\nTICK\nT 1\nM 1")


def test_refusals() -> None:
    with pytest.raises(TypeError, match=r"circuit must be a qiskit.QuantumCircuit, but has type str"):
        Circuit.from_qiskit("OPENQASM 3.0;")
    free = qiskit.QuantumCircuit(1)
    free.rx(qiskit.circuit.Parameter("angle"), 0)
    with pytest.raises(ValueError, match="The parameters angle have no values"):
        Circuit.from_qiskit(free)
    with pytest.raises(TypeError, match=r"Read it with Circuit.from_qiskit\(circuit\)"):
        Circuit(free)
    prepared = qiskit.QuantumCircuit(1)
    prepared.initialize([0.6, 0.8])
    assert abs(Circuit.from_qiskit(prepared).state_vector()[1]) == pytest.approx(0.8)
