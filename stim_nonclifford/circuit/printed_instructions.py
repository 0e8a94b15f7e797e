"""Instructions of Stim that are printed as the circuit prints them."""

from __future__ import annotations

from typing import TypeVar

import stim

from ..dialect import extended_text
from .rewriting.replacement import circuit_of

__all__ = ["printed_bare"]

Part = TypeVar("Part", bound="stim.CircuitInstruction | stim.CircuitRepeatBlock")


class _BareInstruction(stim.CircuitInstruction):  # type: ignore[misc]
    """A tagged instruction with the text of the bare one. In all else it is the instruction itself."""

    def __str__(self) -> str:
        return extended_text(circuit_of(self))


def printed_bare(part: Part) -> Part:
    r"""An instruction that is equal to the given one, and is printed without a tag that stands for a gate.

    Args:
        part: An instruction with tags, or a REPEAT block. Blocks are printed in one line, as in Stim.

    Examples:
        >>> tagged = stim.Circuit("S[T] 0")[0]
        >>> print(tagged, printed_bare(tagged), printed_bare(tagged) == tagged, sep=", ")
        S[T] 0, T 0, True
    """
    if isinstance(part, stim.CircuitRepeatBlock) or not part.tag or not _is_other_text(part):
        return part
    return _BareInstruction(part.name, part.targets_copy(), part.gate_args_copy(), tag=part.tag)


def _is_other_text(part: stim.CircuitInstruction) -> bool:
    return extended_text(circuit_of(part)) != str(part)
