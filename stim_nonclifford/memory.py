"""How much memory there is."""

from __future__ import annotations

import os

import numpy as np

__all__ = ["can_be_allocated", "machine_bytes"]

_LARGEST_ARRAY = 1 << 62


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
