"""Detection events that samplers count as Sinter does for decoders: those of all shots, discarded ones too."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest
import sinter
import stim

import stim_nonclifford as snc
from sinter_plugin import SoftDecodingSampler, SoftPostselectSampler, collect, sinter_samplers
from sinter_plugin.statistics.row_warnings import IGNORED_DETECTORS

from ...support.processes.sinter_runs import assert_rate

SHOTS = 20_000
CIRCUIT = snc.Circuit("""
    X_ERROR(0.1) 0
    X_ERROR(0.2) 1
    X_ERROR(0.3) 2
    RX 3 4
    T 3 4
    Z_ERROR(0.15) 3
    Z_ERROR(0.25) 4
    T_DAG 3 4
    M 0 1 2
    MX 3 4
    DETECTOR rec[-5]
    DETECTOR rec[-4]
    DETECTOR rec[-3]
    OBSERVABLE_INCLUDE(0) rec[-2]
    OBSERVABLE_INCLUDE(1) rec[-1]
""")
"""Of the detection events, 0.6 are expected in a shot."""

MASKS = {
    "postselection_mask": np.array([0b011], np.uint8),
    "postselected_observables_mask": np.array([2], np.uint8),
}


def task(**more: Any) -> sinter.Task:
    return sinter.Task(circuit=CIRCUIT.to_stim(), json_metadata={}, **MASKS, **more)


@pytest.mark.parametrize("seed", [1, 2])
def test_counts_are_those_of_the_shots_by_hand(seed: int) -> None:
    """Every number, from the shots of the same seed without masks."""
    sampler = SoftPostselectSampler(
        count_detection_events=True, count_observable_error_combos=True, warn=False
    )
    compiled = sampler.compiled_range_sampler_for_task(task(), seed=seed)
    found = compiled.sample_range(0, 777) + compiled.sample_range(777, SHOTS - 777)
    shots = CIRCUIT.compile_detector_sampler(seed=seed).sample_kept(SHOTS, bit_packed=False)
    kept = ~shots.dets[:, :2].any(axis=1) & ~shots.obs[:, 1]
    errors = int(shots.obs[kept, 0].sum())
    assert (found.shots, found.discards, found.errors) == (SHOTS, SHOTS - kept.sum(), errors)
    assert found.custom_counts == collections.Counter(
        {
            "detectors_checked": 3 * SHOTS,
            "detection_events": int(shots.dets.sum()),
            "survivors": int(kept.sum()),
            "obs_mistake_mask=E_": errors,
            IGNORED_DETECTORS: SHOTS,
        }
    )
    # Without these counts, shots are others, and their rates the same.
    plain = SoftPostselectSampler(warn=False).compiled_range_sampler_for_task(task(), seed=seed)
    other = plain.sample_range(0, SHOTS)
    assert "detection_events" not in other.custom_counts
    assert_rate(other.discards, SHOTS, 1 - 0.9 * 0.8 * 0.75)
    assert_rate(found.discards, SHOTS, 1 - 0.9 * 0.8 * 0.75)
    assert_rate(other.errors, SHOTS - other.discards, 0.15)


def test_equal_to_sinter_where_it_can_sample() -> None:
    """A surface code whose first detectors are postselected, decoded: our counts and Sinter's, seed 3."""
    circuit = stim.Circuit.generated(
        "surface_code:rotated_memory_z", distance=3, rounds=2, after_clifford_depolarization=0.02
    )
    mask = np.array([0b111, 0], np.uint8)
    expected = sinter.collect(
        num_workers=1,
        tasks=[sinter.Task(circuit=circuit, decoder="pymatching", postselection_mask=mask, json_metadata={})],
        max_shots=SHOTS,
        count_detection_events=True,
        count_observable_error_combos=True,
    )[0]
    sampler = SoftDecodingSampler(count_detection_events=True, count_observable_error_combos=True)
    compiled = sampler.compiled_range_sampler_for_task(
        sinter.Task(circuit=circuit, postselection_mask=mask, json_metadata={}), seed=3
    )
    found = compiled.sample_range(0, SHOTS)
    checked = SHOTS * circuit.num_detectors
    assert found.custom_counts["detectors_checked"] == expected.custom_counts["detectors_checked"] == checked
    shots = snc.Circuit(circuit).compile_detector_sampler(seed=3).sample_kept(SHOTS, bit_packed=False)
    assert found.custom_counts["detection_events"] == shots.dets.sum()
    assert found.discards == shots.dets[:, :3].any(axis=1).sum()
    # Counts of two samples of the same size; events of one error come in pairs, so that the variance is doubled.
    for name in ("detection_events", "obs_mistake_mask=E"):
        ours, theirs = found.custom_counts[name], expected.custom_counts[name]
        assert abs(ours - theirs) < 5.5 * np.sqrt(2 * 2 * max(ours, theirs)), name


def test_by_a_name_of_ours_in_both_collectors() -> None:
    """In ``sinter.collect``, which has no such argument for samplers, and in this plugin's."""
    given = {"mine": SoftPostselectSampler(count_detection_events=True, warn=False)}
    with_decoder = task(decoder="mine")
    rows = [
        *sinter.collect(num_workers=1, tasks=[with_decoder], max_shots=SHOTS, custom_decoders=given),
        *collect([with_decoder], num_workers=1, max_shots=SHOTS, custom_decoders=given, seed=4),
    ]
    for row in rows:
        assert row.custom_counts["detectors_checked"] == 3 * row.shots
        # Three independent detectors: the variance of their sum is below 0.46 for each shot.
        assert abs(row.custom_counts["detection_events"] - 0.6 * row.shots) < 5.5 * np.sqrt(0.46 * row.shots)


def test_decisions_in_the_loop() -> None:
    """Detectors of a circuit that a decoder decides in, without postselection and with it."""
    text = """
        X_ERROR(0.2) 0 1 2
        M 0 1 2
        DETECTOR rec[-3] rec[-2]
        DETECTOR rec[-2] rec[-1]
        M[DECODE] 0
        OBSERVABLE_INCLUDE(0) rec[-1]
        X_ERROR(0.1) 3
        M 3
        DETECTOR rec[-1]
    """
    circuit = snc.Circuit(text).to_stim()
    for mask, discards in ((None, 0.0), (np.array([0b100], np.uint8), 0.1)):
        compiled = SoftDecodingSampler(
            count_detection_events=True, warn=False
        ).compiled_range_sampler_for_task(
            sinter.Task(circuit=circuit, postselection_mask=mask, json_metadata={}, skip_validation=True),
            seed=6,
        )
        found = compiled.sample_range(0, SHOTS)
        if discards:
            assert_rate(found.discards, SHOTS, discards)
        assert found.custom_counts["detectors_checked"] == 3 * SHOTS
        # Detectors 0 and 1 fire with probability 0.32, and their covariance is below 0.22.
        assert abs(found.custom_counts["detection_events"] - 0.74 * SHOTS) < 5.5 * np.sqrt(0.9 * SHOTS)


def test_samplers_by_name_do_not_count_them() -> None:
    assert not any(sampler.count_detection_events for sampler in sinter_samplers().values())
