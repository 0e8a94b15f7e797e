"""The complementary gap of color codes: boundary tiles, exhaustive computations, and what is refused."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import stim

from examples.gap_calibration import color_code
from sinter_plugin import ChromobiusGapDecoder
from stim_nonclifford.generators.cultivation.color_code import ColorCode
from stim_nonclifford.rates.decoding.matching.matching_graph import ModelError

from ...support.rates.least_weights import LeastWeights

chromobius = pytest.importorskip("chromobius")
DECIBEL = 10 / math.log(10)


def errors_on(code: ColorCode, observable: set[Any]) -> list[ModelError]:
    """One error for each data qubit; the observable is a product over some of them."""
    return [
        ModelError(
            0.01, frozenset(k for k, tile in enumerate(code.tiles) if q in tile.data), int(q in observable)
        )
        for q in code.data
    ]


def representatives(code: ColorCode) -> dict[str, set[Any]]:
    """All data qubits, and those that have no tile of a color: the boundaries."""
    found = {"all": set(code.data)}
    for color in range(3):
        covered = {q for tile in code.tiles if tile.color == color for q in tile.data}
        found[f"boundary {color}"] = set(code.data) - covered
    return found


def model_of(
    code: ColorCode, observable: set[Any], p: float = 0.01, first: int = 0
) -> stim.DetectorErrorModel:
    model = stim.DetectorErrorModel()
    for error in errors_on(code, observable):
        targets = [stim.target_relative_detector_id(k) for k in error.detectors]
        targets += [stim.target_logical_observable_id(0)] * error.observables
        model.append("error", p, targets)
    for k, tile in enumerate(code.tiles):
        model.append("detector", [0, 0, 0, first + tile.color], [stim.target_relative_detector_id(k)])
    return model


def decoded(model: stim.DetectorErrorModel, events: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    decoder = ChromobiusGapDecoder().compile_decoder_for_dem(dem=model)
    predictions, gaps = decoder.decode_shots_bit_packed_with_confidence(
        bit_packed_detection_event_data=np.packbits(events, axis=1, bitorder="little")
    )
    return predictions[:, 0], gaps


def syndromes(code: ColorCode) -> np.ndarray:
    """All combinations of detection events."""
    num_tiles = len(code.tiles)
    return (np.arange(1 << num_tiles)[:, np.newaxis] >> np.arange(num_tiles) & 1).astype(np.uint8)


@pytest.mark.parametrize("name", ["all", "boundary 0", "boundary 1", "boundary 2"])
def test_gaps_are_those_of_boundaries_built_by_hand(name: str) -> None:
    """The observable is a detector at each boundary in turn, and Chromobius is asked for both values."""
    code = ColorCode.triangular(5)
    observable = representatives(code)[name]
    events = syndromes(code)
    colors = np.array([tile.color for tile in code.tiles])
    differences = []
    for color in range(3):
        boundary = representatives(code)[f"boundary {color}"]
        model = model_of(code, set())
        by_hand = stim.DetectorErrorModel()
        for error, qubit in zip(model, code.data, strict=False):
            extra = [stim.target_relative_detector_id(len(code.tiles))] * (qubit in boundary)
            by_hand.append("error", 0.01, [*error.targets_copy(), *extra])
        for k, tile_color in enumerate([*colors, color]):
            by_hand.append("detector", [0, 0, 0, tile_color], [stim.target_relative_detector_id(k)])
        decoder = chromobius.compile_decoder_for_dem(by_hand)
        # The observable and the boundary differ by checks: those whose sum is one, and is the other.
        checks = {
            "all": {"all": (), **{f"boundary {c}": (c,) for c in range(3)}},
            **{
                f"boundary {c}": {"all": (c,), **{f"boundary {e}": (c, e) for e in range(3)}}
                for c in range(3)
            },
        }[name][f"boundary {color}"]
        added = np.zeros(len(events), dtype=np.uint8)
        for c in checks:
            added ^= np.bitwise_xor.reduce(events[:, colors == c], axis=1)
        weights = []
        for value in (0, 1):
            asked = np.packbits(np.c_[events, added ^ value], axis=1, bitorder="little")
            weights.append(decoder.predict_weighted_obs_flips_from_dets_bit_packed(asked)[1])
        differences.append(np.asarray(weights[1], dtype=np.float64) - weights[0])
    mean = np.mean(differences, axis=0)
    predictions, gaps = decoded(model_of(code, observable), events)
    np.testing.assert_allclose(gaps, np.abs(mean) * DECIBEL, atol=1e-3)
    sure = np.abs(mean) > 1e-3
    np.testing.assert_array_equal(predictions[sure], mean[sure] < 0)


def test_gaps_beside_an_exhaustive_search() -> None:
    """The lightest error of each class, for all syndromes of the code of distance 5."""
    code = ColorCode.triangular(5)
    model = model_of(code, set(code.data))
    lightest = np.rint(LeastWeights(model).weights / math.log(99)).astype(int)
    advantage = lightest[1] - lightest[0]
    predictions, gaps = decoded(model_of(code, set(code.data)), syndromes(code))
    single = lightest.min(axis=0) <= 1
    np.testing.assert_array_equal(predictions[single], advantage[single] < 0)
    assert (predictions == (advantage < 0)).mean() > 0.93  # Chromobius is not exact
    # The gap grows with the number of errors by which the classes differ.
    means = [gaps[np.abs(advantage) == k].mean() for k in sorted(set(np.abs(advantage)))]
    assert len(means) >= 3
    assert means == sorted(means)


def with_probabilities(
    model: stim.DetectorErrorModel, probabilities: Iterable[float]
) -> stim.DetectorErrorModel:
    """The model with other probabilities of its errors, in their order."""
    changed = stim.DetectorErrorModel()
    values = iter(probabilities)
    for part in model:
        arguments = [next(values)] if part.type == "error" else part.args_copy()
        changed.append(part.type, arguments, part.targets_copy())
    return changed


@pytest.mark.parametrize("distance", [3, 5])
def test_errors_likelier_than_not_are_the_rule(distance: int) -> None:
    """That such an error does not occur is the error. Also of certain errors, all gaps are finite. Seed 6."""
    code = ColorCode.triangular(distance)
    plain = model_of(code, set(code.data))
    events = syndromes(code)
    for k in range(5):
        rng = np.random.default_rng([6, k])
        likely = rng.random(len(code.data)) < 0.2
        found = decoded(with_probabilities(plain, np.where(likely, 0.98, 0.02)), events)
        rule = [q for q, it in zip(errors_on(code, set(code.data)), likely, strict=True) if it]
        expected_events = events.copy()
        for error in rule:
            expected_events[:, list(error.detectors)] ^= 1
        expected = decoded(with_probabilities(plain, np.full(len(code.data), 0.02)), expected_events)
        np.testing.assert_allclose(found[1], expected[1], atol=1e-6)
        np.testing.assert_array_equal(found[0], expected[0] ^ len(rule) % 2)
    once = with_probabilities(plain, [1.0] + [0.02] * (len(code.data) - 1))
    assert np.isfinite(decoded(once, np.zeros_like(events[:1]))[1]).all()


def test_an_error_that_no_detector_sees_limits_the_gap() -> None:
    code = ColorCode.triangular(5)
    model = model_of(code, set(code.data))
    predictions, gaps = decoded(model, syndromes(code))
    limited = decoded(model + stim.DetectorErrorModel("error(0.01) L0"), syndromes(code))
    np.testing.assert_array_equal(limited[0], predictions)
    assert gaps.max() > 80
    assert limited[1].max() < 41  # Chromobius counts an error of one detector twice
    coin = decoded(model + stim.DetectorErrorModel("error(0.5) L0"), syndromes(code))
    np.testing.assert_array_equal(coin[1], gaps)  # the observable is random without noise, and not predicted
    always = decoded(model + stim.DetectorErrorModel("error(0.99) L0"), syndromes(code))
    np.testing.assert_array_equal(always[0], 1 - predictions)


def test_uneven_probabilities() -> None:
    """30 models of seed 7: no tile is chosen that Chromobius refuses, and most predictions are the likelier class.

    Of the code of distance 3, with errors that differ from others in the observable alone, all are.
    """
    code = ColorCode.triangular(5)
    right = compared = 0
    for k in range(30):
        rng = np.random.default_rng([7, k])
        model = with_probabilities(
            model_of(code, set(code.data)), rng.choice([0.001, 0.01, 0.05], size=len(code.data))
        )
        predictions, _ = decoded(model, syndromes(code))
        weights = LeastWeights(model).weights
        advantage = weights[1] - weights[0]
        sure = np.abs(advantage) > 2
        right += int(np.count_nonzero((predictions == (advantage < 0))[sure]))
        compared += int(np.count_nonzero(sure))
    assert right > 0.85 * compared
    code = ColorCode.triangular(3)
    for error in errors_on(code, set(code.data)):
        extra = " ".join(f"D{k}" for k in error.detectors)
        model = model_of(code, set(code.data)) + stim.DetectorErrorModel(f"error(0.05) {extra}")
        if len(error.detectors) == 3:  # in the middle of the code, both errors are a closed loop
            with pytest.raises(ValueError, match="closed loops of errors flip it"):
                decoded(model, syndromes(code))
            continue
        predictions, _ = decoded(model, syndromes(code))
        weights = LeastWeights(model).weights
        sure = np.abs(weights[1] - weights[0]) > 0.1
        np.testing.assert_array_equal(predictions[sure], (weights[1] < weights[0])[sure])


def test_half_of_the_checks_is_enough_for_one_observable() -> None:
    """Z checks do not matter for logical X, and are not decoded."""
    circuit = color_code(3, 0.01)
    colors = np.array([place[3] for _, place in sorted(circuit.get_detector_coordinates().items())])
    dets = circuit.compile_detector_sampler(seed=1).sample(200)
    model = circuit.detector_error_model()
    expected = decoded(model, dets)
    dets[:, colors >= 3] = False
    for found, wanted in zip(decoded(model, dets), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_logical_y_needs_a_second_observable() -> None:
    code = ColorCode.triangular(3)
    x_half, z_half = model_of(code, set(code.data)), model_of(code, set(code.data), first=3)
    both = x_half.copy()
    shift = len(code.tiles)
    for instruction in z_half:
        targets = [
            stim.target_relative_detector_id(t.val + shift) if t.is_relative_detector_id() else t
            for t in instruction.targets_copy()
        ]
        both.append(instruction.type, instruction.args_copy(), targets)
    with pytest.raises(ValueError, match="For logical Y, add logical X as a second observable"):
        ChromobiusGapDecoder().compile_decoder_for_dem(dem=both)
    split = stim.DetectorErrorModel(
        "\n".join(
            f"{line} L1"
            if line.startswith("error") and "L0" in line and f"D{shift}" <= line.split()[1]
            else line
            for line in str(both).splitlines()
        )
    )
    events = np.zeros((1, 2 * shift), dtype=np.uint8)
    assert split.num_observables == 2
    assert decoded(split, events)[0].tolist() == [0]
