"""Conversions between packed and unpacked rows of bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...engines import PackedBits
from .device_bits import pack_on_device, unpack_on_device

__all__ = [
    "columns",
    "pack",
    "unpack",
]

Bools = npt.NDArray[np.bool_]


def unpack(rows: Any, num_bits: int) -> Bools:
    """Unpacks rows in a NumPy or CuPy array to bool, shape (num_rows, num_bits).

    Examples:
        >>> unpack(np.array([[5]], dtype=np.uint8), 3).tolist()
        [[True, False, True]]
    """
    if not isinstance(rows, np.ndarray):
        return unpack_on_device(rows, num_bits)
    return np.unpackbits(rows, axis=1, count=num_bits, bitorder="little").view(np.bool_)


def pack(bits: Any) -> PackedBits:
    """Packs rows of bools in a NumPy or CuPy array, eight bits per byte."""
    if not isinstance(bits, np.ndarray):
        return pack_on_device(bits)
    return np.packbits(bits, axis=1, bitorder="little")


def columns(rows: PackedBits, start: int, stop: int) -> PackedBits:
    """The bits start, ..., stop - 1 of packed rows, as packed rows.

    Examples:
        >>> columns(np.array([[0b10110000]], dtype=np.uint8), 4, 8).tolist()
        [[11]]
    """
    first, shift = divmod(start, 8)
    num_bits = stop - start
    num_bytes = -(-num_bits // 8)
    part = rows[:, first : first + num_bytes] >> np.uint8(shift)
    if shift:
        rest = rows[:, first + 1 : first + 1 + num_bytes]
        part[:, : rest.shape[1]] |= rest << np.uint8(8 - shift)
    if num_bits % 8:
        part[:, -1] &= np.uint8((1 << num_bits % 8) - 1)
    return part
