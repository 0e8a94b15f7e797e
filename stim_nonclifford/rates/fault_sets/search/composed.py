"""Unions of two smaller fault sets that pass the checks, each: *composed* sets.

Many sets that make a shot wrong are composed, and most of those that matter most: two mechanisms that flip no
check together, and hide what three others do. Such sets are found without a search. All sets of two and of
three mechanisms that pass are listed, and any two of them make a set that passes, unless they overlap.

So composed sets are sampled apart: *left* and *right* halves are drawn from the lists, in proportion to their
odds, and joined in cells, each half with all opposite ones of its cell. A set is found as often as it has
splits into such halves, and counts the less for it. Sets that are not composed come from the other samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from .mechanisms import Words

__all__ = ["CELL", "COMPOSED", "Composition"]

COMPOSED = 5, 6
"""The weights whose sets may be composed: of halves of two and of three mechanisms."""

CELL = 8
"""Halves of each kind in a cell. Finds with a common half depend on each other; more of them cost less."""

_CHUNK = 1 << 16


@dataclass(frozen=True)
class Composition:
    """How the sets of a weight may be composed.

    Attributes:
        halves: The numbers of mechanisms of left and right halves.
        masses: The sums of the odds of all sets with so many mechanisms that pass.
        checks: uint64, shape (num_mechanisms, words): the checks that each mechanism flips.
    """

    halves: tuple[int, int]
    masses: tuple[float, float]
    checks: Words

    def density(self, draws: int) -> float:
        """The mean number of finds per unit of odds and split, of so many halves of each kind."""
        return draws * CELL / (self.masses[0] * self.masses[1])

    def splits(self, members: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
        """The number of splits of sets that pass into a left and a right half; 0: they are not composed.

        Args:
            members: uint32, shape (sets, weight).

        Returns:
            int64, shape (sets,).
        """
        counts = np.zeros(len(members), dtype=np.int64)
        for begin in range(0, len(members), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            columns = self.checks[members[part].T]
            for left in combinations(range(members.shape[1]), self.halves[0]):
                # The checks of the right half are the same.
                counts[part] += ~np.bitwise_xor.reduce(columns[list(left)], axis=0).any(axis=1)
        return counts
