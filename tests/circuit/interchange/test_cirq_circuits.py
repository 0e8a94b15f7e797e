"""Circuits of Cirq, read and written, with the same states."""

import numpy as np
import pytest

from stim_nonclifford import Circuit

from ...support.seeds import seeds

cirq = pytest.importorskip("cirq")
pytest.importorskip("stimcirq")

QUBITS = cirq.LineQubit.range(4)
GATES = {
    cirq.T: 1,
    cirq.S**-1: 1,
    cirq.H: 1,
    cirq.H**0.5: 1,
    cirq.X**0.3: 1,
    cirq.Y**1.7: 1,
    cirq.rz(0.3): 1,
    cirq.rx(np.pi / 2): 1,
    cirq.PhasedXZGate(x_exponent=0.1, z_exponent=0.2, axis_phase_exponent=0.3): 1,
    cirq.CX: 2,
    cirq.CX**0.5: 2,
    cirq.CZ**0.25: 2,
    cirq.ISWAP: 2,
    cirq.ISWAP**0.3: 2,
    cirq.SWAP**0.5: 2,
    cirq.XX**0.25: 2,
    cirq.ZZ**0.5: 2,
    cirq.FSimGate(0.3, 0.4): 2,
    cirq.ControlledGate(cirq.H): 2,
    cirq.ControlledGate(cirq.rz(0.7)): 2,
    cirq.ControlledGate(cirq.PhasedXPowGate(phase_exponent=0.3, exponent=0.4)): 2,
    cirq.ControlledGate(cirq.MatrixGate(np.diag([1j, 1]))): 2,
    cirq.CCX: 3,
    cirq.CCZ**0.25: 3,
    cirq.CSWAP: 3,
    cirq.ControlledGate(cirq.T, num_controls=2): 3,
    cirq.X.controlled(2, control_values=[0, 1]): 3,
}


def states_agree(circuit, found: Circuit) -> None:
    expected = cirq.final_state_vector(circuit, qubit_order=QUBITS, dtype=np.complex128)
    vector = found.state_vector(endian="big")
    vector = np.kron(vector, [1] + [0] * (len(expected) // len(vector) - 1))
    assert abs(np.vdot(vector, expected)) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("seed", seeds(60, quick=6))
def test_random_circuits_have_the_same_state_there_and_back(seed: int) -> None:
    circuit = cirq.testing.random_circuit(QUBITS, 12, 0.6, gate_domain=GATES, random_state=seed)
    read = Circuit.from_cirq(circuit)
    states_agree(circuit, read)
    states_agree(read.to_cirq(), read)
    states_agree(circuit, Circuit.from_cirq(read.to_cirq()))


def test_gates_are_those_of_cirq() -> None:
    written = Circuit("T 0\nT_DAG 1\nCS 0 1\nS 0").to_cirq()
    assert [operation.gate for operation in written.all_operations()] == [
        cirq.T,
        cirq.T**-1,
        cirq.CZ**0.5,
        cirq.S,
    ]


def test_classical_controls_and_grid_qubits() -> None:
    a, b = cirq.GridQubit(0, 3), cirq.GridQubit(1, 2)
    circuit = cirq.Circuit(
        cirq.X(a), cirq.measure(a, key="m", invert_mask=(True,)), cirq.T(b).with_classical_controls("m")
    )
    expected = """
        QUBIT_COORDS(0, 3) 0
        QUBIT_COORDS(1, 2) 1
        X 0
        TICK
        M !0
        TICK
        CT rec[-1] 1
        TICK
    """
    assert Circuit.from_cirq(circuit) == Circuit(expected)
