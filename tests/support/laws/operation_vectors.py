"""What operations do to the coefficient vector, written from the description of ``Operation``, without a plan."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from stim_nonclifford.simulation.compiler.sweeps.operations import Operation, OperationKind, RotationTerm

Vector = npt.NDArray[np.complex128]
Outcomes = Mapping[int, int]
"""Bits by the numbers of the outcomes."""

IsReversed = Callable[[RotationTerm, Outcomes], bool]
"""Whether the sign of a rotation is reversed, after these outcomes."""


def paths(operations: Sequence[Operation], is_reversed: IsReversed) -> Iterator[tuple[Outcomes, Vector]]:
    """All possible outcomes of the measurements, each with the vector that is left.

    The squared norm of the vector is the probability of the outcomes.
    """
    yield from _paths_from(np.ones(1, np.complex128), {}, operations, is_reversed)


def _paths_from(
    vector: Vector, outcomes: Outcomes, operations: Sequence[Operation], is_reversed: IsReversed
) -> Iterator[tuple[Outcomes, Vector]]:
    for k, operation in enumerate(operations):
        assert len(vector) == 1 << operation.width, "an operation has the width of the vector that it finds"
        angle = 0.0
        for term in operation.terms:
            reversals = term.is_reversed + is_reversed(term, outcomes)
            angle += (-1) ** reversals * term.half_turns * math.pi / 2
        match operation.kind:
            case OperationKind.ROTATE:
                vector = _rotated(vector, operation, angle)
            case OperationKind.ACTIVATE:
                vector = _rotated(_woken(vector, operation), operation, angle)
            case OperationKind.WEAK_MEASURE:
                new = 1 << operation.pivot
                activation = Operation(OperationKind.ACTIVATE, operation.width, 0, new, 0, operation.pivot)
                vector = _rotated(_woken(vector, activation), activation, angle)
        if operation.measures:
            for outcome in (0, 1):
                projected = _measured(vector, operation, outcome)
                if np.vdot(projected, projected).real > 1e-14:
                    after = {**outcomes, operation.outcome: outcome}
                    yield from _paths_from(projected, after, operations[k + 1 :], is_reversed)
            return
    yield outcomes, vector


def _pauli(vector: Vector, operation: Operation) -> Vector:
    result = np.zeros_like(vector)
    for index, coefficient in enumerate(vector):
        sign = (-1) ** (index & operation.z).bit_count()
        result[index ^ operation.x] = 1j**operation.i_power * sign * coefficient
    return result


def _rotated(vector: Vector, operation: Operation, angle: float) -> Vector:
    return math.cos(angle) * vector - 1j * math.sin(angle) * _pauli(vector, operation)


def _woken(vector: Vector, operation: Operation) -> Vector:
    """The vector with a coordinate in |+> or |0>, whichever is no eigenstate of the operation's Pauli."""
    new = 1 << operation.width
    assert operation.pivot == operation.width
    assert (operation.x, operation.z) in ((0, new), (new, 0))
    if operation.x:
        return np.concatenate([vector, 0 * vector])
    return np.concatenate([vector, vector]) / math.sqrt(2)


def _measured(vector: Vector, operation: Operation, outcome: int) -> Vector:
    projected = (vector + (-1) ** outcome * _pauli(vector, operation)) / 2
    bit = 1 << operation.pivot
    assert (operation.x or operation.z) & bit, "the pivot is in x, or in z if x is 0"
    left = np.zeros(len(vector) // 2, np.complex128)
    for k in range(len(left)):
        index = (k & bit - 1) | (k & ~(bit - 1)) << 1
        if operation.x:
            # Both entries of the pair have the same modulus; the one without the pivot's bit stands for them.
            left[k] = projected[index] * math.sqrt(2)
        else:
            # One entry of the pair is 0.
            left[k] = projected[index] + projected[index | bit]
    return left
