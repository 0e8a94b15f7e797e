"""The teleported T gate: what its circuits prepare, measure and correct, and their files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sinter
import stim

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation.noise import NoiseModel, add_noise
from stim_nonclifford.generators.teleportation import (
    AVAILABLE_DISTANCES,
    injection_circuit,
    teleportation_circuit,
)
from stim_nonclifford.generators.teleportation.protocol import build_teleportation

ROOT = Path(__file__).parents[2]
UNDECIDED = ("gate", "software")
CIRCUITS = [
    *((distance, gate, None) for distance in AVAILABLE_DISTANCES for gate in "TS"),
    *((distance, gate, c) for distance in AVAILABLE_DISTANCES for gate in "TS" for c in UNDECIDED),
]


def circuit_of(distance: int, gate: Any, correction: Any, p: float = 1e-3, **arguments: Any) -> stim.Circuit:
    """The teleported gate with a correction, or the injection alone without one."""
    if correction is None:
        return injection_circuit(distance, p, gate, **arguments)
    return teleportation_circuit(distance, p, gate, correction=correction, **arguments)


# Geometry


@pytest.mark.parametrize("distance", AVAILABLE_DISTANCES)
def test_gates_of_a_moment_meet_neighbours_only(distance: int) -> None:
    circuit = build_teleportation(distance).builder.circuit
    site = circuit.get_final_qubit_coordinates()
    for instruction in circuit:
        if instruction.name == "CX" and not instruction.targets_copy()[0].is_measurement_record_target:
            for control, target in instruction.target_groups():
                (x, y), (u, v) = site[control.value], site[target.value]
                assert abs(x - u) == abs(y - v) == 1


# The whole circuits


@pytest.mark.parametrize(("distance", "gate", "correction"), CIRCUITS)
def test_nothing_happens_without_noise(distance: int, gate: str, correction: str | None) -> None:
    circuit = circuit_of(distance, gate, correction, noise="none")
    sampler = snc.Circuit(circuit).compile_detector_sampler(seed=1, skip_reference_sample=True)
    detectors, observables = sampler.sample(1000, separate_observables=True)
    assert detectors.shape == (1000, circuit.num_detectors)
    assert not detectors.any()
    assert not observables.any()


@pytest.mark.parametrize("correction", UNDECIDED)
@pytest.mark.parametrize("distance", AVAILABLE_DISTANCES)
def test_without_the_correction_half_of_the_merges_matter(distance: int, correction: str) -> None:
    circuit = circuit_of(distance, "T", correction, noise="none")
    uncorrected = stim.Circuit()
    for instruction in circuit:
        if not instruction.tag.startswith("C_R_"):
            uncorrected.append(instruction)
    assert len(uncorrected) == len(circuit) - 1
    sampler = snc.Circuit(uncorrected).compile_detector_sampler(seed=1, skip_reference_sample=True)
    detectors, observables = sampler.sample(10_000, separate_observables=True)
    assert not detectors.any()
    # The outcome is 1 in half of the shots, and T_DAG|+> is T|+> with probability 1/2; 6 sigma.
    assert abs(observables.mean() - 0.25) < 6 * (0.25 * 0.75 / 10_000) ** 0.5


@pytest.mark.parametrize(("distance", "gate", "correction"), CIRCUITS)
def test_no_circuit_needs_a_vector(distance: int, gate: str, correction: str | None) -> None:
    circuit = snc.Circuit(circuit_of(distance, gate, correction))
    assert circuit.plan().peak_width == circuit.plan("sample_measurements").peak_width == 0


@pytest.mark.parametrize("correction", [None, *UNDECIDED])
@pytest.mark.parametrize("distance", AVAILABLE_DISTANCES)
def test_proxy_is_deterministic_and_the_circuit_without_tags(distance: int, correction: str | None) -> None:
    tagged = circuit_of(distance, "T", correction)
    proxy = circuit_of(distance, "S", correction)
    assert tagged.without_tags() == proxy != tagged
    assert snc.Circuit(tagged).s_proxy() == proxy
    proxy.detector_error_model()  # raises if a detector or the observable is random
    detectors, observables = proxy.reference_detector_and_observable_signs()
    assert not detectors.any()
    assert not observables.any()


def test_the_classical_bit_has_no_noise() -> None:
    circuit = circuit_of(3, "T", "gate")
    bit = circuit.num_qubits - 1
    names = [
        instruction.name
        for instruction in circuit
        if any(target.is_qubit_target and target.value == bit for target in instruction.targets_copy())
    ]
    assert names == ["QUBIT_COORDS", "R", "CX", "M"]


def test_bits_take_no_time() -> None:
    text = "M 0\nR 1\nCX rec[-1] 1\nM 1\nMX 2\nTICK"
    noisy = add_noise(stim.Circuit(text), NoiseModel.si1000(0.01), bits=[1])
    assert str(noisy) == "M(0.05) 0\nR 1\nCX rec[-1] 1\nM 1\nMX(0.05) 2\nDEPOLARIZE1(0.01) 0 2\nTICK"
    with pytest.raises(ValueError, match="'H 0 1' acts on bits and on other qubits"):
        add_noise(stim.Circuit("H 0 1\nTICK"), NoiseModel.uniform(0.01), bits=[1])


@pytest.mark.parametrize("correction", [None, *UNDECIDED])
@pytest.mark.parametrize("distance", AVAILABLE_DISTANCES)
def test_detectors_have_coordinates_that_postselect(distance: int, correction: str | None) -> None:
    circuit = circuit_of(distance, "T", correction)
    coordinates = circuit.get_final_qubit_coordinates()
    assert list(coordinates.values()) == sorted(coordinates.values())
    for x, y, t, flag in circuit.get_detector_coordinates().values():
        assert [x, y] in coordinates.values()
        assert 0 <= t <= circuit.num_ticks
        assert flag == 1
    mask = sinter.post_selection_mask_from_4th_coord(circuit)
    assert np.unpackbits(mask, bitorder="little").sum() == circuit.num_detectors


def test_rounds_can_be_chosen() -> None:
    assert [injection_circuit(3, rounds=k).num_ticks for k in (1, 2, 5)] == [7, 13, 31]
    assert teleportation_circuit(3, rounds=3).num_ticks == teleportation_circuit(3).num_ticks + 6
