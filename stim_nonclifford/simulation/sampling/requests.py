"""The outputs that the methods of a detector sampler request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ..compiler import RequestedOutputs

__all__ = ["NOT_FOR_DECISIONS", "DetectorMethod", "requested_by"]

DetectorMethod = Literal["sample", "sample_kept", "sample_counts"]


NOT_FOR_DECISIONS = (
    "does not support circuits with DECODE. Measure what you ask for, and take sample, sample_kept or"
    " sample_counts."
)
"""What messages say where a method asks no decoder, after the name of the method."""


def requested_by(
    method: DetectorMethod, num_detectors: int, num_observables: int, postselected: Iterable[int]
) -> RequestedOutputs:
    """The outputs that a method of a detector sampler requests."""
    num_outputs = num_detectors + num_observables
    if method == "sample":
        return RequestedOutputs.of(range(num_outputs))
    if method == "sample_kept":
        return RequestedOutputs.of(range(num_outputs), postselected)
    return RequestedOutputs.of(range(num_detectors, num_outputs), postselected)
