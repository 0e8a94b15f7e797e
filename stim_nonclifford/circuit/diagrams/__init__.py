"""Stim's diagrams, with every non-Clifford gate drawn as what it is.

Stim draws a tagged gate as its carrier. So it is given a circuit that has an error on the same qubits instead
(``drawn_gates``), which it connects with lines. The probability of this error is its number. In Stim's text
(``text``) or SVG (``svg``), the number is found again, and the gate is drawn in place of the error.
"""

from .crumble import crumble_url
from .drawing import diagram_of, shown_in_notebook

__all__ = ["crumble_url", "diagram_of", "shown_in_notebook"]
