"""Text timelines: gates in place of the errors that Stim has drawn, each column as wide as its labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .drawn_gates import DrawnGate, Symbol

_ERROR = re.compile(r"(?:E\[X\]|X_ERROR)\((\d\.\d+e-09)\)")
_QUBIT = re.compile(r" *q(\d+): ")


def text_with_gates(text: str, gates: Mapping[str, DrawnGate]) -> str:
    """Replaces errors in a timeline by the gates for which they stand.

    Stim draws a timeline in columns. All labels of a column start at its left edge, the longest one is as
    wide as the column, and between two columns there is one character of wire. So a column with other labels
    is made as wide as the longest of these, and nothing else changes.

    Examples:
        >>> from stim_nonclifford.circuit.diagrams.drawn_gates import Symbol
        >>> gate = DrawnGate((0,), (Symbol("box", "R_Z"),), (0.25,), ("theta",))
        >>> text_with_gates("q0: -H-E[X](1.00001e-09)-", {"1.00001e-09": gate})
        'q0: -H-R_Z(0.25)-'
    """
    if not gates:
        return text
    lines = text.split("\n")
    width = max(map(len, lines))
    lines = [line.ljust(width) for line in lines]
    starts = {found.start() for line in lines for found in _ERROR.finditer(line) if found[1] in gates}
    parts: list[list[str]] = []  # of each line, from right to left
    end = width
    for start in sorted(starts, reverse=True):
        column_end = start + max(len(_label_at(line, start)) for line in lines if _QUBIT.match(line))
        parts.append([line[column_end:end] for line in lines])
        parts.append(_with_labels([line[start:column_end] for line in lines], lines, gates))
        end = start
    parts.append([line[:end] for line in lines])
    return "\n".join("".join(of_line).rstrip() for of_line in zip(*reversed(parts), strict=True))


def _with_labels(cells: Sequence[str], lines: Sequence[str], gates: Mapping[str, DrawnGate]) -> list[str]:
    """A column of the timeline, one cell of each line, with the labels of gates."""
    labels: dict[int, str] = {}
    for k, (cell, line) in enumerate(zip(cells, lines, strict=True)):
        qubit = _QUBIT.match(line)
        if qubit:
            labels[k] = _label_at(cell, 0)
            found = _ERROR.fullmatch(labels[k])
            if found and found[1] in gates:
                gate = gates[found[1]]
                labels[k] = _label(gate, gate.symbols[gate.qubits.index(int(qubit[1]))])
    width = max(map(len, labels.values()))
    return [
        labels[k].ljust(width, "-") if k in labels else _resized(cell, width) for k, cell in enumerate(cells)
    ]


def _label_at(line: str, start: int) -> str:
    """The label at the left edge of a column: all before the wire, which is no minus in brackets."""
    depth = 0
    for k in range(start, len(line)):
        character = line[k]
        if character == "-" and depth == 0:
            return line[start:k]
        depth += (character in "([") - (character in ")]")
    return line[start:]


def _resized(cell: str, width: int) -> str:
    """A cell of a line between qubits: the edges of TICKs and blocks, and connections of qubits."""
    if cell[-1] in "\\/" and len(cell) > 1:  # a corner, which stays at the right edge
        return cell[:-1].ljust(width - 1, cell[-2])[: width - 1] + cell[-1]
    return cell.ljust(width, cell[-1])[:width]


def _label(gate: DrawnGate, symbol: Symbol) -> str:
    """The symbol in Stim's notation: ``@`` is a control, ``^rec[0]`` a condition."""
    condition = "".join(f"^{bit}" for bit in gate.conditions)
    if symbol.kind != "box":
        return {"control": "@", "not": "X"}[symbol.kind] + condition
    letter = f"[{symbol.letter}]" if symbol.letter else ""
    angles = f"({','.join(f'{angle:g}' for angle in gate.half_turns)})" if gate.half_turns else ""
    return f"{symbol.name}{letter}{angles}{condition}"
