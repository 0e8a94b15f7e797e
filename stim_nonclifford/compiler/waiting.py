"""Rotations that wait until a measurement needs them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import stim

from .gf2 import independent, ones
from .paulis import bits_of

__all__ = ["Waiting", "WaitingRotations", "gates_of"]


@dataclass(frozen=True)
class Waiting:
    """A rotation that waits.

    Attributes:
        step: The step of the program that it comes from.
        half_turns: Its angle.
    """

    step: int
    half_turns: float


class WaitingRotations:
    """The rotations that wait, in the order of the circuit.

    They have numbers in this order, and sets of them are masks over the numbers, valid until the next one is
    added. Which of them commute does not change with the coordinates: their Paulis are kept in *fixed*
    coordinates, those of when the first of them came, and only there.

    Args:
        num_qubits: How many coordinates there are.

    Examples:
        >>> rotations = WaitingRotations(2)
        >>> for step, pauli in enumerate(["X_", "_X", "Z_"]):
        ...     rotations.add(Waiting(step, 0.25), stim.PauliString(pauli))
        >>> needed = rotations.needed_by(stim.PauliString("X_"))
        >>> rotations.steps(needed)
        [0, 2]
    """

    def __init__(self, num_qubits: int) -> None:
        self._num_qubits = num_qubits
        self._forget_all()
        self._fix_coordinates()

    def _fix_coordinates(self) -> None:
        """Makes the coordinates of now the fixed ones."""
        self._changed = False
        self._to_fixed = stim.Tableau(self._num_qubits)
        self._from_fixed = stim.Tableau(self._num_qubits)  # its inverse

    def _forget_all(self) -> None:
        self._rotations: dict[int, tuple[Waiting, stim.PauliString]] = {}
        self._waiting = 0
        self._before: list[int] = []  # for each number, those before it that do not commute with it
        # For each qubit, as a mask of it alone, the rotations whose Pauli has an X there, and a Z.
        self._with_x: dict[int, int] = {}
        self._with_z: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._rotations)

    def steps(self, rotations: int) -> list[int]:
        """The steps of the rotations in a set, in their order."""
        return [self._rotations[number][0].step for number in ones(rotations)]

    def add(self, rotation: Waiting, pauli: stim.PauliString) -> None:
        """Adds a rotation about a Pauli of the coordinates of now, after all others."""
        if len(self._before) > 2 * len(self) + 1000:
            kept = list(self._rotations.values())
            self._forget_all()
            for other in kept:
                self._add_fixed(*other)
        self._add_fixed(rotation, self._to_fixed(pauli) if self._changed else pauli)

    def _add_fixed(self, rotation: Waiting, pauli: stim.PauliString) -> None:
        number = len(self._before)
        self._before.append(self._anticommuting(pauli))
        for columns, bits in zip((self._with_x, self._with_z), bits_of(pauli), strict=True):
            while bits:
                qubit = bits & -bits
                bits ^= qubit
                columns[qubit] = columns.get(qubit, 0) | 1 << number
        self._rotations[number] = rotation, pauli
        self._waiting |= 1 << number

    def take(self, number: int) -> tuple[Waiting, stim.PauliString]:
        """Removes a rotation, and returns it with its Pauli in the coordinates of now."""
        pauli = self.pauli(number)
        rotation, _ = self._rotations.pop(number)
        self._before[number] = 0
        self._waiting ^= 1 << number
        return rotation, pauli

    def pauli(self, number: int) -> stim.PauliString:
        """The Pauli of a rotation in the coordinates of now."""
        pauli = self._rotations[number][1]
        return self._from_fixed(pauli) if self._changed else pauli

    def anticommuting(self, pauli: stim.PauliString) -> int:
        """Those that do not commute with a Pauli of the coordinates of now."""
        if not self._waiting:
            return 0
        return self._anticommuting(self._to_fixed(pauli) if self._changed else pauli)

    def with_x_on(self, coordinate: int) -> int:
        """Those whose Pauli has an X part on a coordinate of now."""
        return self._anticommuting(self._to_fixed.z_output(coordinate)) if self._waiting else 0

    def with_z_on(self, coordinate: int) -> int:
        """Those whose Pauli has a Z part on a coordinate of now."""
        return self._anticommuting(self._to_fixed.x_output(coordinate)) if self._waiting else 0

    def needed_by(self, pauli: stim.PauliString) -> int:
        """Those that must be applied before a measurement.

        They are those that do not commute with it, or with one that comes after them and is needed.
        """
        needed = 0
        left = self.anticommuting(pauli)
        while left:
            number = left.bit_length() - 1
            needed |= 1 << number
            left = (left | self._before[number] & self._waiting) ^ 1 << number
        return needed

    def num_woken_by(
        self, rotations: int, coordinates: int, limit: int, also: stim.PauliString | None = None
    ) -> int:
        """How many coordinates the rotations of a set would wake.

        Args:
            rotations: The set.
            coordinates: Coordinates of now that are dormant, as a mask.
            limit: So many are enough.
            also: The Pauli of one more, in the coordinates of now.

        Returns:
            The rank of the X parts of their Paulis there, up to the limit.
        """
        x = 0 if also is None else bits_of(also)[0] & coordinates
        if rotations.bit_count() < coordinates.bit_count():
            rows = (bits_of(self.pauli(number))[0] & coordinates for number in ones(rotations))
            return len(independent(chain((x,), rows), limit))
        columns = (
            (self.with_x_on(coordinate) & rotations) << 1 | x >> coordinate & 1
            for coordinate in ones(coordinates)
        )
        return len(independent(columns, limit))

    def change_coordinates(self, change: stim.Circuit) -> None:
        """Follows a change of coordinates."""
        if not self._waiting:
            if self._before:
                self._forget_all()
            if self._changed:
                self._fix_coordinates()
            return
        self._changed = True
        for gate, targets in gates_of(change):
            self._to_fixed.prepend(gate.inverse(), targets)
            # Quicker than the inverse of all of it.
            self._from_fixed.append(gate, targets)

    def _anticommuting(self, pauli: stim.PauliString) -> int:
        """Those that do not commute with a Pauli of the fixed coordinates."""
        found = 0
        x, z = bits_of(pauli)
        for columns, bits in ((self._with_z, x), (self._with_x, z)):
            while bits:
                qubit = bits & -bits
                bits ^= qubit
                found ^= columns.get(qubit, 0)
        return found & self._waiting


def gates_of(circuit: stim.Circuit) -> Iterator[tuple[stim.Tableau, list[int]]]:
    """The gates of a circuit that has nothing else, one by one, and their qubits."""
    for instruction in circuit:
        assert isinstance(instruction, stim.CircuitInstruction)
        tableau = stim.Tableau.from_named_gate(instruction.name)
        for group in instruction.target_groups():
            yield tableau, [target.value for target in group]
