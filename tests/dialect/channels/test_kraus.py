"""Channels that are given by Kraus operators, compared with density matrices."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit

from ...support.laws.exact import exact_outputs
from ...support.laws.records import assert_records_agree
from ...support.oracle.leakage import leaked_record_distribution
from ...support.oracle.operators import PAULIS, Matrix
from ...support.texts.round_trips import read_again


def random_operators(rng: np.random.Generator, count: int, strength: float = 1.0) -> Matrix:
    """Kraus operators of a random channel, near to the identity if the strength is small."""
    parts = rng.normal(size=(2, count, 2, 2))
    operators = strength * (parts[0] + 1j * parts[1])
    operators[0] += (1 - strength) * np.eye(2)
    left, _, right = np.linalg.svd(operators.reshape(-1, 2), full_matrices=False)
    return (left @ right).reshape(-1, 2, 2)


DAMPING = np.array([[[1, 0], [0, math.sqrt(0.7)]], [[0, math.sqrt(0.3)], [0, 0]]], dtype=np.complex128)
RESET = np.array([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], dtype=np.complex128)
HEATING = np.concatenate([math.sqrt(0.8) * DAMPING, math.sqrt(0.2) * DAMPING[:, ::-1, ::-1]])
CHANNELS = {
    "damping": DAMPING,
    "reset": RESET,
    "damping and heating": HEATING,
    "unitary": random_operators(np.random.default_rng(1), 1),
    "dephasing in a tilted basis": np.array(
        [math.sqrt(0.8) * np.eye(2), math.sqrt(0.2) * (0.6 * PAULIS["X"] + 0.8 * PAULIS["Z"])]
    ),
    **{f"{n} operators": random_operators(np.random.default_rng(n), n) for n in (2, 3, 4, 6)},
    "weak": random_operators(np.random.default_rng(7), 4, 0.05),
}


def appended(before: str, operators: Matrix, targets: list[int], after: str) -> Circuit:
    circuit = Circuit(before)
    circuit.append("KRAUS", targets, operators)
    return circuit + Circuit(after)


@pytest.mark.parametrize("name", CHANNELS)
def test_records_have_the_distribution_of_the_density_matrix(name: str) -> None:
    before = "R_X(0.3) 0\nT 0\nR_Y(0.4) 1\nCX 0 1\nR_X(0.7) 1"
    for bases in (("MX", "MY"), ("MY", "M"), ("M", "MX")):
        circuit = appended(before, CHANNELS[name], [0, 1], f"T 0\nCX 1 0\n{bases[0]} 0\n{bases[1]} 1")
        assert_records_agree(circuit)


def random_pair_operators(rng: np.random.Generator, count: int) -> Matrix:
    parts = rng.normal(size=(2, 4 * count, 4))
    left, _, right = np.linalg.svd(parts[0] + 1j * parts[1], full_matrices=False)
    return (left @ right).reshape(-1, 4, 4)


CX = stim.gate_data("CX").unitary_matrix.astype(np.complex128)
SWAPPED = np.array([np.diag([1, 0, 0, 1]), [[0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]])
PAIR_CHANNELS = {
    "gate": CX[np.newaxis],
    "damping of both": np.array([np.kron(b, a) for a in DAMPING for b in DAMPING]),
    "damping and CX": np.array(
        [math.sqrt(0.5) * CX, *math.sqrt(0.5) * np.array([np.kron(k, np.eye(2)) for k in DAMPING])]
    ),
    "parity": SWAPPED.astype(np.complex128),
    "collective decay": np.array(
        [
            np.diag([1, math.sqrt(0.8), math.sqrt(0.8), 1]),
            math.sqrt(0.2)
            * np.eye(4)[[1, 0, 0, 0]]
            * [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
            math.sqrt(0.2)
            * np.eye(4)[[2, 0, 0, 0]]
            * [[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        ],
        dtype=np.complex128,
    ),
    **{f"{n} operators": random_pair_operators(np.random.default_rng(n), n) for n in (1, 2, 3, 5, 16)},
}


@pytest.mark.parametrize("name", PAIR_CHANNELS)
def test_channels_on_pairs(name: str) -> None:
    operators = PAIR_CHANNELS[name]
    circuit = Circuit("R_X(0.3) 0\nT 0\nR_Y(0.4) 1\nCX 0 1\nR_X(0.7) 1")
    circuit.append("KRAUS2", [1, 0], operators)
    circuit += Circuit("T 0\nCX 1 0\nMY 0\nMX 1")
    assert_records_agree(circuit)
    weights = [
        sum(abs(np.trace(np.kron(PAULIS[b], PAULIS[a]) @ k) / 4) ** 2 for k in operators)
        for a, b in itertools.product("IXYZ", repeat=2)
    ]
    (twirled,) = (part for part in circuit.pauli_twirl().to_stim() if part.name == "PAULI_CHANNEL_2")
    np.testing.assert_allclose(twirled.gate_args_copy(), weights[1:], atol=1e-14)


def test_a_leaked_qubit_stays_as_it_is() -> None:
    circuit = appended("X 0\nLEAKAGE(0.3) 0", DAMPING, [0], "M 0")
    assert_records_agree(circuit, leaked_record_distribution)
    for model in ("", "LEAKAGE_PARTNER(0.1, 0, 0.2) 0\n"):
        pair = Circuit(f"{model}X 0\nH 1\nT 1\nLEAKAGE(0.3) 0")
        pair.append("KRAUS2", [0, 1], PAIR_CHANNELS["damping and CX"])
        assert_records_agree(pair + Circuit("M 0\nMX 1"), leaked_record_distribution)


@pytest.mark.parametrize("damping", [0.0, 1e-9, 0.4])
def test_a_channel_acts_on_the_partner_of_a_leaked_qubit(damping: float) -> None:
    # It is no gate, so that it disturbs nobody else: a weak one is near to none.
    decay = [np.diag([1, math.sqrt(1 - damping)]), np.array([[0, math.sqrt(damping)], [0, 0]])]
    for model in ("", "LEAKAGE_PARTNER(0.1, 0.3, 0.2) 0\n"):
        circuit = Circuit(f"{model}X 1\nLEAKAGE(1) 0")
        circuit.append("KRAUS2", [0, 1], [np.kron(operator, np.eye(2)) for operator in decay])
        ones = exact_outputs((circuit + Circuit("M 1")).compile().record_plan()).kept.get(1, 0.0)
        assert ones == pytest.approx(1 - damping, abs=1e-12)


def test_engines_agree() -> None:
    circuit = appended("H 0\nT 0", CHANNELS["4 operators"], [0, 1], "CX 0 1\nT 1\nMX 0 1\nDETECTOR rec[-1]")
    cpu = circuit.compile_sampler(seed=3, engine="cpu").sample(200)
    assert (cpu == circuit.compile_sampler(seed=3, engine="reference").sample(200)).all()


def test_width_is_that_of_relaxation() -> None:
    """No more for Kraus operators of damping than for AMPLITUDE_DAMPING itself."""
    before, after = "R_X(0.3) 0 1\nT 0\nCX 0 1", "H 0 1\nM 0 1"
    as_kraus = appended(before, DAMPING, [0, 1], after).plan()
    as_damping = Circuit(f"{before}\nAMPLITUDE_DAMPING(0.3) 0 1\n{after}").plan()
    assert as_kraus.peak_width == as_damping.peak_width


@pytest.mark.parametrize("name", CHANNELS)
def test_the_twirl_is_the_diagonal_of_the_channel(name: str) -> None:
    operators = CHANNELS[name]
    weights = [sum(abs(np.trace(PAULIS[p] @ k) / 2) ** 2 for k in operators) for p in "XYZ"]
    (twirled,) = appended("", operators, [0], "").pauli_twirl().to_stim()
    np.testing.assert_allclose(twirled.gate_args_copy(), weights, atol=1e-14)


def test_a_mixture_of_paulis_is_noise() -> None:
    operators = [
        math.sqrt(p) * PAULIS[letter] for letter, p in zip("IXYZ", (0.7, 0.1, 0.05, 0.15), strict=True)
    ]
    mixed = np.einsum("ij,jab->iab", np.linalg.qr(np.arange(16).reshape(4, 4) ** 2 % 7 + 1j)[0], operators)
    for given in (np.array(operators), mixed):
        circuit = appended("R 0", given, [0], "M 0\nDETECTOR rec[-1]")
        assert {fault.pauli for fault in circuit.faults()} == {"X0", "Y0", "Z0"}
        assert str(circuit.pauli_twirl()).splitlines()[1] == "PAULI_CHANNEL_1(0.1, 0.05, 0.15) 0"


def test_text_files_and_refusals(tmp_path: Path) -> None:
    circuit = appended("", DAMPING, [0, 2], "M 0")
    read_again(str(circuit), tmp_path)
    assert str(circuit).startswith("KRAUS(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.836660026534")
    assert str(circuit.without_noise()) == "M 0"
    assert "KRAUS" in str(circuit.diagram())
    assert Circuit(str(circuit.to_stim())) == circuit
    with pytest.raises(ValueError, match=r"pauli_twirl\(\)"):
        circuit.faults()
    with pytest.raises(ValueError, match=r"without_noise\(\)\.state_vector"):
        circuit.state_vector()


def test_arrays_of_another_shape_are_refused() -> None:
    for operators in (np.eye(4)[np.newaxis], np.eye(2), [["a"]], [[1, 2], [3]]):
        with pytest.raises(ValueError, match="operators on one qubit, an array of shape"):
            Circuit().append("KRAUS", [0], operators)
    with pytest.raises(ValueError, match=r"on two qubits.* For operators on one qubit, write KRAUS\."):
        Circuit().append("KRAUS2", [0, 1], DAMPING)
