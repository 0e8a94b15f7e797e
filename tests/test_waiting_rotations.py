"""Which waiting rotations a measurement needs, against the definition."""

from __future__ import annotations

import random

import pytest
import stim

from stim_nonclifford.compiler.waiting import Waiting, WaitingRotations

NUM_QUBITS = 5


def needed(rotations: list[Waiting], pauli: stim.PauliString) -> list[Waiting]:
    """From the last to the first: those that do not commute with the Pauli or with a needed one."""
    found: list[Waiting] = []
    for rotation in reversed(rotations):
        if not all(rotation.pauli.commutes(other) for other in [pauli, *(r.pauli for r in found)]):
            found.append(rotation)
    return found[::-1]


@pytest.mark.parametrize("first_stays", [False, True])
def test_needed_rotations_through_changes_of_coordinates(first_stays: bool) -> None:
    # Seed 5. Where the first one stays, numbers are given anew, twice; else none waits now and then.
    rng = random.Random(5)

    def random_pauli(letters: str) -> stim.PauliString:
        return stim.PauliString("".join(rng.choices(letters, k=NUM_QUBITS)))

    rotations = WaitingRotations(NUM_QUBITS)
    expected: list[Waiting] = []
    gates = [f"{name} {a} {b}" for name in ("CX", "CY", "CZ") for a in range(5) for b in range(5) if a != b]
    gates += [f"{name} {a}" for name in ("H", "S_DAG", "X") for a in range(5)]
    emptied = several = 0
    for step in range(3000):
        rotation = Waiting(step, random_pauli("XYZ_"), 0.25)
        rotations.add(rotation)
        expected.append(rotation)
        pauli = random_pauli("___XYZ")
        found = rotations.needed_by(pauli)
        assert found == needed(expected, pauli)
        assert rotations.commutes(pauli) == (not found)
        several += len(found) > 1
        for other in found if rng.random() < 0.3 else ():
            if not first_stays or other is not expected[0]:
                rotations.remove(other)
                expected.remove(other)
        if rng.random() < 0.3:
            before = [(r, r.pauli) for r in expected]
            change = stim.Circuit("\n".join(rng.choices(gates, k=3)))
            rotations.change_coordinates(change)
            assert all(r.pauli == pauli.after(change) for r, pauli in before)
        emptied += not expected
        assert list(rotations) == expected
        assert len(rotations) == len(expected)
    assert emptied > 20 or first_stays
    assert several > 100
