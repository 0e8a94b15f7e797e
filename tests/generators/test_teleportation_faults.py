"""Which faults make a kept shot of the teleported T gate wrong, and how often that happens."""

from fractions import Fraction
from typing import Any

import pytest
import sinter
import stim

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation.noise import NoiseModel, add_noise
from stim_nonclifford.generators.teleportation import (
    injection_circuit,
    teleportation_circuit,
)
from stim_nonclifford.generators.teleportation.protocol import build_injection, build_teleportation

UNDECIDED = ("gate", "software")
KINDS = ("one_qubit_gate", "two_qubit_gate", "idle", "reset", "measurement", "after_measurement")


def circuit_of(distance: int, gate: Any, correction: Any, p: float) -> stim.Circuit:
    if correction is None:
        return injection_circuit(distance, p, gate)
    return teleportation_circuit(distance, p, gate, correction=correction)


@pytest.mark.parametrize(("gate", "coefficient"), [("T", Fraction(101, 30)), ("S", Fraction(24, 5))])
@pytest.mark.parametrize("correction", [None, *UNDECIDED])
def test_only_faults_of_the_injection_matter_on_their_own(
    correction: str | None, gate: str, coefficient: Fraction
) -> None:
    p = 1e-9
    circuit = snc.Circuit(circuit_of(3, gate, correction, p))
    found = circuit.malignant_sets(max_weight=1, postselection_mask="all")
    causes = [fault for each in found for fault in each.causes[0]]
    assert len(causes) == {"T": 23, "S": 20}[gate]
    assert max(fault.tick for fault in causes) == 5  # before the first measurement
    total = sum(each.probability * each.kept_and_wrong for each in found) / p
    assert total == pytest.approx(float(coefficient), rel=1e-5)


@pytest.mark.parametrize("distance", [3, 5])
@pytest.mark.parametrize(
    ("gate", "expected"),
    [
        ("T", {"one_qubit_gate": "2/3", "two_qubit_gate": "8/15", "idle": "2/3", "reset": "3/2"}),
        ("S", {"one_qubit_gate": "2/3", "two_qubit_gate": "4/5", "idle": "4/3", "reset": "2"}),
    ],
)
def test_error_of_the_injection_by_kind_of_noise(distance: int, gate: Any, expected: dict[str, str]) -> None:
    p = 1e-9
    noiseless = build_injection(distance, gate).circuit
    for kind, coefficient in expected.items():
        strengths = dict.fromkeys(KINDS, 0.0) | {kind: p}
        circuit = snc.Circuit(add_noise(noiseless, NoiseModel(**strengths)))
        total = sum(
            each.probability * each.kept_and_wrong
            for each in circuit.malignant_sets(max_weight=1, postselection_mask="all")
        )
        assert total / p == pytest.approx(float(Fraction(coefficient)), rel=1e-5)


def noise_from_the_merge_on(distance: int, gate: Any, correction: Any) -> snc.Circuit:
    """The teleported gate, with a perfect injection."""
    [merge] = [
        stage.first_moment for stage in build_teleportation(distance).builder.stages if stage.name == "merge"
    ]
    result = stim.Circuit()
    tick = 0
    for instruction in circuit_of(distance, gate, correction, 1e-4):
        tick += instruction.name == "TICK"
        single = stim.Circuit()
        single.append(instruction)
        result += single.without_noise() if tick < merge else single
    return snc.Circuit(result)


@pytest.mark.parametrize("distance", [3, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("gate", "correction"), [("T", "gate"), ("T", "software"), ("S", "gate"), ("S", "software")]
)
def test_fault_distance_of_the_consumption(distance: int, gate: str, correction: str) -> None:
    """A perfect conditional gate lets two faults of one qubit through, one before and one after it."""
    circuit = noise_from_the_merge_on(distance, gate, correction)
    through = gate == "T" and correction == "gate"
    assert circuit.fault_distance(max_weight=distance, threads=2, postselection_mask="all").value == (
        2 if through else distance
    )
    if through:
        for each in circuit.malignant_sets(threads=2, postselection_mask="all"):
            # The first X turns S into S_DAG in half of the shots, those in which the merge gave 1.
            assert each.kept_and_wrong == pytest.approx(0.5)


@pytest.mark.parametrize("correction", UNDECIDED)
@pytest.mark.parametrize(("gate", "coefficient"), [("T", 101 / 30), ("S", 24 / 5)])
def test_logical_error_rate_is_that_of_the_injection(correction: str, gate: str, coefficient: float) -> None:
    shots = 1_000_000
    circuit = circuit_of(3, gate, correction, 1e-3)
    sampler = snc.Circuit(circuit).compile_detector_sampler(
        seed=3, postselection_mask=sinter.post_selection_mask_from_4th_coord(circuit)
    )
    counts = sampler.sample_counts(shots)
    kept = counts.shots - counts.discards
    expected = coefficient * 1e-3
    # 6 sigma, a false alarm in 10^9 runs, and 2% for terms of second order.
    assert abs(counts.errors / kept - expected) < 6 * (expected / kept) ** 0.5 + 0.02 * expected
