"""Names that were probably meant, for messages about unknown ones."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A question after the first sentence of a message, or nothing if no name is similar.

    Examples:
        >>> did_you_mean("soft_postselct", ["soft_pymatching", "soft_postselect"])
        ' Did you mean soft_postselect?'
        >>> did_you_mean("mine", ["soft_pymatching", "soft_postselect"])
        ''
    """
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return f" Did you mean {close[0]}?" if close else ""
