"""From names of gates and words of tags to the definitions of gates."""

from __future__ import annotations

from collections.abc import Mapping

from .feed_forward.conditional import conditional_gate
from .gates import BARE_NAMES, CONDITIONAL_CARRIER, FORMS_OF_WORD, GateDefinition, TaggedForm


def gate_named(name: str) -> GateDefinition | None:
    """The gate with this bare name, in upper or lower case; None if there is none.

    Examples:
        >>> gate_named("u").name, gate_named("CCX").num_targets, gate_named("H")
        ('U3', 3, None)
        >>> gate_named("c_sqrt_x").description
        'SQRT_X if the record is 1'
        >>> for part in gate_named("CS").decomposition():
        ...     print(part)
        RotationPart(pauli='Z_', half_turns=0.25)
        RotationPart(pauli='_Z', half_turns=0.25)
        RotationPart(pauli='ZZ', half_turns=-0.25)
    """
    upper = name.upper()
    return BARE_NAMES.get(upper) or conditional_gate(upper)


def forms_of_word(word: str) -> Mapping[str, tuple[GateDefinition, TaggedForm]]:
    """The gates for which a tag with this word can stand, by the carrier of the tag."""
    forms = FORMS_OF_WORD.get(word)
    if forms is not None:
        return forms
    definition = conditional_gate(word)
    if definition is None or definition.name != word:
        return {}
    return {CONDITIONAL_CARRIER: (definition, definition.written_form)}
