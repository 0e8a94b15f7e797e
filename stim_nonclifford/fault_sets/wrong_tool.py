"""Where fault sets are the wrong tool, that is said with a number and what to use instead."""

from __future__ import annotations

from typing import NoReturn

from ..errors import ResourceLimitError

__all__ = ["refuse"]


def refuse(reason: str) -> NoReturn:
    """Says that fault sets are the wrong tool.

    Args:
        reason: What is too much.

    Raises:
        ResourceLimitError: Always.
    """
    raise ResourceLimitError(
        "Fault sets are the wrong tool for this circuit: its noise-only checks leave too much, as"
        f" {reason}. Count errors instead: compile_detector_sampler(...).sample_counts(shots)."
    )
