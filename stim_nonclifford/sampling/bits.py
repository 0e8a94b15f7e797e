"""Conversions between packed and unpacked rows of bits, and the arrays of the caller."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.arguments import refuse_argument
from ..base.memory import machine_bytes
from ..engines import PackedBits
from ..errors import ResourceLimitError
from .device_bits import pack_on_device, unpack_on_device

__all__ = [
    "check_out",
    "check_result_bytes",
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


def check_out(out: Any, name: str, shape: tuple[int, int], bit_packed: bool) -> None:
    """Checks an array of the caller, to which a result will be written.

    Args:
        out: The array, or None.
        name: The name of the argument.
        shape: Shots and bits.
        bit_packed: Whether eight bits are one byte.

    Raises:
        ValueError: The array does not have the shape and dtype of the result.

    Examples:
        >>> check_out(np.zeros((2, 3), dtype=bool), "dets_out", (2, 4), False)
        Traceback (most recent call last):
        ...
        ValueError: Output buffer dets_out must be a NumPy array of dtype bool and shape (2, 4), but has ...
    """
    if out is None:
        return
    dtype = np.dtype(np.uint8 if bit_packed else np.bool_)
    shape = (shape[0], -(-shape[1] // 8)) if bit_packed else shape
    wanted = f"a NumPy array of dtype {dtype} and shape {shape}"
    if not isinstance(out, np.ndarray):
        refuse_argument(f"Output buffer {name}", wanted, out, kind=ValueError)
    if out.dtype != dtype or out.shape != shape:
        raise ValueError(
            f"Output buffer {name} must be {wanted}, but has dtype {out.dtype} and shape {out.shape}."
        )
