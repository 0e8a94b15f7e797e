"""The class ``Circuit``.

``editing`` has Stim's methods to build and change circuits. ``proxies`` has the Clifford proxies and what
Stim computes from them, and ``diagrams`` the drawings. ``circuit`` has the class itself, with its samplers.
"""

from .circuit import Circuit
from .diagrams import Diagram

__all__ = ["Circuit", "Diagram"]
