"""Channels that Stim does not have, as tags on instructions of Stim that do nothing.

``AMPLITUDE_DAMPING(0.01) 0`` is written for Stim as ``I_ERROR[AMPLITUDE_DAMPING(gamma=0.01)] 0``, a channel
that does nothing. Stim carries it along in files, prints it, and removes it with ``without_noise``. A channel
that makes a record is a tag on ``HERALDED_ERASE(0)``, whose record is always 0 in Stim.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import stim

from ..exact_text import NUMBER, number_of
from ..targets import check_groups

ANNOTATIONS = frozenset({"TICK", "DETECTOR", "OBSERVABLE_INCLUDE", "QUBIT_COORDS", "SHIFT_COORDS"})
"""Instructions that do nothing to qubits. Their tags are notes."""

_TAG = re.compile(r"\s*(?P<word>[A-Za-z_]\w*)\s*(?:\((?P<arguments>.*)\))?\s*", re.DOTALL)
_ARGUMENT = re.compile(rf"[ \t]*(?P<key>\w+)[ \t]*=[ \t]*(?P<value>{NUMBER})[ \t]*", re.ASCII)


_MOST_CHECKED = 2
"""Up to how many qubits in a group Stim checks them: its channels act on one qubit or two."""


def probability_problem(value: float) -> str:
    """What is wrong with a probability, or the empty text."""
    return "" if 0 <= value <= 1 else f"the probability must be from 0 to 1, but is {value!r}"


@dataclass(frozen=True)
class ChannelDefinition:
    """A channel that Stim does not have."""

    name: str  # the bare name, which is the word of the tag, too
    description: str  # what the channel does
    # The names of its arguments in the tag, in the order of the bare channel's arguments.
    parameters: tuple[str, ...]
    problem: Callable[..., str]  # what is wrong with values of the arguments, or the empty text
    example: tuple[float, ...]  # arguments for messages
    carrier: str = "I_ERROR"  # the instruction of Stim that has the tag
    carrier_arguments: tuple[float, ...] = ()  # the arguments of that instruction
    remains: str = ""  # what Stim leaves of the carrier without noise, if it leaves anything
    num_targets: int = 1  # how many qubits it acts on together
    is_list: bool = False  # whether there are any number of arguments, which have no names in the tag


@dataclass(frozen=True)
class TaggedChannel:
    """A channel, as read from a tag."""

    name: str
    values: tuple[float, ...]


Table = Mapping[str, ChannelDefinition]


def read_channel(instruction: stim.CircuitInstruction, table: Table) -> TaggedChannel | None:
    """The channel of a table for which the tag of an instruction stands, or None.

    There is none either where the instruction is what Stim leaves of a channel without noise. A tag that
    names a channel but is malformed, impossible, or on another instruction than its carrier, is an error.
    """
    if not instruction.tag:  # most instructions, each of which is asked about several times
        return None
    found, definition = _found(instruction, table)
    if found is None or definition is None or instruction.name == definition.remains:
        return None
    carrier = definition.carrier
    if instruction.name != carrier:
        raise ValueError(
            f"The tag [{instruction.tag}] makes no sense on {instruction.name}: {_written(definition)}."
        )
    if tuple(instruction.gate_args_copy()) != definition.carrier_arguments:
        zeros = "(0)" if definition.carrier_arguments else "no probability"
        raise ValueError(
            f"{carrier} with the tag [{instruction.tag}] takes {zeros} in parentheses:"
            f" {_written(definition)}."
        )
    if definition.num_targets > _MOST_CHECKED:
        check_groups(definition.name, definition.num_targets, instruction)
    if carrier == "HERALDED_ERASE" and any(t.is_inverted_result_target for t in instruction.targets_copy()):
        raise ValueError(
            f"{definition.name} cannot be inverted, and Stim drops the ! before a target:"
            f" {_written(definition)}."
        )
    texts = found["arguments"]
    if definition.is_list:
        numbers = [number_of(part) for part in (texts or "").split(",")]
        listed = tuple(number for number in numbers if number is not None)
        if len(listed) != len(numbers):
            raise ValueError(f"Malformed tag [{instruction.tag}] on {carrier}: {_written(definition)}.")
        _check(definition, listed)
        return TaggedChannel(definition.name, listed)
    parts = [] if texts is None else [_ARGUMENT.fullmatch(part) for part in texts.split(",")]
    values = {part["key"]: float(part["value"]) for part in parts if part}
    if len(parts) != len(values) or set(values) != set(definition.parameters):
        raise ValueError(f"Malformed tag [{instruction.tag}] on {carrier}: {_written(definition)}.")
    ordered = tuple(values[key] for key in definition.parameters)
    _check(definition, ordered)
    return TaggedChannel(definition.name, ordered)


def remains_of_channel(instruction: stim.CircuitInstruction, table: Table) -> bool:
    """Whether an instruction is what Stim leaves of a channel in a circuit without noise."""
    _, definition = _found(instruction, table)
    return definition is not None and instruction.name == definition.remains


def tagged_channel(
    definition: ChannelDefinition, targets: Any, values: Iterable[float]
) -> stim.CircuitInstruction:
    """The tagged instruction of a bare channel."""
    values = tuple(map(float, values))
    if len(values) != len(definition.parameters) and not definition.is_list:
        raise ValueError(
            f"{definition.name} takes {_arguments(definition)}, as in {_call(definition)}; got {len(values)}."
        )
    _check(definition, values)
    pairs = [repr(value) for value in values]
    if not definition.is_list:
        pairs = [f"{key}={value}" for key, value in zip(definition.parameters, pairs, strict=True)]
    circuit = stim.Circuit()
    tag = f"{definition.name}({', '.join(pairs)})" if pairs else definition.name
    circuit.append(definition.carrier, targets, definition.carrier_arguments, tag=tag)
    return circuit[0]


def text_of_channel(definition: ChannelDefinition, arguments: str | None, targets: str) -> str:
    """The text of the tagged instruction, from the parts of the bare one."""
    values = []
    for part in (arguments or "").split(",") if (arguments or "").strip() else []:
        value = number_of(part)
        if value is None:
            raise ValueError(f"The argument {part.strip()!r} of {definition.name} is not a number.")
        values.append(value)
    tagged = str(tagged_channel(definition, _targets(definition), values))
    return f"{tagged.rsplit(' ', definition.num_targets)[0]}{targets}"


def bare_channel(instruction: stim.CircuitInstruction, channel: TaggedChannel) -> str:
    """The text of the instruction without a tag."""
    plain = stim.CircuitInstruction(
        instruction.name, instruction.targets_copy(), instruction.gate_args_copy()
    )
    _, space, targets = str(plain).partition(" ")
    values = f"({', '.join(map(repr, channel.values))})" if channel.values else ""
    return f"{channel.name}{values}{space}{targets}"


def check_free_tag(name: str, tag: str | None, count: str) -> None:
    """Checks that an instruction whose arguments become its tag has no other tag."""
    if tag:
        raise ValueError(
            f"{name} with {count} probabilities cannot have a tag, as a tag stands for them. Leave it out."
        )


def _found(
    instruction: stim.CircuitInstruction, table: Table
) -> tuple[re.Match[str] | None, ChannelDefinition | None]:
    found = _TAG.fullmatch(instruction.tag)
    if instruction.name in ANNOTATIONS:  # which may have any note
        return None, None
    return found, table.get(found["word"]) if found else None


def _check(definition: ChannelDefinition, values: tuple[float, ...]) -> None:
    problem = definition.problem(*values)
    if problem:
        raise ValueError(f"{definition.name}: {problem}.")


def _arguments(definition: ChannelDefinition) -> str:
    count = len(definition.parameters)
    if not count:
        return "no arguments"
    return f"{count} argument{'s' * (count > 1)} ({', '.join(definition.parameters)})"


def _targets(definition: ChannelDefinition) -> list[int]:
    return list(range(definition.num_targets))


def _written(definition: ChannelDefinition) -> str:
    """How a channel is written, for messages."""
    example = tagged_channel(definition, _targets(definition), definition.example)
    return f"it is written {example} or, without a tag, {_call(definition)}"


def _call(definition: ChannelDefinition) -> str:
    arguments = ", ".join(map(str, definition.example))
    name = f"{definition.name}({arguments})" if arguments else definition.name
    return " ".join([name, *map(str, _targets(definition))])
