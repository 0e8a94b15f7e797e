"""The native search for fault sets, with a plan's mechanisms."""

from __future__ import annotations

import numpy as np

from ...._native import FaultSetStudy
from ....simulation.plan import SamplingPlan, plain_attributes
from .mechanisms import Mechanisms, packed_words

__all__ = ["MAX_WEIGHT", "study_of"]

MAX_WEIGHT = 64
"""Sets with more members are not looked at; the native code has the same limit."""

_PART_FOR_PAIRS = 4
"""The part of the memory that the table of pairs may take, as a divisor."""


def study_of(plan: SamplingPlan, mechanisms: Mechanisms, threads: int, max_bytes: int) -> FaultSetStudy:
    """A study of the fault sets of a plan.

    Args:
        plan: The plan, for the outcome laws.
        mechanisms: Its mechanisms.
        threads: Number of threads.
        max_bytes: Memory for lists of sets. A quarter of it is for a table of pairs; if that does not
            suffice, searches take longer.

    Raises:
        ResourceLimitError: The pairs of mechanisms that flip the same checks do not fit into the memory.
    """
    return FaultSetStudy(
        plain_attributes(plan),
        packed_words(mechanisms.checks).ravel(),
        mechanisms.keys.ravel(),
        packed_words(mechanisms.target[None, :])[0],
        mechanisms.base,
        mechanisms.odds,
        np.ascontiguousarray(mechanisms.sites),
        mechanisms.coins.ravel(),
        min(MAX_WEIGHT, max(1, len(mechanisms.odds))),
        threads,
        max_bytes // _PART_FOR_PAIRS,
        max_bytes,
    )
