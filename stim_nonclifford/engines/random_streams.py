"""The random numbers of a shot, which depend on the seed and the shot's index alone.

Words are those of Philox4x64-10 (J. K. Salmon et al., SC 2011), a counter-based generator: word i of a
stream is a function of (seed, stream, index, i), so that any engine, thread or GPU lane makes the same
ones in any order. NumPy's generator of that name gives them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from .. import _native

__all__ = ["OutcomeDecisions", "Stream", "uniform", "words"]

MIN_MASS = _native.MIN_MASS
"""No product of likely probabilities: whether a mass is below it must not be a matter of rounding."""


class Stream(IntEnum):
    """What a stream is for, and what its index counts."""

    COUNTS = _native.COUNTS
    """Index: block. Word k gives the number of noise events of shot k of the block."""
    EVENTS = _native.EVENTS
    """Index: block. The words give the mechanisms of the block's events, shot after shot."""
    COINS = _native.COINS
    """Index: block. Bit f of the words of shot k, ceil(number of coins / 64) each, is coin f."""
    OUTCOMES = _native.OUTCOMES
    """Index: shot. The words decide the outcomes of MEASUREs, see :class:`OutcomeDecisions`."""


def words(seed: int, stream: Stream, index: int, count: int) -> npt.NDArray[np.uint64]:
    """The first words of a stream.

    Args:
        seed: 0 <= seed < 2^64.
        stream: The stream.
        index: The block or shot, 0 <= index < 2^64.
        count: How many words.

    Returns:
        uint64, shape (count,).

    Examples:
        >>> [hex(word) for word in words(7, Stream.COUNTS, 0, 2)]
        ['0x...', '0x...']
    """
    # As arrays: NumPy would make floats of a list with numbers of 64 bits.
    key = np.array([seed, stream], dtype=np.uint64)
    counter = np.array([0, index, 0, 0], dtype=np.uint64)
    generator = np.random.Philox(key=key, counter=counter)
    return generator.random_raw(count)


def uniform(word: int) -> float:
    """A word as a number in [0, 1) with 53 bits."""
    return (int(word) >> 11) * 2.0**-53


class OutcomeDecisions:
    """Decides the outcomes of a shot with few random words, by arithmetic decoding.

    A number u, uniform in [0, 1), decides for 1 if u < p. Given that, u / p is uniform, else
    (u - p) / (1 - p): it decides the next one. A new number is drawn when what was decided with the old one
    had a probability below MIN_MASS, so that at least 44 of its bits are always left.

    Args:
        seed: 0 <= seed < 2^64.
        shot: Index of the shot.
        max_decisions: At most so many decisions will be made.

    Examples:
        >>> decisions = OutcomeDecisions(seed=7, shot=0, max_decisions=3)
        >>> [decisions.decide(p) for p in (1.0, 0.5, 0.0)]
        [1, 1, 0]
    """

    def __init__(self, seed: int, shot: int, max_decisions: int) -> None:
        self._words: Iterator[int] = iter(words(seed, Stream.OUTCOMES, shot, max_decisions).tolist())
        self._number = 0.0
        self._mass = 0.0

    def decide(self, probability_of_one: float) -> int:
        """An outcome, 1 with the given probability. What is certain needs no random number."""
        p = probability_of_one
        if p in (0.0, 1.0):
            return int(p)
        if self._mass < MIN_MASS:
            self._number, self._mass = uniform(next(self._words)), 1.0
        if self._number < p:
            self._number /= p
            self._mass *= p
            return 1
        self._number = (self._number - p) / (1 - p)
        self._mass *= 1 - p
        return 0
