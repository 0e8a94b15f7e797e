"""Random halves of fault sets, which a join puts together: meet in the middle.

n left halves and n right halves are drawn, each of k mechanisms with a probability in proportion to its odds.
A left and a right half that flip the same checks and have no mechanism in common are a set that passes. With
L_k and R_k the numbers of left and right halves of k mechanisms, and e_k the total odds of all sets of k, a
set X of w mechanisms is found on average

    odds(X) d_w   times, with the density   d_w = sum over k of  C(w, k) L_k R_(w-k) / (e_k e_(w-k)).

n drawn halves find as many sets as n^2 drawn sets would: the birthday search of meet-in-the-middle attacks
(W. Diffie, M. E. Hellman, Computer 10 (6), 74 (1977)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...._native import FaultSetStudy
from ....base.arrays import Floats, Numbers


@dataclass(frozen=True)
class Halves:
    """Sizes of the halves that find sets of one weight, or of several together.

    Sets of one weight w are made of w // 2 and w - w // 2 mechanisms. For several weights, a half has k
    mechanisms with a probability in proportion to e_k / 2^k: as if each mechanism of a set went left or right
    by the toss of a coin. Sizes that are too small are left out, so that as many sets of the smallest weight
    as possible are found.
    """

    weights: range  # the weights of the sets that are found
    masses: Floats  # float64: e_0, e_1, ..., up to the largest weight at least

    @cached_property
    def _parts(self) -> tuple[Floats, Floats]:
        """The part of the left halves, and of the right halves, that have each size, from 0 on."""
        first = self.weights[0]
        if len(self.weights) == 1:
            left, right = (np.append(np.zeros(size), 1.0) for size in (first // 2, first - first // 2))
            return left, right
        likely = self.masses * 0.5 ** np.arange(len(self.masses))

        def found(smallest: int) -> float:
            splits = sum(math.comb(first, size) for size in range(smallest, first - smallest + 1))
            return splits / float(likely[smallest:].sum()) ** 2

        smallest = max(range(1, first // 2 + 1), key=found)
        parts = likely[: self.weights[-1] - smallest + 1] / likely[smallest:].sum()
        parts[:smallest] = 0.0
        parts /= parts.sum()
        return parts, parts

    def draws_of_sizes(self, draws: int) -> tuple[Numbers, Numbers]:
        """How many left halves, and right halves, of each size from 0 on are drawn."""
        left, right = (np.ceil(draws * part).astype(np.uint32) for part in self._parts)
        return left, right

    def densities(self, draws: int) -> Floats:
        """The densities d_w of a join, for each weight from 0 on; 0: sets of this weight are not found."""
        left, right = (
            np.divide(of_sizes, self.masses[: len(of_sizes)], where=of_sizes > 0, out=np.zeros(len(of_sizes)))
            for of_sizes in self.draws_of_sizes(draws)
        )
        densities = np.zeros(self.weights.stop)
        for weight in self.weights:
            for size in range(max(0, weight - len(right) + 1), min(weight + 1, len(left))):
                densities[weight] += math.comb(weight, size) * left[size] * right[weight - size]
        return densities

    def importance_weights(self, draws: int) -> Floats:
        """The inverse densities, for each weight from 0 on; 0: sets of this weight are not found."""
        densities = self.densities(draws)
        return np.divide(1.0, densities, where=densities > 0, out=np.zeros(len(densities)))

    def found(self, native: FaultSetStudy, draws: int, seed: int, number: int, most: int) -> dict[str, Any]:
        """A join by the native search, random by its number; not complete if it found more than most sets."""
        sizes, weights = self.draws_of_sizes(draws), self.importance_weights(draws)
        return native.join(*sizes, weights, seed, number, most)

    @cached_property
    def scale(self) -> float:
        """The density at the smallest weight is the square of the number of draws over this."""
        reference = 10**6  # rounding to whole draws does not matter
        return reference**2 / float(self.densities(reference)[self.weights[0]])
