"""Every instruction, written for Cirq, has the same distribution in Cirq, and there and back."""

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit
from stim_nonclifford.dialect import values_of_operators

from ...support.laws.exact import largest_difference, marginal
from ...support.oracle.density_matrix import record_distribution
from ...support.texts.instruction_lines import three_qubit_channel

cirq = pytest.importorskip("cirq")
pytest.importorskip("stimcirq")

from .cirq_branches import distribution_of  # noqa: E402

START = "R_X(0.3) 0\nR_Y(0.4) 1\nU3(0.2, 0.3, 0.4) 2\nCX 0 1\nT 1\nCX 1 2\n"
END = "\nR_X(0.2) 0 1 2\nR_Y(0.3) 0 1 2\nM 0 1 2"
KRAUS_VALUES = "(0.8, 0, 0, 0, 0, 0, 0, 0.8, 0, 0, 0.6, 0, 0, 0.6, 0, 0)"


def pair_of_operators() -> list[float]:
    """The numbers of two operators on two qubits that do not commute with their exchange."""
    rng = np.random.default_rng(5)
    stacked, _ = np.linalg.qr(rng.normal(size=(8, 4)) + 1j * rng.normal(size=(8, 4)))
    return values_of_operators(stacked.reshape(2, 4, 4), "KRAUS2")


INSTRUCTIONS = [
    "M 2 !0 1",
    "M(0.1) 0 !1",
    "M(0.1, 0.3) 0 !1",
    "MX 0 !2",
    "MX(0.2) 0 !2",
    "MY !0 2",
    "MY(0.1, 0.4) !0 2",
    "MR 0 !1",
    "MR(0.1, 0.2) !0 1",
    "MRX !0 1",
    "MRX(0.1) !0 1",
    "MRY 0 !1",
    "MRY(0.1, 0.5) 0 !1",
    "MXX 2 0 !0 1",
    "MXX(0.1) 2 0 !0 !1",
    "MYY !2 0 0 1 1 !2",
    "MYY(0.1, 0.2) 2 !0",
    "MZZ 0 1 !1 2",
    "MZZ(0.25) 0 1 !1 2",
    "MPP X0*Y1 !Z2*X1*Y0",
    "MPP(0.1) X0*Y1 !Z2*X1*Y0",
    "MPP(0.1, 0.3) !X0 Z1*Z2",
    "MPP X0*X0*Z1 !X2*X2",
    "MPAD 0 1",
    "MPAD(0.2) 1 0",
    "R 0 2",
    "RX 1",
    "RY 1 2",
    "S 0\nT 1\nT_DAG 2\nSQRT_Y 0\nC_XYZ 1\nC_NZYX 2\nH_NXY 0",
    "CX 0 1 1 2\nCZSWAP 0 2\nSWAPCX 1 0\nYCX 0 1\nISWAP_DAG 1 2\nSQRT_XX_DAG 2 0\nII 0 1",
    "SPP X0*Y1 !Z2\nSPP_DAG !X0*Z2",
    "TPP X0*Y1 !Z2\nTPP_DAG !X0*Z2",
    "R_PAULI(0.3) X0*Y1 !Z2",
    "R_XX(0.3) 0 1 1 2\nR_YY(-0.4) 2 0\nR_ZZ(0.7) 0 1",
    "CS 0 1 2 1\nCS_DAG 2 0\nCT 0 1\nCT_DAG 1 2\nCH 0 2",
    "CCX 0 1 2\nCCZ 2 1 0",
    "U3(0.1, -0.2, 0.3) 0 1",
    "X_ERROR(0.1) 0\nY_ERROR(0.2) 1\nZ_ERROR(0.3) 2\nI_ERROR(0.1) 0\nII_ERROR(0.1) 0 1",
    "DEPOLARIZE1(0.2) 0 1\nDEPOLARIZE2(0.3) 1 2 0 1",
    "PAULI_CHANNEL_1(0.1, 0.2, 0.3) 0 1",
    "PAULI_CHANNEL_2(0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0, 0, 0.1, 0.11, 0, 0.05, 0, 0.02) 2 0 1 2",
    "E(0.3) X0 Y2",
    "E(0.3) X0 Y2\nELSE_CORRELATED_ERROR(0.4) Z1\nELSE_CORRELATED_ERROR(0.5) X0 X1\nE(0.2) Z2",
    "E(1) X0\nELSE_CORRELATED_ERROR(0.4) Z1",
    "AMPLITUDE_DAMPING(0.3) 0 2\nPHASE_DAMPING(0.4) 1\nTHERMAL_RELAXATION(0.3, 0.5) 0 1",
    "THERMAL_RELAXATION(0.3, 0.15) 0",
    f"KRAUS{KRAUS_VALUES} 0 2",
    f"KRAUS2({', '.join(map(repr, pair_of_operators()))}) 2 0",
    "DEPOLARIZE3(0.3) 2 0 1",
    f"{three_qubit_channel({'XIY': 0.2, 'ZZI': 0.1, 'IIX': 0.3})} 1 0 2",
    "M 0\nCX rec[-1] 1\nCY rec[-1] 2\nCZ rec[-1] 1 2 rec[-1]\nXCZ 0 rec[-1]",
    "M 0 1\nCS rec[-1] 2\nCT rec[-2] 2\nCH rec[-1] 0\nCCZ rec[-1] 0 2\nCCX rec[-2] 1 2",
    "MX 0 1\nC_SQRT_X rec[-1] 2\nC_SWAP rec[-2] 0 2\nC_R_X(0.3) rec[-1] 1\nC_U3(0.1, 0.2, 0.3) rec[-1] 0",
    "MX 0 1\nC_R_PAULI(0.3) rec[-1] X0*Y2\nC_TPP rec[-2] !X0*Z1*Y2\nC_SPP rec[-1] Z0\nC_R_XX(0.2) rec[-1] 0 1",
    "REPEAT 2 {\nMX 0\nR_Y(0.3) 0\nTICK\nMXX 0 1\n}",
    "REPEAT 2 {\nMX 0\nR_Y(0.3) 0\nCX rec[-1] 1 rec[-2] 2\n}".replace("REPEAT", "M 2\nREPEAT"),
]


def circuit_of(instruction: str) -> Circuit:
    return Circuit(START + instruction + END)


def agree(found: dict[tuple[int, ...], float], expected: dict[tuple[int, ...], float]) -> None:
    assert largest_difference(found, expected) < 2e-6


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_each_instruction_has_its_distribution_in_cirq_and_comes_back(instruction: str) -> None:
    circuit = circuit_of(instruction)
    expected = record_distribution(circuit.to_stim(), cutoff=1e-14)
    written = circuit.to_cirq()
    agree(distribution_of(written), expected)
    agree(record_distribution(Circuit.from_cirq(written).to_stim(), cutoff=1e-14), expected)


def test_two_records_control_a_gate() -> None:
    circuit = circuit_of("M 0 1\nCCX rec[-1] rec[-2] 2\nCCZ rec[-1] rec[-2] 0")
    expected = record_distribution(circuit.to_stim(), cutoff=1e-14)
    agree(distribution_of(circuit.to_cirq()), expected)
    back = record_distribution(Circuit.from_cirq(circuit.to_cirq()).to_stim(), cutoff=1e-14)
    # The product of both records is measured for each gate.
    agree(marginal(back, lambda bits: (*bits[:2], *bits[-3:])), expected)


def test_cirqs_simulator_runs_what_is_written() -> None:
    circuit = Circuit("RX 0\nMX(0.25) 0\nMR(0.1) 0\nCX rec[-1] 1\nM 1\nMPAD 1")
    shots = cirq.DensityMatrixSimulator(seed=3).run(circuit.to_cirq(), repetitions=500)
    means = [shots.measurements[str(k)].mean() for k in range(4)]
    expected = [0.25, 0.5, 0.5, 1.0]
    for mean, probability in zip(means, expected, strict=True):
        assert mean == pytest.approx(
            probability, abs=6 * np.sqrt(probability * (1 - probability) / 500) + 1e-9
        )


def test_detectors_and_coordinates_come_back() -> None:
    circuit = Circuit("""
        QUBIT_COORDS(0, 3) 0
        QUBIT_COORDS(1, 2) 1
        R_X(0.3) 0
        SHIFT_COORDS(1)
        M(0.1) 0 1
        DETECTOR(1, 2) rec[-1] rec[-2] rec[-2] rec[-2]
        DETECTOR rec[-1] rec[-1]
        OBSERVABLE_INCLUDE(2) rec[-1] X0
    """)
    back = Circuit.from_cirq(circuit.to_cirq())
    assert back.get_detector_coordinates() == {0: [2.0, 2.0], 1: []}
    assert back.get_final_qubit_coordinates() == circuit.get_final_qubit_coordinates()
    assert "DETECTOR(1, 2) rec[-1] rec[-2]\n" in str(back)
    assert "OBSERVABLE_INCLUDE(2) rec[-1] X0" in str(back)


def test_tags_come_back() -> None:
    text = """
        X[a] 0
        T[b] 1
        TICK[c]
        CX[d] 0 1
        TICK
        M[e] 0
        TICK
        CX[f] rec[-1] 1
        TICK
        DEPOLARIZE1[g](0.1) 0
        DETECTOR[h](1) rec[-1]
        TPP[i] X1
        TICK
        SPP[T:j] X0*Y1
        TICK
        CX[k\\C] sweep[0] 1
        RX[l] 0
    """
    back = str(Circuit.from_cirq(Circuit(text).to_cirq()))
    for tag in ("X[a]", "T[b]", "TICK[c]", "CX[d]", "M[e]", "CX[f]", "DEPOLARIZE1[g]", "DETECTOR[h]"):
        assert tag in back
    assert "CX[k\\C] sweep[0] 1" in back
    assert "R[l] 0" in back


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("LEAKAGE(0.1) 0", "Cirq has no leakage"),
        ("HERALDED_ERASE(0.1) 0", "Cirq has no channel with a herald"),
        ("CS sweep[0] 1", "stimcirq has the Paulis only"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Circuit(text).to_cirq()


def test_a_long_loop_stays_a_loop() -> None:
    written = Circuit(stim.Circuit("REPEAT 1000000 {\nM 0\n}\nDETECTOR rec[-1]")).to_cirq()
    assert len(written) < 5
