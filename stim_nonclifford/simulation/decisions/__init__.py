"""Decoders in the loop: circuits whose gates depend on decoded records.

``points`` finds the decisions of a circuit and what each decoder is asked, ``engine`` draws shots, and asks.
``branches`` writes the circuit for each choice of blocks that records switch, and ``branch_engine`` draws
shots from these circuits.
"""

from .branch_engine import BranchEngine, DrawnShots
from .branches import Branch, branch_of, branches_of, is_switched
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
    "Branch",
    "BranchEngine",
    "DecidedCircuit",
    "DecidingDecoder",
    "DecisionEngine",
    "DecisionPasses",
    "DecisionPoint",
    "DecisionsFailedError",
    "DrawnShots",
    "GapDecoder",
    "Question",
    "Requested",
    "branch_of",
    "branches_of",
    "frame_circuit",
    "frames_of",
    "is_switched",
]
