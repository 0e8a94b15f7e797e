"""What the finds of joins count, by the halves in which they were found, and unions of sets that pass.

The sums over all unions of two smaller sets that pass are compared with complete sums.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.circuit.methods.fault_set_methods import planned
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.rates.fault_sets.interface import exploration_of
from stim_nonclifford.rates.fault_sets.search.costs import of_composed
from stim_nonclifford.rates.fault_sets.search.exploration import Exploration
from stim_nonclifford.rates.fault_sets.search.halves import Composition, Halves, MixedHalves, halves_of
from stim_nonclifford.rates.fault_sets.search.limits import Limits

SEEDS = 20


def elementary(odds: np.ndarray, size: int) -> float:
    return sum(math.prod(chosen) for chosen in combinations(odds.tolist(), size))


@pytest.mark.parametrize("halves", [(1, 2), (2, 2), (2, 3), (3, 3)])
@pytest.mark.parametrize("draws", [1, 1000, 10**6])
def test_splits_count_1_on_average(halves: tuple[int, int], draws: int) -> None:
    """So that sums over finds have the mean that they have if all count 1; and rarely found splits count less."""
    odds = np.array([0.5, 0.3, 1e-2, 3e-3, 1e-3, 2e-4, 1e-4, 7e-5])
    masses = elementary(odds, halves[0]), elementary(odds, halves[1])
    sampled = Halves(odds, halves, masses)
    weight = sum(halves)
    for members in combinations(range(len(odds)), weight):
        splits = [
            (*left, *(m for m in members if m not in left)) for left in combinations(members, halves[0])
        ]
        counts = sampled.counts(np.array(splits, dtype=np.uint32), draws)
        assert counts.mean() == pytest.approx(1)
        assert counts.min() > 0
        assert counts.max() <= sampled.most(draws) * (1 + 1e-12)
        # The inverse of the variance of the number of finds, over its mean.
        variances = [
            1
            + draws
            * (
                math.prod(odds[list(s[: halves[0]])]) / masses[0]
                + math.prod(odds[list(s[halves[0] :])]) / masses[1]
            )
            for s in splits
        ]
        products = counts * variances
        assert products == pytest.approx(np.full(len(splits), products[0]))


def test_what_a_find_counts_depends_on_the_number_of_draws() -> None:
    """A pair of rare mechanisms with a likely one: with many draws, it counts less than the other splits."""
    odds = np.array([0.5, 1e-3, 1e-3, 2e-3])
    masses = elementary(odds, 1), elementary(odds, 2)
    sampled = Halves(odds, (1, 2), masses)
    splits = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]], dtype=np.uint32)
    few, many = (sampled.counts(splits, draws) for draws in (1, 1000))
    assert many[0] < few[0] < 1 < many[1] == many[2]


def test_all_finds_of_many_alike_splits_count_1() -> None:
    """There are 184,756 splits of 20 mechanisms, and none of their halves is drawn twice."""
    odds = np.full(600, 1e-2)
    mass = math.comb(600, 10) * 1e-20
    sampled = Halves(odds, (10, 10), (mass, mass))
    members = np.arange(20, dtype=np.uint32)[None, :]
    assert sampled.counts(members, 10**6) == [1.0]
    assert sampled.most(10**6) == pytest.approx(1, abs=0.01)


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
def test_sums_over_unions(weight: int, kept_only: bool) -> None:
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


def test_joins_of_many_weights_find_all_sets_as_often_as_they_say() -> None:
    """Of 14 mechanisms that flip nothing: each set of 4 to 8 counts 1 over its density, whatever its size."""
    odds = np.geomspace(0.5, 0.02, 14)
    masses = np.array([elementary(odds, size) for size in range(13)])
    halves = MixedHalves(range(4, 9), masses, len(odds))
    draws = 1000
    (left, right), counts = halves.draws_of_sizes(draws), halves.counts_of_weights(draws)
    assert left.tolist() == right.tolist()
    assert draws <= left.sum() <= draws + len(left)
    assert counts[:4].tolist() == [0.0] * 4
    assert counts[4] == 1.0
    assert halves.density(10**5) == pytest.approx((10**5) ** 2 / halves.scale, rel=1e-3)
    for weight in halves.weights:
        members = np.array([[*range(weight), *[len(odds)] * (8 - weight)]], dtype=np.uint32)
        found = sum(
            float(left[a]) * float(right[weight - a]) * math.comb(weight, a) / masses[a] / masses[weight - a]
            for a in range(max(0, weight - len(left) + 1), min(weight + 1, len(left)))
        )
        assert found * counts[weight] == pytest.approx(halves.density(draws))
        assert halves.counts_by_weight(members, draws) == counts[weight]
        assert counts[weight] <= halves.most(draws)


@pytest.mark.parametrize("kept_only", [False, True])
def test_samples_of_several_weights(kept_only: bool) -> None:
    """Sums over all sets of 3 and of 2 and 3 mechanisms, each from 60 samples, for both strengths of noise."""
    known = explored.__wrapped__()  # its samples depend on those that it has taken before
    known.limits = replace(known.limits, kept_only=kept_only)
    values = known.values
    for weights in (range(2, 4), range(3, 4)):
        expected = np.array(
            [
                [sum(known.exact(k).sums(c, values, 0.0).kept for k in weights) for c in range(2)],
                [sum(known.exact(k).passing(c) for k in weights) for c in range(2)],
            ]
        )
        found = []
        for seed in range(60):
            known.seed = seed
            stratum = known.sample_of_all(weights)
            for halves in (3000, 1000):
                known.join(stratum, halves)
            sums = [stratum.sums(c, values, 0.0) for c in range(2)]
            found.append([[each.kept for each in sums], [each.passing for each in sums]])
            assert set(stratum.sizes.tolist()) == set(weights)
        spread = np.std(found, axis=0) / math.sqrt(len(found))
        assert (spread < 0.1 * expected).all()
        # Student's t of 59 degrees of freedom exceeds 7 less than once in 10^8 times.
        assert (abs(np.mean(found, axis=0) - expected) < 7 * spread).all()


def test_unions_with_too_many_keys() -> None:
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
    assert scarce.cost > of_composed(100_000, 0)
