"""The faults of malignant sets and of failed shots: shots with them have the probabilities that are claimed.

Random circuits have channels of all kinds, with probabilities of up to 1: Pauli channels that are no product
of independent errors, heralded ones, chains of correlated errors, and readout errors.
"""

import itertools
import re
from collections.abc import Iterable

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.simulation.faults import CircuitFault, FaultTable

from ...support.laws.exact import mask_of
from ...support.oracle.density_matrix import detector_distribution
from ...support.oracle.random_circuits import ALL_FAMILIES, Family, random_circuit
from ...support.rates.fault_set_cases import malignant_sets_of_anything
from ...support.seeds import seeds

QUIET = {Family.MEASUREMENTS, Family.RESETS, Family.CLIFFORD, Family.T, Family.DETECTORS, Family.OBSERVABLES}
NOISY = frozenset(QUIET | {Family.NOISE, Family.EXOTIC_NOISE, Family.MEASUREMENT_NOISE})

LIKELY_ERRORS = [
    "X_ERROR(0.9) 0",
    "X_ERROR(0.9) 0\nX_ERROR(0.2) 0",  # the absence of one X has the effect of the other
    "X_ERROR(1) 0\nX_ERROR(0.3) 0",
    "DEPOLARIZE1(0.9) 0",
    "DEPOLARIZE1(1) 0",
    "DEPOLARIZE2(0.99) 0 1",
    "PAULI_CHANNEL_1(0.7, 0.1, 0.05) 0",
    "PAULI_CHANNEL_1(0.1, 0.9, 0) 0",
    "PAULI_CHANNEL_1(0.09, 0.01, 0.09) 0",  # X and Z, independent
    "PAULI_CHANNEL_1(0.09, 0.81, 0.09) 0",
    "PAULI_CHANNEL_2(0, 0, 0, 0.6, 0.1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.1) 0 1",
    "HERALDED_ERASE(0.95) 0",
    "HERALDED_PAULI_CHANNEL_1(0.05, 0.7, 0.1, 0.1) 0",
    "HERALDED_PAULI_CHANNEL_1(0, 0.1, 0.2, 0) 0",
    "E(0.9) X0\nELSE_CORRELATED_ERROR(0.5) X1 Z0",
    "E(0.2) X0\nELSE_CORRELATED_ERROR(0.9) X1 Z0\nELSE_CORRELATED_ERROR(0.5) Y0",
    "E(1) X0\nELSE_CORRELATED_ERROR(0.5) X1",
    "M(0.9) 0",
    "MR(0.8) 0\nX_ERROR(0.1) 0",
    "MPAD(0.9) 0 1",
    "MPP(0.7) X0*X1 Z1",
    "REPEAT 2 {\n    X_ERROR(0.8) 0\n    Y_ERROR(0.1) 1\n}",
]


def fate_by_density_matrix(circuit: snc.Circuit, with_faults: snc.Circuit) -> tuple[float, float, float]:
    """(kept and right, kept and wrong, discarded) of the noise-free circuit with the faults in it."""
    num_detectors = circuit.num_detectors
    reference = circuit.compile().reference_detectors()
    right = wrong = discarded = 0.0
    for bits, probability in detector_distribution(with_faults.to_stim()).items():
        flips = mask_of(bits) ^ reference
        if flips & (1 << num_detectors) - 1:
            discarded += probability
        elif flips:
            wrong += probability
        else:
            right += probability
    return right, wrong, discarded


def paulis(faults: Iterable[CircuitFault]) -> list[str]:
    return [fault.pauli for fault in faults]


def assert_named(circuit: snc.Circuit, max_weight: int = 2, most: int = 60) -> int:
    """Checks the malignant sets of a circuit; returns how many were checked by density matrices."""
    malignant = malignant_sets_of_anything(circuit, max_weight)
    known = set(circuit.faults())
    fates = circuit.outcome_probabilities(
        [each.faults for each in malignant] or [[]], postselection_mask="all"
    )
    for each, fate in zip(malignant, fates, strict=False):
        assert set(each.faults) <= known
        assert all(set(alternatives) <= known for alternatives in each.causes)
        assert len({(fault.step, fault.group) for fault in each.faults}) == len(each.faults)
        assert fate.kept_and_wrong == pytest.approx(each.kept_and_wrong, abs=1e-11)
        assert fate.kept_and_right == pytest.approx(each.kept - each.kept_and_wrong, abs=1e-11)
    for each in malignant[:most]:
        right, wrong, _ = fate_by_density_matrix(circuit, circuit.with_faults(each.faults))
        assert (right, wrong) == pytest.approx(
            (each.kept - each.kept_and_wrong, each.kept_and_wrong), abs=1e-9
        )
    return len(malignant[:most])


@pytest.mark.parametrize("seed", seeds(30, quick=10))
def test_malignant_sets_of_random_circuits(seed: int) -> None:
    """Of the seeds [340, seed]."""
    rng = np.random.default_rng([340, seed])
    families = NOISY if seed % 2 else ALL_FAMILIES - {Family.CONDITIONAL}
    text = random_circuit(rng, num_qubits=3, num_operations=16, max_records=6, instructions=families)
    circuit = snc.Circuit(text)
    # Without detectors, there are more sets; with them, some kept shots are certain.
    detectors = "".join(
        f"DETECTOR rec[-{1 + int(rng.integers(circuit.num_measurements))}]\n" for _ in range(2)
    )
    assert_named(circuit + snc.Circuit(detectors))


def test_random_circuits_have_malignant_sets() -> None:
    """So that the test above tests something. Seeds [341, 0] to [341, 19]."""
    checked = 0
    for seed in range(20):
        rng = np.random.default_rng([341, seed])
        circuit = snc.Circuit(
            random_circuit(rng, num_qubits=3, num_operations=14, max_records=6, instructions=NOISY)
        )
        checked += assert_named(circuit, most=10)
    assert checked > 50


@pytest.mark.parametrize("noise", LIKELY_ERRORS)
def test_errors_that_are_more_likely_than_none(noise: str) -> None:
    for basis in ("M", "MX", "MY"):
        circuit = snc.Circuit(
            f"R 0 1\nRX 2\nCX 2 1\nT 2\n{noise}\nX_ERROR(0.1) 1\n{basis} 0 1 2\n"
            "DETECTOR rec[-1] rec[-3]\nOBSERVABLE_INCLUDE(0) rec[-2]"
        )
        assert assert_named(circuit, max_weight=3) > 0


def test_what_happens_is_named() -> None:
    circuit = snc.Circuit(
        "R 0 1\nX_ERROR(0.9) 0\nX_ERROR(0.01) 1\nM 0 1\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1] rec[-2]"
    )
    [nothing] = circuit.malignant_sets(
        postselection_mask="all"
    )  # the shots that are kept usually have an X on qubit 0
    assert (nothing.weight, nothing.causes) == (0, ())
    assert [fault.pauli for fault in nothing.faults] == ["X0"]
    # A kept shot has no X on qubit 0, whose absence is the event, and is wrong with the other X.
    circuit = snc.Circuit(
        "R 0 1\nX_ERROR(0.9) 0\nX_ERROR(0.1) 1\nM 0 1\nDETECTOR rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    [absence] = circuit.malignant_sets(postselection_mask="all")
    assert sorted(paulis(each) for each in absence.causes) == [[], ["X1"]]
    assert paulis(absence.faults) == ["X1"]
    assert absence.probability == pytest.approx(0.1 * 0.1)
    other = snc.Circuit(str(circuit).replace("X_ERROR(0.9) 0", "PAULI_CHANNEL_1(0.9, 0, 0.1) 0"))
    [instead] = other.malignant_sets(postselection_mask="all")
    assert sorted(paulis(each) for each in instead.causes) == [["X1"], ["Z0"]]
    assert paulis(instead.faults) == ["Z0", "X1"]


def test_events_of_one_place_are_one_fault() -> None:
    """Y and Z of a depolarizing channel, which are independent mechanisms, are X."""
    circuit = snc.Circuit(
        "R 0 1\nRX 2\nCX 2 0 2 1\nDEPOLARIZE1(0.1) 0\nMPP X0*X1*X2 Z0*Z1\n"
        "DETECTOR rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    named = [
        (each.weight, paulis(each.faults))
        for each in circuit.malignant_sets(postselection_mask="all", max_weight=3)
    ]
    assert named == [(1, ["X0"]), (2, ["X0"])]
    assert_named(circuit, max_weight=3)


@pytest.mark.filterwarnings("ignore::stim_nonclifford.RandomObservableWarning")
@pytest.mark.parametrize("seed", range(10))
def test_failures_of_random_circuits(seed: int) -> None:
    """Each failure has faults that can give it. Of the seeds [342, seed]."""
    rng = np.random.default_rng([342, seed])
    circuit = snc.Circuit(
        random_circuit(rng, num_qubits=3, num_operations=16, max_records=6, instructions=NOISY)
    )
    if not circuit.num_observables:
        pytest.skip("no observable")
    mask = rng.random(circuit.num_detectors) < 0.5
    sampler = circuit.compile_detector_sampler(seed=seed, postselection_mask=mask)
    failures = sampler.sample_failures(200).failures
    sets = [failure.faults for failure in failures]
    table = FaultTable(circuit.to_stim(), circuit.compile())
    fates = table.outcome_probabilities(sets, np.flatnonzero(mask).tolist())
    assert all(fate.kept_and_wrong > 1e-6 for fate in fates)


def test_failure_of_a_likely_error() -> None:
    """Of 10 shots, all are failures in which there is an X. Seed 1 has no shot without it."""
    circuit = snc.Circuit("X_ERROR(0.9) 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    failures = circuit.compile_detector_sampler(seed=1).sample_failures(10).failures
    assert len(failures) >= 5
    assert all([fault.pauli for fault in failure.faults] == ["X0"] for failure in failures)


def test_faults_are_all_errors_that_can_happen() -> None:
    """Also those that stand for two independent events of one place at a time, and for no event of their own."""
    assert paulis(snc.Circuit("PAULI_CHANNEL_1(0.09, 0.01, 0.09) 0").faults()) == ["X0", "Z0", "Y0"]
    product = [0.0] * 15
    product[0] = product[3] = 0.09  # IX and XI, each with 0.1
    product[4] = 0.01
    text = f"PAULI_CHANNEL_2({', '.join(map(str, product))}) 0 1"
    assert paulis(snc.Circuit(text).faults()) == ["X0", "X1", "X0*X1"]
    # X happens unless two independent events with probability 0.1 undo it, or change it to Y.
    text = "PAULI_CHANNEL_1(0.81, 0.09, 0.01) 0"
    assert paulis(snc.Circuit(text).faults()) == ["X0", "Z0", "Y0"]
    circuit = snc.Circuit("PAULI_CHANNEL_1(0.09, 0.01, 0.09) 0\nMX 1\nM 0\nDETECTOR rec[-1]")
    circuit += snc.Circuit("OBSERVABLE_INCLUDE(0) rec[-2]")
    for fault in circuit.faults():
        expected = fate_by_density_matrix(circuit, circuit.with_faults([fault]))
        fate = circuit.outcome_probabilities([fault], postselection_mask="all")
        assert (fate.kept_and_right, fate.kept_and_wrong, fate.discarded) == pytest.approx(
            expected, abs=1e-12
        )


def test_a_fault_that_is_given_twice_cancels() -> None:
    circuit = snc.Circuit(
        "M(0.1) 0\nHERALDED_ERASE(0.1) 0\nX_ERROR(0.1) 1\nM(0.1) 1\nDETECTOR rec[-3] rec[-2]\n"
        "OBSERVABLE_INCLUDE(0) rec[-1]"
    )
    nothing = circuit.with_faults([])
    for fault in circuit.faults():
        assert circuit.with_faults([fault, fault]) == nothing
        assert circuit.with_faults([fault] * 3) == circuit.with_faults([fault]) != nothing
        fates = circuit.outcome_probabilities([[fault, fault], []], postselection_mask="all")
        assert fates[0] == fates[1]


@pytest.mark.parametrize(
    ("text", "first", "second", "message"),
    [
        ("DEPOLARIZE1(0.1) 0\nM 0\nMX 0", "X0", "Z0", "or 'line 1, tick 0: DEPOLARIZE1 0: Y0', which has"),
        ("PAULI_CHANNEL_1(0.1, 0, 0.2) 0\nM 0\nMX 0", "X0", "Z0", "Give one of them, not both."),
        ("HERALDED_ERASE(0.1) 0\nM 0\nMX 0", "X0", "Y0", "HERALDED_ERASE draws one of its errors, or none"),
        ("E(0.1) X0\nELSE_CORRELATED_ERROR(0.2) Z0\nM 0", "X0", "Z0", "has one error at most"),
    ],
)
def test_faults_that_exclude_each_other(text: str, first: str, second: str, message: str) -> None:
    circuit = snc.Circuit(f"{text}\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]")
    of = {fault.pauli: fault for fault in circuit.faults()}
    both = [of[first], of[second]]
    for faults in itertools.permutations(both):
        with pytest.raises(ValueError, match=re.escape(message)):
            circuit.with_faults(faults)
        with pytest.raises(ValueError, match="cannot both happen"):
            circuit.outcome_probabilities(faults, postselection_mask="all")
        with pytest.raises(ValueError, match="cannot both happen"):
            circuit.outcome_probabilities([[], faults], postselection_mask="all")


def test_faults_of_different_places_do_not_exclude_each_other() -> None:
    """Targets of one instruction, iterations of a loop, and chains of their own."""
    circuit = snc.Circuit(
        "REPEAT 2 {\n    DEPOLARIZE1(0.1) 0 1\n    E(0.1) X0\n    E(0.1) Z1\n}\nM(0.1) 0 1\n"
        "OBSERVABLE_INCLUDE(0) rec[-1] rec[-2]"
    )
    chosen = {(fault.step, fault.group): fault for fault in circuit.faults()}
    assert len(chosen) == 10
    faults = list(chosen.values())
    fate = circuit.outcome_probabilities(faults, postselection_mask="all")
    expected = fate_by_density_matrix(circuit, circuit.with_faults(faults))
    assert (fate.kept_and_right, fate.kept_and_wrong, fate.discarded) == pytest.approx(expected, abs=1e-12)
