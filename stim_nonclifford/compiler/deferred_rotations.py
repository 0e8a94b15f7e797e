"""Deferral: rotations wait until a measurement needs them.

A rotation is deferred until a measurement comes that does not commute with it, or with a later deferred
rotation that the measurement needs. This keeps the coefficient vector narrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import stim

from .gf2 import independent, ones
from .paulis import bits_of

__all__ = ["DeferredRotation", "DeferredRotations", "gates_of"]


@dataclass(frozen=True)
class DeferredRotation:
    """A rotation of the circuit that has not been applied yet.

    Attributes:
        step: The step of the program that it comes from.
        half_turns: Its angle.
    """

    step: int
    half_turns: float


_FEW = 32
"""More gates than these are multiplied before they are applied to a tableau."""


class DeferredRotations:
    """The deferred rotations, in the order of the circuit.

    Rotations are numbered in this order. A set of rotations is a mask over the numbers, valid until the
    next rotation is added. Whether two of them commute does not depend on the coordinates, so their Paulis
    are kept in
    *fixed* coordinates only: those at the time when the first rotation was added.

    Args:
        num_qubits: Number of coordinates.

    Examples:
        >>> rotations = DeferredRotations(2)
        >>> for step, pauli in enumerate(["X_", "_X", "Z_"]):
        ...     rotations.add(DeferredRotation(step, 0.25), stim.PauliString(pauli))
        >>> needed = rotations.needed_by(stim.PauliString("X_"))
        >>> rotations.steps(needed)
        [0, 2]
    """

    def __init__(self, num_qubits: int) -> None:
        self._num_qubits = num_qubits
        self._forget_all()
        self._fix_coordinates()

    def _fix_coordinates(self) -> None:
        """Takes the current coordinates as the fixed ones."""
        self._changed = False
        # The tables are not there before they are needed.
        self._to_fixed = self._from_fixed = stim.Tableau(0)

    def _forget_all(self) -> None:
        self._rotations: dict[int, tuple[DeferredRotation, stim.PauliString]] = {}
        self._deferred = 0
        self._before: list[int] = []  # for each number, the earlier rotations that do not commute with it
        # For each qubit, as a mask of it alone, the rotations whose Pauli has an X there, and a Z.
        self._with_x: dict[int, int] = {}
        self._with_z: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._rotations)

    def steps(self, rotations: int) -> list[int]:
        """The steps of the rotations in a set, in their order."""
        return [self._rotations[number][0].step for number in ones(rotations)]

    def add(self, rotation: DeferredRotation, pauli: stim.PauliString) -> None:
        """Adds a rotation about a Pauli of the current coordinates, after all others."""
        if len(self._before) > 2 * len(self) + 1000:
            kept = list(self._rotations.values())
            self._forget_all()
            for other in kept:
                self._add_fixed(*other)
        self._add_fixed(rotation, self._to_fixed(pauli) if self._changed else pauli)

    def _add_fixed(self, rotation: DeferredRotation, pauli: stim.PauliString) -> None:
        number = len(self._before)
        self._before.append(self._anticommuting(pauli))
        for columns, bits in zip((self._with_x, self._with_z), bits_of(pauli), strict=True):
            while bits:
                qubit = bits & -bits
                bits ^= qubit
                columns[qubit] = columns.get(qubit, 0) | 1 << number
        self._rotations[number] = rotation, pauli
        self._deferred |= 1 << number

    def take(self, number: int) -> tuple[DeferredRotation, stim.PauliString]:
        """Removes a rotation, and returns it with its Pauli in the current coordinates."""
        pauli = self.pauli(number)
        rotation, _ = self._rotations.pop(number)
        self._before[number] = 0
        self._deferred ^= 1 << number
        return rotation, pauli

    def pauli(self, number: int) -> stim.PauliString:
        """The Pauli of a rotation in the current coordinates."""
        pauli = self._rotations[number][1]
        return self._from_fixed(pauli) if self._changed else pauli

    def anticommuting(self, pauli: stim.PauliString) -> int:
        """The rotations that do not commute with a Pauli of the current coordinates."""
        if not self._deferred:
            return 0
        return self._anticommuting(self._to_fixed(pauli) if self._changed else pauli)

    def with_x_on(self, coordinate: int) -> int:
        """The rotations whose Pauli has an X part on a current coordinate."""
        if not self._changed:
            return self._with_x.get(1 << coordinate, 0) & self._deferred
        return self._anticommuting(self._to_fixed.z_output(coordinate))

    def with_z_on(self, coordinate: int) -> int:
        """The rotations whose Pauli has a Z part on a current coordinate."""
        if not self._changed:
            return self._with_z.get(1 << coordinate, 0) & self._deferred
        return self._anticommuting(self._to_fixed.x_output(coordinate))

    def needed_by(self, pauli: stim.PauliString) -> int:
        """The rotations that must be applied before a measurement of a Pauli.

        They are those that do not commute with it, or with a later rotation that is needed itself.
        """
        needed = 0
        left = self.anticommuting(pauli)
        while left:
            number = left.bit_length() - 1
            needed |= 1 << number
            left = (left | self._before[number] & self._deferred) ^ 1 << number
        return needed

    def num_activated_by(
        self, rotations: int, coordinates: int, limit: int, also: stim.PauliString | None = None
    ) -> int:
        """The number of coordinates that the rotations of a set would activate.

        Args:
            rotations: The set.
            coordinates: The dormant coordinates, as a mask.
            limit: Stop counting here.
            also: The Pauli of one more rotation, in the current coordinates.

        Returns:
            The rank of the X parts of their Paulis on the dormant coordinates, up to the limit.
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
        if not self._deferred:
            if self._before:
                self._forget_all()
            if self._changed:
                self._fix_coordinates()
            return
        if not self._changed:
            self._changed = True
            self._to_fixed = stim.Tableau(self._num_qubits)
            self._from_fixed = stim.Tableau(self._num_qubits)  # its inverse
        for gate, targets in gates_of(change):
            self._to_fixed.prepend(gate.inverse(), targets)
            # Faster than inverting the whole tableau.
            self._from_fixed.append(gate, targets)

    def _anticommuting(self, pauli: stim.PauliString) -> int:
        """The rotations that do not commute with a Pauli of the fixed coordinates."""
        found = 0
        x, z = bits_of(pauli)
        for columns, bits in ((self._with_z, x), (self._with_x, z)):
            while bits:
                qubit = bits & -bits
                bits ^= qubit
                found ^= columns.get(qubit, 0)
        return found & self._deferred


def gates_of(circuit: stim.Circuit) -> list[tuple[stim.Tableau, list[int]]]:
    """Gates that do what a circuit of one-qubit gates and controlled Paulis does, and their qubits.

    Many gates are multiplied with each other: Stim's tableaus take each gate to all of their rows.
    """
    gates = [
        (instruction.name, [target.value for target in group])
        for instruction in circuit
        for group in instruction.target_groups()
    ]
    if len(gates) <= _FEW:
        return [(stim.Tableau.from_named_gate(name), qubits) for name, qubits in gates]
    qubits = sorted({qubit for _, on in gates for qubit in on})
    places = {qubit: k for k, qubit in enumerate(qubits)}
    product = stim.Circuit(f"I {len(qubits) - 1}")
    for name, on in gates:
        product.append(name, [places[qubit] for qubit in on])
    return [(product.to_tableau(), qubits)]
