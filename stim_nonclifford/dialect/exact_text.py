"""Numbers in the text of a circuit: read as Stim reads them, and written with as many digits as they need.

Stim prints numbers with six digits, so that its text may stand for another circuit: 0.0012345678901 becomes
0.00123457, and the probabilities of a channel may add up to more than 1. Here a number that six digits
change is written with the fewest digits that give it back. All else is as Stim prints it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import stim

NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
"""A number as a pattern. Python reads more: ``1_0``, ``nan``, and the digits of other scripts."""

_PADDED = re.compile(rf"[ \t]*({NUMBER})[ \t]*")


def number_of(text: str) -> float | None:
    """The number that a text is, perhaps between spaces, or None."""
    found = _PADDED.fullmatch(text)
    return float(found[1]) if found else None


def exact_text(circuit: stim.Circuit) -> str:
    r"""The text of a tagged circuit, from which it can be read back with all its numbers, if they are finite.

    Examples:
        >>> circuit = stim.Circuit()
        >>> circuit.append("X_ERROR", [0], 0.0012345678901)
        >>> circuit.append("Z_ERROR", [0], 0.001)
        >>> print(circuit)
        X_ERROR(0.00123457) 0
        Z_ERROR(0.001) 0
        >>> print(exact_text(circuit))
        X_ERROR(0.0012345678901) 0
        Z_ERROR(0.001) 0
    """
    return "\n".join(_lines(circuit))


def _lines(circuit: stim.Circuit) -> Iterator[str]:
    for instruction in circuit:
        if isinstance(instruction, stim.CircuitRepeatBlock):
            yield f"REPEAT{bracketed(instruction.tag)} {instruction.repeat_count} {{"
            for line in list(_lines(instruction.body_copy())) or [""]:
                yield f"    {line}" if line else ""
            yield "}"
        else:
            yield _line(instruction)


def _line(instruction: stim.CircuitInstruction) -> str:
    text = str(instruction)
    arguments = instruction.gate_args_copy()
    if not arguments:
        return text
    if not all(map(math.isfinite, arguments)):
        raise ValueError(f"`{text}` has an infinite number or NaN, which circuit text cannot express.")
    head = f"{instruction.name}{bracketed(instruction.tag)}("
    written = text[len(head) : text.index(")", len(head))]
    numbers = [
        short if float(short) == exact else repr(exact)
        for short, exact in zip(written.split(", "), arguments, strict=True)
    ]
    return f"{head}{', '.join(numbers)}{text[len(head) + len(written) :]}"


def bracketed(tag: str) -> str:
    """A tag in brackets, with special characters escaped as Stim does; empty if there is none."""
    return str(stim.CircuitInstruction("TICK", [], tag=tag))[len("TICK") :]
