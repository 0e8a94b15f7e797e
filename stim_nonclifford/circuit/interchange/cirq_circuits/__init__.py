"""Circuits of Cirq.

``gates``       Cirq's gates, and what they are called here
``unitaries``   unitary operations of Cirq as steps
``channels``    channels of Cirq as circuit text, and back
``conditions``  classical controls
``reader``      reads circuits
``writer``      writes them

These modules are imported when they are used, as Cirq is an extra. Annotations, such as detectors, are those
of ``stimcirq``, Stim's own converter.
"""

from .reader import read_cirq
from .writer import cirq_of

__all__ = ["cirq_of", "read_cirq"]
