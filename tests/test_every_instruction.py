"""Every instruction of Stim, and every non-Clifford gate, in circuits with T gates, exactly.

Each instruction stands between random non-Clifford gates, and the exact distribution of the measurement record
is compared with a density-matrix simulation. The lists are Stim's own: an instruction that a later Stim adds
fails here until it is handled.
"""

from __future__ import annotations

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford import Circuit

from .exact import exact_outputs, largest_difference, mask_of
from .oracle.density_matrix import record_distribution

TOLERANCE = 1e-10
CONTEXTS = 6

# Lines for the instructions that are neither gates nor plain measurements and resets; the record has two
# measurements before them.
LINES = {
    "CORRELATED_ERROR": ["E(0.3) X0*Y1 Z2", "E(1) X1", "E(0.7) Y0"],
    "DEPOLARIZE1": ["DEPOLARIZE1(0.3) 0 1", "DEPOLARIZE1(0.75) 2", "DEPOLARIZE1(0.9) 0", "DEPOLARIZE1(1) 1"],
    "DEPOLARIZE2": ["DEPOLARIZE2(0.3) 0 1", "DEPOLARIZE2(0.9375) 1 2", "DEPOLARIZE2(1) 0 2"],
    "DETECTOR": ["DETECTOR(1, 2, 3) rec[-1] rec[-2]", "DETECTOR"],
    "E": ["E(0.3) X0 Y1 Z2", "E(0.5) X0\nE(0.5) X0"],
    "ELSE_CORRELATED_ERROR": [
        "E(0.3) X0\nELSE_CORRELATED_ERROR(0.5) Y1\nELSE_CORRELATED_ERROR(1) Z2 X0",
        "E(0.6) Z1\nH 1\nELSE_CORRELATED_ERROR(0.9) Z1",
        "ELSE_CORRELATED_ERROR(0.25) X0",
    ],
    "HERALDED_ERASE": ["HERALDED_ERASE(0.3) 0 1", "HERALDED_ERASE(1) 2"],
    "HERALDED_PAULI_CHANNEL_1": [
        "HERALDED_PAULI_CHANNEL_1(0.1, 0.2, 0.05, 0.15) 0 2",
        "HERALDED_PAULI_CHANNEL_1(0, 0, 0.5, 0.5) 1",
    ],
    "I_ERROR": ["I_ERROR(0.3) 0", "I_ERROR 0"],
    "II_ERROR": ["II_ERROR(0.3) 0 1"],
    "MPAD": ["MPAD 0 1", "MPAD(0.2) 1 0"],
    "MPP": ["MPP X0*Y1 !Z2", "MPP(0.2) !X0*X1*X2", "MPP Y0*Z0*X0*!Z1*Y1*X1"],
    "OBSERVABLE_INCLUDE": ["OBSERVABLE_INCLUDE(3) rec[-1]", "OBSERVABLE_INCLUDE(0) X0 rec[-2]"],
    "PAULI_CHANNEL_1": [
        "PAULI_CHANNEL_1(0.1, 0.05, 0.2) 0 1",
        "PAULI_CHANNEL_1(0.3, 0, 0.3) 2",
        "PAULI_CHANNEL_1(0, 1, 0) 0",
    ],
    "PAULI_CHANNEL_2": [
        "PAULI_CHANNEL_2(0.05, 0, 0.1, 0.02, 0, 0.03, 0, 0, 0.2, 0.01, 0, 0, 0.04, 0, 0.3) 0 1",
        "PAULI_CHANNEL_2(0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0) 2 1",
    ],
    "QUBIT_COORDS": ["QUBIT_COORDS(1, 2) 0"],
    "REPEAT": ["REPEAT 3 {\n    S[T] 0\n    H 0\n}", "REPEAT 2 {\n    REPEAT 2 {\n        M 0\n    }\n    H 0\n}"],
    "SHIFT_COORDS": ["SHIFT_COORDS(1, 2)"],
    "SPP": ["SPP X0*!Y1 Z2", "SPP X0*Y1*Z2"],
    "SPP_DAG": ["SPP_DAG X0*!Y1 Z2", "SPP_DAG X0*Y1*Z2"],
    "TICK": ["TICK"],
    **{name: [f"{name}(0.3) 0 1", f"{name}(0.5) 2", f"{name}(0.8) 0", f"{name}(1) 1"]
       for name in ("X_ERROR", "Y_ERROR", "Z_ERROR")},
    **{name: [f"{name} 0 !1", f"{name}(0.2) !2 0", f"{name}(1) 1"] for name in ("M", "MX", "MY")},
    **{name: [f"{name} 0 !1", f"{name}(0.2) !2 0"] for name in ("MR", "MRX", "MRY")},
    **{name: [f"{name} 0 1", f"{name}(0.2) !2 0 0 !1"] for name in ("MXX", "MYY", "MZZ")},
    **{name: [f"{name} 0 2"] for name in ("R", "RX", "RY")},
}  # fmt: skip
FEEDBACK = {
    "CX": ["CX rec[-1] 0", "CX sweep[0] 1 rec[-2] 2"],
    "CY": ["CY rec[-1] 0"],
    "CZ": ["CZ rec[-1] 0 1 rec[-2]", "CZ 1 rec[-1] 0 sweep[2]"],
    "XCZ": ["XCZ 0 rec[-1]"],
    "YCZ": ["YCZ 1 rec[-2]"],
}
NON_CLIFFORD = {
    "T": ["T 0 1", "T[my note] 2"],
    "T_DAG": ["T_DAG 0 2"],
    "TPP": ["TPP X0*!Y1 Z2"],
    "TPP_DAG": ["TPP_DAG X0*Y1*Z2"],
    **{f"R_{axis}": [f"R_{axis}(0.3) 0 1", f"R_{axis}(-1.7) 2", f"R_{axis}(0.5) 0", f"R_{axis}(1) 1"]
       for axis in "XYZ"},
    **{f"R_{axis}{axis}": [f"R_{axis}{axis}(0.3) 0 1", f"R_{axis}{axis}(-0.5) 2 0"] for axis in "XYZ"},
    "R_PAULI": ["R_PAULI(0.3) X0*Y1*!Z2", "R_PAULI(1.5) X0*Z1 Y2"],
    "U3": ["U3(0.3, 0.1, -0.7) 0 2"],
    "U": ["U(0.5, 0, 1) 1"],
    "CCZ": ["CCZ 0 1 2"],
    "CCX": ["CCX 2 0 1"],
    "CS": ["CS 0 1"],
    "CS_DAG": ["CS_DAG 2 1"],
    "CH": ["CH 1 2"],
}  # fmt: skip


def lines_of(name: str) -> list[str]:
    if name in LINES:
        return LINES[name]
    gate = stim.gate_data(name)
    assert gate.is_unitary, f"Stim has a new instruction, {name}: say here how to test it."
    plain = [f"{name} 0 1 2 0"] if gate.is_two_qubit_gate else [f"{name} 0 2"]
    return plain + FEEDBACK.get(name, [])


def scramble(rng: np.random.Generator) -> str:
    """Random gates on qubits 0 to 2: products of rotations by unrelated angles, and entangling gates."""
    lines = []
    for _ in range(2):
        for qubit in range(3):
            axes = rng.choice(["R_X", "R_Y", "R_Z"], size=2, replace=False)
            lines += [f"{axis}({rng.choice([0.25, -0.25, 0.3, 0.6])}) {qubit}" for axis in axes]
        a, b = rng.choice(3, size=2, replace=False)
        lines.append(f"{rng.choice(['CX', 'ISWAP', 'CZ'])} {a} {b}")
    return "\n".join(lines)


def check(line: str, seed: int) -> None:
    for context in range(CONTEXTS):
        rng = np.random.default_rng([seed, context])
        final = rng.choice(["M", "MX", "MY"], size=3)
        text = "\n".join(
            [
                "MR 0 1",
                scramble(rng),
                line,
                scramble(rng) if context % 2 else "",
                *(f"{measurement} {qubit}" for qubit, measurement in enumerate(final)),
            ]
        )
        circuit = snc.Circuit(text).to_stim()
        found = exact_outputs(Circuit(circuit).compile().record_plan()).kept
        expected = {mask_of(record): p for record, p in record_distribution(circuit).items()}
        assert largest_difference(found, expected) < TOLERANCE, text


@pytest.mark.parametrize("name", sorted(stim.gate_data()))
def test_stim_instruction(name: str) -> None:
    for k, line in enumerate(lines_of(name)):
        check(line, seed=k)


@pytest.mark.parametrize("name", sorted(NON_CLIFFORD))
def test_non_clifford_gate(name: str) -> None:
    for k, line in enumerate(NON_CLIFFORD[name]):
        check(line, seed=k)


def test_the_lists_know_nothing_that_stim_does_not() -> None:
    names = set(stim.gate_data()) | {"CORRELATED_ERROR"}
    assert set(LINES) <= names
    assert set(FEEDBACK) <= names
