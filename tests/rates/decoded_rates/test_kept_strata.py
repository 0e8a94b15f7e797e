"""Rates of kept and decoded shots as sums over strata agree with sums over all fault sets, and with shots."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
import sinter
import stim

import stim_nonclifford as snc
from sinter_plugin import DesaturatedGapDecoder, SoftDecodingSampler, task
from stim_nonclifford.circuit.logical_states import LogicalStateCheck
from stim_nonclifford.circuit.methods.decoded_circuits import exact_symptoms
from stim_nonclifford.generators.cultivation import end_to_end_circuit
from stim_nonclifford.rates.decoded_rates.mechanisms import fault_model
from stim_nonclifford.rates.decoded_rates.postselection import listed_sets, partition
from stim_nonclifford.rates.decoded_rates.postselection.listed_sets import SilentSets
from stim_nonclifford.rates.decoding.matching_graph import model_errors

from ...support.rates.decoded_rate_cases import repetition_code
from .test_decoded_outcomes import encoded_t_state

SIGNIFICANT = 6.5
"""Standard errors: with 63 degrees of freedom, a chance of 2e-8."""

Y = LogicalStateCheck((0, 1), (0, 1), (0.0, 2**0.5))


class LikelierClass(sinter.Decoder):  # type: ignore[misc]  # Sinter has no type marker.
    """Adds up all errors that explain the events. It refuses shots in which a postselected detector fires."""

    def __init__(self, *postselected: int) -> None:
        self.postselected = postselected

    def postselected_detectors(self, dem: stim.DetectorErrorModel) -> np.ndarray:
        return np.isin(np.arange(dem.num_detectors), self.postselected)

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Any:
        return _LikelierClass(dem, self.postselected)


class _LikelierClass(sinter.CompiledDecoder):  # type: ignore[misc]  # Sinter has no type marker.
    def __init__(self, dem: stim.DetectorErrorModel, postselected: tuple[int, ...]) -> None:
        assert dem.num_detectors <= 8
        self._mask = sum(1 << k for k in postselected)
        # Probabilities by events and by the flip of the observable.
        found = np.zeros((256, 2))
        found[0, 0] = 1.0
        for error in model_errors(dem):
            events = np.arange(256) ^ sum(1 << k for k in error.detectors)
            flipped = found[events][:, [error.observables, 1 - error.observables]]
            found = (1 - error.probability) * found + error.probability * flipped
        self._weights = 10 * np.log10(np.maximum(found, 1e-30))

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: np.ndarray) -> np.ndarray:
        raise AssertionError("asked without confidence")

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        events = bit_packed_detection_event_data[:, 0]
        assert not (events & self._mask).any()
        difference = self._weights[events, 1] - self._weights[events, 0]
        return (difference > 0).astype(np.uint8)[:, np.newaxis], np.abs(difference)


def exact_curve(
    circuit: snc.Circuit, postselected: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all fault sets with all outcomes that are kept: probabilities, gaps, and whether they are wrong."""
    model = fault_model([exact_symptoms(circuit)], postselected)
    rows = model.base[np.newaxis]
    probabilities = np.ones(1)
    for flips, odds in zip(model.flips, np.exp(model.log_odds[0]), strict=True):
        rows = np.concatenate([rows, rows ^ flips])
        probabilities = np.concatenate([probabilities, probabilities * odds]) / (1 + odds)
    owners, shares, rows = model.with_all_outcomes(rows)
    probabilities = probabilities[owners] * shares
    assert probabilities.sum() == pytest.approx(1)
    is_kept = model.fired(rows) == 0
    rows, probabilities = rows[is_kept], probabilities[is_kept]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", snc.InexactErrorModelWarning)
        dem = circuit.detector_error_model(approximate_disjoint_errors=True)
    decoder = LikelierClass(*postselected).compile_decoder_for_dem(dem=dem)
    predictions, gaps = decoder.decode_shots_bit_packed_with_confidence(
        bit_packed_detection_event_data=model.detectors(rows)
    )
    wrong = predictions[:, 0] != model.observables(rows)[:, 0].astype(np.uint8)
    return probabilities, np.rint(gaps), wrong


@pytest.mark.parametrize(
    ("circuit", "postselected"),
    [
        (repetition_code(0.03, distance=3, rounds=2), (0, 1)),
        (encoded_t_state(0.02), (1,)),
        (encoded_t_state(0.02), (0, 2)),
    ],
)
def test_curves_are_those_of_all_fault_sets(circuit: snc.Circuit, postselected: tuple[int, ...]) -> None:
    rate = circuit.logical_error_rate(
        decoder=LikelierClass(*postselected), confidence=True, relative_error=0.1, seed=7
    )
    probabilities, gaps, wrong = exact_curve(circuit, postselected)
    assert rate.kept < 1
    assert len(rate.gap_curve) > 2
    for point in rate.gap_curve:
        is_sure = gaps >= point.gap
        kept, both = float(probabilities[is_sure].sum()), float(probabilities[is_sure & wrong].sum())
        assert abs(point.kept - kept) < SIGNIFICANT * point.kept_error + 1e-9
        assert 0 < point.kept_and_wrong_error < 0.3 * both
        assert abs(point.kept_and_wrong - both) < SIGNIFICANT * point.kept_and_wrong_error
    assert sum(stratum.probability for stratum in rate.strata) == pytest.approx(rate.kept)
    assert "of errors" in str(rate)
