"""Sections of documentation pages that benchmarks write, each between two marks."""

from __future__ import annotations

__all__ = ["filled"]


def filled(page: str, section: str, contents: str) -> str:
    r"""Replaces the contents of one section of a page.

    Args:
        page: The text of the page.
        section: The name of the section.
        contents: The new text between the marks of the section.

    Returns:
        The text with the new contents.

    Raises:
        ValueError: The page does not have both marks.

    Examples:
        >>> filled("a\n<!-- begin speed -->\nold\n<!-- end speed -->\nb", "speed", "new")
        'a\n<!-- begin speed -->\n\nnew\n\n<!-- end speed -->\nb'
    """
    begin, end = f"<!-- begin {section} -->", f"<!-- end {section} -->"
    before, found_begin, rest = page.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end:
        raise ValueError(f"page has no section {section!r}: it must contain `{begin}` and, after it, `{end}`")
    return f"{before}{begin}\n\n{contents}\n\n{end}{after}"
