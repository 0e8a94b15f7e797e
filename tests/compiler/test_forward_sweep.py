"""The tables of the forward sweep against Stim, and which deferred rotations a measurement needs."""

from __future__ import annotations

import random

import pytest
import stim

from benchmarks.synthetic import scrambled
from stim_nonclifford._native import CoordinateGate, CoordinateTable, DeferredRotations
from stim_nonclifford.compiler.algebra.clifford_gates import named_gate
from stim_nonclifford.compiler.algebra.gf2 import independent, mask_of
from stim_nonclifford.compiler.algebra.paulis import bits_of, from_pauli_string, to_pauli_string
from stim_nonclifford.compiler.program.flattening import program_of
from stim_nonclifford.compiler.sweeps.forward_sweep import forward_sweep

NUM_QUBITS = 5
NativePauli = tuple[list[tuple[int, int]], bool]


def native(pauli: stim.PauliString) -> NativePauli:
    return list(from_pauli_string(pauli)), pauli.sign.real < 0


def needed(paulis: dict[int, stim.PauliString], measured: stim.PauliString) -> list[int]:
    """From the last to the first: those that do not commute with what is measured or with a needed one."""
    found: list[int] = []
    for step in reversed(paulis):
        if not all(paulis[step].commutes(other) for other in [measured, *(paulis[k] for k in found)]):
            found.append(step)
    return found[::-1]


def random_change(
    rng: random.Random, num_qubits: int, size: int
) -> tuple[stim.Circuit, list[tuple[CoordinateGate, int, int]]]:
    """Gates on coordinates, for Stim and for native code."""
    change, gates = stim.Circuit(), []
    for _ in range(size):
        gate = rng.choice(list(CoordinateGate))
        on, target = rng.sample(range(num_qubits), 2)
        change.append(gate.name, [on, target] if gate.name in ("CX", "CZ") else [on])
        gates.append((gate, on, target))
    return change, gates


@pytest.mark.parametrize("num_qubits", [2, 5, 64, 150])
def test_tables_are_those_of_stim(num_qubits: int) -> None:
    """Seed 6: gates of every kind on few and on many qubits, Paulis and changes of coordinates, in turns."""
    rng = random.Random(6)
    table, expected = CoordinateTable(num_qubits), stim.Tableau(num_qubits)
    names = [
        name
        for name, data in stim.gate_data().items()
        if data.is_unitary and (data.is_single_qubit_gate or data.is_two_qubit_gate)
    ]
    for turn in range(150):
        for name in rng.choices(names, k=rng.choice([1, 5])):
            gate = named_gate(name)
            qubits = rng.sample(range(num_qubits), num_qubits)
            qubits = qubits[: gate.num_qubits * rng.randint(1, num_qubits // gate.num_qubits)]
            table.apply(gate.num_qubits, gate.inverse_images, qubits)
            for k in range(0, len(qubits), gate.num_qubits):
                expected.prepend(gate.inverse, qubits[k : k + gate.num_qubits])
        if turn % 3 == 0:
            qubit, code = rng.randrange(num_qubits), rng.randint(1, 3)
            table.apply_pauli(qubit, code)
            expected.prepend(stim.Tableau.from_named_gate("_XZY"[code]), [qubit])
        if turn % 2 == 0:
            change, gates = random_change(rng, num_qubits, 4)
            table.change(gates)
            for instruction in change:
                for group in instruction.target_groups():
                    on = [target.value for target in group]
                    expected.append(stim.Tableau.from_named_gate(instruction.name), on)
        measured = stim.PauliString("".join(rng.choices("XYZ_", k=num_qubits)))
        assert table.image(from_pauli_string(measured)) == native(expected(measured))
        qubit, code = rng.randrange(num_qubits), rng.randint(1, 3)
        single = ((qubit, code),)
        assert table.image(single) == native(expected(to_pauli_string(single, num_qubits)))
        for code, output in ((1, expected.inverse_x_output), (2, expected.inverse_z_output)):
            assert table.inverse_image(qubit, code) == list(from_pauli_string(output(qubit)))


@pytest.mark.parametrize("first_stays", [False, True])
def test_needed_rotations_through_changes_of_coordinates(first_stays: bool) -> None:
    # Seed 5. Where the first one stays, numbers are given anew, twice; else none waits now and then.
    rng = random.Random(5)

    def random_pauli(letters: str) -> stim.PauliString:
        return stim.PauliString("".join(rng.choices(letters, k=NUM_QUBITS)))

    rotations = DeferredRotations(NUM_QUBITS)
    expected: dict[int, stim.PauliString] = {}  # by step
    emptied = several = 0

    def steps(found: list[int]) -> list[int]:
        return [rotations.step(number) for number in found]

    for step in range(3000):
        expected[step] = random_pauli("XYZ_")
        rotations.add(step, native(expected[step]))
        measured = random_pauli("___XYZ")
        found = rotations.needed_by(native(measured))
        assert steps(found) == needed(expected, measured)
        assert steps(rotations.anticommuting(native(measured))) == [
            k for k, pauli in expected.items() if not pauli.commutes(measured)
        ]
        coordinates = sorted(rng.sample(range(NUM_QUBITS), rng.randint(1, NUM_QUBITS)))
        mask = mask_of(coordinates)
        parts = [bits_of(expected[k])[0] & mask for k in steps(found)]
        assert rotations.num_activated_by(found, coordinates, 3) == min(3, len(independent(parts)))
        parts.append(bits_of(measured)[0] & mask)
        activated = rotations.num_activated_by(found, coordinates, 3, native(measured))
        assert activated == min(3, len(independent(parts)))
        several += len(found) > 1
        for number in found if rng.random() < 0.3 else ():
            step_of = rotations.step(number)
            if not first_stays or step_of != 0:
                assert rotations.pauli(number) == native(expected.pop(step_of))
                rotations.remove(number)
        if rng.random() < 0.3:
            change, gates = random_change(rng, NUM_QUBITS, 3)
            rotations.change(gates)
            expected = {k: pauli.after(change) for k, pauli in expected.items()}
        coordinate = rng.randrange(NUM_QUBITS)
        for some, codes in (
            (rotations.with_x(coordinate), (1, 2)),
            (rotations.with_z(coordinate), (2, 3)),
        ):
            assert steps(some) == [k for k, pauli in expected.items() if pauli[coordinate] in codes]
        emptied += not expected
        assert len(rotations) == len(expected)
    assert emptied > 20 or first_stays
    assert several > 100


@pytest.mark.parametrize("width", [4, 6, 9, 11, 12])
def test_measurements_come_in_an_order_that_takes_less_work(width: int) -> None:
    program = program_of(scrambled(width).to_stim())
    work = [
        sum(2**operation.width for operation in forward_sweep(program, keep_order=keep_order).operations)
        for keep_order in (False, True)
    ]
    assert work[0] < 0.9 * work[1]
