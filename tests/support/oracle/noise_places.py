"""The places of a circuit's noise, one by one: circuits in which one is silent, and circuits with given errors.

A *place* is a noise channel on one group of targets, or the readout error of one measurement. Every
probability of a circuit's outputs is an affine function of the strength of each place, by which all
probabilities of its errors are multiplied.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import stim

from .density_matrix import _HERALDED_CHANNELS, _PAULI_CHANNELS

_CORRELATED = ("E", "ELSE_CORRELATED_ERROR")
_PRODUCT = {frozenset("XY"): "Z", frozenset("XZ"): "Y", frozenset("YZ"): "X"}

Pauli = tuple[tuple[int, str], ...]
"""Qubits in ascending order, each with X, Y or Z."""


@dataclass(frozen=True)
class Error:
    """What can happen at a place."""

    probability: float  # of the channel; of a link of a chain, that of its argument
    pauli: Pauli
    flips: bool  # whether the record of the place flips: a readout error, or a herald


@dataclass(frozen=True)
class Place:
    """A noise channel on one group of targets, or a readout error."""

    line: int  # the number of the instruction in the circuit, from 1
    group: int  # the number of the group of targets, from 0
    name: str
    targets: tuple[int, ...]  # the qubits of the group, as they stand there
    record: int | None  # the number of the group's record, or None
    errors: tuple[Error, ...]  # the errors with probabilities above 0


def noise_places(circuit: stim.Circuit) -> list[Place]:
    """The places of a circuit without loops, in its order."""
    found = []
    record = 0
    for line, instruction in enumerate(circuit, start=1):
        name, arguments = instruction.name, instruction.gate_args_copy()
        measures = instruction.num_measurements > 0
        groups = _groups(instruction)
        for number, group in enumerate(groups):
            errors = tuple(error for error in _errors(name, arguments, group) if error.probability > 0)
            if errors:
                qubits = () if name == "MPAD" else tuple(t.value for t in group if not t.is_combiner)
                found.append(Place(line, number, name, qubits, record if measures else None, errors))
            record += measures
    return found


def _groups(instruction: stim.CircuitInstruction) -> list[list[stim.GateTarget]]:
    if instruction.name in _CORRELATED:
        return [instruction.targets_copy()]
    return [list(group) for group in instruction.target_groups()]


def _errors(name: str, arguments: list[float], group: list[stim.GateTarget]) -> Iterator[Error]:
    if name in _CORRELATED:
        yield Error(arguments[0], _product(group), False)
    elif name in _PAULI_CHANNELS or name in _HERALDED_CHANNELS:
        heralded = name in _HERALDED_CHANNELS
        strings = (_HERALDED_CHANNELS if heralded else _PAULI_CHANNELS)[name]
        each = arguments if len(arguments) == len(strings) else [arguments[0] / len(strings)] * len(strings)
        for probability, string in zip(each, strings, strict=True):
            letters = zip(group, string, strict=True)
            pauli = tuple(sorted((t.value, letter) for t, letter in letters if letter != "I"))
            yield Error(probability, pauli, heralded)
    elif stim.gate_data(name).produces_measurements and arguments:
        yield Error(arguments[0], (), True)


def _product(group: list[stim.GateTarget]) -> Pauli:
    found: dict[int, str] = {}
    for target in group:
        if not target.is_combiner:
            before = found.pop(target.value, None)
            letter = target.pauli_type
            if before is None:
                found[target.value] = letter
            elif before != letter:
                found[target.value] = _PRODUCT[frozenset((before, letter))]
    return tuple(sorted(found.items()))


def without_places(circuit: stim.Circuit, silent: Collection[tuple[int, int]]) -> stim.Circuit:
    """The circuit in which the places with these (line, group) have the probability 0."""
    result = stim.Circuit()
    for line, instruction in enumerate(circuit, start=1):
        if all(of_line != line for of_line, _ in silent):
            result.append(instruction)
            continue
        for number, group in enumerate(_groups(instruction)):
            arguments = instruction.gate_args_copy()
            if (line, number) in silent:
                arguments = [0.0] * len(arguments)
            result.append(_on(instruction, group, arguments))
    return result


def with_errors(circuit: stim.Circuit, happening: Mapping[tuple[int, int], Error]) -> stim.Circuit:
    """The circuit without its noise, but with the errors that happen at the places with (line, group)."""
    result = stim.Circuit()
    for line, instruction in enumerate(circuit, start=1):
        name = instruction.name
        noisy = name in _CORRELATED or name in _PAULI_CHANNELS or name in _HERALDED_CHANNELS
        if not noisy and not stim.gate_data(name).produces_measurements:
            result.append(instruction)
            continue
        for number, group in enumerate(_groups(instruction)):
            error = happening.get((line, number))
            flips = error is not None and error.flips
            if name in _HERALDED_CHANNELS:
                result.append("MPAD", [int(flips)])
            elif not noisy:
                result.append(_on(instruction, [_inverted(group[0]), *group[1:]] if flips else group, []))
            for qubit, letter in error.pauli if error else ():
                result.append(letter, [qubit])
    return result


def _on(
    instruction: stim.CircuitInstruction, group: list[stim.GateTarget], arguments: list[float]
) -> stim.CircuitInstruction:
    targets: list[stim.GateTarget] = []
    for target in group:
        if instruction.name == "MPP" and targets:
            targets.append(stim.target_combiner())
        targets.append(target)
    return stim.CircuitInstruction(instruction.name, targets, arguments, tag=instruction.tag)


def _inverted(target: stim.GateTarget) -> stim.GateTarget:
    invert = not target.is_inverted_result_target
    if target.pauli_type in ("X", "Y", "Z"):
        return stim.target_pauli(target.value, target.pauli_type, invert)
    return stim.target_inv(target.value) if invert else stim.GateTarget(target.value)
