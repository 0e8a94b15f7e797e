"""What is asked: a circuit with a decoder, of which shots may be discarded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...decoding.failure_test import Predict
from ...decoding.matching.pymatching_graph import PredictingMatching
from ..faults.mechanisms import Symptoms

__all__ = ["AcceptedQuestion"]


@dataclass(frozen=True)
class AcceptedQuestion:
    """A circuit whose accepted shots are decoded.

    Attributes:
        symptoms: Its errors, and what quantum outcomes flip.
        predict: Its decoder. It is asked about accepted shots only.
        decoder: The name of the decoder.
        postselected: bool, shape (num_detectors,): the detectors that discard a shot.
        weight: If the only observable is a logical Pauli of a state, the number by which its expectation
            value is multiplied, so that it is 1 without errors; None: observables are as they are.
        confidence: Whether a curve over the gap is asked for.
        matching: What answers like ``predict``, but faster; None: nothing does.
    """

    symptoms: Symptoms
    predict: Predict
    decoder: str
    postselected: npt.NDArray[np.bool_]
    weight: float | None
    confidence: bool
    matching: PredictingMatching | None = None
