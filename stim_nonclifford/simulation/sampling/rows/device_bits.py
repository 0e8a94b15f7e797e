"""Conversions of rows of bits in the memory of a GPU, with functions that both NumPy and CuPy have."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np

__all__ = ["namespace_of", "pack_on_device", "unpack_on_device"]


def namespace_of(array: Any) -> ModuleType:
    """The module whose functions work on an array: ``numpy`` or ``cupy``.

    Examples:
        >>> namespace_of(np.zeros(1)).__name__
        'numpy'
    """
    return sys.modules[type(array).__module__.partition(".")[0]]


def unpack_on_device(rows: Any, num_bits: int) -> Any:
    """Unpacks rows to bool, shape (num_rows, num_bits).

    Examples:
        >>> unpack_on_device(np.array([[5]], dtype=np.uint8), 3).tolist()
        [[True, False, True]]
    """
    xp = namespace_of(rows)
    bits = rows[:, :, None] >> xp.arange(8, dtype=np.uint8) & np.uint8(1)
    return bits.reshape(len(rows), 8 * rows.shape[1])[:, :num_bits].astype(np.bool_)


def pack_on_device(bits: Any) -> Any:
    """Packs rows of bools, eight bits per byte.

    Examples:
        >>> pack_on_device(np.array([[True, False, True]])).tolist()
        [[5]]
    """
    xp = namespace_of(bits)
    num_bytes = -(-bits.shape[1] // 8)
    padded = xp.zeros((len(bits), 8 * num_bytes), dtype=np.uint8)
    padded[:, : bits.shape[1]] = bits
    values = padded.reshape(len(bits), num_bytes, 8) << xp.arange(8, dtype=np.uint8)
    return values.sum(axis=2, dtype=np.uint8)
