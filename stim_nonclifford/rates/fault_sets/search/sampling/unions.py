"""Fault sets that are unions of two smaller ones that pass the checks, each.

Many sets that make a shot wrong are such unions, and most of those that matter most: two mechanisms that
flip no check together, and hide what three others do. Joins find them rarely, and then many at once: by joins
alone, a sum and its error are often too small. Unions need no search. All sets of two and of three mechanisms
that pass are listed, and any two of them make a set that passes, unless they overlap.

So unions are sampled apart. The key of a union is the XOR of the keys of its parts, and there are far fewer
keys than sets. Combinations of two keys are looked at: the heavy ones all, the others in proportion to their
mass. Of the sets of a combination, some are drawn. A set is found as often as it has splits into such parts,
and counts the less for it; parts that overlap make none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from ..laws import FEW, Floats, KeyValues
from ..mechanisms import Words, packed_words

__all__ = ["ComposedSets", "Composition"]

_COMPOSED = 4, 5, 6
"""The weights whose sets may be unions: of two and of three mechanisms."""

_CHUNK = 1 << 16


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
        left, right = sizes = weight // 2, weight - weight // 2
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
        self._ratios = np.concatenate([self._ratios, _ratios_of(self._odds, members)])
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


def _ratios_of(odds: Floats, members: npt.NDArray[np.uint32]) -> Floats:
    """Odds of sets in each circuit over those in the first one; shape (sets, circuits)."""
    relative = odds / odds[0]
    return np.stack([np.prod(each[members], axis=1) for each in relative], axis=1)
