"""Instructions that go into a circuit, and come out of it: bare or tagged, as Stim's."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any, TypeAlias, TypeVar

import stim

from ...base.arguments import check_types, iterable, refuse_argument, text
from ...base.written_circuits import circuit_of
from ...dialect import (
    advice_on_name,
    extended_text,
    listed_targets,
    tagged_instruction,
    values_of_operators,
)

Instruction: TypeAlias = stim.CircuitInstruction | stim.CircuitRepeatBlock
PARTS = (stim.Circuit, stim.CircuitInstruction, stim.CircuitRepeatBlock)
Part = TypeVar("Part", bound="stim.CircuitInstruction | stim.CircuitRepeatBlock")


def addition_of(
    name: str | Instruction | stim.Circuit,
    targets: int | stim.GateTarget | stim.PauliString | Iterable[Any],
    arg: float | Iterable[Any] | None,
    tag: str,
) -> stim.Circuit:
    """What ``Circuit.append`` appends: an instruction by its name, which may be bare, or what is given."""
    addition = stim.Circuit()
    targets, tag = listed_targets(str(name), targets), text(tag, "tag")
    if not isinstance(name, str):
        check_types(name, "name", "the name of a gate, an instruction or a circuit", *PARTS)
        if targets or arg is not None or tag:
            raise ValueError(
                f"`targets`, `arg` and `tag` belong to the name of a gate, but name is a"
                f" {type(name).__name__}. Leave them out."
            )
        addition.append(name)
        return addition
    if name.upper() in ("KRAUS", "KRAUS2") and isinstance(arg, Iterable):
        is_flat = all(isinstance(each, numbers.Real) for each in arg)
        arg = arg if is_flat else values_of_operators(arg, name.upper())
    arg = _checked_arg(arg)
    instruction = tagged_instruction(name, targets, arg, tag)
    if instruction is not None:
        addition.append(instruction)
        return addition
    try:
        addition.append(name, targets, arg, tag=tag)
    except IndexError as error:  # Stim has no such gate
        raise IndexError(f"{error}{advice_on_name(name)}") from None
    return addition


def _checked_arg(arg: Any) -> list[float] | None:
    """The argument ``arg`` of ``append``, as a list."""
    if arg is None:
        return None
    wanted = "a number, an iterable of numbers, or None"
    given = [arg] if isinstance(arg, numbers.Real) else list(iterable(arg, "arg", wanted))
    for each in given:
        if not isinstance(each, numbers.Real):
            refuse_argument("arg", wanted, arg)
    return [float(each) for each in given]


class _BareInstruction(stim.CircuitInstruction):  # type: ignore[misc]
    """A tagged instruction with the text of the bare one. In all else it is the instruction itself."""

    def __str__(self) -> str:
        return extended_text(circuit_of(self))


def printed_bare(part: Part) -> Part:
    """An instruction that is equal to the given one, and is printed without a tag that stands for a gate.

    REPEAT blocks are printed in one line, as in Stim.
    """
    if isinstance(part, stim.CircuitRepeatBlock) or not part.tag:
        return part
    if extended_text(circuit_of(part)) == str(part):
        return part
    return _BareInstruction(part.name, part.targets_copy(), part.gate_args_copy(), tag=part.tag)
