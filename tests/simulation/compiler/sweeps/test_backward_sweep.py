"""The backward sweep: what faults, random outcomes and coins change, against simulations of the circuit.

Effects on records, detectors and observables of Clifford circuits are compared with Stim's frames, effects on the
signs of rotations with the density matrix of the circuit with the fault in it, and all of a circuit's effects together
with its density matrix.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
import stim

from stim_nonclifford import Circuit
from stim_nonclifford.simulation.compiler.algebra.gf2 import masks_of
from stim_nonclifford.simulation.compiler.program.flattening import program_of
from stim_nonclifford.simulation.compiler.program.program import Program
from stim_nonclifford.simulation.compiler.sweeps.backward_sweep import backward_sweep, list_faults
from stim_nonclifford.simulation.compiler.sweeps.effects import Fault, Outputs
from stim_nonclifford.simulation.compiler.sweeps.forward_sweep import QuantumProgram, forward_sweep
from stim_nonclifford.simulation.compiler.sweeps.operations import OperationKind

from ....support.laws.effect_laws import output_distribution
from ....support.laws.exact import largest_difference, mask_of, rank
from ....support.oracle.density_matrix import detector_distribution, record_distribution
from ....support.oracle.random_circuits import ALL_FAMILIES, CLIFFORD_FAMILIES, Family, random_circuit
from ....support.texts.instruction_lines import FEEDBACK, LINES

TOLERANCE = 1e-10
LETTERS = "_XZY"
ALL_LINES = sorted({line for lines in (*LINES.values(), *FEEDBACK.values()) for line in lines})
CLIFFORD_LINES = [line for line in ALL_LINES if "[T]" not in line]


def swept(circuit: stim.Circuit) -> tuple[Program, QuantumProgram]:
    program = program_of(circuit)
    return program, forward_sweep(program)


# Clifford circuits: frames


class Frames:
    """What faults flip in a circuit, by Stim's frame simulator: one instance of it for each fault."""

    def __init__(self, circuit: stim.Circuit, faults: list[Fault], instructions: list[int]) -> None:
        self.faults = faults
        self.simulator = stim.FlipSimulator(
            batch_size=len(faults), disable_stabilizer_randomization=True, num_qubits=circuit.num_qubits
        )
        self.num_records = 0
        for number, instruction in enumerate(circuit):
            here = [instructions[fault.step] == number for fault in faults]
            if stim.gate_data(instruction.name).produces_measurements:
                self.measure(instruction)
            elif not stim.gate_data(instruction.name).is_noisy_gate:
                self.simulator.do(instruction)
            self.apply(here)

    def apply(self, chosen: list[bool]) -> None:
        """Applies the Paulis of some faults."""
        for k in itertools.compress(range(len(chosen)), chosen):
            for qubit, code in self.faults[k].factors:
                self.flip(qubit, LETTERS[code], [j == k for j in range(len(chosen))])

    def flip(self, qubit: int, letter: str, instances: list[bool]) -> None:
        where = np.zeros((self.simulator.num_qubits, len(self.faults)), np.bool_)
        where[qubit] = instances
        self.simulator.broadcast_pauli_errors(pauli=letter, mask=where)

    def measure(self, instruction: stim.CircuitInstruction) -> None:
        """Measures without noise, but with the flips of records that belong to faults."""
        for group in instruction.target_groups():
            flipped = [self.num_records in fault.records for fault in self.faults]
            self.num_records += 1
            if instruction.name == "MPAD" or instruction.name.startswith("HERALDED"):
                self.simulator.append_measurement_flips(np.array([flipped]))
                continue
            # A flip of the record alone: a Pauli that flips the outcome before the measurement, and again after it.
            qubit, letter = (
                group[0].value,
                group[0].pauli_type if instruction.name == "MPP" else instruction.name[-1],
            )
            other = "Z" if letter == "X" or letter == "Y" else "X"
            self.flip(qubit, other, flipped)
            targets = [t for target in group for t in (target, stim.target_combiner())][:-1]
            self.simulator.do(
                stim.CircuitInstruction(instruction.name, targets if instruction.name == "MPP" else group)
            )
            if not instruction.name.startswith("MR"):
                self.flip(qubit, other, flipped)

    def effects(self, outputs: Outputs) -> list[int]:
        found: npt.NDArray[np.bool_] = self.simulator.get_measurement_flips()
        if outputs == "detectors":
            found = np.concatenate(
                [self.simulator.get_detector_flips(), self.simulator.get_observable_flips()]
            )
        return [mask_of(column) for column in found.T]


def labelled(program: Program, fault: Fault) -> Fault:
    """The fault on the qubits of the circuit, by their labels."""
    return replace(fault, factors=tuple((program.labels[q], code) for q, code in fault.factors))


def assert_effects_are_those_of_frames(circuit: stim.Circuit) -> int:
    circuit = circuit.flattened()
    program, quantum = swept(circuit)
    for outputs in ("records", "detectors"):
        faults = list_faults(program, quantum, outputs)
        if faults:
            on_labels = [labelled(program, fault) for fault in faults]
            expected = Frames(circuit, on_labels, [place.number for place in program.places]).effects(outputs)
            # Frames keep Paulis that are stabilizers: what they flip is random anyway.
            coins = masks_of(backward_sweep(program, quantum, outputs).coins)
            for fault, effect in zip(faults, expected, strict=True):
                difference = fault.effect ^ effect
                assert rank([*coins, difference]) == len(coins), f"{outputs}, {fault}\n{circuit}"
    return len(faults)


@pytest.mark.parametrize("line", CLIFFORD_LINES)
def test_faults_around_every_instruction(line: str) -> None:
    """Single faults before and after it, and its own, in Clifford circuits of seeds [5, 0] to [5, 5]."""
    for seed in range(6):
        rng = np.random.default_rng([5, seed])
        gates = "\n".join(
            f"{rng.choice(['H', 'S', 'SQRT_X', 'C_XYZ'])} {q}\nCX {q} {(q + 1) % 3}"
            for q in rng.permutation(3)
        )
        noise = "DEPOLARIZE1(0.1) 0 1 2"
        end = "MX(0.1) 0\nMY 1\nMPP(0.1) Z2*X1\nMR 0\nM 0 1 2"
        detectors = "DETECTOR rec[-1]\nDETECTOR rec[-3] rec[-6]\nOBSERVABLE_INCLUDE(2) rec[-4] X1"
        text = "\n".join(["M(0.1) 0 1", gates, noise, line, noise, gates, end, detectors])
        assert assert_effects_are_those_of_frames(stim.Circuit(text)) > 10


@pytest.mark.parametrize("seed", range(12))
def test_faults_in_random_clifford_circuits(seed: int) -> None:
    rng = np.random.default_rng([6, seed])
    num_faults = sum(
        assert_effects_are_those_of_frames(
            random_circuit(
                rng, num_qubits=5, num_operations=40, max_records=25, instructions=CLIFFORD_FAMILIES
            )
        )
        for _ in range(8)
    )
    assert num_faults > 100


@pytest.mark.parametrize("seed", range(12))
def test_coins_are_what_stims_frames_randomize(seed: int) -> None:
    """256 frames span the flips that do not matter, but with a probability below 2^-200."""
    rng = np.random.default_rng([7, seed])
    families = CLIFFORD_FAMILIES - {Family.NOISE, Family.EXOTIC_NOISE, Family.MEASUREMENT_NOISE}
    num_coins = 0
    for _ in range(8):
        circuit = random_circuit(rng, num_qubits=5, num_operations=30, max_records=20, instructions=families)
        program, quantum = swept(circuit)
        coins = masks_of(backward_sweep(program, quantum, "records").coins)
        frames = stim.FlipSimulator(batch_size=256, num_qubits=circuit.num_qubits, seed=seed)
        frames.do(circuit)
        flips = [mask_of(column) for column in frames.get_measurement_flips().T]
        assert rank(coins) == len(coins) == rank(flips) == rank([*coins, *flips])
        num_coins += len(coins)
    assert num_coins > 20


# Circuits with rotations: density matrices


def random_lines(rng: np.random.Generator) -> list[str]:
    """Lines of a noisy circuit on three qubits, a group of targets each; no two rotations have the same angle."""

    def qubits(count: int) -> str:
        return " ".join(map(str, rng.choice(3, count, replace=False)))

    def product() -> str:
        return "*".join(
            f"{rng.choice(list('XYZ'))}{q}" for q in rng.choice(3, rng.integers(1, 4), replace=False)
        )

    lines, num_records = ["R_X(0.31) 0", "R_Y(0.17) 1"], 0
    for _ in range(18):
        angle = rng.uniform(-1, 1)
        record = f"rec[-{rng.integers(1, max(2, num_records + 1))}]"
        choices = [
            *[f"R_{rng.choice(list('XYZ'))}({angle}) {qubits(1)}"] * 3,
            *[f"R_PAULI({angle}) {product()}"] * 3,
            f"{rng.choice(['H', 'S', 'SQRT_X'])} {qubits(1)}",
            f"{rng.choice(['CX', 'CZ', 'ISWAP'])} {qubits(2)}",
            f"{rng.choice(['DEPOLARIZE1(0.1)', 'PAULI_CHANNEL_1(0.1,0.2,0.1)'])} {qubits(1)}",
            f"E(0.1) {product().replace('*', ' ')}",
            f"{rng.choice(['R', 'RX', 'RY'])} {qubits(1)}",
        ]
        if num_records:
            choices += [f"{rng.choice(['CX', 'CY', 'CZ'])} {record} {qubits(1)}"] * 2
        if num_records < 4:
            measurements = [
                f"{rng.choice(['M', 'MX', 'MY', 'MR', 'MRX', 'MRY'])}(0.1) {qubits(1)}",
                f"{rng.choice(['MXX', 'MYY', 'MZZ'])}(0.1) {qubits(2)}",
                f"MPP(0.1) {product()}",
                f"HERALDED_ERASE(0.1) {qubits(1)}",
                "MPAD(0.1) 0",
            ]
            choices += measurements
        else:
            measurements = []
        lines.append(str(rng.choice(choices)))
        num_records += lines[-1] in measurements
    return [*lines, *(f"{rng.choice(['M', 'MX', 'MY'])}(0.1) {q}" for q in range(3))]


def circuit_of(lines: Iterable[str]) -> stim.Circuit:
    """The lines, kept apart by TICKs, so that Stim does not join them."""
    return Circuit("\nTICK\n".join(lines)).to_stim()


def without_noise(line: str) -> list[str]:
    if line.startswith("HERALDED"):
        return ["MPAD 0"]
    if line.startswith("M"):
        return [re.sub(r"\(.*?\)", "", line)]
    return [] if re.match(r"E\(|DEPOLARIZE|PAULI_CHANNEL", line) else [line]


def with_fault(lines: list[str], place: int, fault: Fault) -> stim.Circuit:
    """The circuit without its noise, but with a fault in one of its lines."""
    result: list[str] = []
    for k, line in enumerate(lines):
        plain = without_noise(line)
        if k == place and fault.records:
            plain = ["MPAD 1"] if plain == ["MPAD 0"] else [plain[0].replace(" ", " !", 1)]
        result += plain
        if k == place:
            result += [f"{LETTERS[code]} {qubit}" for qubit, code in fault.factors]
    return circuit_of(result)


def with_reversed_angles(lines: list[str], places: set[int]) -> stim.Circuit:
    """The circuit without its noise, with the angles of some of its lines reversed."""
    result: list[str] = []
    for k, line in enumerate(lines):
        assert k not in places or line.startswith("R_")
        result += [line.replace("(", "(-").replace("(--", "(")] if k in places else without_noise(line)
    return circuit_of(result)


@pytest.mark.parametrize("seed", range(10))
def test_a_fault_flips_records_and_reverses_rotations(seed: int) -> None:
    rng = np.random.default_rng([8, seed])
    reversing = 0
    for _ in range(5):
        lines = random_lines(rng)
        circuit = circuit_of(lines)
        assert len(circuit) == 2 * len(lines) - 1
        program, quantum = swept(circuit)
        table = backward_sweep(program, quantum, "records")
        line_of_sign = {
            term.sign: program.places[term.step].number // 2
            for operation in quantum.operations
            if operation.kind == OperationKind.ROTATE
            for term in operation.terms
        }
        laws: dict[frozenset[int], dict[int, float]] = {}
        for fault in list_faults(program, quantum, "records"):
            signs = fault.effect >> table.num_outputs
            reverse = frozenset(line for sign, line in line_of_sign.items() if signs >> sign & 1)
            assert signs.bit_count() == len(reverse)  # every sign is that of a rotation which is not free
            if reverse not in laws:
                laws[reverse] = law_of(with_reversed_angles(lines, set(reverse)))
            flips = fault.effect & (1 << table.num_outputs) - 1
            expected = {records ^ flips: p for records, p in laws[reverse].items()}
            found = law_of(
                with_fault(lines, program.places[fault.step].number // 2, labelled(program, fault))
            )
            assert largest_difference(found, expected) < TOLERANCE, f"{fault}\n{circuit}"
        reversing += len(laws) - 1
    assert reversing >= 5


def law_of(circuit: stim.Circuit) -> dict[int, float]:
    return {mask_of(records): p for records, p in record_distribution(circuit).items()}


def assert_law_is_that_of_the_density_matrix(circuit: stim.Circuit) -> QuantumProgram:
    program, quantum = swept(circuit)
    table = backward_sweep(program, quantum, "records")
    found = output_distribution(quantum.operations, table, table.base_outputs)
    assert largest_difference(found, law_of(circuit)) < TOLERANCE, str(circuit)
    table = backward_sweep(program, quantum, "detectors")
    found = output_distribution(quantum.operations, table, table.base_outputs)
    expected = {mask_of(bits): p for bits, p in detector_distribution(circuit).items()}
    assert largest_difference(found, expected) < TOLERANCE, str(circuit)
    return quantum


@pytest.mark.parametrize("seed", range(12))
def test_all_effects_together(seed: int) -> None:
    """Of noise, outcomes, coins and the base path, in circuits of the seed [9, seed]."""
    rng = np.random.default_rng([9, seed])
    widths = []
    for _ in range(5):
        lines = random_lines(rng)
        num_records = circuit_of(lines).num_measurements
        lines += [f"DETECTOR rec[-{rng.integers(1, num_records + 1)}] rec[-1]" for _ in range(2)]
        lines += [f"OBSERVABLE_INCLUDE({k}) rec[-{rng.integers(1, num_records + 1)}]" for k in range(2)]
        widths.append(assert_law_is_that_of_the_density_matrix(circuit_of(lines)).peak_width)
        circuit = random_circuit(
            rng, num_qubits=3, num_operations=15, max_records=6, instructions=ALL_FAMILIES
        )
        widths.append(assert_law_is_that_of_the_density_matrix(circuit).peak_width)
    assert max(widths) >= 2


@pytest.mark.parametrize("line", [line for line in ALL_LINES if "OBSERVABLE" not in line])
def test_every_instruction_between_rotations(line: str) -> None:
    for seed in range(3):
        rng = np.random.default_rng([10, seed])
        angles = iter(rng.uniform(-1, 1, 12))
        rotations = [
            "\n".join(f"R_{axis}({next(angles)}) {q}" for q in range(3) for axis in "XZ") for _ in range(2)
        ]
        text = "\n".join(
            [
                "MR 0 1",
                rotations[0],
                "CX 0 1 1 2",
                line,
                rotations[1],
                "CZ 0 1 1 2",
                "MX 0\nMY 1\nM 2",
                "DETECTOR rec[-2]",
            ]
        )
        assert_law_is_that_of_the_density_matrix(Circuit(text).to_stim())
