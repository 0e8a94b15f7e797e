"""Scheduling: runs the passes that reorder and merge operations."""

from __future__ import annotations

from collections.abc import Sequence

from ..sweeps.effects import EffectTable
from ..sweeps.operations import Operation
from .rotation_merging import merge_rotations
from .width_reordering import reorder_for_width

__all__ = ["schedule"]


def schedule(operations: Sequence[Operation], table: EffectTable) -> list[Operation]:
    """The operations in the order and form in which an engine applies them."""
    reordered = reorder_for_width(operations, table.outcomes, table.num_outputs)
    return merge_rotations(reordered)
