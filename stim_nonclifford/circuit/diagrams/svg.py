"""SVG diagrams: gates in place of the errors that Stim has drawn, and a white background."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .drawn_gates import DrawnGate, Symbol

_BACKGROUND = '<rect width="100%" height="100%" fill="white"/>\n'
_NUMBER = re.compile(r">(\d\.\d+e-09)</text>")
_RECT = re.compile(r'<rect x="([^"]*)" y="([^"]*)"')
_REGIONS = re.compile(r'<g id="slice:.*?</g>', re.DOTALL)
_HALF = 16
"""Half of the width of a box."""
_CHARACTER = 0.6
"""Width of a character of a monospaced font, in font sizes."""
_GREEK = {"theta": "θ", "phi": "φ", "lambda": "λ"}
_PRODUCTS = ("TPP", "TPP_DAG", "R_PAULI")


def on_white(svg: str) -> str:
    """The picture on a white background, so that it can be read on a dark page, too."""
    head, _, body = svg.partition("\n")
    return f"{head}\n{_BACKGROUND}{body}"


def with_regions_of(svg: str, other: str) -> str:
    """Replaces the detecting regions of one picture by those of another of the same size."""
    regions = iter(_REGIONS.findall(other))
    return _REGIONS.sub(lambda found: next(regions, found[0]), svg)


def with_gates(svg: str, gates: Mapping[str, DrawnGate]) -> str:
    """Replaces errors in a picture by the gates for which they stand."""
    drawn: list[str] = []
    lines = iter(svg.split("\n"))
    for line in lines:
        number = _NUMBER.search(line)
        gate = gates.get(number[1]) if number else None
        if gate is None:
            drawn.append(line)
            continue
        # For each qubit there are a box and its label; the number follows those of the lowest qubit.
        boxes: list[str] = []
        while len(boxes) < len(gate.qubits) and len(drawn) > 1 and _RECT.match(drawn[-2]):
            boxes.insert(0, drawn[-2])
            del drawn[-2:]
        while len(boxes) < len(gate.qubits):
            boxes.append(next(lines))
            next(lines)
        drawn += _gate(gate, [_center(box) for box in boxes])
    return "\n".join(drawn)


def _center(box: str) -> tuple[float, float]:
    ((x, y),) = _RECT.findall(box)
    return float(x) + _HALF, float(y) + _HALF


def _gate(gate: DrawnGate, centers: Sequence[tuple[float, float]]) -> list[str]:
    """The lines that draw a gate whose symbols have these centers."""
    lines: list[str] = []
    for symbol, (x, y) in zip(gate.symbols, centers, strict=True):
        lines += _symbol(gate, symbol, x, y)
    x, bottom = max(centers, key=lambda center: center[1])
    for k, text in enumerate(_angles(gate)):
        lines.append(_small_text(text, x, bottom + _HALF + 9 + 9 * k))
    x, top = min(centers, key=lambda center: center[1])
    for k, bit in enumerate(reversed(gate.conditions)):
        is_first = k == len(gate.conditions) - 1
        lines.append(_small_text(f"{'if' if is_first else 'and'} {bit}", x, top - _HALF - 4 - 9 * k))
    return lines


def _angles(gate: DrawnGate) -> list[str]:
    values = [f"{angle:g}π" for angle in gate.half_turns]
    if len(values) < 2:
        return values
    return [f"{_GREEK.get(key, key)}={value}" for key, value in zip(gate.parameters, values, strict=True)]


def _small_text(text: str, x: float, y: float) -> str:
    return (
        f'<text text-anchor="middle" font-family="monospace" font-size="9" x="{x:g}" y="{y:g}">{text}</text>'
    )


def _symbol(gate: DrawnGate, symbol: Symbol, x: float, y: float) -> list[str]:
    if symbol.kind == "control":
        return [f'<circle cx="{x:g}" cy="{y:g}" r="12" stroke="none" fill="black"/>']
    if symbol.kind == "not":
        return [
            f'<circle cx="{x:g}" cy="{y:g}" r="12" stroke="black" fill="white"/>',
            f'<path d="M{x - 12:g},{y:g} h24 M{x:g},{y - 12:g} v24" stroke="black"/>',
        ]
    is_dark = symbol.name in _PRODUCTS and not gate.conditions  # as Stim draws SPP
    fill = "black" if is_dark else "lightgray" if gate.conditions else "white"
    dashes = ' stroke-dasharray="3,2"' if gate.is_expectation else ""
    color = ' fill="white"' if is_dark else ""
    text, size = _label(symbol)
    return [
        f'<rect x="{x - _HALF:g}" y="{y - _HALF:g}" width="{2 * _HALF}" height="{2 * _HALF}" stroke="black"'
        f' fill="{fill}"{dashes}/>',
        '<text dominant-baseline="central" text-anchor="middle" font-family="monospace"'
        f' font-size="{size}" x="{x:g}" y="{y:g}"{color}>{text}</text>',
    ]


def _label(symbol: Symbol) -> tuple[str, int]:
    """What is written in a box, and the size of its font: the largest that fits."""
    if symbol.name == "EXP_VAL":
        main, below, above = f"⟨{symbol.letter}⟩", "", ""
    else:
        name = symbol.name.removesuffix("_DAG")
        above = "†" if name != symbol.name else ""
        root = "√" if name.startswith("SQRT_") else ""
        main, _, below = name.removeprefix("SQRT_").partition("_")
        main, below = root + main, symbol.letter or below
    length = len(main) + 0.6 * (len(below) + len(above))
    size = min(24 if below or above else 28, int((2 * _HALF - 2) / (_CHARACTER * length)))
    index = max(5, round(0.55 * size))
    text = main
    if below:
        text += f'<tspan baseline-shift="sub" font-size="{index}">{below}</tspan>'
    if above:
        text += f'<tspan baseline-shift="super" font-size="{index}">{above}</tspan>'
    return text, size
