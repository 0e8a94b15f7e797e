"""What the finds of joins count: by the halves in which they were found, and by the weights of their sets."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.rates.fault_sets.interface import exploration_of
from stim_nonclifford.rates.fault_sets.search.exploration import Exploration
from stim_nonclifford.rates.fault_sets.search.limits import Limits
from stim_nonclifford.rates.fault_sets.search.sampling.halves import Halves


def elementary(odds: np.ndarray, size: int) -> float:
    return sum(math.prod(chosen) for chosen in combinations(odds.tolist(), size))


def one_weight(odds: np.ndarray, weight: int) -> Halves:
    masses = np.array([elementary(odds, size) for size in range(weight + 1)])
    return Halves(range(weight, weight + 1), odds, masses)


@pytest.mark.parametrize("halves", [(1, 2), (2, 2), (2, 3), (3, 3)])
@pytest.mark.parametrize("draws", [1, 1000, 10**6])
def test_splits_count_1_on_average(halves: tuple[int, int], draws: int) -> None:
    """So that sums over finds have the mean that they have if all count 1; and rarely found splits count less."""
    odds = np.array([0.5, 0.3, 1e-2, 3e-3, 1e-3, 2e-4, 1e-4, 7e-5])
    weight = sum(halves)
    sampled = one_weight(odds, weight)
    masses = [sampled.masses[size] for size in halves]
    for members in combinations(range(len(odds)), weight):
        splits = [
            (*left, *(m for m in members if m not in left)) for left in combinations(members, halves[0])
        ]
        counts = sampled.counts_by_split(np.array(splits, dtype=np.uint32), draws)
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
    sampled = one_weight(odds, 3)
    splits = np.array([[0, 1, 2], [1, 0, 2], [2, 0, 1]], dtype=np.uint32)
    few, many = (sampled.counts_by_split(splits, draws) for draws in (1, 1000))
    assert many[0] < few[0] < 1 < many[1] == many[2]


def test_all_finds_of_many_alike_splits_count_1() -> None:
    """There are 184,756 splits of 20 mechanisms, and none of their halves is drawn twice."""
    odds = np.full(600, 1e-2)
    masses = np.array([math.comb(600, size) * 1e-2**size for size in range(21)])
    sampled = Halves(range(20, 21), odds, masses)
    members = np.arange(20, dtype=np.uint32)[None, :]
    assert sampled.counts_by_split(members, 10**6) == [1.0]
    assert sampled.most(10**6) == pytest.approx(1, abs=0.01)


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


def test_joins_of_many_weights_find_all_sets_as_often_as_they_say() -> None:
    """Of 14 mechanisms that flip nothing: each set of 4 to 8 counts 1 over its density, whatever its size."""
    odds = np.geomspace(0.5, 0.02, 14)
    masses = np.array([elementary(odds, size) for size in range(13)])
    halves = Halves(range(4, 9), odds, masses)
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
            stratum = known.sample_of(weights)
            for halves in (3000, 1000):
                known.join(stratum, halves)
            sums = [stratum.sums(c, values, 0.0) for c in range(2)]
            found.append([[each.kept for each in sums], [each.passing for each in sums]])
            assert set(stratum.sizes.tolist()) == set(weights)
        spread = np.std(found, axis=0) / math.sqrt(len(found))
        assert (spread < 0.1 * expected).all()
        # Student's t of 59 degrees of freedom exceeds 7 less than once in 10^8 times.
        assert (abs(np.mean(found, axis=0) - expected) < 7 * spread).all()
