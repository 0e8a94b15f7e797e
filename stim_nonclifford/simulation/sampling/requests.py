"""The outputs that the methods of a detector sampler request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ..compiler import RequestedOutputs

__all__ = ["DetectorMethod", "requested_by"]

DetectorMethod = Literal["sample", "sample_kept", "sample_counts"]


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
