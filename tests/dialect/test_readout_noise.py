"""Readout noise that depends on the outcome, compared with density matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford import Circuit

from ..support.laws.exact import exact_outputs, largest_difference
from ..support.laws.records import assert_records_agree
from ..support.oracle.density_matrix import record_distribution
from ..support.oracle.leakage import leaked_record_distribution
from ..support.texts.round_trips import read_again

TOLERANCE = 1e-10
LINES = (
    "M(0.1, 0.3) {a} !{b}", "MX(0.2, 0.05) !{a}", "MY(0, 1) {a}", "MR(0.3, 0) !{a} {b}", "MRX(0.05, 0.4) {a}",
    "MRY(1, 0) {a}", "MXX(0.1, 0.2) {a} !{b}", "MYY(0.3, 0.2) {a} {b}", "MZZ(0, 0.2) {a} {b}",
    "MPP(0.2, 0.9) !X{a}*Y{b} Z{a}*Z{b}", "M(1, 1) {a}", "M(0.2, 0.2) {b}", "MPP(0.1, 0.2) Y{a}",
)  # fmt: skip


def random_text(seed: int, *, leaks: bool = False) -> str:
    """Gates, misread measurements and feedback on three qubits."""
    rng = np.random.default_rng(seed)
    lines = ["H 0 1 2"]
    for k in range(2):
        a, b = rng.choice(3, size=2, replace=False)
        lines.append(f"{rng.choice(['T', 'R_X(0.3)', 'R_Y(0.6)', 'SQRT_Y'])} {a}")
        lines.append(f"{rng.choice(['CX', 'CZ', 'ISWAP'])} {a} {b}")
        if leaks and k == 0:
            lines.append(f"{rng.choice(['LEAKAGE', 'LOSS'])}(0.3) {a}")
        lines.append(LINES[(2 * seed + k) % len(LINES)].format(a=a, b=b))
        lines.append(f"{rng.choice(['CX rec[-1]', 'C_R_Y(0.3) rec[-1]', 'X_ERROR(0.1)'])} {b}")
    return "\n".join([*lines, "M(0.1, 0.2) 0", "MX 1"])


@pytest.mark.parametrize("leaks", [False, True])
@pytest.mark.parametrize("seed", range(7))
def test_records_have_the_distribution_of_the_density_matrix(seed: int, leaks: bool) -> None:
    oracle = leaked_record_distribution if leaks else record_distribution
    assert_records_agree(Circuit(random_text(seed, leaks=leaks)), oracle)


@pytest.mark.parametrize("seed", range(14))
def test_readings_of_leaked_qubits_are_misread_only_once(seed: int) -> None:
    models = "LEAKAGE_READOUT(0.8) 0 2\n" + "LEAKAGE_PARTNER(0.1, 0.3, 0.2) 1\n" * (seed % 2)
    circuit = Circuit(models + random_text(seed, leaks=True))
    assert_records_agree(circuit, leaked_record_distribution)


def test_engines_agree_and_nothing_is_wider() -> None:
    body = "CX 0 1\nT 1\nH 1\nM(0.05, 0.2) 0 1\nCX rec[-1] 0"
    text = f"RX 0\nT 0\nH 0\nREPEAT 3 {{\n{body}\n}}\nMY(0.1, 0) 0 1"
    circuit = Circuit(text)
    cpu = circuit.compile_sampler(seed=3, engine="cpu").sample(200)
    assert (cpu == circuit.compile_sampler(seed=3, engine="reference").sample(200)).all()
    assert circuit.plan().peak_width == circuit.without_noise().plan().peak_width
    read = Circuit("X 1\nM(0.01, 0.2) 0 1\nDETECTOR rec[-1]\nDETECTOR rec[-2]").plan()
    assert read.peak_width == 0


def test_text_files_and_appended_measurements(tmp_path: Path) -> None:
    text = "M(0.0012345678901, 0.05) 0 !2\nREPEAT 2 {\n    MPP(0.1, 0.2) !X0*Z1\n}\nMR(0.2, 0.0) 0"
    circuit = read_again(text, tmp_path)
    assert str(circuit.to_stim()[2]) == "MR[READOUT_NOISE(p01=0.2, p10=0.0)](0.1) 0"
    appended = Circuit()
    appended.append("M", [0, stim.target_inv(2)], [0.0012345678901, 0.05])
    assert str(appended) == text.partition("\n")[0]
    assert str(Circuit("MZ(0.1, 0.2) 1")) == "M(0.1, 0.2) 1"
    assert str(Circuit("M(0.1, 0.2)\nM 0").plan())  # no targets


def test_what_stands_for_readout_noise() -> None:
    circuit = Circuit("X 0\nMX(0.1, 0.3) 0\nMR(0.2, 0) 0\nDETECTOR rec[-1]\nTICK[a]")
    assert str(circuit.pauli_twirl()) == "X 0\nMX(0.2) 0\nMR(0.1) 0\nDETECTOR rec[-1]\nTICK[a]"
    assert str(circuit.without_noise()) == "X 0\nMX 0\nMR 0\nDETECTOR rec[-1]\nTICK[a]"
    assert str(circuit.without_tags()) == str(circuit).replace("[a]", "")
    assert "AMPLITUDE" in str(Circuit("AMPLITUDE_DAMPING(0.1) 0").without_tags())
    assert str(circuit[1:2].decomposed()) == "H 0\nM(0.1, 0.3) 0\nH 0"
    assert "M" in str(circuit.diagram())
    twice = Circuit("M(0.1, 0.3) 0\nDETECTOR rec[-1]")
    with pytest.warns(snc.InexactErrorModelWarning):
        model = twice.detector_error_model()
    assert model.approx_equals(stim.DetectorErrorModel("error(0.2) D0"), atol=1e-12)
    with pytest.warns(snc.InexactErrorModelWarning):
        model = twice.detector_error_model(kind="noise_only")
    assert model.approx_equals(stim.DetectorErrorModel("error(0.2) D0\ndetector D0"), atol=1e-12)
    assert twice.reference_sample().tolist() == [False]


def test_a_product_without_factors_is_0() -> None:
    found = exact_outputs(Circuit("MPP(0.125, 0.2) X0*X0 !Y1*Y1").compile().record_plan()).kept
    assert largest_difference(found, {0: 0.109375, 1: 0.015625, 2: 0.765625, 3: 0.109375}) < TOLERANCE


def test_equal_probabilities_are_a_flip() -> None:
    circuit = Circuit("M(0.1, 0.1) 0\nDETECTOR rec[-1]")
    assert len(circuit.faults()) == 1
    assert circuit.compile().record_plan().operations.size == 0
