"""The complementary gap: PyMatching's predictions, and from counts to curves. See also test_matching_gap_exact."""

import collections
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sinter

import stim_nonclifford as snc
from sinter_plugin import (
    MatchingGapDecoder,
    SoftDecodingSampler,
    gap_points,
    read_gap_stats,
    write_gap_points,
)

from ...support.texts.memory_circuits import memory

CODE = memory("surface_code:rotated_memory_x", 3, 3, gates=0.01, reads=0.01)


def test_counts_by_gap_are_those_of_the_decoder() -> None:
    """The histogram that Sinter is given, on the same 3000 shots of seed 2."""
    circuit = CODE
    dets, obs = snc.Circuit(circuit).compile_detector_sampler(seed=2).sample(3000, separate_observables=True)
    decoder = MatchingGapDecoder().compile_decoder_for_dem(
        dem=circuit.detector_error_model(decompose_errors=True)
    )
    predictions, gaps = decoder.decode_shots_bit_packed_with_confidence(
        bit_packed_detection_event_data=np.packbits(dets, axis=1, bitorder="little")
    )
    wrong = (predictions != obs)[:, 0]
    expected = collections.Counter(
        f"{'CE'[int(w)]}{gap}" for gap, w in zip(np.rint(gaps).astype(int), wrong, strict=True)
    )
    sampler = SoftDecodingSampler(confidence=True).compiled_range_sampler_for_task(
        sinter.Task(circuit=circuit), seed=2
    )
    counts = sampler.sample_range(0, 3000).custom_counts
    assert {key: n for key, n in counts.items() if key[1:].isdecimal()} == expected


def test_points() -> None:
    counts = collections.Counter(
        {"C3": 40, "E3": 10, "C12": 30, "E12": 1, "C-2": 4, "Cx": 9, "survivors": 85}
    )
    stats = sinter.AnonTaskStats(shots=100, errors=11, discards=15, custom_counts=counts)
    found = [(point.gap, point.kept, point.errors) for point in gap_points(stats)]
    assert found == [(-2, 85, 11), (3, 81, 11), (12, 31, 1)]
    last = gap_points(stats)[-1]
    assert last.error_rate == sinter.fit_binomial(num_shots=31, num_hits=1, max_likelihood_factor=1000)
    assert last.kept_fraction.best == 0.31
    assert last.attempts_per_kept_shot == pytest.approx(100 / 31)
    [tight] = gap_points(stats, max_likelihood_factor=9)[-1:]
    assert tight.error_rate.low > last.error_rate.low


def test_points_of_a_file(tmp_path: Path) -> None:
    [stats] = sinter.collect(
        num_workers=1,
        tasks=[sinter.Task(circuit=CODE, decoder="gap", json_metadata={"d": 3})],
        custom_decoders={"gap": SoftDecodingSampler(confidence=True)},
        max_shots=5000,
        save_resume_filepath=tmp_path / "stats.csv",
    )
    [read] = read_gap_stats(tmp_path / "stats.csv")
    points = gap_points(read)
    assert points == gap_points(stats)
    assert (points[0].shots, points[0].kept, points[0].errors) == (5000, 5000, stats.errors)
    write_gap_points([read], tmp_path / "points.csv")
    lines = (tmp_path / "points.csv").read_text().splitlines()
    assert len(lines) == 1 + len(points)
    assert lines[1].startswith('gap,"{""d"": 3}",')


def test_no_counts_by_gap() -> None:
    with pytest.raises(ValueError, match=r"no counts by gap .* soft_pymatching_gap"):
        gap_points(sinter.AnonTaskStats(shots=10))
    broken: Any = collections.Counter({"C1": 11})
    with pytest.raises(ValueError, match="11 counts by gap, but only 10 shots"):
        gap_points(sinter.AnonTaskStats(shots=10, custom_counts=broken))
