"""How much memory there is."""

from __future__ import annotations

import gc
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .errors import ResourceLimitError

_LARGEST_ARRAY = 1 << 62
_MANY_DIGITS = 1 << 70
_RESERVE = 1 << 22  # bytes; Python takes memory for small objects in pieces of 2^20


def machine_bytes() -> int:
    """The memory of the machine in bytes; 2^62 where the operating system does not say.

    Examples:
        >>> 10**8 < machine_bytes() <= 2**62
        True
    """
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _LARGEST_ARRAY


def bytes_text(num_bytes: int) -> str:
    """A number of bytes as messages show it: with all digits, or about as a power of 2 if there are many.

    Examples:
        >>> bytes_text(16 << 24), bytes_text(16 << 150)
        ('268,435,456', '2^154')
    """
    return f"{num_bytes:,}" if num_bytes < _MANY_DIGITS else f"2^{math.log2(num_bytes):.4g}"


def can_be_allocated(num_bytes: int) -> bool:
    """Whether the process may have so many more bytes, as far as the operating system says in advance.

    Nothing is written to them. A limit of the process (``ulimit -v``) is noticed; other processes that fill
    the memory meanwhile are not.

    Examples:
        >>> can_be_allocated(1000), can_be_allocated(10**18)
        (True, False)
    """
    if num_bytes > machine_bytes():
        return False
    try:
        np.empty(num_bytes, dtype=np.uint8)
    except MemoryError:
        return False
    return True


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pauses Python's collector of cycles.

    While a circuit is compiled, many objects are made, and nearly all of them stay. The collector would look
    at all of them again and again, which takes as long as compiling.

    Examples:
        >>> with collector_paused():
        ...     gc.isenabled()
        False
        >>> gc.isenabled()
        True
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def memory_is_a_limit() -> Iterator[None]:
    """Turns the end of the memory while a circuit is copied or compiled into the exception for limits."""
    reserve = None
    try:
        reserve = np.empty(_RESERVE, dtype=np.uint8)  # a bytearray would be filled with zeros
        yield
    except (MemoryError, TypeError) as error:
        # Stim's bindings raise a TypeError if there is no memory for the Python objects that they return.
        if isinstance(error, TypeError) and not isinstance(error.__cause__, MemoryError):
            raise
        del reserve  # the failed calls still hold the rest of the memory, and the exception needs some
        raise ResourceLimitError(
            "There is not enough memory to compile the circuit. What compiling needs grows with the number of"
            " noise events and measurements times the number of detectors or records: lower the repeat"
            " counts, or sample the circuit in parts."
        ) from None


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
        stim_nonclifford.base.errors.ResourceLimitError: 2,305,843,009,213,693,952 shots of 3 bits need ...
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
