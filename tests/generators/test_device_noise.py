"""The noise of a calibration table, compared with what the table says."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit
from stim_nonclifford.generators import cultivation, teleportation
from stim_nonclifford.generators.device_noise import DeviceNoise, PairCalibration, QubitCalibration

from ..support.oracle.density_matrix import final_density_matrix
from ..support.seeds import slow

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
        ("CCZ 0 1 2", "no entry 0-1-2"),
        ("SPP X0*Y1*Z2", "no entry 0-1-2"),
        ("H 0\nT 0", "second time in a moment. Put a TICK"),
        ("MPP X0*X1", "says nothing about it"),
        ("MXX 0 1", "says nothing about it"),
    ):
        with pytest.raises(ValueError, match=message):
            NOISE.apply(circuit)
    with pytest.raises(ValueError, match="acts on 4 qubits"):
        DeviceNoise(dict.fromkeys(range(4), QUBIT), {}).apply("SPP X0*X1*X2*X3")
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


def test_relaxation_to_equilibrium() -> None:
    """Populations and coherences of generalized amplitude damping, which is exact in two channels."""
    qubit = QubitCalibration(T1=20e-6, T2=15e-6, excited_population=0.08, gate_time=4e-6)
    still, twist = np.exp(-4 / 20), np.exp(-4 / 15)
    for before, gate in ((0.0, "I 0"), (1.0, "X 0")):
        rho = final_density_matrix(DeviceNoise({0: qubit}, {}).apply(gate).to_stim())
        assert rho[1, 1].real == pytest.approx(0.08 + (before - 0.08) * still, abs=1e-9)
    rho = final_density_matrix(DeviceNoise({0: qubit}, {}).apply("SQRT_Y 0").to_stim())
    assert abs(rho[0, 1]) == pytest.approx(twist / 2, abs=1e-9)
    assert rho[1, 1].real == pytest.approx(0.08 + (0.5 - 0.08) * still, abs=1e-9)


@pytest.mark.parametrize(
    ("gate", "qubits", "error"), [("T 0", 1, 0.02), ("H 0", 1, 3e-3), ("CCZ 0 1 2", 3, 0.05)]
)
def test_errors_of_warm_qubits_t_gates_and_ccz(gate: str, qubits: int, error: float) -> None:
    warm = replace(QUBIT, excited_population=0.05, t_error=0.02)
    three = PairCalibration(gate_error=0.05, gate_time=100e-9)
    noise = DeviceNoise(dict.fromkeys(range(3), warm), {(2, 0, 1): three})
    pairs = "".join(f"H {k}\nCX {k} {k + qubits}\n" for k in range(qubits))
    ideal = final_density_matrix(Circuit(f"{pairs}{gate}").to_stim())
    noisy = final_density_matrix((Circuit(pairs) + noise.apply(gate)).to_stim())
    dimension = 2**qubits
    assert (1 - np.trace(ideal @ noisy).real) * dimension / (dimension + 1) == pytest.approx(error, abs=1e-9)


def test_leakage_loss_and_rotations_follow_their_gates() -> None:
    qubit = QubitCalibration(
        gate_leakage=0.01, gate_seepage=0.2, gate_loss=0.001, readout_leakage=0.02, check_miss=0.1,
        over_rotation=0.004, gate_time=20e-9, readout_time=1e-6,
    )  # fmt: skip
    pair = PairCalibration(
        gate_leakage=0.03, transport=0.25, over_rotation=0.005, crosstalk=1e5, gate_time=1e-7
    )
    noise = DeviceNoise(dict.fromkeys(range(3), qubit), {(0, 1): pair, (1, 2): PairCalibration()})
    circuit = "CX 1 0\nTICK\nH 1\nTICK\nM 0\nHERALD_LEAKAGE_EVENT(0.5) 1"
    assert str(noise.apply(circuit)) == (
        "CX 1 0\nR_PAULI(0.005) Z1*X0\nLEAKAGE_SPREAD(0.0, 0.0, 0.25, 0.25) 1 0\nLEAKAGE(0.03) 1 0\nTICK\n"
        "H 1\nR_Y(0.004) 1\nRELAX(0.2) 1\nLEAKAGE(0.01) 1\nLOSS(0.001) 1\nR_ZZ(0.002) 0 1\nTICK\n"
        "M 0\nHERALD_LEAKAGE_EVENT(0.55) 1\nLEAKAGE(0.02) 0\nR_ZZ(0.1) 0 1"
    )
    over = DeviceNoise({0: qubit, 1: qubit}, {(0, 1): pair})
    for gate, axis in (("CZ 0 1", "R_ZZ(0.005) 0 1"), ("SQRT_XX 0 1", "R_XX(0.005) 0 1"), ("SPP_DAG Y0*Z1", "Y0*Z1"), ("XCY 0 1", "X0*Y1"),
                       ("S 0", "R_Z(0.004) 0"), ("R_X(0.3) 0", "R_X(0.004) 0"), ("T_DAG 0", "R_Z(0.004) 0"), ("SQRT_Y_DAG 0", "R_Y(0.004) 0")):  # fmt: skip
        assert axis in str(over.apply(gate)).split("\n")[1]


def test_crosstalk_is_the_phase_of_its_frequency() -> None:
    """If f is the shift of one qubit by the other, the pair has done a CZ after 1/(2 f), up to S of each qubit."""
    qubits = dict.fromkeys(range(3), QubitCalibration(readout_time=5e-6))
    noisy = DeviceNoise(qubits, {(0, 1): PairCalibration(crosstalk=1e5)}).apply("H 0 1\nM 2\nTICK[noiseless]")
    found = final_density_matrix(noisy.to_stim())
    expected = final_density_matrix(Circuit("H 0 1\nCZ 0 1\nS_DAG 0 1\nM 2").to_stim())
    other = final_density_matrix(Circuit("H 0 1\nCZ 0 1\nS 0 1\nM 2").to_stim())
    assert min(np.abs(found - expected).max(), np.abs(found - other).max()) < 1e-9


def test_noise_of_the_circuit_stays() -> None:
    noise = DeviceNoise({0: QubitCalibration(p01=0.1, p10=0.2, gate_error=0.01)}, {})
    circuit = "H 0\nX_ERROR(0.3) 0\nLEAKAGE(0.1) 0\nTICK\nM(0.02) 0\nM(0.03, 0.04) 1"
    two = DeviceNoise({**noise.qubits, 1: noise.qubits[0]}, {})
    assert str(two.apply(circuit)).split("\n") == [
        "H 0", "X_ERROR(0.3) 0", "LEAKAGE(0.1) 0", "DEPOLARIZE1(0.015) 0", "TICK",
        "M(0.116, 0.212) 0", f"M({0.1 * 0.96 + 0.9 * 0.03}, {0.2 * 0.97 + 0.8 * 0.04}) 1",
    ]  # fmt: skip


def test_all_noise_of_a_circuit_stays_where_it_is() -> None:
    """Also records of heralds, chains of errors, and channels that are tags; its distribution is kept."""
    text = (
        "H 0\nE(0.1) X0\nELSE_CORRELATED_ERROR(0.2) Z0\nHERALDED_ERASE(0.1) 0\nMPAD(0.2) 0 1\n"
        "AMPLITUDE_DAMPING(0.1) 0\nPAULI_CHANNEL_1(0.1, 0, 0.2) 0\nDEPOLARIZE2(0.1) 0 1\nTICK\nH 0\nTICK\nM(0.1) 0"
    )
    nothing = DeviceNoise({0: QubitCalibration(), 1: QubitCalibration()}, {})
    assert nothing.apply(text) == Circuit(text)
    noisy = DeviceNoise({0: QubitCalibration(gate_error=0.01), 1: QubitCalibration()}, {}).apply(text)
    assert str(noisy).replace("DEPOLARIZE1(0.015) 0\n", "").replace("\nDEPOLARIZE1(0.015) 0", "") == text
    assert str(noisy).count("DEPOLARIZE1") == 2
    twice = DeviceNoise({0: QubitCalibration(gate_error=0.01), 1: QubitCalibration()}, {}).apply(noisy)
    assert str(twice).count("DEPOLARIZE1(0.015) 0 0") == 2


def test_noise_does_not_end_in_a_block() -> None:
    noise = DeviceNoise({0: QubitCalibration(p01=0.1, p10=0.1, gate_error=0.01)}, {})
    with pytest.raises(ValueError, match="Write it behind the block"):
        noise.apply("REPEAT 2 {\n    H 0\n    TICK[noiseless]\n}")
    with pytest.raises(ValueError, match="no moment is the first one without noise"):
        noise.apply("REPEAT 2 {\n    H 0\n    MPP X0\n}", noiseless_products=True)
    # The remedy works.
    flat = Circuit("REPEAT 2 {\n    H 0\n    TICK\n    MPP X0\n}").flattened()
    assert str(noise.apply(flat, noiseless_products=True)).count("DEPOLARIZE1") == 1


def test_a_tail_has_no_noise() -> None:
    noise = DeviceNoise({0: QubitCalibration(p01=0.1, p10=0.1, gate_error=0.01)}, {})
    for text in ("H 0\nTICK[noiseless]\nMPP X0*X5\nH 5\nTICK\nM 0", "TICK[noiseless]\nM 0"):
        assert str(noise.apply(text)).endswith(text[text.index("TICK") :])
    text = "H 0\nTICK\nT 0\nMPP X0*X5\nTICK\nM 0"
    assert str(noise.apply(text, noiseless_products=True)).endswith("DEPOLARIZE1(0.015) 0" + text[3:])
    with pytest.raises(ValueError, match=r"TICK\[noiseless\]"):
        noise.apply("MPP X0")


@pytest.mark.parametrize("ideal", [
    cultivation.cultivation_circuit(distance=3, p=0), slow(cultivation.cultivation_circuit(distance=5, p=0)),
    teleportation.injection_circuit(distance=3, p=0), teleportation.teleportation_circuit(distance=3, p=0),
])  # fmt: skip
def test_it_adds_noise_to_the_circuits_of_this_package(ideal: stim.Circuit) -> None:
    leaks = "C_R_ZZZ" not in str(ideal)  # a gate that a record controls knows no leakage
    qubit = QubitCalibration(T1=200e-6, T2=150e-6, p01=0.002, p10=0.008, gate_error=3e-4, gate_time=30e-9,
                             readout_time=400e-9, gate_leakage=1e-5 * leaks)  # fmt: skip
    qubits = sorted(Circuit(ideal).get_final_qubit_coordinates())
    pair = PairCalibration(gate_error=2e-3, gate_time=60e-9, gate_leakage=1e-4 * leaks)
    noise = DeviceNoise(
        dict.fromkeys(qubits, qubit),
        {(a, b): pair for a in qubits for b in qubits if a < b},
        ["T", "T_DAG", "C_R_ZZZ"],
    )
    noisy = noise.apply(ideal, noiseless_products=True, noiseless_qubits=[41])
    assert noisy.without_noise() == Circuit(ideal).without_noise()
    text = str(noisy)
    assert text.count("DEPOLARIZE2") > 5
    assert "THERMAL" not in text[text.index("MPP") :]
    sampler = noisy.compile_detector_sampler(seed=1, engine="trajectory")
    assert 0 < sampler.sample(200).mean() < 0.3


def test_gates_better_than_relaxation_are_named() -> None:
    qubit = replace(QUBIT, gate_error=1e-4)
    with pytest.warns(UserWarning, match="gate_error on 0, 0-1") as caught:
        DeviceNoise({0: qubit, 1: QUBIT}, {(0, 1): PairCalibration(gate_error=1e-3, gate_time=100e-9)})
    assert Path(caught[0].filename).name == Path(__file__).name
    with pytest.warns(UserWarning, match="gate_error on T of 0"):
        DeviceNoise({0: replace(QUBIT, t_error=1e-4)}, {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DeviceNoise({0: replace(QUBIT, gate_error=0.0)}, {})
        DeviceNoise({0: replace(QUBIT, t_error=1e-4)}, {}, ["T", "T_DAG"])


def test_tables_are_read_from_json(tmp_path: Path) -> None:
    path = tmp_path / "device.json"
    path.write_text(
        '{"0": {"T1": 2e-5, "t_error": 0.01}, "1-0": {"gate_error": 0.01}, "0-1-2": {"gate_time": 1e-7}}'
    )
    assert DeviceNoise.from_json(path) == DeviceNoise(
        {0: QubitCalibration(T1=2e-5, t_error=0.01)},
        {(1, 0): PairCalibration(gate_error=0.01), (0, 1, 2): PairCalibration(gate_time=1e-7)},
    )
    for text, message in (
        ("[", "is no JSON"), ("[1]", "must be an object of objects"), ('{"0": {"T3": 1}}', "Entry '0' of .*'T3'"),
        ('{"0-1-2-3": {}}', "a new qubit"), ('{"0": {"T1": "x"}}', "could not convert"), ('{"0-0": {}}', "a new qubit"),
        ('{"0": {"T1": [1]}}', "Entry '0'"),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            DeviceNoise.from_json(path)


def test_a_target_of_qiskit() -> None:
    fake_provider = pytest.importorskip("qiskit.providers.fake_provider")
    target = fake_provider.GenericBackendV2(3, seed=1).target
    with pytest.warns(UserWarning, match="T1 and T2 alone"):
        noise = DeviceNoise.from_qiskit(target, virtual_gates=["T"])
    for qubit, found in noise.qubits.items():
        known = target.qubit_properties[qubit]
        assert (known.t1, min(known.t2, 2 * known.t1)) == (found.T1, found.T2)
        assert (found.gate_error, found.gate_time) == (
            target["sx"][(qubit,)].error,
            target["sx"][(qubit,)].duration,
        )
        assert found.p01 == found.p10 == target["measure"][(qubit,)].error
        assert found.readout_time == target["measure"][(qubit,)].duration
    for places, known in target["cx"].items():
        assert (noise.pair(*places).gate_error, noise.pair(*places).gate_time) == (
            known.error,
            known.duration,
        )
    several = fake_provider.GenericBackendV2(2, basis_gates=["cx", "cz", "x"], seed=1).target
    with pytest.raises(ValueError, match='two_qubit_gate="cx"'):
        DeviceNoise.from_qiskit(several)
    with pytest.warns(UserWarning, match="T1 and T2 alone"):
        second = DeviceNoise.from_qiskit(several, two_qubit_gate="cz")
    assert second.pair(0, 1).gate_error == several["cz"][(0, 1)].error
    with pytest.raises(ValueError, match="one of cx, cz; got 'ecr'"):
        DeviceNoise.from_qiskit(several, two_qubit_gate="ecr")


def test_slow_noise_is_undone_by_an_echo() -> None:
    """What is left of a coherence is a Gaussian of the time; an echo gets it back."""
    qubit = QubitCalibration(T2_star=10e-6, readout_time=4e-6)
    noise = DeviceNoise({0: qubit, 1: qubit}, {})
    wait = "TICK\nM 1\nTICK\n"
    for text, expected in (
        (f"RX 0\n{wait}MX 0", np.exp(-0.16)),
        (f"RX 0\n{wait}{wait}MX 0", np.exp(-0.64)),
        (f"RX 0\n{8 * wait}MX 0", np.exp(-10.24)),
        (f"RX 0\n{wait}X 0\n{wait}MX 0", 1.0),
        (f"RX 0\n{wait}S 0\n{wait}MY 0", np.exp(-0.64)),
    ):
        noisy = noise.apply(text)
        for engine in ("auto", "trajectory"):
            shots = noisy.compile_sampler(seed=5, engine=engine).sample(100_000)[:, -1]
            sign = 1 - 2 * shots.mean()
            assert abs(sign - expected) < 5 * np.sqrt((1 - expected**2) / 100_000) + 1e-12
    assert noise.apply("RX 0\nTICK\nM 1").num_measurements == 1
