"""What is asked: a circuit with a decoder of kept shots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...decoding.desaturation.logical_graphs import LogicalGraph
from ..answers.decoding import Predict
from ..faults.mechanisms import Symptoms

__all__ = ["KeptQuestion"]


@dataclass(frozen=True)
class KeptQuestion:
    """A circuit whose kept shots are decoded.

    Attributes:
        symptoms: Its errors, and what quantum outcomes flip.
        predict: Its decoder, which says how sure it is. It is asked about kept shots only.
        decoder: The name of the decoder.
        postselected: bool, shape (num_detectors,): the detectors that discard a shot.
        weight: If the only observable is a logical Pauli of a state, the number by which its expectation
            value is multiplied, so that it is 1 without errors; None: observables are as they are.
        confidence: Whether a curve over the gap is asked for.
        graphs: Graphs in which logical errors of the decoder are paths; empty: none are known.
    """

    symptoms: Symptoms
    predict: Predict
    decoder: str
    postselected: npt.NDArray[np.bool_]
    weight: float | None
    confidence: bool
    graphs: tuple[LogicalGraph, ...] = ()
