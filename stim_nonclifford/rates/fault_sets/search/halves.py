"""How fault sets are made of two halves: of any two, or of two that pass the checks each.

A join finds a set by each of its splits into halves equally often on average, but not equally steadily: where
one half is so likely that it is drawn many times, the set is found rarely, and then many times at once. So
finds count by how they split the set (``Halves.counts``).

Sets that are unions of two smaller ones that pass, each, are *composed*. Many sets that make a shot wrong
are, and most of those that matter most: two mechanisms that flip no check together, and hide what three
others do. Such sets are found without a search. All sets of two and of three mechanisms that pass are listed,
and any two of them make a set that passes, unless they overlap.

So composed sets are sampled apart: *left* and *right* halves are drawn from the lists, in proportion to their
odds, and joined in cells, each half with all opposite ones of its cell. A set is found as often as it has
splits into such halves, and counts the less for it. Sets that are not composed come from the other samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from .mechanisms import Words, packed_words

__all__ = ["CELL", "Composition", "Halves", "halves_of"]

Floats = npt.NDArray[np.float64]

CELL = 8
"""Halves of each kind in a cell. Finds with a common half depend on each other; more of them cost less."""

_COMPOSED = 5, 6
"""The weights whose sets may be composed: of halves of two and of three mechanisms."""

_STEADY = 1.01
"""Where no split of a set would count more than this, all count 1: large sets have very many splits."""

_CHUNK = 1 << 16


def halves_of(weight: int) -> tuple[int, int]:
    """The numbers of mechanisms of the halves of which joined sets are made."""
    return weight // 2, weight - weight // 2


@dataclass(frozen=True)
class Halves:
    """Halves that are drawn in proportion to their odds, and joined.

    Attributes:
        odds: float64, shape (num_mechanisms,).
        sizes: a and b, the numbers of mechanisms of left and right halves.
        masses: e_a and e_b, with e_k the sum of the odds of all sets of k mechanisms.
    """

    odds: Floats
    sizes: tuple[int, int]
    masses: tuple[float, float]

    @property
    def scale(self) -> float:
        """e_a e_b / C(a + b, a)."""
        return self.masses[0] * self.masses[1] / math.comb(sum(self.sizes), self.sizes[0])

    def counts(self, members: npt.NDArray[np.uint32], draws: int) -> Floats:
        """What finds of sets count by the halves in which they were found; of all splits, 1 on average.

        With x and y the expected numbers of draws of its halves, a split finds the set a number of times with
        mean x y and variance x y (1 + x + y), up to what different sets share. The mean is the same for all
        splits, and the sum varies least if each counts as the inverse of its variance.

        Args:
            members: uint32, shape (sets, weight): those of the left halves first.
            draws: Halves of each kind that were drawn.
        """
        if self.most(draws) < _STEADY:
            return np.ones(len(members))
        left, right = self.sizes
        counts = np.empty(len(members))
        for begin in range(0, len(members), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            columns = self.odds[members[part].T]
            everything = np.prod(columns, axis=0)
            own, total, splits = np.zeros(0), np.zeros(columns.shape[1]), 0
            for chosen in combinations(range(left + right), left):
                if left == right and 0 not in chosen:
                    break  # the same splits, with left and right exchanged
                of_left = np.prod(columns[list(chosen)], axis=0)
                expected = of_left / self.masses[0] + everything / of_left / self.masses[1]
                share = 1 / (1 + draws * expected)
                own = own if splits else share  # the first split is that of the members' order
                total += share
                splits += 1
            counts[part] = splits * own / total
        return counts

    def most(self, draws: int) -> float:
        """An upper bound on what a find counts: a harmonic mean is at most the arithmetic one."""
        likely = np.sort(self.odds)[::-1]
        expected = sum(
            float(np.prod(likely[:size])) / mass for size, mass in zip(self.sizes, self.masses, strict=True)
        )
        return min(1 + draws * expected, math.comb(sum(self.sizes), self.sizes[0]))


@dataclass(frozen=True)
class Composition:
    """How the sets of a weight may be composed.

    Attributes:
        sizes: The numbers of mechanisms of left and right halves.
        masses: The sums of the odds of all sets with so many mechanisms that pass.
        checks: uint64, shape (num_mechanisms, words): the checks that each mechanism flips.
    """

    sizes: tuple[int, int]
    masses: tuple[float, float]
    checks: Words

    @staticmethod
    def of(weight: int, passing: Sequence[float], checks: npt.NDArray[np.bool_]) -> Composition | None:
        """For a weight, as far as it has such sets and the halves are known.

        Args:
            weight: The weight.
            passing: For each smaller weight of which all sets are known the odds of those that pass.
            checks: bool, shape (num_mechanisms, num_checks): what each mechanism flips; none may be flipped.
        """
        left, right = sizes = halves_of(weight)
        if weight not in _COMPOSED or right >= len(passing) or not passing[left] * passing[right]:
            return None
        return Composition(sizes, (passing[left], passing[right]), packed_words(checks))

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
            for left in combinations(range(members.shape[1]), self.sizes[0]):
                # The checks of the right half are the same.
                counts[part] += ~np.bitwise_xor.reduce(columns[list(left)], axis=0).any(axis=1)
        return counts
