"""Replaces the instructions of a circuit, inside its REPEAT blocks too."""

from __future__ import annotations

import stim

from ...base.written_circuits import circuit_of, with_replaced
from ...dialect import (
    channel_of,
    decision_of,
    gate_from_tag,
    has_condition,
    has_tag_of_channel,
    inverse_of_tagged,
    is_expectation,
    readout_noise_of,
)


def inverse_of(circuit: stim.Circuit) -> stim.Circuit:
    """The inverse of a tagged circuit."""
    return with_replaced(circuit.inverse(), lambda part: circuit_of(inverse_of_tagged(part)))


def are_close(first: stim.Circuit, second: stim.Circuit, atol: float) -> bool:
    """Whether tagged circuits are equal, up to ``atol`` in their arguments, angles and channels."""
    (one, its_numbers), (other, others) = _without_numbers(first), _without_numbers(second)
    if not one.approx_equals(other, atol=atol) or len(its_numbers) != len(others):
        return False
    return all(abs(a - b) <= atol for a, b in zip(its_numbers, others, strict=True))


def without_notes(circuit: stim.Circuit) -> stim.Circuit:
    """A tagged circuit without the tags that are notes, those of REPEAT blocks and of T gates included."""
    result = stim.Circuit()
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            body, tag = without_notes(part.body_copy()), part.tag if has_condition(part) else ""
            result.append(stim.CircuitRepeatBlock(part.repeat_count, body, tag=tag))
        elif not part.tag:
            result.append(part)
        else:
            result.append(part.name, part.targets_copy(), part.gate_args_copy(), tag=_meaning(part))
    return result


def _meaning(instruction: stim.CircuitInstruction) -> str:
    """The tag of an instruction without its note."""
    if is_expectation(instruction) or has_tag_of_channel(instruction) or decision_of(instruction):
        return instruction.tag
    gate = gate_from_tag(instruction)
    if gate is None:
        return ""
    return instruction.tag.partition(":")[0] if gate.definition.takes_note else instruction.tag


def _without_numbers(circuit: stim.Circuit) -> tuple[stim.Circuit, list[float]]:
    """A tagged circuit with the names of gates and channels in place of their tags, and the tags' numbers.

    Angles are in half-turns.
    """
    numbers: list[float] = []

    def stand_in(instruction: stim.CircuitInstruction) -> stim.Circuit | None:
        name, values = _numbers_of_tag(instruction)
        if not values:
            return None
        numbers.extend(values)
        return circuit_of(
            stim.CircuitInstruction(
                instruction.name,
                instruction.targets_copy(),
                instruction.gate_args_copy(),
                tag=f"{name}:{len(values)}",
            )
        )

    return with_replaced(circuit, stand_in), numbers


def _numbers_of_tag(instruction: stim.CircuitInstruction) -> tuple[str, tuple[float, ...]]:
    """The gate or channel for which a tag stands, and its numbers; no numbers for other tags."""
    if (gate := gate_from_tag(instruction)) is not None:
        return gate.name, gate.half_turns
    if (channel := channel_of(instruction)) is not None:
        return channel.name, channel.values
    if (readout := readout_noise_of(instruction)) is not None:
        return "READOUT_NOISE", (readout.p01, readout.p10)
    return "", ()
