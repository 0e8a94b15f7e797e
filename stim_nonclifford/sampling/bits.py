"""Conversions between packed and unpacked rows of bits, and checks of arguments as in Stim."""

from __future__ import annotations

import operator
import secrets
from typing import Any

import numpy as np
import numpy.typing as npt

from ..engines import PackedBits
from ..errors import ResourceLimitError
from ..memory import machine_bytes
from .device_bits import pack_on_device, unpack_on_device

__all__ = [
    "check_result_bytes",
    "checked_count",
    "checked_integer",
    "checked_seed",
    "columns",
    "pack",
    "unpack",
    "write_into",
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


def checked_count(shots: Any) -> int:
    """A number of shots as an int.

    Raises:
        TypeError: The number is not an integer.
        ValueError: The number is negative, or at least 2^62.
    """
    count = checked_integer(shots, "shots")
    if not 0 <= count < 1 << 62:
        raise ValueError(f"shots must be between 0 and 2^62 - 1, but is {count}.")
    return count


def checked_integer(value: Any, name: str) -> int:
    """An argument as an int.

    Raises:
        TypeError: It is not an integer.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, but is {value!r}.") from None


def check_result_bytes(shots: int, num_bits: int, bit_packed: bool, instead: str) -> None:
    """Checks that the machine has memory for a result, before anything is sampled.

    Args:
        shots: Number of shots.
        num_bits: Bits of a shot.
        bit_packed: Whether eight bits are one byte of the result.
        instead: What to do if it has not.

    Raises:
        ResourceLimitError: The result is larger than the memory of the machine.

    Examples:
        >>> check_result_bytes(2**61, 3, True, "Use sample_counts.")
        Traceback (most recent call last):
        ...
        stim_nonclifford.errors.ResourceLimitError: 2,305,843,009,213,693,952 shots of 3 bits need ...
    """
    packed = -(-num_bits // 8)
    # Bits are unpacked from rows that are packed.
    num_bytes = shots * (packed if bit_packed else packed + num_bits)
    limit = machine_bytes()
    if num_bytes > limit:
        raise ResourceLimitError(
            f"{shots:,} shots of {num_bits:,} bits need {num_bytes:,} bytes; this machine has {limit:,} bytes"
            f" of memory. {instead}"
        )


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
