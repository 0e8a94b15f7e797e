"""Masks: the detectors and observables that a user chooses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Mask: TypeAlias = npt.NDArray[Any] | Sequence[bool] | Literal["all"]
"""A choice of detectors or observables by a user; ``checked_mask`` says in which forms."""


def postselected_outputs(
    postselection_mask: Mask | None,  # a mask over detectors in a form that ``checked_mask`` accepts, or None
    postselected_observables_mask: Mask | None,  # a mask over observables, in the same forms
    num_detectors: int,  # number of detectors of the circuit
    num_observables: int,
) -> list[int]:
    """The outputs that a sampler's masks select, by their indices: detectors, then observables.

    Examples:
        >>> postselected_outputs("all", [True], 2, 1)
        [0, 1, 2]
    """
    detectors = checked_mask(postselection_mask, num_detectors, "postselection_mask", "detectors")
    observables = checked_mask(
        postselected_observables_mask, num_observables, "postselected_observables_mask", "observables"
    )
    return [*detectors, *(num_detectors + k for k in observables)]


def checked_mask(mask: Mask | None, num_bits: int, name: str, what: str) -> list[int]:
    """The positions that a mask selects.

    Args:
        mask: ``"all"``; bools, as a list, a tuple, or an array of length num_bits; or a uint8 array of
            ceil(num_bits / 8) bytes, least significant bit first, as Sinter's masks. None selects nothing.
        num_bits: Number of detectors or observables.
        name: Name of the argument, for messages.
        what: The kind of the bits, for messages: ``"detectors"`` or ``"observables"``.

    Returns:
        The positions, ascending.

    Raises:
        TypeError: The mask is none of these, or has another dtype.
        ValueError: The shape is wrong, the word is not ``"all"``, or bits beyond the last position are set.

    Examples:
        >>> checked_mask(np.array([0b101], dtype=np.uint8), 3, "mask", "detectors")
        [0, 2]
        >>> checked_mask([False, True, False], 3, "mask", "detectors")
        [1]
        >>> checked_mask("all", 3, "mask", "detectors")
        [0, 1, 2]
    """
    if mask is None:
        return []
    num_bytes = -(-num_bits // 8)
    expected = (
        f'{name} must be "all", None (selects nothing), a list of {num_bits} bools, or a NumPy array: of'
        f" dtype bool and shape ({num_bits},), or bit-packed little-endian of dtype uint8 and shape"
        f" ({num_bytes},), for {num_bits} {what}"
    )
    if isinstance(mask, str):
        if mask != "all":
            raise ValueError(f"{expected}; got {mask!r}.")
        return list(range(num_bits))
    if isinstance(mask, (list, tuple)):
        wrong = next((each for each in mask if not isinstance(each, (bool, np.bool_))), None)
        if wrong is not None:
            numbers = f" Of numbers, [k in numbers for k in range({num_bits})] makes a mask."
            hint = numbers if isinstance(wrong, (int, np.integer)) else ""
            raise TypeError(f"{expected}; got a {type(mask).__name__} with {wrong!r} in it.{hint}")
        if len(mask) != num_bits:
            raise ValueError(f"{expected}; got a {type(mask).__name__} of {len(mask)} bools.")
        return [k for k, bit in enumerate(mask) if bit]
    array = np.asarray(mask)
    if array.dtype == np.bool_:
        if array.shape != (num_bits,):
            raise ValueError(f"{expected}; got dtype bool and shape {array.shape}.")
        return [int(k) for k in np.flatnonzero(array)]
    if array.dtype != np.uint8:
        raise TypeError(f"{expected}; got dtype {array.dtype}.")
    if array.shape != (num_bytes,):
        raise ValueError(f"{expected}; got dtype uint8 and shape {array.shape}.")
    chosen = [int(k) for k in np.flatnonzero(np.unpackbits(array, bitorder="little"))]
    if chosen and chosen[-1] >= num_bits:
        raise ValueError(f"{name} selects bit {chosen[-1]}, but there are only {num_bits} {what}.")
    return chosen


def bools_of_mask(mask: Mask | None, num_bits: int, name: str, what: str) -> npt.NDArray[np.bool_]:
    """A mask as bools, a copy; arguments and errors are those of ``checked_mask``.

    Returns:
        bool, shape (num_bits,).

    Examples:
        >>> bools_of_mask("all", 2, "mask", "detectors")
        array([ True,  True])
    """
    found = np.zeros(num_bits, dtype=np.bool_)
    found[checked_mask(mask, num_bits, name, what)] = True
    return found
