"""Enumeration: all sets of few faults, with all coins and quantum outcomes, each with its probability.

A circuit with few mechanisms is enumerated altogether, and its rate is exact. Of others, the sets of few
faults are, so that nothing is missed where a decoder fails on a set and on none that has a fault more.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from ..failing.sets import EXACT, Indices, resampled_places
from ..faults.mechanisms import Floats, Words
from .classify import Bits, Classify, bits_of_words, fails
from .sized_sets import SizedSets
from .weighted_sets import WeightedSets

__all__ = ["Enumeration"]

_MOST_DECODES = 1 << 18
"""Fault sets that are looked at, with their coins and outcomes.

Twice as many take twice the time (half a second with PyMatching), and hardly ever reach one fault more.
"""

_COST_OF_SIGNATURE = 128
"""The outcome distribution of a signature takes as long as so many decodes, about."""

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
        counts: For each of them, the number of sets (with coins), and of those that fail.
        means: float64, shape (1 + observables,): the rate of any observable, and of each.
    """

    def __init__(self, sized: SizedSets, classify: Classify) -> None:
        self._sized, self._classify, self._model = sized, classify, sized.model
        self.most = -1
        self.by_size: list[float] = []
        self.counts: list[tuple[int, int]] = []
        self.means = np.zeros(1 + self._model.num_observables)
        self._none = math.exp(-float(np.log1p(sized.odds).sum()))
        self._failing: list[tuple[Indices, Words, Floats, Bits]] = []
        self._can_be_summed = self._model.outcomes is None or self._model.outcomes.can_be_summed
        self._coin_rows = np.zeros((1, self._model.flips.shape[1]), dtype=np.uint64)
        if len(sized.coins) > math.log2(max(_MOST_DECODES, 1)):
            self._can_be_summed = False
        elif self._can_be_summed:
            for coin in self._model.flips[sized.coins]:
                self._coin_rows = np.vstack([self._coin_rows, self._coin_rows ^ coin])

    @property
    def is_complete(self) -> bool:
        """Whether all fault sets were looked at."""
        return self.most == len(self._sized.faults)

    @property
    def may_be_complete(self) -> bool:
        """Whether all fault sets are few enough, if no quantum outcomes come to them."""
        bits = len(self._sized.faults) + len(self._sized.coins)
        return self._can_be_summed and bits <= math.log2(max(_MOST_DECODES, 1))

    @property
    def rate(self) -> float:
        """The rate of the fault numbers that were looked at."""
        return float(self.means[0])

    def run(self, check: Callable[[], None]) -> None:
        """Looks at one fault number after the other, as long as there are few enough sets.

        Args:
            check: Is called now and then; may raise to end the work. Numbers that are done count.
        """
        if not self._can_be_summed:
            return
        count, looked_at, outcomes = len(self._sized.faults), 0, 1.0
        for size in range(count + 1):
            sets = math.comb(count, size) * len(self._coin_rows)
            if looked_at + sets * outcomes > _MOST_DECODES:
                return
            found, failing, seen = np.zeros_like(self.means), [], 0
            for batch in self._batches(size):
                check()
                part, values, cost = self._failing_of(batch)
                failing.append(part)
                found += values
                seen += cost
                if looked_at + seen > 2 * _MOST_DECODES:  # more outcomes than smaller sets have
                    return
            looked_at += seen
            outcomes = seen / sets
            self._failing += failing
            self.by_size.append(float(found[0]))
            self.counts.append((sets, sum(len(weights) for _, _, weights, _ in failing)))
            self.means += found
            self.most = size

    def _batches(self, size: int) -> Iterator[Indices]:
        sets = itertools.combinations(range(len(self._sized.faults)), size)
        cost = len(self._coin_rows) * (1 if self._model.outcomes is None else _COST_OF_SIGNATURE)
        most = max(1, _BATCH // cost)
        while batch := list(itertools.islice(sets, most)):
            yield np.array(batch, dtype=np.intp).reshape(len(batch), size)

    def _failing_of(self, sets: Indices) -> tuple[tuple[Indices, Words, Floats, Bits], Floats, int]:
        """Those of the sets, with their coins, that fail for some outcomes; what they add; the cost."""
        rows = np.bitwise_xor.reduce(self._model.flips[self._sized.faults[sets]], axis=1) ^ self._model.base
        which = np.repeat(np.arange(len(sets)), len(self._coin_rows))
        rows = (rows[:, np.newaxis] ^ self._coin_rows).reshape(len(which), -1)
        masses = self._none * self._sized.odds[sets].prod(axis=1)[which] / len(self._coin_rows)
        owners, shares, seen = self._model.with_all_outcomes(rows)
        wrong = bits_of_words(self._classify.test.wrong(seen), self._model.num_observables)
        is_failing = fails(wrong)
        weights = masses[owners] * shares * is_failing
        values = np.append(weights.sum(), weights @ wrong)
        of_rows = np.bincount(owners, weights, minlength=len(rows))
        example = np.zeros((len(rows), wrong.shape[1]), dtype=np.bool_)
        example[owners[is_failing]] = wrong[is_failing]
        some = np.flatnonzero(of_rows)
        coins = np.arange(len(rows))[some] % len(self._coin_rows)
        members = self._members(sets[which[some]], coins)
        kept: Words = rows[some]
        cost = len(seen)
        if self._model.outcomes is not None:
            cost += _COST_OF_SIGNATURE * len(np.unique(self._model.signatures(rows), axis=0))
        return (members, kept, np.asarray(of_rows[some]), example[some]), np.asarray(values), cost

    def _members(self, sets: Indices, coins: Indices) -> Indices:
        shows = coins[:, np.newaxis] >> np.arange(len(self._sized.coins)) & 1
        return np.hstack([self._sized.faults[sets], np.where(shows, self._sized.coins, -1)])

    def found(self) -> WeightedSets:
        """Failing sets, each with its probability; if they are very many, some of them."""
        rng = np.random.default_rng(0)  # their members are known by now: the same sets for all seeds
        kept = WeightedSets(self._model.num_observables, keeps_all=True)
        is_sampled = sum(len(weights) for _, _, weights, _ in self._failing) > _MOST_STORED
        for members, rows, weights, wrong in self._failing:
            places = np.arange(len(weights))
            if is_sampled and len(places):
                count = math.ceil(_MOST_STORED * float(weights.sum()) / self.rate)
                places = resampled_places(weights, count, rng)
                weights = np.full(count, weights.sum() / count)
            numbers, wrong = np.zeros(len(places), dtype=np.uint64), wrong[places]
            if self._model.outcomes is not None:
                numbers, wrong = self._with_failing_outcomes(rows[places], rng)
            owners = len(kept) + np.arange(len(places)) if is_sampled else np.full(len(places), EXACT)
            some = fails(wrong)
            kept.add(members[places][some], numbers[some], wrong[some], weights[some], owners[some], rng)
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
            waiting = waiting[~fails(wrong[waiting])]
        return numbers, wrong
