"""The rate of one circuit from failing fault sets of which members are taken out, one after the other.

Sets with few members hardly ever fail, and make the rate where noise is weak. Sets with many fail often, and
what is left of them still fails more often than a random set of the same size.

Let a failing set F of s members, drawn with density a(F) = product of its odds, lose a random member. What is
left, G, fails or is dropped. A G is reached from each F that has one member more and fails: altogether with
density a(G) S(G) h(G) / s, where S(G) is the sum of the odds of all mechanisms outside G, and h(G) is the
probability that G and one of these, drawn by its odds, fail. S(G) is known; and 1/h(G) is the mean number of
such draws until one fails. So each set, weighted with s/S(G) and with the number of draws, stands for the
failing sets of its size without a bias.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..answers.decoding import FailureTest
from ..faults.mechanisms import FaultModel, Floats, Words
from .sets import Indices
from .sized_sets import SizedSets

__all__ = ["Removals", "WeightedSets", "resampled_places"]

_MOST_TRIED = 8
"""So many members of a set are tried at most, for one to be taken out."""

_REPEATS = 4
"""The number of draws until a set fails with one of them is a mean of so many."""

_BATCH_MEMBERS = 1 << 16
_MOST_STORED = 1 << 13


def resampled_places(weights: Floats, count: int, rng: np.random.Generator) -> Indices:
    """So many places, each as often as its weight says, on average (systematic resampling)."""
    ends = np.cumsum(weights)
    points = (np.arange(count) + rng.random()) * (ends[-1] / count)
    return np.minimum(np.searchsorted(ends, points, side="right"), len(weights) - 1)


class WeightedSets:
    """Failing sets with weights; if they get too many, some are drawn of them.

    Attributes:
        members: intp, shape (sets, room): the mechanisms of each, then -1.
        weights: Shape (sets,).
        owners: intp, shape (sets,): sets with different ones are independent.
    """

    def __init__(self, room: int) -> None:
        self.members = np.zeros((0, room), dtype=np.intp)
        self.weights = np.zeros(0)
        self.owners = np.zeros(0, dtype=np.intp)

    def add(self, sets: Indices, weights: Floats, owners: Indices, rng: np.random.Generator) -> None:
        """Takes some more sets, shape (sets, size)."""
        padded = np.full((len(sets), self.members.shape[1]), -1, dtype=np.intp)
        padded[:, : sets.shape[1]] = sets
        self.members = np.vstack([self.members, padded])
        self.weights = np.concatenate([self.weights, weights])
        self.owners = np.concatenate([self.owners, owners])
        if len(self.weights) > 2 * _MOST_STORED:
            total = float(self.weights.sum())
            places = resampled_places(self.weights, _MOST_STORED, rng)
            self.members, self.owners = self.members[places], self.owners[places]
            self.weights = np.full(_MOST_STORED, total / _MOST_STORED)


@dataclass
class _Descending:
    """Failing sets of one size, each with a weight, and which of the drawn sets it comes from."""

    sets: Indices
    rows: Words
    weights: Floats
    owners: Indices


class Removals:
    """Draws sets of one size, and takes members out of those that fail.

    Args:
        model: The mechanisms.
        sized: The law of the sets.
        test: The decoder.
        start: The number of members of the sets that are drawn.

    Attributes:
        start: The same.
        shots: How many sets were drawn.
        failures: How many of them failed.
        costs: The decoded sets, each with one more than the number of its members.
        sums: Shape (start + 1,): for each number of members, the sum over drawn sets of what they say of the
            probability that so many mechanisms act and the decoder fails.
        squares: Shape (start + 1,): the sum of the squares of the same.
        sum_of_squares: The same of what drawn sets say of all numbers of members together.
        found: Failing sets.
    """

    def __init__(self, model: FaultModel, sized: SizedSets, test: FailureTest, start: int) -> None:
        self._model, self._sized, self._test = model, sized, test
        self.start = start
        self.shots = self.failures = self.costs = 0
        self.sums, self.squares = np.zeros((2, start + 1))
        self.sum_of_squares = 0.0
        self.found = WeightedSets(start)

    @property
    def rate(self) -> float:
        """P(at most ``start`` mechanisms act, and the decoder fails)."""
        return float(self.sums.sum()) / self.shots if self.shots else 0.0

    @property
    def variance(self) -> float:
        """Of ``rate``."""
        return max(self.sum_of_squares / self.shots - self.rate**2, 0.0) / self.shots

    @property
    def effective_failures(self) -> float:
        """As many equal ones would have the variance that the weights of those that failed have."""
        return float(self.sums.sum()) ** 2 / self.sum_of_squares if self.sum_of_squares else 0.0

    def take(self, shots: int, rng: np.random.Generator, check: Callable[[], None]) -> None:
        """Draws so many more sets, and takes members out of those that fail.

        Args:
            shots: How many.
            rng: What they are drawn with.
            check: Is called now and then; may raise to end the work. None of these sets counts then.
        """
        parts = []
        most = max(256, _BATCH_MEMBERS // max(self.start, 1))
        for begin in range(0, shots, most):
            check()
            sets = self._sized.drawn(self.start, min(most, shots - begin), rng)
            rows = self._sized.rows(sets)
            failing = np.flatnonzero(self._test.without_memory(rows)[0])
            parts.append((sets[failing], rows[failing], begin + failing))
        check()
        sets, rows, owners = (np.concatenate(each) for each in zip(*parts, strict=True))
        weights = np.full(len(owners), self._sized.law[self.start])
        self._descend(_Descending(sets, rows, weights, owners), shots, rng)
        self.shots += shots
        self.failures += len(owners)
        self.costs += shots * (1 + self.start)

    def _descend(self, at: _Descending, shots: int, rng: np.random.Generator) -> None:
        of_owners = np.zeros(shots)
        while len(at.owners):
            size = at.sets.shape[1]
            self.sums[size] += at.weights.sum()
            self.squares[size] += (at.weights**2).sum()
            of_owners[at.owners] += at.weights
            self.found.add(at.sets, at.weights, self.shots + at.owners, rng)
            if not size:
                break
            at = self._without_one(at, rng)
            at.weights *= self._draws_until_failing(at, rng)
        self.sum_of_squares += float((of_owners**2).sum())

    def _without_one(self, at: _Descending, rng: np.random.Generator) -> _Descending:
        """Sets without a member, as far as what is left of them fails."""
        count, size = at.sets.shape
        tried = min(size, _MOST_TRIED)
        places = np.argsort(rng.random((count, size)), axis=1)[:, :tried]
        leaving = np.take_along_axis(at.sets, places, axis=1)
        rows = at.rows[:, np.newaxis] ^ self._model.flips[leaving]
        fails = self._test(rows.reshape(count * tried, -1)).reshape(count, tried)
        self.costs += count * tried * size
        left = np.flatnonzero(fails.any(axis=1))
        # They are in a random order: of those that fail, the first is a random one.
        chosen = fails[left].argmax(axis=1)
        stay = np.ones((len(left), size), dtype=np.bool_)
        stay[np.arange(len(left)), places[left, chosen]] = False
        sets = at.sets[left][stay].reshape(len(left), size - 1)
        outside = self._sized.all_odds - self._sized.odds[sets].sum(axis=1)
        weights = at.weights[left] * fails[left].sum(axis=1) * (size / tried) / outside
        return _Descending(sets, rows[left, chosen], weights, at.owners[left])

    def _draws_until_failing(self, at: _Descending, rng: np.random.Generator) -> Floats:
        """How often mechanisms outside each set are drawn by their odds, until it fails with one of them."""
        draws = np.zeros(len(at.sets))
        waiting = np.repeat(np.arange(len(at.sets)), _REPEATS)
        while len(waiting):
            np.add.at(draws, waiting, 1 / _REPEATS)
            joining = self._sized.mechanisms((len(waiting),), rng)
            while True:
                inside = np.flatnonzero((at.sets[waiting] == joining[:, np.newaxis]).any(axis=1))
                if not len(inside):
                    break
                joining[inside] = self._sized.mechanisms((len(inside),), rng)
            self.costs += len(waiting) * (1 + at.sets.shape[1])
            fails = self._test(at.rows[waiting] ^ self._model.flips[joining])
            waiting = waiting[~fails]
        return draws
