"""For every instruction of Stim, and every non-Clifford gate, lines of text in which it occurs."""

import itertools

import stim

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
        "E(0) X0\nELSE_CORRELATED_ERROR(1) X1\nELSE_CORRELATED_ERROR(0.5) X2 X0",
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
        "PAULI_CHANNEL_2(0.05, 0.07, 0.1, 0.02, 0, 0.03, 0.09, 0.06, 0.2, 0.01, 0.08, 0.055, 0.04, 0.025, 0.115) 0 1",
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
    "CCZ": ["CCZ 0 1 2", "CCZ rec[-1] 0 1", "CCZ rec[-1] 0 rec[-2] 1 rec[-2] rec[-1]"],
    "CCX": ["CCX 2 0 1", "CCX 0 rec[-1] 1", "CCX rec[-1] rec[-2] 2"],
    "CS": ["CS 0 1", "CS rec[-1] 0 1 rec[-2] sweep[0] 2"],
    "CS_DAG": ["CS_DAG 2 1", "CS_DAG rec[-2] 2"],
    "CT": ["CT 0 1", "CT rec[-1] 0"],
    "CT_DAG": ["CT_DAG 2 0", "CT_DAG rec[-2] 1"],
    "CH": ["CH 1 2", "CH rec[-1] 0 rec[-2] 1"],
}  # fmt: skip


def _elements(of: dict[int, complex]) -> str:
    """A matrix on two qubits with these elements, numbered row by row, as KRAUS2 takes it."""
    elements = [complex(of.get(k, 0)) for k in range(16)]
    return ", ".join(f"{element.real:g}, {element.imag:g}" for element in elements)


RELAXATION = {
    "AMPLITUDE_DAMPING": ["AMPLITUDE_DAMPING(0.3) 0 1", "AMPLITUDE_DAMPING(1) 2", "AMPLITUDE_DAMPING(0) 0"],
    "KRAUS": [
        "KRAUS(0.6, 0, 0, 0, 0, 0, 0, 0.6, 0, 0, 0.8, 0, 0, 0.8, 0, 0) 0 1",
        "KRAUS(1, 0, 0, 0, 0, 0, 0.6, 0, 0, 0, 0.8, 0, 0, 0, 0, 0) 2",
        "REPEAT 2 {\n    KRAUS(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.6, 0.8, 0, 0, 0, 0) 0\n    H 0\n}",
    ],
    "KRAUS2": [
        # Half an ISWAP and an inverted one, as one operator; then a decay of both together, with its two operators.
        f"KRAUS2({_elements({0: 1, 5: 0.6, 6: 0.8j, 9: 0.8j, 10: 0.6, 15: 1})}) 0 2 1 0",
        f"KRAUS2({_elements({0: 1, 5: 1, 10: 1, 15: 0.6})}, {_elements({3: 0.8})}) 1 2",
        f"REPEAT 2 {{\n    KRAUS2({_elements({1: 0.6j, 4: 0.6j, 11: 0.6, 14: 0.6})}, {_elements({2: 0.8, 7: 0.8, 8: 0.8, 13: 0.8})}) 2 0\n}}",
    ],
    "PHASE_DAMPING": ["PHASE_DAMPING(0.3) 0 1", "PHASE_DAMPING(1) 2"],
    "THERMAL_RELAXATION": [
        "THERMAL_RELAXATION(0.3, 0.2) 0 1",
        "THERMAL_RELAXATION(0.5, 0.25) 2",
        "THERMAL_RELAXATION(0, 0.4) 1",
        "REPEAT 2 {\n    THERMAL_RELAXATION(1e-3, 0.4) 1 0\n    H 0\n}",
    ],
}


def three_qubit_channel(probabilities: dict[str, float]) -> str:
    """PAULI_CHANNEL_3 with its arguments, from the probabilities of some Paulis such as ``IXZ``."""
    words = ["".join(letters) for letters in itertools.product("IXYZ", repeat=3)][1:]
    return f"PAULI_CHANNEL_3({', '.join(f'{probabilities.get(word, 0)!r}' for word in words)})"


THREE_QUBIT_ERRORS = {
    "DEPOLARIZE3": [
        "DEPOLARIZE3(0.3) 0 1 2 2 0 1",
        "DEPOLARIZE3(0.984375) 2 1 0",
        "DEPOLARIZE3(1) 1 2 0",
        "REPEAT 2 {\n    DEPOLARIZE3(0.2) 1 0 2\n    H 0\n}",
    ],
    "PAULI_CHANNEL_3": [
        f"{three_qubit_channel({'IIX': 0.1, 'ZYX': 0.2, 'YII': 0.05, 'XZI': 0.15})} 2 0 1",
        f"{three_qubit_channel({'XYZ': 0.7, 'IYI': 0.3})} 0 2 1 1 0 2",
        f"{three_qubit_channel({'IXI': 0.18, 'ZII': 0.08, 'ZXI': 0.02})} 0 1 2",
    ],
}

QUASISTATIC = {
    "QUASISTATIC": ["QUASISTATIC(0.1) 0", "REPEAT 2 {\n    QUASISTATIC(-0.05) 1\n    H 1\n}"],
    "QUASISTATIC_VALUES": [
        "QUASISTATIC_VALUES(0.3, 0.25, -0.2, 0.75) 0 1",
        "QUASISTATIC_VALUES(0.1, 0.2, 0.5, 0.3, -0.3, 0.5) 2\nH 2\nQUASISTATIC_VALUES(0.2, 0.2, 0.1, 0.3, 0, 0.5) 2",
    ],
}

OF_STATES = {
    "LEAKAGE_FROM_ONE": ["LEAKAGE_FROM_ONE(0.3) 0 1", "LEAKAGE_FROM_ONE(1) 2\nHERALD_LEAKAGE_EVENT(0) 2"],
    "LEAKAGE_FROM_11": ["LEAKAGE_FROM_11(0.7) 0 1 1 2", "LEAKAGE_FROM_11(1) 2 0\nHERALD_LEAKAGE_EVENT(0) 2"],
    "RELAX_TO_ONE": ["LEAKAGE(0.6) 0 1\nRELAX_TO_ONE(0.5) 0 1 2", "LEAKAGE(0.5) 2\nRELAX_TO_ONE(1) 2"],
    "LEAKAGE_SKIPS_GATES": [
        "LEAKAGE_SKIPS_GATES 0\nLOSS(0.5) 0 1\nCZ 0 1 2 0",
        "LEAKAGE(0.5) 2\nCCZ 0 1 2\nTPP X0*Z2\nR 2\nLEAKAGE_SKIPS_GATES 2",
    ],
}
"""Leakage for which shots are followed."""

READOUT_NOISE = {
    "M": ["M(0.1, 0.3) 0 !1", "M(0, 1) 2"],
    "MX": ["MX(0.3, 0.1) !0 1"],
    "MY": ["MY(0.2, 0.9) 2"],
    "MR": ["MR(0.1, 0.3) 0 !1"],
    "MRX": ["MRX(0.2, 0) 1"],
    "MRY": ["MRY(0.1, 0.2) !2"],
    "MXX": ["MXX(0.1, 0.2) 0 !1"],
    "MYY": ["MYY(0.2, 0.1) 1 2"],
    "MZZ": ["MZZ(0.1, 0.2) 0 2"],
    "MPP": ["MPP(0.1, 0.3) X0*Y1 !Z2"],
}

LEAKAGE = {
    "LEAKAGE": [
        "LEAKAGE(0.3) 0 1",
        "LEAKAGE(1) 2",
        "LEAKAGE(0) 0",
        "REPEAT 2 {\n    LEAKAGE(0.4) 1\n    CX 1 0\n}",
    ],
    "LOSS": ["LOSS(0.3) 0 1\nRL 0", "LEAKAGE(0.5) 2\nLOSS(0.5) 2\nRELAX(0.5) 2\nR 2"],
    "RELAX": [
        "RELAX(0.5) 1",
        "LEAKAGE(0.6) 0 1\nRELAX(0.5) 0 1",
        "LEAKAGE(0.6) 0\nRELAX(0.5) 0\nLEAKAGE(0.3) 0",
    ],
    "RL": ["LEAKAGE(0.6) 0 1\nRL 1", "RL 2"],
    "LEAKAGE_SPREAD": [
        "LEAKAGE(0.6) 0\nCX 0 1\nLEAKAGE_SPREAD(0.3, 0.2, 0.5, 0.4) 0 1",
        "LEAKAGE(0.3) 0 1\nLEAKAGE_SPREAD(0.3, 0.2, 0.5, 0.4) 0 1 1 2\nR 1\nRL 0\nHERALD_LEAKAGE_EVENT(0) 0 1 2",
        "LEAKAGE_SPREAD(1, 0, 0, 0) 0 1",
    ],
    "LEAKAGE_PARTNER": [
        "LEAKAGE_PARTNER(0.1, 0.2, 0.3) 0 1\nLEAKAGE(0.6) 1\nCX 1 0 0 1\nR 1",
        "LEAKAGE(0.6) 0\nCS 0 1\nMZZ 0 2\nREPEAT 2 {\n    LEAKAGE_PARTNER(0, 0, 0) 0\n}\nR 0",
        "LEAKAGE_PARTNER(0.5, 0.5, 0) 0\nLOSS(0.5) 0\nCCZ 0 1 2\nR 0",
    ],
    "LEAKAGE_READOUT": [
        "LEAKAGE_READOUT(0.9) 0\nLOSS(0.4) 0\nMR !0",
        "LEAKAGE_READOUT(0) 1\nLEAKAGE(0.4) 1\nMRY(0.1, 0.3) 1\nCX rec[-1] 0",
    ],
    "LOSS_REPLACEMENT": [
        "LOSS_REPLACEMENT(0.4) 0\nLOSS(0.5) 0\nR 0",
        "LOSS_REPLACEMENT(0) 2\nLEAKAGE(0.3) 2\nLOSS(0.3) 2\nRX 2\nHERALD_LOSS_EVENT(0) 2",
    ],
    "HERALD_LEAKAGE_EVENT": [
        "LEAKAGE(0.3) 0 1\nHERALD_LEAKAGE_EVENT(0.2) 0 1 2",
        "HERALD_LEAKAGE_EVENT(1) 0\nLEAKAGE(0.4) 0\nHERALD_LEAKAGE_EVENT(0) 0\nCX rec[-1] 1",
        "REPEAT 3 {\n    LEAKAGE(0.3) 0\n    HERALD_LEAKAGE_EVENT(0) 0\n}",
    ],
    "HERALD_LOSS_EVENT": [
        "LOSS(0.3) 0\nLEAKAGE(0.4) 0 1\nHERALD_LOSS_EVENT(0.1) 0 1\nHERALD_LEAKAGE_EVENT(0) 0 1"
    ],
}

CONDITIONAL = {
    "C_R_PAULI": ["C_R_PAULI(0.3) rec[-1] X0*Y1 rec[-2] X2*Y0", "C_R_PAULI(0.5) rec[-1] !Z2*Z0*X1"],
    "C_SPP": ["C_SPP rec[-1] X0*Y1"],
    "C_SPP_DAG": ["C_SPP_DAG rec[-2] Y2"],
    "C_TPP": ["C_TPP rec[-1] Z0*Z1*X2"],
    "C_TPP_DAG": ["C_TPP_DAG rec[-1] !Y0"],
    **{
        f"C_R_{letters}": [f"C_R_{letters}(0.3) rec[-1] {' '.join('012'[: len(letters)])}"]
        for letters in ("X", "Y", "Z", "XX", "ZZ", "XYZ")
    },
    "C_U3": ["C_U3(0.3, 0.1, -0.7) rec[-1] 2"],
    "C_CS": ["C_CS rec[-1] 0 2"],
    "C_CT_DAG": ["C_CT_DAG rec[-1] 1 2"],
    "C_CH": ["C_CH rec[-1] 0 2 rec[-2] 2 1"],
    "C_CCX": ["C_CCX rec[-1] 0 2 1"],
    **{
        f"C_{name}": [f"C_{name} rec[-1] {'0 2 rec[-2] 1 0' if gate.is_two_qubit_gate else '0 rec[-2] 2'}"]
        for name, gate in stim.gate_data().items()
        if gate.unitary_matrix is not None and name not in ("I", "II", "X", "Y", "Z")
    },
}
"""Gates that only a record or sweep bit can control, in lines with their bare names."""


def lines_of(name: str) -> list[str]:
    """Lines with an instruction of Stim, on qubits 0 to 2 and, where it refers to records, after two of them."""
    if name in LINES:
        return LINES[name]
    gate = stim.gate_data(name)
    assert gate.is_unitary, f"Stim has a new instruction, {name}: say here how to test it."
    plain = [f"{name} 0 1 2 0"] if gate.is_two_qubit_gate else [f"{name} 0 2"]
    return plain + FEEDBACK.get(name, [])
