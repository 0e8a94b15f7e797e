"""The circuit language: Stim's, with non-Clifford gates as tags or as bare gates.

``tags`` says which tag on which instruction is which gate; ``text`` translates the bare gates of
extended circuit text (``T 0``) to tags and back. Stim does all parsing.
"""

from .tags import CONTROLLED_CARRIERS, NonCliffordGate, gate_from_tag, tag_of_rotation, tag_of_t
from .text import extended_text, first_wrong_tag, parse, tagged_instruction

__all__ = [
    "CONTROLLED_CARRIERS",
    "NonCliffordGate",
    "extended_text",
    "first_wrong_tag",
    "gate_from_tag",
    "parse",
    "tag_of_rotation",
    "tag_of_t",
    "tagged_instruction",
]
