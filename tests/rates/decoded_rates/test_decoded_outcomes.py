"""Decoded circuits with T gates: failing fault sets together with the outcomes of quantum measurements."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.generators.teleportation import injection_circuit
from stim_nonclifford.rates.decoding_problems import exact_symptoms
from stim_nonclifford.rates.samplers.strata import Stratum
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import reference

from ...support.oracle.density_matrix import detector_distribution
from ...support.rates.decoded_rate_cases import T_STATE, TELEPORTED, at_least, matching_of, wrong_where

IMPROBABLE = 1e-7


def encoded_t_state(p: float) -> snc.Circuit:
    """A T gate by teleportation, inside a repetition code: a random record decides on a gate S."""
    return snc.Circuit(f"""
        RX 0 5
        R 1 2 3 4
        X_ERROR({p}) 1 2
        T 5
        X_ERROR({p}) 5
        CX 0 5
        M({p / 3}) 5
        CS rec[-1] 0
        X_ERROR({p}) 0
        Z_ERROR({p / 2}) 0
        CX 0 1 0 2
        DEPOLARIZE1({p}) 0 1 2
        CX 0 3 1 3 1 4 2 4
        M({p}) 3 4
        CX 0 1 0 2
        T_DAG 0
        MX 0
        M 1 2
        DETECTOR rec[-5]
        DETECTOR rec[-4]
        DETECTOR rec[-2]
        DETECTOR rec[-1]
        OBSERVABLE_INCLUDE(0) rec[-3]
    """)


@functools.cache
def law_of_sets(p: float, p_of_decoder: float | None = None) -> dict[tuple[int, int], float]:
    """The probability of each fault set and each set of flipped outputs with which PyMatching fails.

    All fault sets are looked at, each with all paths of the simulation of reference.
    """
    circuit = encoded_t_state(p)
    num_outputs = circuit.num_detectors + 1
    plan = circuit.compile().detector_plan(RequestedOutputs.of(range(num_outputs)))
    symptoms = list(exact_symptoms(circuit).probabilities.items())
    signature_bits = plan.num_signature_bits
    laws = {
        bits: reference.outcome_law(
            plan, np.array([bits >> k & 1 for k in range(signature_bits)], dtype=bool)
        )
        for bits in range(1 << signature_bits)
    }
    matching = matching_of(circuit if p_of_decoder is None else encoded_t_state(p_of_decoder))
    found: dict[tuple[int, int], float] = {}
    for number in range(1 << len(symptoms)):
        signature = outputs = 0
        probability = 1.0
        for k, ((detectors, observables, bits), q) in enumerate(symptoms):
            acts = number >> k & 1
            probability *= q if acts else 1 - q
            if acts:
                outputs ^= sum(1 << d for d in detectors)
                outputs ^= sum(1 << circuit.num_detectors + each for each in observables)
                signature ^= sum(1 << bit for bit in bits)
        for branch in laws[signature]:
            seen = outputs ^ sum(1 << int(k) for k in np.flatnonzero(branch.outputs))
            found[number, seen] = found.get((number, seen), 0.0) + probability * branch.probability
    seen = np.array([[each >> k & 1 for k in range(num_outputs)] for _, each in found], dtype=np.uint8)
    fails = (matching.decode_batch(seen[:, :-1]) != seen[:, -1:]).any(axis=1)
    return {key: q for (key, q), is_failing in zip(found.items(), fails, strict=True) if is_failing and q > 0}


def test_the_circuit_has_what_is_tested() -> None:
    symptoms = exact_symptoms(encoded_t_state(0.1))
    assert symptoms.outcomes is not None
    assert symptoms.outcomes.num_signature_bits >= 1
    assert 0.5 in symptoms.probabilities.values()


@pytest.mark.parametrize("is_enumerated", [True, False])
def test_rates_are_those_of_all_sets_and_outcomes(
    is_enumerated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_enumerated:
        monkeypatch.setattr(Stratum, "size", lambda *_: math.inf)
    noise = (0.1, 0.01, 0.002)
    rates = snc.logical_error_rates(
        [encoded_t_state(p) for p in noise], decoder="pymatching", relative_error=0.05, seed=3
    )
    for p, rate in zip(noise, rates, strict=True):
        exact = sum(law_of_sets(p).values())
        assert abs(rate.logical_error_rate - exact) < 6 * rate.standard_error + 1e-9 * exact
    again = encoded_t_state(noise[1]).logical_error_rate(decoder="pymatching", relative_error=0.1, seed=5)
    other = encoded_t_state(noise[1]).logical_error_rate(decoder="pymatching", relative_error=0.1, seed=5)
    assert again == other


@pytest.mark.parametrize(
    ("unit", "count", "p", "order"),
    [
        (T_STATE, 6, 0.02, 2),
        (T_STATE, 30, 1e-3, 2),
        (T_STATE, 30, 1e-3, 3),
        (T_STATE, 60, 1e-3, 4),
        (TELEPORTED, 4, 0.02, 2),
        (TELEPORTED, 10, 1e-2, 3),
        (TELEPORTED, 30, 1e-3, 3),
    ],
)
def test_t_gates_beyond_first_order(unit: str, count: int, p: float, order: int) -> None:
    """A decoder that is wrong where two, three or four detectors fire: each does with probability p / 2."""
    text = "".join(unit.format(a=2 * k, b=2 * k + 1, p=p) for k in range(count))
    circuit = snc.Circuit(f"{text}M {2 * count}\nOBSERVABLE_INCLUDE(0) rec[-1]")
    decoder = wrong_where(lambda events: events.sum(axis=1) >= order)
    rate = circuit.logical_error_rate(decoder=decoder, relative_error=0.02, seed=1)
    exact = at_least(count, p / 2, order)
    assert rate.relative_error <= 0.02
    assert abs(rate.logical_error_rate - exact) <= 5.5 * rate.standard_error + 1e-9 * exact
    low, high = rate.interval
    assert low * 0.98 <= exact <= high


@pytest.mark.parametrize("gate", ["T", "S"])
def test_injection_into_a_surface_code_against_plain_shots(gate: str) -> None:
    noise = (3e-3, 1e-3)
    circuits = [snc.Circuit(injection_circuit(3, p, gate)) for p in noise]
    rates = snc.logical_error_rates(circuits, decoder="pymatching", relative_error=0.04, seed=6)
    for circuit, rate in zip(circuits, rates, strict=True):
        shots = 60_000
        dets, obs = circuit.compile_detector_sampler(seed=7).sample(shots, separate_observables=True)
        wrong = int((matching_of(circuit).decode_batch(dets) != obs).sum())
        error = math.hypot(rate.standard_error, math.sqrt(wrong) / shots)
        assert abs(rate.logical_error_rate - wrong / shots) < 5.4 * error


def test_outcomes_alone_are_summed() -> None:
    circuit = snc.Circuit(
        "RX 0\nR 1\nR_Z(0.02) 0\nMX 0\nM 1\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-2]"
    )
    rate = circuit.logical_error_rate(decoder="pymatching", seed=1)
    assert rate.logical_error_rate == pytest.approx(math.sin(0.01 * math.pi) ** 2)
    assert rate.standard_error == 0


def test_budgets_are_derivatives_of_the_sum_over_sets_and_outcomes() -> None:
    p = 0.1
    rate = encoded_t_state(p).logical_error_rate(decoder="pymatching", relative_error=0.01, seed=1)
    budget = rate.error_budget("noise")
    assert {group.group for group in budget.groups} == {"X_ERROR", "Z_ERROR", "DEPOLARIZE1", "M"}
    assert sum(group.share for group in budget.groups) == pytest.approx(1)
    # All strengths are proportional to p, and the decoder stays as it is.
    step = 1e-4
    more, less = (sum(law_of_sets(p * factor, p).values()) for factor in (1 + step, 1 - step))
    exact = (math.log(more) - math.log(less)) / (2 * step)
    total = sum(group.sensitivity for group in budget.groups)
    error = sum(group.sensitivity_error for group in budget.groups)
    assert error < 0.1
    assert abs(total - exact) < 5.4 * error + 1e-6


def test_failures_are_circuits_that_fail_for_some_outcomes() -> None:
    circuit = encoded_t_state(0.01)
    rate = circuit.logical_error_rate(decoder="pymatching", relative_error=0.2, seed=1)
    failures = rate.failures(6)
    assert len(failures) == 6
    noiseless, matching = events_of(circuit.with_faults(()), 1)[0], matching_of(circuit)
    for failure in failures:
        seen = np.zeros(circuit.num_detectors + 1, dtype=np.bool_)
        seen[list(failure.detectors)] = True
        seen[-1] = bool(failure.observables)
        assert (matching.decode(seen[:-1]) == bool(failure.predicted)).all()
        assert failure.predicted != failure.observables
        flips = events_of(circuit.with_faults(failure.faults), 400) ^ noiseless
        assert (flips == seen).all(axis=1).mean() > 0.03  # the least likely outcomes that occur here: 1/8


def events_of(circuit: snc.Circuit, shots: int) -> np.ndarray:
    """The parities of detectors and of the observable, without regard to what is expected."""
    records = circuit.compile_sampler(seed=3).sample(shots)
    converter = circuit.to_stim().compile_m2d_converter(skip_reference_sample=True)
    return np.asarray(converter.convert(measurements=records, append_observables=True))


@pytest.mark.parametrize(
    "coin",
    [
        "MPAD(0.5) 0",
        "X_ERROR(0.5) 2\nM 2",
        "M(0.5) 2",
        "DEPOLARIZE1(0.75) 2\nM 2",
        "HERALDED_ERASE(0.5) 2",
        "PAULI_CHANNEL_1(0.3, 0.4, 0.1) 2\nM 2",  # 1 more often than 0
        "PAULI_CHANNEL_1(0.3, 0.2, 0.25) 1\nMPAD(0.5) 1",
        "E(0.2) X2\nELSE_CORRELATED_ERROR(0.4) X2\nM 2",
    ],
)
def test_noise_with_one_effect_excludes_nothing(coin: str) -> None:
    # All fault sets with all of their outcomes, against the density matrix.
    circuit = snc.Circuit(
        f"RX 0\nR 1 2\n{coin}\nT 0\nCS rec[-1] 0\nX_ERROR(0.02) 0 1\nZ_ERROR(0.05) 0\n"
        "C_R_Z(-0.5) rec[-1] 0\nT_DAG 0\nMX 0\nM 1\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-2]"
    )
    symptoms = exact_symptoms(circuit)
    plan = circuit.compile().detector_plan(RequestedOutputs.of(range(2)))
    found: dict[tuple[int, ...], float] = {}
    for number in range(1 << len(symptoms.probabilities)):
        flips, signature = np.zeros(2, dtype=bool), np.zeros(plan.num_signature_bits, dtype=bool)
        probability, acting = 1.0, [symptoms.expected]
        for k, (symptom, q) in enumerate(symptoms.probabilities.items()):
            probability *= q if number >> k & 1 else 1 - q
            acting += [symptom] * (number >> k & 1)
        for detectors, observables, bits in acting:
            flips[[*detectors, *(1 + k for k in observables)]] ^= True
            signature[list(bits)] ^= True
        for branch in reference.outcome_law(plan, signature):
            key = tuple((flips ^ branch.outputs).astype(int).tolist())
            found[key] = found.get(key, 0.0) + probability * branch.probability
    expected = detector_distribution(circuit.to_stim())
    assert found == {key: pytest.approx(expected.get(key, 0.0), abs=1e-12) for key in found}
    wrong = {key: p for key, p in expected.items() if key[-1] and not key[0]}
    kept = sum(p for key, p in expected.items() if not key[0])
    rate = circuit.logical_error_rate(postselection_mask="all")
    assert rate.logical_error_rate == pytest.approx(sum(wrong.values()) / kept, rel=1e-9)
    decoded = circuit.logical_error_rate(decoder="pymatching", relative_error=0.05, seed=1)
    exact = sum(p for key, p in expected.items() if key[-1])  # X errors of qubit 1 say nothing of qubit 0
    assert decoded.logical_error_rate == pytest.approx(exact, rel=0.4)
