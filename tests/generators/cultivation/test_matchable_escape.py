"""The escape into a surface code: the grafted code, what its circuit checks and keeps, and how it decodes."""

import functools
from itertools import combinations

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import GateChoice, VariantChoice, end_to_end_circuit
from stim_nonclifford.generators.cultivation.color_code import Coord
from stim_nonclifford.generators.cultivation.matchable.grafted_code import GraftedCode
from stim_nonclifford.generators.cultivation.matchable.grafts import GRAFTS
from stim_nonclifford.generators.cultivation.matchable.surface_patch import Face, SurfacePatch, fitted_moments
from stim_nonclifford.generators.cultivation.protocol import build_noiseless
from stim_nonclifford.rates.decoding.matching.desaturated_gap import DesaturatedGapDecoder
from stim_nonclifford.rates.decoding.matching.detector_kinds import detector_kinds

from ...support.laws.exact import rank
from .test_cultivation_circuits import assert_nearest_neighbours
from .test_cultivation_end_to_end import faults, without_logical_x

pytestmark = pytest.mark.filterwarnings("ignore::stim_nonclifford.RandomObservableWarning")

matchable = functools.partial(end_to_end_circuit, escape="matchable", readout="expectation_values")

NOISE = ("DEPOLARIZE1", "DEPOLARIZE2", "X_ERROR", "Z_ERROR")

Checks = dict[str, list[frozenset[Coord]]]


def patch_checks(cultivated: int, distance: int) -> tuple[Checks, Checks]:
    """The checks of the surface code, and a logical operator of each basis."""
    patch = SurfacePatch.rotated(distance, GRAFTS[cultivated].tip)
    checks = {basis: [frozenset(f.data) for f in patch.faces if f.basis == basis] for basis in "XZ"}
    return checks, {"X": [frozenset(patch.logical_x)], "Z": [frozenset(patch.logical_z)]}


def grafted_checks(cultivated: int, distance: int) -> tuple[Checks, Checks]:
    """The checks of the grafted code, and logical operators that extend those of the color code."""
    code = GraftedCode.of_distances(cultivated, distance)
    place = {move.target: move.origin for move in (*code.graft.apex_moves, *code.graft.tip_moves)}
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
    long = {"X": code.patch.logical_x[cultivated:], "Z": code.patch.logical_z[cultivated:]}
    return checks, {basis: [frozenset([*bottom, *long[basis]])] for basis in "XZ"}


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
@pytest.mark.parametrize(("cultivated", "distance"), [(3, 5), (3, 7), (5, 9), (5, 11)])
def test_code_has_one_logical_qubit_and_its_distance(code: object, cultivated: int, distance: int) -> None:
    checks, logical = code(cultivated, distance)  # type: ignore[operator]
    data = sorted({site for rows in checks.values() for row in rows for site in row})
    bit = {site: 1 << k for k, site in enumerate(data)}
    assert all(len(x & z) % 2 == 0 for x in checks["X"] for z in checks["Z"])
    assert len(data) - sum(rank(sum(bit[s] for s in row) for row in checks[b]) for b in "XZ") == 1
    [x], [z] = logical["X"], logical["Z"]
    assert len(x & z) % 2 == 1
    assert all(len(x & row) % 2 == 0 for row in checks["Z"])
    assert all(len(z & row) % 2 == 0 for row in checks["X"])
    assert shortest_logical(checks["Z"], z, data) == shortest_logical(checks["X"], x, data) == distance


def test_faces_give_way_to_busy_sites() -> None:
    face = Face((1, 0), ((0, 0), (1, -1), (1, 1), (2, 0)))
    [*moments] = fitted_moments([face], [[(1, -1)], [(1, -1)], [], []])
    order = [target for moment in moments for _, target in moment]
    assert sorted(order) == sorted(face.data)
    assert (1, -1) in order[2:]
    with pytest.raises(ValueError, match="does not fit in"):
        fitted_moments([face], [[(1, -1)]] * 4)


@pytest.mark.parametrize("gate", ["T", "S"])
@pytest.mark.parametrize(
    ("cultivated", "distance", "rounds", "variant"),
    [(3, 5, 1, "published"), (3, 7, 2, "published"), (5, 9, 1, "flagged"), (5, 11, 2, "published")],
)
def test_noiseless_circuit_gives_the_wanted_state(
    cultivated: int, distance: int, rounds: int, variant: VariantChoice, gate: GateChoice
) -> None:
    build = functools.partial(
        matchable, cultivated, distance, gate=gate, noise="none", rounds=rounds, variant=variant
    )
    circuit = snc.Circuit(build())
    dets, _, values = circuit.compile_detector_sampler(seed=1).sample_expectation_values(64)
    assert not dets.any()
    wanted = {"T": [0.5**0.5, 0.5**0.5], "S": [0.0, 1.0]}[gate]
    np.testing.assert_allclose(values, np.broadcast_to(wanted, (64, 2)), atol=1e-9)
    read = snc.Circuit(build(readout="T"))
    dets, flips = read.compile_detector_sampler(seed=1).sample(64, separate_observables=True)
    assert not dets.any()
    assert not flips.any()


@pytest.mark.parametrize(("cultivated", "distance"), [(3, 5), (5, 9)])
def test_all_that_is_known_has_a_detector(cultivated: int, distance: int) -> None:
    circuit = matchable(cultivated, distance, gate="S", noise="none", rounds=2, readout="T")
    assert not circuit.missing_detectors()


@pytest.mark.parametrize(("cultivated", "size"), [(3, (449, 109)), (5, (450, 180))])
def test_neighbours_qubits_and_moments(cultivated: int, size: tuple[int, int]) -> None:
    """The published circuits into d2 = 15 have 454 and 463 qubits, 129 and 199 moments, with as many cycles."""
    circuit = matchable(cultivated, 15, noise="none", rounds=6)
    assert (circuit.num_qubits, circuit.num_ticks) == size
    assert_nearest_neighbours(circuit)


def proxy(cultivated: int, distance: int, rounds: int) -> stim.Circuit:
    """The S-proxy without observable 0, logical X, which is random."""
    return without_logical_x(matchable(cultivated, distance, gate="S", rounds=rounds))


def test_every_two_faults_are_seen_and_the_rest_is_matched() -> None:
    circuit = proxy(3, 5, 2)
    model = circuit.detector_error_model()
    kinds = detector_kinds(model)
    mask = DesaturatedGapDecoder().postselected_detectors(model)
    # Twenty in cultivation but the last seven, and six tiles in each of two cycles.
    assert mask.tolist() == [kind.postselected for kind in kinds]
    assert mask.sum() == 26
    flips_of: dict[frozenset[int], set[bool]] = {}
    for detectors, flips, _ in faults(model):
        flips_of.setdefault(detectors, set()).add(bool(flips))
        if not mask[list(detectors)].any():
            assert all(sum(kinds[k].basis == basis for k in detectors) <= 2 for basis in "XZ")
    # Fewer than three faults flip no observable unseen.
    assert flips_of.get(frozenset(), {False}) == {False}
    assert all(len(flips) == 1 for flips in flips_of.values())


def test_decoder_knows_the_extended_checks() -> None:
    """Two faults leave an extended check silent, and look like one: if the decoder is wrong, it is not sure."""
    model = proxy(3, 7, 1).detector_error_model()
    decoder = DesaturatedGapDecoder()
    kinds, mask = detector_kinds(model), decoder.postselected_detectors(model)
    known = {k for k, kind in enumerate(kinds) if kind.postselected and kind.basis is not None}
    assert len(known) == 4
    errors = {
        detectors: bool(observables)
        for detectors, observables, _ in faults(model)
        if known & detectors and len(detectors) <= 2 and not mask[list(detectors - known)].any()
    }
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
    assert gaps[wrong].max() < 45


def test_every_three_faults_of_distance_five_are_seen() -> None:
    """With all detectors, S gates and no noise before the escape."""
    circuit = matchable(5, 9, gate="S", rounds=1, readout="T")
    last_cat_check = build_noiseless(5).stages[-1].first_moment
    quiet, moment = stim.Circuit(), 0
    for instruction in circuit:
        moment += instruction.name == "TICK"
        if moment >= last_cat_check or instruction.name not in NOISE:
            arguments = instruction.gate_args_copy() if moment >= last_cat_check else []
            quiet.append(instruction.name, instruction.targets_copy(), arguments)
    found = quiet.search_for_undetectable_logical_errors(
        dont_explore_detection_event_sets_with_size_above=4,
        dont_explore_edges_with_degree_above=5,
        dont_explore_edges_increasing_symptom_degree=False,
    )
    assert len(found) == 4


def test_distance_five_decodes() -> None:
    model = proxy(5, 9, 2).detector_error_model()
    kinds, mask = detector_kinds(model), DesaturatedGapDecoder().postselected_detectors(model)
    # None but those that say so: errors between two others flip no observable.
    assert mask.tolist() == [kind.postselected for kind in kinds]
    # 89 in cultivation, 4 helpers in each round, and 18 tiles in the first one, then 6.
    assert mask.sum() == 89 + 3 * 4 + 18 + 2 * 6
    errors = matched = 0
    for detectors, _, _ in faults(model):
        if not mask[list(detectors)].any():
            errors += 1
            matched += all(sum(kinds[k].basis == basis for k in detectors) <= 2 for basis in "XZ")
    assert 0.99 < matched / errors <= 1
    decoder = DesaturatedGapDecoder().compile_decoder_for_dem(dem=model)
    sampler = proxy(5, 9, 2).compile_detector_sampler(seed=3)
    dets, flips = sampler.sample(20_000, bit_packed=True, separate_observables=True)
    kept = ~(dets & np.packbits(mask, bitorder="little")).any(axis=1)
    predictions, gaps = decoder.decode_shots_bit_packed_with_confidence(
        bit_packed_detection_event_data=dets[kept]
    )
    wrong = ((predictions ^ flips[kept]) & 2).any(axis=1)
    assert 0.04 < kept.mean() < 0.07
    assert wrong.sum() < 10
    assert gaps.max() > 50
    assert not wrong[gaps > 50].any()


def test_refused_distances() -> None:
    with pytest.raises(
        ValueError, match=r"starts from distance 3 or 5, but distance is 7\. Choose one of th"
    ):
        end_to_end_circuit(7, 11, escape="matchable")
    with pytest.raises(
        ValueError, match=r"from distance 5 needs an escape_distance of at least 9, but it is 7"
    ):
        end_to_end_circuit(5, 7, escape="matchable")
