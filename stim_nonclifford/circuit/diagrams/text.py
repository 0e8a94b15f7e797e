"""Text timelines: gates in place of the errors that Stim has drawn, with as much room as they need."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .drawn_gates import DrawnGate, Symbol

__all__ = ["text_with_gates"]

_ERROR = re.compile(r"(?:E\[X\]|X_ERROR)\((\d\.\d+e-09)\)")
_QUBIT = re.compile(r"q(\d+): ")
_EMPTY = "- "


def text_with_gates(text: str, gates: Mapping[str, DrawnGate]) -> str:
    """Replaces errors in a timeline by the gates for which they stand.

    Args:
        text: Stim's timeline of the circuit with errors.
        gates: The number of an error -> its gate.

    Returns:
        The timeline. All lines about qubits have equal lengths.

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
    for start in sorted(starts, reverse=True):
        lines = _with_labels_at(start, lines, gates)
    return "\n".join(line.rstrip() for line in _without_wide_gaps(lines))


def _with_labels_at(start: int, lines: list[str], gates: Mapping[str, DrawnGate]) -> list[str]:
    """Replaces the errors that start in one column."""
    labels: dict[int, tuple[str, int]] = {}  # line -> label, and the length of the error
    for k, line in enumerate(lines):
        found, qubit = _ERROR.match(line, start), _QUBIT.match(line)
        if found and qubit and found[1] in gates:
            gate = gates[found[1]]
            symbol = gate.symbols[gate.qubits.index(int(qubit[1]))]
            labels[k] = _label(gate, symbol), len(found[0])
    missing = max(len(label) - length for label, length in labels.values())
    if missing > 0:
        end = start + max(length for _, length in labels.values())
        gap = next(c for c in range(end, len(lines[0])) if all(_is_wire(line, c) for line in lines))
        lines = [_longer(line, gap, missing) for line in lines]
    for k, (label, length) in labels.items():
        rest = lines[k][start + length :]
        surplus = len(label) - length
        filled = label + "-" * -surplus if surplus < 0 else label
        lines[k] = lines[k][:start] + filled + rest[max(surplus, 0) :]
    return lines


def _longer(line: str, gap: int, count: int) -> str:
    """A line with so many more columns at a place where all qubits have wires."""
    if _QUBIT.match(line):
        return line[:gap] + "-" * count + line[gap:]
    # The borders of TICKs and blocks end with a corner above the last character of a label.
    place = gap - 1 if line[gap - 1] in "\\/" else gap
    return line[:place] + ("-" if line[place - 1] == "-" else " ") * count + line[place:]


def _is_wire(line: str, column: int) -> bool:
    """Whether a line has no label in a column; the minus of a number is part of a label."""
    is_minus = line[column - 1] == "e" and line[column + 1 : column + 2].isdigit()
    return not _QUBIT.match(line) or (line[column] == "-" and not is_minus)


def _without_wide_gaps(lines: list[str]) -> list[str]:
    """The lines without columns that are empty next to an empty column."""
    first = max(found.end() for line in lines if (found := _QUBIT.match(line)))
    columns = list(zip(*lines, strict=True))
    empty = [all(character in _EMPTY for character in column) for column in columns]
    kept = [k for k in range(len(columns)) if k <= first or not (empty[k] and empty[k - 1])]
    return ["".join(line[k] for k in kept) for line in lines]


def _label(gate: DrawnGate, symbol: Symbol) -> str:
    """The symbol in Stim's notation: ``@`` is a control, ``^rec[0]`` a condition."""
    condition = "".join(f"^{bit}" for bit in gate.conditions)
    if symbol.kind != "box":
        return {"control": "@", "not": "X"}[symbol.kind] + condition
    letter = f"[{symbol.letter}]" if symbol.letter else ""
    angles = f"({','.join(f'{angle:g}' for angle in gate.half_turns)})" if gate.half_turns else ""
    return f"{symbol.name}{letter}{angles}{condition}"
