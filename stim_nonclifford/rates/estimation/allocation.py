"""Allocation of samples: the one loop of all estimates.

A rate is a sum over parts of all fault sets, each with its own sampler. After first samples of each, more are
drawn where the variance falls most for its cost (J. Neyman, J. R. Stat. Soc. 97, 558, 1934, in steps). Let
q_i be the variance of part i with the square of its zero-count bound, in units of the variance that is asked
for, and c_i the cost of its samples so far. With g times as many samples more,

    gain = min(excess, q_i g / (1 + g)),   cost = g c_i,

where excess is what all parts together have above 1. To enumerate part i removes q_i, at a cost of its own.
Altogether, a part needs f_i times the samples that it has, and the cost of all is least with

    f_i = sqrt(q_i / c_i) · sum over j of sqrt(q_j c_j).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...base.arrays import Floats

_LEAST_GROWTH = 0.5
"""The part of the samples so far that a step adds at least. Doubled, searches overshoot by more."""


@dataclass(frozen=True)
class Contributions:
    """What each part of a sum contributes to the square of its error."""

    squares: Floats  # shape (parts,): q
    costs: Floats  # shape (parts,): c, in any unit; infinite: it gets no more samples
    excess: float  # how far the square of the error is above what was asked for, in units of that
    most: float = math.inf  # what a step may cost
    # the square that is removed if a part is enumerated, and what that costs
    enumeration: tuple[float, float] = (0.0, math.inf)

    def next_step(self) -> tuple[int, float] | None:
        """The part that is sampled next, and how many times its samples it gets.

        The number of parts stands for the enumeration. None: nothing helps that may be done.

        Examples:
            >>> Contributions(np.array([0.5, 3.0]), np.array([1.0, 2.0]), 2.5).next_step()
            (1, 1.0)
            >>> Contributions(np.array([3.0]), np.array([2.0]), 2.5, enumeration=(3.0, 2.1)).next_step()
            (1, 1.0)
            >>> Contributions(np.array([3.0]), np.array([2.0]), 2.5, most=1.0).next_step() is None
            True
        """
        # As large as the samples so far, or less where that ends the search.
        rest = self.squares - self.excess
        growths = np.divide(self.excess, rest, out=np.ones(len(rest)), where=rest > 0)
        growths = np.clip(growths, _LEAST_GROWTH, 1.0)
        square, cost = self.enumeration
        removed = np.append(self.squares * growths / (1 + growths), square)
        costs, growths = np.append(growths * self.costs, cost), np.append(growths, 1.0)
        gains = np.where(costs <= self.most, np.minimum(self.excess, removed) / costs, 0.0)
        part = int(gains.argmax())
        return (part, float(growths[part])) if gains[part] > 0 else None


def factors(squares: Floats, costs: Floats) -> Floats:
    """How many times the samples that it has each part needs altogether: f, shape (parts, ...), of q and c.

    Examples:
        >>> factors(np.array([4.0, 1.0]), np.array([1.0, 1.0])).tolist()
        [6.0, 3.0]
    """
    return np.asarray(np.sqrt(squares / costs) * np.sqrt(squares * costs).sum(axis=0))


def allocate(contributions: Callable[[], Contributions | None], take: Callable[[int, float], None]) -> None:
    """Has parts take a number of times the samples that they have, until no contributions are left."""
    while (found := contributions()) is not None and (step := found.next_step()) is not None:
        take(*step)
