"""Fault distances and malignant sets."""

from collections import Counter

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.generators import cultivation


def cultivation_circuit(distance: int, p: float, gate: str = "T") -> snc.Circuit:
    return snc.Circuit(cultivation.cultivation_circuit(distance=distance, p=p, gate=gate))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("distance", "fault_distance", "coefficient"),
    [(3, 2, 32 / 75), pytest.param(5, 3, 574 / 375, marks=pytest.mark.slow)],
)
def test_leading_terms(distance: int, fault_distance: int, coefficient: float) -> None:
    """P(kept and wrong) = coefficient x^k + ..., x = p / (1 - p); arXiv 2609.18922."""
    p = 1e-8
    circuit = cultivation_circuit(distance, p)
    found = circuit.fault_distance(postselection_mask="all")
    assert (found.at_least, found.value) == (fault_distance, fault_distance)
    assert str(found) == str(fault_distance)
    leading = sum(
        each.probability * each.kept_and_wrong for each in circuit.malignant_sets(postselection_mask="all")
    )
    # At p = 1e-8 the next terms are 2e-5 of this one.
    assert leading / (p / (1 - p)) ** fault_distance == pytest.approx(coefficient, rel=1e-4)


def test_sets_of_three_in_d5() -> None:
    """Nine sets: six with 1/32 and three with 1/16, each as an exact calculation for its faults says.

    Together they make the leading term (574/375) p^3 of arXiv 2609.18922.
    """
    p = 1e-12
    circuit = cultivation_circuit(5, p)
    malignant = circuit.malignant_sets(threads=2, postselection_mask="all")
    assert Counter(round(each.kept_and_wrong, 12) for each in malignant) == {1 / 32: 6, 1 / 16: 3}
    contributions = [each.probability * each.kept_and_wrong for each in malignant]
    assert contributions == sorted(contributions, reverse=True)
    assert sum(contributions) / (p / (1 - p)) ** 3 == pytest.approx(574 / 375, rel=1e-7)
    for each in malignant:
        assert each.weight == len(each.faults) == 3
        fate = circuit.outcome_probabilities(each.faults, postselection_mask="all")
        assert fate.kept_and_wrong == pytest.approx(each.kept_and_wrong, abs=1e-12)
        assert fate.kept_and_right == pytest.approx(each.kept - each.kept_and_wrong, abs=1e-12)


def test_faults_as_gates() -> None:
    """The circuit with a set's faults in it, and no other noise, has the set's probabilities."""
    circuit = cultivation_circuit(3, 1e-3)
    each = circuit.malignant_sets(postselection_mask="all")[0]
    faulty = circuit.with_faults(each.faults)
    everything = np.ones(circuit.num_detectors, dtype=np.bool_)
    sampler = faulty.compile_detector_sampler(
        seed=4, postselection_mask=everything, skip_reference_sample=True
    )
    counts = sampler.sample_counts(100_000)
    assert abs(counts.kept / counts.shots - each.kept) < 5 * (each.kept / counts.shots) ** 0.5
    assert abs(counts.errors / counts.shots - each.kept_and_wrong) < 5 * (each.kept / counts.shots) ** 0.5


def test_all_weights() -> None:
    """Sets of each weight up to the largest, on a circuit that can be done by hand."""
    circuit = snc.Circuit(
        """
        X_ERROR(0.1) 0 1 2
        M 0 1 2
        DETECTOR rec[-3] rec[-2]
        OBSERVABLE_INCLUDE(0) rec[-3]
        """
    )
    found = circuit.malignant_sets(max_weight=3, postselection_mask="all")
    assert [each.weight for each in found] == [2]  # qubit 2 flips nothing, and is no mechanism
    assert found[0].probability == pytest.approx(0.01)
    assert [fault.pauli for fault in found[0].faults] == ["X0", "X1"]
    assert circuit.malignant_sets(max_weight=1, postselection_mask="all") == []


def test_a_shot_without_faults_can_be_discarded() -> None:
    """Of two faults that make up for an error that is certain, one flips the observable.

    The error that is certain is among the faults: they are those of the shot.
    """
    circuit = snc.Circuit(
        """
        X_ERROR(1) 0
        X_ERROR(0.1) 1
        X_ERROR(0.2) 2
        CX 1 0 2 0
        M 0 2
        DETECTOR rec[-2]
        OBSERVABLE_INCLUDE(0) rec[-1]
        """
    )
    [each] = circuit.malignant_sets(postselection_mask="all")
    assert [[fault.pauli for fault in alternatives] for alternatives in each.causes] == [["X2"]]
    assert [fault.pauli for fault in each.faults] == ["X0", "X2"]
    assert (each.kept, each.kept_and_wrong) == (1, 1)
    assert each.probability == pytest.approx(0.9 * 0.2)
    assert circuit.fault_distance(postselection_mask="all").value == 1


def test_a_bound() -> None:
    """The search ends before a malignant set."""
    found = cultivation_circuit(5, 1e-3).fault_distance(max_weight=2, postselection_mask="all")
    assert (found.at_least, found.value, str(found)) == (3, None, "at least 3")


def test_no_faults_needed() -> None:
    """A rotation by a small angle is noise, but no fault: it makes a kept shot wrong by itself."""
    circuit = snc.Circuit(
        "RX 0\nR_Z(0.1) 0\nX_ERROR(0.1) 1\nMX 0\nM 1\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-2]"
    )
    assert circuit.fault_distance(postselection_mask="all").value == 0
    [nothing] = circuit.malignant_sets(postselection_mask="all")
    assert nothing.faults == ()
    assert nothing.kept_and_wrong == pytest.approx(np.sin(np.pi / 20) ** 2)


@pytest.mark.parametrize("noise", ["", "DEPOLARIZE1(0.1) 0", "X_ERROR(0) 0"])
def test_circuits_without_mechanisms(noise: str) -> None:
    """Noise that flips nothing is no mechanism; certain noise makes the empty set malignant."""
    circuit = snc.Circuit(
        f"R 0 1\nM 1\nDETECTOR rec[-1]\nX_ERROR(1) 1\nM 1\nOBSERVABLE_INCLUDE(0) rec[-1]\n{noise}"
    )
    rate = circuit.logical_error_rate(seed=1, postselection_mask="all")
    assert (rate.kept, rate.logical_error_rate) == (pytest.approx(1), pytest.approx(1))
    assert circuit.fault_distance(postselection_mask="all").value == 0
    [empty] = circuit.malignant_sets(postselection_mask="all")
    assert (empty.weight, empty.probability, empty.kept_and_wrong) == (0, 1, pytest.approx(1))
    quiet = snc.Circuit(f"R 0\nM 0\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]\n{noise}")
    assert quiet.logical_error_rate(seed=1, postselection_mask="all").logical_error_rate == 0
    assert quiet.fault_distance(postselection_mask="all").value is None
    assert quiet.malignant_sets(postselection_mask="all") == []


def test_budget_of_a_circuit_without_mechanisms() -> None:
    """Noise that is certain is no mechanism, but weaker noise would be one: its derivative is not known."""
    circuit = snc.Circuit("MPAD(1) 0\nR 1\nCX rec[-1] 1\nM 1\nOBSERVABLE_INCLUDE(0) rec[-1]")
    budget = circuit.logical_error_rate(seed=1, postselection_mask="all").error_budget("instruction")
    shares = {str(group.group): group.share for group in budget.groups}
    assert shares == {"line 1: MPAD(1)": 0, "no fault": 1}
    assert np.isnan(budget.groups[0].sensitivity)
