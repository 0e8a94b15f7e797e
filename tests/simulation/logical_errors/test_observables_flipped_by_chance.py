"""Observables that single errors flip with a probability other than 0 and 1: no decoder can save them."""

import re
import warnings
from typing import Any

import numpy as np
import pytest
import sinter

import stim_nonclifford as snc
from sinter_plugin import SoftDecodingSampler
from stim_nonclifford.generators.cultivation import end_to_end_circuit
from stim_nonclifford.simulation.logical_errors.mechanism_flips import observables_flipped_by_chance

from ...support.rates.noisy_t_memory import noisy_t_memory

MEASURE = "MX 0\nOBSERVABLE_INCLUDE(0) rec[-1]\n"


def messages(circuit: snc.Circuit, **arguments: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        circuit.detector_error_model(kind="noise_only", **arguments)
    assert {each.category for each in caught} <= {snc.InexactErrorModelWarning}
    return [str(each.message) for each in caught]


def decoded(circuit: snc.Circuit, shots: int, **options: Any) -> tuple[int, list[str]]:
    """Errors of all shots, and what the sampler warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        task = sinter.Task(circuit=circuit.to_stim())
        compiled = SoftDecodingSampler(**options).compiled_range_sampler_for_task(task, seed=1)
    return compiled.sample_range(0, shots).errors, [str(each.message) for each in caught]


@pytest.mark.parametrize("distance", [3, 5])
def test_a_readout_that_no_decoder_can_save(distance: int) -> None:
    """A larger code makes the T readout worse, and the state better."""
    measured = noisy_t_memory(distance, 0.01, "measured")
    asked = noisy_t_memory(distance, 0.01, "expectation_values")
    errors, [message] = decoded(measured, 20_000)
    assert message.startswith("Single errors flip observable 0 (line ")
    assert "state_check" in message
    checked, said = decoded(asked, 20_000, state_check="T")
    assert said == []
    assert errors > 4 * checked
    assert decoded(measured, 100, warn=False)[1] == []
    assert len(messages(measured)) == 1
    assert messages(asked) == []
    # The measured bit is right half as often as each X comes: the number is one of this readout.
    smaller, _ = decoded(noisy_t_memory(3, 0.01, "measured"), 20_000)
    assert distance == 3 or errors > 1.5 * smaller


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"RX 0\nT 0\nX_ERROR(0.1) 0\nT_DAG 0\n{MEASURE}", [0]),
        (f"RX 0\nT 0\nZ_ERROR(0.1) 0\nT_DAG 0\n{MEASURE}", []),
        (f"RX 0\nX_ERROR(0.1) 0\nT 0\nT_DAG 0\n{MEASURE}", []),
        (f"RX 0\nT 0\nT_DAG 0\nX_ERROR(0.1) 0\nZ_ERROR(0.1) 0\n{MEASURE}", []),
        # Both halves of an S gate are turned around: a Z, which flips.
        (f"RX 0\nX_ERROR(0.1) 0\nT 0\nT 0\nS_DAG 0\n{MEASURE}", []),
        (f"RX 0\nT 0\nX_ERROR(0.1) 0\nT 0\nS_DAG 0\n{MEASURE}", [0]),
        # Random without noise: another question.
        (f"RX 0\nX_ERROR(0.1) 0\nT 0\n{MEASURE}", []),
        ("RX 0\nT 0\nX_ERROR(0.1) 0\nT_DAG 0\nMX 0\nOBSERVABLE_INCLUDE(2) rec[-1]\nM 1\nOBSERVABLE_INCLUDE(0) rec[-1]", [2]),
        # A coin turns the T gate around, too, and feedback turns it back.
        (f"RX 0 1\nM 1\nT 0\nCX rec[-1] 0\nT_DAG 0\nCX rec[-1] 0\n{MEASURE}", []),
        ("M(0.1) 1\nRX 0\nT 0\nCX rec[-1] 0\nT_DAG 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]", [0]),
    ],
)  # fmt: skip
def test_what_counts(text: str, expected: list[int]) -> None:
    circuit = snc.Circuit(text)
    assert observables_flipped_by_chance(circuit.compile()) == expected
    assert len(messages(circuit)) == len(expected)


@pytest.mark.parametrize(
    "start", ["RX 0", "OBSERVABLE_INCLUDE(3) X0", "REPEAT 2 {\n    OBSERVABLE_INCLUDE(3) X0\n}\nRX 0"]
)
def test_only_the_frame_of_pauli_targets_is_known(start: str) -> None:
    """An X between the T gates flips the value in half of the shots, and the frame never; Z flips both."""
    text = f"{start}\nT 0\nX_ERROR(0.1) 0\nT_DAG 0\n"
    circuit = snc.Circuit(text + "OBSERVABLE_INCLUDE(3) X0")
    assert observables_flipped_by_chance(circuit.compile()) == []
    [message] = messages(circuit)
    assert re.match(r"Observable 3 \(line .* Pauli targets after T gates: flips of the Pauli frame", message)
    assert message.endswith("everywhere: MPP X0, then OBSERVABLE_INCLUDE(3) rec[-1].")
    with pytest.warns(snc.InexactErrorModelWarning, match="Observable 3 .* has Pauli targets"):
        circuit.detector_error_model()
    sampler = circuit.compile_detector_sampler(seed=1)
    sampler.sample(5)  # without observables
    with pytest.warns(snc.RandomObservableWarning, match="MPP X0, then OBSERVABLE_INCLUDE"):
        assert not sampler.sample(1000, append_observables=True).any()
    sampler.sample(5, append_observables=True)  # said once
    # As the message says:
    remedy = "MPP X0\nOBSERVABLE_INCLUDE(3) rec[-1]"
    measured = snc.Circuit(str(circuit).replace("OBSERVABLE_INCLUDE(3) X0", remedy))
    assert measured.logical_error_rate().kept_and_wrong == pytest.approx(0.05)
    # A decoder of the state corrects by the frame.
    asked = snc.Circuit(text + "EXP_VAL X0\nOBSERVABLE_INCLUDE(3) X0")
    assert messages(asked) == []
    assert asked.compile_detector_sampler().sample(5, append_observables=True).shape == (5, 4)


def test_errors_that_postselection_discards_do_not_count() -> None:
    text = "RX 0\nT 0\nE(0.1) X0 X1\nT_DAG 0\nM 1\nDETECTOR rec[-1]\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]"
    circuit = snc.Circuit(text)
    assert observables_flipped_by_chance(circuit.compile()) == [0]
    assert observables_flipped_by_chance(circuit.compile(), [0]) == []
    assert messages(circuit, postselection_mask=[True]) == []
    # Discarded by an outcome instead of by noise alone: a second T state sees the same X.
    seen = (
        "RX 0 1\nT 0 1\nE(0.1) X0 X1\nT_DAG 0 1\nMX 1\nDETECTOR rec[-1]\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    assert observables_flipped_by_chance(snc.Circuit(seen).compile(), [0]) == [0]  # seen in half of the shots


@pytest.mark.parametrize("distances", [(3, 5), (5, 7)])
def test_end_to_end_circuits(distances: tuple[int, int]) -> None:
    """The readout of a T state is right where all detectors discard, and wrong for a decoder."""
    arguments: dict[str, Any] = {"p": 1e-3, "postselected_rounds": 1, "rounds": 1}
    read = snc.Circuit(end_to_end_circuit(*distances, **arguments)).compile()
    asked = end_to_end_circuit(*distances, **arguments, readout="expectation_values")
    postselected = [k for k, place in asked.get_detector_coordinates().items() if place[4]]
    assert observables_flipped_by_chance(read, postselected) == [0]
    assert observables_flipped_by_chance(read, range(asked.num_detectors)) == []
    assert observables_flipped_by_chance(snc.Circuit(asked).compile(), postselected) == []


@pytest.mark.parametrize("seed", range(60))
def test_random_circuits_against_exact_probabilities(seed: int) -> None:
    """Of circuits whose observable is certain without noise, with every fault: exact probabilities."""
    random = np.random.default_rng(seed)
    gates = [
        "T {0}", "T_DAG {1}", "H {0}", "S {1}", "CX {0} {1}", "CZ {0} {1}", "TPP X{0}*Z{1}", "DEPOLARIZE1(0.01) {0}"
    ]  # fmt: skip
    part = [gates[random.integers(len(gates))].format(*random.permutation(3)[:2]) for _ in range(12)]
    part = ["H 0", "H 1", *part]
    noiseless = snc.Circuit("\n".join(line for line in part if "DEPOLARIZE" not in line))
    circuit = snc.Circuit("R 0 1 2\nDEPOLARIZE1(0.01) 0\n" + "\n".join(part)) + noiseless.inverse()
    circuit += snc.Circuit("M 0 1 2\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-3]")
    for mask in ([], [0]):
        checked = circuit.copy()
        if not mask:
            checked = snc.Circuit(str(circuit).replace("DETECTOR rec[-1]", ""))
        exact = checked.outcome_probabilities(
            [[fault] for fault in checked.faults()], postselection_mask="all" if mask else None
        )
        shares = [each.kept_and_wrong / (1 - each.discarded) for each in exact if each.discarded < 1 - 1e-9]
        by_chance = any(1e-9 < share < 1 - 1e-9 for share in shares)
        assert observables_flipped_by_chance(circuit.compile(), mask) == [0] * by_chance
