"""Samples of the fault sets of a weight, or of several, from joins of random halves.

Each set is found a number of times that is on average proportional to its odds (``halves``). Finds with a
half in common depend on each other. The variance of the sum over finds is that of a U-statistic: the squares
of all finds, and the products of those that share a half. What no find tells, because a rare half may have
more sets than any that was drawn, is the largest event that may have been missed; ``interval`` adds it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..laws import FEW, Floats, KeyValues, sum_of_products
from ..strata import Keys, Sums
from .forecast import Forecast
from .halves import Halves
from .unions import ComposedSets, Composition

__all__ = ["JoinedSets"]

_NOT_STORED = 2**32 - 1
"""The number of a key with which no shot is kept, where only the others are stored."""

_HEAVY_TAIL = 3.0
"""A half that was missed may add so many times as much as the largest one that was drawn. With 1, 11 of 15
intervals of d=5 at p = 2e-3 held the exact rate; with 3, all 16 at p = 1e-3 and 2e-3, and of 48 other seeds
at 5e-4, 1e-3 and 2e-3, 47. If it is doubled, intervals are wider where few halves were seen, and searches
take longer."""

_CHUNK = 1 << 18

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Join:
    """Sets that were found among all combinations of so many left and right halves.

    Attributes:
        density: Mean number of finds per unit of odds.
        halves: Number of left halves, and of right halves.
        most_of_half: The largest number of sets that a half has, whether they can be kept or not.
        part: Where its sets are among those of the sample.
        sides: For each set the number of its left half, and of its right half.
        passing: For each circuit the sum of the ratios of all sets that were found.
        clumping: By how much finds that share halves increase the variance of P(kept), relative to as many
            independent ones.
    """

    density: float
    halves: int
    most_of_half: int
    part: slice
    sides: tuple[Indices, Indices]
    passing: Floats
    clumping: float


class JoinedSets:
    """A sample of the sets of some weights that pass the checks; only those that can be kept are stored.

    Args:
        odds: Odds of the mechanisms in each circuit, float64, shape (num_circuits, num_mechanisms); halves
            are drawn with those of the first one.
        most: For each circuit an upper bound on the sum of the odds of all sets that pass.
        halves: The halves of joins.
        partners: An upper bound on the part of all halves with which a half makes a set that passes.
        expected: About the sum of the odds of all sets that pass, as far as smaller weights tell.
        composition: How unions of smaller sets are sampled, apart from the others; None: they are not.

    Attributes:
        weights: The weights of its sets.
        weight: The smallest of them.
        halves_of_joins: The halves of joins.
        keys: The keys of the sets that can be kept, each as often as it was found.
        members: Their members, uint32, shape (len(keys), largest weight), filled up with the number of
            mechanisms.
        sets: Sets found that pass the checks, each as often as it was found.
        candidates: Those of them that could be kept, as far as that was known without their laws.
        draws: Halves drawn, of both kinds, and unions.
        rounds: Number of samples.
        composed: The unions of smaller sets, which are sampled apart; None: they are not.
    """

    method = "joined"

    def __init__(
        self,
        odds: Floats,
        most: Floats,
        halves: Halves,
        partners: float = 1.0,
        expected: float = 0.0,
        composition: Composition | None = None,
    ) -> None:
        self.weights = halves.weights
        self.weight = self.weights[0]
        self.halves_of_joins = halves
        self.keys: Keys = np.zeros(0, dtype=np.uint32)
        self.members = np.zeros((0, self.weights[-1]), dtype=np.uint32)
        self.sets = self.candidates = self.draws = self.rounds = 0
        self._odds = np.hstack([odds, np.ones((len(odds), 1))])  # the last one is of what fills up members
        self._most, self._partners, self._expected = most, partners, expected
        self._ratios = np.zeros((0, len(odds)))
        self._joins: list[_Join] = []
        self.composed = ComposedSets(composition, odds) if composition is not None else None
        self._forecasts: dict[tuple[int, float], Forecast] = {}

    def limit(self, most: Floats, partners: float) -> None:
        """Takes bounds that became known since; arguments as above."""
        self._most, self._partners = most, partners
        self._forecasts.clear()

    @property
    def has_several_weights(self) -> bool:
        """Whether it is a sample of the sets of several weights."""
        return len(self.weights) > 1

    @property
    def scale(self) -> float:
        """The density of a join is the square of the number of halves over this."""
        return self.halves_of_joins.scale

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of members of each stored set."""
        return self.halves_of_joins.sizes_of(self.members)

    def add(self, halves: int, found: dict[str, npt.NDArray[np.uint32]], kept: Floats) -> None:
        """Adds what ``FaultSetStudy.join`` found with so many halves of each kind.

        ``kept`` has for each key of the study the probability of being kept.
        """
        self.rounds += 1
        self._forecasts.clear()
        begin = len(self.keys)
        members, keys = found["members"].reshape(-1, self.weights[-1]), found["keys"]
        stored = keys != _NOT_STORED
        stored[stored] = kept[keys[stored]] > 0
        if self.composed is not None:
            stored[stored] = ~self.composed.composition.is_composed(members[stored])
        passing = found["left_out"].astype(np.float64)
        ratios = []
        for first in range(0, len(keys), _CHUNK):
            part = slice(first, first + _CHUNK)
            counts = self.halves_of_joins.counts_by_weight(members[part], halves)
            chunk = _ratios_of(self._odds, members[part]) * counts[:, None]
            passing += chunk.sum(axis=0)
            ratios.append(chunk[stored[part]])
        self.keys = np.concatenate([self.keys, keys[stored]])
        self.members = np.concatenate([self.members, members[stored]])
        splits = self.halves_of_joins.counts_by_split(self.members[begin:], halves)
        self._ratios = np.concatenate([self._ratios, *ratios])
        self._ratios[begin:] *= splits[:, None]
        self.sets += int(found["sets"])
        self.candidates += int(found["candidates"])
        self.draws += 2 * halves
        left, right = (np.unique(found[side][stored], return_inverse=True)[1] for side in ("left", "right"))
        hits = self._ratios[begin:, 0] * kept[self.keys[begin:]]
        own, shared = sum_of_products(hits, hits), _of_pairs(left, hits) + _of_pairs(right, hits)
        self._joins.append(
            _Join(
                self.halves_of_joins.density(halves),
                halves,
                int(found["most_of_draw"]),
                slice(begin, len(self.keys)),
                (left, right),
                passing,
                shared / own if len(hits) >= FEW else 0.0,
            )
        )

    def add_unions(self, draws: int, found: dict[str, Any], kept: Floats, cost: float) -> None:
        """Adds what ``FaultSetStudy.compose`` found with so many draws, at a cost; ``kept`` as above."""
        assert self.composed is not None
        self.rounds += 1
        self._forecasts.clear()
        self.composed.add(draws, found, kept, cost)
        self.draws += draws

    @property
    def is_unknown(self) -> bool:
        """Whether not even the probability to pass the checks is known."""
        return self.sets < FEW

    @property
    def part_of_candidates(self) -> float:
        """The part of the sets that may be kept, about."""
        return (self.candidates + 1) / (self.sets + 1)

    @property
    def halves(self) -> int:
        """Number of halves of the largest join."""
        return max(each.halves for each in self._joins)

    @property
    def _clumping(self) -> float:
        """The clumping of all joins for each of their halves."""
        return sum(each.clumping for each in self._joins) / sum(each.halves for each in self._joins)

    def _count(self, join: _Join) -> float:
        """What a find of a join counts: so that the sum of all joins has little variance.

        By its own clumping, a join in which much was found by chance would count less, and the sum be too
        small.
        """
        return 1 / (1 + self._clumping * join.halves)

    @property
    def density(self) -> float:
        """Mean number of finds per unit of odds, each with what it counts."""
        return sum(self._count(each) * each.density for each in self._joins)

    def signatures(self, values: KeyValues) -> int:
        """See ``Stratum``; only these are stored."""
        del values
        return len(np.unique(self._all_keys))

    def malignant(self, values: KeyValues) -> int:
        """See ``Stratum``."""
        keys = self._all_keys
        return len(np.unique(keys[values.wrong[keys] > 0]))

    @property
    def _all_keys(self) -> Keys:
        return self.keys if self.composed is None else np.concatenate([self.keys, self.composed.keys])

    @property
    def finds(self) -> int:
        """Stored finds of sets that can be kept."""
        return len(self._all_keys)

    @property
    def sides(self) -> tuple[Indices, Indices]:
        """The number of the left half and of the right half that each set has."""
        left, right = (np.zeros(len(self.keys), dtype=np.int64) for _ in range(2))
        for join in self._joins:
            for numbers, side in zip((left, right), join.sides, strict=True):
                numbers[join.part] = join.part.start + side
        return left, right

    def passing(self, circuit: int) -> float:
        """The sum of the odds of all sets that pass the checks."""
        found = sum(self._count(each) * float(each.passing[circuit]) for each in self._joins)
        return found / self.density

    def sums(self, circuit: int, values: KeyValues, rate: float) -> Sums:
        """See ``Stratum``."""
        forecast = self.forecast(circuit, values, rate)
        of_keys = self.coefficients(circuit, len(values.kept))
        return Sums(
            passing=self.passing(circuit),
            kept=sum_of_products(of_keys, values.kept),
            wrong=sum_of_products(of_keys, values.wrong),
            exact=0.0,
            variance=forecast.variance / forecast.density**2 + forecast.unions[0],
            largest=max(forecast.missed, forecast.unions[1]),
        )

    def forecast(self, circuit: int, values: KeyValues, rate: float) -> Forecast:
        """What further joins would bring; arguments as for ``sums``."""
        if (circuit, rate) not in self._forecasts:
            self._forecasts[circuit, rate] = self._forecast(circuit, values, rate)
        return self._forecasts[circuit, rate]

    def _forecast(self, circuit: int, values: KeyValues, rate: float) -> Forecast:
        ratios = self._ratios[:, circuit]
        kept, wrong = ratios * values.kept[self.keys], ratios * values.wrong[self.keys]
        residuals, most = wrong - rate * kept, float(self._most[circuit])
        squares = [sum_of_products(residuals[each.part], residuals[each.part]) for each in self._joins]
        shared = [self._shared(each, residuals) for each in self._joins]
        # Where even kept sets are few, each that can be kept may be wrong with certainty.
        hits = next((each for each in (wrong, kept, ratios) if self._are_enough(each)), None)
        told_density = math.inf
        if self.is_unknown:
            # So many sets as were found, and two more, are not unlikely where there are as many as expected.
            expected = min(self._expected or math.inf, (self.sets + 2) / self.density)
            told_density = 2 * FEW / expected
        return Forecast(
            density=self.density,
            variance=sum(
                self._count(each) ** 2 * (own + pairs)
                for each, own, pairs in zip(self._joins, squares, shared, strict=True)
            ),
            own=sum(squares) / sum(each.density for each in self._joins),
            shared=sum(shared) / sum(float(each.halves) ** 3 for each in self._joins),
            clumping=self._clumping,
            scale=self.scale,
            event=max(self._event(each, circuit, hits) for each in self._joins),
            told_density=told_density,
            told_event=2 * self._largest_of_find(circuit, 0),
            most=most,
            unions=self.composed.error(circuit, values, rate, most) if self.composed else (0.0, 0.0),
        )

    def _shared(self, join: _Join, values: Floats) -> float:
        """The sum of the products of the values of different sets of a join that have a half in common."""
        return max(0.0, sum(_of_pairs(side, values[join.part]) for side in join.sides))

    def _are_enough(self, hits: Floats) -> bool:
        """Whether there are enough effective hits to tell how large any may be."""
        total = float(hits.sum())
        squares = sum_of_products(hits, hits) + sum(self._shared(each, hits) for each in self._joins)
        return total**2 >= FEW * squares > 0

    def _event(self, join: _Join, circuit: int, hits: Floats | None) -> float:
        """What a half that was missed may have added, with all its sets.

        Some times as much as any one had, if there were enough of them.
        """
        if hits is not None:
            seen = max(_largest(side, hits[join.part]) for side in join.sides)
            return _HEAVY_TAIL * self._count(join) * seen
        largest = self._largest_of_find(circuit, join.halves)
        if not self.is_unknown:
            return largest * max(1, join.most_of_half)
        return largest * (1 + join.halves * self._partners)

    def _largest_of_find(self, circuit: int, halves: int) -> float:
        """An upper bound on what a find of a join of so many halves may count."""
        largest = float((self._odds[circuit] / self._odds[0]).max()) ** self.weights[-1]
        return largest * self.halves_of_joins.most(halves)

    def coefficients(self, circuit: int, num_keys: int) -> Floats:
        """See ``Stratum``."""
        sums = np.bincount(self.keys, self.set_weights(circuit), minlength=num_keys).astype(np.float64)
        if self.composed is not None:
            sums += np.bincount(self.composed.keys, self.composed.set_weights(circuit), minlength=num_keys)
        return sums

    def set_weights(self, circuit: int) -> Floats:
        """The importance weight of each found set that can be kept: float64, shape (len(keys),)."""
        weights = self._ratios[:, circuit].copy()
        density = self.density
        for each in self._joins:
            weights[each.part] *= self._count(each) / density
        return weights


def _ratios_of(odds: Floats, members: npt.NDArray[np.uint32]) -> Floats:
    """Odds of sets in each circuit over those in the first one; shape (sets, circuits)."""
    relative = odds / odds[0]
    ratios = np.ones((len(members), len(odds)))
    for circuit in range(1, len(odds)):
        ratios[:, circuit] = np.prod(relative[circuit][members], axis=1)
    return ratios


def _of_pairs(side: Indices, values: Floats) -> float:
    """The sum of the products of the values of different sets that have a half in common."""
    sums = np.bincount(side, values).astype(np.float64)
    return sum_of_products(sums, sums) - sum_of_products(values, values)


def _largest(side: Indices, values: Floats) -> float:
    """The largest sum of the values of the sets that have a half in common."""
    return float(np.bincount(side, values).max()) if len(side) else 0.0
