"""Replaces the instructions of a circuit, inside its REPEAT blocks too."""

from __future__ import annotations

from collections.abc import Callable

import stim

from ...dialect import gate_from_tag

__all__ = ["circuit_of", "with_replaced", "without_angles"]


def circuit_of(instruction: stim.CircuitInstruction) -> stim.Circuit:
    """The circuit that has one instruction."""
    circuit = stim.Circuit()
    circuit.append(instruction)
    return circuit


def with_replaced(
    circuit: stim.Circuit, stand_in: Callable[[stim.CircuitInstruction], stim.Circuit | None]
) -> stim.Circuit:
    r"""The circuit with other instructions in place of its own.

    Args:
        circuit: The circuit.
        stand_in: Called with each instruction that is no REPEAT block; returns what stands for it, or None if
            it stays.

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


def without_angles(circuit: stim.Circuit) -> tuple[stim.Circuit, list[float]]:
    """A tagged circuit with the names of gates in place of their tags, and the angles, in half-turns.

    Examples:
        >>> without_angles(stim.Circuit("I[R_Z(theta=0.25*pi)] 0"))
        (stim.Circuit('''
            I[R_Z] 0
        '''), [0.25])
    """
    angles: list[float] = []

    def stand_in(instruction: stim.CircuitInstruction) -> stim.Circuit | None:
        gate = gate_from_tag(instruction)
        if gate is None or not gate.half_turns:
            return None
        angles.extend(gate.half_turns)
        return circuit_of(
            stim.CircuitInstruction(instruction.name, instruction.targets_copy(), tag=gate.name)
        )

    return with_replaced(circuit, stand_in), angles
