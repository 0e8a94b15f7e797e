"""Rotations about equal Paulis side by side.

Rotations that commute may change places. Where two of them are about the same Pauli, an engine makes one
rotation out of neighbours, by the sum of their angles with the signs of the shot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .coordinates import OperationKind

__all__ = ["gathered", "peak_width_of"]

_REACH = 512
"""How many different rotations a rotation may pass."""


@dataclass(slots=True)
class _Group:
    """An operation, and rotations about the same Pauli after it."""

    kind: int
    x: int
    z: int
    width: int
    members: list[int]


def gathered(operations: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    r"""Moves rotations forward to others about the same Pauli, or at least to where the vector is smaller.

    A rotation passes rotations with which it commutes, and activations of coordinates on which it does
    nothing. Measurements stay where they are.

    Args:
        operations: The operations, of dtype ``OPERATION_DTYPE``.

    Returns:
        The same operations in an equivalent order, with the widths that they have there.

    Examples:
        >>> import stim_nonclifford as snc
        >>> plan = snc.Circuit("R_X(0.1) 0 1\nR_X(0.2) 0\nMZZ 0 1").compile().record_plan()
        >>> plan.operations[["kind", "z", "width"]].tolist()  # the second rotation comes after the first
        [(1, 1, 0), (0, 1, 1), (1, 2, 1), (2, 0, 2)]
    """
    operations = _postponed(operations)
    groups: list[_Group] = []
    fields = ("kind", "x", "z", "width")
    for k, (kind, x, z, width) in enumerate(zip(*(operations[f].tolist() for f in fields), strict=True)):
        if kind == OperationKind.ROTATE:
            place, equal = _place(groups, x, z)
            if equal:
                groups[place].members.append(k)
                continue
            width = groups[place].width if place < len(groups) else width
            groups.insert(place, _Group(kind, x, z, width, [k]))
        else:
            groups.append(_Group(kind, x, z, width, [k]))
    result = operations[[k for group in groups for k in group.members]]
    result["width"] = [
        group.width + (group.kind == OperationKind.ACTIVATE and n > 0)
        for group in groups
        for n in range(len(group.members))
    ]
    return result


def peak_width_of(operations: npt.NDArray[np.void]) -> int:
    """The largest number of active coordinates.

    A coordinate that is woken, and then at once measured (in the other basis) together with others, is not
    counted: that is a weak measurement of the others, for which an engine needs no larger vector.

    Args:
        operations: The operations, gathered.
    """
    peak, woken = 0, -1  # woken: in the basis in which the rotation is diagonal
    fields = ("kind", "x", "z", "width", "pivot")
    for kind, x, z, width, pivot in zip(*(operations[f].tolist() for f in fields), strict=True):
        if kind == OperationKind.ROTATE and woken >= 0 and (x, z) == (0, 1 << woken):
            continue
        weak = kind == OperationKind.MEASURE and pivot == woken and x >> pivot & 1
        if woken >= 0 and not weak:
            peak = max(peak, woken + 1)
        woken = width if kind == OperationKind.ACTIVATE and not x else -1
        if not weak:
            peak = max(peak, width + (kind == OperationKind.ACTIVATE and bool(x)))
    return max(peak, woken + 1)


def _postponed(operations: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Puts diagonal rotations behind the measurements before which they stand and with which they commute.

    There, the vector is smaller, and a later measurement may not need them either.
    """
    order: list[int] = []
    changed = operations.copy()
    diagonal: list[int] = []  # since the last operation that is not diagonal
    for k, (kind, x, z, pivot) in enumerate(
        zip(*(operations[f].tolist() for f in ("kind", "x", "z", "pivot")), strict=True)
    ):
        if kind == OperationKind.ACTIVATE or (kind == OperationKind.ROTATE and not x):
            diagonal.append(k)
            continue
        later: list[int] = []
        if kind == OperationKind.MEASURE and x:
            for j in diagonal:
                z = int(changed["z"][j])
                commutes = not (z & x).bit_count() & 1
                (later if operations["kind"][j] == OperationKind.ROTATE and commutes else order).append(j)
            for j in later:
                z = int(changed["z"][j])
                # An index without the pivot's bit stands for the entry in which that is 0.
                changed["z"][j] = z & (1 << pivot) - 1 | z >> pivot + 1 << pivot
                changed["width"][j] = operations["width"][k] - 1
        else:
            order += diagonal
        order.append(k)
        diagonal = later
    return changed[order]


def _place(groups: list[_Group], x: int, z: int) -> tuple[int, bool]:
    """The group to which a rotation belongs; or the place for a group of its own."""
    place = len(groups)
    for j in range(len(groups) - 1, max(-1, len(groups) - 1 - _REACH), -1):
        group = groups[j]
        if group.kind == OperationKind.MEASURE:
            break
        if (group.x, group.z) == (x, z):
            return j, True
        if group.kind == OperationKind.ACTIVATE:
            if (x | z) & (group.x | group.z):
                break
            place = j
        elif not _commute(group.x, group.z, x, z):
            break
    return place, False


def _commute(x: int, z: int, other_x: int, other_z: int) -> bool:
    return not ((x & other_z).bit_count() + (z & other_x).bit_count()) & 1
