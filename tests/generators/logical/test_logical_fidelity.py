"""How good logical circuits are: endings, magic states, fidelities, faults, known flows, the fit of errors."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pymatching
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.generators.logical import (
    LogicalFidelity,
    circuit_file_name,
    ideal_distribution,
    logical_circuit,
    logical_fidelity,
    operation_errors,
)

from .test_logical_circuits import distribution, operations_of, random_program, rank

ROTATIONS = [(1 / 8, "X"), (-1 / 8, "Z"), (1 / 8, "Y")]
MAGIC: list[dict[str, Any]] = [
    {},
    {"magic": "injected"},
    {"magic": "injected", "y_state": "injected", "s_gate": "patch"},
    {"magic": "cultivated", "magic_error": 0.0, "s_gate": "patch", "gate": "S"},
]


@pytest.mark.parametrize("options", MAGIC)
def test_without_noise_the_process_is_the_ideal_one(options: dict[str, Any]) -> None:
    """Bell pairs come back with certainty, whatever the outcomes of merges; a wrong angle would show."""
    circuit = logical_circuit(ROTATIONS, noise="none", ending="process", **options)
    sampler = snc.Circuit(circuit).compile_detector_sampler(seed=3, decoder="pymatching")
    detectors, observables = sampler.sample(200, separate_observables=True)
    assert not detectors.any()
    assert not observables.any()
    assert observables.shape[1] == 2
    if not options:
        wrong = snc.Circuit(str(circuit).replace("SPP_DAG[T]", "SPP[T]", 1))
        _, observables = wrong.compile_detector_sampler(seed=3, decoder="pymatching").sample(
            200, separate_observables=True
        )
        assert 40 < observables.any(axis=1).sum() < 160  # half: a wrong T gate is a missing S


@pytest.mark.slow
def test_without_noise_processes_of_programs_are_ideal() -> None:
    """Ten programs (seed 11) on two and three qubits: nothing fails, to 1e-12."""
    rng = random.Random(11)
    for k in range(10):
        rotations, _ = random_program(rng, 2 + k % 2, 3)
        circuit = logical_circuit(rotations, noise="none", ending="state", **MAGIC[k % 3])
        found = snc.Circuit(circuit).without_decisions().outcome_probabilities([], postselection_mask="all")
        assert found.kept_and_wrong < 1e-12
        assert abs(found.kept_and_right - 1) < 1e-12


def test_injection_postselects_and_costs() -> None:
    """Detectors of the injection discard; what no decoder sees is 101/30 p for T (single faults)."""
    quick: dict[str, Any] = {"distance": 3, "p": 1e-3, "shots": 20_000, "seed": 2}
    perfect = logical_fidelity([(1 / 8, "X")], **quick)
    injected = logical_fidelity([(1 / 8, "X")], magic="injected", **quick)
    assert perfect.kept == perfect.shots
    assert 0.8 < injected.kept / injected.shots < 0.95
    assert perfect.fidelity - injected.fidelity > 5 * injected.standard_error
    cultivated = logical_fidelity([(1 / 8, "X")], magic="cultivated", magic_error=0.05, **quick)
    difference = perfect.fidelity - cultivated.fidelity
    assert abs(difference - 0.05) < 6 * (perfect.standard_error + cultivated.standard_error) + 0.003


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"magic": "cultivated"}, "needs magic_error"),
        ({"magic_error": 0.1}, "Leave it out"),
        ({"ending": "state", "measurements": ["Z"]}, "there are measurements"),
        ({"y_state": "good"}, "y_state must be 'perfect' or 'injected'"),
        ({"rounds": 0}, "rounds"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        logical_circuit([(1 / 8, "Z")], **options)


def test_file_names() -> None:
    name = circuit_file_name(
        name="a", distance=3, p=1e-3, gate="T", noise="uniform", magic="injected", y_state="injected",
        s_gate="patch", ending="state",
    )  # fmt: skip
    assert name == "c=a,d=3,g=T,noise=uniform,p=0.001,ending=state,magic=injected,s=patch,y=injected.stim"


def test_ideal_distributions() -> None:
    rng = random.Random(13)
    for k in range(30):
        rotations, measurements = random_program(rng, 1 + k % 4, 5)
        found = ideal_distribution(rotations, measurements)
        expected = distribution(operations_of(rotations, measurements), 1 + k % 4)
        for bits, probability in expected.items():
            assert abs(found[sum(b << j for j, b in enumerate(bits))] - probability) < 1e-12


def test_fidelity_of_a_distribution() -> None:
    """Without noise it is 1 within its error; raw outcomes are worse than decoded ones."""
    program: tuple[list[tuple[float, str]], list[str]] = ([(1 / 8, "X")], ["Z"])
    exact = logical_fidelity(*program, of="distribution", noise="none", shots=4000, seed=1)
    assert abs(1 - exact.fidelity) < 5 * exact.standard_error
    decoded, raw = (
        logical_fidelity(*program, of="distribution", p=1e-3, shots=4000, seed=1, decoder=decoder)
        for decoder in ("pymatching", "raw")
    )
    assert raw.fidelity + 5 * raw.standard_error < decoded.fidelity
    with pytest.raises(ValueError, match="no measurements"):
        logical_fidelity([(1 / 8, "X")], of="distribution")


def test_fit_finds_errors() -> None:
    """Planted errors come back within five standard errors, and predict (seed 17)."""
    rng = np.random.default_rng(17)
    planted = {"T": 0.01, "S": 0.02, "idle round": 0.001}
    programs = []
    for t, s, idle in itertools.product((1, 2, 3), (0, 1), (0, 5)):
        operations = {"T": t, "S": s, "idle round": idle}
        total = sum(planted[kind] * count for kind, count in operations.items())
        programs.append(
            LogicalFidelity(float(np.exp(-total) + rng.normal(0, 1e-4)), 1e-4, 1000, 1000, operations)
        )
    found = operation_errors(programs)
    for kind, error in planted.items():
        assert abs(found.errors[kind] - error) < 5 * found.standard_errors[kind] < 1e-3
    assert found.degrees_of_freedom == 9
    assert found.chi_squared < 40
    value, error = found.infidelity({"T": 4})
    assert abs(value - (1 - np.exp(-0.04))) < 5 * error
    with pytest.raises(ValueError, match="do not tell"):
        operation_errors(programs[:2])


@pytest.mark.parametrize("options", [{}, {"y_state": "injected", "magic": "injected", "s_gate": "patch"}])
def test_every_known_flow_has_a_detector(options: dict[str, Any]) -> None:
    """In the S-proxy, records that are determined by earlier ones are those of detectors, bits and frames."""
    circuit = (
        snc.Circuit(
            logical_circuit(
                [(1 / 8, "ZI"), (1 / 8, "XX")], noise="none", gate="S", ending="process", **options
            )
        )
        .without_decisions()
        .to_stim()
    )
    simulator = stim.TableauSimulator()
    num_determined, num_bits = 0, 0
    rows, records = [], 0
    last = circuit.num_qubits - 3  # the classical bit; two references follow
    for part in circuit.flattened():
        if part.name == "DETECTOR":
            rows.append(sum(1 << records + target.value for target in part.targets_copy()))
        elif part.name in ("M", "MX", "MPP"):
            for group in part.target_groups():
                letter = part.name[1:] or "Z"
                product = stim.PauliString(circuit.num_qubits)
                for target in group:
                    product[target.value] = target.pauli_type if letter == "PP" else letter
                determined = simulator.peek_observable_expectation(product) != 0
                num_determined += determined
                num_bits += group[0].value == last and part.name == "M"
                simulator.do(stim.CircuitInstruction(part.name, _joined(group)))
                records += 1
        elif part.name == "MPAD":
            records += part.num_measurements
            simulator.do(part)
        elif part.name != "OBSERVABLE_INCLUDE":
            simulator.do(part)
    assert num_bits > 4
    assert rank(rows) == len(rows)
    assert num_determined == len(rows) + num_bits + circuit.num_observables


def _joined(group: list[stim.GateTarget]) -> list[stim.GateTarget]:
    return stim.target_combined_paulis(group) if len(group) > 1 else group


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"s_gate": "patch"}])
def test_single_faults_of_a_process_are_corrected(options: dict[str, Any]) -> None:
    """At d=3, every decision and the end take three faults to go wrong, and single ones are corrected."""
    circuit = snc.Circuit(logical_circuit([(1 / 8, "X"), (1 / 8, "Z")], p=1e-3, ending="process", **options))
    for point in range(len(circuit.decision_points())):
        model = circuit.decision_model(point)
        assert len(model.shortest_graphlike_error(ignore_ungraphlike_errors=True)) == 3
        decoder = pymatching.Matching.from_detector_error_model(
            circuit.decision_model(point, decompose_errors=True)
        )
        events, flips = _mechanisms(model)
        assert len(events) > 300
        answers = decoder.decode_batch(events)
        asked = flips.any(axis=0)
        assert asked.any()
        wanted = circuit.decision_points()[point]
        count = len(wanted.records)
        assert (answers[:, :count] == flips[:, :count]).all()


def _mechanisms(model: stim.DetectorErrorModel) -> tuple[np.ndarray, np.ndarray]:
    """The detectors and the observables that each error flips."""
    errors = [error for error in model.flattened() if error.type == "error"]
    events = np.zeros((len(errors), model.num_detectors), dtype=np.uint8)
    flips = np.zeros((len(errors), model.num_observables), dtype=np.uint8)
    for k, error in enumerate(errors):
        for target in error.targets_copy():
            if target.is_relative_detector_id():
                events[k, target.val] ^= 1
            elif target.is_logical_observable_id():
                flips[k, target.val] ^= 1
    return events, flips


@pytest.mark.slow
def test_malignant_sets_of_the_postselected_circuit_have_distance_faults() -> None:
    """At d=3, no one or two faults that no detector sees make the process wrong, and three do."""
    circuit = snc.Circuit(logical_circuit([(1 / 8, "X")], p=1e-3, ending="process")).without_decisions()
    found = circuit.malignant_sets(postselection_mask="all")
    assert min(each.weight for each in found) == 3
