"""How large circuits may be: what is checked before they are unrolled."""

from __future__ import annotations

from ....base.errors import ResourceLimitError
from .extent import Extent

__all__ = ["MAX_OBSERVABLES", "MAX_OUTPUTS", "check_extent", "check_targets"]

MAX_SECONDS = 10
"""The least time that is predicted; most circuits take longer, up to a minute."""
MAX_TARGETS = 1 << 26
MAX_INSTRUCTIONS = 1 << 62
MAX_OUTPUTS = 1 << 24
MAX_OBSERVABLES = 1 << 21


def check_extent(extent: Extent) -> None:
    """Checks that a circuit can be compiled.

    Raises:
        ResourceLimitError: It is too large.
    """
    if extent.seconds > MAX_SECONDS:
        what = f"{extent.targets:,} instruction targets"
        if extent.rotations:
            what += f", {extent.rotations:,} of them of non-Clifford gates,"
        raise ResourceLimitError(
            f"The circuit has {what} once its REPEAT blocks are unrolled. The compiler would follow them for"
            f" {extent.seconds:,} s or more; the limit is {MAX_SECONDS} s. Lower the repeat counts."
        )
    if extent.instructions > MAX_INSTRUCTIONS:
        raise ResourceLimitError(
            f"The circuit has {extent.instructions:,} instructions once its REPEAT blocks are unrolled;"
            f" the limit is {MAX_INSTRUCTIONS:,}. Lower the repeat counts."
        )


def check_targets(extent: Extent) -> None:
    """Checks that the unrolled circuit is of a size that can be listed.

    Raises:
        ResourceLimitError: It has more than 2^26 targets.
    """
    if extent.targets > MAX_TARGETS:
        raise ResourceLimitError(
            f"The circuit has {extent.targets:,} instruction targets once its REPEAT blocks are unrolled;"
            f" the limit is {MAX_TARGETS:,}. Lower the repeat counts."
        )
