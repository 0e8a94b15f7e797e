"""The faults of a circuit: their places, what they do, and which mechanisms of a plan they are.

``noise_events`` says what happens at the places of noise, compared with what usually happens there, and finds
the mechanisms of a plan. ``named`` names mechanisms by faults. ``table`` lists the faults of a circuit, and
computes the exact results of shots with given faults.
"""

from .named import NamedMechanisms
from .noise_events import NoiseEvents, located, noise_events, usual_effects
from .table import CircuitFault, FaultTable, OutcomeProbabilities, checked_faults, faults_of_shots

__all__ = [
    "CircuitFault",
    "FaultTable",
    "NamedMechanisms",
    "NoiseEvents",
    "OutcomeProbabilities",
    "checked_faults",
    "faults_of_shots",
    "located",
    "noise_events",
    "usual_effects",
]
