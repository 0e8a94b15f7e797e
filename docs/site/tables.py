"""Tables that fit: a number stays in one line, the name of a test may be broken, wide tables have the whole page.

A browser would break ``1.6e-07`` after the minus, and would not break ``test_a.py::test_b[c]`` at all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page

WIDE = ("results/results.md", "reference/instructions.md")
"""Pages whose tables need the room of the table of contents."""

_CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.])\d[\d.]*(?:\(\d+\))?e-\d+\*?")
_TEST = re.compile(r"(\.py::)(\w+)(\[?)")


def on_page_markdown(markdown: str, page: Page, **_: Any) -> None:
    """Leaves the table of contents out of wide pages."""
    if page.file.src_uri in WIDE:
        page.meta["hide"] = ["toc"]


def on_page_content(html: str, **_: Any) -> str:
    """Marks the numbers of all tables, for ``docs/assets/style.css``, and the places for breaks."""
    return _CELL.sub(_with_breaks, html)


def _with_breaks(cell: re.Match[str]) -> str:
    marked = _NUMBER.sub(r'<span class="number">\g<0></span>', cell[0])
    return _TEST.sub(r"\1<wbr>\2<wbr>\3", marked)
