"""Decoded rates of kept shots agree with fault sets, and decrease with the gap."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sinter
import stim

import stim_nonclifford as snc
from stim_nonclifford.rates.decoded_rates import estimate
from stim_nonclifford.rates.samplers.strata import Stratum
from tests.support.rates.decoded_rate_cases import repetition_code

SIGNIFICANT = 6.0
"""Standard errors: a chance of 2e-9."""


def test_all_detectors_postselected_is_what_fault_sets_say() -> None:
    circuit = repetition_code(0.02, distance=3, rounds=2)
    exact = circuit.logical_error_rate(postselection_mask="all")
    rate = circuit.logical_error_rate(
        decoder="pymatching", postselection_mask="all", relative_error=0.1, seed=1
    )
    assert abs(rate.kept - exact.kept) < SIGNIFICANT * rate.kept_error + 1e-12
    difference = abs(math.log(rate.logical_error_rate / exact.logical_error_rate))
    assert difference < SIGNIFICANT * rate.relative_error + 1e-9


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


class Wrong(sinter.Decoder, sinter.CompiledDecoder):  # type: ignore[misc]  # Sinter has no type marker.
    """Predicts the same whatever happens; its gap is 0 where a detector fires, and otherwise 7."""

    def __init__(self, prediction: int) -> None:
        self.prediction = prediction

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> sinter.CompiledDecoder:
        return self

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        gaps = np.where(bit_packed_detection_event_data.any(axis=1), 0.0, 7.0)
        return np.full((len(gaps), 1), self.prediction, dtype=np.uint8), gaps

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: np.ndarray) -> np.ndarray:
        raise AssertionError("asked without confidence")


@pytest.mark.parametrize("prediction", [0, 1])
def test_none_and_all_wrong_have_intervals(prediction: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An observable that no sampled shot flips: neither 0 nor 1 is claimed exactly."""
    monkeypatch.setattr(Stratum, "size", lambda *_: math.inf)
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
        "R 0 1\nX_ERROR(0.1) 1\nX_ERROR(1) 0\nM 0 1\nDETECTOR rec[-2]\nDETECTOR rec[-1]\n"
        "OBSERVABLE_INCLUDE(0) rec[-1]"
    )
    with pytest.raises(snc.ResourceLimitError, match="is kept"):
        circuit.logical_error_rate(decoder="pymatching", postselection_mask=[True, False], seed=1)


def test_each_observable_of_kept_shots() -> None:
    """Two codes of three qubits of which detectors are postselected: an exact sum, and samples within 6 errors."""
    circuit = snc.Circuit(
        "R 0 1 2 3 4 5\nX_ERROR(0.05) 0 1 2\nX_ERROR(0.1) 3 4 5\nM 0 1 2 3 4 5\n"
        "DETECTOR rec[-6] rec[-5]\nDETECTOR rec[-5] rec[-4]\nDETECTOR rec[-3] rec[-2]\nDETECTOR rec[-2] rec[-1]\n"
        "OBSERVABLE_INCLUDE(0) rec[-6]\nOBSERVABLE_INCLUDE(1) rec[-3]"
    )
    rate = circuit.logical_error_rate(
        decoder="pymatching", postselection_mask=[True, False, True, False], relative_error=0.003, seed=5
    )
    for k, p in enumerate((0.05, 0.1)):
        # Accepted are equal first qubits. Wrong are those of which both, whatever the third, were flipped.
        exact = p**2 / (p**2 + (1 - p) ** 2)
        assert rate.observable_rates[k] == pytest.approx(exact, abs=6 * rate.observable_errors[k] + 1e-9)
