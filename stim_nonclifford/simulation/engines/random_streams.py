"""The random numbers of a shot, which depend on the seed and the number of the shot alone.

The words are those of Philox4x64-10 (J. K. Salmon et al., SC 2011), a counter-based generator. Word i of a
random stream is a function of (seed, stream, index, i), so any engine and any thread can compute it, in any
order. Here NumPy's generator of that name computes the words.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from ... import _native

MIN_MASS = _native.MIN_MASS
"""No product of likely probabilities: whether a mass is below it must not be a matter of rounding."""


class Stream(IntEnum):
    """The random streams. Each has an index: the number of a block or of a shot, or part of a search."""

    COUNTS = _native.COUNTS
    """Index: block. Word k gives the number of noise events of shot k of the block."""
    EVENTS = _native.EVENTS
    """Index: block. The words give the mechanisms of the block's events, shot after shot."""
    COINS = _native.COINS
    """Index: block. Bit f of the words of shot k, ceil(number of coins / 64) each, is coin f."""
    OUTCOMES = _native.OUTCOMES
    """Index: shot. The words decide the outcomes of MEASUREs, see :class:`OutcomeDecisions`."""
    LEAKAGE = _native.LEAKAGE
    """Index: shot. The words say what qubits do that may be leaked, see :class:`LeakageDraws`."""
    READOUTS = _native.READOUTS
    """Index: block. Bit f of the words of shot k, ceil(number of hidden coins / 64) each, is hidden coin f.
    """
    TRAJECTORY_STRUCTURE = _native.TRAJECTORY_STRUCTURE
    """Index: shot. The words say which qubits relax or leak on a trajectory, and how."""
    TRAJECTORY_PAULIS = _native.TRAJECTORY_PAULIS
    """Index: shot. The words say which other noise there is on a trajectory."""
    TRAJECTORY_COINS = _native.TRAJECTORY_COINS
    """Index: shot. Bit d is the outcome of decision d of a trajectory, if it is 1 with probability 1/2."""
    TRAJECTORY_OUTCOMES = _native.TRAJECTORY_OUTCOMES
    """Index: shot. Word d gives the outcome of decision d of a trajectory, if it is no such coin."""
    TRAJECTORY_LEAKAGE = _native.TRAJECTORY_LEAKAGE
    """Index: shot. The words say what leaked qubits do on a trajectory."""
    SET_DRAWS = _native.SET_DRAWS
    """Index: weight and part of the search for fault sets. The words give points on the axis of sets."""
    LEFT_PARTS = _native.LEFT_PARTS
    """Index: weight, round and chunk of a join of fault sets. The words give the members of left parts."""
    RIGHT_PARTS = _native.RIGHT_PARTS
    """Index: weight, round and chunk of a join of fault sets. The words give the members of right parts."""
    ROUNDS = _native.ROUNDS
    """Index: round. The first word is the seed of its ``SET_DRAWS``."""


def words(seed: int, stream: Stream, index: int, count: int) -> npt.NDArray[np.uint64]:
    """The first words of a random stream of a block or shot, uint64, shape (count,)."""
    # Arrays, as NumPy would convert a list of 64-bit numbers to floats.
    key = np.array([seed, stream], dtype=np.uint64)
    counter = np.array([0, index, 0, 0], dtype=np.uint64)
    generator = np.random.Philox(key=key, counter=counter)
    return generator.random_raw(count)


def uniform(word: int) -> float:
    """Converts a word to a number in [0, 1) with 53 bits."""
    return (int(word) >> 11) * 2.0**-53


class LeakageDraws:
    """The random numbers of a shot's leakage, as ``plan.LEAKAGE_ITEM_DTYPE`` says."""

    def __init__(self, seed: int, shot: int) -> None:
        self._words: list[int] = []
        self._stream = seed, Stream.LEAKAGE, shot
        self._taken = 1
        self._left: list[bool] = []

    def deciding_bits(self) -> list[bool]:
        """The bits of word 0, which decides final checks."""
        word = int(words(*self._stream, 1)[0])
        return [bool(word >> k & 1) for k in range(64)]

    def happens(self, threshold: int) -> bool:
        """Whether an item with this threshold happens. A certain one needs no random number."""
        return threshold == 2**64 - 1 or self._next() <= threshold

    def bits(self, count: int) -> list[bool]:
        """Random bits, at most 64."""
        if len(self._left) < count:
            word = self._next()
            self._left = [bool(word >> k & 1) for k in range(64)]
        found, self._left = self._left[:count], self._left[count:]
        return found

    def _next(self) -> int:
        if self._taken >= len(self._words):
            self._words = words(*self._stream, 2 * self._taken + 8).tolist()
        self._taken += 1
        return self._words[self._taken - 1]


class OutcomeDecisions:
    """Draws the outcomes of a shot with few random words, by arithmetic decoding.

    Let u be a uniform number in [0, 1). The outcome is 1 if u < p. In this case u / p is uniform again,
    otherwise (u - p) / (1 - p) is. That number draws the next outcome. The *mass* is the probability of all
    outcomes drawn with the same word. If it is below MIN_MASS, a new word is used, so that at least 44 random
    bits are always left.
    With ``separate``, each outcome has a number of its own, word k for outcome k, and depends on no other.
    """

    def __init__(self, seed: int, shot: int, max_decisions: int, *, separate: bool = False) -> None:
        drawn = words(seed, Stream.OUTCOMES, shot, max_decisions).tolist()
        self._words: Iterator[int] = iter(drawn)
        self._own: list[int] = drawn if separate else []
        self._number = 0.0
        self._mass = 0.0

    def decide(self, probability_of_one: float, outcome: int = 0) -> int:
        """Draws an outcome that is 1 with the given probability. A certain outcome needs no random number."""
        p = probability_of_one
        if p in (0.0, 1.0):
            return int(p)
        if self._own:
            return int(uniform(self._own[outcome]) < p)
        if self._mass < MIN_MASS:
            self._number, self._mass = uniform(next(self._words)), 1.0
        if self._number < p:
            self._number /= p
            self._mass *= p
            return 1
        self._number = (self._number - p) / (1 - p)
        self._mass *= 1 - p
        return 0
