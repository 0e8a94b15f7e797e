"""Decoded circuits whose errors exclude each other: rates against density matrices, and against shots."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stim_nonclifford as snc
from sinter_plugin import SoftDecodingSampler, task
from stim_nonclifford.rates.decoded_rates.estimate import decoded_rate
from stim_nonclifford.rates.decoded_rates.faults import sites
from stim_nonclifford.rates.decoding.decoders import decompositions, first_error_model, rate_decoder
from stim_nonclifford.rates.decoding_problems import decoded_problem
from stim_nonclifford.rates.estimation.limits import Deadline, Settings
from stim_nonclifford.rates.samplers.strata import Stratum
from stim_nonclifford.simulation.compiler.heralds import herald_detectors

from ...support.oracle.density_matrix import detector_distribution
from ...support.rates.decoded_rate_cases import repetition_code

ERASURES = """
    R 0 1 2 3 4
    HERALDED_ERASE(0.1) 0
    DETECTOR rec[-1]
    HERALDED_PAULI_CHANNEL_1(0.02, 0.05, 0, 0.03) 1
    DETECTOR rec[-1]
    X_ERROR(0.04) 1 2
    PAULI_CHANNEL_2(0.02, 0, 0, 0, 0.03, 0, 0, 0, 0, 0.01, 0, 0, 0, 0, 0) 1 2
    CX 0 3 1 3 1 4 2 4
    M 3 4
    DETECTOR rec[-1]
    DETECTOR rec[-2]
    M 0 1 2
    DETECTOR rec[-3] rec[-2] rec[-5]
    DETECTOR rec[-2] rec[-1] rec[-4]
    OBSERVABLE_INCLUDE(0) rec[-1]
"""

LIKELY = """
    R 0 1 2
    E(0.7) X0
    ELSE_CORRELATED_ERROR(0.5) X1
    X_ERROR(0.1) 0 2
    M 0 1 2
    DETECTOR rec[-3] rec[-2]
    DETECTOR rec[-2] rec[-1]
    OBSERVABLE_INCLUDE(0) rec[-1]
"""

T_GATES = """
    RX 0
    R 1 2
    T 0
    E(0.1) X0
    ELSE_CORRELATED_ERROR(0.3) Z0 X1
    ELSE_CORRELATED_ERROR(0.1) X2
    X_ERROR(0.05) 1
    T_DAG 0
    MX 0
    M 1 2
    DETECTOR rec[-1]
    DETECTOR rec[-2]
    OBSERVABLE_INCLUDE(0) rec[-3]
"""


def exact_rate(circuit: snc.Circuit, postselected: tuple[int, ...]) -> tuple[float, float]:
    """The rate per kept shot and the kept part, by density matrices, with the decoder's answers."""
    decoder = rate_decoder("pymatching", heralds=herald_detectors(circuit.to_stim()))
    predict = decoder.checked(first_error_model(circuit, decompositions(True))).predict
    distribution = detector_distribution(circuit.to_stim())
    rows = np.array(list(distribution), dtype=np.uint8)
    probabilities = np.array(list(distribution.values()))
    dets, flipped = rows[:, : circuit.num_detectors], rows[:, circuit.num_detectors :]
    wrong = predict(np.packbits(dets, axis=1, bitorder="little"))[0] != flipped
    kept = ~dets[:, list(postselected)].any(axis=1)
    share = float(probabilities[kept].sum())
    return float(probabilities[kept & wrong.any(axis=1)].sum()) / share, share


@pytest.mark.parametrize("is_enumerated", [True, False])
@pytest.mark.parametrize("postselected", [(), (1,)])
@pytest.mark.parametrize("text", [ERASURES, LIKELY, T_GATES])
def test_rates_are_those_of_density_matrices(
    text: str, postselected: tuple[int, ...], is_enumerated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exactly, or within six standard errors of samples with seed 3."""
    if not is_enumerated:
        monkeypatch.setattr(Stratum, "size", lambda *_: math.inf)
    circuit = snc.Circuit(text)
    exact, kept = exact_rate(circuit, postselected)
    mask = np.isin(np.arange(circuit.num_detectors), postselected)
    found = circuit.logical_error_rate(
        decoder="pymatching", postselection_mask=mask, relative_error=0.02, seed=3
    )
    assert found.interval[1] > exact > 0
    assert abs(found.logical_error_rate - exact) <= 6 * found.standard_error + 1e-9
    assert abs(found.kept - kept) <= 6 * found.kept_error + 1e-9
    assert (found.standard_error == 0) == is_enumerated


@pytest.mark.parametrize(("text", "postselected"), [(ERASURES, (2,)), (LIKELY, (1,)), (T_GATES, (1,))])
def test_accepted_sets_are_those_of_density_matrices(text: str, postselected: tuple[int, ...]) -> None:
    """Sums over lists of accepted sets, exactly or within six standard errors; seed 1."""
    circuit = snc.Circuit(text)
    exact, kept = exact_rate(circuit, postselected)
    decoder = rate_decoder("pymatching", heralds=herald_detectors(circuit.to_stim()))
    mask = np.isin(np.arange(circuit.num_detectors), postselected)
    asked = decoded_problem(circuit, decoder, mask, False)
    found = decoded_rate(asked, Settings(0.01, seed=1), Deadline(None), 0)
    assert abs(found.logical_error_rate - exact) <= 6 * found.standard_error + 1e-9
    assert abs(found.kept - kept) <= 6 * found.kept_error + 1e-9
    assert found.relative_error < 0.01


def test_a_wrong_share_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A share of an error that is too large by 1% changes an exact rate."""
    circuit = snc.Circuit(ERASURES)
    found = circuit.logical_error_rate(decoder="pymatching", seed=3).logical_error_rate
    assert found == pytest.approx(exact_rate(circuit, ())[0], rel=1e-9)
    site = sites.Site.__init__

    def changed(self: sites.Site, symptoms: object, shares: np.ndarray, probability: float) -> None:
        site(self, symptoms, np.append(1.01 * shares[:1], shares[1:]), probability)  # type: ignore[arg-type]

    monkeypatch.setattr(sites.Site, "__init__", changed)
    other = snc.Circuit(ERASURES).logical_error_rate(decoder="pymatching", seed=3).logical_error_rate
    assert other != pytest.approx(found, rel=1e-4)


@pytest.mark.parametrize(
    ("noise", "decoder"),
    [
        ("HERALDED_ERASE(0.02) 0 2 4", "pymatching"),
        (
            "PAULI_CHANNEL_2(0, 0.004, 0, 0.01, 0.005, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) 0 2 2 4",
            "pymatching-correlated",
        ),
    ],
)
def test_rates_are_those_of_shots(noise: str, decoder: str) -> None:
    """Backward deletion or direct samples, within 5.5 standard errors of 400,000 shots with seed 5."""
    lines = str(repetition_code(0.01, distance=3, rounds=3).flattened()).splitlines()
    heralds = "\nDETECTOR rec[-1]\nDETECTOR rec[-2]\nDETECTOR rec[-3]" if "HERALD" in noise else ""
    first = next(k for k, line in enumerate(lines) if line.startswith("CX"))
    text = "\n".join([*lines[:first], noise, *lines[first:]])
    if heralds:
        text = text.replace(noise, noise + heralds)
    circuit = snc.Circuit(text)
    found = circuit.logical_error_rate(decoder=decoder, relative_error=0.02, seed=3)
    shots = 400_000
    sampler = SoftDecodingSampler(decoder, warn=False).compiled_range_sampler_for_task(task(circuit), seed=5)
    counted = sampler.sample_range(0, shots).errors / shots
    error = math.hypot(found.standard_error, math.sqrt(counted / shots))
    assert counted > 1e-4
    assert abs(found.logical_error_rate - counted) < 5.5 * error


def test_budgets_are_refused() -> None:
    found = snc.Circuit(ERASURES).logical_error_rate(decoder="pymatching", seed=3)
    with pytest.raises(ValueError, match=r"exclude each other.*circuit\.error_budget\("):
        found.error_budget("instruction")
    with pytest.raises(ValueError, match="exclude each other"):
        found.failures(3)
