"""How fault sets are made of two halves: of any two, or of two that pass the checks each.

A join finds a set by each of its splits into halves equally often on average, but not equally steadily: where
one half is so likely that it is drawn many times, the set is found rarely, and then many times at once. So
finds count by how they split the set (``Halves.counts``).

Sets that are unions of two smaller ones that pass, each, are *composed*. Many sets that make a shot wrong
are, and most of those that matter most: two mechanisms that flip no check together, and hide what three
others do. Such sets are found without a search. All sets of two and of three mechanisms that pass are listed,
and any two of them make a set that passes, unless they overlap.

So composed sets are sampled apart. The key of a union is the XOR of the keys of its halves, and there are far
fewer keys than sets. Combinations of two keys are looked at: the heavy ones all, the others in proportion to
their mass. Of the sets of a combination, some are drawn. A set is found as often as it has splits into such
halves, and counts the less for it; halves that overlap make none. Sets that are not composed come from the
other samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from .laws import FEW, Floats, KeyValues
from .mechanisms import Words, packed_words

__all__ = ["ComposedSets", "Composition", "Halves", "MixedHalves", "halves_of", "ratios_of", "sizes_of"]

_COMPOSED = 4, 5, 6
"""The weights whose sets may be composed: of halves of two and of three mechanisms."""

_STEADY = 1.01
"""Where no split of a set would count more than this, all count 1: large sets have very many splits."""

_LEAST_OF_SIZE = 0.003
"""The part of its draws that each size of a half has at least."""

_MANY_DRAWS = 10**6
"""So many that rounding to whole draws does not matter."""

_CHUNK = 1 << 16

Draws = npt.NDArray[np.uint32]


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
    def weights(self) -> range:
        """The weights of the sets that are found."""
        return range(sum(self.sizes), sum(self.sizes) + 1)

    @property
    def scale(self) -> float:
        """e_a e_b / C(a + b, a): the density is the square of the number of draws over this."""
        return self.masses[0] * self.masses[1] / math.comb(sum(self.sizes), self.sizes[0])

    def density(self, draws: int) -> float:
        """Mean number of finds per unit of odds, for so many halves of each kind."""
        return draws**2 / self.scale

    def draws_of_sizes(self, draws: int) -> tuple[Draws, Draws]:
        """How many left halves, and right halves, of each size from 0 on are drawn."""
        left, right = (np.zeros(size + 1, dtype=np.uint32) for size in self.sizes)
        left[-1] = right[-1] = draws
        return left, right

    def counts_of_weights(self, draws: int) -> Floats:
        """What a find of a set counts by its weight, from 0 on; 0: it is not looked for."""
        del draws
        return np.append(np.zeros(sum(self.sizes)), 1.0)

    def counts_by_weight(self, members: npt.NDArray[np.uint32], draws: int) -> Floats:
        """The same for some sets; shape (sets,)."""
        del draws
        return np.ones(len(members))

    def partners(self, parts: Floats) -> float:
        """The part of all halves that complete a half, if it is at most so much of those of each size."""
        return max(float(parts[size]) for size in self.sizes)

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
class MixedHalves:
    """Halves of several sizes. A join of them finds sets of many weights at once.

    If a half has k mechanisms with a probability in proportion to e_k / 2^k, with e_k the sum of the odds of
    all sets of k, then all sets are found equally densely: as if each of their mechanisms went left or right
    by the toss of a coin. Halves that are not too small are enough: as many as find most sets of the smallest
    weight. At least a few of each size are drawn. So sets of some weights are found more densely, and count
    the less.

    Attributes:
        weights: Those of the sets that are found.
        masses: e_0, e_1, ...
        num_mechanisms: What fills up the members of sets that are smaller than the largest ones.
    """

    weights: range
    masses: Floats
    num_mechanisms: int

    @cached_property
    def _parts(self) -> Floats:
        """The part of all halves that have each size, from 0 on."""
        first = self.weights[0]
        likely = self.masses * 0.5 ** np.arange(len(self.masses))

        def found(smallest: int) -> float:
            splits = sum(math.comb(first, size) for size in range(smallest, first - smallest + 1))
            return splits / float(likely[smallest:].sum()) ** 2

        smallest = max(range(1, first // 2 + 1), key=found)
        parts = likely[: self.weights[-1] - smallest + 1] / likely[smallest:].sum()
        parts = np.maximum(parts, _LEAST_OF_SIZE) * (parts > 0)
        parts[:smallest] = 0.0
        return parts / parts.sum()

    def draws_of_sizes(self, draws: int) -> tuple[Draws, Draws]:
        """See ``Halves``."""
        of_sizes = np.ceil(draws * self._parts).astype(np.uint32)
        return of_sizes, of_sizes

    def _densities(self, draws: int) -> Floats:
        """For each weight from 0 on the mean number of finds per unit of odds."""
        of_sizes = self.draws_of_sizes(draws)[0].astype(np.float64)
        per_mass = np.divide(of_sizes, self.masses[: len(of_sizes)], where=of_sizes > 0, out=of_sizes)
        densities = np.zeros(self.weights.stop)
        for weight in self.weights:
            for left in range(max(0, weight - len(per_mass) + 1), min(weight + 1, len(per_mass))):
                densities[weight] += math.comb(weight, left) * per_mass[left] * per_mass[weight - left]
        return densities

    @cached_property
    def scale(self) -> float:
        """See ``Halves``; of sets of the smallest weight."""
        return _MANY_DRAWS**2 / self.density(_MANY_DRAWS)

    def density(self, draws: int) -> float:
        """See ``Halves``; of sets of the smallest weight, whose finds count 1."""
        return float(self._densities(draws)[self.weights[0]])

    def counts_of_weights(self, draws: int) -> Floats:
        """See ``Halves``."""
        densities = self._densities(draws)
        found = densities > 0
        return np.divide(densities[self.weights[0]], densities, where=found, out=np.zeros(len(densities)))

    def counts_by_weight(self, members: npt.NDArray[np.uint32], draws: int) -> Floats:
        """See ``Halves``."""
        return self.counts_of_weights(draws)[sizes_of(members, self.num_mechanisms)]

    def partners(self, parts: Floats) -> float:
        """See ``Halves``."""
        return float((self._parts * parts[: len(self._parts)]).sum())

    def counts(self, members: npt.NDArray[np.uint32], draws: int) -> Floats:
        """See ``Halves``: large sets have very many splits."""
        del draws
        return np.ones(len(members))

    def most(self, draws: int) -> float:
        """See ``Halves``."""
        return float(self.counts_of_weights(draws).max())


@dataclass(frozen=True)
class Composition:
    """How the sets of a weight may be composed.

    Attributes:
        sizes: The numbers of mechanisms of left and right halves.
        checks: uint64, shape (num_mechanisms, words): the checks that each mechanism flips.
    """

    sizes: tuple[int, int]
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
        return Composition(sizes, packed_words(checks))

    def is_composed(self, members: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
        """Which of some sets that pass are unions of a left and a right half.

        Args:
            members: uint32, shape (sets, weight).

        Returns:
            bool, shape (sets,).
        """
        found = np.zeros(len(members), dtype=np.bool_)
        for begin in range(0, len(members), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            columns = self.checks[members[part].T]
            for left in combinations(range(members.shape[1]), self.sizes[0]):
                # The checks of the right half are the same.
                found[part] |= ~np.bitwise_xor.reduce(columns[list(left)], axis=0).any(axis=1)
        return found


@dataclass(frozen=True)
class _Finds:
    """Composed sets that can be kept, from a sample of combinations.

    Attributes:
        draws: How many combinations of the same mass there would be.
        spacing: That mass, in odds: the most that a find counts.
        part: Where its sets are among those of all samples.
        counts: What each find counts, float64, shape (sets,).
        of_combination: The combination of each find, shape (sets,).
        unions: For each combination how many unions were drawn, some of which are no sets; 1 if the
            combination was drawn itself.
    """

    draws: int
    spacing: float
    part: slice
    counts: Floats
    of_combination: npt.NDArray[np.int64]
    unions: Floats

    def variance(self, values: Floats) -> float:
        """Of the sum of values, one for each of its finds, that count as much as these do.

        Combinations that were drawn are a Poisson process. Of the others, the unions are independent draws.
        """
        hits = self.counts * values
        sums = np.bincount(self.of_combination, hits, minlength=len(self.unions))
        squares = np.bincount(self.of_combination, hits**2, minlength=len(self.unions))
        others = np.maximum(self.unions - 1, 1)
        within = np.maximum(squares - sums**2 / self.unions, 0) * self.unions / others
        return float(np.where(self.unions > 1, within, squares).sum())


class ComposedSets:
    """A sample of the composed sets of a weight.

    Args:
        composition: How they are composed.
        odds: Odds of the mechanisms in each circuit, float64, shape (num_circuits, num_mechanisms).

    Attributes:
        keys: The keys of the sets that were found and can be kept.
        members: Their members, uint32, shape (len(keys), weight).
        draws: How many combinations of the same mass would be as many.
    """

    def __init__(self, composition: Composition, odds: Floats) -> None:
        self.composition = composition
        self.keys = np.zeros(0, dtype=np.uint32)
        self.members = np.zeros((0, sum(composition.sizes)), dtype=np.uint32)
        self.draws = 0
        self._odds = odds
        self._ratios = np.zeros((0, len(odds)))
        self._samples: list[_Finds] = []
        self._cost = 0.0

    def add(self, draws: int, found: dict[str, Any], kept: Floats, cost: float) -> None:
        """Adds what ``FaultSetStudy.compose`` found with so many draws, at a cost.

        ``kept`` has for each key of the study the probability of being kept.
        """
        stored = kept[found["keys"]] > 0
        members = found["members"].reshape(-1, self.members.shape[1])[stored]
        part = slice(len(self.keys), len(self.keys) + len(members))
        self.keys = np.concatenate([self.keys, found["keys"][stored]])
        self.members = np.concatenate([self.members, members])
        self._ratios = np.concatenate([self._ratios, ratios_of(self._odds, members)])
        self._samples.append(
            _Finds(
                draws,
                float(found["spacing"]),
                part,
                found["counts"][stored],
                found["of_combination"][stored].astype(np.int64),
                found["unions"].astype(np.float64),
            )
        )
        self.draws += draws
        self._cost += cost

    @property
    def cost_of_draw(self) -> float:
        """The mean cost of a draw."""
        return self._cost / self.draws

    def set_weights(self, circuit: int) -> Floats:
        """What each set that was found counts: float64, shape (len(keys),)."""
        weights = self._ratios[:, circuit].copy()
        for each in self._samples:
            weights[each.part] *= each.counts * (each.draws / self.draws)
        return weights

    def error(self, circuit: int, values: KeyValues, rate: float, most: float) -> tuple[float, float]:
        """The variance of the sum of ``wrong`` - rate x ``kept``, and what a missed draw may have added.

        Args:
            circuit: The number of the circuit.
            values: What the laws say of keys.
            rate: About the logical error rate.
            most: An upper limit on the sum of the odds of all sets.
        """
        if not self.draws:
            return 0.0, most
        ratios = self._ratios[:, circuit]
        wrong, kept = ratios * values.wrong[self.keys], ratios * values.kept[self.keys]
        largest = float((self._odds[circuit] / self._odds[0]).max()) ** self.members.shape[1]
        for hits in (wrong, kept):
            total = sum(float((each.counts * hits[each.part]).sum()) * each.draws for each in self._samples)
            if total > 0 and total**2 >= FEW * self._variance(hits) * self.draws**2:
                largest = float(hits.max())
                break
        event = max(each.spacing * each.draws / self.draws for each in self._samples)
        return self._variance(wrong - rate * kept), min(event * largest, most)

    def _variance(self, values: Floats) -> float:
        parts = [each.draws / self.draws for each in self._samples]
        variances = [each.variance(values[each.part]) for each in self._samples]
        return sum(part**2 * variance for part, variance in zip(parts, variances, strict=True))


def sizes_of(members: npt.NDArray[np.uint32], num_mechanisms: int) -> npt.NDArray[np.int64]:
    """The numbers of members of sets, without those that fill them up; shape (sets,)."""
    return np.count_nonzero(members < num_mechanisms, axis=1)


def ratios_of(odds: Floats, members: npt.NDArray[np.uint32]) -> Floats:
    """Odds of sets in each circuit over those in the first one; shape (sets, circuits)."""
    relative = odds / odds[0]
    ratios = np.ones((len(members), len(odds)))
    for circuit in range(1, len(odds)):
        ratios[:, circuit] = np.prod(relative[circuit][members], axis=1)
    return ratios
