"""Sinter's bit masks over detectors and over observables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stim_nonclifford.base.masks import Mask, bools_of_mask

__all__ = ["packed_mask", "unpacked_mask"]


def unpacked_mask(mask: NDArray[Any], num_bits: int, name: str) -> NDArray[np.bool_]:
    """Unpacks a mask in the form in which Sinter passes it to samplers.

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


def packed_mask(mask: Mask | None, num_bits: int, name: str, what: str) -> NDArray[np.uint8] | None:
    """Converts a mask to the form that ``sinter.Task`` takes.

    Examples:
        >>> packed_mask([True, False, True], 3, "postselection_mask", "detectors")
        array([5], dtype=uint8)
        >>> packed_mask("all", 3, "postselection_mask", "detectors")
        array([7], dtype=uint8)
    """
    if mask is None:
        return None
    if isinstance(mask, np.ndarray) and mask.dtype == np.uint8:
        unpacked_mask(mask, num_bits, name)  # only for its checks
        return mask
    return np.packbits(bools_of_mask(mask, num_bits, name, what), bitorder="little")
