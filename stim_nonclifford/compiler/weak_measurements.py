"""Weak measurements: a coordinate that is woken and measured at once needs no room in the vector.

A rotation about Z of a coordinate in |+>, and then a measurement with an X on it, measure a Pauli of the
other coordinates weakly: the outcome says little about it if the angle is small. Syndrome measurements of
coherent noise are of this kind. An engine applies both in one pass over a vector without the new
coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .operations import Operation, OperationKind

__all__ = ["join_weak_measurements"]


def join_weak_measurements(operations: Sequence[Operation]) -> list[Operation]:
    """Joins each activation about Z with a measurement that follows it and removes its coordinate.

    Args:
        operations: The operations, merged.

    Returns:
        The same with WEAK_MEASURE in place of such pairs.

    Examples:
        >>> wake = Operation(OperationKind.ACTIVATE, 1, 0, 0b10, 0, 1)
        >>> measure = Operation(OperationKind.MEASURE, 2, 0b11, 0, 0, 1, outcome=0)
        >>> [(found.kind.name, found.width, found.x) for found in join_weak_measurements([wake, measure])]
        [('WEAK_MEASURE', 1, 3)]
    """
    joined: list[Operation] = []
    for operation in operations:
        if joined and _measures_weakly(joined[-1], operation):
            woken = joined.pop()
            operation = replace(
                operation, kind=OperationKind.WEAK_MEASURE, width=woken.width, terms=woken.terms
            )
        joined.append(operation)
    return joined


def _measures_weakly(activation: Operation, measurement: Operation) -> bool:
    return (
        activation.kind == OperationKind.ACTIVATE
        and not activation.x
        and measurement.kind == OperationKind.MEASURE
        and measurement.pivot == activation.pivot
        and bool(measurement.x >> measurement.pivot & 1)
    )
