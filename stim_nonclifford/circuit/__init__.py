"""The class ``Circuit``.

``editing`` has Stim's methods to build and change circuits; ``rewriting`` has what takes the place of
instructions. ``interchange`` reads and writes OpenQASM, Qiskit and Cirq. ``proxies`` has the Clifford
proxies and what Stim computes from them, ``diagrams`` the drawings, and ``pictures`` the pages.
``error_models`` has the error models for decoders. ``fault_set_methods`` has the logical error rates from
fault sets, ``error_rate_curves`` those of families of circuits. ``circuit`` has the class itself, with its
samplers.
"""

from ..base.notebook import Diagram
from .circuit import Circuit
from .error_rate_curves import logical_error_rates

__all__ = ["Circuit", "Diagram", "logical_error_rates"]
