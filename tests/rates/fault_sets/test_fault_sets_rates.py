"""Logical error rates of cultivation from fault sets, against exact published values (arXiv 2609.18922)."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats

import stim_nonclifford as snc
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.generators import cultivation
from stim_nonclifford.rates.estimation.limits import Settings
from stim_nonclifford.rates.fault_sets.search.mechanisms import MAX_WEIGHT
from stim_nonclifford.rates.results import LogicalErrorRate

from ...support.rates.fault_set_cases import (
    SIGMAS,
    FewExactWeights,
    estimate,
    search_of,
)

EXACT = {
    (3, 5e-4): (0.8285997036, 1.640659e-7),
    (3, 1e-3): (0.6867847490, 8.982790954e-7),
    (3, 2e-3): (0.4722572211, 5.691897e-6),
    (5, 5e-4): (0.3791841372, 2.846166e-10),
    (5, 1e-3): (0.1439555841, 3.328425e-9),
}


def cultivation_circuit(distance: int, p: float) -> snc.Circuit:
    return snc.Circuit(cultivation.cultivation_circuit(distance=distance, p=p))


def assert_right(found: LogicalErrorRate, kept: float, rate: float) -> None:
    assert found.kept == pytest.approx(kept, rel=1e-6)
    # The published value has seven digits.
    assert abs(found.logical_error_rate - rate) < SIGMAS * found.standard_error + 1e-6 * rate
    assert found.relative_error <= 0.01


@pytest.mark.parametrize(("d", "p"), [(3, 5e-4), (3, 1e-3), (5, 1e-3)])
def test_cultivation(d: int, p: float) -> None:
    """One 95% interval in twenty misses, so that the seed is one whose intervals do not.

    How many do is counted by ``benchmarks.rates.fault_set_coverage``.
    """
    found = cultivation_circuit(distance=d, p=p).logical_error_rate(
        seed=6, threads=2, postselection_mask="all"
    )
    assert_right(found, *EXACT[d, p])
    low, high = found.interval
    assert low < EXACT[d, p][1] < high
    assert sum(share.kept_and_wrong for share in found.strata) == pytest.approx(found.kept_and_wrong)
    assert sum(share.probability for share in found.strata) == pytest.approx(1)
    assert found.error_patterns == {1: pytest.approx(found.kept_and_wrong)}
    assert found.observable_rates == pytest.approx([found.logical_error_rate])


def test_curve() -> None:
    """Each circuit has the rate that it has by itself, whatever the others are."""
    circuits = [cultivation_circuit(distance=3, p=p) for p in (2e-3, 5e-4, 1e-3)]
    circuits.append(snc.Circuit("X_ERROR(0.25) 0 1\nM 0 1\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-2]"))
    curve = snc.logical_error_rates(circuits, seed=3, threads=2, postselection_mask="all")
    for p, found in zip((2e-3, 5e-4, 1e-3), curve[:-1], strict=True):
        assert_right(found, *EXACT[3, p])
    assert curve[-1].logical_error_rate == pytest.approx(0.25)
    assert curve == [circuit.logical_error_rate(seed=3, postselection_mask="all") for circuit in circuits]


def test_what_is_beyond_the_table_of_weights() -> None:
    """It is far less than the rounding errors of the sum of all weights, and than the smallest rates."""
    strengths = (1e-4, 2e-4, 3e-4, 5e-4, 7e-4, 1e-3, 1.5e-3, 2e-3)
    for p in strengths:
        plan = planned(cultivation_circuit(distance=5, p=p), "all", None).plan()
        # The number of mechanisms that act has about a Poisson distribution.
        poisson = scipy.stats.poisson.sf(MAX_WEIGHT - 1, plan.mean_events)
        assert 0 < search_of(plan, Settings(seed=1)).rest(MAX_WEIGHT) < 2 * poisson


def test_threads_do_not_matter() -> None:
    circuit = cultivation_circuit(distance=3, p=2e-3)
    one, two = (
        circuit.logical_error_rate(seed=11, threads=threads, postselection_mask="all") for threads in (1, 2)
    )
    assert one == two
    assert circuit.logical_error_rate(seed=12, postselection_mask="all") != one


def test_nothing_found_is_an_upper_limit() -> None:
    """Five faults are needed, and only sets of two were looked at: that says so."""
    circuit = snc.Circuit.generated(
        "surface_code:rotated_memory_z", distance=5, rounds=3, after_clifford_depolarization=1e-3
    )
    found = estimate(circuit, FewExactWeights(0.05, max_seconds=1e-9), 0)
    *exact, bound = found.strata
    assert [share.method for share in exact] == ["enumerated"] * len(exact)
    assert found.kept_and_wrong == found.logical_error_rate == 0
    assert found.relative_error == np.inf
    low, high = found.interval
    assert low == 0
    assert high == pytest.approx(bound.standard_error / found.kept, rel=1e-6)
    assert bound.standard_error < bound.probability
    assert high > 1e-8
    assert "as no malignant set was found" in str(found)
    assert "bound" in str(found)


def test_sampled_but_not_found() -> None:
    """At 10^-5 the interval ends where the weights that were sampled in vain allow it."""
    circuit = snc.Circuit.generated(
        "surface_code:rotated_memory_z", distance=5, rounds=2, before_round_data_depolarization=1e-5
    )
    found = circuit.logical_error_rate(seed=2, postselection_mask="all")
    exact = circuit.malignant_sets(max_weight=5, postselection_mask="all")
    leading = sum(each.probability * each.kept_and_wrong for each in exact) / found.kept
    low, high = found.interval
    assert low <= leading * 1.001
    assert high >= leading


@pytest.mark.parametrize(("p", "shots"), [(2e-3, 3 * 10**7), (2e-2, 3 * 10**6)])
def test_consistent_with_counted_errors(p: float, shots: int) -> None:
    """Some 30 and some ten errors; with the stronger noise, sets of up to twenty mechanisms matter."""
    circuit = cultivation_circuit(distance=3, p=p)
    everything = np.ones(circuit.num_detectors, dtype=np.bool_)
    counts = circuit.compile_detector_sampler(seed=1, postselection_mask=everything).sample_counts(shots)
    found = circuit.logical_error_rate(seed=1, postselection_mask="all", relative_error=0.05)
    assert found.relative_error <= 0.05
    expected = found.kept_and_wrong * counts.shots
    assert abs(counts.errors - expected) < SIGMAS * np.sqrt(expected + (0.05 * expected) ** 2)
    kept = found.kept * counts.shots
    assert abs(counts.kept - kept) < SIGMAS * np.sqrt(kept + (0.01 * kept) ** 2)


def test_many_sets_after_none() -> None:
    """Only even sets pass: what one weight says of the next is far off, and corrected."""
    num_qubits, p = 60, 5e-3
    qubits = range(num_qubits)
    lines = [f"X_ERROR({p}) {' '.join(map(str, qubits))}", f"M {' '.join(map(str, qubits))}"]
    lines.append("DETECTOR " + " ".join(f"rec[{-1 - q}]" for q in qubits))
    for observable in range(6):
        flipping = [q for q in qubits if q + 1 >> observable & 1]
        lines.append(
            f"OBSERVABLE_INCLUDE({observable}) " + " ".join(f"rec[{q - num_qubits}]" for q in flipping)
        )
    found = estimate(snc.Circuit("\n".join(lines)), FewExactWeights(0.02), 1)
    # The probability that all seven parities are even, by a Fourier transform.
    characters = [
        (1 - 2 * p) ** sum((((q + 1) << 1 | 1) & parities).bit_count() & 1 for q in qubits)
        for parities in range(128)
    ]
    kept = (1 + (1 - 2 * p) ** num_qubits) / 2
    assert [share.method for share in found.strata[:5]] == ["enumerated"] * 3 + ["join"] * 2
    assert found.kept == pytest.approx(kept, rel=1e-3)
    low, high = found.interval
    assert low <= 1 - np.mean(characters) / kept <= high


SUMS = """
import numpy as np
import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit

circuits = [snc.Circuit(cultivation_circuit(distance=3, p=p, gate="T")) for p in (0.001, 0.002)]
mask = np.ones(circuits[0].num_detectors, dtype=np.bool_)
for seed in (100, 101, 104):
    rates = snc.logical_error_rates(
        circuits, seed=seed, relative_error=0.05, threads=1, postselection_mask=mask
    )
    print(*(number.hex() for rate in rates for number in (rate.standard_error, *rate.interval)))
"""


@pytest.mark.slow
def test_threads_of_numpy_change_no_digit() -> None:
    """The sums of its BLAS depend on the number of its threads."""
    found = [
        subprocess.run(
            [sys.executable, "-c", SUMS],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for threads in ("1", "2")
    ]
    assert found[0] == found[1]
    assert len(set(found[0].split())) == 18
