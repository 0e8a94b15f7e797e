"""Readout noise that depends on the outcome: events that look at the record.

Statistical comparisons reject a correct sampler with a probability below ``ALPHA`` each; there are some twenty.
"""

import re

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.simulation import plan as plans
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import CpuEngine, GpuEngine, ReferenceEngine
from stim_nonclifford.simulation.engines.gpu.host_backend import HostBackend
from stim_nonclifford.simulation.plan import SamplingPlan

from ...support.laws.exact import num_rows
from ...support.laws.records import assert_records_agree
from ...support.oracle.agreement import p_value
from ...support.oracle.density_matrix import record_distribution
from ...support.oracle.leakage import leaked_record_distribution
from ...support.oracle.random_circuits import ALL_FAMILIES, CLIFFORD_FAMILIES, random_circuit
from ...support.seeds import seeds, slow
from ...support.texts.leaking_circuits import random_leaking_text

ALPHA = 1e-8
MOST_ROWS = 1 << 14

FEEDBACK = """
    H 0
    CX 0 1
    M(0.02, 0.3) 0
    CX rec[-1] 2
    MR(0.25, 0.1) 2
    CY rec[-1] 1
    CZ rec[-2] 3
    MXX(0.1, 0.4) !2 3
    REPEAT 3 {
        X_ERROR(0.1) 1
        MZZ(0, 0.3) 1 2
        M(0.2, 0.05) !1
        CX rec[-1] 2
    }
    MX(0.1, 0.3) 3
"""
HALF_QUANTUM = """
    RX 0
    T 0
    SQRT_X 0
    M(0.1, 0.3) 0 1
    CX rec[-2] 2
    M(0.3, 0.1) 2
    H 3
    REPEAT 2 {
        M(0.05, 0.2) 3
        DETECTOR rec[-1]
    }
    CX rec[-1] 4
    T 4
    M(0, 0.4) 4
"""


def misread(circuit: stim.Circuit, rng: np.random.Generator) -> snc.Circuit:
    """The circuit with noise of both signs in its measurements."""
    lines = str(circuit).splitlines()
    for k, line in enumerate(lines):
        found = re.match(r"( *)(M|MX|MY|MR|MRX|MRY|MXX|MYY|MZZ|MPP)(\([^)]*\))? ", line)
        if found and rng.random() < 0.7:
            p01, p10 = rng.choice([0.0, 0.05, 0.2, 0.4], size=2)
            lines[k] = f"{found[1]}{found[2]}({p01}, {p10}) {line[found.end() :]}"
    return snc.Circuit("\n".join(lines))


@pytest.mark.parametrize("clifford", [True, False])
@pytest.mark.parametrize("seed", seeds(40, quick=6))
def test_records_have_the_distribution_of_the_density_matrix(seed: int, clifford: bool) -> None:
    rng = np.random.default_rng(seed)
    instructions = CLIFFORD_FAMILIES if clifford else ALL_FAMILIES
    circuit = misread(random_circuit(rng, num_operations=25, max_records=7, instructions=instructions), rng)
    if num_rows(circuit.compile().record_plan()) > MOST_ROWS:
        pytest.skip("too many rows to enumerate")
    assert_records_agree(circuit)


@pytest.mark.parametrize("text", [FEEDBACK, HALF_QUANTUM])
def test_feedback_and_t_gates(text: str) -> None:
    circuit = snc.Circuit(text)
    assert_records_agree(circuit)
    samples = circuit.compile_sampler(seed=3).sample(1_000_000)
    assert p_value(samples, record_distribution(circuit.to_stim())) > ALPHA


def test_a_wrong_probability_is_noticed() -> None:
    samples = snc.Circuit(FEEDBACK).compile_sampler(seed=4).sample(2_000_000)
    for right, changed in (("0.02, 0.3", "0.025, 0.3"), ("0.25, 0.1", "0.25, 0.11"), ("0, 0.3", "0, 0.31")):
        wrong = snc.Circuit(FEEDBACK.replace(f"({right})", f"({changed})"))
        assert wrong != snc.Circuit(FEEDBACK)
        assert p_value(samples, record_distribution(wrong.to_stim())) < ALPHA


@pytest.mark.parametrize("seed", seeds(40, quick=6))
def test_leaking_qubits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    circuit = misread(snc.Circuit(random_leaking_text(seed, spreads=seed % 2 == 0)).to_stim(), rng)
    samples = circuit.compile_sampler(seed=seed).sample(100_000)
    assert p_value(samples, leaked_record_distribution(circuit.to_stim())) > ALPHA


def plans_of(circuit: snc.Circuit) -> list[SamplingPlan]:
    compiled = circuit.compile()
    everything = range(circuit.num_detectors + circuit.num_observables)
    found = [compiled.record_plan()]
    if circuit.num_detectors:
        found.append(compiled.detector_plan(RequestedOutputs.of(everything)))
        found.append(compiled.detector_plan(RequestedOutputs.of(everything[circuit.num_detectors :])))
        few = RequestedOutputs.of(everything, range(0, circuit.num_detectors, 3))
        found.append(compiled.detector_plan(few))
    return found


def memory(distance: int, rounds: int, *, leaks: bool = False) -> snc.Circuit:
    circuit = stim.Circuit.generated(
        "surface_code:rotated_memory_z",
        distance=distance,
        rounds=rounds,
        before_round_data_depolarization=0.02,
    )
    text = re.sub(r"(?m)^( *MR?) ", r"\1(0.03, 0.1) ", str(circuit))
    if leaks:
        text = re.sub(r"(?m)^( *)DEPOLARIZE1.*$", r"\g<0>\n\1LEAKAGE(0.01) 1 3 5", text)
    return snc.Circuit(text)


@pytest.mark.parametrize("form", ["words", "lists"])
@pytest.mark.parametrize(
    "circuit",
    [
        snc.Circuit(FEEDBACK), snc.Circuit(HALF_QUANTUM), memory(3, 3), memory(3, 2, leaks=True), memory(3, 40),
        pytest.param(memory(5, 5), marks=slow("").marks),
    ],
)  # fmt: skip
def test_all_engines_draw_the_same_shots(
    circuit: snc.Circuit, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "_FORM", form)
    for plan in plans_of(circuit):
        assert plan.num_readout_decays or not plan.num_outputs
        reference = ReferenceEngine(plan)
        kept, numbers = reference.sample_kept_numbered(7, 1000, 120)
        for engine in (CpuEngine(plan), GpuEngine(plan, HostBackend())):
            found, found_numbers = engine.sample_kept_numbered(7, 1000, 120)
            np.testing.assert_array_equal(found_numbers, numbers)
            np.testing.assert_array_equal(found, kept)


def test_a_memory_has_the_rates_of_followed_shots() -> None:
    """24 detectors and an observable; each of 25 rates is off by 6 standard errors once in 10^7 runs."""
    circuit, shots = memory(3, 3), 200_000
    found = [
        circuit.compile_detector_sampler(seed=k, engine=engine).sample(shots, append_observables=True)
        for k, engine in enumerate(("cpu", "trajectory"))
    ]
    rates = [sample.mean(axis=0) for sample in found]
    errors = np.sqrt((rates[0] * (1 - rates[0]) + rates[1] * (1 - rates[1])) / shots)
    assert np.all(np.abs(rates[0] - rates[1]) < 6 * errors)
    twirled = circuit.pauli_twirl().compile_detector_sampler(seed=1).sample(shots, append_observables=True)
    assert np.any(np.abs(twirled.mean(axis=0) - rates[1]) > 20 * errors)


def test_events_are_those_of_flips() -> None:
    """No quantum operation, and as many events as with flips of the larger probability."""
    text = str(memory(5, 5))
    flips = snc.Circuit(text.replace("(0.03, 0.1)", "(0.1)"))
    for kind in (0, 1, 2):
        plan, of_flips = plans_of(snc.Circuit(text))[kind], plans_of(flips)[kind]
        assert plan.operations.size == 0
        assert plan.num_readout_decays in (145, 25, 5)
        assert plan.mean_events < 1.6 * of_flips.mean_events


def test_records_of_long_memories_flip_few_bits() -> None:
    """Errors change what comes after them in all later rounds; along chains, that is one bit."""
    plan = memory(3, 200).compile().record_plan()
    assert np.diff(plan.event_readouts.starts).max() < 12
    assert len(plan.event_readouts.bits) < 5 * plan.num_mechanisms


def test_certain_decays() -> None:
    assert_records_agree(snc.Circuit("H 0 1\nM(0, 1) 0\nM(1, 0) 1\nM(0.5, 1) 0 !1"))
