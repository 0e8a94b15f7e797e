"""Walks through circuits as they are written, with the instructions of a REPEAT block once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

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


_TWIRL = "twirl of "
"""Tags of errors that stand for other noise begin with this."""


def source_tag(name: str, qubits: Iterable[int] = ()) -> str:
    """The tag of an error that stands for other noise.

    Args:
        name: What it stands for.
        qubits: The qubits that are leaked or lost, of which it is a consequence.

    Examples:
        >>> source_tag("LEAKAGE", [3])
        'twirl of LEAKAGE 3'
    """
    return " ".join([_TWIRL + name, *map(str, qubits)])


def source_of(instruction: stim.CircuitInstruction) -> tuple[str, tuple[int, ...]]:
    """What an error stands for, as ``source_tag`` has written it; the empty text for others.

    Examples:
        >>> (instruction,) = stim.Circuit("X_ERROR[twirl of LEAKAGE 3](0.1) 0")
        >>> source_of(instruction)
        ('LEAKAGE', (3,))
    """
    if not instruction.tag.startswith(_TWIRL):
        return "", ()
    words = instruction.tag.removeprefix(_TWIRL).split(" ")
    return words[0], tuple(int(word) for word in words[1:] if word.isdecimal())


def without_sources(circuit: stim.Circuit) -> stim.Circuit:
    """The circuit without the tags of ``source_tag``. Stim's error models would divide errors by them."""
    if not any(part.tag.startswith(_TWIRL) for part in instructions_in(circuit)):
        return circuit
    return with_replaced(
        circuit, lambda part: circuit_of(without_tag(part)) if part.tag.startswith(_TWIRL) else None
    )


def with_source(circuit: stim.Circuit, name: str) -> stim.Circuit:
    r"""The circuit with tags that say for which other noise its errors stand.

    Examples:
        >>> print(with_source(stim.Circuit("S 0\nX_ERROR(0.1) 0"), "R_X"))
        S 0
        X_ERROR[twirl of R_X](0.1) 0
    """

    def tagged(part: stim.CircuitInstruction) -> stim.Circuit | None:
        arguments = part.gate_args_copy()
        if not arguments or part.tag:
            return None
        targets, tag = part.targets_copy(), source_tag(name)
        return circuit_of(stim.CircuitInstruction(part.name, targets, arguments, tag=tag))

    return with_replaced(circuit, tagged)
