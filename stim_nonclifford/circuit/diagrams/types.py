"""The types of diagrams that Stim draws, and what it can draw of a circuit without a crash."""

from __future__ import annotations

import stim

from ...base.arguments import choice, refuse_argument

_PICTURES = (
    "timeline-svg",
    "timeline-3d",
    "timeslice-svg",
    "detslice-svg",
    "detslice-with-ops-svg",
    "matchgraph-svg",
    "matchgraph-3d",
    "interactive",
)
DIAGRAM_TYPES = ("timeline-text", "detslice-text", *_PICTURES, *(f"{name}-html" for name in _PICTURES))
"""Stim's names of the types."""

_OTHER_NAMES = {"time-slice": "timeslice", "detector-slice": "detslice", "match-graph": "matchgraph"}
_SVG = ("timeline", "timeslice", "detslice", "detslice-with-ops")
_TIMELINES = ("timeline-text", "timeline-svg")
_SLICES_OF_OPERATIONS = ("timeslice-svg", "detslice-with-ops-svg")


def diagram_type(type: str) -> str:
    """The name of a type in ``DIAGRAM_TYPES``, also for the other names that Stim accepts.

    Examples:
        >>> diagram_type("time-slice"), diagram_type("timeline-html")
        ('timeslice-svg', 'timeline-svg-html')
    """
    name = type
    if isinstance(type, str):
        for other, usual in _OTHER_NAMES.items():
            name = name.replace(other, usual)
        stem, html = (name[:-5], "-html") if name.endswith("-html") else (name, "")
        name = f"{stem}-svg{html}" if stem in _SVG else name
    return name if isinstance(type, str) and name in DIAGRAM_TYPES else choice(type, "type", DIAGRAM_TYPES)


def check_drawable(circuit: stim.Circuit, type: str, tick: int | range | None) -> None:
    """Refuses what Stim crashes on: slices after the end, and outputs in a timeline without qubits."""
    name = type.removesuffix("-html")
    if name in _TIMELINES and circuit.num_qubits == 0 and (circuit.num_detectors or circuit.num_observables):
        raise ValueError(
            f"A {type} shows detectors and observables on qubits, and the circuit has none. Add a qubit, for"
            " example with the line `I 0`."
        )
    if name in _SLICES_OF_OPERATIONS and tick is not None:
        first = tick.start if isinstance(tick, range) else tick
        last = max(0, circuit.num_ticks - _ends_with_tick(circuit))
        if first > last:
            subject = "tick.start" if isinstance(tick, range) else "tick"
            refuse_argument(
                subject,
                f"from 0 to {last}, as the operations of the circuit end there",
                first,
                kind=ValueError,
            )


def _ends_with_tick(circuit: stim.Circuit) -> bool:
    """Whether nothing follows the last TICK."""
    if not len(circuit):
        return False
    last = circuit[-1]
    if isinstance(last, stim.CircuitRepeatBlock):
        return _ends_with_tick(last.body_copy())
    return last.name == "TICK"
