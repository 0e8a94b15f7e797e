"""Faults as places in the circuit: many sets at once, and the failures that are counted."""

import dataclasses
import resource
from typing import Any

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import CpuEngine
from stim_nonclifford.simulation.engines.reference import fate_of_row
from stim_nonclifford.simulation.faults import FaultTable
from stim_nonclifford.simulation.plan import BLOCK_SHOTS
from stim_nonclifford.simulation.sampling import CompiledDetectorSampler

from ...support.oracle.random_circuits import ALL_FAMILIES, Family, random_circuit
from ...support.rates.fault_choices import that_can_happen
from ...support.seeds import seeds

FAMILIES = ALL_FAMILIES - {Family.REPEAT}


@pytest.mark.parametrize("seed", seeds(40, quick=6))
def test_many_fault_sets_at_once(seed: int) -> None:
    """As the reference engine says for each of them, and as calls for one set at a time."""
    rng = np.random.default_rng([607, seed])
    circuit = snc.Circuit(random_circuit(rng, num_qubits=4, num_operations=24, instructions=FAMILIES))
    faults = circuit.faults()
    if not faults:
        pytest.skip("no noise")
    sets = [
        that_can_happen(faults[int(k)] for k in rng.choice(len(faults), size=size))
        for size in rng.integers(0, 4, 30)
    ]
    postselected = [d for d in range(circuit.num_detectors) if rng.random() < 0.5]
    compiled = circuit.compile()
    table = FaultTable(circuit.to_stim(), compiled)
    found = table.outcome_probabilities(sets, postselected)
    assert len(found) == len(sets)
    observables = range(circuit.num_detectors, circuit.num_detectors + circuit.num_observables)
    plan = compiled.fault_plan(RequestedOutputs.of(observables, postselected))
    effects = dict(zip(faults, compiled.faults, strict=True))
    for chosen, fate in zip(sets, found, strict=True):
        row = plan.row_of(0)
        for fault in chosen:
            row ^= plan.row_of(effects[fault].effect)
        discarded, kept = fate_of_row(plan, row)
        right = kept.pop(0, 0.0)
        assert fate.kept_and_right == pytest.approx(right, abs=1e-12)
        assert fate.kept_and_wrong == pytest.approx(sum(kept.values()), abs=1e-12)
        assert fate.discarded == pytest.approx(discarded, abs=1e-12)
        [alone] = table.outcome_probabilities([chosen], postselected)
        assert dataclasses.astuple(alone) == pytest.approx(dataclasses.astuple(fate), abs=1e-12)


def test_the_empty_set_beside_a_fault() -> None:
    circuit = snc.Circuit("X_ERROR(0.1) 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    [fault] = circuit.faults()
    assert [
        fate.kept_and_wrong for fate in circuit.outcome_probabilities([[fault], []], postselection_mask="all")
    ] == [1, 0]


def test_failures_are_the_errors_that_are_counted() -> None:
    """Seed 9; nothing here depends on chance."""
    circuit = snc.Circuit(cultivation_circuit(distance=3, p=5e-3))
    mask = np.ones(circuit.num_detectors, dtype=np.bool_)

    def sampler() -> CompiledDetectorSampler:
        return circuit.compile_detector_sampler(seed=9, postselection_mask=mask, threads=2)

    counts = sampler().sample_counts(1_000_000)
    found = sampler().sample_failures(1_000_000)
    assert found.counts == counts
    assert len(found.failures) == counts.errors > 0
    assert [failure.shot for failure in found.failures] == sorted(f.shot for f in found.failures)
    for failure in found.failures:
        assert failure.observables == (0,)
        assert len(failure.faults) >= 2  # no single fault is kept and wrong
        fate = circuit.outcome_probabilities(failure.faults, postselection_mask="all")
        assert fate.kept_and_wrong > 1e-6
        # Every alternative has the same fate.
        others = tuple(alternatives[-1] for alternatives in failure.causes)
        assert circuit.outcome_probabilities(others, postselection_mask="all") == fate


def test_failures_are_found_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seed 9. The engine draws each shot once, also if sampling stops at a number of errors."""
    calls = []
    count = CpuEngine.count

    def counted(self: CpuEngine, seed: int, first_shot: int, shots: int, *rest: int, **options: bool) -> Any:
        calls.append((first_shot, shots))
        return count(self, seed, first_shot, shots, *rest, **options)

    monkeypatch.setattr(CpuEngine, "count", counted)
    circuit = snc.Circuit(cultivation_circuit(distance=3, p=5e-3))
    mask = np.ones(circuit.num_detectors, dtype=np.bool_)
    sampler = circuit.compile_detector_sampler(seed=9, postselection_mask=mask, engine="cpu")
    found = sampler.sample_failures(3_000_000, max_errors=3)
    assert calls == [(0, 3_000_000)]
    assert len(found.failures) == found.counts.errors >= 3
    assert found.counts.shots < 3_000_000
    assert found.failures[-1].shot >= found.counts.shots - BLOCK_SHOTS
    assert sampler.sample_failures(1000).counts.shots == 1000
    assert calls[1:] == [(found.counts.shots, 1000)]


def rounds_with_flips(rounds: int) -> snc.Circuit:
    return snc.Circuit(
        f"REPEAT {rounds} {{\n    X_ERROR(0.001) 0\n    MR 0\n    DETECTOR rec[-1]\n    DEPOLARIZE2(0.1) 1 2\n}}"
        "\nX_ERROR(1) 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )


def test_lists_of_faults_that_do_not_fit_are_refused_before_the_work() -> None:
    """Of 16 faults in each round."""
    small, large = rounds_with_flips(40), rounds_with_flips(60_000)
    assert len(small.faults()) == 16 * 40 + 1
    pattern = r"can cause 960,001 faults.* 60,001 outputs .* takes 7\.6 GiB; the limit is 1 GiB\. Lower"
    sampler = large.compile_detector_sampler(seed=1, postselection_mask="all")
    for call in (
        large.faults,
        lambda: large.outcome_probabilities([], postselection_mask="all"),
        lambda: sampler.sample_failures(10),
    ):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(snc.ResourceLimitError, match=pattern):
            call()
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # KiB


@pytest.mark.parametrize("name", ["quantum_detectors", "quantum_observables"])
def test_arrays_of_outputs_that_do_not_fit_are_refused(name: str) -> None:
    circuit = snc.Circuit("REPEAT 1000000000000 {\n    M 0\n    DETECTOR rec[-1]\n}")
    with pytest.raises(snc.ResourceLimitError, match=r"1,000,000,000,000 detectors and observables"):
        getattr(circuit, name)()
