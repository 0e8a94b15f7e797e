"""The magic state cultivation circuits: what they prepare, check and cost, and their files."""

from __future__ import annotations

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
from stim_nonclifford.generators.cultivation.builder import CircuitBuilder, Pauli
from stim_nonclifford.generators.cultivation.color_code import ColorCode, Coord
from stim_nonclifford.generators.cultivation.injections.injection import INJECTIONS
from stim_nonclifford.generators.cultivation.stages.bell_pairs import BellPairs
from stim_nonclifford.generators.cultivation.stages.cat_check import append_double_cat_check
from stim_nonclifford.generators.cultivation.stages.cat_trees import CAT_TREES
from stim_nonclifford.generators.cultivation.stages.growth import append_growth
from stim_nonclifford.generators.cultivation.stages.rotations import opposite_rotation_sites
from stim_nonclifford.generators.cultivation.stages.syndrome_cycle import append_syndrome_cycle
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import CpuEngine

from .test_cultivation_noise import CHANNELS

ROOT = Path(__file__).parents[3]


# Geometry


@pytest.mark.parametrize("distance", [3, 5, 7, 9])
def test_color_code_is_a_color_code(distance: int) -> None:
    code = ColorCode.triangular(distance)
    assert len(code.data) == (3 * distance**2 + 1) // 4
    assert len(code.tiles) == (len(code.data) - 1) // 2
    for k, tile in enumerate(code.tiles):
        assert len(tile.data) in (4, 6)
        for other in code.tiles[:k]:
            shared = set(tile.data) & set(other.data)
            assert len(shared) in (0, 2)
            assert not shared or tile.color != other.color
    assert not set(code.data) & {*code.x_ancillas, *code.z_ancillas}


@pytest.mark.parametrize("distance", [1, 4, -3])
def test_color_code_refuses_other_distances(distance: int) -> None:
    with pytest.raises(ValueError, match="distance must be 3, 5, 7"):
        ColorCode.triangular(distance)


@pytest.mark.parametrize("distance", [3, 5, 7, 9])
@pytest.mark.parametrize("color", [0, 1, 2])
def test_edges_connect_tiles_of_their_color(distance: int, color: int) -> None:
    code = ColorCode.triangular(distance)
    edges = code.edges(color)
    on_edges = [site for edge in edges for site in edge]
    assert len(on_edges) == len(set(on_edges)) == len(code.data) - 1
    for edge in edges:
        for tile in code.tiles:
            assert len(set(edge) & set(tile.data)) in ((0, 1) if tile.color == color else (0, 2))


@pytest.mark.parametrize("length", [1, 5])
def test_bell_pairs_have_two_to_four_sites(length: int) -> None:
    with pytest.raises(ValueError, match=f"a path must have 2, 3 or 4 sites, but .* has {length}"):
        BellPairs.along([tuple((x, 0) for x in range(length))])


@pytest.mark.parametrize("distance", [*AVAILABLE_DISTANCES, 9, 11, 13])
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


# Stages, by the flow of Pauli products through their S-proxy


def pauli_product(pauli: str, sites: tuple[Coord, ...], numbers: dict[Coord, int]) -> str:
    return "*".join(f"{pauli}{numbers[site]}" for site in sites)


def numbered(sites: tuple[Coord, ...]) -> dict[Coord, int]:
    return {site: k for k, site in enumerate(sites)}


@pytest.mark.parametrize("injection", INJECTION_CHOICES)
def test_injection_prepares_the_encoded_state(injection: str) -> None:
    code = ColorCode.triangular(3)
    chosen = INJECTIONS[injection]
    sites = code.sites(extra=chosen.extra_sites)
    builder = CircuitBuilder(sites, gate="S")
    chosen.append(builder)
    numbers = numbered(sites)
    for origin, site in chosen.arriving:
        numbers[site] = numbers[origin]
    for tile in code.tiles:
        for pauli in "XZ":
            assert builder.circuit.has_flow(stim.Flow("1 -> " + pauli_product(pauli, tile.data, numbers)))
    # S_DAG|+> has logical Y = -1, and Y on all 7 qubits is minus logical Y.
    assert builder.circuit.has_flow(stim.Flow("1 -> " + pauli_product("Y", code.data, numbers)))


@pytest.mark.parametrize("distance", [3, 5, 7])
@pytest.mark.parametrize("first", ["X", "Z"])
def test_syndrome_cycle_measures_and_keeps_every_check(distance: int, first: Pauli) -> None:
    code = ColorCode.triangular(distance)
    sites = code.sites()
    builder = CircuitBuilder(sites)
    append_syndrome_cycle(builder, code, first=first)
    numbers = numbered(sites)
    num_tiles = len(code.tiles)
    products = [
        (pauli, pauli_product(pauli, qubits, numbers))
        for qubits in (*(tile.data for tile in code.tiles), code.data)
        for pauli in "ZX"
    ]
    for k, (pauli, product) in enumerate(products[:-2]):
        record = k // 2 + (num_tiles if pauli == "X" else 0)
        assert builder.circuit.has_flow(stim.Flow(f"{product} -> rec[{record}]"))
    for pauli, product in products:
        # Outcomes of the checks that go first leave byproducts, which flip checks of the same kind.
        [records] = builder.circuit.solve_flow_measurements([stim.Flow(f"{product} -> {product}")])
        assert records is not None
        assert all(pauli == first and (record >= num_tiles) == (first == "X") for record in records)


@pytest.mark.parametrize("distance", AVAILABLE_DISTANCES)
def test_cat_check_measures_the_logical_operator_and_keeps_the_code(distance: int) -> None:
    code = ColorCode.triangular(distance)
    tree = CAT_TREES[distance]
    sites = code.sites(extra=tree.flags)
    builder = CircuitBuilder(sites, gate="S")
    append_double_cat_check(builder, code)
    numbers = numbered(sites)
    # In the proxy, the rotations turn X into Y, and into -Y where they are the opposite ones.
    sign = "-" if len(opposite_rotation_sites(code)) % 2 else ""
    logical = sign + pauli_product("Y", code.data, numbers)
    assert builder.circuit.has_flow(stim.Flow(f"{logical} -> rec[0]"))
    for tile in code.tiles:
        z_check = pauli_product("Z", tile.data, numbers)
        assert builder.circuit.has_flow(stim.Flow(f"{z_check} -> {z_check}"))
        # -1 instead of +1 on the root leaves a Z there.
        x_check = pauli_product("X", tile.data, numbers)
        flipped = " xor rec[0]" if tree.root in tile.data else ""
        assert builder.circuit.has_flow(stim.Flow(f"{x_check} -> {x_check}{flipped}"))


@pytest.mark.parametrize("distance", [5, 7])
def test_growth_keeps_the_state_and_makes_all_checks_plus_one(distance: int) -> None:
    small, large = ColorCode.triangular(distance - 2), ColorCode.triangular(distance)
    builder = CircuitBuilder(large.sites())
    append_growth(builder, small, large)
    circuit = builder.circuit
    numbers = numbered(large.sites())
    # Each of the six or nine Bell pairs has XX = ZZ = +1 and YY = -1.
    signs = {"X": "", "Y": "-" if (len(large.data) - len(small.data)) // 2 % 2 else "", "Z": ""}
    pairs = [(small.data, large.data, pauli) for pauli in "XYZ"]
    old = {tile.x_ancilla: tile.data for tile in small.tiles}
    pairs += [(old.get(tile.x_ancilla, ()), tile.data, pauli) for tile in large.tiles for pauli in "XZ"]
    for before, after, pauli in pairs:
        start = pauli_product(pauli, before, numbers) or "1"
        sign = signs[pauli] if after == large.data else ""
        flow = f"{start} -> {sign}{pauli_product(pauli, after, numbers)}"
        [records] = circuit.solve_flow_measurements([stim.Flow(flow)])
        assert records is not None
        # Outcomes that a detector checks are 0 in a kept shot.
        assert checked_records(circuit).issuperset(records)
        assert circuit.has_flow(stim.Flow("".join([flow, *(f" xor rec[{record}]" for record in records)])))


def checked_records(circuit: stim.Circuit) -> set[int]:
    """Measurements that are a detector on their own."""
    found = set()
    num_measured = 0
    for instruction in circuit:
        num_measured += instruction.num_measurements
        if instruction.name == "DETECTOR":
            [target] = instruction.targets_copy()
            found.add(num_measured + target.value)
    return found


@pytest.mark.parametrize(("distance", "expected"), [(5, 4), (7, 4 + 6)])
def test_growth_has_four_and_then_six_random_outcomes(distance: int, expected: int) -> None:
    circuit = cultivation_circuit(distance, gate="S", noise="none")
    assert circuit.num_measurements - circuit.num_detectors == expected + 1  # and the logical one
    shots = circuit.compile_sampler(seed=1).sample(100)
    assert shots.any(axis=0).sum() == expected
    assert 30 < shots[:, shots.any(axis=0)].mean() * 100 < 70


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


@pytest.mark.parametrize("injection", INJECTION_CHOICES)
@pytest.mark.parametrize("distance", AVAILABLE_DISTANCES)
def test_proxy_is_deterministic(distance: int, injection: str) -> None:
    circuit = cultivation_circuit(distance, p=1e-3, injection=injection)
    circuit.detector_error_model()  # raises if a detector or the observable is random
    detectors, observables = circuit.reference_detector_and_observable_signs()
    assert not detectors.any()
    assert not observables.any()


@pytest.mark.parametrize("noise", ["uniform", "none"])
@pytest.mark.parametrize("injection", INJECTION_CHOICES)
@pytest.mark.parametrize(
    ("distance", "options"),
    [
        *((distance, {}) for distance in AVAILABLE_DISTANCES),
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
