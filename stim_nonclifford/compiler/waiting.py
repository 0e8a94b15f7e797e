"""Rotations that wait until a measurement needs them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import stim

from .gf2 import ones
from .paulis import bits_of

__all__ = ["Waiting", "WaitingRotations", "gates_of"]


@dataclass(eq=False)
class Waiting:
    """A rotation that waits.

    Attributes:
        step: The step of the program that it comes from.
        pauli: What it is about, in the coordinates of now.
        half_turns: Its angle.
    """

    step: int
    pauli: stim.PauliString
    half_turns: float


class WaitingRotations:
    """The rotations that wait, in the order of the circuit.

    Which of them commute does not change with the coordinates. It is worked out once for each, in *fixed*
    coordinates, those of when the first of them came, and kept as masks over numbers that are given in the
    order of arrival.

    Examples:
        >>> rotations = WaitingRotations(2)
        >>> for step, pauli in enumerate(["X_", "_X", "Z_"]):
        ...     rotations.add(Waiting(step, stim.PauliString(pauli), 0.25))
        >>> [rotation.step for rotation in rotations.needed_by(stim.PauliString("X_"))]
        [0, 2]
    """

    def __init__(self, num_qubits: int) -> None:
        self._to_fixed = stim.Tableau(num_qubits)
        self._forget_all()

    def _forget_all(self) -> None:
        self._rotations: dict[int, Waiting] = {}
        self._waiting = 0  # their numbers
        self._numbers: dict[Waiting, int] = {}
        self._before: list[int] = []  # for each number, those before it that do not commute with it
        # For each qubit the numbers of the rotations whose Pauli has an X there, and of those that have a Z.
        self._flips: dict[int, int] = {}
        self._reads: dict[int, int] = {}

    def __iter__(self) -> Iterator[Waiting]:
        return iter(self._rotations.values())

    def __len__(self) -> int:
        return len(self._rotations)

    def add(self, rotation: Waiting) -> None:
        """Adds a rotation after all others."""
        number = len(self._before)
        if number > 2 * len(self) + 1000:
            kept = list(self)
            self._forget_all()
            for other in kept:
                self.add(other)
            number = len(kept)
        x, z = bits_of(self._to_fixed(rotation.pauli))
        self._before.append(self._anticommuting(x, z))
        for columns, bits in ((self._flips, x), (self._reads, z)):
            for qubit in ones(bits):
                columns[qubit] = columns.get(qubit, 0) | 1 << number
        self._rotations[number] = rotation
        self._numbers[rotation] = number
        self._waiting |= 1 << number

    def remove(self, rotation: Waiting) -> None:
        """Removes a rotation."""
        number = self._numbers.pop(rotation)
        del self._rotations[number]
        self._before[number] = 0
        self._waiting ^= 1 << number

    def commutes(self, pauli: stim.PauliString) -> bool:
        """Whether a Pauli commutes with all of them."""
        return not self._not_commuting(pauli)

    def needed_by(self, pauli: stim.PauliString) -> list[Waiting]:
        """Those that must be applied before a measurement, in their order.

        They are those that do not commute with it, or with one that comes after them and is needed.
        """
        needed = []
        left = self._not_commuting(pauli)
        while left:
            number = left.bit_length() - 1
            needed.append(self._rotations[number])
            left = (left | self._before[number] & self._waiting) ^ 1 << number
        return needed[::-1]

    def change_coordinates(self, change: stim.Circuit) -> None:
        """Writes them in other coordinates."""
        if not self._waiting:
            if self._before:
                self._forget_all()
                self._to_fixed = stim.Tableau(len(self._to_fixed))
            return
        for gate, targets in gates_of(change):
            self._to_fixed.prepend(gate.inverse(), targets)
        for rotation in self:
            rotation.pauli = rotation.pauli.after(change)

    def _not_commuting(self, pauli: stim.PauliString) -> int:
        """The numbers of those that do not commute with a Pauli."""
        if not self._waiting:
            return 0
        return self._anticommuting(*bits_of(self._to_fixed(pauli)))

    def _anticommuting(self, x: int, z: int) -> int:
        found = 0
        for columns, bits in ((self._reads, x), (self._flips, z)):
            for qubit in ones(bits):
                found ^= columns.get(qubit, 0)
        return found & self._waiting


def gates_of(circuit: stim.Circuit) -> Iterator[tuple[stim.Tableau, list[int]]]:
    """The gates of a circuit that has nothing else, one by one, and their qubits."""
    for instruction in circuit:
        assert isinstance(instruction, stim.CircuitInstruction)
        tableau = stim.Tableau.from_named_gate(instruction.name)
        for group in instruction.target_groups():
            yield tableau, [target.value for target in group]
