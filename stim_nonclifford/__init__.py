"""Exact, Stim-compatible sampling of fault-tolerant circuits with T gates.

One shot's way through the package:

``dialect``   circuit text, bare or tagged, to a ``stim.Circuit`` with tags
``circuit``   the class that users hold
``compiler``  circuit to plan
``plan``      the circuit as plain arrays: the only thing that engines know
``engines``   plan to bits
``sampling``  bits to Stim's arrays, files and counts
"""

from .circuit import Circuit
from .errors import ResourceLimitError
from .sampling import (
    CompiledDetectorSampler,
    CompiledMeasurementSampler,
    KeptSamples,
    SampleCounts,
)

__version__ = "0.1.0"

__all__ = [
    "Circuit",
    "CompiledDetectorSampler",
    "CompiledMeasurementSampler",
    "KeptSamples",
    "ResourceLimitError",
    "SampleCounts",
    "__version__",
]
