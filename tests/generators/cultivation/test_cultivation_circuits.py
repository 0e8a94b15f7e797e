"""The magic state cultivation circuits: what they prepare, check and cost, and their files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sinter
import stim

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import (
    AVAILABLE_DISTANCES,
    INJECTION_CHOICES,
    CircuitStatistics,
    circuit_statistics,
    cultivation_circuit,
)
from stim_nonclifford.generators.cultivation.color_code import ColorCode
from stim_nonclifford.generators.cultivation.stages.bell_pairs import BellPairs
from stim_nonclifford.generators.cultivation.stages.rotations import opposite_rotation_sites
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import CpuEngine

from ...support.seeds import slow
from .test_cultivation_noise import CHANNELS

ROOT = Path(__file__).parents[3]


# Geometry


@pytest.mark.parametrize("distance", [1, 4, -3])
def test_color_code_refuses_other_distances(distance: int) -> None:
    with pytest.raises(ValueError, match="distance must be 3, 5, 7"):
        ColorCode.triangular(distance)


@pytest.mark.parametrize("length", [1, 5])
def test_bell_pairs_have_two_to_four_sites(length: int) -> None:
    with pytest.raises(ValueError, match=f"a path must have 2, 3 or 4 sites, but .* has {length}"):
        BellPairs.along([tuple((x, 0) for x in range(length))])


@pytest.mark.parametrize("distance", [*AVAILABLE_DISTANCES, 11, 13])
def test_rotations_make_the_check_a_logical_operator(distance: int) -> None:
    code = ColorCode.triangular(distance)
    sign = {site: 1 if site in opposite_rotation_sites(code) else -1 for site in code.data}
    assert all(sum(sign[site] for site in tile.data) % 4 == 0 for tile in code.tiles)
    assert sum(sign.values()) % 8 == 1


@pytest.mark.parametrize("injection", INJECTION_CHOICES)
@pytest.mark.parametrize("distance", AVAILABLE_DISTANCES)
def test_two_qubit_gates_connect_nearest_neighbours(distance: int, injection: str) -> None:
    assert_nearest_neighbours(cultivation_circuit(distance, noise="none", injection=injection))


def assert_nearest_neighbours(circuit: stim.Circuit) -> None:
    """The qubits of each CX have places at a distance of 1."""
    site = circuit.get_final_qubit_coordinates()
    for instruction in circuit:
        if instruction.name == "CX":
            for control, target in instruction.target_groups():
                if not control.is_measurement_record_target:
                    (x, y), (u, v) = site[control.value], site[target.value]
                    assert abs(x - u) + abs(y - v) == 1


@pytest.mark.parametrize("distance", AVAILABLE_DISTANCES)
def test_qubits_are_numbered_in_the_order_of_their_coordinates(distance: int) -> None:
    coordinates = list(cultivation_circuit(distance).get_final_qubit_coordinates().values())
    assert coordinates == sorted(coordinates)


# The whole circuit


# SOFT paper (arXiv 2512.23037), Table II.
TABLE_II = {
    3: CircuitStatistics(
        qubits=15,
        gates=137,
        depth=39,
        two_qubit_gates=81,
        measurements=14,
        t_count=22,
        t_support=7,
        t_depth=4,
    ),
    5: CircuitStatistics(
        qubits=42,
        gates=741,
        depth=94,
        two_qubit_gates=477,
        measurements=93,
        t_count=72,
        t_support=19,
        t_depth=6,
    ),
}


@pytest.mark.parametrize("distance", TABLE_II)
def test_statistics_are_those_of_table_ii(distance: int) -> None:
    assert circuit_statistics(cultivation_circuit(distance, p=1e-3, gate="T")) == TABLE_II[distance]
    assert circuit_statistics(cultivation_circuit(distance, noise="none", gate="S")) == TABLE_II[distance]


@pytest.mark.parametrize("noise", ["uniform", slow("none")])
@pytest.mark.parametrize("injection", INJECTION_CHOICES)
@pytest.mark.parametrize(
    ("distance", "options"),
    [
        *((distance, {"gate": gate}) for distance in AVAILABLE_DISTANCES for gate in ("T", "S")),
        *((5, {"variant": "flagged", "gate": gate}) for gate in ("T", "S")),
    ],
)
def test_gates_give_zero_with_certainty(
    distance: int, options: dict[str, Any], injection: str, noise: str
) -> None:
    """By the exact law of all quantum outcomes of a shot without faults."""
    circuit = snc.Circuit(cultivation_circuit(distance, injection=injection, noise=noise, **options))
    plan = circuit.compile().detector_plan(
        RequestedOutputs.of(range(circuit.num_detectors + circuit.num_observables)),
        skip_reference_sample=True,
    )
    assert len(plan.coins) == len(plan.constant) == 0
    signature = np.zeros(plan.num_signature_bits, dtype=np.bool_)
    [(probability, discarded, flipped)] = CpuEngine(plan).outcome_law(signature)
    assert (probability, discarded, flipped.any()) == (pytest.approx(1, abs=1e-12), False, False)


@pytest.mark.parametrize("distance", AVAILABLE_DISTANCES)
def test_detectors_have_coordinates_that_postselect(distance: int) -> None:
    circuit = cultivation_circuit(distance)
    for x, y, t, flag in circuit.get_detector_coordinates().values():
        assert [x, y] in circuit.get_final_qubit_coordinates().values()
        assert 0 <= t <= circuit.num_ticks
        assert flag == 1
    mask = sinter.post_selection_mask_from_4th_coord(circuit)
    assert np.unpackbits(mask, bitorder="little").sum() == circuit.num_detectors


@pytest.mark.parametrize("distance", AVAILABLE_DISTANCES)
def test_proxy_is_the_same_circuit_without_tags(distance: int) -> None:
    tagged = cultivation_circuit(distance, p=2e-3, gate="T")
    proxy = cultivation_circuit(distance, p=2e-3, gate="S")
    assert {i.tag for i in tagged if i.name in ("S", "S_DAG")} == {"T"}
    assert not any(i.tag for i in proxy)
    assert tagged.without_tags() == proxy


@pytest.mark.parametrize("arguments", [{"p": 0}, {"noise": "none"}, {"p": 0.5, "noise": "none"}])
def test_without_noise(arguments: dict[str, Any]) -> None:
    circuit = cultivation_circuit(3, **arguments)
    assert circuit == cultivation_circuit(3, p=0.01).without_noise()
    assert not any(i.name in CHANNELS for i in circuit)


def test_readout_errors_of_si1000_are_probabilities() -> None:
    with pytest.raises(ValueError, match=r"p must be at most 0\.2 for si1000.*, but is 0\.3"):
        cultivation_circuit(noise="si1000", p=0.3)
