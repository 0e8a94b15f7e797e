"""The reference engine, in plain NumPy: the definition of what a plan samples.

It is slow and simple: one shot at a time. Tests compare every other engine with it, shot by shot. ``noise``
has what errors flip, ``coefficients`` the coefficient vector, and ``shots`` draws a shot from both.
"""

from .noise import acting_mechanisms
from .shots import (
    Branch,
    ReferenceEngine,
    Shot,
    averaged_coins,
    fate_of_row,
    likely_outputs,
    outcome_law,
    sample_shots,
)

__all__ = [
    "Branch",
    "ReferenceEngine",
    "Shot",
    "acting_mechanisms",
    "averaged_coins",
    "fate_of_row",
    "likely_outputs",
    "outcome_law",
    "sample_shots",
]
