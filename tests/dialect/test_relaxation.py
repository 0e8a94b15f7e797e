"""Amplitude damping, phase damping and thermal relaxation, compared with Kraus operators."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.dialect import relaxation_of

from ..support.laws.records import assert_records_agree
from ..support.oracle.density_matrix import final_density_matrix
from ..support.oracle.operators import PAULIS
from ..support.oracle.relaxation import kraus_operators
from ..support.seeds import seeds
from ..support.texts.round_trips import read_again

LINES = (
    "AMPLITUDE_DAMPING(0.3)",
    "AMPLITUDE_DAMPING(0.04)",
    "PHASE_DAMPING(0.2)",
    "THERMAL_RELAXATION(0.2, 0.3)",
)


def random_text(seed: int) -> str:
    """Gates, noise, measurements and feedback on three qubits, with relaxation between them."""
    rng = np.random.default_rng(seed)
    lines = ["H 0 1 2"]
    records = 0
    for _ in range(8):
        a, b = rng.choice(3, size=2, replace=False)
        lines.append(f"{rng.choice(['T', 'R_X(0.3)', 'H', 'SQRT_Y'])} {a}")
        lines.append(f"{rng.choice(['CX', 'CZ', 'ISWAP'])} {a} {b}")
        lines.append(f"{rng.choice(LINES)} {b}")
        kind = rng.integers(5)
        if kind == 0:
            lines.append(f"{rng.choice(['M', 'MR', 'MX'])}(0.1) {a}")
            records += 1
        elif kind == 1:
            lines.append(f"DEPOLARIZE1(0.1) {a}")
        elif kind == 2 and records:
            lines.append(f"CX rec[-1] {a}")
    lines.append("MY 0\nMX 1\nM 2")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", seeds(12, quick=5))
def test_records_have_the_distribution_of_the_density_matrix(seed: int) -> None:
    assert_records_agree(snc.Circuit(random_text(seed)))


def test_expectation_values() -> None:
    """Averages over 2e5 shots lie within 6 standard errors, of at most 1/sqrt(shots) each."""
    text = random_text(7).rpartition("MY 0")[0]
    state = final_density_matrix(snc.Circuit(text).to_stim())
    circuit = snc.Circuit(f"{text}EXP_VAL X0 Z1 Y2")
    *_, values = circuit.compile_detector_sampler(seed=3).sample_expectation_values(200_000)
    for value, (letter, qubit) in zip(values.mean(axis=0), (("X", 0), ("Z", 1), ("Y", 2)), strict=True):
        factors = [PAULIS[letter] if k == qubit else PAULIS["I"] for k in (2, 1, 0)]
        product = np.kron(np.kron(factors[0], factors[1]), factors[2])
        assert abs(value - np.trace(product @ state).real) < 6 / math.sqrt(200_000)


@pytest.mark.parametrize("line", [*LINES, "AMPLITUDE_DAMPING(1)", "THERMAL_RELAXATION(3, 1.5)"])
def test_the_twirl_is_the_diagonal_of_the_channel(line: str) -> None:
    circuit = snc.Circuit(f"{line} 0")
    (instruction,) = circuit.to_stim()
    channel = relaxation_of(instruction)
    assert channel is not None
    operators = kraus_operators(instruction.tag)
    weights = [sum(abs(np.trace(PAULIS[p] @ k) / 2) ** 2 for k in operators) for p in "XYZ"]
    np.testing.assert_allclose(channel.twirl, weights, atol=1e-14)
    twirled = circuit.pauli_twirl().to_stim()[0]
    arguments = twirled.gate_args_copy()
    np.testing.assert_allclose([0] * (3 - len(arguments)) + arguments, weights, atol=1e-14)


def test_text_files_and_appended_channels(tmp_path: Path) -> None:
    text = "AMPLITUDE_DAMPING(0.0012345678901) 0 2\nREPEAT 2 {\n    THERMAL_RELAXATION(0.01, 0.02) 1\n}\nM 0"
    read_again(text, tmp_path)
    appended = snc.Circuit()
    appended.append("AMPLITUDE_DAMPING", [0, 2], 0.0012345678901)
    assert str(appended) == text.partition("\n")[0]
    with pytest.raises(ValueError, match=r"takes 2 arguments \(t_over_T1, t_over_T2\)"):
        appended.append("THERMAL_RELAXATION", [0], 0.1)
    assert str(snc.Circuit("AMPLITUDE_DAMPING(0.1)").plan())  # no targets


def test_stim_removes_the_channels_with_other_noise() -> None:
    circuit = snc.Circuit("X 0\nAMPLITUDE_DAMPING(0.5) 0\nM 0")
    assert str(circuit.without_noise()) == "X 0\nM 0"


def test_the_reference_sample_is_noiseless() -> None:
    """Although the decay is the likelier outcome."""
    circuit = snc.Circuit("X 0\nT 0\nAMPLITUDE_DAMPING(0.9) 0\nM 0\nDETECTOR rec[-1]")
    assert circuit.reference_sample().tolist() == [True]
    assert (
        abs(circuit.compile_detector_sampler(seed=1).sample(10_000).mean() - 0.9) < 0.02
    )  # 6 standard errors


def test_phase_damping_is_a_pauli_error() -> None:
    circuit = snc.Circuit("RX 0\nPHASE_DAMPING(0.19) 0\nMX 0\nDETECTOR rec[-1]")
    assert [fault.pauli for fault in circuit.faults()] == ["Z0"]
    expected = stim.DetectorErrorModel("error(0.05) D0")
    assert circuit.detector_error_model().approx_equals(expected, atol=1e-12)


def test_error_models_have_the_twirl() -> None:
    circuit = snc.Circuit("X 0\nAMPLITUDE_DAMPING(0.2) 0\nM 0\nDETECTOR rec[-1]")
    with pytest.warns(snc.InexactErrorModelWarning):
        model = circuit.detector_error_model()
    assert model.approx_equals(stim.DetectorErrorModel("error(0.1) D0"), atol=1e-9)
    with pytest.warns(snc.InexactErrorModelWarning):
        model = circuit.detector_error_model(kind="noise_only")
    assert model.approx_equals(stim.DetectorErrorModel("error(0.1) D0\ndetector D0"), atol=1e-9)


def test_a_decay_has_no_inverse() -> None:
    with pytest.raises(ValueError, match="noise"):
        snc.Circuit("AMPLITUDE_DAMPING(0.1) 0").inverse()


def test_a_decay_is_named_in_pictures_and_plans() -> None:
    circuit = snc.Circuit("RX 0\nT 0\nAMPLITUDE_DAMPING(0.1) 0\nMX 0")
    assert "AMPLITUDE_DAMPING(0.1)" in str(circuit.diagram())
    assert "AMPLITUDE_DAMPING" in str(circuit.plan())
