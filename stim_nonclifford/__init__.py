"""Exact, Stim-compatible sampling of fault-tolerant circuits with T gates.

The rooms, each of which imports from those before it only:

``base``       what all of them use: checks of arguments, errors and warnings
``dialect``    reads circuit text, bare or tagged, and returns a ``stim.Circuit`` with tags
``simulation`` from a circuit to shots: ``compiler``, ``plan``, ``engines``, ``sampling``
``rates``      logical error rates without waiting for errors, and decoders
``circuit``    the class ``Circuit``, which offers all of the above, and circuits of OpenQASM, Qiskit and Cirq
``generators`` circuits of cultivation, of distillation and of a T gate that is teleported into a surface
               code; they are imported separately
``commands``   the command line, ``stim-nonclifford`` or ``python -m stim_nonclifford``

``native``     has the sources of the compiled module ``_native`` and of the GPU's kernels.
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
