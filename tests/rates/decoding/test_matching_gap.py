"""The complementary gap: against an exhaustive computation, and from counts to curves."""

from __future__ import annotations

import collections
import heapq
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pymatching
import pytest
import sinter
import stim

import stim_nonclifford as snc
from sinter_plugin import (
    MatchingGapDecoder,
    SoftDecodingSampler,
    gap_calibration,
    gap_points,
    read_gap_stats,
    write_gap_points,
)

DECIBEL = 10 / math.log(10)


def code(distance: int, p: float, name: str = "surface_code:rotated_memory_x") -> stim.Circuit:
    return stim.Circuit.generated(
        name,
        distance=distance,
        rounds=distance,
        after_clifford_depolarization=p,
        before_measure_flip_probability=p,
    )


class Direct:
    """Least weights of both classes by shortest paths on two sheets and all pairings of detection events.

    Nothing is shared with the decoder but the definition of an edge: the sheet is the value of the
    observable, an edge that flips it leads to the other sheet, and the boundary is a node.
    """

    def __init__(self, model: stim.DetectorErrorModel) -> None:
        self.boundary = model.num_detectors
        merged: dict[tuple[int, int, int], float] = {}
        for error in model.flattened():
            if error.type != "error":
                continue
            for part in error.target_groups():
                nodes = sorted(t.val for t in part if t.is_relative_detector_id())
                flips = sum(t.is_logical_observable_id() for t in part) % 2
                nodes += [self.boundary] * (2 - len(nodes))
                key = (nodes[0], nodes[1], flips)
                p, q = error.args_copy()[0], merged.get(key, 0.0)
                merged[key] = p * (1 - q) + q * (1 - p)
        self.neighbours: dict[int, list[tuple[int, int, float]]] = collections.defaultdict(list)
        for (a, b, flips), p in merged.items():
            weight = math.log((1 - p) / p)
            self.neighbours[a].append((b, flips, weight))
            self.neighbours[b].append((a, flips, weight))
        self.distances = cache(self._distances)

    def _distances(self, start: int) -> dict[tuple[int, int], float]:
        """Paths through the boundary count as two, which the pairing adds up."""
        found: dict[tuple[int, int], float] = {}
        queue = [(0.0, start, 0)]
        while queue:
            total, node, sheet = heapq.heappop(queue)
            if (node, sheet) in found:
                continue
            found[node, sheet] = total
            if node == self.boundary and start != self.boundary:
                continue
            for other, flips, weight in self.neighbours[node]:
                heapq.heappush(queue, (total + weight, other, sheet ^ flips))
        return found

    def weights(self, events: tuple[int, ...]) -> tuple[float, float]:
        """The least weight of errors that leave the observable, and of those that flip it."""

        @cache
        def least(left: tuple[int, ...], sheet: int) -> float:
            if not left:
                # A path from the boundary to itself flips the observable, if one does.
                return 0.0 if not sheet else self.distances(self.boundary).get((self.boundary, 1), math.inf)
            first, others = left[0], left[1:]
            options = [
                self.distances(first).get((self.boundary, flip), math.inf) + least(others, sheet ^ flip)
                for flip in (0, 1)
            ]
            for k, other in enumerate(others):
                rest = others[:k] + others[k + 1 :]
                options += [
                    self.distances(first).get((other, flip), math.inf) + least(rest, sheet ^ flip)
                    for flip in (0, 1)
                ]
            return min(options)

        return least(events, 0), least(events, 1)


@pytest.mark.parametrize(
    ("distance", "name"),
    [
        (3, "surface_code:rotated_memory_x"),
        (3, "surface_code:rotated_memory_z"),
        (5, "repetition_code:memory"),
    ],
)
def test_gaps_are_those_of_a_direct_computation(distance: int, name: str) -> None:
    """On the same shots of seed 2: every gap and prediction, and so the histogram that Sinter is given."""
    circuit = code(distance, 0.01, name)
    model = circuit.detector_error_model(decompose_errors=True)
    dets, obs = snc.Circuit(circuit).compile_detector_sampler(seed=2).sample(3000, separate_observables=True)
    direct = Direct(model)
    decoder = MatchingGapDecoder().compile_decoder_for_dem(dem=model)
    predictions, gaps = decoder.decode_shots_bit_packed_with_confidence(
        bit_packed_detection_event_data=np.packbits(dets, axis=1, bitorder="little")
    )
    expected: collections.Counter[str] = collections.Counter()
    compared = 0
    for shot in range(len(dets)):
        events = tuple(int(k) for k in np.flatnonzero(dets[shot]))
        if len(events) > 8:  # all pairings would take long
            continue
        stay, flip = direct.weights(events)
        gap = abs(stay - flip) * DECIBEL
        assert gaps[shot] == pytest.approx(gap, abs=0.05), events  # PyMatching rounds weights
        assert gap < 0.1 or predictions[shot, 0] == (flip < stay)
        compared += 1
    assert compared > 2900
    found = SoftDecodingSampler(confidence=True).compiled_range_sampler_for_task(
        sinter.Task(circuit=circuit), seed=2
    )
    total = found.sample_range(0, 3000)
    for gap, wrong in zip(np.rint(gaps).astype(int), (predictions != obs)[:, 0], strict=True):
        expected[f"{'E' if wrong else 'C'}{gap}"] += 1
    counts = {key: n for key, n in total.custom_counts.items() if key[1:].isdecimal()}
    assert counts == dict(expected)


@pytest.mark.parametrize("distance", [3, 5, 7])
def test_predictions_are_those_of_pymatching(distance: int) -> None:
    """But for ties, and for boundary edges of which PyMatching keeps only one."""
    circuit = code(distance, 0.005)
    model = circuit.detector_error_model(decompose_errors=True)
    dets = snc.Circuit(circuit).compile_detector_sampler(seed=3).sample(20_000, bit_packed=True)
    decoder = MatchingGapDecoder().compile_decoder_for_dem(dem=model)
    found, gaps = decoder.decode_shots_bit_packed_with_confidence(bit_packed_detection_event_data=dets)
    expected = pymatching.Matching(model).decode_batch(dets, bit_packed_shots=True)
    assert np.all((found == expected)[:, 0] | (gaps < 0.1))


def test_the_gap_says_how_often_it_is_wrong() -> None:
    """Monotone, and near what it promises; each comparison fails by chance at less than 1e-9 (4 e-folds)."""
    circuit = code(5, 0.006)
    sampler = SoftDecodingSampler(confidence=True).compiled_range_sampler_for_task(
        sinter.Task(circuit=circuit), seed=4
    )
    total = sampler.sample_range(0, 60_000)
    points = gap_calibration(total)
    tens: dict[int, list[int]] = collections.defaultdict(lambda: [0, 0])
    for point in points:
        tens[point.gap // 10][0] += point.errors
        tens[point.gap // 10][1] += point.kept
    rates = [errors / kept for errors, kept in (tens[k] for k in range(4))]
    assert rates == sorted(rates, reverse=True)
    assert 0.2 < rates[0] < 0.4
    assert 0.02 < rates[1] < 0.09


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
        tasks=[sinter.Task(circuit=code(3, 0.01), decoder="gap", json_metadata={"d": 3})],
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("error(0.1) D0 L0\nerror(0.1) D0 L1", "defined for one observable, but the error model has 2"),
        ("error(0.1) D0 D1\nlogical_observable L0", "no error of the other logical class"),
        ("error(0.1) D0 L0", "no error of the other logical class"),
    ],
)
def test_models_without_a_complementary_gap(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MatchingGapDecoder().compile_decoder_for_dem(dem=stim.DetectorErrorModel(text))


def test_no_counts_by_gap() -> None:
    with pytest.raises(ValueError, match=r"no counts by gap .* soft_pymatching_gap"):
        gap_points(sinter.AnonTaskStats(shots=10))
    broken: Any = collections.Counter({"C1": 11})
    with pytest.raises(ValueError, match="11 counts by gap, but only 10 shots"):
        gap_points(sinter.AnonTaskStats(shots=10, custom_counts=broken))
