"""Names of array types, by their elements, and bits in words. Shapes are said where an array is described."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint32]
Words = npt.NDArray[np.uint64]


def words_of_bits(bits: Bools) -> Words:
    """Bits in words of 64, the least significant one first: shape (..., ceil(bits / 64)).

    Examples:
        >>> words_of_bits(np.array([[True, False, True], [False, True, True]])).tolist()
        [[5], [6]]
    """
    padding = [(0, 0)] * (bits.ndim - 1) + [(0, -bits.shape[-1] % 64)]
    packed = np.packbits(np.pad(bits, padding), axis=-1, bitorder="little")
    return np.ascontiguousarray(packed).view(np.uint64)


def bits_of_words(words: Words | Bytes, count: int) -> Bools:
    """The first bits of words, or of bytes, the least significant one first: shape (..., count).

    Examples:
        >>> bits_of_words(np.array([[5], [6]], dtype=np.uint64), 3).tolist()
        [[True, False, True], [False, True, True]]
    """
    packed = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(packed, axis=-1, count=count, bitorder="little").view(np.bool_)
