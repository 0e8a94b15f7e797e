"""The public names: those in the reference of the documentation."""

import importlib
import re
from pathlib import Path
from typing import Any

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def found(place: str) -> Any:
    module, _, name = place.rpartition(".")
    return getattr(importlib.import_module(module), name)


PUBLIC = {
    place: found(place)
    for page in sorted(REFERENCE.glob("*.md"))
    for place in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
}
"""Each public thing, by the name under which it is imported."""
