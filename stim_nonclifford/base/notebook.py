"""What notebooks show of circuits, plans and estimates, readable on any page; and tables of text."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

_SCALE = 0.75
_VIEW_BOX = re.compile(r'<svg viewBox="0 0 ([\d.]+) ([\d.]+)"')


class Diagram(str):
    r"""The text of a diagram. A notebook shows an SVG diagram as a picture.

    Examples:
        >>> Diagram("q0: -T-")
        q0: -T-
        >>> Diagram("<svg>\n</svg>")._repr_svg_() is None, Diagram("q0: -T-")._repr_svg_() is None
        (False, True)
    """

    __slots__ = ()

    def _repr_svg_(self) -> str | None:
        return str(self) if self.lstrip().startswith("<svg") else None

    def _repr_html_(self) -> str | None:
        return str(self) if self.lstrip().startswith("<div") else None

    def __repr__(self) -> str:
        return str(self)


def scrolled(svg: str) -> str:
    """A picture at the size at which it can be read, in a box that scrolls.

    Examples:
        >>> scrolled('<svg viewBox="0 0 100 40" xmlns="http://www.w3.org/2000/svg">')
        '<div style="overflow-x:auto"><svg width="75" height="30" viewBox="0 0 100 40" xmlns=...></div>'
    """
    sized = _VIEW_BOX.sub(
        lambda found: (
            f'<svg width="{_SCALE * float(found[1]):g}" height="{_SCALE * float(found[2]):g}"{found[0][4:]}'
        ),
        svg,
        count=1,
    )
    return f'<div style="overflow-x:auto">{sized}</div>'


def axes_of(ax: Any | None, figsize: tuple[float, float] | None = None) -> Any:
    """The axes of Matplotlib to draw on: those that were given, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=figsize, layout="constrained")[1]


def preformatted(text: str) -> str:
    """Text as it is printed.

    Examples:
        >>> preformatted("a < b")
        '<pre style="line-height:1.25">a &lt; b</pre>'
    """
    return f'<pre style="line-height:1.25">{html.escape(text)}</pre>'


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]], left: Collection[str] = ()) -> list[str]:
    """The lines of a table: the columns with these headers begin at the left, all others end at the right.

    Examples:
        >>> text_table(["name", "p"], [["a", "0.125"], ["bc", "1"]], left=["name"])
        ['name      p', 'a     0.125', 'bc        1']
    """
    columns = list(zip(header, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    shown = [
        [cell.ljust(width) if column[0] in left else cell.rjust(width) for cell in column]
        for column, width in zip(columns, widths, strict=True)
    ]
    return ["  ".join(row).rstrip() for row in zip(*shown, strict=True)]


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts.

    Examples:
        >>> html_table(["p"], [["0.1"]])
        '<table><tr><th>p</th></tr><tr><td>0.1</td></tr></table>'
    """
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"
