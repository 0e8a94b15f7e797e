"""The sampler ``soft_desaturated_gap``, and the check of a logical state after decoding."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.stats
import sinter
import stim

import sinter_plugin
import stim_nonclifford as snc
from sinter_plugin import DesaturatedGapDecoder, LogicalStateCheck, SoftDecodingSampler
from sinter_plugin.samplers.soft_decoding import frame_circuit
from stim_nonclifford.circuit.logical_states import parsed_state, state_check_of
from stim_nonclifford.generators.cultivation import end_to_end_circuit

FALSE_ALARM = 1e-7
ROOT = 0.5**0.5
T_STATE = LogicalStateCheck((0, 1), (0, 1), (ROOT, ROOT))

FLAGGED, UNSEEN, READOUT = 0.2, 0.05, 0.1
# A T state with a random X frame, of which a record says whether it is there. A detector flags some Z errors.
CIRCUIT = f"""
    RX 1
    S[T] 1
    R 2 3
    H 3
    CX 3 1
    M({READOUT}) 3
    OBSERVABLE_INCLUDE(1) rec[-1]
    E({FLAGGED}) Z1 X2
    Z_ERROR({UNSEEN}) 1
    M 2
    DETECTOR rec[-1]
    EXP_VAL X1 Y1
    OBSERVABLE_INCLUDE(0) X1
    OBSERVABLE_INCLUDE(1) Y1
"""


def collected(circuit: Any, shots: int, calls: int = 3, **options: Any) -> sinter.AnonTaskStats:
    """Statistics of a number of shots, taken in a number of calls."""
    mask = options.pop("mask", None)
    task = sinter.Task(
        circuit=snc.Circuit(circuit).to_stim(),
        postselection_mask=None if mask is None else np.packbits(mask, bitorder="little"),
        json_metadata={},
    )
    # The S-proxy of a T state has no X.
    seed = options.pop("seed", 5)
    options = {"warn": False, "state_check": T_STATE, "error_model": "noise_only", **options}
    sampler = SoftDecodingSampler(**options).compiled_range_sampler_for_task(task, seed=seed)
    total = sinter.AnonTaskStats()
    while total.shots < shots:
        total += sampler.sample_range(total.shots, min(-(-shots // calls), shots - total.shots))
    return total


def test_the_failures_of_a_known_circuit() -> None:
    # An unseen Z gives the orthogonal state. A readout error turns Y around: fidelity 1/2 with both states.
    expected = UNSEEN * (1 - READOUT) + 0.5 * READOUT
    stats = collected(CIRCUIT, 200_000)
    assert stats.discards == 0
    assert scipy.stats.binomtest(stats.errors, stats.shots, expected).pvalue > FALSE_ALARM
    # If the flagged shots are discarded, nothing is left to correct, and the failures are the same.
    more = CIRCUIT + "X_ERROR(0.1) 5\nM 5\nDETECTOR rec[-1]"
    stats = collected(more, 200_000, mask=np.array([True, False]))
    kept = stats.shots - stats.discards
    assert scipy.stats.binomtest(kept, stats.shots, 1 - FLAGGED).pvalue > FALSE_ALARM
    assert scipy.stats.binomtest(stats.errors, kept, expected).pvalue > FALSE_ALARM


def test_the_check_of_one_pauli() -> None:
    # Y alone cannot tell a wrong frame from a wrong state.
    expected = UNSEEN * (1 - READOUT) + READOUT * (1 - UNSEEN)
    stats = collected(CIRCUIT, 100_000, state_check=LogicalStateCheck((1,), (1,), (2**0.5,)))
    assert scipy.stats.binomtest(stats.errors, stats.shots, expected).pvalue > FALSE_ALARM
    # The opposite state fails where this one passes: F is 0 or 1, so that nothing is drawn.
    opposite = collected(CIRCUIT, 100_000, state_check=LogicalStateCheck((1,), (1,), (-(2**0.5),)))
    assert opposite.errors == stats.shots - stats.errors


def test_equals_a_computation_on_the_same_shots() -> None:
    circuit = snc.Circuit(CIRCUIT)
    sampler = frame_circuit(circuit).compile_detector_sampler(seed=5)
    batch = next(sampler.iter_kept(max_shots=5000, batch_shots=5000, expectation_values=True))
    assert batch.expectation_values is not None
    flips = batch.obs[:, 0] ^ 3 * (batch.dets[:, 0] & 1)  # a flag means a Z
    x, y = ((1 - 2.0 * (flips >> k & 1)) * batch.expectation_values[:, k] for k in (0, 1))
    fidelities = (1 + (x + y) * ROOT) / 2
    assert set(fidelities.round(9)) == {0.0, 0.5, 1.0}
    stats = collected(CIRCUIT, 5000)
    certain = np.count_nonzero(fidelities < 0.25)
    halves = np.count_nonzero(np.abs(fidelities - 0.5) < 0.25)
    assert certain <= stats.errors <= certain + halves
    assert scipy.stats.binomtest(stats.errors - certain, halves, 0.5).pvalue > FALSE_ALARM


def test_nothing_but_the_seed_changes_the_result() -> None:
    results = {
        collected(CIRCUIT, 30_000, calls=calls, engine=engine, store_bytes=store).errors
        for calls, engine, store in ((1, "cpu", 1 << 20), (7, "cpu", 0), (100, "auto", 1 << 20))
    }
    assert len(results) == 1
    assert collected(CIRCUIT, 30_000, seed=6).errors not in results


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("M 0\nDETECTOR rec[-1]\nEXP_VAL X0 Y0\nOBSERVABLE_INCLUDE(0) X0\nOBSERVABLE_INCLUDE(1) rec[-1]", {}, "Observable 1 has no Pauli targets"),
        (CIRCUIT, {"state_check": "X", "warn": True}, r"Without noise the fidelity with the checked state is 0.853553 \(expectation value 0 is 0.7071\)"),
        (CIRCUIT, {"state_check": "T_DAG", "warn": True}, r"is 0.5\d* \(expectation value 0 is 0.7071, expectation value 1 is 0.7071\)"),
        (CIRCUIT, {"state_check": "S"}, "state_check must be 'T', .* but is 'S'"),
    ],
)  # fmt: skip
def test_the_checked_state_is_that_of_the_circuit(text: str, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        collected(text, 10, **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((0,), (0, 1), (1.0,)), "1 expectation values, 2 observables and 1 weights"),
        (((), (), ()), "0 expectation values"),
        (((0,), (-1,), (1.0,)), "Each of observables must be an integer >= 0, but is -1"),
        (((0,), (0,), (math.nan,)), "Each of weights must be a finite number, but is nan"),
        (((0, 1), (0, 1), (1.0, 1.0)), r"length is 1, but \(1.0, 1.0\) has length 1.41421356. .*the state in this"),
        (((0, 1), (0, 1), (0.7071, 0.7071)), "has length 0.99999041"),
        (((0, 1), (0, 1), (2.0, 1e-3)), "has length 2.0000002"),
        (((0,), (0,), (0.5,)), "has length 0.5"),
        (((0, 1), (0, 1), (0.0, 0.0)), "has length 0"),
    ],
)  # fmt: skip
def test_wrong_checks(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LogicalStateCheck(*arguments)


def test_a_check_by_one_pauli_refuses_states_that_it_cannot_place() -> None:
    """No clipping: of |i>, the weight √2 makes a fidelity of 1.2, and a mean over shots would be too small."""
    y_alone = LogicalStateCheck((1,), (1,), (2**0.5,))
    frames = np.zeros((4, 1), dtype=np.uint8)
    values = np.array([[ROOT, ROOT], [ROOT, -ROOT], [1, 0], [ROOT, ROOT * (1 + 1e-12)]])
    np.testing.assert_allclose(y_alone.fidelities(values, frames), [1, 0, 0.5, 1], atol=1e-9)
    assert y_alone.failures(values, frames, 1, np.arange(4))[[0, 1, 3]].tolist() == [False, True, False]
    for y in (1.0, -1.0, 0.71):
        values[2] = [0, y]
        with pytest.raises(
            ValueError, match=f"its size is 0.707107 or 0 in every shot, but it is {abs(y):.6g}"
        ):
            y_alone.fidelities(values, frames)


def test_states_by_name_and_by_numbers_are_the_same() -> None:
    by_name = collected(CIRCUIT, 20_000, state_check="T")
    assert by_name.errors == collected(CIRCUIT, 20_000).errors > 0
    assert parsed_state("LogicalStateCheck((0, 1), (0, 1), weights=(0.5**0.5, 1/2**0.5))").observables == (
        0,
        1,
    )
    assert parsed_state("-Y") == "-Y"
    for text in ("t", "LogicalStateCheck(__import__('os'))", "LogicalStateCheck(1)", "Circuit()", "(", "1/0"):
        with pytest.raises(ValueError, match="is neither one of T, T_DAG"):
            parsed_state(text)
    with pytest.raises(ValueError, match="has length 3"):
        parsed_state("LogicalStateCheck((0, 1), (0, 1), (3, 0.1))")


def test_a_model_without_x_is_replaced() -> None:
    """Stim has no model of the X of a T state; the default must not end there."""
    stats = collected(CIRCUIT, 5000, error_model="s_proxy")
    assert stats.errors == collected(CIRCUIT, 5000).errors


CULTIVATION = snc.Circuit(
    end_to_end_circuit(3, 5, 2e-3, postselected_rounds=1, rounds=1, readout="expectation_values")
)


with warnings.catch_warnings():
    warnings.simplefilter("ignore", snc.InexactErrorModelWarning)
    MODEL = CULTIVATION.detector_error_model(kind="noise_only", approximate_disjoint_errors=True)
NEEDED = DesaturatedGapDecoder().postselected_detectors(MODEL)


def counted_gaps(task: sinter.Task, shots: int = 4096) -> sinter.AnonTaskStats:
    sampler = SoftDecodingSampler("desaturated", confidence=True, state_check="T", warn=False)
    return sampler.compiled_range_sampler_for_task(task, seed=5).sample_range(0, shots)


def test_counts_are_those_of_the_decoder_and_of_the_fidelity() -> None:
    """Each kept shot of seed 5 is wrong with probability 1 - F; the sum of these is off by at most 6 sigma."""
    assert CULTIVATION.num_detectors / 2 < NEEDED.sum() < CULTIVATION.num_detectors
    found = counted_gaps(sinter_plugin.task(CULTIVATION), 40_000)
    decoder = DesaturatedGapDecoder().compile_decoder_for_dem(dem=MODEL)
    check = state_check_of(CULTIVATION.to_stim(), "T")
    sampler = frame_circuit(CULTIVATION).compile_detector_sampler(seed=5, postselection_mask=NEEDED)
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
    without = counted_gaps(sinter_plugin.task(CULTIVATION))
    same = counted_gaps(sinter_plugin.task(CULTIVATION, postselection_mask=mask))
    assert (same.discards, same.errors) == (without.discards, without.errors)
    assert same.custom_counts == without.custom_counts
    more = mask.copy()
    more[np.flatnonzero(~mask)[0]] = True
    assert counted_gaps(sinter_plugin.task(CULTIVATION, postselection_mask=more)).discards > without.discards
    less = mask.copy()
    less[np.flatnonzero(mask)[3]] = False
    message = rf"leaves out 1 of the .* \(first D{np.flatnonzero(mask)[3]}\)\. Leave out the mask"
    with pytest.raises(ValueError, match=message):
        counted_gaps(sinter_plugin.task(CULTIVATION, postselection_mask=less))


def test_other_circuits_are_refused() -> None:
    memory = stim.Circuit.generated("surface_code:rotated_memory_x", distance=3, rounds=2)
    with pytest.raises(
        ValueError, match=r"No detector has coordinates .* or sample with soft_pymatching_gap"
    ):
        SoftDecodingSampler("desaturated").compiled_sampler_for_task(sinter.Task(circuit=memory))
