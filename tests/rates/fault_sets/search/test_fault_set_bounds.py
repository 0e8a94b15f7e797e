"""Proven bounds on the weight of all fault sets of a size, against all sets of small circuits."""

import itertools
from functools import cache

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.rates.estimation.limits import Settings
from stim_nonclifford.rates.fault_sets.search.search import Search

from ....support.rates.fault_set_cases import enumerate_to, search_of

ROUNDING = 1 + 1e-9


def random_circuit(seed: int, num_qubits: int = 7, num_errors: int = 12) -> snc.Circuit:
    """Errors on random qubits; some detectors are parities of them, and the first one fires without noise."""
    rng = np.random.default_rng(seed)
    lines = ["X 0"]
    for _ in range(num_errors):
        qubits = np.flatnonzero(rng.random(num_qubits) < 0.35).tolist() or [0]
        lines.append(f"E({rng.uniform(0.01, 0.4):.4f}) " + " ".join(f"X{q}" for q in qubits))
    lines.append("PAULI_CHANNEL_1(0.1, 0.05, 0.2) 1 2")
    lines.append("M " + " ".join(map(str, range(num_qubits))))
    for _ in range(int(rng.integers(1, 6))):
        measured = np.flatnonzero(rng.random(num_qubits) < 0.5).tolist() or [1]
        lines.append("DETECTOR " + " ".join(f"rec[{q - num_qubits}]" for q in measured))
    lines.append(f"OBSERVABLE_INCLUDE(0) rec[{1 - num_qubits}]")
    return snc.Circuit("\n".join(lines))


def search_for(circuit: snc.Circuit) -> Search:
    return search_of(planned(circuit, "all", None).plan(), Settings())


@cache
def cultivation(largest: int) -> Search:
    known = search_for(snc.Circuit(cultivation_circuit(distance=3, p=2e-3)))
    enumerate_to(known, largest)
    return known


@pytest.mark.parametrize("seed", range(20))
def test_no_sum_over_sets_is_larger(seed: int) -> None:
    """Of the sets that pass, and of those that flip any one combination of checks; also of simpler bounds."""
    known = search_for(random_circuit(seed))
    mechanisms, study = known.mechanisms, known.native
    checks = mechanisms.checks.astype(np.int64) @ (1 << np.arange(mechanisms.checks.shape[1]))
    bounds = [study.bounds(np.ones(1), negligible) for negligible in (0.0, 1e-2, 10.0)]
    for size in range(min(5, known.max_weight + 1)):
        sums: dict[int, float] = {}
        for members in map(list, itertools.combinations(range(len(checks)), size)):
            sites = mechanisms.sites[members]
            if len(set(sites[sites >= 0].tolist())) < np.count_nonzero(sites >= 0):
                continue
            flipped = int(np.bitwise_xor.reduce(checks[members], initial=0))
            sums[flipped] = sums.get(flipped, 0.0) + float(np.prod(mechanisms.odds[members]))
        target = int(mechanisms.target.astype(np.int64) @ (1 << np.arange(mechanisms.checks.shape[1])))
        for found in bounds:
            assert sums.get(target, 0.0) <= found["passing"][size] * ROUNDING
            assert max(sums.values(), default=0.0) <= found["most"][size] * ROUNDING


@pytest.mark.parametrize("largest", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_bounds_are_close(largest: int) -> None:
    """Of d=3 cultivation, a factor of 3 for each mechanism of a set at most, and less than the weight of all sets."""
    known = cultivation(largest)
    found = known.native.bounds(np.ones(1), 0.0)["passing"]
    for size in range(1, largest + 1):
        passing = known.enumerated[size].passing
        assert passing <= found[size] * ROUNDING
        assert found[size] < 3**size * passing
    assert found[8] < 0.02 * known.masses[8]


def test_what_is_known_makes_bounds_smaller() -> None:
    known = cultivation(4)
    closed = np.array([known.enumerated[size].passing for size in range(5)])
    rough, better = (known.native.bounds(sums, 0.0)["passing"] for sums in (np.ones(1), closed))
    assert (better <= rough * ROUNDING).all()
    assert better[4] == pytest.approx(closed[4])
    assert better[7] < rough[7]


def test_threads_do_not_matter() -> None:
    plan = planned(snc.Circuit(cultivation_circuit(distance=3, p=1e-3)), "all", None).plan()
    one, three = (
        search_of(plan, Settings(threads=threads)).native.bounds(np.ones(1), 0.0) for threads in (1, 3)
    )
    for name in ("passing", "most"):
        np.testing.assert_array_equal(one[name], three[name])


def test_the_interval_ends_near_the_estimate() -> None:
    """Of d=5 cultivation, whose larger weights are only bounded."""
    circuit = snc.Circuit(cultivation_circuit(distance=5, p=5e-4))
    found = circuit.logical_error_rate(postselection_mask="all", seed=1, relative_error=0.1)
    (bound,) = (stratum for stratum in found.strata if stratum.method == "bound")
    assert bound.probability > 100 * bound.standard_error > 0
    assert found.interval[1] < 1.5 * found.logical_error_rate
