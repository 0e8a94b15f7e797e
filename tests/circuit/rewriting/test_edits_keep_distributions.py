"""What methods that edit a circuit promise, by exact distributions of records, detectors and observables.

The circuits are random and noisy. Their distributions come from the tests' own simulator.
"""

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit

from ...support.laws.exact import largest_difference
from ...support.oracle.density_matrix import (
    Distribution,
    detector_distribution,
    final_density_matrix,
    record_distribution,
)
from ...support.oracle.random_circuits import Family, random_circuit
from ...support.seeds import seeds, slow

EXACT = 1e-12
UNITARY = frozenset(
    {
        Family.CLIFFORD, Family.PAULI_PHASE, Family.T, Family.ROTATIONS, Family.CONTROLLED, Family.CONDITIONAL,
        Family.FEEDBACK, Family.REPEAT,
    }
)  # fmt: skip
MEASUREMENTS = (
    "M(0.1) 0 1", "MX(0.2) 0", "MY(0.2) !1", "MR(0.1) 0 !1", "MRX(0.3) !0", "MRY(0.1) 0", "MXX(0.1) 0 1",
    "MYY(0.1) 0 !1 !2 !0", "MZZ(0.4) !0 1", "MPP(0.1) X0*X1", "MPP(0.2) X0*Y1*Z2 !Z0*Z1 X2",
    "MPP(0.1) X0*X0 !Z1", "MPAD(0.1) 0 1", "HERALDED_ERASE(0.2) 0 1",
    "HERALDED_PAULI_CHANNEL_1(0.1, 0.2, 0.05, 0.3) 2",
)  # fmt: skip


def through_text(circuit: Circuit, _: Path) -> Circuit:
    return Circuit(str(circuit))


def through_a_file(circuit: Circuit, folder: Path) -> Circuit:
    circuit.to_file(folder / "circuit.stim")
    return Circuit.from_file(folder / "circuit.stim")


def cut_and_joined(circuit: Circuit, _: Path) -> Circuit:
    middle = len(circuit) // 2
    return circuit[:middle] + circuit[middle:]


EDITS: dict[str, Callable[[Circuit, Path], Circuit]] = {
    "flattened": lambda circuit, _: circuit.flattened(),
    "decomposed": lambda circuit, _: circuit.decomposed(),
    "decomposed and flattened": lambda circuit, _: circuit.decomposed().flattened(),
    "copy": lambda circuit, _: circuit.copy(),
    "pickle": lambda circuit, _: pickle.loads(pickle.dumps(circuit)),
    "text": through_text,
    "file": through_a_file,
    "cut and joined": cut_and_joined,
    "pauli_twirl of nothing": lambda circuit, _: circuit.pauli_twirl(below=0),
}


def distributions(circuit: stim.Circuit) -> list[Distribution]:
    return [record_distribution(circuit), detector_distribution(circuit)]


def assert_distributions(found: stim.Circuit, expected: list[Distribution]) -> None:
    for ours, theirs in zip(distributions(found), expected, strict=True):
        assert largest_difference(ours, theirs) < EXACT


def assert_same(found: Circuit, expected: stim.Circuit) -> None:
    assert_distributions(found.to_stim(), distributions(expected))


def silent(circuit: stim.Circuit) -> stim.Circuit:
    """The circuit with 0 for the probability of each error."""
    result = stim.Circuit()
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            result.append(stim.CircuitRepeatBlock(part.repeat_count, silent(part.body_copy()), tag=part.tag))
            continue
        arguments = part.gate_args_copy()
        data = stim.gate_data(part.name)
        if data.is_noisy_gate or data.produces_measurements:
            arguments = [0.0] * len(arguments)
        result.append(stim.CircuitInstruction(part.name, part.targets_copy(), arguments, tag=part.tag))
    return result


@pytest.mark.parametrize("seed", seeds(25, quick=8))
def test_edits_keep_the_distribution(seed: int, tmp_path: Path) -> None:
    """Seeds [34, 0] to [34, 24]."""
    rng = np.random.default_rng([34, seed])
    circuit = Circuit(random_circuit(rng, num_qubits=3, num_operations=14, max_records=7))
    expected = distributions(circuit.to_stim())
    for edit in EDITS.values():
        assert_distributions(edit(circuit, tmp_path).to_stim(), expected)


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_decomposed_measurements_keep_their_noise(measurement: str) -> None:
    """Each of them twice, so that the state after it counts too, on a state without symmetries."""
    state = "U3(0.3, 0.7, -0.2) 0 2\nU3(0.9, 0.1, 0.4) 1\nCX 0 1 1 2\nU3(0.4, 0.2, 0.6) 0 1 2\n"
    circuit = Circuit(f"{state}{measurement}\n{measurement}\nDETECTOR rec[-1]")
    found = circuit.decomposed()
    assert_same(found, circuit.to_stim())
    clifford = {part.name for part in found if isinstance(part, stim.CircuitInstruction) and not part.tag}
    assert clifford <= {"H", "S", "CX", "M", "R", "MPAD", "DETECTOR", measurement.split("(")[0]}


@pytest.mark.parametrize(
    "feedback",
    [
        slow("CZ 0 rec[-1]"), "CZ 0 rec[-1] rec[-2] 1 0 1", slow("CZ rec[-1] rec[-2]"),
        "CZ sweep[0] 1 0 sweep[1]", "XCZ 0 rec[-1] 1 0", slow("YCZ 1 rec[-2]"), "CY rec[-1] 0 1 2",
    ],
)  # fmt: skip
def test_decomposed_feedback(feedback: str) -> None:
    circuit = stim.Circuit(f"RX 0 1\nRY 2\nMY 0\nM 1\nH 1\n{feedback}\nMX 0 1 2\nMY 0 1 2")
    assert_same(Circuit(circuit).decomposed(), circuit)


def test_decomposed_keeps_tags_that_are_comments() -> None:
    """On S they would select another gate."""
    found = Circuit("CY[a note] 0 1\nMRY[mine](0.1) 0").decomposed()
    assert Circuit(str(found)) == found
    assert {part.tag for part in found if part.name == "CX"} == {"a note"}
    assert {part.tag for part in found if part.name == "M"} == {"mine"}
    assert {part.tag for part in found if part.name == "S"} == {""}
    assert_same(found, stim.Circuit("CY 0 1\nMRY(0.1) 0"))


def test_without_noise() -> None:
    """Seeds [35, 0] to [35, 39]."""
    for seed in range(40):
        rng = np.random.default_rng([35, seed])
        circuit = Circuit(random_circuit(rng, num_qubits=3, num_operations=16, max_records=7))
        assert_same(circuit.without_noise(), silent(circuit.to_stim()))


def test_repeated_circuits() -> None:
    """Two and three copies in a row, chains of correlated errors included. Seeds [36, 0] to [36, 9]."""
    for seed in range(10):
        rng = np.random.default_rng([36, seed])
        piece = Circuit(random_circuit(rng, num_qubits=2, num_operations=8, max_records=3))
        twice = stim.Circuit(f"{piece.to_stim()}\n{piece.to_stim()}\n")
        for found in (piece * 2, 2 * piece, piece + piece, (piece * 2).flattened()):
            assert_same(found, twice)


def test_inverse_returns_to_the_start() -> None:
    """Of gates, controlled by records too. Seeds [37, 0] to [37, 19]."""
    for seed in range(20):
        rng = np.random.default_rng([37, seed])
        start = Circuit("U3(0.3, 0.7, -0.2) 0 2\nU3(0.9, 0.1, 0.4) 1\nCX 0 1 1 2\nM 3 2\nMX 3")
        gates = Circuit("I 0 1 2 3")
        for part in random_circuit(
            rng,
            num_qubits=3,
            num_operations=12,
            max_records=0,
            instructions=UNITARY - {Family.CONDITIONAL, Family.FEEDBACK},
            measure_at_end=False,
        ):
            gates.append(part)
            record, qubits = -1 - int(rng.integers(3)), rng.permutation(3)
            gates.append("CX", [stim.target_rec(record), qubits[0]])
            gates.append("CT", [stim.target_rec(record), qubits[1]])
            gates.append("C_R_XZ", [stim.target_rec(record), *qubits[:2]], 0.123)
        before = final_density_matrix((start + gates[:0] + Circuit("I 3")).to_stim())
        after = final_density_matrix((start + gates + gates.inverse()).to_stim())
        np.testing.assert_allclose(after, before, atol=EXACT)
