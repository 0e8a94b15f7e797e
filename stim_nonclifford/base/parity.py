"""Probabilities of parities."""

from __future__ import annotations

__all__ = ["exactly_one"]


def exactly_one(p: float, q: float) -> float:
    """The probability that exactly one of two independent errors of these probabilities happens.

    Examples:
        >>> exactly_one(0.5, 0.1)
        0.5
    """
    return p * (1 - q) + q * (1 - p)
