"""The sampler ``soft_desaturated_gap``: what it postselects, counts and refuses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sinter
import stim

import sinter_plugin
import stim_nonclifford as snc
from sinter_plugin import DesaturatedGapDecoder, SoftDecodingSampler
from sinter_plugin.samplers.soft_decoding import frame_circuit
from stim_nonclifford.circuit.logical_states import state_check_of
from stim_nonclifford.generators.cultivation import end_to_end_circuit

CIRCUIT = snc.Circuit(
    end_to_end_circuit(3, 5, 2e-3, postselected_rounds=1, rounds=1, readout="expectation_values")
)


with warnings.catch_warnings():
    warnings.simplefilter("ignore", snc.InexactErrorModelWarning)
    MODEL = CIRCUIT.detector_error_model(kind="noise_only", approximate_disjoint_errors=True)
NEEDED = DesaturatedGapDecoder().postselected_detectors(MODEL)


def counted(task: sinter.Task, shots: int = 4096) -> sinter.AnonTaskStats:
    sampler = SoftDecodingSampler("desaturated", confidence=True, state_check="T", warn=False)
    return sampler.compiled_range_sampler_for_task(task, seed=5).sample_range(0, shots)


def test_counts_are_those_of_the_decoder_and_of_the_fidelity() -> None:
    """Each kept shot of seed 5 is wrong with probability 1 - F; the sum of these is off by at most 6 sigma."""
    assert CIRCUIT.num_detectors / 2 < NEEDED.sum() < CIRCUIT.num_detectors
    found = counted(sinter_plugin.task(CIRCUIT), 40_000)
    decoder = DesaturatedGapDecoder().compile_decoder_for_dem(dem=MODEL)
    check = state_check_of(CIRCUIT.to_stim(), "T")
    sampler = frame_circuit(CIRCUIT).compile_detector_sampler(seed=5, postselection_mask=NEEDED)
    expected = variance = kept = 0.0
    gaps: dict[str, int] = {}
    for batch in sampler.iter_kept(max_shots=40_000, expectation_values=True):
        predictions, found_gaps = decoder.decode_shots_bit_packed_with_confidence(
            bit_packed_detection_event_data=batch.dets
        )
        assert batch.expectation_values is not None
        wrong = 1 - check.fidelities(batch.expectation_values, batch.obs ^ predictions)
        expected, variance = expected + wrong.sum(), variance + (wrong * (1 - wrong)).sum()
        kept += len(wrong)
        for gap in np.rint(found_gaps).astype(int):
            gaps[f"C{gap}"] = gaps.get(f"C{gap}", 0) + 1
    assert found.shots - found.discards == kept > 4000
    assert abs(found.errors - expected) <= 6 * variance**0.5 + 1e-6
    assert 3 < found.errors < 0.02 * kept
    counts = found.custom_counts
    assert {key for key in counts if key[0] == "E" and key[1:].isdigit()} <= {f"E{k[1:]}" for k in gaps}
    assert all(counts[key] + counts[f"E{key[1:]}"] == number for key, number in gaps.items())


def test_a_mask_must_have_what_desaturation_postselects() -> None:
    mask = NEEDED
    without = counted(sinter_plugin.task(CIRCUIT))
    same = counted(sinter_plugin.task(CIRCUIT, postselection_mask=mask))
    assert (same.discards, same.errors) == (without.discards, without.errors)
    assert same.custom_counts == without.custom_counts
    more = mask.copy()
    more[np.flatnonzero(~mask)[0]] = True
    assert counted(sinter_plugin.task(CIRCUIT, postselection_mask=more)).discards > without.discards
    less = mask.copy()
    less[np.flatnonzero(mask)[3]] = False
    message = (
        rf"1 are not in the postselection mask \(first D{np.flatnonzero(mask)[3]}\)\. Leave out the mask"
    )
    with pytest.raises(ValueError, match=message):
        counted(sinter_plugin.task(CIRCUIT, postselection_mask=less))


def test_other_circuits_are_refused() -> None:
    memory = stim.Circuit.generated("surface_code:rotated_memory_x", distance=3, rounds=2)
    with pytest.raises(
        ValueError, match=r"No detector has coordinates .* or sample with soft_pymatching_gap"
    ):
        SoftDecodingSampler("desaturated").compiled_sampler_for_task(sinter.Task(circuit=memory))
