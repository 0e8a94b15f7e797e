"""The class that users hold.

``editing`` has Stim's editing surface, ``proxies`` the Clifford stand-ins and what Stim computes from them,
``diagrams`` the drawing, ``fault_set_methods`` logical error rates from fault sets, ``circuit`` the class
itself with its samplers.
"""

from .circuit import Circuit
from .diagrams import Diagram
from .fault_set_methods import logical_error_rates

__all__ = ["Circuit", "Diagram", "logical_error_rates"]
