"""The noise of a calibration table, compared with what the table says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from stim_nonclifford import Circuit
from stim_nonclifford.generators.device_noise import DeviceNoise, PairCalibration, QubitCalibration

from ..support.oracle.density_matrix import final_density_matrix

QUBIT = QubitCalibration(
    T1=20e-6,
    T2=15e-6,
    p01=0.01,
    p10=0.03,
    reset_error=0.02,
    gate_error=3e-3,
    gate_time=30e-9,
    readout_time=1e-6,
    reset_time=0.5e-6,
)
NOISE = DeviceNoise(
    {0: QUBIT, 1: QUBIT, 2: QubitCalibration()}, {(1, 0): PairCalibration(gate_error=0.01, gate_time=100e-9)}
)


@pytest.mark.parametrize(("gate", "qubits", "error"), [("SQRT_X 0", 1, 3e-3), ("CX 0 1", 2, 0.01)])
def test_gates_have_the_average_error_of_the_table(gate: str, qubits: int, error: float) -> None:
    """The average error is d/(d + 1) of the entanglement infidelity, which halves of Bell pairs show."""
    pairs = "".join(f"H {k}\nCX {k} {k + qubits}\n" for k in range(qubits))
    ideal = final_density_matrix(Circuit(f"{pairs}{gate}").to_stim())
    noisy = final_density_matrix((Circuit(pairs) + NOISE.apply(gate)).to_stim())
    infidelity = 1 - np.trace(ideal @ noisy).real
    dimension = 2**qubits
    assert infidelity * dimension / (dimension + 1) == pytest.approx(error, abs=1e-12)


def test_moments_take_the_time_of_their_slowest_operation() -> None:
    circuit = "R 0\nTICK\nREPEAT 2 {\n    H 1\n    S 2\n    TICK\n    T 2\n}\nM !0 2\nCX rec[-1] 1\nDETECTOR rec[-1]"
    noisy = NOISE.apply(circuit)
    only = QUBIT.relaxation
    assert [str(part) for part in NOISE.apply("R 0\nTICK\nH 1\nS 2").to_stim()][:2] == [
        "R 0",
        "X_ERROR(0.02) 0",
    ]
    assert "THERMAL_RELAXATION(0.025, 0.0333" in str(NOISE.apply("R 0\nH 1"))
    reset = f"R 0\nX_ERROR(0.02) 0\nTHERMAL_RELAXATION{only(0.5e-6)} 1\nTICK\n"
    assert str(noisy).startswith(f"{reset}REPEAT 2 {{\n    H 1\n    S 2\n    DEPOLARIZE1(")
    assert f"THERMAL_RELAXATION{only(30e-9)} 0 1\n    TICK\n    T 2\n}}\nM(0.01, 0.03) !0\nM 2\n" in str(
        noisy
    )
    assert str(noisy).endswith(f"CX rec[-1] 1\nDETECTOR rec[-1]\nTHERMAL_RELAXATION{only(1e-6)} 0 1")
    assert noisy.without_noise().num_measurements == Circuit(circuit).num_measurements
    virtual = DeviceNoise(NOISE.qubits, NOISE.pairs, ["T"])
    assert str(virtual.apply("T 0\nMR 2\nEXP_VAL X0\nTICK")) == "T 0\nMR 2\nEXP_VAL X0\nTICK"


def test_what_the_table_does_not_have_is_named() -> None:
    for circuit, message in (
        ("H 0\nCX 5 7", "no qubit 5, 7"),
        ("CX 0 2", "no pair 0-2"),
        ("II[CS] 1 2", "no pair 1-2"),
        ("CCZ 0 1 2", "acts on 3 qubits"),
        ("SPP X0*Y1*Z2", "acts on 3 qubits"),
        ("H 0\nT 0", "second time in a moment. Put a TICK"),
        ("MPP X0*X1", "says nothing about it"),
        ("MXX 0 1", "says nothing about it"),
        ("M(0.1) 0", "has noise already"),
        ("M(0.1, 0.2) 0", "has noise already"),
        ("AMPLITUDE_DAMPING(0.1) 0", "has noise already"),
        ("X_ERROR(0.1) 0", "has noise already"),
        ("LEAKAGE(0.1) 0", "has noise already"),
    ):
        with pytest.raises(ValueError, match=message):
            NOISE.apply(circuit)
    with pytest.raises(ValueError, match="each pair once"):
        DeviceNoise({}, {(0, 1): PairCalibration(), (1, 0): PairCalibration()})
    with pytest.raises(ValueError, match="at most 2 T1"):
        QubitCalibration(T1=1e-6, T2=3e-6)


def test_tables_are_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "device.csv"
    path.write_text(
        "qubits, T1, p10, gate_error, gate_time\n0, 2e-5, 0.1, ,\n1,,,1e-3,\n1-0, , , 0.01, 1e-7\n"
    )
    found = DeviceNoise.from_csv(path, virtual_gates=["S"])
    expected = DeviceNoise(
        {0: QubitCalibration(T1=2e-5, p10=0.1), 1: QubitCalibration(gate_error=1e-3)},
        {(1, 0): PairCalibration(gate_error=0.01, gate_time=1e-7)},
        ["S"],
    )
    assert found == expected
    for text, message in (
        ("qubits, T3\n0, 1", "Line 1 of .*'T3'"),
        ("T1\n1", "Line 1 of .*the columns must be qubits"),
        ("qubits, T1\n0, 1\n0, 2", "Line 3 of .*a new qubit"),
        ("qubits, T1\n0, x", "Line 2 of .*could not convert"),
        ("qubits, T1\n0-1, 1", "Line 2 of .*T1"),
        ("qubits, T1\n0, -1", "Line 2 of .*T1 must be a positive number"),
        ("qubits, T1\nq0, 1", "Line 2 of .*q0"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            DeviceNoise.from_csv(path)
