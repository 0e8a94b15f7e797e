"""Circuits of Qiskit.

``gates``       gates of Qiskit as steps with exact phases
``conditions``  conditions and expressions of classical bits
``reader``      reads circuits

These modules are imported when they are used, as Qiskit is an extra.
"""

from .reader import read_qiskit

__all__ = ["read_qiskit"]
