"""Angles of other languages, which are in radians."""

from __future__ import annotations

import math

__all__ = ["half_turns_of", "snapped"]

_FINEST = 64
_ROUNDING = 1e-12


def half_turns_of(radians: float) -> float:
    """An angle in half-turns.

    A multiple of π/64 is recognized from twelve digits, so that π/4 is the angle of a T gate although the
    number is rounded.

    Examples:
        >>> half_turns_of(3 * math.pi / 4), half_turns_of(0.785398163397)
        (0.75, 0.25)
        >>> half_turns_of(0.7853981)
        0.2499999...
    """
    return snapped(radians / math.pi)


def snapped(half_turns: float) -> float:
    """The nearest multiple of 1/64, if it differs by rounding alone; see ``half_turns_of``.

    Examples:
        >>> snapped(0.2500000000000001), snapped(0.26)
        (0.25, 0.26)
    """
    nearest = round(half_turns * _FINEST) / _FINEST
    return nearest if abs(half_turns - nearest) < _ROUNDING * max(1.0, abs(nearest)) else half_turns
