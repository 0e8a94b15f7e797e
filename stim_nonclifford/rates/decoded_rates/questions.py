"""What is asked: circuits with decoders, and how well their rates are to be known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...simulation.faults import FaultTable
from ..decoding.failure_test import Predict
from ..decoding.matching.pymatching_graph import PredictingMatching
from .faults.mechanisms import Symptoms

__all__ = ["DecodedCircuit", "Goal"]


@dataclass(frozen=True)
class DecodedCircuit:
    """A circuit that is decoded.

    Attributes:
        symptoms: Its errors.
        predict: Its decoder.
        decoder: The name of the decoder.
        fault_table: Returns its faults.
        postselected: The detectors that discard a shot.
        confidence: Whether the decoder says how sure it is, and rates are asked for as a curve over that.
        matching: What answers like ``predict``, but faster.
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
