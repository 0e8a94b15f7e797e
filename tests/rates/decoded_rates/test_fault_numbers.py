"""Rates with masks and gaps as sums over numbers of faults agree with sums over all fault sets."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import sinter
import stim
from scipy.stats import chi2

import stim_nonclifford as snc
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import FaultModel, fault_model, symptoms_of
from stim_nonclifford.rates.decoded_rates.postselection import estimate, strata
from stim_nonclifford.rates.decoding.decoders import gap_decoder_named
from stim_nonclifford.rates.estimation.ratios import ratio_of
from stim_nonclifford.rates.samplers.fault_numbers import FaultNumbers
from tests.support.rates.decoded_rate_cases import probabilities_of_sets, repetition_code

TWO_OBSERVABLES = snc.Circuit(
    "R 0 1 2 3 4 5\nX_ERROR(0.05) 0 1 2\nX_ERROR(0.1) 3 4 5\nE(0.03) X2 X3\nM 0 1 2 3 4 5\n"
    "DETECTOR rec[-6] rec[-5]\nDETECTOR rec[-5] rec[-4]\nDETECTOR rec[-3] rec[-2]\nDETECTOR rec[-2] rec[-1]\n"
    "OBSERVABLE_INCLUDE(0) rec[-6]\nOBSERVABLE_INCLUDE(1) rec[-3]"
)


def rows_of_sets(circuit: snc.Circuit, postselected: tuple[int, ...]) -> tuple[FaultModel, np.ndarray]:
    """The rows of all fault sets, by the bits of their numbers."""
    model = fault_model([symptoms_of(circuit.detector_error_model())], postselected)
    rows = np.repeat(model.base[np.newaxis], 1 << model.num_mechanisms, axis=0)
    for k, flips in enumerate(model.flips):
        rows[np.arange(len(rows)) >> k & 1 == 1] ^= flips
    return model, rows


def exact_curve(
    circuit: snc.Circuit, postselected: tuple[int, ...], confidence: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all fault sets: probabilities if they are kept, gaps, and which observables are wrong."""
    model, rows = rows_of_sets(circuit, postselected)
    probabilities, _ = probabilities_of_sets(circuit)
    dem = circuit.detector_error_model(decompose_errors=True)
    events = model.detectors(rows)
    gaps = np.zeros(len(rows))
    if confidence:
        decoder = gap_decoder_named("pymatching").compile_decoder_for_dem(dem=dem)
        predictions, gaps = decoder.decode_shots_bit_packed_with_confidence(
            bit_packed_detection_event_data=events
        )
    else:
        decoder = sinter.BUILT_IN_DECODERS["pymatching"].compile_decoder_for_dem(dem=dem)
        predictions = decoder.decode_shots_bit_packed(bit_packed_detection_event_data=events)
    wrong = predictions[:, 0] ^ model.observables(rows)[:, 0].astype(np.uint8)
    wrong = (wrong[:, np.newaxis] >> np.arange(circuit.num_observables)) & 1
    return probabilities * (model.fired(rows) == 0), np.rint(gaps), wrong == 1


@pytest.mark.parametrize("is_drawn", [False, True])
@pytest.mark.parametrize("lists_sets", [False, True])
@pytest.mark.parametrize(
    ("circuit", "postselected", "confidence"),
    [
        (repetition_code(0.05, distance=3, rounds=2), (0,), False),
        (repetition_code(0.05, distance=3, rounds=2), (1, 2), True),
        (repetition_code(0.05, distance=5, rounds=1), (), True),
        (TWO_OBSERVABLES, (0, 2), False),
    ],
)
def test_rates_are_those_of_all_fault_sets(
    circuit: snc.Circuit,
    postselected: tuple[int, ...],
    confidence: bool,
    lists_sets: bool,
    is_drawn: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Within 6 standard errors, of which each is at most 0.3%: a weight that is off by 2% fails."""
    monkeypatch.setattr(estimate, "_LISTED_FROM", 0 if lists_sets else 1 << 40)
    if is_drawn:
        monkeypatch.setattr(strata, "_LISTED_FROM", 0.0)
        monkeypatch.setattr(estimate, "_LEAST_KEPT", 0.9)  # no rare gaps
    asked = 0.003 if is_drawn else 0.001
    rate = circuit.logical_error_rate(
        decoder="pymatching",
        postselection_mask=[k in postselected for k in range(circuit.num_detectors)]
        if postselected
        else None,
        confidence=confidence,
        relative_error=asked,
        seed=5,
    )
    probabilities, gaps, wrong = exact_curve(circuit, postselected, confidence)
    assert rate.relative_error <= asked
    assert rate.kept == pytest.approx(probabilities.sum(), abs=6 * rate.kept_error + 1e-9)
    assert (len(rate.strata) > 1) == (lists_sets and bool(postselected))
    points: list[Any] = [*rate.gap_curve] or [rate]
    for point in points:
        is_sure = gaps >= point.gap if rate.gap_curve else np.ones(len(gaps), dtype=np.bool_)
        kept = probabilities[is_sure].sum()
        both = probabilities[is_sure & wrong.any(axis=1)].sum()
        assert abs(point.logical_error_rate - both / kept) <= 6 * point.standard_error + 1e-9 * both
        assert point.kept == pytest.approx(kept, abs=6 * point.kept_error + 1e-9)
        assert point.kept_and_wrong <= point.kept
    shown = zip(rate.observable_rates, rate.observable_errors, wrong.T, strict=True)
    for value, error, is_wrong in shown:
        assert error < 0.1 * value
        assert abs(value - probabilities[is_wrong].sum() / probabilities.sum()) <= 6 * error + 1e-9


def test_numbers_of_faults_are_those_of_all_sets() -> None:
    odds = np.random.default_rng(2).uniform(0.001, 2.0, size=9)
    numbers = FaultNumbers(odds)
    for k in range(10):
        sets = list(itertools.combinations(range(9), k))
        weights = [float(np.prod(odds[list(members)])) / float(np.prod(1 + odds)) for members in sets]
        assert numbers.probabilities[k] == pytest.approx(sum(weights))
        listed = [*numbers.listed(k)]
        assert np.concatenate([members for members, _ in listed]).tolist() == [list(each) for each in sets]
        assert np.concatenate([found for _, found in listed]) == pytest.approx(weights)


@pytest.mark.parametrize("k", [1, 2, 4, 7])
def test_sets_are_drawn_by_their_probabilities(k: int) -> None:
    """Chi-squared of 2^17 draws, seed 3: it is exceeded with a probability of 1e-7."""
    odds = np.array([0.001, 3.0, 0.2, 0.2, 1.0, 0.05, 0.5, 0.3, 0.9])
    drawn = FaultNumbers(odds).drawn(k, 1 << 17, np.random.default_rng(3))
    sets = list(itertools.combinations(range(9), k))
    weights = np.array([odds[list(members)].prod() for members in sets])
    expected = len(drawn) * weights / weights.sum()
    place = {members: number for number, members in enumerate(sets)}
    seen = np.bincount([place[tuple(members)] for members in drawn.tolist()], minlength=len(sets))
    often = expected > 5
    statistic = float(((seen - expected) ** 2 / expected)[often].sum())
    assert statistic < chi2.isf(1e-7, often.sum() - 1)
    assert seen[~often].sum() <= expected[~often].sum() + 6 * math.sqrt(expected[~often].sum()) + 6


def test_many_mechanisms_neither_overflow_nor_underflow() -> None:
    numbers = FaultNumbers(np.full(4000, 0.05))
    assert numbers.probabilities.sum() == pytest.approx(1, abs=1e-10)
    binomial = math.lgamma(4001) - math.lgamma(201) - math.lgamma(3801)
    assert math.log(numbers.probabilities[200]) == pytest.approx(
        binomial + 200 * math.log(0.05 / 1.05) - 3800 * math.log(1.05), abs=1e-8
    )
    drawn = numbers.drawn(200, 64, np.random.default_rng(1))
    assert (np.diff(drawn, axis=1) > 0).all()
    assert abs(drawn.mean() - 1999.5) < 6 * 4000 / math.sqrt(12 * drawn.size)


@pytest.mark.parametrize("max_seconds", [None, 20.0])
def test_intervals_hold_the_rate(max_seconds: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 120 seeds, at most 20 intervals of 95% do not: chance exceeds that once in 10^6 times."""
    monkeypatch.setattr(strata, "_LISTED_FROM", 0.0)
    monkeypatch.setattr(estimate, "_LISTED_FROM", 1 << 40)
    circuit = repetition_code(0.03, distance=3, rounds=2)
    probabilities, _, wrong = exact_curve(circuit, (0,), False)
    truth = probabilities[wrong.any(axis=1)].sum() / probabilities.sum()
    missed = 0
    for seed in range(120):
        rate = circuit.logical_error_rate(
            decoder="pymatching",
            postselection_mask=[k == 0 for k in range(circuit.num_detectors)],
            relative_error=0.2,
            max_seconds=max_seconds,
            seed=seed,
        )
        assert 0 < rate.relative_error <= 0.2
        missed += not rate.interval[0] <= truth <= rate.interval[1]
    assert missed <= 20


class Wrong(sinter.Decoder, sinter.CompiledDecoder):  # type: ignore[misc]  # Sinter has no type marker.
    """Predicts the opposite of what no error would flip, or is always right about nothing; its gap is 0."""

    def __init__(self, prediction: int) -> None:
        self.prediction = prediction

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> sinter.CompiledDecoder:
        return self

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: np.ndarray) -> np.ndarray:
        return np.full((len(bit_packed_detection_event_data), 1), self.prediction, dtype=np.uint8)

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        gaps = np.where(bit_packed_detection_event_data.any(axis=1), 0.0, 7.0)
        return self.decode_shots_bit_packed(
            bit_packed_detection_event_data=bit_packed_detection_event_data
        ), gaps


@pytest.mark.parametrize("prediction", [0, 1])
def test_none_and_all_wrong_have_intervals(prediction: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An observable that is never flipped, by what could be seen: neither 0 nor 1 is claimed exactly."""
    monkeypatch.setattr(strata, "_LISTED_FROM", 0.0)
    monkeypatch.setattr(estimate, "_MOST_SHOTS", 1 << 13)
    circuit = snc.Circuit(
        "R 0 1\nX_ERROR(0.2) 0\nX_ERROR(1e-9) 1\nM 0 1\nDETECTOR rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    rate = circuit.logical_error_rate(decoder=Wrong(prediction), confidence=True, seed=1)
    assert rate.logical_error_rate == pytest.approx(prediction, abs=1e-8)
    low, high = rate.interval
    assert high - low > 1e-10
    assert low <= abs(prediction - 1e-9) <= high
    assert rate.standard_error > 0
    assert rate.observable_errors[0] > 0


def test_a_curve_whose_wrong_predictions_have_no_gap() -> None:
    """The decoder is never sure when it is wrong: no shot with a larger gap is."""
    circuit = snc.Circuit(
        "R 0 1\nX_ERROR(0.1) 0 1\nM 0 1\nDETECTOR rec[-2]\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-2]"
    )
    rate = circuit.logical_error_rate(decoder=Wrong(0), confidence=True, relative_error=0.01, seed=1)
    assert rate.logical_error_rate == pytest.approx(0.1, rel=1e-6)
    assert [point.gap for point in rate.gap_curve] == [0, 5, 7]
    assert [point.kept for point in rate.gap_curve] == pytest.approx([1, 0.81, 0.81])
    assert [point.logical_error_rate for point in rate.gap_curve] == pytest.approx([0.1, 0, 0])


def test_no_kept_shot_is_a_refusal() -> None:
    circuit = snc.Circuit(
        "R 0 1\nX_ERROR(0.1) 1\nX 0\nM 0 1\nDETECTOR rec[-2]\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    circuit = snc.Circuit(str(circuit).replace("X 0\n", "X_ERROR(1) 0\n"))
    with pytest.raises(snc.ResourceLimitError, match="is kept"):
        circuit.logical_error_rate(decoder="pymatching", postselection_mask=[True, False], seed=1)


@pytest.mark.parametrize(("wrong", "accepted"), [(0.0, 0.1), (0.1, 0.1), (0.05, 0.1)])
def test_rates_are_between_0_and_1(wrong: float, accepted: float) -> None:
    found = ratio_of(wrong, accepted, 1e-4, 1e-2)
    assert 0 <= found.interval[0] <= found.rate <= found.interval[1] <= 1
