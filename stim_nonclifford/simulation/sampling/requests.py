"""The outputs that the methods of a detector sampler request, and engines for circuits with decisions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol

from ..compiler import RequestedOutputs
from ..engines import SamplingEngine
from .expectation_values import ShotsWithValues

DetectorMethod = Literal["sample", "sample_kept", "sample_counts"]


class DecidingEngines(Protocol):
    """An object that makes engines in which a decoder decides."""

    def detector_engine(self, requested: RequestedOutputs, flipped: int) -> SamplingEngine:
        """The engine for detectors and observables.

        Args:
            requested: The outputs that are asked for, neighbours, and those that must be 0.
            flipped: The outputs that are reported inverted, and are postselected so, as a mask.
        """
        ...

    def record_engine(self, flipped: int) -> SamplingEngine:
        """The engine for records, some of which are reported inverted: a mask."""
        ...

    def detector_expectations(self, requested: RequestedOutputs, flipped: int) -> ShotsWithValues:
        """The engine for detectors, observables and expectation values; see ``detector_engine``."""
        ...

    def record_expectations(self, flipped: int) -> ShotsWithValues:
        """The engine for records and expectation values; see ``record_engine``."""
        ...


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
