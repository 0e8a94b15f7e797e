"""Takes the notes out of a circuit: the tags that stand for no gate and no noise."""

from __future__ import annotations

import stim

from ...dialect import gate_from_tag, has_tag_of_channel, is_expectation

__all__ = ["without_notes"]


def without_notes(circuit: stim.Circuit) -> stim.Circuit:
    r"""A tagged circuit without the tags that are notes, those of REPEAT blocks and of T gates included.

    Args:
        circuit: The circuit.

    Examples:
        >>> without_notes(stim.Circuit("X[a] 0\nREPEAT[b] 2 {\n    S[T:c] 0\n}"))
        stim.Circuit('''
            X 0
            REPEAT 2 {
                S[T] 0
            }
        ''')
    """
    result = stim.Circuit()
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            result.append(stim.CircuitRepeatBlock(part.repeat_count, without_notes(part.body_copy())))
        elif not part.tag:
            result.append(part)
        else:
            result.append(part.name, part.targets_copy(), part.gate_args_copy(), tag=_meaning(part))
    return result


def _meaning(instruction: stim.CircuitInstruction) -> str:
    """The tag of an instruction without its note."""
    if is_expectation(instruction) or has_tag_of_channel(instruction):
        return instruction.tag
    gate = gate_from_tag(instruction)
    if gate is None:
        return ""
    return instruction.tag.partition(":")[0] if gate.definition.takes_note else instruction.tag
