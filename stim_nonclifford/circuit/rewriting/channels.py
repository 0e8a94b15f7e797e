"""Pauli errors of Stim that stand for channels that it does not have."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import stim

from ...base.written_circuits import instructions_in, source_tag
from ...dialect import kraus_of, quasistatic_of, readout_noise_of, relaxation_of, three_qubit_errors_of
from ...simulation.compiler.program.channels import independent_errors, patterns_of

_CHAIN = ("E", "ELSE_CORRELATED_ERROR")
_LETTERS = "IXZY"


def errors_on_three_qubits(instruction: stim.CircuitInstruction) -> stim.Circuit | None:
    """Stim's instructions with the distribution of DEPOLARIZE3 or PAULI_CHANNEL_3; None for others.

    They are independent errors if such have the same distribution, so that error models are exact. If not,
    they are a chain of errors that exclude each other.

    Examples:
        >>> tag = "PAULI_CHANNEL_3(" + ", ".join(["0.1", "0", "0.2"] + ["0"] * 60) + ")"
        >>> print(errors_on_three_qubits(stim.CircuitInstruction("I_ERROR", [0, 1, 2], tag=tag)))
        E(0.1) X2
        ELSE_CORRELATED_ERROR(0.222222) Z2
    """
    channel = three_qubit_errors_of(instruction)
    if channel is None:
        return None
    size, patterns = patterns_of("PAULI_CHANNEL_3", channel.probabilities)
    found = independent_errors((pattern, p) for pattern, p in patterns if p > 0)
    errors = _chain(patterns) if found is None else [("E", *each) for each in found.items()]
    targets, result = instruction.targets_copy(), stim.Circuit()
    for k in range(0, len(targets), size):
        for name, pattern, probability in errors:
            result.append(name, _product(pattern, targets[k : k + size]), probability)
    return result


def _chain(patterns: tuple[tuple[int, float], ...]) -> list[tuple[str, int, float]]:
    """Errors that exclude each other, each with its probability if none of those before it happens."""
    errors: list[tuple[str, int, float]] = []
    nothing = 1.0
    for pattern, probability in patterns:
        if probability > 0:
            happens = min(1.0, probability / nothing) if nothing > 0 else 1.0
            errors.append((_CHAIN[bool(errors)], pattern, happens))
            nothing -= probability
    return errors


def _product(pattern: int, qubits: list[stim.GateTarget]) -> list[stim.GateTarget]:
    letters = [_LETTERS[pattern >> 2 * k & 3] for k in range(len(qubits))]
    return [
        stim.target_pauli(qubit.value, letter)
        for qubit, letter in zip(qubits, letters, strict=True)
        if letter != "I"
    ]


def check_chains(circuit: stim.Circuit) -> None:
    """Checks that E instructions in place of errors on three qubits end no chain of other errors."""
    if has_interrupted_chain(circuit) and any(map(three_qubit_errors_of, instructions_in(circuit))):
        raise ValueError(
            "The circuit has DEPOLARIZE3 or PAULI_CHANNEL_3, for which Stim is given E instructions, and an"
            " ELSE_CORRELATED_ERROR whose chain these could end, as it does not follow its E at once. Move"
            " the instructions in between before the E, or behind the chain."
        )


def has_interrupted_chain(parts: Iterable[stim.CircuitInstruction | stim.CircuitRepeatBlock]) -> bool:
    """Whether an ELSE_CORRELATED_ERROR does not follow at once the error on which it depends."""
    return any(
        has_interrupted_chain(part.body_copy())
        if isinstance(part, stim.CircuitRepeatBlock)
        else part.name == _CHAIN[1] and (before is None or before.name not in _CHAIN)
        for before, part in itertools.pairwise([None, *parts])
        if part is not None
    )


def twirl_of_channel(instruction: stim.CircuitInstruction) -> stim.Circuit | None:
    """The Pauli twirl of relaxation, Kraus operators, quasi-static or readout noise; None for others.

    Examples:
        >>> tag = "AMPLITUDE_DAMPING(gamma=0.36)"
        >>> print(twirl_of_channel(stim.CircuitInstruction("I_ERROR", [3], tag=tag)))
        PAULI_CHANNEL_1[twirl of AMPLITUDE_DAMPING](0.09, 0.09, 0.01) 3
    """
    result = stim.Circuit()
    noise = readout_noise_of(instruction)
    if noise is not None:
        result.append(instruction.name, instruction.targets_copy(), noise.mean)
        return result
    kraus = kraus_of(instruction)
    if kraus is not None:
        name = f"PAULI_CHANNEL_{kraus.num_qubits}"
        result.append(name, instruction.targets_copy(), kraus.twirl, tag=source_tag(kraus.name))
        return result
    turn = quasistatic_of(instruction)
    if turn is not None:
        result.append("Z_ERROR", instruction.targets_copy(), turn.twirl, tag=source_tag(turn.name))
        return result
    channel = relaxation_of(instruction)
    if channel is None:
        return None
    tag = source_tag(channel.name)
    if channel.decay:
        result.append("PAULI_CHANNEL_1", instruction.targets_copy(), channel.twirl, tag=tag)
    elif channel.dephasing:
        result.append("Z_ERROR", instruction.targets_copy(), channel.dephasing, tag=tag)
    return result
