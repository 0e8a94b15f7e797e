"""Non-Clifford gates and general properties of the density-matrix simulator."""

import math

import numpy as np
import pytest
import scipy.linalg
import stim
from hypothesis import given, settings

from ...support.oracle.density_matrix import (
    detector_distribution,
    final_density_matrix,
    record_distribution,
    reference_sample,
)
from ...support.oracle.operators import Matrix
from ...support.oracle.random_circuits import circuits

X: Matrix = np.array([[0, 1], [1, 0]], dtype=np.complex128)
Y: Matrix = np.array([[0, -1j], [1j, 0]], dtype=np.complex128)
Z: Matrix = np.array([[1, 0], [0, -1]], dtype=np.complex128)
ID: Matrix = np.eye(2, dtype=np.complex128)
PAULI = {"X": X, "Y": Y, "Z": Z}
T: Matrix = np.diag([1, np.exp(0.25j * np.pi)])
ANGLES = [0.25, 0.5, -0.75, 1.0, 0.123, 3.3, 1e-3]


def exp(pauli: Matrix, half_turns: float) -> Matrix:
    """exp(-i theta/2 P) for theta in units of pi."""
    result: Matrix = scipy.linalg.expm(-0.5j * np.pi * half_turns * pauli)
    return result


def on_three(low: Matrix, middle: Matrix, high: Matrix) -> Matrix:
    """An operator on three qubits, from its factors on qubits 0, 1 and 2."""
    return np.kron(high, np.kron(middle, low)).astype(np.complex128)


def assert_unitary(lines: str, unitary: Matrix) -> None:
    """Checks the state after lines act on qubits 0, 1, 2 of the Bell pairs 0 3, 1 4, 2 5."""
    circuit = stim.Circuit(f"H 0 1 2\nCX 0 3 1 4 2 5\n{lines}")
    state = unitary.T.reshape(-1) / math.sqrt(8)
    expected = np.outer(state, state.conj())
    np.testing.assert_allclose(final_density_matrix(circuit), expected, atol=1e-12)


def test_t_gates() -> None:
    assert_unitary("S[T] 0", on_three(T, ID, ID))
    assert_unitary("S[T] 2 0", on_three(T, ID, T))
    assert_unitary("S_DAG[T:a remark (1, 2)] 1", on_three(ID, T.conj(), ID))
    assert_unitary("S[T:again] 1\nS[T] 1", on_three(ID, T @ T, ID))


@pytest.mark.parametrize("half_turns", ANGLES)
def test_single_qubit_rotations(half_turns: float) -> None:
    for axis, pauli in PAULI.items():
        lines = f"I[R_{axis}(theta={half_turns}*pi)] 1 0"
        assert_unitary(lines, on_three(exp(pauli, half_turns), exp(pauli, half_turns), ID))


@pytest.mark.parametrize("half_turns", ANGLES)
def test_two_qubit_rotations(half_turns: float) -> None:
    for axis, pauli in PAULI.items():
        lines = f"II[R_{axis}{axis}(theta={half_turns}*pi)] 2 0"
        assert_unitary(lines, exp(on_three(pauli, ID, pauli), half_turns))


@pytest.mark.parametrize("half_turns", ANGLES)
def test_u3(half_turns: float) -> None:
    lines = f"I[U3(theta={half_turns}*pi, phi=0.3*pi, lambda=-1.1*pi)] 1"
    unitary = exp(Z, 0.3) @ exp(Y, half_turns) @ exp(Z, -1.1)
    assert_unitary(lines, on_three(ID, unitary, ID))
    reordered = f"I[U3( lambda = -1.1*pi,phi=.3*pi,theta={half_turns}*pi )] 1"
    assert_unitary(reordered, on_three(ID, unitary, ID))


@pytest.mark.parametrize("half_turns", ANGLES)
def test_rotations_of_pauli_products(half_turns: float) -> None:
    xiz, zyx = on_three(X, ID, Z), on_three(Z, Y, X)
    call = f"R_PAULI(theta={half_turns}*pi)"
    assert_unitary(f"SPP[{call}] Z2*X0", exp(xiz, half_turns))
    assert_unitary(f"SPP_DAG[{call}] X0*Z2", exp(xiz, -half_turns))
    assert_unitary(f"SPP[{call}] !X0*Z2", exp(xiz, -half_turns))
    assert_unitary(f"SPP[{call}] !X0*!Z2 Z0*Y1*X2", exp(zyx, half_turns) @ exp(xiz, half_turns))


def test_t_gates_of_pauli_products() -> None:
    xiz, zyx = on_three(X, ID, Z), on_three(Z, Y, X)
    assert_unitary("SPP[T] X0*Z2", exp(xiz, 0.25))
    assert_unitary("SPP_DAG[T] X0*Z2 !Z0*Y1*X2", exp(zyx, 0.25) @ exp(xiz, -0.25))
    assert_unitary("SPP[T] Z1", on_three(ID, T, ID))
    assert_unitary("SPP X0*Z2", exp(xiz, 0.5))


@pytest.mark.parametrize("num_qubits", range(1, 7))
def test_phases_add_up_in_a_ghz_state(num_qubits: int) -> None:
    """The X parity after T gates and phase flips with probability 0.1 on every qubit."""
    targets = " ".join(str(10 * k) for k in range(num_qubits))
    pairs = " ".join(f"0 {10 * k}" for k in range(1, num_qubits))
    records = " ".join(f"rec[-{k}]" for k in range(1, num_qubits + 1))
    circuit = stim.Circuit(
        f"H 0\nCX {pairs}\nS[T] {targets}\nZ_ERROR(0.1) {targets}\nMX {targets}\n"
        f"OBSERVABLE_INCLUDE(1) {records}\nDETECTOR {records}"
    )
    mean = 0.8**num_qubits * math.cos(num_qubits * math.pi / 4)
    distribution = detector_distribution(circuit, cutoff=1e-14)
    expected = {(0, 0, 0): (1 + mean) / 2, (1, 0, 1): (1 - mean) / 2}
    assert distribution == pytest.approx(expected, abs=1e-12)
    for bits, p in record_distribution(circuit).items():
        assert p == pytest.approx((1 + (-1) ** sum(bits) * mean) / 2**num_qubits, abs=1e-12)


def test_reference_sample_takes_the_likely_value() -> None:
    assert reference_sample(stim.Circuit("H 0\nS[T] 0\nH 0\nX_ERROR(1) 0\nM(1) 0 !0")) == (0, 1)
    assert reference_sample(stim.Circuit("H 0\nS[T] 0 0 0\nH 0\nM 0\nCX rec[-1] 1\nM 1")) == (1, 1)
    assert reference_sample(stim.Circuit("HERALDED_ERASE(1) 0\nMPAD(0.9) 1\nM 0")) == (0, 1, 0)


def test_reference_sample_breaks_ties_before_inversion() -> None:
    assert reference_sample(stim.Circuit("H 0 1\nCX 0 2\nM 0 !1 2")) == (0, 1, 0)


def test_reference_sample_after_the_reset_of_an_entangled_qubit() -> None:
    circuit = stim.Circuit("H 0\nX 1\nCX 0 1\nR 0\nM 0 1")
    assert reference_sample(circuit) == (0, 0)
    assert reference_sample(circuit, collapse_resets=True) == (0, 1)


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(circuits(max_qubits=3))
def test_distributions_are_normalised(circuit: stim.Circuit) -> None:
    for distribution in (record_distribution(circuit), detector_distribution(circuit)):
        assert sum(distribution.values()) == pytest.approx(1, abs=1e-12)
        assert min(distribution.values()) > 0
    assert sum(map(len, record_distribution(circuit))) % max(circuit.num_measurements, 1) == 0
    state = final_density_matrix(circuit)
    np.testing.assert_allclose(state, state.conj().T, atol=1e-12)
    assert np.trace(state) == pytest.approx(1, abs=1e-12)
    assert np.linalg.eigvalsh(state).min() > -1e-12
