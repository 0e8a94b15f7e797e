"""Decoders in the loop: circuits whose gates depend on decoded records.

``points`` finds the decisions of a circuit and what each decoder is asked, ``engine`` draws shots, and asks.
"""

from .engine import (
    DecidingDecoder,
    DecisionEngine,
    DecisionPasses,
    DecisionsFailedError,
    GapDecoder,
    Requested,
)
from .frame_circuits import frame_circuit, frames_of
from .points import DecidedCircuit, DecisionPoint
from .questions import Question

__all__ = [
    "DecidedCircuit",
    "DecidingDecoder",
    "DecisionEngine",
    "DecisionPasses",
    "DecisionPoint",
    "DecisionsFailedError",
    "GapDecoder",
    "Question",
    "Requested",
    "frame_circuit",
    "frames_of",
]
