"""A matching by distances predicts what PyMatching predicts, row by row, and leaves to it what it does not know."""

from __future__ import annotations

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.rates.decoded_rates import decoding
from stim_nonclifford.rates.decoded_rates.chains import ChainStates, Level, Moves
from stim_nonclifford.rates.decoded_rates.decoders import compiled_decoder
from stim_nonclifford.rates.decoded_rates.decoding import FailureTest, answers_of
from stim_nonclifford.rates.decoded_rates.ladder import Stop
from stim_nonclifford.rates.decoded_rates.plain_counts import PlainLevel
from stim_nonclifford.rates.decoded_rates.plain_shots import xor_of_groups
from stim_nonclifford.rates.decoded_rates.predicting_matching import predicting_matching
from tests.support.rates.decoded_rate_cases import model_of, repetition_code, surface_code, two_codes


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
    monkeypatch.setattr(decoding, "_SAMPLED_BITS", np.uint64(15))
    model = model_of(circuit)
    errors = circuit.detector_error_model(decompose_errors=True)
    decoder = compiled_decoder(errors, "pymatching")
    matching = predicting_matching(errors, "pymatching")
    assert matching is not None
    asked = 0

    def predict(dets: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
        nonlocal asked
        asked += len(dets)
        return decoder(dets)

    with_matching, without = FailureTest(model, predict, matching=matching), FailureTest(model, decoder)
    rng = np.random.default_rng(9)
    sizes = rng.integers(0, 9, size=3000)
    rows = xor_of_groups(model, rng.integers(model.num_mechanisms, size=int(sizes.sum())), sizes)
    expected = without.wrong(rows)
    assert 0.05 < expected.mean() < 0.95
    np.testing.assert_array_equal(with_matching.wrong(rows), expected)
    assert with_matching.decoded == len(rows)
    np.testing.assert_array_equal(with_matching.wrong(rows), expected)
    assert with_matching.decoded < 1.03 * len(rows)  # the others are in the table
    assert asked <= 1.03 * (1 - least_known) * len(rows)
    both = np.arange(len(rows)) % 2
    found, gaps = answers_of([with_matching, without], rows, both)
    np.testing.assert_array_equal(found, expected)
    assert not gaps.any()
    different, total = with_matching.differing()
    assert different == 0
    assert total > 5


@pytest.mark.parametrize("threads", [1, 3])
def test_moves_that_look_up_on_the_way_are_the_same(threads: int) -> None:
    circuit = surface_code(6e-3)
    errors = circuit.detector_error_model(decompose_errors=True)
    model = model_of(circuit)
    predict, matching = compiled_decoder(errors, "pymatching"), predicting_matching(errors, "pymatching")

    def moved(at_once: bool, threads: int) -> tuple[ChainStates, int]:
        test = FailureTest(model, predict, 1, matching, threads)
        shots = PlainLevel(model, [test], Stop(model.log_odds[0], 0))
        rng = np.random.default_rng(4)
        shots.take(20_000, rng, lambda: None)
        states = ChainStates.of(model, shots.sets)
        assert len(states.sizes) > 300  # more than a part of the work of a thread
        levels = [Level(model.log_odds[0] - k, 0, 0.2) for k in range(2)]
        moves = Moves(model, [test], levels)
        assert moves._looks_up_at_once
        moves._looks_up_at_once = at_once
        accepted = 0
        for number in range(30):
            level_of = np.arange(len(states.sizes)) % 2
            accepted += int(moves.move(number, states, level_of, rng)[1].sum())
        return states, accepted

    (one, accepted), (other, others) = moved(False, 1), moved(True, threads)
    assert accepted == others > 1000
    np.testing.assert_array_equal(one.members, other.members)
    np.testing.assert_array_equal(one.sizes, other.sizes)
    np.testing.assert_array_equal(one.rows, other.rows)


def test_a_matching_that_predicts_something_else_is_found_out() -> None:
    circuit = surface_code(4e-3)
    errors = circuit.detector_error_model(decompose_errors=True)
    matching = predicting_matching(errors, "pymatching")
    assert matching is not None
    decoder = compiled_decoder(errors, "pymatching")
    test = FailureTest(
        model_of(circuit), lambda dets: (decoder(dets)[0] ^ 1, decoder(dets)[1]), matching=matching
    )
    rng = np.random.default_rng(2)
    test(xor_of_groups(model_of(circuit), rng.integers(200, size=9000), np.full(3000, 3)))
    different, total = test.differing()
    assert different > 0
    assert total > 2


def test_where_there_is_none() -> None:
    errors = surface_code(3e-3).detector_error_model(decompose_errors=True)
    two = two_codes(1e-3).detector_error_model(decompose_errors=True)
    merged = stim.DetectorErrorModel("error(0.1) D0 D1 L0\nerror(0.1) D0 D1")
    likely = stim.DetectorErrorModel("error(0.1) D0 L0\nerror(0.7) D0 D1\nerror(0.1) D1")
    for model, decoder in (
        (errors, "fusion_blossom"),
        *((each, "pymatching") for each in (two, merged, likely)),
    ):
        assert predicting_matching(model, decoder) is None
