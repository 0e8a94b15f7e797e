"""Matching after desaturation: pairs of errors that flip the same postselected detector are explained."""

from __future__ import annotations

import numpy as np
import pytest
import stim

from examples.desaturation import DesaturatedDecoder, errors, hidden_detectors, kinds, matchable
from sinter_plugin import MatchingGapDecoder

# Red, green and blue X detectors of the color code, and one more of the surface code and of cultivation.
COORDINATES = """
    detector(0, 0, 0, 0, 0) D0
    detector(1, 0, 0, 0, 1) D1
    detector(2, 0, 0, 0, 2) D2
    detector(3, 0, 0, 0, 2) D3
    detector(4, 0, 0, 0, 6) D4
    detector(5, 0, 0) D5
"""
MODEL = stim.DetectorErrorModel(
    "error(0.01) D0 D1 D2\nerror(0.01) D0 D1 D3\nerror(0.001) D2 L0\nerror(0.001) D3\nerror(0.001) D4 D5\n"
    + COORDINATES
)


def test_kinds_and_errors() -> None:
    assert kinds(MODEL) == {0: 0, 1: 1, 2: 2, 3: 2, 4: 6, 5: -9}
    assert list(errors(stim.DetectorErrorModel("error(0.1) D0 D1 ^ D1 D2 L0"))) == [
        (0.1, frozenset({0, 2}), True)
    ]


def test_hidden_detectors() -> None:
    assert hidden_detectors(MODEL) == {5}
    assert hidden_detectors(MODEL + stim.DetectorErrorModel("error(0.001) D3 D4 L0")) == {3, 4, 5}


def test_two_errors_that_flip_the_same_two_detectors_are_a_path() -> None:
    """D2 and D3 fire, by both of the first errors, or by both of the next, which are less likely."""
    events = np.array([[0b1100]], dtype=np.uint8)
    decoder = DesaturatedDecoder().compile_decoder_for_dem(dem=MODEL)
    predictions, gaps = decoder.decode_shots_bit_packed_with_confidence(
        bit_packed_detection_event_data=events
    )
    assert predictions.tolist() == [[0]]
    assert gaps[0] == pytest.approx(20 * np.log10(999 / 99), rel=1e-3)
    np.testing.assert_array_equal(
        decoder.decode_shots_bit_packed(bit_packed_detection_event_data=events), predictions
    )
    conditioned = stim.DetectorErrorModel("error(0.001) D2 L0\nerror(0.001) D3\nerror(1e-9) D2")
    matching = MatchingGapDecoder().compile_decoder_for_dem(dem=conditioned)
    assert matching.decode_shots_bit_packed(bit_packed_detection_event_data=events).tolist() == [[1]]


def test_the_graph_has_a_node_for_each_pair() -> None:
    graph = matchable(MODEL)
    # D0 D1, D0 D2, D1 D2, D0 D3 and D1 D3; what flips a hidden detector is left out.
    assert graph.num_detectors == 6 + 5
    assert len([error for error in errors(graph) if len(error[1]) == 2]) == 6
    both_bases = stim.DetectorErrorModel(
        "error(0.01) D0 D1\nerror(0.01) D2 D3\nerror(0.01) D0 D1 D2 D3\n"
        "error(0.01) D0 D1 D2 D3 L0\nerror(0.01) D0 L0\n"
        "detector(0, 0, 0, 0, 6) D0\ndetector(0, 0, 0, 0, 6) D1\n"
        "detector(0, 0, 0, 0, 7) D2\ndetector(0, 0, 0, 0, 7) D3"
    )
    found = [(sorted(detectors), flips) for _, detectors, flips in errors(matchable(both_bases))]
    # The fourth error is not the sum of its halves.
    assert found == [([0, 1], False), ([2, 3], False), ([0, 1], False), ([2, 3], False), ([0], True)]
