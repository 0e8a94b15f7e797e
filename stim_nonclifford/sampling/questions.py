"""What each method of a detector sampler asks: the outputs that it reports, and those that discard a shot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from .bits import checked_mask

__all__ = ["DetectorMethod", "outputs_of", "postselected_outputs"]

DetectorMethod = Literal["sample", "sample_kept", "sample_counts"]


def postselected_outputs(
    postselection_mask: Any, postselected_observables_mask: Any, num_detectors: int, num_observables: int
) -> list[int]:
    """The outputs that a sampler's masks select, by their indices: detectors, then observables.

    Args:
        postselection_mask: A mask over detectors, or None, as ``checked_mask`` takes it.
        postselected_observables_mask: The same over observables.
        num_detectors: Number of detectors of the circuit.
        num_observables: Number of observables.

    Raises:
        TypeError: A mask has the wrong dtype.
        ValueError: A mask has the wrong shape.

    Examples:
        >>> import numpy as np
        >>> postselected_outputs(np.array([True, False]), np.array([True]), 2, 1)
        [0, 2]
    """
    detectors = checked_mask(postselection_mask, num_detectors, "postselection_mask", "detectors")
    observables = checked_mask(
        postselected_observables_mask, num_observables, "postselected_observables_mask", "observables"
    )
    return [*detectors, *(num_detectors + k for k in observables)]


def outputs_of(
    method: DetectorMethod, num_detectors: int, num_observables: int, postselected: Sequence[int]
) -> tuple[range, Sequence[int]]:
    """The outputs that matter for a method, by their indices: detectors, then observables.

    Args:
        method: The method.
        num_detectors: Number of detectors of the circuit.
        num_observables: Number of observables.
        postselected: The outputs that the sampler's masks select.

    Returns:
        The outputs to report, and those that must be 0 in a kept shot.

    Examples:
        >>> outputs_of("sample", 2, 1, [0, 1])
        (range(0, 3), ())
        >>> outputs_of("sample_counts", 2, 1, [0, 1])
        (range(2, 3), [0, 1])
    """
    num_outputs = num_detectors + num_observables
    if method == "sample":
        return range(num_outputs), ()
    if method == "sample_kept":
        return range(num_outputs), postselected
    return range(num_detectors, num_outputs), postselected
