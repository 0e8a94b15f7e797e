"""Each sampler of fault sets against the sum over all sets: joins of one weight and of several, and unions.

Repeated samples must have their mean, to 0.13%, and the spread that their tallies say; a
sampler whose importance weights are 1% too large fails.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.rates.fault_sets.interface import search_of
from stim_nonclifford.rates.fault_sets.search import search as search_module
from stim_nonclifford.rates.fault_sets.search.halves import Halves
from stim_nonclifford.rates.fault_sets.search.joins import Join, JoinedSets, _tail
from stim_nonclifford.rates.fault_sets.search.limits import Limits
from stim_nonclifford.rates.fault_sets.search.sampled import SampledSets
from stim_nonclifford.rates.fault_sets.search.search import Search
from stim_nonclifford.rates.fault_sets.search.unions import UnionSets, union_sizes

SIGMAS = 6.0
"""Student's t of 39 degrees of freedom exceeds 6 less than once in 10^6 times; the seeds are fixed."""

SAMPLES = 40


def thinned(p: float) -> snc.Circuit:
    """Cultivation of distance 3, of whose noise channels a ninth is left: 1,467 sets of three pass."""
    lines = str(cultivation_circuit(3, p=p)).splitlines()
    is_noise = [line.strip().startswith(("DEPOLARIZE", "X_ERROR", "Z_ERROR")) for line in lines]
    numbers = np.cumsum(is_noise)
    kept = [line for line, noise, k in zip(lines, is_noise, numbers, strict=True) if not noise or k % 9 == 0]
    return snc.Circuit("\n".join(kept))


def enumerated(seed: int = 3, kept_only: bool = False) -> Search:
    """Weights 0 to 3 of two strengths of noise enumerated."""
    plans = [planned(thinned(p), "all", None).plan() for p in (1e-3, 2e-3)]
    search = search_of(plans, Limits(), seed, 1, progress=False)
    search.kept_only = kept_only
    for weight in range(4):
        assert search.enumerate(weight, 1e12)
    return search


def deviations(found: list[list[tuple[float, float]]], expected: np.ndarray) -> np.ndarray:
    """How many standard errors the means of samples are from what is expected; the smallest are below 0.13%."""
    spread = np.std(found, axis=0, ddof=1) / math.sqrt(len(found))
    assert (spread / expected).min() < 1.3e-3, spread / expected
    return np.abs(np.mean(found, axis=0) - expected) / spread


EDGES = list(combinations(range(12), 2))
"""Edges of the complete graph of 12 vertices."""


def complete_graph(p: float) -> snc.Circuit:
    """A mechanism for each edge, and a check for each vertex: sets that pass are cycles. Three observables."""
    count = len(EDGES)
    lines = [f"X_ERROR({p}) {' '.join(map(str, range(count)))}", f"M {' '.join(map(str, range(count)))}"]
    for vertex in range(12):
        own = [f"rec[{k - count}]" for k, edge in enumerate(EDGES) if vertex in edge]
        lines.append(f"DETECTOR {' '.join(own)}")
    for k in range(3):
        lines.append(f"OBSERVABLE_INCLUDE({k}) " + " ".join(f"rec[{j - count}]" for j in range(k, count, 5)))
    return snc.Circuit("\n".join(lines))


@pytest.mark.parametrize("weights", [range(4, 5), pytest.param(range(3, 5), marks=pytest.mark.slow)])
def test_joins(weights: range) -> None:
    """Sums over all cycles of three and four edges, for two strengths of noise; 1% more would be noticed."""
    plans = [planned(complete_graph(p), "all", None).plan() for p in (3e-2, 2e-2)]
    search = search_of(plans, Limits(), 3, 1, progress=False)
    assert search.enumerate(0, 1e9)
    expected = np.zeros((2, 2))
    words = np.array([1 << a | 1 << b for a, b in EDGES])
    outputs = np.array(
        [sum(1 << k for k in range(3) if j >= k and (j - k) % 5 == 0) for j in range(len(EDGES))]
    )
    for weight in weights:
        members = np.array(list(combinations(range(len(EDGES)), weight)))
        cycles = members[np.bitwise_xor.reduce(words[members], axis=1) == 0]
        assert len(cycles) == (220 if weight == 3 else 1485)
        counts = len(cycles), np.count_nonzero(np.bitwise_xor.reduce(outputs[cycles], axis=1))
        for circuit, p in enumerate((3e-2, 2e-2)):
            expected[circuit] += np.array(counts) * (p / (1 - p)) ** weight
    found, pulls = [], []
    for seed in range(SAMPLES):
        search._seed = seed
        sample = SampledSets(JoinedSets(Halves(weights, search.masses[0]), search.odds), None)
        for halves in [1000] * 20 * len(weights) + [2000] * 20:
            search.join(sample, halves)
        search._tallies.clear()
        tallies = [search.tally(sample, circuit) for circuit in range(2)]
        assert all(tally.passing == pytest.approx(tally.kept) for tally in tallies)
        found.append([(tally.kept, tally.wrong) for tally in tallies])
        pulls.append((tallies[0].wrong - expected[0, 1]) / math.sqrt(tallies[0].covariance[1, 1]))
    off = deviations(found, expected)
    assert (off < SIGMAS).all(), off
    assert (deviations((1.01 * np.array(found)).tolist(), expected) > SIGMAS).any()
    # 40 normal numbers have a root mean square outside of this range less than once in 10^6 times.
    assert 0.5 < math.sqrt(np.mean(np.square(pulls))) < 1.6


@lru_cache
def all_unions(weight: int) -> np.ndarray:
    """All sets that are unions of two sets that pass, each."""
    search = enumerated()
    study = search.study
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
    assert len(search.odds[0]) <= 256
    words = np.zeros(len(members), dtype=np.uint64)
    for column in members.T:
        words = words * np.uint64(256) + column.astype(np.uint64)
    return np.ascontiguousarray(members[np.unique(words, return_index=True)[1]], dtype=np.uint32)


@pytest.mark.parametrize(
    ("weight", "kept_only"),
    [(4, False), (5, True), *(pytest.param(k, k == 4, marks=pytest.mark.slow) for k in (4, 5, 6))],
)
def test_unions(weight: int, kept_only: bool) -> None:
    """For both strengths of noise; 1% more would be seen."""
    search = enumerated(kept_only=kept_only)
    members = all_unions(weight)
    sample = search.begin_sample(range(weight, weight + 1))
    assert sample.unions is not None
    assert sample.unions.contains(members[:1000]).all()
    classes = search.study.number_keys(members.ravel(), weight, False)
    search.outcomes.evaluate()
    kept = search.outcomes.probabilities[classes, 0]
    expected = np.array([float((np.prod(odds[members], axis=1) * kept).sum()) for odds in search.odds])
    found, pulls = [], []
    for seed in range(SAMPLES):
        search._seed = seed
        unions = UnionSets(sample.unions.sizes, search.mechanisms.checks, search.odds)
        sample = SampledSets(sample.joins, unions)
        for draws in (100_000, 200_000):
            search.unite(sample, draws)
        bound = search.bound(sample.weights)
        tallies = [unions.tally(circuit, search.outcomes, bound) for circuit in range(2)]
        found.append([tally.kept for tally in tallies])
        pulls.append((tallies[0].kept - expected[0]) / math.sqrt(tallies[0].covariance[0, 0]))
    off = deviations(found, expected)  # type: ignore[arg-type]
    assert (off < SIGMAS).all(), off
    assert 0.5 < math.sqrt(np.mean(np.square(pulls))) < 1.6
    too_large = deviations((1.01 * np.array(found)).tolist(), expected)
    assert (too_large > SIGMAS).any()


def test_sets_that_are_unions() -> None:
    """Of five checks: pairs such as (0, 1) flip none, nor do triples such as (4, 5, 6) and (0, 1, 10)."""
    flips = [[0], [0], [1], [1], [2], [3], [2, 3], [0, 1], [4], [4], [], [1, 2]]
    checks = np.array([[check in own for check in range(5)] for own in flips])
    sizes = union_sizes(5, [1.0, 0.0, 0.25, 0.125])
    assert sizes == (2, 3)
    unions = UnionSets(sizes, checks, np.ones((1, len(flips))))
    sets = [[0, 1, 4, 5, 6], [9, 7, 2, 8, 0], [0, 1, 2, 3, 10], [0, 7, 11, 6, 5]]
    assert unions.contains(np.array(sets, dtype=np.uint32)).tolist() == [True, True, True, False]
    for weight, passing in ((7, [1.0, 0.0, 0.25, 0.125]), (5, [1.0, 0.0, 0.25]), (6, [1.0, 0.0, 0.25, 0.0])):
        assert union_sizes(weight, passing) is None


def test_unions_with_too_many_classes() -> None:
    """The attempt is dropped, and its cost counts; then there are fewer draws."""
    search = enumerated(kept_only=True)
    ample, scarce = search.begin_sample(range(5, 6)), search.begin_sample(range(5, 6))
    search.unite(ample, 100_000)
    search.limits = Limits(max_bytes=10_000)
    spent = search.work.spent
    search.unite(scarce, 100_000)
    assert ample.unions is not None
    assert scarce.unions is not None
    assert ample.unions.draws == 100_000
    assert 1 <= scarce.unions.draws < 100_000
    assert search.work.spent - spent == pytest.approx(scarce.unions.cost)
    assert scarce.unions.cost > search_module.sampling_seconds(100_000, 0)


def elementary(odds: np.ndarray, size: int) -> float:
    return sum(math.prod(chosen) for chosen in combinations(odds.tolist(), size))


@pytest.mark.parametrize("weights", [range(4, 5), range(5, 6), range(4, 9)])
def test_densities(weights: range) -> None:
    """14 mechanisms that flip nothing: how often sets are found, by the numbers of halves of each size."""
    odds = np.geomspace(0.5, 0.02, 14)
    masses = np.array([elementary(odds, size) for size in range(13)])
    halves, draws = Halves(weights, masses), 1000
    left, right = halves.draws_of_sizes(draws)
    for of_side in (left, right):
        assert draws <= of_side.sum() <= draws + len(of_side)
    importance = halves.importance_weights(draws)
    assert importance[: weights[0]].tolist() == [0.0] * weights[0]
    many = halves.densities(10**5)[weights[0]]
    assert many == pytest.approx((10**5) ** 2 / halves.scale, rel=1e-3)
    for weight in weights:
        found = sum(
            float(left[a]) * float(right[weight - a]) * math.comb(weight, a) / masses[a] / masses[weight - a]
            for a in range(max(0, weight - len(right) + 1), min(weight + 1, len(left)))
        )
        assert importance[weight] == pytest.approx(1 / found)


def test_covariance_of_finds_that_share_halves() -> None:
    """h = [[1, 2], [0, 4]]: rows 3 and 4, columns 1 and 6, squares 21."""
    sides = np.array([0, 0, 1]), np.array([0, 1, 1])
    none = np.zeros((0, 0), np.uint32)
    join = Join(2, none, none, np.zeros((3, 1)), sides, np.zeros(1), 2)
    assert join.covariance(np.array([[1.0], [2.0], [4.0]])) == pytest.approx(3**2 + 4**2 + 1 + 6**2 - 21)


def test_largest_event_that_may_have_been_missed() -> None:
    """Equal sums have no tail; for a Pareto tail of index g, the level grows as 200^g over the eleventh sum."""
    assert _tail(np.full(50, 2.0)) == pytest.approx(2.0)
    assert _tail(np.zeros(3)) == 0.0
    assert _tail(np.array([0.0, 5.0])) == 5.0
    sums = np.concatenate([np.full(10, math.exp(0.3)), np.ones(30)])
    assert _tail(sums) == pytest.approx(200**0.3)
    assert _tail(1e3 ** np.arange(20.0)) == pytest.approx(1e57)


def test_more_joins_leave_less_missed() -> None:
    search = enumerated()
    sample = SampledSets(JoinedSets(Halves(range(4, 5), search.masses[0]), search.odds), None)
    search.join(sample, 3_000)
    missed = search.tally(sample, 0).missed
    for _ in range(3):
        search.join(sample, 10_000)
        assert 0 < search.tally(sample, 0).missed < missed
        missed = search.tally(sample, 0).missed
