"""Rotation merging: rotations about the same Pauli become one operation.

Commuting rotations may be exchanged. Rotations about the same Pauli are then applied as one rotation. Its
angle is the sum of their angles, with the signs that they have in the shot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

from ..sweeps.operations import Operation, OperationKind, RotationTerm

_REACH = 512
"""Largest number of operations that a rotation may pass."""


def merge_rotations(operations: Sequence[Operation]) -> list[Operation]:
    """Merges each rotation into an earlier one about the same Pauli.

    If there is none, the rotation is moved to where the vector is smallest. A rotation may pass rotations
    with which it commutes, and activations of coordinates on which it acts trivially. Measurements keep their
    order.
    """
    merged: list[_Run] = []
    for operation in _postpone_diagonal_rotations(operations):
        if operation.kind != OperationKind.ROTATE:
            merged.append(_Run(operation))
            continue
        place, is_equal = _place_of(operation, merged)
        if is_equal:
            merged[place].add(operation)
        elif place < len(merged):
            merged.insert(place, _Run(replace(operation, width=merged[place].operation.width)))
        else:
            merged.append(_Run(operation))
    return [run.merged() for run in merged]


class _Run:
    """An operation, and the terms of the rotations about the same Pauli that are merged with it."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self._added: list[RotationTerm] = []

    def add(self, other: Operation) -> None:
        """Adds the terms of a rotation about the same Pauli or its negative."""
        is_opposite = self.operation.i_power != other.i_power
        self._added += [replace(term, is_reversed=term.is_reversed != is_opposite) for term in other.terms]

    def merged(self) -> Operation:
        """The operation with all terms."""
        if not self._added:
            return self.operation
        return replace(self.operation, terms=(*self.operation.terms, *self._added))


def _postpone_diagonal_rotations(operations: Sequence[Operation]) -> list[Operation]:
    """Moves diagonal rotations behind measurements with which they commute.

    The vector is smaller there. A rotation that comes after all measurements influences no outcome, and is
    dropped.
    """
    result: list[Operation] = []
    activations: list[_Numbered] = []
    diagonal = _DiagonalRotations()  # with the activations, those since the last other operation
    for numbered in enumerate(operations):
        _, operation = numbered
        if operation.kind == OperationKind.ACTIVATE:
            activations.append(numbered)
        elif operation.is_diagonal_rotation:
            diagonal.add(numbered)
        else:
            earlier = activations + (
                diagonal.pass_measurement(operation)
                if operation.measures and operation.x
                else diagonal.take_all()
            )
            result += [before for _, before in sorted(earlier, key=itemgetter(0))]
            result.append(operation)
            activations = []
    return result


_Numbered = tuple[int, Operation]  # an operation, and its place in the circuit


class _DiagonalRotations:
    """Diagonal rotations that are postponed. Those about the same Pauli are moved together."""

    def __init__(self) -> None:
        self._equal: dict[tuple[int, int], list[_Numbered]] = {}  # by z and width of the vector

    def add(self, numbered: _Numbered) -> None:
        """Postpones one more rotation."""
        _, rotation = numbered
        self._equal.setdefault((rotation.z, rotation.width), []).append(numbered)

    def take_all(self) -> list[_Numbered]:
        """The rotations; none is postponed any longer."""
        taken = [numbered for key in self._equal for numbered in self._placed(key)]
        self._equal = {}
        return taken

    def pass_measurement(self, measurement: Operation) -> list[_Numbered]:
        """Moves those that commute with a measurement behind it, and returns the others."""
        before: list[_Numbered] = []
        behind: dict[tuple[int, int], list[_Numbered]] = {}
        # The remaining coefficients are those with pivot bit 0, so the pivot's bit of z is dropped.
        low = (1 << measurement.pivot) - 1
        for key, rotations in self._equal.items():
            z, _ = key
            if (z & measurement.x).bit_count() & 1:
                before += self._placed(key)
                continue
            moved = (z & low | z >> 1 & ~low, measurement.width - 1)
            shorter, longer = sorted((rotations, behind.get(moved, [])), key=len)
            longer += shorter
            behind[moved] = longer
        self._equal = behind
        return before

    def _placed(self, key: tuple[int, int]) -> list[_Numbered]:
        """The rotations about one Pauli, rewritten for the coordinates that there are now."""
        z, width = key
        return [
            (number, rotation if (rotation.z, rotation.width) == key else replace(rotation, z=z, width=width))
            for number, rotation in self._equal[key]
        ]


def _place_of(rotation: Operation, merged: Sequence[_Run]) -> tuple[int, bool]:
    """The index of an operation about the same Pauli and True, or the index for a new one and False."""
    x, z = rotation.x, rotation.z
    place = len(merged)
    for k in range(len(merged) - 1, max(-1, len(merged) - 1 - _REACH), -1):
        other = merged[k].operation
        if other.measures:
            break
        if (other.x, other.z) == (x, z):
            return k, True
        if other.kind == OperationKind.ACTIVATE:
            if (x | z) & (other.x | other.z):
                break
            place = k
        elif not _commute(other, rotation):
            break
    return place, False


def _commute(a: Operation, b: Operation) -> bool:
    return not ((a.x & b.z).bit_count() + (a.z & b.x).bit_count()) & 1
