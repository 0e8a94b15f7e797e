"""Joins against the sum over all fault sets: of one weight, and of several.

Repeated samples must have their mean, to 0.13%, and a spread that is at most the one that their sums say; a
sampler whose importance weights are 1% too large fails.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.rates.estimation.limits import Settings
from stim_nonclifford.rates.fault_sets.interface import estimate_rates
from stim_nonclifford.rates.fault_sets.search.halves import Halves
from stim_nonclifford.rates.fault_sets.search.joins import Join, JoinedSets, _tail
from stim_nonclifford.rates.fault_sets.search.search import Search

from ....support.rates.fault_set_cases import search_of

SIGMAS = 6.0
"""Student's t of 39 degrees of freedom exceeds 6 less than once in 10^6 times; the seeds are fixed."""

SAMPLES = 40


def thinned() -> snc.Circuit:
    """Cultivation of distance 3, of whose noise channels a ninth is left: 1,467 sets of three pass."""
    lines = str(cultivation_circuit(3, p=1e-3)).splitlines()
    is_noise = [line.strip().startswith(("DEPOLARIZE", "X_ERROR", "Z_ERROR")) for line in lines]
    numbers = np.cumsum(is_noise)
    kept = [line for line, noise, k in zip(lines, is_noise, numbers, strict=True) if not noise or k % 9 == 0]
    return snc.Circuit("\n".join(kept))


def enumerated() -> Search:
    """Weights 0 to 3 enumerated."""
    search = search_of(planned(thinned(), "all", None).plan(), Settings(seed=3))
    for weight in range(4):
        assert search.enumerate(weight, 1e12)
    return search


def joins_of(search: Search, weights: range) -> JoinedSets:
    return JoinedSets(weights, search.masses, 1.0, len(search.mechanisms.odds), search.settings)


def assert_has_mean(
    search: Search, new: Callable[[], JoinedSets], draws: list[int], expected: float, column: int
) -> list[float]:
    """Compares repeated samples of these sizes with an exact sum; returns the errors, in units of what is said.

    The mean is known to 0.13%, so that 1% more would be noticed.
    """
    expected *= search.factor
    found, pulls = [], []
    for seed in range(SAMPLES):
        search.settings = replace(search.settings, seed=seed)
        stratum = new()
        for each in draws:
            search.sample(stratum, each)
        sums = search.sums(stratum)
        found.append([sums.kept, sums.wrong][column])
        pulls.append((found[-1] - expected) / math.sqrt(sums.covariance[column, column]))
    spread = np.std(found, ddof=1) / math.sqrt(SAMPLES)
    assert spread < 1.3e-3 * expected
    assert abs(np.mean(found) - expected) < SIGMAS * spread
    assert abs(1.01 * np.mean(found) - expected) > SIGMAS * 1.01 * spread
    # 40 normal numbers have a larger root mean square less than once in 10^6 times.
    assert math.sqrt(np.mean(np.square(pulls))) < 1.6
    return pulls


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
    """Sums over all cycles of three and four edges."""
    p = 3e-2
    search = search_of(planned(complete_graph(p), "all", None).plan(), Settings(seed=3))
    assert search.enumerate(0, 1e9)
    words = np.array([1 << a | 1 << b for a, b in EDGES])
    outputs = np.array(
        [sum(1 << k for k in range(3) if j >= k and (j - k) % 5 == 0) for j in range(len(EDGES))]
    )
    wrong = 0.0
    for weight in weights:
        members = np.array(list(combinations(range(len(EDGES)), weight)))
        cycles = members[np.bitwise_xor.reduce(words[members], axis=1) == 0]
        assert len(cycles) == (220 if weight == 3 else 1485)
        flipped = np.bitwise_xor.reduce(outputs[cycles], axis=1)
        wrong += np.count_nonzero(flipped) * (p / (1 - p)) ** weight
    draws = [1000] * 20 * len(weights) + [2000] * 20
    pulls = assert_has_mean(search, lambda: joins_of(search, weights), draws, wrong, 1)
    assert math.sqrt(np.mean(np.square(pulls))) > 0.5
    joins = joins_of(search, weights)
    search.sample(joins, 1000)
    assert search.factor * joins.passing == pytest.approx(search.sums(joins).kept)


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
    none = np.zeros((0, 0), np.uint32)
    sides = np.array([0, 0, 1]), np.array([0, 1, 1])
    values = np.array([[1.0], [2.0], [4.0]])
    join = Join(2, none, none, np.zeros(3, np.int64), np.zeros(3), sides, 1.0)
    assert join.covariance(values) == pytest.approx(3**2 + 4**2 + 1 + 6**2 - 21)


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
    joins = joins_of(search, range(4, 5))
    search.sample(joins, 3_000)
    missed = search.sums(joins).missed
    for _ in range(3):
        search.sample(joins, 10_000)
        assert 0 < search.sums(joins).missed < missed
        missed = search.sums(joins).missed


@dataclass(frozen=True)
class FewEnumerated(Settings):
    """Settings under which only the first weights are enumerated."""

    def may_enumerate(self, weight: int, steps: float, classes: float) -> bool:
        """See ``Settings``."""
        return weight <= 2


def cycle_rate(p: float) -> float:
    """The logical error rate of ``complete_graph``: 1 - P(nothing fires) / P(no check fires).

    Each of both is the mean, over all sums of outputs, of (-1)^sum: a product over edges.
    """
    flips = np.array(
        [
            1 << a | 1 << b | sum(1 << 12 + k for k in range(3) if j >= k and (j - k) % 5 == 0)
            for j, (a, b) in enumerate(EDGES)
        ]
    )
    bits = np.arange(1 << 15)[:, np.newaxis] & flips
    is_odd = sum(bits >> k & 1 for k in range(15)) % 2
    means = np.where(is_odd, 1 - 2 * p, 1.0).prod(axis=1)
    return float(1 - means.mean() / means[: 1 << 12].mean())


def test_estimates_that_end_the_search_themselves() -> None:
    """Seeds 0 to 59, to 10%. They are low by a tenth of their error where a tail is heavy, and less here.

    The mean of 60 errors, of spread 0.8, is that far off less than once in 10^6 times. Estimates that are 10%
    too low, as of all weights that were sampled, fail.
    """
    p, runs = 3e-2, 60
    asked, exact = planned(complete_graph(p), "all", None), cycle_rate(p)
    found = [estimate_rates([asked], FewEnumerated(0.1, seed=seed))[0] for seed in range(runs)]
    values = np.array([each.logical_error_rate for each in found])
    errors = np.array([each.standard_error for each in found])
    assert abs(np.mean((values - exact) / errors)) < 0.65
    assert abs(np.mean((0.9 * values - exact) / errors)) > 0.65
    covered = sum(each.interval[0] <= exact <= each.interval[1] for each in found)
    assert covered >= 46  # of a binomial number with 95%, less has a probability below 10^-6
