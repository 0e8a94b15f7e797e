"""Samples of the fault sets of a weight, and what more of them would bring.

Sets are found in two ways: as a Poisson process of whole sets (*drawn*), or by joining random halves of sets
(*joined*). Both find each set a number of times that is on average proportional to its odds: the *density* is
this number per unit of odds. So all finds of a weight are added up, whatever found them. They differ in cost,
and in how finds depend on each other: joined sets with a common half do, and count less for it.

What a find of a join counts depends on the halves in which it was found. Sets that are unions of two smaller
ones that pass are sampled apart, as a third way that finds these alone; ``halves`` explains both.

Where few keys make most of the variance, all their sets are *listed*. The sets that were found before chose
these keys: without them, too few of the others would be left. So the sample begins anew.

Weights that matter little, but that are too many to be left out, are one sample: only joins of halves of
several sizes find its sets, and a find counts by the weight of its set, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .halves import ComposedSets, Composition, Halves, MixedHalves, ratios_of, sizes_of
from .laws import FEW, Floats, KeyValues, sum_of_products
from .strata import Keys, Outlook, Sums

__all__ = ["SampledWeight"]

_NOT_STORED = 2**32 - 1
"""The number of a key with which no shot is kept, where only the others are stored."""

_CHUNK = 1 << 18

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Round:
    """Sets that were drawn at once, or found among all combinations of so many left and right halves.

    Attributes:
        density: Mean number of finds per unit of odds.
        halves: Number of left halves, and of right halves; 0: whole sets were drawn.
        most_of_half: The largest number of sets that a half or a clump has, whether they can be kept or not.
        part: Where its sets are among those of the weight.
        sides: For each set the number of its left half, and of its right half; or of its clump of draws.
        passing: For each circuit the sum of the ratios of all sets that were found.
        clumping: By how much finds that share halves increase the variance of P(kept), relative to as many
            independent ones.
    """

    density: float
    halves: int
    most_of_half: int
    part: slice
    sides: tuple[Indices, ...]
    passing: Floats
    clumping: float


class SampledWeight:
    """A sample of the sets of a weight that pass the checks; only those that can be kept are stored.

    Args:
        odds: Odds of the mechanisms in each circuit, float64, shape (num_circuits, num_mechanisms); draws
            are those of the first one.
        most: For each circuit an upper bound on the sum of the odds of all sets that pass.
        halves: The halves of joins. They may find sets of several weights, of which this is then a sample.
        partners: An upper bound on the part of all halves with which a half makes a set that passes.
        expected: About the sum of the odds of all sets that pass, as far as smaller weights tell.
        composition: How composed sets are sampled, apart from the others; None: they are not.

    Attributes:
        weights: Those of its sets.
        weight: The smallest of them.
        keys: The keys of the sets that can be kept.
        members: Their members, shape (len(keys), largest weight), filled up with the number of mechanisms.
        scale: The density of a join is the square of the number of halves over this.
        sets: Sets found that pass the checks, each as often as it was found.
        candidates: Those of them that could be kept, as far as that was known without their laws.
        draws: Sets drawn, and halves of sets.
        rounds: How often something became known.
        cost: What was spent on the sets that were found by chance.
    """

    def __init__(
        self,
        odds: Floats,
        most: Floats,
        halves: Halves | MixedHalves,
        partners: float = 1.0,
        expected: float = 0.0,
        composition: Composition | None = None,
    ) -> None:
        self.weights = halves.weights
        self.weight = self.weights[0]
        self.halves_of_joins = halves
        self.scale = halves.scale
        self.keys: Keys = np.zeros(0, dtype=np.uint32)
        self.members = np.zeros((0, self.weights[-1]), dtype=np.uint32)
        self.sets = self.candidates = self.draws = 0
        if self.has_several_weights:
            odds = np.hstack([odds, np.ones((len(odds), 1))])  # of what fills up members
        self._odds, self._most, self._partners, self._expected = odds, most, partners, expected
        self._ratios = np.zeros((0, len(odds)))
        self._largest_ratio = np.ones(len(odds))
        self._rounds: list[_Round] = []
        self.composed = ComposedSets(composition, odds) if composition is not None else None
        self.rounds = 0
        self._outlooks: dict[tuple[int, float], Outlook] = {}
        self._passing: dict[int, float] = {}
        self._heavy: tuple[npt.NDArray[np.uint32], Floats] | None = None
        self.cost = 0.0
        self._listed_keys: Keys = np.zeros(0, dtype=np.uint32)
        self._listed_odds = np.zeros((0, len(odds)))

    def limit(self, most: Floats, partners: float) -> None:
        """Takes bounds that became known since; arguments as above."""
        self._most, self._partners = most, partners
        self._outlooks.clear()

    @property
    def has_several_weights(self) -> bool:
        """Whether it is a sample of the sets of several weights. Then only joins find them."""
        return len(self.weights) > 1

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of members of each stored set."""
        return sizes_of(self.members, self._odds.shape[1] - self.has_several_weights)

    def _begin_round(self) -> None:
        self.rounds += 1
        self._outlooks.clear()
        self._passing.clear()
        self._heavy = None

    def begin_anew(self, members: npt.NDArray[np.uint32], keys: Keys) -> None:
        """Drops what was found by chance, and takes all sets of further keys.

        Args:
            members: uint32, shape (sets, weight).
            keys: Their keys, shape (sets,).
        """
        self._begin_round()
        self._rounds, self.composed = [], None
        self.cost = 0.0
        self.sets = self.candidates = 0
        listed = ~self.is_sampled
        self.keys = np.concatenate([self.keys[listed], keys])
        self.members = np.concatenate([self.members[listed], members])
        self._listed_keys = np.unique(self.keys)
        self._listed_odds = np.array([np.prod(odds[self.members], axis=1) for odds in self._odds]).T
        self._ratios = np.zeros((len(self.keys), len(self._odds)))

    def heavy_sets(self, values: KeyValues) -> tuple[npt.NDArray[np.uint32], Floats]:
        """A set of each key, those with most of the variance first, and the share that keys up to each have.

        Keys that were found seldom may have been found by chance, and count less.
        """
        if self._heavy is not None:
            return self._heavy
        keys, first, inverse, counts = np.unique(
            self.keys, return_index=True, return_inverse=True, return_counts=True
        )
        hits = (self.is_sampled * self.set_weights(0) * values.wrong[self.keys]) ** 2
        variances = np.bincount(inverse, hits, minlength=len(keys))
        order = np.argsort(-variances, kind="stable")
        order = order[variances[order] > 0]
        total = variances.sum() or 1.0
        shares = np.cumsum(variances[order] * (1 - 0.5 / counts[order])) / total
        self._heavy = self.members[first[order]], shares
        return self._heavy

    @property
    def has_list(self) -> bool:
        """Whether all sets of some keys are known."""
        return len(self._listed_keys) > 0

    def add_draws(
        self,
        members: npt.NDArray[np.uint32],
        keys: Keys,
        clumps: npt.NDArray[np.uint32],
        spacing: float,
        kept: Floats,
    ) -> None:
        """Adds a process with on average one draw for each ``spacing`` of mass.

        Args:
            members: uint32, shape (draws * weight,).
            keys: Keys of the sets, shape (draws,); 2^32 - 1 for those that are not stored.
            clumps: Which of them depend on each other, shape (draws,).
            spacing: See above.
            kept: For each key of the study the probability of being kept.
        """
        self._begin_round()
        begin = len(self.keys)
        stored, passing = self._add(members.reshape(-1, self.weight), keys, kept, 0)
        self.draws += len(keys)
        self.candidates += int(np.count_nonzero(stored))
        part = slice(begin, len(self.keys))
        sides = (np.unique(clumps[stored], return_inverse=True)[1],)
        largest = int(np.unique(clumps, return_counts=True)[1].max(initial=1))
        self._rounds.append(_Round(1 / spacing, 0, largest, part, sides, passing, 0.0))

    def add_join(self, halves: int, found: dict[str, npt.NDArray[np.uint32]], kept: Floats) -> None:
        """Adds what ``FaultSetStudy.join`` found with so many halves of each kind; ``kept`` as above."""
        self._begin_round()
        begin = len(self.keys)
        members = found["members"].reshape(-1, self.weights[-1])
        stored, passing = self._add(members, found["keys"], kept, halves)
        self.sets += int(found["sets"]) - len(found["keys"])
        self.candidates += int(found["candidates"])
        self.draws += 2 * halves
        sides = tuple(np.unique(found[side][stored], return_inverse=True)[1] for side in ("left", "right"))
        part = slice(begin, len(self.keys))
        self._ratios[part] *= self.halves_of_joins.counts(self.members[part], halves)[:, None]
        hits = self._ratios[part, 0] * kept[self.keys[part]]
        own, shared = sum_of_products(hits, hits), sum(_of_pairs(side, hits) for side in sides)
        clumping = shared / own if len(hits) >= FEW else 0.0
        self._rounds.append(
            _Round(
                self.halves_of_joins.density(halves),
                halves,
                int(found["most_of_draw"]),
                part,
                sides,
                passing + found["left_out"],
                clumping,
            )
        )

    def add_composed(self, draws: int, found: dict[str, Any], kept: Floats, cost: float) -> None:
        """Adds what ``FaultSetStudy.compose`` found with so many draws, at a cost; ``kept`` as above."""
        assert self.composed is not None
        self._begin_round()
        self.composed.add(draws, found, kept, cost)
        self.draws += draws

    def _add(
        self, members: npt.NDArray[np.uint32], keys: Keys, kept: Floats, halves: int
    ) -> tuple[npt.NDArray[np.bool_], Floats]:
        """Stores the sets that can be kept and are not listed, and says which; 0 halves: they were drawn.

        Returns:
            bool, shape (sets,), and the sum of the ratios of all sets.
        """
        stored = (keys != _NOT_STORED) & ~np.isin(keys, self._listed_keys)
        stored[stored] = kept[keys[stored]] > 0
        if self.composed is not None:
            stored[stored] = ~self.composed.composition.is_composed(members[stored])
        ratios, passing = [], np.zeros(len(self._odds))
        for begin in range(0, len(keys), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            counts = self.halves_of_joins.counts_by_weight(members[part], halves)
            chunk = ratios_of(self._odds, members[part]) * counts[:, None]
            passing += chunk.sum(axis=0)
            self._largest_ratio = np.maximum(self._largest_ratio, chunk.max(axis=0))
            ratios.append(chunk[stored[part]])
        self._ratios = np.concatenate([self._ratios, *ratios])
        self.keys = np.concatenate([self.keys, keys[stored]])
        self.members = np.concatenate([self.members, members[stored]])
        self.sets += len(keys)
        return stored, passing

    @property
    def method(self) -> str:
        """How its sets were found."""
        is_join = {each.halves > 0 for each in self._rounds}
        return "both" if len(is_join) > 1 else "joined" if is_join == {True} else "drawn"

    @property
    def is_unknown(self) -> bool:
        """Whether not even the probability to pass the checks is known."""
        return self.sets < FEW and self.method == "joined"

    @property
    def part_of_candidates(self) -> float:
        """The part of the sets that may be kept, about."""
        return (self.candidates + 1) / (self.sets + 1)

    @property
    def halves(self) -> int:
        """Number of halves of the largest join; 0: there was none."""
        return max((each.halves for each in self._rounds), default=0)

    @property
    def _clumping(self) -> float:
        """The clumping of all joins for each of their halves."""
        return sum(each.clumping for each in self._rounds) / max(1, sum(each.halves for each in self._rounds))

    def _count(self, found: _Round) -> float:
        """What a find counts: so that the sum of all rounds has little variance.

        By its own clumping, a round in which much was found by chance would count less, and the sum be too
        small.
        """
        return 1 / (1 + self._clumping * found.halves)

    @property
    def density(self) -> float:
        """Mean number of finds per unit of odds, each with what it counts."""
        return sum(self._count(each) * each.density for each in self._rounds)

    @property
    def finds(self) -> int:
        """Stored finds of sets that can be kept."""
        return len(self.keys) + (len(self.composed.keys) if self.composed is not None else 0)

    @property
    def _all_keys(self) -> Keys:
        return self.keys if self.composed is None else np.concatenate([self.keys, self.composed.keys])

    def signatures(self, values: KeyValues) -> int:
        """See ``Stratum``; only these are stored."""
        del values
        return len(np.unique(self._all_keys))

    def malignant(self, values: KeyValues) -> int:
        """See ``Stratum``."""
        keys = self._all_keys
        return len(np.unique(keys[values.wrong[keys] > 0]))

    @property
    def sides(self) -> tuple[Indices, Indices]:
        """The number of the left and of the right half that each set has, or of its clump and its own."""
        left, right = np.arange(len(self.keys)), np.arange(len(self.keys))
        # What a set of a join shares is named by the first set that has it.
        for each in self._rounds:
            for numbers, side in zip((left, right), each.sides, strict=False):
                _, first = np.unique(side, return_index=True)
                numbers[each.part] = each.part.start + first[side]
        return left, right

    def passing(self, circuit: int) -> float:
        """The sum of the odds of all sets that pass the checks."""
        if circuit not in self._passing:
            found = sum(self._count(each) * float(each.passing[circuit]) for each in self._rounds)
            self._passing[circuit] = found / self.density
        return self._passing[circuit]

    def sums(self, circuit: int, values: KeyValues, rate: float) -> Sums:
        """See ``Stratum``."""
        weights = self.set_weights(circuit)
        outlook = self.outlook(circuit, values, rate)
        listed = slice(len(self._listed_odds))
        of_keys = self.coefficients(circuit, len(values.kept))
        return Sums(
            passing=self.passing(circuit),
            kept=sum_of_products(of_keys, values.kept),
            wrong=sum_of_products(of_keys, values.wrong),
            listed=sum_of_products(weights[listed], values.wrong[self.keys[listed]]),
            variance=outlook.variance / outlook.density**2 + outlook.composed[0],
            largest=max(outlook.missed, outlook.composed[1]),
        )

    def outlook(self, circuit: int, values: KeyValues, rate: float) -> Outlook:
        """What more draws would bring; arguments as for ``sums``."""
        if (circuit, rate) not in self._outlooks:
            self._outlooks[circuit, rate] = self._outlook(circuit, values, rate)
        return self._outlooks[circuit, rate]

    def _outlook(self, circuit: int, values: KeyValues, rate: float) -> Outlook:
        ratios = self._ratios[:, circuit]
        kept, wrong = ratios * values.kept[self.keys], ratios * values.wrong[self.keys]
        residuals, most = wrong - rate * kept, float(self._most[circuit])
        joins = [each for each in self._rounds if each.halves]
        squares = [sum_of_products(residuals[each.part], residuals[each.part]) for each in self._rounds]
        shared = [self._shared(each, residuals) for each in self._rounds]
        cubes = sum(float(each.halves) ** 3 for each in joins)
        by_round = list(zip(self._rounds, squares, shared, strict=True))
        shared_by_halves = sum(pairs for each, _, pairs in by_round if each.halves)
        drawn_shared = sum(pairs for each, _, pairs in by_round if not each.halves)
        drawn_squares = sum(own for each, own, _ in by_round if not each.halves)
        # Where even kept sets are few, each that can be kept may be wrong with certainty.
        drawn = [each for each in self._rounds if not each.halves]
        drawn_hits, joined_hits = (
            next((each for each in (wrong, kept, ratios) if self._are_enough(each, rounds)), None)
            for rounds in (drawn, joins)
        )
        events = [self._joined_event(each, circuit, joined_hits) for each in joins]
        told_density = math.inf
        if joins and self.sets < FEW:
            # So many sets as were found, and two more, are not unlikely where there are as many as expected.
            expected = min(self._expected or math.inf, (self.sets + 2) / self.density)
            told_density = 2 * FEW / expected
        return Outlook(
            density=self.density,
            variance=sum(self._count(each) ** 2 * (own + pairs) for each, own, pairs in by_round),
            own=sum(squares) / sum(each.density for each in self._rounds),
            shared=shared_by_halves / cubes if cubes else 0.0,
            drawn_clumping=drawn_shared / drawn_squares if drawn_squares else 0.0,
            clumping=self._clumping,
            scale=self.scale,
            drawn_density=sum(self._count(each) * each.density for each in drawn),
            drawn_event=max((self._drawn_event(each, kept, drawn_hits) for each in drawn), default=0.0),
            joined_event=max(events, default=0.0),
            told_density=told_density,
            told_event=2 * self._largest_of_find(circuit, 0),
            most=most,
            composed=self.composed.error(circuit, values, rate, most) if self.composed else (0.0, 0.0),
        )

    def _shared(self, found: _Round, values: Floats) -> float:
        """The sum of the products of the values of different sets of a round that have a half in common."""
        return max(0.0, sum(_of_pairs(side, values[found.part]) for side in found.sides))

    def _are_enough(self, hits: Floats, rounds: list[_Round]) -> bool:
        """Whether those of some rounds are enough effective hits to tell how large any may be."""
        total = sum(float(hits[each.part].sum()) for each in rounds)
        squares = sum(
            sum_of_products(hits[each.part], hits[each.part]) + self._shared(each, hits) for each in rounds
        )
        return total**2 >= FEW * squares > 0

    def _drawn_event(self, found: _Round, kept: Floats, hits: Floats | None) -> float:
        """What a clump that was missed may have added: as any one, or any kept set, if these are many."""
        if hits is None:
            return float(self._largest_ratio.max()) * found.most_of_half
        return max(_largest(found.sides[0], hits[found.part]), float(kept[found.part].max(initial=0.0)))

    def _joined_event(self, found: _Round, circuit: int, hits: Floats | None) -> float:
        """The same of a half, with all its sets: as many as any one had, if there were enough of them."""
        if hits is not None:
            return self._count(found) * max(_largest(side, hits[found.part]) for side in found.sides)
        largest = self._largest_of_find(circuit, found.halves)
        if self.sets >= FEW:
            return largest * max(1, found.most_of_half)
        return largest * (1 + found.halves * self._partners)

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
        """What each found set that can be kept counts: float64, shape (len(keys),)."""
        weights = self._ratios[:, circuit].copy()
        density = self.density
        for each in self._rounds:
            weights[each.part] *= self._count(each) / density
        weights[: len(self._listed_odds)] = self._listed_odds[:, circuit]
        return weights

    @property
    def is_sampled(self) -> npt.NDArray[np.bool_]:
        """For each stored set whether it was found by chance."""
        return np.arange(len(self.keys)) >= len(self._listed_odds)


def _of_pairs(side: Indices, values: Floats) -> float:
    """The sum of the products of the values of different sets that have a half in common."""
    sums = np.bincount(side, values).astype(np.float64)
    return sum_of_products(sums, sums) - sum_of_products(values, values)


def _largest(side: Indices, values: Floats) -> float:
    """The largest sum of the values of the sets that have a half in common."""
    return float(np.bincount(side, values).max()) if len(side) else 0.0
