"""Parts of results: terms of a sum over numbers of faults, strata, and points of a curve over the gap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["DecodedGapPoint", "DecodedSize", "DecodedStratum", "table_of_sizes"]


@dataclass(frozen=True)
class DecodedSize:
    """Shots in which a given number of mechanisms act.

    Attributes:
        least: The number, or the least one.
        most: The largest one; None: any number.
        probability: P(so many act).
        rate: P(so many act, and the decoder fails).
        standard_error: The standard error of ``rate``; 0: all sets were enumerated.
    """

    least: int
    most: int | None
    probability: float
    rate: float
    standard_error: float


def table_of_sizes(
    sizes: Sequence[DecodedSize], rate: float
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The header and the rows of a table.

    Args:
        sizes: What its rows show.
        rate: The rate of all of them.
    """
    header = ("faults", "probability", "of them fail", "share of the rate")
    return header, [
        (
            f"{each.least}{' or more' if each.most is None else ''}",
            f"{each.probability:.3g}",
            f"{each.rate / each.probability:.3g}",
            f"{each.rate / rate:.1%}"
            + (f" ± {each.standard_error / rate:.1%}" if each.standard_error else ""),
        )
        for each in sizes
    ]


@dataclass(frozen=True)
class DecodedStratum:
    """A stratum: a kind of accepted fault set, with any number of free faults beside it.

    Attributes:
        name: What its shots have in common.
        probability: P(a shot is accepted, and one of them), or, where no sets were listed, 1.
        shots: Shots that were drawn, or enumerated.
        wrong: How many of the shots were wrong.
        shares: The parts of the stratum in the wrong shots: in all, and in those with the largest gap of the
            curve.
        numbers: The largest number of free faults whose fault sets were all enumerated, as were all smaller
            ones; -1: none.
    """

    name: str
    probability: float
    shots: int
    wrong: int
    shares: tuple[float, float]
    numbers: int = -1


@dataclass(frozen=True)
class DecodedGapPoint:
    """Accepted shots with at least some gap.

    Attributes:
        gap: The least gap, or confidence of the decoder: of PyMatching and Chromobius, in decibels.
        kept: P(no postselected detector fires, and the gap is at least so large).
        kept_error: The standard error of ``kept``.
        kept_and_wrong: P(no postselected detector fires, the gap is at least so large, and an observable is
            predicted wrongly).
        kept_and_wrong_error: The standard error of ``kept_and_wrong``.
        standard_error: The standard error of ``logical_error_rate``, with an allowance for a wrong shot that
            was not sampled. It includes that of ``kept``: wrong shots are kept ones, so that both fluctuate
            together.
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
        """The logical error rate per kept shot, at most 1."""
        return self.kept_and_wrong / self.kept if self.kept else 0.0

    @property
    def relative_error(self) -> float:
        """Standard error over logical error rate; infinite if no kept shot, or no wrong one, was found."""
        rate = self.logical_error_rate
        return self.standard_error / rate if rate else math.inf if self.standard_error else 0.0

    @property
    def attempts_per_kept_shot(self) -> float:
        """1 / ``kept``; infinite if no kept shot was found."""
        return 1 / self.kept if self.kept else math.inf
