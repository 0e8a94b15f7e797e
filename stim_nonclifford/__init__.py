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
``decoded_rates``  does so for circuits that are decoded

``arguments`` checks the arguments of public functions.
``plan_report`` describes the cost of a plan, and the instructions of the circuit that cause it.
``notebook`` has what notebooks show of circuits, plans and estimates.
``cultivation`` generates circuits of magic state cultivation, ``distillation`` of distillation, and
``teleportation`` those of a T gate that is teleported into a surface code; they are imported separately.
``commands`` is the command line, ``stim-nonclifford`` or ``python -m stim_nonclifford``.
"""

try:
    import stim_nonclifford._native  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "stim_nonclifford._native":
        raise
    from .unbuilt import what_to_do

    raise ImportError(what_to_do(__path__[0]), name=error.name) from None

from .circuit import Circuit, logical_error_rates
from .compiler import CompiledCircuit
from .decoded_rates import DecodedErrorRate, DecodedLevel
from .engines import EngineName, EngineOptions
from .errors import (
    EngineUnavailableError,
    InexactErrorModelWarning,
    RandomObservableWarning,
    ResourceLimitError,
    SlowShotsWarning,
    UnusedDetectorsWarning,
)
from .fault_sets import (
    BudgetShare,
    ErrorBudget,
    FaultDistance,
    LogicalErrorRate,
    MalignantSet,
    NoisePlace,
    WeightShare,
)
from .faults import CircuitFault, OutcomeProbabilities
from .logical_states import LogicalState, LogicalStateCheck
from .notebook import Diagram
from .plan import SamplingPlan
from .plan_report import PlanMethod, PlannedOperation, PlanReport
from .sampling import (
    CompiledDetectorSampler,
    CompiledMeasurementSampler,
    FailureSamples,
    KeptBatch,
    KeptFailure,
    KeptSamples,
    OutputName,
    SampleCounts,
    ShotFormat,
)

__version__ = "0.1.0"

__all__ = [
    "BudgetShare",
    "Circuit",
    "CircuitFault",
    "CompiledCircuit",
    "CompiledDetectorSampler",
    "CompiledMeasurementSampler",
    "DecodedErrorRate",
    "DecodedLevel",
    "Diagram",
    "EngineName",
    "EngineOptions",
    "EngineUnavailableError",
    "ErrorBudget",
    "FailureSamples",
    "FaultDistance",
    "InexactErrorModelWarning",
    "KeptBatch",
    "KeptFailure",
    "KeptSamples",
    "LogicalErrorRate",
    "LogicalState",
    "LogicalStateCheck",
    "MalignantSet",
    "NoisePlace",
    "OutcomeProbabilities",
    "OutputName",
    "PlanMethod",
    "PlanReport",
    "PlannedOperation",
    "RandomObservableWarning",
    "ResourceLimitError",
    "SampleCounts",
    "SamplingPlan",
    "ShotFormat",
    "SlowShotsWarning",
    "UnusedDetectorsWarning",
    "WeightShare",
    "__version__",
    "logical_error_rates",
]
