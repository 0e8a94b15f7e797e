"""Needed operations: operations at the end that influence no requested output are dropped."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.gf2 import mask_of
from ..sweeps.operations import Operation
from .requested_outputs import RequestedOutputs

__all__ = ["needed_operations"]


def needed_operations(
    operations: Sequence[Operation], outcomes: Sequence[int], requested: RequestedOutputs
) -> list[Operation]:
    """The operations up to the last measurement whose outcome flips a requested output.

    Examples:
        >>> from ..sweeps.operations import OperationKind
        >>> measure = [Operation(OperationKind.MEASURE, 1, 1, 0, 0, 0, outcome=k) for k in range(2)]
        >>> needed_operations(measure, [0b01, 0b10], RequestedOutputs.of([0])) == measure[:1]
        True
    """
    read = mask_of({*requested.reported, *requested.postselected})
    needed = len(operations)
    for operation in reversed(operations):
        if operation.measures and outcomes[operation.outcome] & read:
            break
        needed -= 1
    return list(operations[:needed])
