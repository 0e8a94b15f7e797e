"""Exact, Stim-compatible sampling of fault-tolerant circuits with T gates.

The packages and modules, in the order in which data passes through them:

``dialect``   reads circuit text, bare or tagged, and returns a ``stim.Circuit`` with tags
``circuit``   the class ``Circuit``
``compiler``  turns a circuit into a plan
``plan``      a compiled circuit as plain arrays, which are all that engines read
``engines``   draw shots from a plan
``sampling``  returns the bits as Stim's arrays, as files and as counts
``faults``    finds the faults of the circuit behind the events of a shot
``fault_sets``  computes logical error rates without waiting for errors
``decoding``  has decoders by name, and their confidence
``decoded_rates``  computes logical error rates of circuits that are decoded

``base`` has what all of them use, such as the checks of arguments; ``errors`` has errors and warnings.
``logical_errors`` says which questions about logical errors have an answer, and ``logical_states`` what a
logical state is. ``plan_report`` describes the cost of a plan, and the instructions that cause it.
``cultivation`` generates circuits of magic state cultivation, ``distillation`` of distillation, and
``teleportation`` those of a T gate that is teleported into a surface code; they are imported separately.
``commands`` is the command line, ``stim-nonclifford`` or ``python -m stim_nonclifford``.
"""

try:
    import stim_nonclifford._native  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "stim_nonclifford._native":
        raise
    from .base.unbuilt import what_to_do

    raise ImportError(what_to_do(__path__[0]), name=error.name) from None

from .base.errors import (
    EngineUnavailableError,
    InexactErrorModelWarning,
    RandomObservableWarning,
    ResourceLimitError,
    SlowShotsWarning,
    UnusedDetectorsWarning,
)
from .circuit import Circuit, logical_error_rates
from .circuit.logical_states import LogicalStateCheck

__version__ = "0.1.0"

__all__ = [
    "Circuit",
    "EngineUnavailableError",
    "InexactErrorModelWarning",
    "LogicalStateCheck",
    "RandomObservableWarning",
    "ResourceLimitError",
    "SlowShotsWarning",
    "UnusedDetectorsWarning",
    "__version__",
    "logical_error_rates",
]
