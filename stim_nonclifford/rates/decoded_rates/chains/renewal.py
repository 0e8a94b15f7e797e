"""What chains that descend from the same fault set do to the errors, as far as it is seen.

When a ladder is set up, fault sets of weaker noise are drawn from those of stronger noise, so that a few of
the sets that it begins with have many descendants: families. Fault sets that come from the first level by
exchanges, where each column is in equilibrium by itself, replace them: these are renewed. Until then, columns
of one family may be alike, and their spread says too little.

The error of population annealing is that of its families (Wang, Machta and Katzgraber, Physical Review E 92,
063307, 2015), and its bias about half of the variance, in ln(rate) (Machta, Physical Review E 82, 026704,
2010). What members of a family have in common is measured: products of what different columns say, while they
belong to it. The mean of these is 0 if they have nothing in common.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..faults.mechanisms import Floats

__all__ = ["RENEWED", "Families"]

RENEWED = -1
"""This number stands for the family of a chain that is renewed."""

_LARGEST = 0.5
"""The largest sum of the squares of the parts that families have of all chains. If it is larger, one family
has most of them."""


class Families:
    """Adds up, ratio by ratio from the first level down, what columns say while they belong to a family.

    Args:
        levels: The number of levels.
        columns: The number of columns, and of the sets that families descend from.
    """

    def __init__(self, levels: int, columns: int) -> None:
        self._columns = columns
        self._sums = np.zeros((columns, columns))  # by family and column
        self._part = 0.0  # sum of squares of the parts of all chains that families have
        self._variances = np.zeros(levels)

    def add(self, number: int, families: npt.NDArray[np.integer], says: Floats) -> None:
        """Takes the records of a ratio.

        Args:
            number: Of the first of its two levels. All before it have been taken.
            families: Shape (records, 2, columns): those of the chains of both levels, or ``RENEWED``.
            says: The same shape: by how much the ratio's logarithm would differ if a column had only had this
                record (``Ratio.says``).
        """
        columns = self._columns
        where = (families + 1) * columns + np.arange(columns)
        sums = np.bincount(where.ravel(), says.ravel(), minlength=(columns + 1) * columns)
        self._sums += sums.reshape(-1, columns)[1:] / len(says)
        counts = np.bincount((families + 1).ravel(), minlength=columns + 1)[1:] / families.size
        self._part = max(self._part, float((counts**2).sum()))
        self._variances[number + 1] = self._variance()

    def _variance(self) -> float:
        if self._part > _LARGEST:
            return math.inf
        others = 1 - self._part
        within = float((self._sums**2).sum())
        common = float((self._sums.sum(axis=1) ** 2).sum()) / others - within
        noise = within * math.sqrt(2 * self._part / others)
        return (max(common, 0.0) + noise) / self._columns**2

    def variances(self) -> Floats:
        """For each level, what is to be added to the variance of ln(rate) below that of the first level.

        It is infinite where there are so few families that nothing is known of what they have in common.
        """
        return self._variances
