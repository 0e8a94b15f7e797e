"""A circuit with a decoder whose rate is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...simulation.faults import FaultTable
from ..decoding.decoders import CompiledRateDecoder
from .faults.mechanisms import Symptoms


@dataclass(frozen=True)
class DecodingProblem:
    """A circuit whose accepted shots are decoded.

    Attributes:
        symptoms: Its errors, and what quantum outcomes flip.
        decoder: Its decoder, compiled; for accepted shots only.
        postselected: bool, shape (num_detectors,): the detectors that discard a shot.
        weight: If the only observable is a logical Pauli of a state, the number by which its expectation
            value is multiplied, so that it is 1 without errors; None: observables are as they are.
        confidence: Whether a curve over the gap is wanted.
        fault_table: Returns its faults; None: accepted fault sets are listed, and no failing ones stored.
    """

    symptoms: Symptoms
    decoder: CompiledRateDecoder
    postselected: npt.NDArray[np.bool_]
    weight: float | None
    confidence: bool
    fault_table: Callable[[], FaultTable] | None = None
