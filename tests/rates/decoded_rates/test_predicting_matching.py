"""A matching by distances predicts what PyMatching predicts, row by row, and leaves to it what it does not know."""

from __future__ import annotations

import numpy as np
import pymatching
import pytest
import sinter
import stim

import stim_nonclifford as snc
from benchmarks.rates.decoded_codes import toric_memory
from stim_nonclifford.rates.decoding import failure_test
from stim_nonclifford.rates.decoding.decoders import rate_decoder
from stim_nonclifford.rates.decoding.failure_test import FailureTest
from stim_nonclifford.rates.decoding.matching.pymatching_graph import PyMatchingGraph
from tests.support.rates.decoded_rate_cases import (
    model_of,
    random_rows,
    repetition_code,
    surface_code,
    two_codes,
)


def noisy_readout(distance: int, p: float) -> snc.Circuit:
    """Flips of equal probability: many matchings weigh the same."""
    text = f"R {' '.join(map(str, range(distance)))}\nX_ERROR({p}) {' '.join(map(str, range(distance)))}\n"
    text += f"M {' '.join(map(str, range(distance)))}\n"
    text += "".join(f"DETECTOR rec[{-k}] rec[{-k - 1}]\n" for k in range(1, distance))
    return snc.Circuit(text + "OBSERVABLE_INCLUDE(0) rec[-1]")


@pytest.mark.parametrize(
    ("circuit", "least_known"),
    [
        (surface_code(2e-3), 0.99),
        (surface_code(6e-3, distance=5), 0.99),
        (repetition_code(0.02, rounds=4), 0.95),
        (noisy_readout(8, 0.1), 0.3),
    ],
    ids=["d=3", "d=5", "repetition", "ties"],
)
def test_predictions_are_those_of_pymatching(
    circuit: snc.Circuit, least_known: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failure_test, "LISTED_BITS", 15)
    model = model_of(circuit)
    errors = circuit.detector_error_model(decompose_errors=True)
    decoder = rate_decoder("pymatching").predictor(errors)
    matching = PyMatchingGraph(errors).predicting_matching()
    assert matching is not None
    asked = 0

    def predict(dets: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
        nonlocal asked
        asked += len(dets)
        return decoder(dets)

    with_matching, without = FailureTest(model, predict, matching=matching), FailureTest(model, decoder)
    rng = np.random.default_rng(9)
    sizes = rng.integers(0, 9, size=3000)
    rows = random_rows(model, rng, sizes)
    expected = without.wrong(rows)
    assert 0.05 < expected.mean() < 0.95
    for _ in range(2):  # the second time from the table
        np.testing.assert_array_equal(with_matching.wrong(rows), expected)
    assert asked <= (1 - least_known) * len(rows)
    assert asked < with_matching.decoded <= without.decoded
    for test in (with_matching, without):
        found, gaps = test.answers(rows)
        np.testing.assert_array_equal(found, expected)
        assert not gaps.any()
    different, total = with_matching.differing()
    assert different == 0
    assert total > 5


def test_a_matching_that_predicts_something_else_is_found_out() -> None:
    circuit = surface_code(4e-3)
    errors = circuit.detector_error_model(decompose_errors=True)
    matching = PyMatchingGraph(errors).predicting_matching()
    assert matching is not None
    decoder = rate_decoder("pymatching").predictor(errors)
    test = FailureTest(
        model_of(circuit), lambda dets: (decoder(dets)[0] ^ 1, decoder(dets)[1]), matching=matching
    )
    rng = np.random.default_rng(2)
    test(random_rows(model_of(circuit), rng, np.full(3000, 3)))
    different, total = test.differing()
    assert different > 0
    assert total > 2


@pytest.mark.parametrize(
    ("circuit", "kept"),
    [
        (surface_code(2e-2), 16 / 24),
        (surface_code(8e-3, distance=5), 72 / 120),
        (snc.Circuit(toric_memory(3, 1e-2)), 2 / 3),
        (repetition_code(0.02, rounds=4), 1),
    ],
    ids=["d=3", "d=5", "toric", "repetition"],
)
def test_predictions_without_detectors_that_do_not_matter(circuit: snc.Circuit, kept: float) -> None:
    """Ties are broken in the same way, too."""
    errors = circuit.detector_error_model(decompose_errors=True)
    matters = PyMatchingGraph(errors).detectors_that_matter()
    assert matters.mean() == pytest.approx(kept)
    matching = pymatching.Matching.from_detector_error_model(errors)
    events = circuit.to_stim().compile_detector_sampler(seed=3).sample(20_000)
    assert (events & ~matters).any(axis=1).mean() > 0.5 or kept == 1
    np.testing.assert_array_equal(matching.decode_batch(events & matters), matching.decode_batch(events))


def test_detectors_matter_where_a_matching_may_be_missing() -> None:
    """Then PyMatching raises an error, and the user must see it."""
    text = "error(0.1) D0 L0\nerror(0.1) D0 D1\nerror(0.1) D2 D3"
    for more, expected in (
        ("", 2),
        ("error(0.1) D3 D2 D0", 2),
        ("error(0.1) D3 D4 D5", 6),
        ("error(0.1) D3", 2),
    ):
        model = stim.DetectorErrorModel(f"{text}\n{more}")
        matters = PyMatchingGraph(model).detectors_that_matter()
        assert matters.tolist() == [k < expected for k in range(model.num_detectors)], more


def test_where_there_is_none() -> None:
    errors = surface_code(3e-3).detector_error_model(decompose_errors=True)
    two = two_codes(1e-3).detector_error_model(decompose_errors=True)
    merged = stim.DetectorErrorModel("error(0.1) D0 D1 L0\nerror(0.1) D0 D1")
    likely = stim.DetectorErrorModel("error(0.1) D0 L0\nerror(0.7) D0 D1\nerror(0.1) D1")
    for model in (two, merged, likely):
        assert PyMatchingGraph(model).predicting_matching() is None
    assert rate_decoder("pymatching").compiled(errors).graph is not None
    for other in (
        rate_decoder("pymatching", confidence=True),
        rate_decoder("pymatching-correlated"),
        rate_decoder(sinter.BUILT_IN_DECODERS["pymatching"]),
    ):
        assert other.compiled(errors).graph is None
