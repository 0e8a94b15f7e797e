"""Requested outputs: what a plan is constructed for, and the operations that influence them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ....base.memory import memory_is_a_limit
from ...plan import SparseRows
from ..algebra.sparse_rows import numbers_of_rows
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
    operations: Sequence[Operation], outcomes: SparseRows, requested: RequestedOutputs
) -> list[Operation]:
    """The operations up to the last measurement whose outcome flips a requested output."""
    read = np.array([*requested.reported, *requested.postselected], dtype=np.int64)
    flips = np.zeros(len(outcomes), dtype=np.bool_)
    flips[numbers_of_rows(outcomes)[np.isin(outcomes.bits, read)]] = True
    needed = len(operations)
    for operation in reversed(operations):
        if operation.measures and flips[operation.outcome]:
            break
        needed -= 1
    return list(operations[:needed])
