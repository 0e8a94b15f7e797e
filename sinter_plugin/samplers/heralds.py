"""Heralds: detectors that announce errors, such as those of erased qubits."""

from __future__ import annotations

from collections.abc import Iterator

import stim

import stim_nonclifford as snc
from stim_nonclifford.base.arguments import check_types

__all__ = ["herald_detectors"]

_HERALDED = ("HERALDED_ERASE", "HERALDED_PAULI_CHANNEL_1")


def herald_detectors(circuit: snc.Circuit) -> frozenset[int]:
    r"""The detectors that contain no other records than those of HERALDED_ERASE and HERALDED_PAULI_CHANNEL_1.

    Args:
        circuit: The circuit.

    Returns:
        Their numbers.

    Examples:
        >>> circuit = snc.Circuit("HERALDED_ERASE(0.01) 0\nDETECTOR rec[-1]\nM 0\nDETECTOR rec[-1] rec[-2]")
        >>> herald_detectors(circuit)
        frozenset({0})
    """
    check_types(circuit, "circuit", "a stim_nonclifford.Circuit", snc.Circuit)
    body = circuit.to_stim()
    if not _has_heralds(body):
        return frozenset()
    heralds: set[int] = set()
    found = []
    num_records = num_detectors = 0
    for instruction in _unrolled(body):
        if instruction.name in _HERALDED:
            heralds.update(range(num_records, num_records + instruction.num_measurements))
        elif instruction.name == "DETECTOR":
            records = [num_records + target.value for target in instruction.targets_copy()]
            if records and heralds.issuperset(records):
                found.append(num_detectors)
            num_detectors += 1
        num_records += instruction.num_measurements
    return frozenset(found)


def _has_heralds(body: stim.Circuit) -> bool:
    return any(
        _has_heralds(part.body_copy())
        if isinstance(part, stim.CircuitRepeatBlock)
        else part.name in _HERALDED
        for part in body
    )


def _unrolled(body: stim.Circuit) -> Iterator[stim.CircuitInstruction]:
    for part in body:
        if isinstance(part, stim.CircuitRepeatBlock):
            repeated = part.body_copy()
            for _ in range(part.repeat_count):
                yield from _unrolled(repeated)
        else:
            yield part
