"""The tables that turn 64-bit words into numbers of events and into mechanisms."""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats

from stim_nonclifford.simulation.compiler.plans.sampling_tables import alias_table, poisson_thresholds

MEANS = [1e-6, 1e-4, 0.01, 0.1, 0.377, 0.5, 1.0, 1.942, 5.0, 20.0, 76.6, 200.0, 744.0, 746.0, 2000.0]


def tails(thresholds: npt.NDArray[np.uint64]) -> list[Fraction]:
    """The probability of more than k events, for every k in the table."""
    return [Fraction(2**64 - int(threshold), 2**64) for threshold in thresholds]


@pytest.mark.parametrize("mean", MEANS)
def test_poisson_distribution(mean: float) -> None:
    """The relative rounding of e^-mean grows with the mean."""
    found = tails(poisson_thresholds(mean))
    expected = scipy.stats.poisson.sf(range(len(found)), mean)
    for k, (tail, value) in enumerate(zip(found, expected, strict=True)):
        assert abs(float(tail) - value) <= (1e-13 if mean < 500 else 1e-12), k
        # A threshold is a multiple of 2^-64.
        assert abs(float(tail) - value) <= max(1e-11 * value, 0.51 * 2**-64), k


@pytest.mark.parametrize("mean", MEANS)
def test_poisson_table_ends_where_tails_vanish(mean: float) -> None:
    thresholds = poisson_thresholds(mean)
    assert thresholds.dtype == np.uint64
    assert np.all(thresholds[1:] >= thresholds[:-1])
    assert scipy.stats.poisson.sf(len(thresholds), mean) < 2**-64
    assert scipy.stats.poisson.sf(len(thresholds) - 1, mean) > 2**-66


def test_no_events() -> None:
    assert len(poisson_thresholds(0.0)) == 0


def test_tiny_mean() -> None:
    (threshold,) = poisson_thresholds(2.0**-60)
    assert 2**64 - int(threshold) == 16


def alias_probabilities(thresholds: npt.NDArray[np.uint64], indices: npt.NDArray[np.int32]) -> list[Fraction]:
    """The exact probability of each result of a table, for a continuous uniform number."""
    size = len(thresholds)
    result = [Fraction(0)] * size
    for cell, (threshold, alias) in enumerate(zip(thresholds.tolist(), indices.tolist(), strict=True)):
        stays = Fraction(threshold, 2**64)
        result[cell] += stays / size
        result[alias] += (1 - stays) / size
    return result


def weights() -> list[npt.NDArray[np.float64]]:
    """Seed 11: sets of rates, from equal to very unequal."""
    rng = np.random.default_rng(11)
    return [
        np.array([0.3]),
        np.array([1.0, 1.0]),
        np.array([1e-12, 1.0]),
        np.array([1.0, 3.0, 1e-9, 2.0]),
        np.full(1000, 0.1),
        np.full(15, 1 / 3),
        rng.random(7),
        rng.random(2934),
        rng.exponential(size=500) ** 8,
        10.0 ** rng.uniform(-14, 0, 300),
        np.concatenate([np.full(4999, 1e-4), [5.0]]),
    ]


@pytest.mark.parametrize("rates", weights(), ids=lambda rates: f"{len(rates)} rates")
def test_alias_table(rates: npt.NDArray[np.float64]) -> None:
    thresholds, indices = alias_table(rates)
    assert thresholds.dtype == np.uint64
    assert indices.dtype == np.int32
    assert thresholds.shape == indices.shape == rates.shape
    total = math.fsum(rates)
    for found, rate in zip(alias_probabilities(thresholds, indices), rates.tolist(), strict=True):
        assert abs(float(found) - rate / total) <= 1e-15


def test_tiny_rates() -> None:
    """The smallest numbers there are: the table is that of larger ones in the same proportion."""
    for unit in (5e-324, 1e-310, 1e-300):
        thresholds, indices = alias_table(np.array([1.0, 3.0, 12.0]) * unit)
        expected = alias_table(np.array([1.0, 3.0, 12.0]) * unit * 2.0**1000)
        np.testing.assert_array_equal(indices, expected[1])
        np.testing.assert_array_equal(thresholds, expected[0])
