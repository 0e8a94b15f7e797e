"""Sinter's bit masks over detectors and over observables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["packed_mask", "unpacked_mask"]


def unpacked_mask(mask: NDArray[Any], num_bits: int, name: str) -> NDArray[np.bool_]:
    """Unpacks a mask in the form in which Sinter passes it to samplers.

    Args:
        mask: Bit-packed mask, shape ``(ceil(num_bits / 8),)``: bit k is ``(mask[k // 8] >> (k % 8)) & 1``.
        num_bits: Number of bits in the mask; further bits of the last byte are ignored.
        name: The name of the mask in error messages.

    Returns:
        The bits, shape ``(num_bits,)``.

    Raises:
        ValueError: The mask has another shape or dtype.

    Examples:
        >>> unpacked_mask(np.array([5], dtype=np.uint8), 4, "postselection_mask")
        array([ True, False,  True, False])
        >>> unpacked_mask(np.array([5], dtype=np.uint8), 9, "postselection_mask")
        Traceback (most recent call last):
        ...
        ValueError: postselection_mask has shape (1,) and dtype uint8; for 9 bits it must be bit-packed:
        shape (2,) and dtype uint8.
    """
    shape = ((num_bits + 7) // 8,)
    if not isinstance(mask, np.ndarray) or mask.shape != shape or mask.dtype != np.uint8:
        found = f"shape {np.shape(mask)} and dtype {getattr(mask, 'dtype', type(mask).__name__)}"
        raise ValueError(
            f"{name} has {found}; for {num_bits} bits it must be bit-packed: shape {shape} and dtype uint8."
        )
    return np.unpackbits(mask, count=num_bits, bitorder="little").astype(np.bool_)


def packed_mask(mask: NDArray[Any] | None, num_bits: int, name: str) -> NDArray[np.uint8] | None:
    """Converts a mask to the form that ``sinter.Task`` takes.

    Args:
        mask: Bit-packed mask of dtype uint8, returned unchanged; or bools, shape ``(num_bits,)``; or None.
        num_bits: Number of bits.
        name: The name of the mask in error messages.

    Returns:
        The bit-packed mask, or None for None.

    Raises:
        ValueError: The mask has another shape or dtype.

    Examples:
        >>> packed_mask(np.array([True, False, True]), 3, "postselection_mask")
        array([5], dtype=uint8)
    """
    if mask is None:
        return None
    if isinstance(mask, np.ndarray) and mask.dtype == np.bool_:
        if mask.shape != (num_bits,):
            raise ValueError(f"{name} has shape {mask.shape}; as bools it must have shape ({num_bits},).")
        return np.packbits(mask, bitorder="little")
    unpacked_mask(mask, num_bits, name)  # only for its checks
    return mask
