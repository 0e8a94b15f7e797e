"""The circuit language: Stim's, with non-Clifford gates as tags or as bare gates.

``gates`` is the table of non-Clifford gates. ``tags`` says which tag on which instruction is which gate;
``text`` translates the bare gates of extended circuit text (``T 0``) to tags and back; ``inverse`` inverts
them. Stim does all parsing.
"""

from .gates import GATES, PRODUCT, CliffordPart, GateDefinition, Part, RotationPart
from .inverse import inverse_of_tagged
from .tags import NonCliffordGate, gate_from_tag
from .text import (
    TOO_DEEP,
    bare_name,
    extended_text,
    first_wrong_tag,
    is_too_deep,
    parse,
    tagged_instruction,
)

__all__ = [
    "GATES",
    "PRODUCT",
    "TOO_DEEP",
    "CliffordPart",
    "GateDefinition",
    "NonCliffordGate",
    "Part",
    "RotationPart",
    "bare_name",
    "extended_text",
    "first_wrong_tag",
    "gate_from_tag",
    "inverse_of_tagged",
    "is_too_deep",
    "parse",
    "tagged_instruction",
]
