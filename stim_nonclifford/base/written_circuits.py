"""Walks through circuits as they are written, with the instructions of a REPEAT block once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import stim


def circuit_of(*parts: stim.CircuitInstruction | stim.CircuitRepeatBlock) -> stim.Circuit:
    """The circuit that has these instructions and blocks."""
    circuit = stim.Circuit()
    for part in parts:
        circuit.append(part)
    return circuit


def instructions_in(circuit: stim.Circuit) -> Iterator[stim.CircuitInstruction]:
    """The instructions of a circuit as it is written: those of a REPEAT block once."""
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            yield from instructions_in(part.body_copy())
        else:
            yield part


def with_replaced(
    circuit: stim.Circuit, stand_in: Callable[[stim.CircuitInstruction], stim.Circuit | None]
) -> stim.Circuit:
    r"""The circuit with other instructions in place of its own; those stay for which there is None.

    Examples:
        >>> circuit = stim.Circuit("X 0\nREPEAT 2 {\n    H 0\n}")
        >>> with_replaced(circuit, lambda part: stim.Circuit("Y 1") if part.name == "H" else None)
        stim.Circuit('''
            X 0
            REPEAT 2 {
                Y 1
            }
        ''')
    """
    result = stim.Circuit()
    for instruction in circuit:
        if isinstance(instruction, stim.CircuitRepeatBlock):
            body = with_replaced(instruction.body_copy(), stand_in)
            result.append(stim.CircuitRepeatBlock(instruction.repeat_count, body, tag=instruction.tag))
            continue
        replaced = stand_in(instruction)
        if replaced is None:
            result.append(instruction)
        else:
            result += replaced
    return result


def without_tag(instruction: stim.CircuitInstruction) -> stim.CircuitInstruction:
    """The instruction without its tag."""
    return stim.CircuitInstruction(instruction.name, instruction.targets_copy(), instruction.gate_args_copy())
