"""The random numbers of a shot, which depend on the seed and the shot's index alone.

Words are those of Philox4x64-10 (J. K. Salmon et al., SC 2011), a counter-based generator: word i of a
stream is a function of (seed, stream, index, i), so that any engine, thread or GPU lane makes the same
ones in any order. NumPy's generator of that name gives them.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

__all__ = ["Stream", "uniform", "words"]


class Stream(IntEnum):
    """What a stream is for, and what its index counts."""

    COUNTS = 0
    """Index: block. Word k gives the number of noise events of shot k of the block."""
    EVENTS = 1
    """Index: block. The words give the mechanisms of the block's events, shot after shot."""
    COINS = 2
    """Index: block. Bit f of the words of shot k, ceil(number of coins / 64) each, is coin f."""
    OUTCOMES = 3
    """Index: shot. Word j decides the outcome of MEASURE j."""


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
