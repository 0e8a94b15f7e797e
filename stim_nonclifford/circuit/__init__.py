"""The class that users hold.

``editing`` has Stim's editing surface, ``proxies`` the Clifford stand-ins and what Stim computes from them,
``diagrams`` the drawing, ``circuit`` the class itself with its samplers.
"""

from .circuit import Circuit
from .diagrams import Diagram

__all__ = ["Circuit", "Diagram"]
