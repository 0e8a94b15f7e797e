"""Circuits of Qiskit, with the same states and distributions."""

from __future__ import annotations

import re

import numpy as np
import pytest

from stim_nonclifford import Circuit

from ...support.oracle.density_matrix import record_distribution
from ...support.seeds import seeds
from .qiskit_branches import distribution_of
from .test_qasm_reader import circuit_with_feedback, compare_bits

qiskit = pytest.importorskip("qiskit")


@pytest.mark.parametrize("seed", seeds(200, quick=12))
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
    compare_bits(circuit, distribution_of(circuit), found)


def test_gates_that_are_defined_or_given_by_a_matrix() -> None:
    from qiskit.circuit.library import QFTGate, UnitaryGate
    from qiskit.quantum_info import random_unitary

    circuit = qiskit.QuantumCircuit(3)
    circuit.append(UnitaryGate(random_unitary(4, seed=3)), [2, 0])
    circuit.append(QFTGate(3), [0, 1, 2])
    circuit.append(UnitaryGate(random_unitary(2, seed=4)).control(1, ctrl_state=0), [1, 2])
    circuit.mcp(0.3, [0, 1], 2)
    found = Circuit.from_qiskit(circuit).state_vector()
    assert abs(np.vdot(found, qiskit.quantum_info.Statevector(circuit).data)) == pytest.approx(1, abs=1e-7)


def test_conditions_that_are_expressions() -> None:
    from qiskit.circuit.classical import expr

    circuit = qiskit.QuantumCircuit(3, 2)
    circuit.h(range(2))
    circuit.measure([0, 1], [0, 1])
    with circuit.if_test(expr.logic_or(circuit.clbits[0], expr.logic_not(circuit.clbits[1]))):
        circuit.x(2)
    with circuit.if_test(expr.equal(circuit.cregs[0], 3)):
        circuit.x(2)
    read = Circuit.from_qiskit(circuit)
    read.append("M", [2])
    for records, probability in record_distribution(read.to_stim(), cutoff=1e-14).items():
        first, second = records[:2]
        assert records[-1] == ((first or not second) != (first and second))
        assert probability == pytest.approx(0.25)


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
    conditional = qiskit.QuantumCircuit(1, 1)
    with conditional.if_test((conditional.clbits[0], 0)):
        conditional.h(0)
    conditional.measure(0, 0)
    with conditional.if_test((conditional.clbits[0], 1)):
        conditional.reset(0)
    with pytest.raises(
        ValueError,
        match=re.escape("Instruction 2, if_else: in it instruction 0, reset: a reset cannot be conditional"),
    ):
        Circuit.from_qiskit(conditional)
    prepared = qiskit.QuantumCircuit(1)
    prepared.initialize([0.6, 0.8])
    assert abs(Circuit.from_qiskit(prepared).state_vector()[1]) == pytest.approx(0.8)


def test_hints_for_what_other_packages_have() -> None:
    circuit = qiskit.QuantumCircuit(1, 1)
    with pytest.raises(TypeError, match=r"Read it with Circuit.from_qiskit\(circuit\)"):
        Circuit(circuit)
    circuit.measure(0, 0)
    with circuit.while_loop((circuit.clbits[0], 1)):
        circuit.x(0)
    with pytest.raises(ValueError, match="Instruction 1, while_loop: it has no counterpart"):
        Circuit.from_qiskit(circuit)
