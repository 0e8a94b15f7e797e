"""Exact, Stim-compatible sampling of fault-tolerant circuits with T gates.

One shot's way through the package:

``dialect``   circuit text, bare or tagged, to a ``stim.Circuit`` with tags
``circuit``   the class that users hold
``compiler``  circuit to plan
``plan``      the circuit as plain arrays: the only thing that engines know
``engines``   plan to bits
``sampling``  bits to Stim's arrays, files and counts
``faults``    back from bits to places in the circuit
``fault_sets`` logical error rates without waiting for errors

``plan_report`` says what a plan costs, and which places in the circuit cause it. ``cultivation``, which users
import by itself, generates circuits of magic state cultivation.
"""

try:
    import stim_nonclifford._native  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "stim_nonclifford._native":
        raise
    raise ImportError(
        f"stim_nonclifford in {__path__[0]} is not built: it has no compiled module for this Python."
        " Run 'pip install -e .' in its repository, or 'make demo' and then .venv/bin/python. If the package"
        " is already installed, this folder hides it: start Python in another one.",
        name=error.name,
    ) from None

from .circuit import Circuit, Diagram, logical_error_rates
from .compiler import CompiledCircuit
from .engines import EngineName, EngineOptions
from .errors import EngineUnavailableError, ResourceLimitError
from .fault_sets import FaultDistance, LogicalErrorRate, MalignantSet, WeightShare
from .faults import CircuitFault, OutcomeProbabilities
from .plan import Plan
from .plan_report import PlanMethod, PlannedOperation, PlanReport
from .sampling import (
    CompiledDetectorSampler,
    CompiledMeasurementSampler,
    FailureSamples,
    KeptFailure,
    KeptSamples,
    OutputName,
    SampleCounts,
    ShotFormat,
)

__version__ = "0.1.0"

__all__ = [
    "Circuit",
    "CircuitFault",
    "CompiledCircuit",
    "CompiledDetectorSampler",
    "CompiledMeasurementSampler",
    "Diagram",
    "EngineName",
    "EngineOptions",
    "EngineUnavailableError",
    "FailureSamples",
    "FaultDistance",
    "KeptFailure",
    "KeptSamples",
    "LogicalErrorRate",
    "MalignantSet",
    "OutcomeProbabilities",
    "OutputName",
    "Plan",
    "PlanMethod",
    "PlanReport",
    "PlannedOperation",
    "ResourceLimitError",
    "SampleCounts",
    "ShotFormat",
    "WeightShare",
    "__version__",
    "logical_error_rates",
]
