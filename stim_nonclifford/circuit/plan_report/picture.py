"""The width of the coefficient vector over the operations of a shot, as a picture."""

from __future__ import annotations

import html
from collections.abc import Sequence
from itertools import groupby

from .operations import PlannedOperation

_LEFT, _TOP, _BOTTOM, _RIGHT = 64, 190, 64, 24
_PLOT_WIDTH, _STEP_HEIGHT, _LEAST_HEIGHT = 840, 22, 120
_LABEL_DISTANCE = 16
_LABEL_LENGTH = 16
_ACTIVATION, _MEASUREMENT, _ROTATION = "#c0392b", "#2471a3", "#7f8c8d"


def width_picture(title: str, operations: Sequence[PlannedOperation]) -> str:
    """An SVG of the active coordinates during a shot, in which the gates are named that activate them."""
    peak = max((operation.width for operation in operations), default=0)
    height = max(_LEAST_HEIGHT, _STEP_HEIGHT * peak)
    step = _PLOT_WIDTH / max(len(operations), 1)
    row = height / max(peak, 1)
    base = _TOP + height
    lines = [
        f'<svg viewBox="0 0 {_LEFT + _PLOT_WIDTH + _RIGHT} {base + _BOTTOM}" xmlns="http://www.w3.org/2000/svg"'
        ' font-family="sans-serif" font-size="11.5">',
        '<rect width="100%" height="100%" fill="white"/>',
        _text(_LEFT, 20, title, "start", 'font-weight="bold"'),
        *_axes(peak, row, base),
    ]
    path = [f"M{_LEFT},{base}"]
    markers: list[str] = []
    for k, operation in enumerate(operations):
        before, after = widths_around(operation)
        x = _LEFT + step * (k + 0.5)
        path.append(f"L{x:.1f},{base - row * before:.1f} L{x:.1f},{base - row * after:.1f}")
        markers += _marker(operation, x, base - row * max(before, after))
    path.append(
        f"L{_LEFT + _PLOT_WIDTH},{base - row * (widths_around(operations[-1])[1] if operations else 0):.1f}"
    )
    lines.append(f'<path d="{" ".join(path)}" fill="none" stroke="black" stroke-width="1.5"/>')
    lines += markers
    lines += _labels(operations, step, row, base)
    return "\n".join([*lines, "</svg>"])


def widths_around(operation: PlannedOperation) -> tuple[int, int]:
    """The number of active coordinates before and after an operation."""
    if operation.weak or operation.kind == "rotation":
        return operation.width, operation.width
    if operation.kind == "activation":
        return operation.width - 1, operation.width
    return operation.width, operation.width - 1


def _axes(peak: int, row: float, base: float) -> list[str]:
    lines = []
    every = max(1, peak // 8)
    for width in range(0, peak + 1, every):
        y = base - row * width
        lines.append(f'<path d="M{_LEFT},{y:.1f} h{_PLOT_WIDTH}" stroke="#dddddd"/>')
        lines.append(_text(_LEFT - 8, y + 4, f"{width}", "end"))
    middle = (base + _TOP) / 2
    lines.append(_text(18, middle, "active coordinates", "middle", f'transform="rotate(-90 18 {middle:g})"'))
    y = base + 24
    lines.append(_text(_LEFT + _PLOT_WIDTH, y, "operations of a shot, in their order →", "end"))
    x = float(_LEFT)
    for color, what in ((_ACTIVATION, "activation"), (_MEASUREMENT, "measurement"), (_ROTATION, "rotation")):
        lines.append(f'<circle cx="{x + 4:g}" cy="{y - 4:g}" r="4" fill="{color}"/>')
        lines.append(_text(x + 13, y, what, "start"))
        x += 100
    largest = f"widest: 2^{peak} coefficients, {16 << peak:,} bytes"
    lines.append(_text(_LEFT, y + 22, largest, "start"))
    return lines


def _marker(operation: PlannedOperation, x: float, y: float) -> list[str]:
    color = {"activation": _ACTIVATION, "measurement": _MEASUREMENT}.get(operation.kind, _ROTATION)
    name = f"{operation.instruction} {operation.target}, line {operation.line}"
    about = f"{name}: {'weak ' if operation.weak else ''}{operation.kind}, tick {operation.tick}"
    return [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}">'
        f"<title>{html.escape(about)}</title></circle>"
    ]


def _labels(operations: Sequence[PlannedOperation], step: float, row: float, base: float) -> list[str]:
    """The names of the gates that activate coordinates, and a line from each to its place."""
    active = [(k, operation) for k, operation in enumerate(operations) if operation.kind == "activation"]
    active = [(k, operation) for k, operation in active if not operation.weak]
    groups = [list(group) for _, group in groupby(active, lambda item: (item[1].instruction, item[1].line))]
    lines = []
    free = 0.0
    for number, group in enumerate(groups):
        k, first = group[0]
        x = _LEFT + step * (k + 0.5)
        left = max(x, free)
        if left > _LEFT + _PLOT_WIDTH - _LABEL_DISTANCE and number + 1 < len(groups):
            lines.append(_slanted(left, f"and {len(groups) - number} more"))
            break
        free = left + _LABEL_DISTANCE
        targets = " ".join(operation.target for _, operation in group)
        name = f"{first.instruction} {targets}"
        shown = name if len(name) <= _LABEL_LENGTH else f"{name[: _LABEL_LENGTH - 1]}…"
        lines.append(_slanted(left, f"{shown}, line {first.line}"))
        y = base - row * first.width
        lines.append(
            f'<path d="M{left:.1f},{_TOP - 12} L{x:.1f},{y - 5:.1f}" stroke="{_ACTIVATION}" opacity="0.35"/>'
        )
    return lines


def _slanted(x: float, text: str) -> str:
    y = _TOP - 16
    return _text(x, y, text, "start", f'fill="{_ACTIVATION}" transform="rotate(-60 {x:.1f} {y})"')


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    space = " " if more else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{space}{more}>{html.escape(text)}</text>'
