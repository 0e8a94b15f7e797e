"""Parts of a gate's decomposition in which measurement records stand for some of its targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .....dialect import CliffordPart, Part
from ...algebra.paulis import Factors, X, Z, pauli_code
from ..steps import Feedback

__all__ = ["PlainRotation", "conditional_steps"]


@dataclass(frozen=True)
class PlainRotation:
    """exp(-i π/2 a P) with ``half_turns`` a, any angle."""

    factors: Factors
    half_turns: float


def conditional_steps(
    part: Part, records: Mapping[int, int], qubits: Mapping[int, int]
) -> Iterator[Feedback | PlainRotation]:
    """What a part becomes when records stand for some of the targets.

    The Z of a target is (-1)^b if the target is a record b. So a rotation has a sign that depends on the
    records. A Pauli that anticommutes with the axis reverses the rotation, if it is applied before and after:
    the records control this Pauli.

    Examples:
        >>> from stim_nonclifford.dialect import RotationPart
        >>> for step in conditional_steps(RotationPart("ZZ", -0.25), {0: 7}, {1: 3}):
        ...     print(step)
        Feedback(record=7, qubit=3, pauli=1)
        PlainRotation(factors=((3, 2),), half_turns=-0.25)
        Feedback(record=7, qubit=3, pauli=1)
    """
    if isinstance(part, CliffordPart):
        record, qubit = part.targets
        yield Feedback(records[record], qubits[qubit], pauli_code(part.name.removeprefix("C")))
        return
    controls = [record for position, record in records.items() if part.pauli[position] == "Z"]
    factors = tuple(
        (qubit, pauli_code(letter))
        for position, qubit in qubits.items()
        if (letter := part.pauli[position]) != "_"
    )
    if not factors:
        return  # a global phase
    qubit, code = factors[0]
    reversing = [Feedback(record, qubit, Z if code == X else X) for record in controls]
    yield from reversing
    yield PlainRotation(factors, part.half_turns)
    yield from reversing
