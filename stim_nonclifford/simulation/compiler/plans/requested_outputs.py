"""Requested outputs: what a plan is constructed for, and the operations that influence them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ....base.memory import memory_is_a_limit
from ..algebra.gf2 import mask_of
from ..sweeps.operations import Operation


@dataclass(frozen=True)
class RequestedOutputs:
    """The outputs that a plan needs, by their indices: detectors, then observables; or the records."""

    reported: tuple[int, ...]  # the outputs that the plan reports, in this order
    postselected: tuple[int, ...] = ()  # the outputs that must be 0 in a kept shot

    @staticmethod
    def of(reported: Iterable[int], postselected: Iterable[int] = ()) -> RequestedOutputs:
        """Constructs the object from any iterables."""
        with memory_is_a_limit():
            # NumPy's integers would overflow in masks of more than 63 outputs.
            return RequestedOutputs(tuple(map(int, reported)), tuple(map(int, postselected)))


def needed_operations(
    operations: Sequence[Operation], outcomes: Sequence[int], requested: RequestedOutputs
) -> list[Operation]:
    """The operations up to the last measurement whose outcome flips a requested output."""
    read = mask_of({*requested.reported, *requested.postselected})
    needed = len(operations)
    for operation in reversed(operations):
        if operation.measures and outcomes[operation.outcome] & read:
            break
        needed -= 1
    return list(operations[:needed])
