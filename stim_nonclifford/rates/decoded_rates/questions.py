"""Circuits with decoders whose rates are wanted, and the stopping criterion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...simulation.faults import FaultTable
from ..decoding.failure_test import Predict
from ..decoding.matching.pymatching_graph import PredictingMatching
from .faults.mechanisms import Symptoms

__all__ = ["AcceptedQuestion", "DecodedCircuit", "Goal"]


@dataclass(frozen=True)
class DecodedCircuit:
    """A circuit that is decoded.

    Attributes:
        symptoms: Its errors.
        predict: Its decoder.
        decoder: The name of the decoder.
        fault_table: Returns its faults.
        postselected: The detectors that discard a shot.
        confidence: Whether the decoder returns gaps, and rates are wanted as a curve over these.
        matching: A faster equivalent of ``predict``; None: there is none.
        finds_least_weight: Whether the decoder's correction is always one of least weight; see
            ``RateDecoder.finds_least_weight``.
        recipe: A function that makes ``predict`` in another process, and its arguments; None: there is none.
    """

    symptoms: Symptoms
    predict: Predict
    decoder: str
    fault_table: Callable[[], FaultTable]
    postselected: tuple[int, ...] = ()
    confidence: bool = False
    matching: PredictingMatching | None = None
    finds_least_weight: bool = False
    recipe: tuple[Callable[..., Predict], tuple[Any, ...]] | None = None


@dataclass(frozen=True)
class AcceptedQuestion:
    """A circuit whose accepted shots are decoded.

    Attributes:
        symptoms: Its errors, and what quantum outcomes flip.
        predict: Its decoder, for accepted shots only.
        decoder: The name of the decoder.
        postselected: bool, shape (num_detectors,): the detectors that discard a shot.
        weight: If the only observable is a logical Pauli of a state, the number by which its expectation
            value is multiplied, so that it is 1 without errors; None: observables are as they are.
        confidence: Whether a curve over the gap is wanted.
        matching: A faster equivalent of ``predict``; None: there is none.
    """

    symptoms: Symptoms
    predict: Predict
    decoder: str
    postselected: npt.NDArray[np.bool_]
    weight: float | None
    confidence: bool
    matching: PredictingMatching | None = None


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
