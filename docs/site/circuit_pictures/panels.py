"""Turns the moments of a circuit into the panels of a drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import stim

from stim_nonclifford.generators.cultivation.color_code import Coord
from stim_nonclifford.generators.cultivation.noise import is_feedback

from .svg import Box, Panel

# For each operation on one qubit, the kind of its box and the letter in it.
_BOXES = {
    "R": ("reset", "0"),
    "RX": ("reset", "+"),
    "M": ("measure", "Z"),
    "MX": ("measure", "X"),
    "S": ("rotate", "T"),
    "S_DAG": ("rotate", "T†"),
}


def moments_of(circuit: stim.Circuit) -> list[list[stim.CircuitInstruction]]:
    r"""Splits a circuit at its TICKs.

    Examples:
        >>> [len(moment) for moment in moments_of(stim.Circuit("R 0 1\nTICK\nH 0\nH[noisy] 1\nTICK"))]
        [1, 2, 0]
    """
    moments: list[list[stim.CircuitInstruction]] = [[]]
    for instruction in circuit.flattened():
        if instruction.name == "TICK":
            moments.append([])
        else:
            moments[-1].append(instruction)
    return moments


def sites_of(circuit: stim.Circuit) -> dict[int, Coord]:
    """The coordinates of all qubits, which must be two whole numbers each, by the qubits' numbers."""
    coordinates = circuit.get_final_qubit_coordinates()
    return {qubit: (int(x), int(y)) for qubit, (x, y) in coordinates.items()}


def panel_of(title: str, moment: Sequence[stim.CircuitInstruction], sites: Mapping[int, Coord]) -> Panel:
    """Draws resets, measurements, T gates and CX gates of a moment on these sites; others are left out."""
    boxes: list[Box] = []
    cx: list[tuple[Coord, Coord]] = []
    for instruction in moment:
        if instruction.name in _BOXES:
            kind, letter = _BOXES[instruction.name]
            qubits = [target.value for target in instruction.targets_copy()]
            boxes += [Box(kind, letter, sites[qubit]) for qubit in qubits if qubit in sites]
        elif instruction.name == "CX" and not is_feedback(instruction):
            cx += [
                (sites[control.value], sites[target.value]) for control, target in instruction.target_groups()
            ]
    return Panel(title, boxes, cx)
