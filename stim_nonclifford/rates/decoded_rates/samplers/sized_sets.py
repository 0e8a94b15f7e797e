"""Fault sets by their fault number: how probable each number is, and random sets that have it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..failing.sets import Indices
from ..faults.mechanisms import FaultModel, Floats, Words
from .classify import Bits

__all__ = ["FaultStates", "SizedSets", "law_of_sizes"]

_MORE = 64
_DEVIATIONS = 12
"""The law ends so many standard deviations, and ``_MORE`` faults, above the mean number of faults.

Beyond lie less than 1e-30 of all shots. Twice as many take twice the memory.
"""

_CANCELLATION = 1e-6
"""Where less of all odds is outside a set, it is summed anew: the difference would have few digits."""

_GOLDEN = 0x9E3779B97F4A7C15
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LAST_SHIFT = 31
"""SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): independent bits from the number of a state."""


@dataclass
class FaultStates:
    """Fault sets of one size, each with the number that fixes its coins and quantum outcomes.

    Attributes:
        sets: intp, shape (states, size): places in ``SizedSets.faults``, ascending.
        rows: uint64, shape (states, words): what faults and coins flip, without quantum outcomes.
        numbers: uint64, shape (states,).
    """

    sets: Indices
    rows: Words
    numbers: Words

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def size(self) -> int:
        """The fault number."""
        return self.sets.shape[1]

    def taken(self, places: Indices | Bits) -> FaultStates:
        """Some of the states."""
        return FaultStates(self.sets[places], self.rows[places], self.numbers[places])


def law_of_sizes(probabilities: Floats, most: int) -> Floats:
    """The probability of each number of independent mechanisms that act.

    The polynomials 1 - q + q x of the mechanisms are multiplied in pairs.

    Args:
        probabilities: q of each mechanism.
        most: The largest number.

    Returns:
        Shape (most + 1,).

    Examples:
        >>> law_of_sizes(np.array([0.5, 0.5, 0.5]), 4).tolist()
        [0.125, 0.375, 0.375, 0.125, 0.0]
    """
    factors = np.stack([1 - probabilities, probabilities], axis=1)
    while len(factors) > 1:
        if len(factors) % 2:
            one = np.zeros((1, factors.shape[1]))
            one[0, 0] = 1
            factors = np.vstack([factors, one])
        first, second = factors[::2], factors[1::2]
        length = first.shape[1]
        product = np.zeros((len(first), 2 * length - 1))
        for k in range(length):
            product[:, k : k + length] += first[:, k, np.newaxis] * second
        factors = product[:, : most + 1]
    law = np.zeros(most + 1)
    law[: factors.shape[1]] = factors[0, : most + 1]
    return law


class SizedSets:
    """Random sets of k faults, each as probable as the product of the odds of its members.

    Given the number of independent mechanisms that act, this is the distribution of their set (conditional
    Poisson sampling: Chen, Dempster, Liu, Biometrika 81, 457, 1994). Let e_r(i) be the sum, over all sets of
    r faults from number i on, of the products of their odds. A set with r more members, all from i on, has
    its next member at j or later with probability e_r(j) / e_r(i).

    Args:
        model: The mechanisms. Those with probability 1/2 are coins, and no faults.
        log_odds: ln of their odds.

    Attributes:
        model: The mechanisms.
        faults: intp, shape (faults,): the mechanisms that are faults, the least probable first.
        coins: intp, shape (coins,): the others.
        odds: float64, shape (faults,).
        law: P(k faults act), for numbers up to one beyond which hardly any do.
        mean: The mean number of faults.
    """

    def __init__(self, model: FaultModel, log_odds: Floats) -> None:
        self.model = model
        order = np.argsort(log_odds, kind="stable")
        self.faults = order[log_odds[order] != 0]
        self.coins = np.flatnonzero(log_odds == 0)
        self.odds = np.exp(log_odds[self.faults])
        self._flips = model.flips[self.faults]
        self._sums = np.cumsum(self.odds)
        probabilities = 1 / (1 + np.exp(-log_odds[self.faults]))
        self.mean = float(probabilities.sum())
        most = math.ceil(self.mean + _DEVIATIONS * math.sqrt(self.mean)) + _MORE
        most = min(len(self.faults), most)
        self.law = law_of_sizes(probabilities, most) if len(self.faults) else np.ones(1)
        # Column r: e_r(i) / e_r(0).
        self._columns = [np.ones(len(self.faults) + 1)]

    @property
    def most(self) -> int:
        """The largest fault number that ``law`` knows."""
        return len(self.law) - 1

    def _column(self, size: int) -> Floats:
        while len(self._columns) <= size:
            terms = self.odds * self._columns[-1][1:]
            tails = np.append(np.cumsum(terms[::-1])[::-1], 0.0)
            self._columns.append(tails / tails[0])
        return self._columns[size]

    def drawn(self, size: int, count: int, rng: np.random.Generator) -> FaultStates:
        """Random states of a fault number."""
        sets = np.zeros((count, size), dtype=np.intp)
        begin = np.zeros(count, dtype=np.intp)
        for place in range(size):
            column = self._column(size - place)
            least = column[begin] * (1 - rng.random(count))
            sets[:, place] = len(column) - 1 - np.searchsorted(column[::-1], least, side="left")
            begin = sets[:, place] + 1
        return self.states(sets, rng)

    def states(self, sets: Indices, rng: np.random.Generator) -> FaultStates:
        """Sets with random coins and outcomes."""
        numbers = np.zeros(len(sets), dtype=np.uint64)
        if len(self.coins) or self.model.outcomes is not None:
            numbers = rng.integers(1 << 64, size=len(sets), dtype=np.uint64)
        return FaultStates(sets, self.rows(sets, numbers), numbers)

    def rows(self, sets: Indices, numbers: Words) -> Words:
        """What faults and coins flip, shape (sets, words)."""
        rows = np.asarray(np.bitwise_xor.reduce(self._flips[sets], axis=1) ^ self.model.base)
        for coin, shows in zip(self.coins.tolist(), self.coin_bits(numbers).T, strict=True):
            rows[shows] ^= self.model.flips[coin]
        return rows

    def coin_bits(self, numbers: Words) -> Bits:
        """The coins that a number fixes, shape (numbers, coins)."""
        steps = np.arange(1, len(self.coins) + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
        mixed = numbers[:, np.newaxis] + steps
        for shift, factor in _MIX:
            mixed = (mixed ^ mixed >> np.uint64(shift)) * np.uint64(factor)
        mixed ^= mixed >> np.uint64(_LAST_SHIFT)
        return np.asarray(mixed & np.uint64(1), dtype=np.bool_)

    def with_one(self, states: FaultStates, others: Indices) -> Words:
        """The rows of states with one fault more."""
        return np.asarray(states.rows ^ self._flips[others])

    def without_one(self, states: FaultStates, members: Indices) -> Words:
        """The rows of states without one of some members each; shape (states, members, words)."""
        return np.asarray(states.rows[:, np.newaxis] ^ self._flips[members])

    def odds_outside(self, sets: Indices) -> Floats:
        """The sum of the odds of the faults that each set has not."""
        outside = self._sums[-1] - self.odds[sets].sum(axis=1)
        for place in np.flatnonzero(outside < _CANCELLATION * self._sums[-1]).tolist():
            outside[place] = np.delete(self.odds, sets[place]).sum()
        return np.asarray(outside)

    def outside(self, sets: Indices, rng: np.random.Generator) -> Indices:
        """For each set, a fault that it has not, drawn by its odds."""
        found = np.zeros(len(sets), dtype=np.intp)
        waiting = np.arange(len(sets))
        ends = np.append(0.0, self._sums)
        while len(waiting):  # hardly ever a second time: where rounding leads to a member
            mine = sets[waiting]
            point = rng.random(len(mine)) * self.odds_outside(mine)
            for member in mine.T:
                point += np.where(point >= ends[member], self.odds[member], 0.0)
            drawn = np.minimum(np.searchsorted(self._sums, point, side="right"), len(self.odds) - 1)
            found[waiting] = drawn
            waiting = waiting[(mine == drawn[:, np.newaxis]).any(axis=1)]
        return found

    def members(self, states: FaultStates) -> Indices:
        """The mechanisms of states, coins included: shape (states, size + coins), -1 for coins not thrown."""
        coins = np.where(self.coin_bits(states.numbers), self.coins, -1)
        return np.hstack([self.faults[states.sets], coins])
