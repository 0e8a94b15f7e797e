"""Enumeration: all fault sets of few faults, with all coins and all quantum outcomes, each with its probability.

A circuit with few mechanisms is enumerated altogether, and its rate is exact. Of others, the sets of few faults
are, so that nothing is missed where a decoder fails on a set and on none that has a fault more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from ..failing.sets import Indices
from ..faults.mechanisms import Floats, Words
from .classify import Bits, Classify, bits_of_words
from .sized_sets import SizedSets
from .weighted_sets import WeightedSets, resampled_places

__all__ = ["Enumeration"]

_MOST_DECODES = 1 << 18
"""Fault sets that are looked at, with their coins and outcomes. Twice as many take twice the time (half a second
with PyMatching), and reach one fault more where there are 20% fewer mechanisms."""

_BATCH = 1 << 14
_MOST_STORED = 1 << 13
_MOST_TRIES = 1 << 10
"""Random numbers that are tried for outcomes with which a set fails."""


class Enumeration:
    """P(at most ``most`` faults act, and the decoder fails), exactly.

    Args:
        sized: The distribution of fault sets.
        classify: Whether the decoder fails.

    Attributes:
        most: The largest fault number of which all sets were looked at; -1: none.
        by_size: The rates of the numbers 0 to ``most``.
        means: float64, shape (1 + observables,): the rate of any observable, and of each.
    """

    def __init__(self, sized: SizedSets, classify: Classify) -> None:
        self._sized, self._classify, self._model = sized, classify, sized.model
        self.most = -1
        self.by_size: list[float] = []
        self.means = np.zeros(1 + self._model.num_observables)
        self._none = math.exp(-float(np.log1p(sized.odds).sum()))
        self._failing: list[tuple[Indices, Words, Floats, Bits]] = []
        coins = self._model.flips[sized.coins]
        self._per_set = 1.0
        if self._model.outcomes is not None:
            most = self._model.outcomes.num_outcomes if self._model.outcomes.can_be_summed else math.inf
            self._per_set = 2.0**most
        self._coin_rows = np.zeros((1, self._model.flips.shape[1]), dtype=np.uint64)
        self._per_set *= 2.0 ** len(coins)
        if self._per_set <= _MOST_DECODES:
            for coin in coins:
                self._coin_rows = np.vstack([self._coin_rows, self._coin_rows ^ coin])

    @property
    def is_complete(self) -> bool:
        """Whether all fault sets were looked at."""
        return self.most == len(self._sized.faults)

    @property
    def would_be_complete(self) -> bool:
        """Whether all fault sets are few enough."""
        return 2.0 ** len(self._sized.faults) * self._per_set <= _MOST_DECODES

    @property
    def rate(self) -> float:
        """The rate of the fault numbers that were looked at."""
        return float(self.means[0])

    def run(self, check: Callable[[], None]) -> None:
        """Looks at one fault number after the other, as long as there are few enough sets.

        Args:
            check: Is called now and then; may raise to end the work. Numbers that are done count.
        """
        count, looked_at = len(self._sized.faults), 0.0
        for size in range(count + 1):
            looked_at += math.comb(count, size) * self._per_set
            if looked_at > _MOST_DECODES:
                break
            found = np.zeros_like(self.means)
            failing = []
            for sets in self._batches(size):
                check()
                part, values = self._failing_of(sets)
                failing.append(part)
                found += values
            self._failing += failing
            self.by_size.append(float(found[0]))
            self.means += found
            self.most = size

    def _batches(self, size: int) -> Iterator[Indices]:
        sets = itertools.combinations(range(len(self._sized.faults)), size)
        most = max(1, int(_BATCH / self._per_set))
        while batch := list(itertools.islice(sets, most)):
            yield np.array(batch, dtype=np.intp).reshape(len(batch), size)

    def _failing_of(self, sets: Indices) -> tuple[tuple[Indices, Words, Floats, Bits], Floats]:
        """Those of the sets, with their coins, that fail for some outcomes; and what they add to the rates."""
        rows = np.bitwise_xor.reduce(self._model.flips[self._sized.faults[sets]], axis=1) ^ self._model.base
        which = np.repeat(np.arange(len(sets)), len(self._coin_rows))
        rows = (rows[:, np.newaxis] ^ self._coin_rows).reshape(len(which), -1)
        masses = self._none * self._sized.odds[sets].prod(axis=1)[which] / len(self._coin_rows)
        owners, shares, seen = self._model.with_all_outcomes(rows)
        wrong = bits_of_words(self._classify.test.wrong(seen), self._model.num_observables)
        fails = wrong.any(axis=1)
        weights = masses[owners] * shares * fails
        values = np.append(weights.sum(), weights @ wrong)
        of_rows = np.bincount(owners, weights, minlength=len(rows))
        example = np.zeros((len(rows), wrong.shape[1]), dtype=np.bool_)
        example[owners[fails]] = wrong[fails]
        some = np.flatnonzero(of_rows)
        coins = np.arange(len(rows))[some] % len(self._coin_rows)
        members = self._members(sets[which[some]], coins)
        return (members, rows[some], of_rows[some], example[some]), values

    def _members(self, sets: Indices, coins: Indices) -> Indices:
        shows = coins[:, np.newaxis] >> np.arange(len(self._sized.coins)) & 1
        return np.hstack([self._sized.faults[sets], np.where(shows, self._sized.coins, -1)])

    def found(self) -> WeightedSets:
        """Failing sets, each with its probability."""
        rng = np.random.default_rng(0)  # their members are known by now: the same sets for all seeds
        kept = WeightedSets(self._model.num_observables)
        for members, rows, weights, wrong in self._failing:
            places = np.arange(len(weights))
            if len(places) > _MOST_STORED:
                places = resampled_places(weights, _MOST_STORED, rng)
                weights = np.full(_MOST_STORED, weights.sum() / _MOST_STORED)
            numbers = np.zeros(len(places), dtype=np.uint64)
            if self._model.outcomes is not None and len(places):
                numbers, wrong = self._with_failing_outcomes(rows[places], rng)
                is_found = wrong.any(axis=1)
                places, numbers, wrong, weights = (
                    each[is_found] for each in (places, numbers, wrong, weights)
                )
            else:
                wrong = wrong[places]
            owners = len(kept) + np.arange(len(places))
            kept.add(members[places], numbers, wrong, weights, owners, rng)
        return kept

    def _with_failing_outcomes(self, rows: Words, rng: np.random.Generator) -> tuple[Words, Bits]:
        """Random numbers for outcomes with which rows fail, and what is wrong then."""
        numbers = np.zeros(len(rows), dtype=np.uint64)
        wrong = np.zeros((len(rows), self._model.num_observables), dtype=np.bool_)
        waiting = np.arange(len(rows))
        for _ in range(_MOST_TRIES):
            if not len(waiting):
                break
            numbers[waiting] = rng.integers(1 << 64, size=len(waiting), dtype=np.uint64)
            wrong[waiting] = self._classify(rows[waiting], numbers[waiting])
            waiting = waiting[~wrong[waiting].any(axis=1)]
        return numbers, wrong
