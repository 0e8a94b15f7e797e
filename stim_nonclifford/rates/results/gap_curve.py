"""Logical error rates over the decoder's gap."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["GapPoint"]


@dataclass(frozen=True)
class GapPoint:
    """Accepted shots with at least some gap.

    Attributes:
        gap: The least gap, or confidence of the decoder: of PyMatching and Chromobius, in decibels.
        kept: P(no postselected detector fires, and the gap is at least so large).
        kept_error: The standard error of ``kept``.
        kept_and_wrong: P(no postselected detector fires, the gap is at least so large, and an observable is
            predicted wrongly).
        kept_and_wrong_error: The standard error of ``kept_and_wrong``.
        standard_error: The standard error of ``logical_error_rate``, with an allowance for a wrong shot that
            was not observed (zero-count bound). It includes that of ``kept``: wrong shots are accepted ones,
            so that both fluctuate together.
        interval: (low, high): holds the logical error rate with a probability of 95%.
    """

    gap: int
    kept: float
    kept_error: float
    kept_and_wrong: float
    kept_and_wrong_error: float
    standard_error: float
    interval: tuple[float, float]

    @property
    def logical_error_rate(self) -> float:
        """The logical error rate per accepted shot, at most 1."""
        return self.kept_and_wrong / self.kept if self.kept else 0.0

    @property
    def relative_error(self) -> float:
        """Standard error over logical error rate; infinite if no accepted shot was wrong."""
        rate = self.logical_error_rate
        return self.standard_error / rate if rate else math.inf if self.standard_error else 0.0

    @property
    def attempts_per_kept_shot(self) -> float:
        """1 / ``kept``; infinite if no accepted shot was found."""
        return 1 / self.kept if self.kept else math.inf
