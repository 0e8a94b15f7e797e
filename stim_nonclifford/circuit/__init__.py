"""The class ``Circuit``: ``circuit`` has its methods, which call the functions of the rooms.

``rewriting`` has what takes the place of instructions, the Clifford proxies among them, and ``interchange``
reads and writes OpenQASM, Qiskit and Cirq. ``diagrams`` has the drawings, and ``pictures`` the pages.
``logical_states`` measures states, ``plan_report`` says what a shot costs, and ``error_models`` has the error
models for decoders. ``rates`` has the logical error rates, ``error_rate_curves`` those of several circuits.
"""

from ..base.notebook import Diagram
from .circuit import Circuit
from .error_rate_curves import logical_error_rates

__all__ = ["Circuit", "Diagram", "logical_error_rates"]
