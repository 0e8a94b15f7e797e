"""What the finds of joins count, by the halves in which they were found, and unions of sets that pass."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from stim_nonclifford.rates.fault_sets.search.halves import Composition, Halves


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
