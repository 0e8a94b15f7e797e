"""Halves of fault sets, which a join puts together: meet in the middle.

n left halves and n right halves are drawn, of k mechanisms each with a probability in proportion to its
odds. A left and a right half that flip the same checks, and have no mechanism in common, are a set that
passes. With L_k and R_k the numbers of left and right halves of k mechanisms, and e_k the sum of the odds of
all sets of k, a set X of w mechanisms is found on average

    odds(X) * sum over k of  C(w, k) L_k R_(w-k) / (e_k e_(w-k))

times: its *density* times its odds. A find counts as the inverse of the density (an importance weight), so
that the sum over all finds has the mean of the sum over all sets. n drawn halves find as many sets as n^2
drawn sets would (a birthday search).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ..laws import Floats

__all__ = ["Halves"]

_STEADY = 1.01
"""Where no split of a set would count more than this, all count 1. If it is doubled, finds of likely halves
come in larger groups, and the variance grows a little."""

_LEAST_OF_SIZE = 0.003
"""The part of its draws that each size of a half has at least. If it is doubled, large sets are found more
densely, at the cost of small ones."""

_MANY_DRAWS = 10**6
"""A number of draws for densities: rounding to whole draws does not matter."""

_CHUNK = 1 << 16

Draws = npt.NDArray[np.uint32]
Members = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Halves:
    """The halves of sets of one weight, or of several that are found together.

    Sets of one weight w are made of w // 2 and w - w // 2 mechanisms. For several weights, a half has k
    mechanisms with a probability in proportion to e_k / 2^k: then all sets are found equally densely, as if
    each of their mechanisms went left or right by the toss of a coin. Halves that are not too small are
    enough, as many as find most sets of the smallest weight, and at least a few of each size. So sets of some
    weights are found more densely, and count the less.

    Attributes:
        weights: The weights of the sets that are found.
        odds: float64, shape (num_mechanisms,): the odds with which halves are drawn.
        masses: float64: e_0, e_1, ..., up to the largest weight at least.
    """

    weights: range
    odds: Floats
    masses: Floats

    @property
    def _is_one_weight(self) -> bool:
        return len(self.weights) == 1

    @property
    def _sizes(self) -> tuple[int, int]:
        """The numbers of mechanisms of left and right halves of sets of the smallest weight."""
        weight = self.weights[0]
        return weight // 2, weight - weight // 2

    @cached_property
    def _parts(self) -> tuple[Floats, Floats]:
        """The part of the left halves, and of the right halves, that have each size, from 0 on."""
        if self._is_one_weight:
            left, right = (np.append(np.zeros(size), 1.0) for size in self._sizes)
            return left, right
        first = self.weights[0]
        likely = self.masses * 0.5 ** np.arange(len(self.masses))

        def found(smallest: int) -> float:
            splits = sum(math.comb(first, size) for size in range(smallest, first - smallest + 1))
            return splits / float(likely[smallest:].sum()) ** 2

        smallest = max(range(1, first // 2 + 1), key=found)
        parts = likely[: self.weights[-1] - smallest + 1] / likely[smallest:].sum()
        parts = np.maximum(parts, _LEAST_OF_SIZE) * (parts > 0)
        parts[:smallest] = 0.0
        parts /= parts.sum()
        return parts, parts

    def draws_of_sizes(self, draws: int) -> tuple[Draws, Draws]:
        """How many left halves, and right halves, of each size from 0 on are drawn."""
        left, right = (np.ceil(draws * part).astype(np.uint32) for part in self._parts)
        return left, right

    def _densities(self, draws: int) -> Floats:
        """For each weight from 0 on the mean number of finds per unit of odds."""
        left, right = (
            np.divide(of_sizes, self.masses[: len(of_sizes)], where=of_sizes > 0, out=np.zeros(len(of_sizes)))
            for of_sizes in self.draws_of_sizes(draws)
        )
        densities = np.zeros(self.weights.stop)
        for weight in self.weights:
            for size in range(max(0, weight - len(right) + 1), min(weight + 1, len(left))):
                densities[weight] += math.comb(weight, size) * left[size] * right[weight - size]
        return densities

    def density(self, draws: int) -> float:
        """Mean number of finds per unit of odds of sets of the smallest weight, whose finds count 1."""
        return float(self._densities(draws)[self.weights[0]])

    @cached_property
    def scale(self) -> float:
        """The density is the square of the number of draws over this."""
        return _MANY_DRAWS**2 / self.density(_MANY_DRAWS)

    def counts_of_weights(self, draws: int) -> Floats:
        """What a find of a set counts by its weight, from 0 on; 0: it is not looked for."""
        densities = self._densities(draws)
        found = densities > 0
        return np.divide(densities[self.weights[0]], densities, where=found, out=np.zeros(len(densities)))

    def counts_by_weight(self, members: Members, draws: int) -> Floats:
        """What finds of sets count by their weights: shape (sets,)."""
        return self.counts_of_weights(draws)[self.sizes_of(members)]

    def sizes_of(self, members: Members) -> npt.NDArray[np.int64]:
        """The numbers of members of sets, without those that fill them up; shape (sets,)."""
        return np.count_nonzero(members < len(self.odds), axis=1)

    def partners(self, parts: Floats) -> float:
        """The part of all halves that complete a half, if it is at most so much of those of each size."""
        return max(float((part * parts[: len(part)]).sum()) for part in self._parts)

    def counts_by_split(self, members: Members, draws: int) -> Floats:
        """What finds of sets count by the halves in which they were found; of all splits, 1 on average.

        With x and y the expected numbers of draws of its halves, a split finds the set a number of times with
        mean x y and variance x y (1 + x + y), up to what different sets share. The mean is the same for all
        splits, and the sum varies least if each counts as the inverse of its variance: where one half is so
        likely that it is drawn many times, the set is found rarely, and then many times at once.

        Sets of several weights have very many splits, which all count 1.

        Args:
            members: uint32, shape (sets, weight): those of the left halves first.
            draws: Halves of each kind that were drawn.
        """
        if not self._is_one_weight or self._most_of_split(draws) < _STEADY:
            return np.ones(len(members))
        left, right = self._sizes
        counts = np.empty(len(members))
        for begin in range(0, len(members), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            columns = self.odds[members[part].T]
            everything = np.prod(columns, axis=0)
            own, total, splits = np.zeros(0), np.zeros(columns.shape[1]), 0
            for chosen in combinations(range(left + right), left):
                if left == right and 0 not in chosen:
                    break  # the splits before, with left and right exchanged
                of_left = np.prod(columns[list(chosen)], axis=0)
                expected = of_left / self.masses[left] + everything / of_left / self.masses[right]
                share = 1 / (1 + draws * expected)
                own = own if splits else share  # the first split is that of the members' order
                total += share
                splits += 1
            counts[part] = splits * own / total
        return counts

    def most(self, draws: int) -> float:
        """An upper bound on what a find counts."""
        if self._is_one_weight:
            return self._most_of_split(draws)
        return float(self.counts_of_weights(draws).max())

    def _most_of_split(self, draws: int) -> float:
        """An upper bound for one weight: a harmonic mean is at most the arithmetic one."""
        likely = np.sort(self.odds)[::-1]
        expected = sum(float(np.prod(likely[:size])) / float(self.masses[size]) for size in self._sizes)
        return min(1 + draws * expected, math.comb(self.weights[0], self._sizes[0]))
