"""Which deferred rotations a measurement needs, against the definition."""

from __future__ import annotations

import random

import pytest
import stim

from benchmarks.synthetic import scrambled
from stim_nonclifford.compiler.deferred_rotations import DeferredRotation, DeferredRotations
from stim_nonclifford.compiler.flattening import program_of
from stim_nonclifford.compiler.forward_sweep import forward_sweep
from stim_nonclifford.compiler.gf2 import independent, ones
from stim_nonclifford.compiler.paulis import bits_of

NUM_QUBITS = 5


def needed(paulis: dict[int, stim.PauliString], measured: stim.PauliString) -> list[int]:
    """From the last to the first: those that do not commute with what is measured or with a needed one."""
    found: list[int] = []
    for step in reversed(paulis):
        if not all(paulis[step].commutes(other) for other in [measured, *(paulis[k] for k in found)]):
            found.append(step)
    return found[::-1]


@pytest.mark.parametrize("first_stays", [False, True])
def test_needed_rotations_through_changes_of_coordinates(first_stays: bool) -> None:
    # Seed 5. Where the first one stays, numbers are given anew, twice; else none waits now and then.
    rng = random.Random(5)

    def random_pauli(letters: str) -> stim.PauliString:
        return stim.PauliString("".join(rng.choices(letters, k=NUM_QUBITS)))

    rotations = DeferredRotations(NUM_QUBITS)
    expected: dict[int, stim.PauliString] = {}  # by step
    gates = [f"{name} {a} {b}" for name in ("CX", "CY", "CZ") for a in range(5) for b in range(5) if a != b]
    gates += [f"{name} {a}" for name in ("H", "S_DAG", "X") for a in range(5)]
    emptied = several = 0
    for step in range(3000):
        expected[step] = random_pauli("XYZ_")
        rotations.add(DeferredRotation(step, 0.25), expected[step])
        measured = random_pauli("___XYZ")
        found = rotations.needed_by(measured)
        assert rotations.steps(found) == needed(expected, measured)
        assert rotations.steps(rotations.anticommuting(measured)) == [
            k for k, pauli in expected.items() if not pauli.commutes(measured)
        ]
        coordinates = rng.randrange(1, 1 << NUM_QUBITS)
        parts = [bits_of(expected[k])[0] & coordinates for k in rotations.steps(found)]
        assert rotations.num_activated_by(found, coordinates, 3) == min(3, len(independent(parts)))
        parts.append(bits_of(measured)[0] & coordinates)
        assert rotations.num_activated_by(found, coordinates, 3, measured) == min(3, len(independent(parts)))
        several += found.bit_count() > 1
        for number in ones(found) if rng.random() < 0.3 else ():
            if not first_stays or rotations.steps(1 << number) != [0]:
                assert rotations.pauli(number) == expected[rotations.steps(1 << number)[0]]
                rotation, pauli = rotations.take(number)
                assert pauli == expected.pop(rotation.step)
        if rng.random() < 0.3:
            change = stim.Circuit("\n".join(rng.choices(gates, k=3)))
            rotations.change_coordinates(change)
            expected = {k: pauli.after(change) for k, pauli in expected.items()}
        coordinate = rng.randrange(NUM_QUBITS)
        for found, codes in (
            (rotations.with_x_on(coordinate), (1, 2)),
            (rotations.with_z_on(coordinate), (2, 3)),
        ):
            steps = [k for k, pauli in expected.items() if pauli[coordinate] in codes]
            assert rotations.steps(found) == steps
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
