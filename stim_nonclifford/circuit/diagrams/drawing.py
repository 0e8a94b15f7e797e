"""The diagrams of a circuit: its arguments, which picture is drawn, and what a notebook shows by itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import stim

from ...base.arguments import flag, integer_or_none
from ...base.notebook import Diagram, preformatted, scrolled
from ...base.stim_refusals import is_of_random_outputs, random_outputs
from ...base.written_circuits import instructions_in
from ...dialect import extended_text, without_noise
from ...simulation.compiler.program.extent import check_flattened
from ..rewriting.stand_ins import drawable_proxy
from .drawn_gates import with_errors_for_gates
from .folded import folded_timeline, is_long
from .svg import on_white, with_gates, with_regions_of
from .text import text_with_gates
from .types import check_drawable, diagram_type

_MOST_DRAWN = 600
_MOST_ROWS = 64
_MOST_LINES = 60
"""Limits of what a notebook shows by itself: targets and qubits of a picture, and lines of a text."""
_MOST_TICKS = (1 << 63) - 1
_WITH_GATES = ("timeline-svg", "timeslice-svg", "detslice-with-ops-svg")


def diagram_of(
    circuit: stim.Circuit,
    type: str,
    *,
    tick: int | range | None = None,
    rows: int | None = None,
    filter_coords: Iterable[Any] | None = None,
    noise: bool = True,
    fold: bool | None = None,
) -> Any:
    """A diagram of a tagged circuit; see ``Circuit.diagram``."""
    drawn_type, is_page = diagram_type(type), False
    if drawn_type.endswith("-svg-html"):
        drawn_type, is_page = drawn_type.removesuffix("-html"), True
    arguments: dict[str, Any] = {
        "tick": _checked_tick(tick),
        "rows": integer_or_none(rows, "rows", 0, _MOST_TICKS),
        "filter_coords": list(filter_coords) if isinstance(filter_coords, Iterable) else filter_coords,
    }
    if not flag(noise, "noise"):
        if drawn_type.startswith("matchgraph"):
            raise ValueError(f"A {type} is drawn from noise. Leave out noise=False.")
        circuit = without_noise(circuit)
    check_flattened(circuit)
    if fold is not None and flag(fold, "fold") and drawn_type != "timeline-svg":
        raise ValueError(f"A {type} cannot be folded. Leave out fold=True.")
    proxy = drawable_proxy(circuit)
    try:
        if drawn_type == "timeline-svg" and (is_long(circuit) if fold is None else fold):
            drawn = folded_timeline(circuit)
        else:
            drawn = _labelled_diagram(circuit, proxy, drawn_type, **arguments)
    except ValueError as error:
        if proxy == circuit or not is_of_random_outputs(error):
            raise
        raise ValueError(
            f"Stim draws a {type} from the error model of the S-proxy, the circuit with S in place of T,"
            f" and refuses: {random_outputs(error)}. Other types of diagrams exist for every circuit."
        ) from error
    if drawn_type.endswith("-svg"):
        picture = on_white(str(drawn))
        return Diagram(scrolled(picture) if is_page else picture)
    return drawn


def _labelled_diagram(circuit: stim.Circuit, s_proxy: stim.Circuit, type: str, **arguments: Any) -> Any:
    """A diagram of a tagged circuit; detector slices are those of its S-proxy."""
    check_drawable(circuit, type, arguments["tick"])
    if type == "timeline-text":
        drawn, gates = with_errors_for_gates(circuit)
        return Diagram(text_with_gates(str(drawn.diagram(type, **arguments)), gates))
    if type in _WITH_GATES:
        drawn, gates = with_errors_for_gates(circuit)
        picture = with_gates(str(drawn.diagram(type, **arguments)), gates)
        is_slice = type == "detslice-with-ops-svg"
        return with_regions_of(picture, str(s_proxy.diagram(type, **arguments))) if is_slice else picture
    if type.startswith("interactive"):
        return drawable_proxy(circuit, keeps_t_gates=True).diagram(type, **arguments)
    return s_proxy.diagram(type, **arguments)


def shown_in_notebook(circuit: stim.Circuit) -> str:
    """A picture as HTML, or text if the picture would be too large."""
    num_drawn = sum(max(1, len(part.targets_copy())) for part in instructions_in(circuit))
    if num_drawn <= _MOST_DRAWN and 0 < circuit.num_qubits <= _MOST_ROWS:
        return scrolled(str(diagram_of(circuit, "timeline-svg")))
    lines = extended_text(circuit).split("\n")
    if len(lines) > _MOST_LINES:
        lines[_MOST_LINES:] = [f"... {len(lines) - _MOST_LINES} more lines"]
    return preformatted("\n".join(lines))


def _checked_tick(tick: Any) -> int | range | None:
    """The argument ``tick`` of ``diagram``."""
    if not isinstance(tick, range):
        return integer_or_none(tick, "tick", 0, _MOST_TICKS)
    if not 0 <= tick.start < tick.stop <= _MOST_TICKS or tick.step != 1:
        raise ValueError(
            f"tick must be a number of a TICK or a range of such numbers, one after the other, such as"
            f" range(0, 2), but is {tick}. 0 is the beginning."
        )
    return tick
