"""The escape into a surface code: the grafted code, what its circuit checks and keeps, and how it decodes."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.commands import main
from stim_nonclifford.generators.cultivation import GateChoice, end_to_end_circuit
from stim_nonclifford.generators.cultivation.color_code import ColorCode, Coord, adjacent
from stim_nonclifford.generators.cultivation.matchable.grafted_code import (
    SEAM_MOVES,
    TIP_MOVES,
    GraftedCode,
)
from stim_nonclifford.generators.cultivation.matchable.surface_patch import Face, SurfacePatch, fitted_moments
from stim_nonclifford.rates.decoding.desaturation.desaturated_gap import DesaturatedGapDecoder
from stim_nonclifford.rates.decoding.desaturation.detector_kinds import detector_kinds

pytestmark = pytest.mark.filterwarnings("ignore::stim_nonclifford.RandomObservableWarning")

matchable = functools.partial(end_to_end_circuit, escape="matchable", readout="expectation_values")

Checks = dict[str, list[frozenset[Coord]]]


def patch_checks(distance: int) -> tuple[Checks, Checks]:
    """The checks of the surface code, and a logical operator of each basis."""
    patch = SurfacePatch.rotated(distance)
    checks = {basis: [frozenset(f.data) for f in patch.faces if f.basis == basis] for basis in "XZ"}
    return checks, {"X": [frozenset(patch.logical_x)], "Z": [frozenset(patch.logical_z)]}


def grafted_checks(distance: int) -> tuple[Checks, Checks]:
    """The checks of the grafted code, and logical operators that extend those of the color code."""
    code = GraftedCode.of_distance(distance)
    place = {move.target: move.origin for move in (*SEAM_MOVES, *TIP_MOVES)}
    faces = (*code.faces, *code.seam_faces)
    checks = {
        basis: [
            *(frozenset(tile.data) for tile in (code.x_tiles if basis == "X" else code.z_tiles)),
            *(
                frozenset(place.get(site, site) for site in face.data)
                for face in faces
                if face.basis == basis
            ),
        ]
        for basis in "XZ"
    }
    bottom = [site for site in code.color_code.data if site[1] == 0]
    long = {"X": code.patch.logical_x[3:], "Z": code.patch.logical_z[3:]}
    return checks, {basis: [frozenset([*bottom, *long[basis]])] for basis in "XZ"}


def rank(rows: Iterable[int]) -> int:
    pivots: dict[int, int] = {}
    for row in rows:
        while row and row.bit_length() in pivots:
            row ^= pivots[row.bit_length()]
        if row:
            pivots[row.bit_length()] = row
    return len(pivots)


def shortest_logical(checks: list[frozenset[Coord]], logical: frozenset[Coord], data: list[Coord]) -> int:
    """The least number of errors that flip a logical operator and no check; errors flip any number of checks."""
    product = {site: k for k, site in enumerate(data)}
    circuit = stim.Circuit()
    circuit.append("X_ERROR", range(len(data)), 0.1)
    for sites in (*checks, logical):
        circuit.append("MPP", stim.target_combined_paulis([stim.target_z(product[s]) for s in sorted(sites)]))
    for k in range(len(checks)):
        circuit.append("DETECTOR", [stim.target_rec(k - len(checks) - 1)])
    circuit.append("OBSERVABLE_INCLUDE", [stim.target_rec(-1)], 0)
    found = circuit.search_for_undetectable_logical_errors(
        dont_explore_detection_event_sets_with_size_above=6,
        dont_explore_edges_with_degree_above=9,
        dont_explore_edges_increasing_symptom_degree=False,
    )
    return len(found)


@pytest.mark.parametrize("code", [patch_checks, grafted_checks])
@pytest.mark.parametrize("distance", [5, 7])
def test_code_has_one_logical_qubit_and_its_distance(code: object, distance: int) -> None:
    checks, logical = code(distance)  # type: ignore[operator]
    data = sorted({site for rows in checks.values() for row in rows for site in row})
    bit = {site: 1 << k for k, site in enumerate(data)}
    assert all(len(x & z) % 2 == 0 for x in checks["X"] for z in checks["Z"])
    assert len(data) - sum(rank(sum(bit[s] for s in row) for row in checks[b]) for b in "XZ") == 1
    [x], [z] = logical["X"], logical["Z"]
    assert len(x & z) % 2 == 1
    assert all(len(x & row) % 2 == 0 for row in checks["Z"])
    assert all(len(z & row) % 2 == 0 for row in checks["X"])
    assert shortest_logical(checks["Z"], z, data) == shortest_logical(checks["X"], x, data) == distance


def test_small_set_of_errors_is_found_in_the_graft() -> None:
    """The distance of the color code alone, by trying all sets: what `shortest_logical` must find, too."""
    code = ColorCode.triangular(3)
    checks, logical = [frozenset(tile.data) for tile in code.tiles], frozenset(code.data)
    least = next(
        size
        for size in range(1, 8)
        for errors in combinations(code.data, size)
        if size % 2 and all(len(check.intersection(errors)) % 2 == 0 for check in checks)
    )
    assert shortest_logical(checks, logical, list(code.data)) == least == 3


def test_faces_give_way_to_busy_sites() -> None:
    face = Face((1, 0), ((0, 0), (1, -1), (1, 1), (2, 0)))
    [*moments] = fitted_moments([face], [[(1, -1)], [(1, -1)], [], []])
    order = [target for moment in moments for _, target in moment]
    assert sorted(order) == sorted(face.data)
    assert (1, -1) in order[2:]
    with pytest.raises(ValueError, match="does not fit in"):
        fitted_moments([face], [[(1, -1)]] * 4)


@pytest.mark.parametrize("gate", ["T", "S"])
@pytest.mark.parametrize(("distance", "rounds"), [(5, 1), (7, 2)])
def test_noiseless_circuit_gives_the_wanted_state(distance: int, rounds: int, gate: GateChoice) -> None:
    stim_circuit = matchable(3, distance, gate=gate, noise="none", rounds=rounds)
    circuit = snc.Circuit(stim_circuit)
    dets, _, values = circuit.compile_detector_sampler(seed=1).sample_expectation_values(64)
    assert not dets.any()
    wanted = {"T": [0.5**0.5, 0.5**0.5], "S": [0.0, 1.0]}[gate]
    np.testing.assert_allclose(values, np.broadcast_to(wanted, (64, 2)), atol=1e-9)
    read = snc.Circuit(
        end_to_end_circuit(3, distance, gate=gate, noise="none", rounds=rounds, escape="matchable")
    )
    dets, flips = read.compile_detector_sampler(seed=1).sample(64, separate_observables=True)
    assert not dets.any()
    assert not flips.any()


def test_neighbours_qubits_and_moments() -> None:
    """The published circuit of the same distances and as many cycles has 454 qubits and 129 moments."""
    circuit = matchable(3, 15, noise="none", rounds=6)
    assert (circuit.num_qubits, circuit.num_ticks) == (449, 117)
    site = {qubit: (int(x), int(y)) for qubit, (x, y) in circuit.get_final_qubit_coordinates().items()}
    for instruction in circuit:
        if instruction.name == "CX":
            for control, target in instruction.target_groups():
                if not control.is_measurement_record_target:
                    assert adjacent(site[control.value], site[target.value])


def proxy(distance: int, rounds: int) -> stim.Circuit:
    """The S-proxy without observable 0, logical X, which is random."""
    found = stim.Circuit()
    for instruction in matchable(3, distance, gate="S", rounds=rounds):
        if instruction.name != "OBSERVABLE_INCLUDE" or instruction.gate_args_copy() == [1]:
            found.append(instruction)
    return found


def test_every_two_faults_are_seen_and_the_rest_is_matched() -> None:
    circuit = proxy(5, 2)
    model = circuit.detector_error_model()
    kinds = detector_kinds(model)
    mask = DesaturatedGapDecoder().postselected_detectors(model)
    # Twenty in cultivation but the last seven, and six tiles in each of two cycles.
    assert mask.tolist() == [kind.postselected for kind in kinds]
    assert mask.sum() == 26
    flips_of: dict[frozenset[int], set[bool]] = {}
    for error in model.flattened():
        if error.type == "error":
            targets = error.targets_copy()
            detectors = frozenset(t.val for t in targets if t.is_relative_detector_id())
            flips_of.setdefault(detectors, set()).add(len(detectors) < len(targets))
            if not mask[list(detectors)].any():
                assert all(sum(kinds[k].basis == basis for k in detectors) <= 2 for basis in "XZ")
    # Fewer than three faults flip no observable unseen.
    assert flips_of.get(frozenset(), {False}) == {False}
    assert all(len(flips) == 1 for flips in flips_of.values())


def test_decoder_knows_the_extended_checks() -> None:
    """Two faults leave an extended check silent, and look like one: if the decoder is wrong, it is not sure."""
    model = proxy(7, 1).detector_error_model()
    decoder = DesaturatedGapDecoder()
    kinds, mask = detector_kinds(model), decoder.postselected_detectors(model)
    known = {k for k, kind in enumerate(kinds) if kind.postselected and kind.basis is not None}
    assert len(known) == 4
    errors: dict[frozenset[int], bool] = {}
    for error in model.flattened():
        if error.type == "error":
            targets = error.targets_copy()
            detectors = frozenset(t.val for t in targets if t.is_relative_detector_id())
            if known & detectors and len(detectors) <= 2 and not mask[list(detectors - known)].any():
                errors[detectors] = len(detectors) < len(targets)
    rows, flips = [], []
    for a, b in combinations(errors, 2):
        if a & b & known and not known & (a ^ b):
            rows.append([k in a ^ b for k in range(model.num_detectors)])
            flips.append(errors[a] != errors[b])
    assert len(rows) > 20
    packed = np.packbits(np.array(rows), axis=1, bitorder="little")
    compiled = decoder.compile_decoder_for_dem(dem=model)
    found, gaps = compiled.decode_shots_bit_packed_with_confidence(bit_packed_detection_event_data=packed)
    wrong = (found[:, 0] >> 1 & 1) != flips
    assert 0 < wrong.sum() < len(rows) / 2
    print(len(rows), wrong.sum(), gaps[wrong].max(), gaps.max())
    assert gaps[wrong].max() < 45


def test_only_distance_three_can_be_grafted() -> None:
    with pytest.raises(
        ValueError, match=r"starts from distance 3, but distance is 5\. Choose distance=3 or esc"
    ):
        end_to_end_circuit(5, 9, escape="matchable")


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["generate", "cultivation", "--p", "0.001", "--out_dir", str(tmp_path)]
    assert main([*arguments, "--d2", "5", "--escape", "matchable", "--rounds", "1"]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path.name == (
        "c=inject+cultivate+escape,d=3,d2=5,g=T,noise=uniform,p=0.001,post=0,r=1,readout=T,escape=matchable.stim"
    )
    assert stim.Circuit.from_file(path) == end_to_end_circuit(3, 5, 1e-3, rounds=1, escape="matchable")
    assert main([*arguments, "--escape", "matchable"]) == 2
    assert "--escape is for circuits with an escape" in capsys.readouterr().err
