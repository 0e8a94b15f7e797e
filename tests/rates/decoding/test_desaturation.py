"""Matching after desaturation: pairs of errors that flip the same postselected detector are explained."""

import itertools
import warnings
from pathlib import Path

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from sinter_plugin import DesaturatedGapDecoder, MatchingGapDecoder
from sinter_plugin.commands.end_to_end_circuits import with_observable_of_y
from stim_nonclifford.generators.cultivation import end_to_end_circuit
from stim_nonclifford.rates.decoding.matching.detector_kinds import DetectorKind, detector_kinds
from stim_nonclifford.rates.decoding.matching.matching_graph import model_errors
from stim_nonclifford.rates.decoding.matching.pair_graph import basis_graphs, hidden_detectors

from ...support.published_circuits import FOLDER, needs_published
from ...support.rates.pair_model import pair_model

# Red, green and blue X detectors of the color code, and one more of the surface code and of cultivation.
COORDINATES = """
    detector(0, 0, 0, 0, 0) D0
    detector(1, 0, 0, 1, 1) D1
    detector(2, 0, 0, 2, 2) D2
    detector(3, 0, 0, 2, 2) D3
    detector(4, 0, 0, 0, 6) D4
    detector(5, 0, 0) D5
"""
MODEL = stim.DetectorErrorModel(
    "error(0.01) D0 D1 D2\nerror(0.01) D0 D1 D3\nerror(0.001) D2 L0\nerror(0.001) D3\nerror(0.001) D4 D5\n"
    + COORDINATES
)
SEAM = stim.DetectorErrorModel("error(0.001) D3 D4 L0")
CONFIDENT = "decode_shots_bit_packed_with_confidence"


def decoded(decoder: object, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The predictions and gaps of a compiled decoder."""
    predictions, gaps = getattr(decoder, CONFIDENT)(bit_packed_detection_event_data=rows)
    return predictions, gaps


def test_kinds_of_grafted_codes() -> None:
    assert detector_kinds(MODEL) == [
        DetectorKind("X", 0, True),
        DetectorKind("X", 1, False),
        *2 * [DetectorKind("X", 2, False)],
        DetectorKind("X", None, False),
        DetectorKind(None, None, True),
    ]
    of_cultivation = stim.DetectorErrorModel("detector(0, 0, 0, -1, -9) D0\ndetector(0, 0, 0, 3, 7) D1")
    assert detector_kinds(of_cultivation) == [
        DetectorKind(None, None, True),
        DetectorKind("Z", None, False),
    ]


def test_kinds_of_color_codes() -> None:
    places = [(color, postselect) for postselect in (0, 1) for color in range(6)] + [(-1, 1)]
    text = "\n".join(f"detector(0, 0, 0, {c}, {post}) D{k}" for k, (c, post) in enumerate(places))
    unknown = DetectorKind(None, None, True)
    assert detector_kinds(stim.DetectorErrorModel(text)) == [
        *(DetectorKind("X", color, color == 0) for color in range(3)),
        *(DetectorKind("Z", color, color == 1) for color in range(3)),
        *7 * [unknown],
    ]


def test_both_ends_of_an_error_where_codes_are_joined_are_postselected() -> None:
    postselected = DesaturatedGapDecoder().postselected_detectors
    assert np.flatnonzero(postselected(MODEL)).tolist() == [0, 5]
    assert np.flatnonzero(postselected(MODEL + SEAM)).tolist() == [0, 3, 4, 5]
    assert hidden_detectors(model_errors(MODEL + SEAM), detector_kinds(MODEL)) == {3, 4, 5}


def test_two_errors_that_flip_the_same_two_detectors_are_a_path() -> None:
    """D2 and D3 fire, by both of the first errors, or by both of the next, which are less likely."""
    events = np.array([[0b1100]], dtype=np.uint8)
    decoder = DesaturatedGapDecoder().compile_decoder_for_dem(dem=MODEL)
    predictions, gaps = decoded(decoder, events)
    assert predictions.tolist() == [[0]]
    assert gaps[0] == pytest.approx(20 * np.log10(999 / 99), rel=1e-3)
    np.testing.assert_array_equal(
        decoder.decode_shots_bit_packed(bit_packed_detection_event_data=events), predictions
    )
    conditioned = stim.DetectorErrorModel("error(0.001) D2 L0\nerror(0.001) D3\nerror(1e-9) D2")
    matching = MatchingGapDecoder().compile_decoder_for_dem(dem=conditioned)
    assert matching.decode_shots_bit_packed(bit_packed_detection_event_data=events).tolist() == [[1]]


def test_a_postselected_detector_that_fires_is_refused() -> None:
    decoder = DesaturatedGapDecoder().compile_decoder_for_dem(dem=MODEL)
    with pytest.raises(ValueError, match=r"D5 fires, but desaturation postselects it\. .*soft_desaturated"):
        decoded(decoder, np.array([[0], [0b100000]], dtype=np.uint8))


def random_grafted_model(rng: np.random.Generator) -> stim.DetectorErrorModel:
    """Errors of one and of both bases, on 12 detectors of all kinds; likely and unlikely."""
    kinds = [(0, 0), (1, 1), (1, 1), (2, 2), (2, 2), (0, 6), (3, 3), (4, 4), (5, 5), (3, 3), (3, 7), (-1, -9)]
    text = "\n".join(f"detector(0, 0, 0, {a}, {b}) D{k}" for k, (a, b) in enumerate(kinds))
    model = stim.DetectorErrorModel(f"{text}\nlogical_observable L0")
    halves: list[list[str]] = []
    for first in (0, 6):
        known = range(first, first + (6 if first == 0 else 5))
        sizes = rng.choice([2, 3, 3, 4], size=9)
        halves.append([" ".join(f"D{k}" for k in sorted(rng.choice(known, n, replace=False))) for n in sizes])
        halves[-1] += [f"D{first + 1}", f"D{first + 2}", f"D{first + 3}"]
        halves[-1] += [f"D{k} D{k + 1}" for k in known[:-1]]
        for half in halves[-1]:
            # Flips end at a boundary, so that the ends of few errors are hidden.
            flips = " L0" * (half == f"D{first + 2}" or (half.count(" ") > 1 and rng.random() < 0.05))
            probability = float(rng.choice([1e-4, 1e-3, 0.01, 0.3]))
            model += stim.DetectorErrorModel(f"error({probability!r}) {half}{flips}")
    for x, z in itertools.product(*halves):
        if rng.random() < 0.3:
            flips = " L0" * (rng.random() < 0.3)
            model += stim.DetectorErrorModel(f"error({float(rng.choice([1e-3, 0.01]))!r}) {x} ^ {z}{flips}")
    return model + stim.DetectorErrorModel("error(0.001) D3 D11")


def assert_same_answers(model: stim.DetectorErrorModel, rows: np.ndarray) -> np.ndarray:
    """Compares with one graph for both bases; returns the gaps."""
    pairs = pair_model(model)
    longer = np.zeros((len(rows), -(-pairs.num_detectors // 8)), dtype=np.uint8)
    longer[:, : rows.shape[1]] = rows
    expected = decoded(MatchingGapDecoder().compile_decoder_for_dem(dem=pairs), longer)
    found = decoded(DesaturatedGapDecoder().compile_decoder_for_dem(dem=model), rows)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-3)
    sure = expected[1] > 1e-3
    np.testing.assert_array_equal(found[0][sure], expected[0][sure])
    return found[1]


def test_answers_are_those_of_one_graph_for_both_bases() -> None:
    """40 models of seeds [7, 0], [7, 1], ...: all rows of events in which no postselected detector fires."""
    compared = 0
    for k in range(40):
        model = random_grafted_model(np.random.default_rng([7, k]))
        silent = np.flatnonzero(DesaturatedGapDecoder().postselected_detectors(model))
        numbers = np.arange(1 << 12, dtype="<u2")
        rows = numbers[(numbers & np.bitwise_or.reduce(1 << silent)) == 0].view(np.uint8).reshape(-1, 2)
        compared += len(assert_same_answers(model, rows))
    assert compared > 10_000


@pytest.mark.slow
@needs_published
@pytest.mark.parametrize(("name", "shots"), [("e2e_t_d3_p1e-3", 4000), ("e2e_t_d5_p1e-3", 10_000)])
def test_published_circuits_row_by_row(name: str, shots: int) -> None:
    text = Path(FOLDER / f"{name}.stim").read_text(encoding="utf-8")
    circuit = snc.Circuit(with_observable_of_y(text).s_proxy())
    model = circuit.detector_error_model(approximate_disjoint_errors=True)
    mask = DesaturatedGapDecoder().postselected_detectors(model)
    rows = circuit.compile_detector_sampler(seed=5, postselection_mask=mask).sample_kept(shots).dets
    assert len(rows) > 300
    assert assert_same_answers(model, rows).max() > 60


def color_code_model(escape_distance: int) -> stim.DetectorErrorModel:
    circuit = end_to_end_circuit(
        3, escape_distance, 1e-3, postselected_rounds=1, rounds=1, readout="expectation_values"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", snc.InexactErrorModelWarning)
        return snc.Circuit(circuit).detector_error_model(kind="noise_only", approximate_disjoint_errors=True)


def test_a_color_code_becomes_a_surface_code() -> None:
    """Single errors are corrected, and so are most pairs that leave the same postselected detector silent.

    With one postselected round, a few errors of the escape are as likely as others that differ by a logical
    operator. The gap finds them: errors with a gap of at least 30 dB are corrected. Seed 3 draws the pairs.
    """
    model = color_code_model(7)
    mask = DesaturatedGapDecoder().postselected_detectors(model)
    kinds, errors = detector_kinds(model), model_errors(model)
    decoder = DesaturatedGapDecoder().compile_decoder_for_dem(dem=model)
    for graph in basis_graphs(errors, kinds, hidden_detectors(errors, kinds)):
        assert len({kinds[k].color for k in graph.detectors if not mask[k]}) == 2
        assert graph.observables == (3 if kinds[graph.detectors[0]].basis == "X" else 2)

    def answers(chosen: list[tuple[frozenset[int], int]]) -> tuple[np.ndarray, np.ndarray]:
        """Whether each prediction is right, and the gaps."""
        rows = np.zeros((len(chosen), 8 * -(-model.num_detectors // 8)), dtype=np.bool_)
        for row, (detectors, _) in zip(rows, chosen, strict=True):
            row[[*detectors]] = True
        predictions, gaps = decoded(decoder, np.packbits(rows, axis=1, bitorder="little"))
        return predictions[:, 0] == [observables for _, observables in chosen], gaps

    kept = [(error.detectors, error.observables) for error in errors if not any(mask[[*error.detectors]])]
    right, gaps = answers(kept)
    assert len(kept) > 100
    assert right.mean() > 0.95
    assert right[gaps > 30].all()
    assert (gaps > 30).mean() > 0.85
    silencing: dict[int, list[int]] = {}
    for k, error in enumerate(errors):
        loud = [j for j in error.detectors if mask[j]]
        if len(loud) == 1 and kinds[loud[0]].basis is not None:
            silencing.setdefault(loud[0], []).append(k)
    rng = np.random.default_rng(3)
    drawn = [rng.choice(found, 2) for found in silencing.values() for _ in range(60) if len(found) > 1]
    pairs = [(errors[a], errors[b]) for a, b in drawn]
    right, gaps = answers([(a.detectors ^ b.detectors, a.observables ^ b.observables) for a, b in pairs])
    assert len(pairs) > 500
    assert right[gaps > 30].mean() > 0.95
