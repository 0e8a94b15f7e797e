"""From tagged instructions to what is drawn: the symbols on the qubits, angles, and conditions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import stim

from ...dialect import (
    CONDITIONAL_CARRIER,
    NonCliffordGate,
    bare_name,
    channel_of,
    expectation_products,
    gate_from_tag,
    gate_named,
    groups_of_pairs,
    is_expectation,
    num_qubits_of_channel,
)
from ...simulation.compiler.algebra.paulis import X, Y, Z, product_of

EXPECTATION = "EXP_VAL"
_LETTERS = {X: "X", Y: "Y", Z: "Z"}


@dataclass(frozen=True)
class Symbol:
    """What stands on one qubit."""

    # A box with a name, the dot of a control, or the circled plus of a controlled X.
    kind: Literal["box", "control", "not"]
    name: str = ""  # the name of the gate, in a box
    letter: str = ""  # the Pauli of a product on this qubit, or empty


@dataclass(frozen=True)
class DrawnGate:
    """A gate on one group of targets."""

    qubits: tuple[int, ...]
    symbols: tuple[Symbol, ...]  # for each qubit, what stands on it
    half_turns: tuple[float, ...] = ()
    parameters: tuple[str, ...] = ()  # the names of the angles
    conditions: tuple[str, ...] = ()  # the records and sweep bits that must be 1

    @property
    def is_expectation(self) -> bool:
        """Whether it is no gate, but an expectation value."""
        return self.symbols[0].name == EXPECTATION


def with_errors_for_gates(circuit: stim.Circuit) -> tuple[stim.Circuit, Mapping[str, DrawnGate]]:
    r"""The circuit in which an error stands for each non-Clifford gate and each expectation value.

    Each gate has the probability of its error as a key, as Stim writes it.

    Examples:
        >>> drawn, gates = with_errors_for_gates(stim.Circuit("H 0\nII[CS] 0 1"))
        >>> print(drawn)
        H 0
        E(1.00001e-09) X0 X1
        >>> [symbol.kind for symbol in gates["1.00001e-09"].symbols]
        ['control', 'box']
    """
    gates: dict[str, DrawnGate] = {}
    # Six digits, the last one not 0, so that Stim writes all numbers with equal lengths.
    numbers = (f"{k / 100_000:.5f}e-09" for k in itertools.count(100_001) if k % 10)
    own = set(re.findall(r"\d\.\d+e-09", str(circuit)))
    free = (number for number in numbers if number not in own)
    return _replaced(circuit, gates, free, num_records=0), gates


def _replaced(
    circuit: stim.Circuit, gates: dict[str, DrawnGate], numbers: Iterator[str], num_records: int | None
) -> stim.Circuit:
    """A block with numbered stand-ins for its gates; num_records is None in loops, whose records repeat."""
    result = stim.Circuit()
    for instruction in circuit:
        if isinstance(instruction, stim.CircuitRepeatBlock):
            body = _replaced(instruction.body_copy(), gates, numbers, None)
            result.append(stim.CircuitRepeatBlock(instruction.repeat_count, body, tag=instruction.tag))
        else:
            drawn = list(drawn_gates_of(instruction, num_records))
            if not drawn:
                result.append(instruction)
            for gate in drawn:
                number = next(numbers)
                gates[number] = gate
                if len(gate.qubits) == 1:
                    result.append("X_ERROR", gate.qubits, float(number))
                else:
                    result.append("E", [stim.target_x(qubit) for qubit in gate.qubits], float(number))
        if num_records is not None:
            num_records += instruction.num_measurements
    return result


def drawn_gates_of(instruction: stim.CircuitInstruction, num_records: int | None) -> Iterator[DrawnGate]:
    """The gates of a tagged instruction; none if Stim draws it. In loops (None), records are relative."""
    if is_expectation(instruction):
        for product in expectation_products(instruction):
            yield from _product_gate(EXPECTATION, product)
        return
    channel = channel_of(instruction)
    if channel is not None and not instruction.num_measurements:  # Stim draws records, with their numbers
        values = ", ".join(f"{value:.6g}" for value in channel.values)
        label = f"{channel.name}({values})" if values else channel.name
        acted_on, size = instruction.targets_copy(), num_qubits_of_channel(channel)
        for k in range(0, len(acted_on), size):
            group = tuple(target.value for target in acted_on[k : k + size])
            yield DrawnGate(group, (Symbol("box", label),) * size)
        return
    gate = gate_from_tag(instruction)
    if gate is None:
        return
    targets = instruction.targets_copy()
    if instruction.name == CONDITIONAL_CARRIER:
        for group in groups_of_pairs(gate.definition, targets):
            yield _conditional_gate(gate, group, num_records)
    elif instruction.name.startswith("SPP"):
        name = bare_name(instruction)
        for product in instruction.target_groups():
            yield from _product_gate(name, product, gate)
    else:
        size = gate.definition.num_targets or 1
        for k in range(0, len(targets), size):
            qubits = tuple(target.value for target in targets[k : k + size])
            yield DrawnGate(qubits, _symbols(gate.name, size), gate.half_turns, gate.definition.parameters)


def _product_gate(
    name: str, product: Sequence[stim.GateTarget], gate: NonCliffordGate | None = None
) -> Iterator[DrawnGate]:
    """A gate about a product P, unless P is the identity. A gate about -P is drawn as its inverse about P."""
    factors, is_negative = product_of(product, lambda: name)
    if not factors:
        return
    half_turns = () if gate is None else gate.half_turns
    letters = [_LETTERS[code] for _, code in factors]
    if is_negative:
        half_turns = tuple(-angle for angle in half_turns)
        if gate is None:
            letters[0] = f"-{letters[0]}"
        elif not half_turns:
            name = gate.definition.inverse
    if name not in (EXPECTATION, "TPP", "TPP_DAG", "R_PAULI"):  # R_XX and the like name the Paulis themselves
        letters = [""] * len(letters)
    symbols = tuple(Symbol("box", name, letter) for letter in letters)
    parameters = () if gate is None else gate.definition.parameters
    yield DrawnGate(tuple(qubit for qubit, _ in factors), symbols, half_turns, parameters)


def _conditional_gate(
    gate: NonCliffordGate, group: Sequence[stim.GateTarget], num_records: int | None
) -> DrawnGate:
    qubits = tuple(target.value for target in group if target.is_qubit_target)
    conditions = tuple(_bit(target, num_records) for target in group if not target.is_qubit_target)
    name = gate.name
    if name.startswith("C_R_") and set(name.removeprefix("C_R_")) <= set("XYZ") and len(qubits) > 1:
        symbols = tuple(Symbol("box", "R_PAULI", letter) for letter in name.removeprefix("C_R_"))
    elif name.startswith("C_"):
        symbols = _symbols(name.removeprefix("C_"), len(qubits))
    else:
        symbols = _symbols(name[len(conditions) :], len(qubits))  # CCZ with one record is a CZ
    return DrawnGate(qubits, symbols, gate.half_turns, gate.definition.parameters, conditions)


def _symbols(name: str, size: int) -> tuple[Symbol, ...]:
    """The symbols of a gate: dots for its controls, and what it applies on the last qubit."""
    definition = gate_named(name)
    is_controlled = name in ("CX", "CZ") or (definition is not None and definition.num_controls > 0)
    if not is_controlled:
        return (Symbol("box", name),) * size
    last = {"X": Symbol("not"), "Z": Symbol("control")}
    applied = name[size - 1 :]
    return (Symbol("control"),) * (size - 1) + (last.get(applied, Symbol("box", applied)),)


def _bit(target: stim.GateTarget, num_records: int | None) -> str:
    """A record or sweep bit, in Stim's notation."""
    if target.is_sweep_bit_target:
        return f"sweep[{target.value}]"
    return f"rec[{target.value if num_records is None else num_records + target.value}]"
