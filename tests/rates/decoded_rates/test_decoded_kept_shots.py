"""Decoded rates of kept shots, by postselected detectors and by the gap, agree with sums over all fault sets."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.rates.decoded_rates.anchoring import family as estimating
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import FaultModel, fault_model, symptoms_of
from stim_nonclifford.rates.decoding.matching_gap import MatchingGapDecoder
from tests.support.rates.decoded_rate_cases import probabilities_of_sets, repetition_code

SIGNIFICANT = 6.5
"""Standard errors: with 63 degrees of freedom, a chance of 2e-8."""


def rows_of_sets(circuit: snc.Circuit, postselected: tuple[int, ...]) -> tuple[FaultModel, np.ndarray]:
    """The rows of all fault sets, by the bits of their numbers."""
    model = fault_model([symptoms_of(circuit.detector_error_model())], postselected)
    rows = np.repeat(model.base[np.newaxis], 1 << model.num_mechanisms, axis=0)
    for k, flips in enumerate(model.flips):
        rows[np.arange(len(rows)) >> k & 1 == 1] ^= flips
    return model, rows


@pytest.mark.parametrize("is_enumerated", [pytest.param(True, marks=pytest.mark.slow), False])
@pytest.mark.parametrize("postselected", [(0,), pytest.param((1, 2), marks=pytest.mark.slow)])
def test_postselected_detectors(
    postselected: tuple[int, ...], is_enumerated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_enumerated:
        monkeypatch.setattr(estimating, "largest_enumerable", lambda mechanisms: -1)
    noise = (0.1, 0.01)
    circuits = [repetition_code(p, distance=3, rounds=2) for p in noise]
    mask = [k in postselected for k in range(circuits[0].num_detectors)]
    rates = snc.logical_error_rates(
        circuits, decoder="pymatching", postselection_mask=mask, relative_error=0.1, seed=3
    )
    for circuit, rate in zip(circuits, rates, strict=True):
        probabilities, fails = probabilities_of_sets(circuit)
        model, rows = rows_of_sets(circuit, postselected)
        passes = model.fired(rows) == 0
        kept, wrong = float(probabilities[passes].sum()), float(probabilities[passes & fails].sum())
        assert abs(rate.kept - kept) < SIGNIFICANT * rate.kept_error
        assert 0 < rate.kept_error < 0.05
        difference = abs(math.log(rate.logical_error_rate / (wrong / kept)))
        assert difference < SIGNIFICANT * rate.relative_error
        assert rate.relative_error < 0.2
        assert rate.kept_and_wrong == pytest.approx(rate.logical_error_rate * rate.kept)
        assert rate.levels[-1].penalty == math.inf
        assert "per kept shot" in str(rate)
        with pytest.raises(ValueError, match="kept shots"):
            rate.error_budget("noise")


@pytest.mark.slow
def test_all_detectors_postselected_is_what_fault_sets_say() -> None:
    # Sets that no detector sees have no neighbours among each other: they come down from soft penalties.
    circuit = repetition_code(0.02, distance=3, rounds=2)
    exact = circuit.logical_error_rate(postselection_mask="all")
    rate = circuit.logical_error_rate(
        decoder="pymatching", postselection_mask="all", relative_error=0.1, seed=1
    )
    assert abs(rate.kept - exact.kept) < SIGNIFICANT * rate.kept_error
    difference = abs(math.log(rate.logical_error_rate / exact.logical_error_rate))
    assert difference < SIGNIFICANT * rate.relative_error


@pytest.mark.parametrize("p", [pytest.param(0.05, marks=pytest.mark.slow), 0.005])
def test_curve_over_the_gap(p: float) -> None:
    circuit = repetition_code(p, distance=5, rounds=1)
    rate = circuit.logical_error_rate(decoder="pymatching", confidence=True, relative_error=0.1, seed=2)
    probabilities, fails = probabilities_of_sets(circuit)
    model, rows = rows_of_sets(circuit, ())
    decoder = MatchingGapDecoder().compile_decoder_for_dem(
        dem=circuit.detector_error_model(decompose_errors=True)
    )
    _, gaps = decoder.decode_shots_bit_packed_with_confidence(
        bit_packed_detection_event_data=model.detectors(rows)
    )
    gaps = np.rint(gaps)
    assert len(rate.gap_curve) >= 2
    assert rate.gap_curve[0].gap == 0
    assert rate.gap_curve[0].logical_error_rate == pytest.approx(rate.logical_error_rate)
    assert [point.gap for point in rate.gap_curve] == sorted({point.gap for point in rate.gap_curve})
    for point in rate.gap_curve:
        is_sure = gaps >= point.gap
        kept = float(probabilities[is_sure].sum())
        wrong = float(probabilities[is_sure & fails].sum())
        assert abs(point.kept - kept) <= SIGNIFICANT * point.kept_error + 1e-9
        difference = abs(math.log(point.kept_and_wrong / wrong))
        # The exact sum over the lightest sets may leave no error but that of rounding.
        assert difference < SIGNIFICANT * point.kept_and_wrong_error / point.kept_and_wrong + 1e-9
        assert point.attempts_per_kept_shot == 1 / point.kept
    assert "attempts per kept shot" in str(rate)


@pytest.mark.slow
def test_masks_and_gaps_together() -> None:
    circuit = repetition_code(0.03, distance=5, rounds=1)
    mask = [k == 0 for k in range(circuit.num_detectors)]
    rate = circuit.logical_error_rate(
        decoder="pymatching", confidence=True, postselection_mask=mask, relative_error=0.15, seed=4
    )
    assert rate.gap_curve[0].kept == rate.kept < 1
    kept = [point.kept for point in rate.gap_curve]
    assert kept == sorted(kept, reverse=True)


def test_confidence_needs_a_decoder_that_has_it() -> None:
    circuit = repetition_code(0.01)
    with pytest.raises(ValueError, match="how sure a decoder is"):
        circuit.logical_error_rate(postselection_mask="all", confidence=True)
    with pytest.raises(ValueError, match="has no confidences"):
        circuit.logical_error_rate(decoder="vacuous", confidence=True)
    with pytest.raises(TypeError, match="confidence"):
        circuit.logical_error_rate(decoder="pymatching", confidence=1)  # type: ignore[arg-type]
