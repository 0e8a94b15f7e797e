"""Stim's diagrams, with non-Clifford gates under their own names.

Stim draws a tagged gate as its carrier. So each kind of non-Clifford gate is first replaced by a Clifford
gate that the circuit does not use. In the text or SVG that Stim returns, the label of that gate is then
replaced by the label of the non-Clifford gate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import stim

from ..dialect import NonCliffordGate, gate_from_tag

__all__ = ["Diagram", "labelled_diagram"]

# One-qubit Clifford gates that few circuits use, with names long enough for most labels.
_PLACEHOLDERS = ("C_NXYZ", "C_XNYZ", "C_XYNZ", "C_NZYX", "C_ZNYX", "C_ZYNX", "H_NXY", "H_NXZ", "H_NYZ")
_TEXT_TYPES = ("timeline-text",)
_SVG_TYPES = ("timeline-svg", "timeslice-svg")


class Diagram(str):
    """The text of a diagram. A notebook shows an SVG diagram as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str | None:
        return str(self) if self.lstrip().startswith("<svg") else None

    def __repr__(self) -> str:
        return str(self)


def labelled_diagram(circuit: stim.Circuit, type: str, **arguments: Any) -> Diagram | Any:
    r"""A diagram of a tagged circuit.

    Args:
        circuit: The circuit.
        type: A type of ``stim.Circuit.diagram``. Timelines, and time slices as SVG, show non-Clifford gates
            under their own names; other types are Stim's diagrams of the S-proxy.
        **arguments: Further arguments of ``stim.Circuit.diagram``.

    Returns:
        A ``Diagram``, or Stim's diagram object.

    Examples:
        >>> print(labelled_diagram(stim.Circuit("H 0\nS[T] 0\nS 0"), "timeline-text"))
        q0: -H-T------S-
    """
    if type not in _TEXT_TYPES + _SVG_TYPES:
        return circuit.diagram(type, **arguments)
    used = {instruction.name for instruction in _instructions(circuit)}
    free = [name for name in _PLACEHOLDERS if name not in used]
    labels: dict[str, str] = {}  # label -> placeholder
    drawn = _with_placeholders(circuit, free, labels)
    text = str(drawn.diagram(type, **arguments))
    for label, placeholder in labels.items():
        if type in _TEXT_TYPES:
            text = text.replace(placeholder, label[: len(placeholder)].ljust(len(placeholder), "-"))
        else:
            head, _, index = placeholder.partition("_")
            pattern = rf'{head}<tspan baseline-shift="sub" font-size="\d+">{index}</tspan>'
            text = re.sub(pattern, label.replace("_DAG", "†"), text)
    if _all_products_are_t(circuit):
        text = text.replace("SPP", "TPP")
    return Diagram(text)


def _instructions(circuit: stim.Circuit) -> Iterator[stim.CircuitInstruction]:
    """Yields all instructions, those in REPEAT blocks once."""
    for instruction in circuit:
        if isinstance(instruction, stim.CircuitRepeatBlock):
            yield from _instructions(instruction.body_copy())
        else:
            yield instruction


def _label(gate: NonCliffordGate) -> str:
    if len(gate.half_turns) != 1:
        return gate.name
    return f"{gate.name}({gate.half_turns[0]:g})"


def _with_placeholders(circuit: stim.Circuit, free: list[str], labels: dict[str, str]) -> stim.Circuit:
    result = stim.Circuit()
    for instruction in circuit:
        if isinstance(instruction, stim.CircuitRepeatBlock):
            body = _with_placeholders(instruction.body_copy(), free, labels)
            result.append(stim.CircuitRepeatBlock(instruction.repeat_count, body))
            continue
        gate = gate_from_tag(instruction)
        if gate is None or instruction.name.startswith("SPP"):
            result.append(instruction)
            continue
        label = _label(gate)
        if label not in labels and free:
            labels[label] = free.pop(0)
        targets = instruction.targets_copy()
        if label in labels:  # on its qubits alone, where a record controls it
            targets = [target for target in targets if target.qubit_value is not None]
        result.append(labels.get(label, instruction.name), targets)
    return result


def _all_products_are_t(circuit: stim.Circuit) -> bool:
    products = [i for i in _instructions(circuit) if i.name.startswith("SPP")]
    gates = [gate_from_tag(instruction) for instruction in products]
    return bool(gates) and all(gate is not None and not gate.half_turns for gate in gates)
