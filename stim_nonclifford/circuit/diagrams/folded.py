"""Timelines of long circuits: ticks wrapped into rows, noise as marks, detectors by their numbers.

In a tick, gates take the first column in which nothing else lies between their qubits. Noise takes no column:
it is a mark behind the gate that it follows, or a dot on a qubit that waits, with its text as a tooltip.
Qubits on which nothing acts in a row are left out there, and named below it.
"""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import stim

from ...simulation.compiler.program.loops import unrolled
from .moments import CONTROL, CROSS, NOT, Glyph, glyphs_of

_LONG = 4000
"""Width of Stim's ribbon, about, from which on timelines are folded: twice a wide screen."""

_MANY = 8
"""Rows consist of whole ticks: with fewer, little can be wrapped."""

_WIDTH = 1500
_COLUMN, _WIRE = 32, 24
_LEFT, _GAP, _TOP, _BOTTOM, _BETWEEN = 44, 14, 26, 34, 14
_HALF = 10


@dataclass
class _Tick:
    """A tick as it is drawn."""

    number: int  # number of TICKs before it
    # Columns and gates, with the numbers of their records.
    gates: list[tuple[int, Glyph, str]] = field(default_factory=list)
    # For each column and qubit, the noise behind it; column -1 is the beginning.
    marks: dict[tuple[int, int], list[str]] = field(default_factory=lambda: defaultdict(list))
    outputs: list[str] = field(default_factory=list)  # names of detectors and observables
    columns: int = 0

    @property
    def width(self) -> int:
        """In pixels."""
        return _COLUMN * max(1, self.columns) + _GAP


def is_long(circuit: stim.Circuit) -> bool:
    """Whether Stim's ribbon of a circuit without loops would be too long to be read."""
    if any(isinstance(part, stim.CircuitRepeatBlock) for part in circuit) or circuit.num_ticks < _MANY:
        return False
    used: dict[int, int] = defaultdict(int)
    columns = 0
    for part in circuit:
        if part.name == "TICK":
            columns += max(used.values(), default=0) + 1
            used.clear()
        elif part.name not in ("QUBIT_COORDS", "SHIFT_COORDS"):
            for target in part.targets_copy():
                if target.is_qubit_target:
                    used[target.value] += 1
    return 64 * (columns + max(used.values(), default=0)) > _LONG


def folded_timeline(circuit: stim.Circuit) -> str:
    """An SVG of the circuit, with loops unrolled."""
    ticks = list(_ticks(circuit))
    used = _with_gates(ticks) | {qubit for tick in ticks for _, qubit in tick.marks}
    rows: list[list[_Tick]] = [[]]
    for tick in ticks:
        if rows[-1] and _LEFT + sum(each.width for each in rows[-1]) + tick.width > _WIDTH:
            rows.append([])
        rows[-1].append(tick)
    width = max(_LEFT + sum(tick.width for tick in row) for row in rows) + 10
    lines: list[str] = []
    top = 0
    for row in rows:
        shown = sorted(_with_gates(row))
        lines += _row(row, {qubit: k for k, qubit in enumerate(shown)}, top)
        top += _TOP + _WIRE * len(shown) + _BOTTOM
        waiting = sorted(used.difference(shown))
        if waiting:
            lines.append(_text(f"waiting: {_ranges(waiting)}", _LEFT, top - 6, 9, anchor="start"))
        top += _BETWEEN
    head = f'<svg viewBox="0 0 {width} {top}" xmlns="http://www.w3.org/2000/svg" font-family="monospace">'
    return "\n".join([head, *lines, "</svg>"])


def _with_gates(ticks: Sequence[_Tick]) -> set[int]:
    return {qubit for tick in ticks for _, gate, _ in tick.gates for qubit in gate.qubits}


def _ranges(qubits: Sequence[int]) -> str:
    """Qubits as ``q1-q3, q5``."""
    found: list[list[int]] = []
    for qubit in qubits:
        if found and found[-1][-1] == qubit - 1:
            found[-1].append(qubit)
        else:
            found.append([qubit])
    return ", ".join(f"q{own[0]}" if len(own) == 1 else f"q{own[0]}-q{own[-1]}" for own in found)


def _ticks(circuit: stim.Circuit) -> Iterator[_Tick]:
    tick = _Tick(0)
    # Of each qubit the last column that it has used, and of each column the spans that are taken.
    last: dict[int, int] = {}
    taken: list[list[tuple[int, int]]] = []
    num_records = num_detectors = 0
    for part in unrolled(circuit):
        if part.name == "TICK":
            yield tick
            tick, last, taken = _Tick(tick.number + 1), {}, []
        elif part.name == "DETECTOR":
            tick.outputs.append(f"D{num_detectors}")
            num_detectors += 1
        elif part.name == "OBSERVABLE_INCLUDE":
            tick.outputs.append(f"L{int(part.gate_args_copy()[0])}")
        record = num_records
        for glyph in glyphs_of(part, num_records):
            low, high = min(glyph.qubits), max(glyph.qubits)
            column = max((last.get(qubit, -1) for qubit in glyph.qubits), default=-1) + 1
            while column < len(taken) and any(a <= high and low <= b for a, b in taken[column]):
                column += 1
            while column >= len(taken):
                taken.append([])
            taken[column].append((low, high))
            last.update(dict.fromkeys(glyph.qubits, column))
            measures = stim.gate_data(part.name).produces_measurements
            tick.gates.append((column, glyph, f"{record}" if measures else ""))
            record += measures
            tick.columns = max(tick.columns, column + 1)
        for qubit, text in _noise(part):
            tick.marks[last.get(qubit, -1), qubit].append(text)
        num_records += part.num_measurements
    yield tick


def _noise(part: stim.CircuitInstruction) -> Iterator[tuple[int, str]]:
    """The qubits on which an instruction has noise, and its text."""
    data = stim.gate_data(part.name)
    if not data.is_noisy_gate or not part.gate_args_copy():
        return
    arguments = ",".join(f"{number:g}" for number in part.gate_args_copy())
    for group in part.target_groups():
        targets = [target for target in group if not target.is_combiner]
        qubits = [each.value for each in targets if each.is_qubit_target or each.pauli_type != "I"]
        for qubit in qubits if part.name != "MPAD" else []:
            yield qubit, f"{part.name}({arguments}) {' '.join(map(str, qubits))}"


def _row(row: Sequence[_Tick], heights: Mapping[int, int], top: int) -> list[str]:
    def y_of(qubit: int) -> int:
        return top + _TOP + _WIRE * heights[qubit] + _WIRE // 2

    right = _LEFT + sum(tick.width for tick in row)
    bottom = top + _TOP + _WIRE * len(heights)
    lines = []
    for qubit in heights:
        y = y_of(qubit)
        lines.append(f'<path d="M{_LEFT},{y}H{right}" stroke="#b0b0b0"/>')
        lines.append(_text(f"q{qubit}", _LEFT - 6, y, 11, anchor="end"))
    x = _LEFT
    for tick in row:
        lines.append(f'<path d="M{x},{top + _TOP - 6}V{bottom}" stroke="#909090" stroke-dasharray="2,3"/>')
        lines.append(_text(f"{tick.number}", x + 3, top + 12, 10, anchor="start", fill="#606060"))
        acting = _with_gates([tick])
        for column, gate, record in tick.gates:
            lines += _gate(gate, record, x + _GAP // 2 + _COLUMN * column + _COLUMN // 2, y_of)
        for (column, qubit), texts in tick.marks.items():
            if qubit in heights:
                place = x + _GAP // 2 + _COLUMN * (column + 1), y_of(qubit)
                lines.append(_mark(texts, *place, waits=qubit not in acting))
        for k, text in enumerate(_joined(tick.outputs)):
            lines.append(_text(text, x + 3, bottom + 9 + 10 * k, 9, anchor="start", fill="#606060"))
        x += tick.width
    return [*lines, f'<path d="M{right},{top + _TOP - 6}V{bottom}" stroke="#909090" stroke-dasharray="2,3"/>']


def _joined(names: Sequence[str]) -> list[str]:
    """The first and the last detector, and the observables."""
    detectors = [name for name in names if name.startswith("D")]
    observables = sorted({name for name in names if name.startswith("L")})
    found = []
    if detectors:
        found.append(detectors[0] if len(detectors) == 1 else f"{detectors[0]}–{detectors[-1]}")
    if observables:
        found.append(observables[0] if len(observables) == 1 else f"{observables[0]}–{observables[-1]}")
    return found


def _mark(texts: Sequence[str], x: float, y: float, *, waits: bool) -> str:
    title = html.escape("; ".join(texts))
    if waits:
        return f'<circle cx="{x}" cy="{y}" r="1.7" fill="#d55e00"><title>{title}</title></circle>'
    return f'<path d="M{x - 3},{y + 4}l3,-8l3,8z" fill="#d55e00" stroke="none"><title>{title}</title></path>'


def _gate(gate: Glyph, record: str, x: float, y_of: Callable[[int], int]) -> list[str]:
    ys = [y_of(qubit) for qubit in gate.qubits]
    title = f"{gate.name} {' '.join(map(str, gate.qubits))}" + (
        f" if {gate.condition}" if gate.condition else ""
    )
    lines = [f"<g><title>{html.escape(title)}</title>"]
    if len(ys) > 1:
        lines.append(f'<path d="M{x},{min(ys)}V{max(ys)}" stroke="black" stroke-width="1.5"/>')
    for symbol, y in zip(gate.symbols, ys, strict=True):
        lines += _symbol(symbol, x, y, is_conditional=bool(gate.condition))
    if record:
        lines.append(_text(record, x + _HALF + 1, max(ys) + 9, 7, anchor="middle", fill="#0072b2"))
    if "(" in gate.name:
        angles = gate.name.partition("(")[2].rstrip(")").split(", ")
        lines.append(_text(",".join(f"{angle}π" for angle in angles), x, max(ys) + 13, 7))
    if gate.condition:
        lines.append(_text(gate.condition, x, min(ys) - 13, 7))
    return [*lines, "</g>"]


def _symbol(symbol: str, x: float, y: float, *, is_conditional: bool) -> list[str]:
    if symbol == CONTROL:
        return [f'<circle cx="{x}" cy="{y}" r="4" fill="black"/>']
    if symbol == NOT:
        return [
            f'<circle cx="{x}" cy="{y}" r="7" fill="white" stroke="black"/>',
            f'<path d="M{x - 7},{y}h14M{x},{y - 7}v14" stroke="black"/>',
        ]
    if symbol == CROSS:
        return [f'<path d="M{x - 5},{y - 5}l10,10m-10,0l10,-10" stroke="black" stroke-width="1.5"/>']
    size = min(13.0, 25 / (0.62 * max(1, len(symbol))))
    fill = "lightgray" if is_conditional else "white"
    return [
        f'<rect x="{x - 13}" y="{y - _HALF}" width="26" height="{2 * _HALF}" fill="{fill}" stroke="black"/>',
        _text(symbol, x, y, size),
    ]


def _text(text: str, x: float, y: float, size: float, *, anchor: str = "middle", fill: str = "black") -> str:
    return (
        f'<text x="{x}" y="{y}" font-size="{size:.3g}" text-anchor="{anchor}" dominant-baseline="central"'
        f' fill="{fill}">{html.escape(text)}</text>'
    )
