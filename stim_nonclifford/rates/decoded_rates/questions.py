"""A circuit with a decoder whose rate is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...base.arrays import Bools
from ...simulation.faults import FaultTable
from ..decoding.classifying import Predict
from .faults.mechanisms import Symptoms


@dataclass(frozen=True)
class DecodingProblem:
    """A circuit whose accepted shots are decoded."""

    symptoms: Symptoms  # its errors, and what quantum outcomes flip
    decoder: str  # the name of its decoder, for messages and results
    predict: Predict  # the decoder, compiled and checked; for accepted shots only
    postselected: Bools  # shape (num_detectors,): the detectors that discard a shot
    # if the only observable is a logical Pauli of a state, the number by which its expectation value is
    # multiplied, so that it is 1 without errors; None: observables are as they are
    weight: float | None
    confidence: bool  # whether a curve over the gap is wanted
    # returns its faults; None: accepted fault sets are listed, and no failing ones stored
    fault_table: Callable[[], FaultTable] | None = None
    finds_least_weight: bool = False  # of the decoder; see ``RateDecoder``
    # where records switch blocks, each choice of blocks is a circuit, and these are all but the first: a shot
    # may be wrong, and if any detector is postselected be accepted, in the one alone that its records choose
    further: tuple[Symptoms, ...] = ()
