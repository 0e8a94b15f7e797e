"""The circuit language: Stim's language with non-Clifford gates, which are tagged or bare.

``gates`` is the table of non-Clifford gates. ``tags`` reads and writes the tags that stand for them, and
``expectation_values`` those of EXP_VAL. ``text`` translates bare gates (``T 0``) to tagged gates and back,
and ``inverse`` inverts gates. Stim itself parses the translated text.
"""

from .expectation_values import expectation_products, is_expectation, num_expectations
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
    "expectation_products",
    "extended_text",
    "first_wrong_tag",
    "gate_from_tag",
    "inverse_of_tagged",
    "is_expectation",
    "is_too_deep",
    "num_expectations",
    "parse",
    "tagged_instruction",
]
