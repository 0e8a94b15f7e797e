"""Every weight's sum over fault sets, for random circuits with up to 40 mechanisms, against complete sums.

The 2^40 sets of a circuit flip far fewer combinations of bits. A table with a polynomial for each of them, whose
coefficient k is the probability of its sets of k mechanisms, is multiplied by one mechanism after the other; the
reference engine says what happens to a shot with these bits. The sum of all coefficients must be what a
density-matrix simulation of the noisy circuit says, and each coefficient what the search for sets finds.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.rates.estimation.limits import Settings
from stim_nonclifford.rates.fault_sets.search.estimate import totals_of
from stim_nonclifford.rates.fault_sets.search.joins import JoinedSets
from stim_nonclifford.rates.fault_sets.search.search import Search
from stim_nonclifford.simulation.engines.reference import fate_of_row
from stim_nonclifford.simulation.plan import SamplingPlan

from ....support.laws.exact import mask_of, rank
from ....support.oracle.density_matrix import detector_distribution
from ....support.oracle.random_circuits import random_circuit
from ....support.rates.fault_set_cases import search_of
from ....support.seeds import seeds
from .test_fault_sets_exact import MIXTURES, Mask, plan_of

TOLERANCE = 1e-12
SIGMAS = 5.5
"""Of some thousand comparisons, one is farther away with a probability below 1e-4; seeds are fixed."""

NUM_SEEDS = 4
CIRCUITS_PER_SEED = 6
MIN_MECHANISMS, MAX_MECHANISMS = 15, 40
MAX_PATTERNS = 1 << 9
MAX_SETS = 1e5
SETS = 4000


@dataclass(frozen=True)
class Case:
    circuit: stim.Circuit
    detectors: Mask
    observables: Mask
    plan: SamplingPlan


@lru_cache
def case(seed: int, k: int) -> Case:
    """Circuit k of a seed with masks, drawn again until it has as many mechanisms as wanted."""
    rng = np.random.default_rng([17, seed, k])
    while True:
        circuit = random_circuit(
            rng,
            num_qubits=2 + int(rng.integers(3)),
            num_operations=int(rng.integers(15, 45)),
            instructions=MIXTURES[k % len(MIXTURES)],
        )
        detectors = rng.random(circuit.num_detectors) < 0.8
        observables = rng.random(circuit.num_observables) < 0.2
        if not circuit.num_observables:
            continue
        plan = plan_of(circuit, detectors, observables)
        fits = MIN_MECHANISMS <= plan.num_mechanisms <= MAX_MECHANISMS and len(plan.coins) <= 3
        fits = fits and not plan.never_kept
        if fits and 1 << rank(map(mask_of, plan.effects.dense(plan.num_row_bits))) <= MAX_PATTERNS:
            return Case(circuit, detectors, observables, plan)


def probabilities_of_choices(plan: SamplingPlan) -> Iterator[tuple[float, list[tuple[int, float]]]]:
    """For each site, and each mechanism without one: P(nothing), and (mechanism, probability)."""
    for k in np.flatnonzero(plan.sites < 0).tolist():
        acts = (1 - math.exp(-2 * plan.rates[k])) / 2
        yield 1 - acts, [(k, acts)]
    for site in np.unique(plan.sites[plan.sites >= 0]):
        choices = np.flatnonzero(plan.sites == site).tolist()
        total = float(plan.rates[choices].sum())
        acts = 1 - math.exp(-total)
        yield 1 - acts, [(k, acts * plan.rates[k] / total) for k in choices]


@lru_cache
def complete_sums(seed: int, k: int) -> np.ndarray:
    """float64, shape (weights, 2): P(kept) and P(kept and wrong) by weight."""
    plan = case(seed, k).plan
    rows = [mask_of(row) for row in plan.effects.dense(plan.num_row_bits)]
    factors = list(probabilities_of_choices(plan))
    start = np.zeros(len(factors) + 1)
    start[0] = 1
    table = {0: start}
    for nothing, choices in factors:
        new = {row: nothing * polynomial for row, polynomial in table.items()}
        for row, polynomial in table.items():
            for k, probability in choices:
                into = new.setdefault(row ^ rows[k], np.zeros(len(start)))
                into[1:] += probability * polynomial[:-1]
        table = new
    sums = np.zeros((len(start), 2))
    for row, polynomial in table.items():
        bits = np.array([row >> k & 1 for k in range(plan.num_row_bits)], dtype=np.bool_)
        _, outputs = fate_of_row(plan, bits)
        kept = sum(outputs.values())
        sums += polynomial[:, None] * np.array([kept, kept - outputs.get(0, 0.0)])
    return sums


def simulated(case: Case) -> np.ndarray:
    """P(kept) and P(kept and wrong) from the density matrix of the noisy circuit."""
    reference = snc.Circuit(case.circuit).compile().reference_detectors()
    forbidden = mask_of([*case.detectors, *case.observables])
    found = np.zeros(2)
    for bits, probability in detector_distribution(case.circuit).items():
        row = mask_of(bits) ^ reference
        if not row & forbidden:
            found += probability * np.array([1, row >> case.circuit.num_detectors > 0])
    return found


def search_for(case: Case, seed: int) -> Search:
    return search_of(case.plan, Settings(seed=seed))


@pytest.mark.parametrize("seed", seeds(NUM_SEEDS, quick=1))
def test_every_weight(seed: int) -> None:
    compared = 0
    for k in range(CIRCUITS_PER_SEED):
        each = case(seed, k)
        where = f"seed {seed}, {k}\n{each.circuit}\n{each.detectors} {each.observables}"
        expected = complete_sums(seed, k)
        assert expected.sum(axis=0) == pytest.approx(simulated(each), abs=TOLERANCE), where
        known = search_for(each, 0)
        for weight in range(known.max_weight + 1):
            if math.comb(each.plan.num_mechanisms, weight) > MAX_SETS:
                break
            assert known.enumerate(weight, 1e12), where
            row = totals_of(known).rows[weight]
            sums = row.sums
            assert [sums.kept, sums.wrong] == pytest.approx(expected[weight], abs=TOLERANCE), where
            assert row.mass >= known.factor * row.stratum.passing - TOLERANCE >= sums.kept - 2 * TOLERANCE
            compared += 1
    assert compared >= 5 * CIRCUITS_PER_SEED


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(NUM_SEEDS))
def test_sampled_weights(seed: int) -> None:
    """Sets of 3 to 7. Standard errors are right on average."""
    pulls = []
    for k in range(CIRCUITS_PER_SEED):
        each = case(seed, k)
        known = search_for(each, seed)
        for weight in range(min(known.max_weight, 7) + 1):
            if math.comb(each.plan.num_mechanisms, weight) > MAX_SETS:
                break
            known.enumerate(weight, 1e12)
            passing = known.enumerated[weight].passing
            if weight < 3 or not passing:
                continue
            for number in (seed, seed + 1000):
                joins = joined(known, weight, passing, number)
                sums = known.sums(joins)
                assert joins.passing == pytest.approx(passing, rel=0.5)
                wrong, expected = sums.wrong, complete_sums(seed, k)[weight, 1]
                classes = joins.joins[0].classes
                if np.count_nonzero(known.outcomes.probabilities[classes, 1]) >= 100:
                    pulls.append((wrong - expected) / math.sqrt(sums.covariance[1, 1]))
                elif expected < TOLERANCE:
                    assert wrong < TOLERANCE
    assert len(pulls) >= 10
    assert np.abs(pulls).max() < SIGMAS, f"seed {seed}: {pulls}"
    assert np.sqrt(np.mean(np.square(pulls))) < 1.6


def joined(known: Search, weight: int, passing: float, seed: int) -> JoinedSets:
    """As many halves as find about ``2 * SETS``."""
    known.settings = replace(known.settings, seed=seed)
    joins = known.joined(range(weight, weight + 1))
    known.sample(joins, 1 + int(math.sqrt(2 * SETS * joins.halves.scale / passing)))
    return joins


@pytest.mark.slow
def test_the_circuits_are_diverse() -> None:
    plans = [case(seed, k).plan for seed in range(NUM_SEEDS) for k in range(CIRCUITS_PER_SEED)]
    for has in (
        lambda plan: plan.num_mechanisms > 25,
        lambda plan: plan.num_checks,
        lambda plan: plan.num_signature_bits,
        lambda plan: plan.num_outcome_checks,
        lambda plan: len(plan.coins),
        lambda plan: plan.coins.dense(plan.num_row_bits)[:, : plan.num_checks].any(),
        lambda plan: (plan.constant < plan.num_checks).any(),
        lambda plan: (plan.sites >= 0).any(),
        lambda plan: plan.num_outputs > 1,
    ):
        assert any(has(plan) for plan in plans)
