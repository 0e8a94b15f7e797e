"""Channels that are no mixtures of Paulis, as gates with ancillas that are measured at once.

Nothing becomes wider by an ancilla whose value a reset of another one, to which it is copied, has measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .....dialect import Kraus, Part, ReadoutNoise, Relaxation, decay_parts
from ...algebra.clifford_gates import named_gate
from ...algebra.paulis import Factors, X, Y, Z
from ..channels import channel_of_patterns
from ..steps import Clifford, Measure, Meeting, Noise, Reset, Step

__all__ = ["Gates", "decay_steps", "kraus_steps", "misread_steps"]

_COPIED = {X: "XCX", Y: "YCX", Z: "CX"}


@dataclass(frozen=True)
class Gates:
    """Parts of a decomposition, and the qubits on which they act."""

    parts: tuple[Part, ...]
    qubits: tuple[int, ...]


def decay_steps(channel: Relaxation, qubit: int, ancilla: int) -> Iterator[Step | Gates]:
    """A decay of a qubit, with an ancilla that is discarded.

    Args:
        channel: The channel, of which the dephasing is left out.
        qubit: The qubit.
        ancilla: The ancilla.
    """
    yield Reset(ancilla, Z)
    yield Gates(channel.decomposition, (qubit, ancilla))
    yield Reset(ancilla, Z)
    yield Meeting((qubit,))  # a leaked qubit does not decay


def misread_steps(
    factors: Factors, noise: ReadoutNoise, record: int, inverted: bool, ancillas: tuple[int, int]
) -> Iterator[Step | Gates]:
    """A measurement whose record decays: the decay is that of an ancilla, to which the outcome is copied.

    Args:
        factors: The Pauli product that is measured.
        noise: How its outcome is misread.
        record: The number of the record.
        inverted: Whether the record is inverted after that.
        ancillas: Two ancillas.
    """
    kept, other = ancillas
    yield Reset(other, Z)
    yield from _copies(factors, other)
    yield Reset(other, Z)  # measures the product
    yield Reset(kept, Z)
    yield from _copies(factors, kept)
    if factors:
        yield Meeting(tuple(qubit for qubit, _ in factors))
    if noise.decays_to:
        yield Clifford(named_gate("X"), ((kept,),))
    if noise.flip:
        yield Noise(channel_of_patterns(((X, noise.flip),)), ((kept,),), None)
    yield Gates(decay_parts(noise.decay), (kept, other))
    yield Measure(((kept, Z),), record, inverted != bool(noise.decays_to), 0.0, False)


def kraus_steps(channel: Kraus, qubit: int, ancillas: tuple[int, int, int]) -> Iterator[Step | Gates]:
    """A channel that is given by Kraus operators.

    Args:
        channel: The channel.
        qubit: The qubit.
        ancillas: Two ancillas whose values say which operator applies, and one to copy them to.
    """
    *values, copy = ancillas
    for ancilla in values:
        yield Reset(ancilla, Z)
    for k, parts in enumerate(channel.stages):
        yield Gates(parts, (qubit, *values))
        if k + 1 < len(channel.stages):  # the ancilla is measured, and keeps its value
            yield Reset(copy, Z)
            yield from _copies(((values[k], Z),), copy)
            yield Reset(copy, Z)
    yield Meeting((qubit,))  # the channel does nothing to a leaked qubit


def _copies(factors: Factors, ancilla: int) -> Iterator[Step]:
    """Flips an ancilla if a Pauli product is -1."""
    for qubit, code in factors:
        yield Clifford(named_gate(_COPIED[code]), ((qubit, ancilla),))
