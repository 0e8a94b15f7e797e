"""What one instruction becomes: parts of gates that records control, and channels as gates with ancillas.

Channels that are no mixtures of Paulis have ancillas that are measured at once. Nothing becomes wider by an
ancilla whose value a reset of another one, to which it is copied, has measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import stim

from ....dialect import (
    CliffordPart,
    Kraus,
    Part,
    ReadoutNoise,
    Relaxation,
    ThreeQubitErrors,
    decay_parts,
    kraus_of,
    relaxation_of,
    three_qubit_errors_of,
)
from ..algebra.clifford_gates import named_gate
from ..algebra.paulis import Factors, X, Y, Z, pauli_code
from .channels import channel_of_patterns, patterns_of
from .steps import Clifford, Feedback, Measure, Meeting, Noise, Reset, Step

SampledChannel = Relaxation | Kraus | ThreeQubitErrors


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


_COPIED = {X: "XCX", Y: "YCX", Z: "CX"}


@dataclass(frozen=True)
class Gates:
    """Parts of a decomposition, and the qubits on which they act."""

    parts: tuple[Part, ...]
    qubits: tuple[int, ...]


def sampled_channel_of(instruction: stim.CircuitInstruction) -> SampledChannel | None:
    """The channel for which the tag of an instruction stands, if it is none of leakage; None for others."""
    return relaxation_of(instruction) or kraus_of(instruction) or three_qubit_errors_of(instruction)


def needs_ancillas(channel: SampledChannel) -> bool:
    """Whether a channel is more than Pauli errors."""
    if isinstance(channel, ThreeQubitErrors):
        return False
    return not channel.is_pauli_channel if isinstance(channel, Kraus) else channel.decay > 0


def paulis_of(channel: SampledChannel) -> tuple[tuple[int, float], ...]:
    """The Pauli errors of a channel, after what needs ancillas: Paulis (codes) with their probabilities."""
    if isinstance(channel, ThreeQubitErrors):
        return patterns_of("PAULI_CHANNEL_3", channel.probabilities)[1]
    if isinstance(channel, Relaxation):
        return ((Z, channel.dephasing),) if channel.dephasing else ()
    if needs_ancillas(channel):
        return ()
    return patterns_of(f"PAULI_CHANNEL_{channel.num_qubits}", channel.twirl)[1]


def channel_steps(
    channel: SampledChannel, qubits: tuple[int, ...], num_qubits: int
) -> Iterator[Step | Gates]:
    """What a channel does to qubits, without its Pauli errors.

    The last of ``num_qubits`` qubits are ancillas.
    """
    if isinstance(channel, Kraus):
        yield from _kraus_steps(channel, qubits, num_qubits)
    elif isinstance(channel, Relaxation):
        ancilla = num_qubits - 1
        yield Reset(ancilla, Z)
        yield Gates(channel.decomposition, (*qubits, ancilla))
        yield Reset(ancilla, Z)
    for qubit in qubits:
        yield Meeting((qubit,))  # a leaked one stays mixed, and the channel is no gate: it mixes no other


def misread_steps(
    factors: Factors, noise: ReadoutNoise, record: int, inverted: bool, num_qubits: int
) -> Iterator[Step | Gates]:
    """A measurement whose record decays: the decay is that of an ancilla, to which the outcome is copied.

    The last two of ``num_qubits`` qubits are ancillas.
    """
    kept, other = num_qubits - 2, num_qubits - 1
    yield Reset(other, Z)
    yield from copies(factors, other)
    yield Reset(other, Z)  # measures the product
    yield Reset(kept, Z)
    yield from copies(factors, kept)
    if factors:
        yield Meeting(tuple(qubit for qubit, _ in factors))
    yield from misreading(noise, kept, other)
    yield Measure(((kept, Z),), record, inverted != bool(noise.decays_to), 0.0, False)


def misreading(noise: ReadoutNoise, outcome: int, other: int) -> Iterator[Step | Gates]:
    """What readout noise does to an ancilla that has an outcome, or its inverse if it decays to 1.

    The ancilla is left with the inverse then, and has to be measured, or ``other``, which is in |0> before.
    """
    if noise.decays_to:
        yield Clifford(named_gate("X"), ((outcome,),))
    if noise.flip:
        yield Noise(channel_of_patterns(((X, noise.flip),)), ((outcome,),), None)
    if noise.decay:
        yield Gates(decay_parts(noise.decay), (outcome, other))


def _kraus_steps(channel: Kraus, qubits: tuple[int, ...], num_qubits: int) -> Iterator[Step | Gates]:
    # The values of all ancillas but the last one say which operator applies. The last one measures them.
    *values, copy = range(num_qubits - channel.num_ancillas - 1, num_qubits)
    for ancilla in values:
        yield Reset(ancilla, Z)
    for k, parts in enumerate(channel.stages):
        yield Gates(parts, (*qubits, *values))
        if k + 1 < len(channel.stages):  # the ancilla is measured, and keeps its value
            yield Reset(copy, Z)
            yield from copies(((values[k], Z),), copy)
            yield Reset(copy, Z)


def copies(factors: Factors, ancilla: int) -> Iterator[Step]:
    """Flips an ancilla if a Pauli product is -1."""
    for qubit, code in factors:
        yield Clifford(named_gate(_COPIED[code]), ((qubit, ancilla),))
