"""Circuits without quantum outcomes: a search for kept sets and one for wrong sets, against one search for both."""

import functools
import math
import operator

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.rates.budget.malignant_sets import BudgetBasis
from stim_nonclifford.rates.estimation.limits import Settings
from stim_nonclifford.rates.fault_sets.interface import PlannedCircuit, rate_of
from stim_nonclifford.rates.fault_sets.search.allocation import Allocation
from stim_nonclifford.rates.fault_sets.search.estimate import Estimate
from stim_nonclifford.rates.fault_sets.search.mechanisms import decided_by_faults, mechanisms_of
from stim_nonclifford.rates.fault_sets.search.search import Search
from stim_nonclifford.rates.fault_sets.search.strata import KEPT, WRONG
from stim_nonclifford.rates.results import LogicalErrorRate
from stim_nonclifford.rates.results.error_budget import ErrorBudget

from ....support.rates.fault_set_cases import (
    SIGMAS,
    assert_sampled_weights_equal_exact_ones,
    covers,
    enumerate_to,
    search_of,
)

# The observable is flipped without any fault; a fair coin decides about the first detector.
FLIPPED = """
H 2
X_ERROR(0.01) 0 1
DEPOLARIZE2(0.03) 0 1
CX 0 1
X 1
X_ERROR(0.02) 2
M(0.005) 2 0 1
DETECTOR rec[-3] rec[-2]
DETECTOR rec[-2]
OBSERVABLE_INCLUDE(0) rec[-1]
"""


def proxy(distance: int, p: float) -> snc.Circuit:
    return snc.Circuit(cultivation_circuit(distance=distance, p=p, gate="S"))


def surface_code(distance: int, p: float) -> snc.Circuit:
    text = stim.Circuit.generated(
        "surface_code:rotated_memory_x",
        distance=distance,
        rounds=2,
        after_clifford_depolarization=p,
        before_measure_flip_probability=p,
    )
    return snc.Circuit(str(text))


def is_decided(circuit: str) -> bool:
    own = snc.Circuit(circuit)
    plan = PlannedCircuit(own.compile(), range(own.num_detectors)).plan()
    return decided_by_faults(plan, mechanisms_of(plan))


def one_search(asked: PlannedCircuit, settings: Settings) -> tuple[LogicalErrorRate, BudgetBasis]:
    search = search_of(asked.plan(), settings)
    Allocation(search).run()
    known = Estimate([search])
    return rate_of(known, 1, settings.relative_error), BudgetBasis(known, asked.compiled, asked.plan())


def joined(circuit: snc.Circuit, seed: int, column: int | None) -> Search:
    """A search that enumerated up to two mechanisms, and has one small join of each larger weight."""
    plan = planned(circuit, "all", None).plan()
    mechanisms = mechanisms_of(plan)
    model = mechanisms.with_flipped_observable() if column == WRONG else mechanisms
    search = Search(plan, model, Settings(seed=seed), column)
    enumerate_to(search, 2)
    for weight in range(3, 15):
        stratum = search.joined(range(weight, weight + 1))
        search.sample(stratum, 1000)
        search.strata.append(stratum)
    return search


@functools.cache
def probability_of_no_detection(model: str) -> float:
    """P(no detector fires): the mean over sets of detectors of the expectation value of their parity's sign.

    Its logarithm is a sum over the errors that flip the parity, by a fast Walsh-Hadamard transform.
    """
    errors = stim.DetectorErrorModel(model)
    logarithms = np.zeros(1 << errors.num_detectors)
    for error in errors.flattened():
        if error.type == "error":
            flipped = (t.val for t in error.targets_copy() if t.is_relative_detector_id())
            mask = functools.reduce(operator.xor, (1 << k for k in flipped), 0)
            logarithms[mask] += math.log(1 - 2 * error.args_copy()[0])
    total = logarithms.sum()
    for k in range(errors.num_detectors):
        even, odd = np.moveaxis(logarithms.reshape(-1, 2, 1 << k), 1, 0)
        even += odd
        odd *= -2
        odd += even
    return float(np.exp((total - logarithms) / 2).mean())


def numbers(budget: ErrorBudget) -> np.ndarray:
    return np.array(
        [
            (
                each.share,
                each.discarded,
                each.kept_derivative,
                each.kept_and_wrong_derivative,
                each.sensitivity,
            )
            for each in budget.groups
        ]
    )


@pytest.mark.parametrize(
    "circuit",
    [
        snc.Circuit(FLIPPED),
        pytest.param(proxy(3, 1e-3), marks=pytest.mark.slow),
        pytest.param(surface_code(3, 1e-3), marks=pytest.mark.slow),
    ],
    ids=["flipped", "cultivation", "surface code"],
)
def test_equals_one_search(circuit: snc.Circuit) -> None:
    """Nearly all there is is enumerated in both."""
    asked = planned(circuit, "all", None)
    plan = asked.plan()
    assert decided_by_faults(plan, mechanisms_of(plan))
    found, (expected, basis) = (
        circuit.logical_error_rate(seed=1, relative_error=2e-3, postselection_mask="all"),
        one_search(asked, Settings(relative_error=2e-3)),
    )
    assert found.kept == pytest.approx(expected.kept, rel=1e-7)
    # Of what was looked at: the bound of what was not is part of the standard errors of the rates.
    sampled = math.hypot(*(share.standard_error for share in (*found.strata, *expected.strata)))
    assert sampled < 1e-4 * found.kept_and_wrong
    assert found.kept_and_wrong == pytest.approx(expected.kept_and_wrong, rel=1e-8, abs=SIGMAS * sampled)
    assert found.error_patterns == {1: pytest.approx(found.kept_and_wrong)}
    assert found.observable_rates == pytest.approx([found.logical_error_rate])
    assert found.interval[0] <= expected.interval[1]
    assert expected.interval[0] <= found.interval[1]
    assert sum(share.probability for share in found.strata) == pytest.approx(1)
    assert sum(share.kept_and_wrong for share in found.strata) == pytest.approx(found.kept_and_wrong)
    for ours, theirs in zip(found.strata, expected.strata, strict=False):
        if ours.method == theirs.method == "enumerated":
            assert ours.kept <= theirs.kept * (1 + 1e-9)
            if ours.least_faults <= 4:  # P(kept) is known well enough without larger sets
                assert ours.kept == pytest.approx(theirs.kept, rel=1e-9)
            assert ours.kept_and_wrong == pytest.approx(theirs.kept_and_wrong, rel=1e-9)
    for by in ("noise", "qubit"):
        ours, theirs = found.error_budget(by), basis.budget(by)
        assert [each.group for each in ours.groups] == [each.group for each in theirs.groups]
        scale = [1, 1, 1, found.kept_and_wrong, 1]
        tolerance = 1e-9 + SIGMAS * sampled / found.kept_and_wrong
        np.testing.assert_allclose(numbers(ours) / scale, numbers(theirs) / scale, rtol=5e-5, atol=tolerance)


@pytest.mark.parametrize("columns", [(None,), (KEPT, WRONG)])
def test_error_of_kept(columns: tuple[int | None, ...]) -> None:
    """Seeds 0 to 39, against the exact sum: the error is neither too small nor far too large."""
    circuit = proxy(3, 5e-3)
    exact = probability_of_no_detection(str(circuit.detector_error_model()))
    pulls = []
    for seed in range(0, 40, 2):
        known = Estimate([joined(circuit, seed + k, column) for k, column in enumerate(columns)])
        found = rate_of(known, 1, 0.1)
        assert 1e-6 < found.kept_error / found.kept < 1e-3
        pulls.append((found.kept - exact) / found.kept_error)
    assert 0.2 < np.mean(np.square(pulls)) < 2.5


def test_sampled_weights_equal_exact_ones() -> None:
    """Seed 0. P(kept and wrong) is joined by itself; the flipped observable is a check."""
    assert_sampled_weights_equal_exact_ones(proxy(3, 2e-3), 0)


def test_threads_do_not_matter() -> None:
    one, two = (
        proxy(3, 2e-3).logical_error_rate(seed=3, threads=threads, postselection_mask="all")
        for threads in (1, 2)
    )
    assert one == two


def test_rare_errors_are_found_among_sets_that_are_not() -> None:
    """Seed 1. All wrong sets of up to five mechanisms are enumerated."""
    found = proxy(5, 5e-4).logical_error_rate(seed=1, relative_error=0.1, threads=2, postselection_mask="all")
    assert [share.method for share in found.strata[:6]] == ["enumerated"] * 6
    # Those of the leading term.
    assert found.strata[4].sets == 24
    assert found.strata[4].kept_and_wrong == pytest.approx(1.25061e-13, rel=1e-4)
    # 9.455(53)e-12, seed 2 and an error of 1%.
    error = math.hypot(found.standard_error, 0.053e-12)
    assert abs(found.logical_error_rate - 9.455e-12) < SIGMAS * error
    assert covers(found, 9.455e-12)
    assert found.relative_error <= 0.1


@pytest.mark.parametrize(
    ("circuit", "expected"),
    [
        (FLIPPED, True),
        (FLIPPED + "OBSERVABLE_INCLUDE(1) rec[-1]", False),
        (FLIPPED.replace("H 2", "H 2\nCX 2 1"), True),  # the check of the coin decides about it
        (FLIPPED.replace("M(0.005)", "H 0\nM(0.005)"), True),
        ("X_ERROR(0.1) 0\nM 0\nDETECTOR rec[-1]\nMX 1\nOBSERVABLE_INCLUDE(0) rec[-1]", False),
        ("X_ERROR(0.1) 0\nM 0\nDETECTOR rec[-1]\nRX 1\nT 1\nMX 1\nOBSERVABLE_INCLUDE(0) rec[-1]", False),
        ("RX 0\nZ_ERROR(0.1) 0\nT 0\nMX 0\nDETECTOR rec[-1]\nM 1\nOBSERVABLE_INCLUDE(0) rec[-1]", False),
    ],
)
def test_where_faults_decide(circuit: str, expected: bool) -> None:
    assert is_decided(circuit) == expected


@pytest.mark.slow
def test_interval_where_wrong_sets_are_too_few_to_be_found() -> None:
    """Seed 1. Above some weight no wrong set is found; sets with which shots are kept say how many there can be."""
    found = proxy(5, 1e-3).logical_error_rate(seed=1, relative_error=0.1, threads=2, postselection_mask="all")
    assert any(share.method == "join" and share.sets < 20 for share in found.strata)
    low, high = found.interval
    # 3.0798(25)e-10, seed 2 and an error of 1%.
    assert low < 3.0798e-10 < high
    assert found.logical_error_rate == pytest.approx(3.0798e-10, rel=0.02)
    assert high < 1.2 * found.logical_error_rate
