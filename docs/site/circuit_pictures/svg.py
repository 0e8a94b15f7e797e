"""Draws a circuit as SVG: one panel of qubits per moment, in reading order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import atan2
from typing import Protocol
from xml.sax.saxutils import escape

from stim_nonclifford.generators.cultivation.color_code import Coord

# Pixels.
_UNIT = 26  # between neighbouring qubits
_MARGIN = 22  # between the outermost qubits of a panel and its edge
_TITLE = 26  # height of a panel's title
_BOX = 16  # side of a box with a letter in it
_MAX_WIDTH = 1040  # of a picture

_TILE_COLORS = ("#f3b3ac", "#b4cdf2", "#b9e0ad")  # by Face.color: red, blue, green

# Boxes by kind: fill, border, dashes of the border, color of the letter.
_BOX_STYLES = {
    "reset": ("#ffffff", "#222222", "", "#222222"),
    "measure": ("#222222", "#222222", "", "#ffffff"),
    "rotate": ("#ffd84d", "#222222", "", "#222222"),
    "feedback": ("#ffffff", "#8a1fb0", "3 2", "#8a1fb0"),
    "data": ("#222222", "#222222", "", "#ffffff"),
}


class Face(Protocol):
    """One face of a code.

    Attributes:
        data: Sites of its data qubits.
        outline: Sites of its corners.
        color: Index of its color.
    """

    @property
    def data(self) -> tuple[Coord, ...]: ...  # noqa: D102
    @property
    def outline(self) -> tuple[Coord, ...]: ...  # noqa: D102
    @property
    def color(self) -> int: ...  # noqa: D102


@dataclass(frozen=True)
class Box:
    """A letter on a qubit.

    Attributes:
        kind: A key of `_BOX_STYLES`.
        letter: The letter.
        site: The qubit.
    """

    kind: str
    letter: str
    site: Coord


@dataclass(frozen=True)
class Panel:
    """The contents of one panel.

    Attributes:
        title: One line of text.
        boxes: Operations on single qubits.
        cx: CX gates as (control, target) pairs.
    """

    title: str
    boxes: Sequence[Box] = ()
    cx: Sequence[tuple[Coord, Coord]] = ()


@dataclass(frozen=True)
class Picture:
    """A sequence of panels on the same qubits.

    Attributes:
        title: A description in words.
        tiles: Tiles to draw below the qubits.
        sites: All qubits to show.
        panels: The panels, in order.
    """

    title: str
    tiles: Sequence[Face]
    sites: Sequence[Coord]
    panels: Sequence[Panel]

    def svg(self) -> str:
        """Returns the text of an SVG file."""
        width = _UNIT * (max(x for x, _ in self.sites) - self._left) + 2 * _MARGIN
        height = _UNIT * (self._top - min(y for _, y in self.sites)) + 2 * _MARGIN + _TITLE
        rows = -(-len(self.panels) // (_MAX_WIDTH // width))
        columns = -(-len(self.panels) // rows)
        size = f'width="{columns * width}" height="{rows * height}"'
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {columns * width} {rows * height}" '
            'font-family="sans-serif" text-anchor="middle">',
            f"<title>{escape(self.title)}</title>",
            "<defs>",
            *self._definitions(),
            "</defs>",
            f'<rect {size} fill="#ffffff"/>',
        ]
        for k, panel in enumerate(self.panels):
            lines.append(f'<g transform="translate({k % columns * width} {k // columns * height})">')
            lines += [f'<text x="{width / 2:g}" y="18" font-size="13">{escape(panel.title)}</text>']
            lines += self._drawn(panel)
            lines.append("</g>")
        return "\n".join([*lines, "</svg>\n"])

    @property
    def _left(self) -> int:
        return min(x for x, _ in self.sites)

    @property
    def _top(self) -> int:
        return max(y for _, y in self.sites)

    def _place(self, site: Coord) -> tuple[int, int]:
        x, y = site
        return _MARGIN + _UNIT * (x - self._left), _TITLE + _MARGIN + _UNIT * (self._top - y)

    def _definitions(self) -> Iterable[str]:
        """Yields the shapes that are drawn repeatedly: the code of a panel, the target of a CX, boxes."""
        yield '<g id="code">'
        for tile in self.tiles:
            corners = " ".join("{},{}".format(*self._place(site)) for site in _around(tile))
            color = _TILE_COLORS[tile.color]
            yield f'<polygon points="{corners}" fill="{color}" stroke="#ffffff" stroke-width="2"/>'
        data = {site for tile in self.tiles for site in tile.data}
        for site in self.sites:
            x, y = self._place(site)
            look = 'r="4" fill="#555555"' if site in data else 'r="2.5" fill="#aaaaaa"'
            yield f'<circle cx="{x}" cy="{y}" {look}/>'
        yield "</g>"
        yield (
            '<g id="x" stroke="#222222" stroke-width="1.5"><circle r="6" fill="#ffffff"/>'
            '<path d="M-6 0H6M0 -6V6"/></g>'
        )
        boxes = {(box.kind, box.letter) for panel in self.panels for box in panel.boxes}
        for kind, letter in sorted(boxes):
            fill, border, dashes, text = _BOX_STYLES[kind]
            dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
            yield (
                f'<g id="{_identifier(kind, letter)}"><rect x="{-_BOX / 2}" y="{-_BOX / 2}" width="{_BOX}" '
                f'height="{_BOX}" rx="3" fill="{fill}" stroke="{border}"{dashed}/>'
                f'<text y="4" font-size="11" fill="{text}">{escape(letter)}</text></g>'
            )

    def _drawn(self, panel: Panel) -> Iterable[str]:
        yield '<use href="#code"/>'
        for control, target in panel.cx:
            (x, y), (u, v) = self._place(control), self._place(target)
            yield f'<path d="M{x} {y}L{u} {v}" stroke="#222222" stroke-width="2"/>'
            yield f'<circle cx="{x}" cy="{y}" r="4.5" fill="#222222"/>'
            yield f'<use href="#x" x="{u}" y="{v}"/>'
        for box in panel.boxes:
            x, y = self._place(box.site)
            yield f'<use href="#{_identifier(box.kind, box.letter)}" x="{x}" y="{y}"/>'


def _identifier(kind: str, letter: str) -> str:
    """Returns a name for a box, in characters that XML need not escape."""
    return "-".join([kind, *(f"{ord(character):x}" for character in letter)])


def _around(face: Face) -> list[Coord]:
    """Returns the corners of a face, sorted by their direction from its middle."""
    middle_x = sum(x for x, _ in face.outline) / len(face.outline)
    middle_y = sum(y for _, y in face.outline) / len(face.outline)
    return sorted(face.outline, key=lambda site: atan2(site[1] - middle_y, site[0] - middle_x))
