"""Unions of two smaller sets that pass: sums over samples of them against complete sums."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from stim_nonclifford.rates.fault_sets.search.costs import of_unions
from stim_nonclifford.rates.fault_sets.search.sampling.unions import Composition

from .test_splits import explored

SEEDS = 20


def test_splits_of_composed_sets() -> None:
    """Of five checks: pairs such as (0, 1) flip none, nor do triples such as (4, 5, 6) and (0, 1, 10)."""
    flips = [[0], [0], [1], [1], [2], [3], [2, 3], [0, 1], [4], [4], [], [1, 2]]
    checks = np.array([[check in own for check in range(5)] for own in flips])
    composition = Composition.of(5, [1.0, 0.0, 0.25, 0.125], checks)
    assert composition is not None
    assert composition.sizes == (2, 3)
    sets = [[0, 1, 4, 5, 6], [9, 7, 2, 8, 0], [0, 1, 2, 3, 10], [0, 7, 11, 6, 5]]
    assert composition.is_composed(np.array(sets, dtype=np.uint32)).tolist() == [True, True, True, False]
    for weight, passing in ((7, [1.0, 0.0, 0.25, 0.125]), (5, [1.0, 0.0, 0.25]), (6, [1.0, 0.0, 0.25, 0.0])):
        assert Composition.of(weight, passing, checks) is None


def all_unions(weight: int) -> np.ndarray:
    """All sets that are unions of two closed halves."""
    study = explored().study
    ones = np.ones(study.num_keys)
    left, right = (
        np.asarray(study.sets_with(size, ones)).reshape(-1, size)
        for size in (weight // 2, weight - weight // 2)
    )
    if weight % 2 == 0:
        a, b = np.triu_indices(len(left), 1)
    else:
        a, b = (places.ravel() for places in np.indices((len(left), len(right))))
    members = np.sort(np.hstack([left[a], right[b]]), axis=1)
    members = members[(np.diff(members, axis=1) > 0).all(axis=1)]
    words = np.zeros(len(members), dtype=np.uint64)
    for column in members.T:
        words = words * np.uint64(256) + column.astype(np.uint64)
    assert len(explored().odds[0]) <= 256
    return np.ascontiguousarray(members[np.unique(words, return_index=True)[1]], dtype=np.uint32)


@pytest.mark.parametrize(
    ("weight", "kept_only"),
    [(4, False), (5, True), (6, True), *(pytest.param(k, k == 4, marks=pytest.mark.slow) for k in (4, 5, 6))],
)
def test_sums_over_unions(weight: int, kept_only: bool) -> None:
    """For both strengths of noise. The mean pull of 20 samples and their spread are those of normal numbers."""
    known = explored()
    known.limits = replace(known.limits, kept_only=kept_only)
    members = all_unions(weight)
    stratum = known.sample_of(range(weight, weight + 1))
    assert stratum.composed is not None
    assert stratum.composed.composition.is_composed(members[:1000]).all()
    keys = known.study.number_keys(members.ravel(), weight, False)
    known.values.evaluate()
    expected = [
        [float((np.prod(odds[members], axis=1) * values[keys]).sum()) for odds in known.odds]
        for values in (known.values.kept, known.values.wrong)
    ]
    pulls = []
    for seed in range(SEEDS):
        known.seed = seed
        stratum = known.sample_of(range(weight, weight + 1))
        known.compose(stratum, 3_000)
        known.compose(stratum, 6_000)
        composed = stratum.composed
        assert composed is not None
        for circuit in range(2):
            weights = composed.set_weights(circuit)
            kept, wrong = (
                float((weights * values[composed.keys]).sum())
                for values in (known.values.kept, known.values.wrong)
            )
            variance, missed = composed.error(circuit, known.values, 0.0, 1.0)
            assert kept == pytest.approx(expected[0][circuit], rel=0.3)
            assert 0 < variance < (0.3 * expected[1][circuit]) ** 2
            pulls.append((wrong - expected[1][circuit]) / math.hypot(math.sqrt(variance), missed))
    # The two circuits have the same draws. Of 20 normal numbers, the mean exceeds 1.2 once in 10^7 times.
    means = np.array(pulls).reshape(SEEDS, 2)
    spreads = np.sqrt((means**2).mean(axis=0))
    assert (abs(means.mean(axis=0)) < 1.2).all(), means
    assert ((spreads > 0.2) & (spreads < 1.9)).all(), spreads


def test_unions_with_too_many_keys() -> None:
    """The attempt is dropped, and what it cost counts; then there are fewer draws."""
    known = explored()
    known.limits = replace(known.limits, kept_only=True)
    ample, scarce = known.sample_of(range(5, 6)), known.sample_of(range(5, 6))
    known.compose(ample, 100_000)
    limits, known.limits = known.limits, replace(known.limits, max_bytes=10_000)
    spent = known.spent
    known.compose(scarce, 100_000)
    known.limits = limits
    assert ample.composed is not None
    assert scarce.composed is not None
    assert ample.composed.draws == 100_000
    assert 1 <= scarce.composed.draws < 100_000
    # Two attempts or more, of which the first one is as large as the ample sample.
    assert known.spent - spent == pytest.approx(scarce.composed.draws * scarce.composed.cost_of_draw)
    assert known.spent - spent > of_unions(100_000, 0)
