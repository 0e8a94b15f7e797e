"""Decoded rates of kept shots agree with fault sets, and decrease with the gap."""

from __future__ import annotations

import math

import pytest

from tests.support.rates.decoded_rate_cases import repetition_code

SIGNIFICANT = 6.0
"""Standard errors: a chance of 2e-9."""


def test_all_detectors_postselected_is_what_fault_sets_say() -> None:
    circuit = repetition_code(0.02, distance=3, rounds=2)
    exact = circuit.logical_error_rate(postselection_mask="all")
    rate = circuit.logical_error_rate(
        decoder="pymatching", postselection_mask="all", relative_error=0.1, seed=1
    )
    assert abs(rate.kept - exact.kept) < SIGNIFICANT * rate.kept_error
    difference = abs(math.log(rate.logical_error_rate / exact.logical_error_rate))
    assert difference < SIGNIFICANT * rate.relative_error


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
