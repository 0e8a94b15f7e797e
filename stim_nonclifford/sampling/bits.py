"""Conversions between packed and unpacked rows of bits, and checks of arguments as in Stim."""

from __future__ import annotations

import operator
import secrets
from typing import Any

import numpy as np
import numpy.typing as npt

from ..engines import PackedBits
from .device_bits import pack_on_device, unpack_on_device

__all__ = ["checked_count", "checked_seed", "columns", "pack", "unpack", "write_into"]

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


def checked_count(shots: Any) -> int:
    """A number of shots as an int.

    Raises:
        TypeError: The number is not an integer.
        ValueError: The number is negative, or at least 2^62.
    """
    try:
        count = operator.index(shots)
    except TypeError:
        raise TypeError(f"shots must be an integer, but is {shots!r}.") from None
    if not 0 <= count < 1 << 62:
        raise ValueError(f"shots must be between 0 and 2^62 - 1, but is {count}.")
    return count


def checked_seed(seed: Any) -> int:
    """A seed as an int; for None, a seed from the operating system's entropy.

    Raises:
        ValueError: The seed is neither None nor an integer in range(2**64).
    """
    if seed is None:
        return secrets.randbits(64)
    try:
        value = operator.index(seed)
    except TypeError:
        value = -1
    if not 0 <= value < 1 << 64:
        raise ValueError(f"Expected seed to be None or a 64 bit unsigned integer, got {seed!r}.")
    return value


def write_into(out: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Copies rows into an array of the caller, and returns that array.

    Raises:
        ValueError: The array does not have the shape and dtype of the rows.
    """
    if not isinstance(out, np.ndarray) or out.dtype != rows.dtype:
        raise ValueError(f"Output buffer wasn't a numpy.ndarray[np.{rows.dtype}].")
    if out.shape != rows.shape:
        raise ValueError(f"Expected output buffer to have shape={rows.shape} but its shape is {out.shape}.")
    out[...] = rows
    return out
