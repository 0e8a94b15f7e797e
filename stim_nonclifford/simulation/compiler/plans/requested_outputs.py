"""Requested outputs: what a plan is constructed for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ....base.memory import memory_is_a_limit

__all__ = ["RequestedOutputs"]


@dataclass(frozen=True)
class RequestedOutputs:
    """The outputs that a plan needs, by their indices: detectors, then observables; or the records.

    Attributes:
        reported: The outputs that the plan reports, in this order.
        postselected: The outputs that must be 0 in a kept shot.
    """

    reported: tuple[int, ...]
    postselected: tuple[int, ...] = ()

    @staticmethod
    def of(reported: Iterable[int], postselected: Iterable[int] = ()) -> RequestedOutputs:
        """Constructs the object from any iterables.

        Raises:
            ResourceLimitError: There is not enough memory.

        Examples:
            >>> RequestedOutputs.of(range(2), [0])
            RequestedOutputs(reported=(0, 1), postselected=(0,))
        """
        with memory_is_a_limit():
            # NumPy's integers would overflow in masks of more than 63 outputs.
            return RequestedOutputs(tuple(map(int, reported)), tuple(map(int, postselected)))
