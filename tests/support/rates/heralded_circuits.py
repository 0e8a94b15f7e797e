"""Circuits of Stim with heralds, each a detector, and with channels that Stim does not have."""

from collections.abc import Callable

import stim

import stim_nonclifford as snc

MARK = 0.5
"""The probability of DEPOLARIZE1 that marks places: the instruction is left out."""


def with_heralds(
    plain: stim.Circuit,
    before: Callable[[stim.CircuitInstruction], str],
    after: Callable[[stim.CircuitInstruction], str] = lambda part: "",
) -> snc.Circuit:
    """The circuit with more lines before and after its instructions; each record before them is a detector."""
    result = snc.Circuit()
    places: list[int] = []  # of the records of the plain circuit
    for part in plain.flattened():
        if part.name in ("DETECTOR", "OBSERVABLE_INCLUDE"):
            records = [places[len(places) + t.value] - result.num_measurements for t in part.targets_copy()]
            result.append(part.name, [stim.target_rec(k) for k in records], part.gate_args_copy())
            continue
        start = result.num_measurements
        result.append_from_stim_program_text(before(part))
        for k in range(start - result.num_measurements, 0):
            result.append("DETECTOR", [stim.target_rec(k)])
        places += range(result.num_measurements, result.num_measurements + part.num_measurements)
        if part.gate_args_copy() != [MARK]:
            result.append(part)
        result.append_from_stim_program_text(after(part))
    return result


def qubits_of(part: stim.CircuitInstruction) -> str:
    """The qubits of an instruction, as text."""
    return " ".join(str(target.value) for target in part.targets_copy() if target.is_qubit_target)
