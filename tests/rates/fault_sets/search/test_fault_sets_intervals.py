"""Coverage of the intervals for sums of weighted Poisson counts, with thousands of repetitions.

Whole sets are drawn as a Poisson process: how often each one comes is a Poisson number, so that an estimate can be
repeated without a search. ``benchmarks/rates/fault_set_coverage.py`` repeats the searches, too.
"""

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.generators import cultivation
from stim_nonclifford.rates.estimation.interval import interval_of_weighted_sum
from stim_nonclifford.rates.estimation.limits import Settings

from ....support.rates.fault_set_cases import enumerate_to, search_of

REPETITIONS = 3000
COVERAGE = 0.95
LEAST = COVERAGE - 5 * (COVERAGE * (1 - COVERAGE) / REPETITIONS) ** 0.5
"""With a coverage of 95%, fewer intervals cover with a probability below 1e-6."""


def coverage(masses: np.ndarray, values: np.ndarray, relative_error: float, seed: int) -> float:
    """How often the interval of a drawn weight holds the sum of masses times values, all at most 1.

    Poisson numbers of events of one size are together another one.
    """
    values, sizes = np.unique(values, return_inverse=True)
    masses = np.bincount(sizes, masses)
    truth = float(masses @ values)
    spacing = float((relative_error * truth) ** 2 / (masses @ values**2))
    random = np.random.default_rng([seed, int(1 / relative_error)])
    return coverage_of_counts(masses / spacing, spacing * values, spacing, random)


def coverage_of_counts(
    means: np.ndarray, sizes: np.ndarray, largest: float, random: np.random.Generator
) -> float:
    """How often the interval holds the mean of a sum of events: Poisson numbers of each size."""
    counts = random.poisson(means, (REPETITIONS, len(means)))
    truth, covered = float(means @ sizes), 0
    for total, variance in zip((counts @ sizes).tolist(), (counts @ sizes**2).tolist(), strict=True):
        low, high = interval_of_weighted_sum(total, variance, largest)
        covered += low <= truth <= high
    return covered / REPETITIONS


@pytest.mark.parametrize("weight", [2, 3])
def test_sets_of_cultivation(weight: int) -> None:
    circuit = snc.Circuit(cultivation.cultivation_circuit(distance=3, p=1e-3))
    known = search_of(planned(circuit, "all", None).plan(), Settings())
    enumerate_to(known, weight)
    exact = known.enumerated[weight]
    probabilities = known.outcomes.probabilities[:, 1]
    values = probabilities[exact.classes]
    masses = exact.coefficients(len(probabilities))[exact.classes]
    malignant = values > 0
    for relative_error in (0.5, 0.3, 0.1, 0.05, 0.02):
        assert coverage(masses[malignant], values[malignant], relative_error, weight) >= LEAST


@pytest.mark.parametrize("relative_error", [0.5, 0.2, 0.1])
@pytest.mark.parametrize("rarity", [1.0, 1e-2, 1e-3])
def test_rare_heavy_sets(rarity: float, relative_error: float) -> None:
    """Half of the sum is in sets that are rare, and certain to be wrong; the others seldom are."""
    masses, values = np.array([1000, 500 * rarity]), np.array([0.5 * rarity, 1])
    assert coverage(masses, values, relative_error, 7) >= LEAST


@pytest.mark.parametrize("mean", [0.3, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("others", [0, 2, 10])
@pytest.mark.parametrize("smaller", [1.0, 0.3])
def test_one_missed_event_is_enough_for_many_samples(mean: float, others: int, smaller: float) -> None:
    """Of samples with events of other sizes, the largest alone counts as missed: seed 5.

    The first sample is well known. Of the others, all together have so many events on average.
    """
    sizes = np.append(0.01, smaller ** np.arange(others + 1))
    means = np.append(300.0, np.full(others + 1, mean / (others + 1)))
    assert coverage_of_counts(means, sizes, float(sizes.max()), np.random.default_rng(5)) >= LEAST
