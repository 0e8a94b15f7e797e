"""Weak measurements: a coordinate that is activated and measured at once never enters the vector.

Consider a rotation about Z of a coordinate in |+>, followed by a measurement of a Pauli with an X on it.
Together they measure a Pauli of the other coordinates weakly: if the angle is small, the outcome has little
information about that Pauli. Syndrome measurements of coherent noise are of this kind. An engine applies both
in one pass over the vector without the new coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..sweeps.operations import Operation, OperationKind

__all__ = ["join_weak_measurements"]


def join_weak_measurements(operations: Sequence[Operation]) -> list[Operation]:
    """Joins each activation about Z with the next operation, if that measures its coordinate.

    Args:
        operations: The operations after rotation merging.

    Returns:
        The operations, with WEAK_MEASURE in place of such pairs.

    Examples:
        >>> activate = Operation(OperationKind.ACTIVATE, 1, 0, 0b10, 0, 1)
        >>> measure = Operation(OperationKind.MEASURE, 2, 0b11, 0, 0, 1, outcome=0)
        >>> [(found.kind.name, found.width, found.x) for found in join_weak_measurements([activate, measure])]
        [('WEAK_MEASURE', 1, 3)]
    """
    joined: list[Operation] = []
    for operation in operations:
        if joined and _measures_weakly(joined[-1], operation):
            activated = joined.pop()
            operation = replace(
                operation, kind=OperationKind.WEAK_MEASURE, width=activated.width, terms=activated.terms
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
