"""Composed sets: the sums over all unions of two smaller sets that pass, against complete sums."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.circuit.methods.fault_set_methods import planned
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.rates.fault_sets.interface import exploration_of
from stim_nonclifford.rates.fault_sets.search.exploration import Exploration
from stim_nonclifford.rates.fault_sets.search.halves import halves_of
from stim_nonclifford.rates.fault_sets.search.limits import Limits

SEEDS = 20


def thinned(p: float) -> snc.Circuit:
    """Cultivation of distance 3, of whose noise channels a ninth is left: 1,467 sets of three pass."""
    lines = str(cultivation_circuit(3, p=p)).splitlines()
    is_noise = [line.strip().startswith(("DEPOLARIZE", "X_ERROR", "Z_ERROR")) for line in lines]
    numbers = np.cumsum(is_noise)
    kept = [line for line, noise, k in zip(lines, is_noise, numbers, strict=True) if not noise or k % 9 == 0]
    return snc.Circuit("\n".join(kept))


@lru_cache
def explored() -> Exploration:
    """Weights 0 to 3 of two strengths of noise enumerated."""
    plans = [planned(thinned(p), "all", None).plan() for p in (1e-3, 2e-3)]
    known = exploration_of(plans, Limits(), 3, 2, progress=False)
    known.limits = replace(known.limits, kept_only=False)
    for weight in range(4):
        assert known.enumerate(weight, 1e12)
    return known


def all_unions(weight: int) -> np.ndarray:
    """All sets that are unions of two closed halves."""
    study = explored().study
    ones = np.ones(study.num_keys)
    left, right = (np.asarray(study.sets_with(size, ones)).reshape(-1, size) for size in halves_of(weight))
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
def test_sums(weight: int, kept_only: bool) -> None:
    """For both strengths of noise. The mean pull of 20 samples and their spread are those of normal numbers."""
    known = explored()
    known.limits = replace(known.limits, kept_only=kept_only)
    members = all_unions(weight)
    stratum = known.sample_of(weight)
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
        stratum = known.sample_of(weight)
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


def test_too_many_keys() -> None:
    """The attempt is dropped, and what it cost counts; then there are fewer draws."""
    known = explored()
    known.limits = replace(known.limits, kept_only=True)
    ample, scarce = known.sample_of(5), known.sample_of(5)
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
    assert known.spent - spent == pytest.approx(scarce.cost)
    assert scarce.cost > 2e-7 * 100_000
