"""Stim's diagrams, with every non-Clifford gate drawn as what it is.

Stim draws a tagged gate as its carrier. So it is given a circuit that has an error on the same qubits instead
(``drawn_gates``), which it connects with lines. The probability of this error is its number. In Stim's text
(``text``) or SVG (``svg``), the number is found again, and the gate is drawn in place of the error.
"""

from __future__ import annotations

from typing import Any

import stim

from ...base.notebook import Diagram, scrolled
from .crumble import shown_by_crumble
from .drawn_gates import with_errors_for_gates
from .svg import on_white, with_gates, with_regions_of
from .text import text_with_gates
from .types import check_drawable, diagram_type

__all__ = ["diagram_type", "labelled_diagram"]

_WITH_GATES = ("timeline-svg", "timeslice-svg", "detslice-with-ops-svg")
_HTML = "-html"


def labelled_diagram(
    circuit: stim.Circuit,
    s_proxy: stim.Circuit,
    type: str,
    *,
    tick: int | range | None = None,
    **arguments: Any,
) -> Any:
    r"""A diagram of a tagged circuit.

    Args:
        circuit: The circuit.
        s_proxy: Its S-proxy, of which detector slices are drawn.
        type: A type of ``stim.Circuit.diagram``, one of ``DIAGRAM_TYPES``.
        tick: An argument of ``stim.Circuit.diagram``.
        **arguments: Further arguments of ``stim.Circuit.diagram``.

    Returns:
        A ``Diagram`` if it is a text or an SVG, else Stim's diagram object.

    Raises:
        ValueError: Stim cannot draw it.

    Examples:
        >>> circuit, proxy = stim.Circuit("H 0\nS[T] 0\nS 0"), stim.Circuit("H 0\nS 0\nS 0")
        >>> print(labelled_diagram(circuit, proxy, "timeline-text"))
        q0: -H-T-S-
    """
    if type.endswith("-svg" + _HTML):
        svg = labelled_diagram(circuit, s_proxy, type.removesuffix(_HTML), tick=tick, **arguments)
        return Diagram(scrolled(svg))
    check_drawable(circuit, type, tick)
    arguments["tick"] = tick
    if type == "timeline-text":
        drawn = with_errors_for_gates(circuit)
        return Diagram(text_with_gates(str(drawn.circuit.diagram(type, **arguments)), drawn.gates))
    if type in _WITH_GATES:
        drawn = with_errors_for_gates(circuit)
        picture = with_gates(str(drawn.circuit.diagram(type, **arguments)), drawn.gates)
        if type == "detslice-with-ops-svg":
            picture = with_regions_of(picture, str(s_proxy.diagram(type, **arguments)))
        return Diagram(on_white(picture))
    if type.startswith("interactive"):
        return shown_by_crumble(circuit).diagram(type, **arguments)
    found = s_proxy.diagram(type, **arguments)
    return Diagram(on_white(str(found))) if type.endswith("-svg") else found
