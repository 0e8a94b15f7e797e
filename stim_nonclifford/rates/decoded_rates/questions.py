"""Circuits with decoders whose rates are wanted, and the stopping criterion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...simulation.faults import FaultTable
from ..decoding.decoders import CompiledRateDecoder
from .faults.mechanisms import Symptoms

__all__ = ["AcceptedQuestion", "DecodedCircuit", "Goal"]


@dataclass(frozen=True)
class DecodedCircuit:
    """A circuit that is decoded.

    Attributes:
        symptoms: Its errors.
        decoder: Its decoder, compiled.
        fault_table: Returns its faults.
        postselected: The detectors that discard a shot.
        confidence: Whether the decoder returns gaps, and rates are wanted as a curve over these.
    """

    symptoms: Symptoms
    decoder: CompiledRateDecoder
    fault_table: Callable[[], FaultTable]
    postselected: tuple[int, ...] = ()
    confidence: bool = False


@dataclass(frozen=True)
class AcceptedQuestion:
    """A circuit whose accepted shots are decoded.

    Attributes:
        symptoms: Its errors, and what quantum outcomes flip.
        decoder: Its decoder, compiled, for accepted shots only.
        postselected: bool, shape (num_detectors,): the detectors that discard a shot.
        weight: If the only observable is a logical Pauli of a state, the number by which its expectation
            value is multiplied, so that it is 1 without errors; None: observables are as they are.
        confidence: Whether a curve over the gap is wanted.
    """

    symptoms: Symptoms
    decoder: CompiledRateDecoder
    postselected: npt.NDArray[np.bool_]
    weight: float | None
    confidence: bool


@dataclass(frozen=True)
class Goal:
    """When to stop.

    Attributes:
        relative_error: Standard error over rate, for each circuit.
        max_seconds: For all circuits together; with masks or gaps, for each family; None: no limit.
        begun: When the call began, by ``time.monotonic``; None: when the search begins.
    """

    relative_error: float
    max_seconds: float | None
    begun: float | None = None
