"""Unitary operations of Cirq as steps with exact phases."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from ..angles import snapped
from ..steps import Gate, Phase, Step, controlled, phase_gate
from .gates import cirq, name_of

Indices = Mapping[Any, int]


def steps_of(operation: Any, indices: Indices) -> list[Step] | None:
    """The steps of an operation without tags and classical controls; None if it is not unitary."""
    qubits = [indices[each] for each in operation.qubits]
    gate = operation.gate
    name = name_of(gate)
    if name:
        return [Gate(name, tuple(qubits))]
    if isinstance(operation, cirq.ControlledOperation):
        controlled_power = _controlled_power(operation, indices)
        if controlled_power is not None:
            return controlled_power
    if isinstance(operation, cirq.PauliStringPhasor):
        return _phasor_steps(operation, indices)
    if isinstance(gate, cirq.IdentityGate):
        return [Gate("I", (qubit,)) for qubit in qubits]
    if isinstance(gate, cirq.GlobalPhaseGate):
        return []
    found = _steps_of_power(gate, qubits)
    if found is not None:
        return found
    if type(gate).__module__.startswith("stimcirq") or not cirq.has_unitary(operation):
        return None
    # Of a controlled operation, too: the parts of the one without controls may have lost a phase.
    steps = _steps_of_parts(operation, indices)
    if steps is None:
        raise ValueError("Cirq does not decompose it. Write it with gates that Cirq decomposes.")
    return steps


def _steps_of_parts(operation: Any, indices: Indices) -> list[Step] | None:
    """The steps of the operations that Cirq has in the place of one; None if it has none."""
    if operation.gate is not None:
        # Of qubits with neighbours, Cirq exchanges some, which is wrong for a ThreeQubitDiagonalGate.
        places = [cirq.NamedQubit(str(k)) for k in range(len(operation.qubits))]
        indices = {place: indices[each] for place, each in zip(places, operation.qubits, strict=True)}
        operation = operation.gate.on(*places)
    parts = cirq.decompose_once(operation, default=None)
    if parts is None:
        return None
    if any(qubit not in indices for part in parts for qubit in part.qubits):
        raise ValueError("Cirq decomposes it with further qubits. Write it with gates.")
    found = [steps_of(part.untagged, indices) for part in parts]
    return None if any(each is None for each in found) else [step for steps in found for step in steps or []]


def _steps_of_power(gate: Any, qubits: Sequence[int]) -> list[Step] | None:
    """The steps of a power of a gate that Cirq has."""
    exponent = getattr(gate, "exponent", None)
    if not isinstance(exponent, int | float):
        return None
    turns = snapped(float(exponent))
    phase = Phase(turns * getattr(gate, "global_shift", 0.0))
    rotations: dict[Any, str] = {cirq.XXPowGate: "XX", cirq.YYPowGate: "YY", cirq.ZZPowGate: "ZZ"}
    # Rotations first: rx is a power of X with another phase.
    for kind, paulis in rotations.items():
        if isinstance(gate, kind):
            return [Gate("R_PAULI", tuple(qubits), (turns,), paulis), Phase(turns / 2), phase]
    if isinstance(gate, cirq.HPowGate) and turns % 2 == 1:
        return [Gate("H", tuple(qubits)), phase]
    if isinstance(gate, cirq.ZPowGate | cirq.CZPowGate | cirq.CCZPowGate):
        inner = phase_gate(turns, qubits[-1])
    elif isinstance(gate, cirq.XPowGate | cirq.CXPowGate | cirq.CCXPowGate):
        inner = _power_of_pauli("X", turns, qubits[-1])
    elif isinstance(gate, cirq.YPowGate):
        inner = _power_of_pauli("Y", turns, qubits[-1])
    else:
        return None
    return [*functools.reduce(controlled, qubits[:-1], inner), phase]


def _controlled_power(operation: Any, indices: Indices) -> list[Step] | None:
    """The steps of a controlled power of a gate that Cirq has."""
    inner_operation = operation.sub_operation
    inner = _steps_of_power(inner_operation.gate, [indices[each] for each in inner_operation.qubits])
    if inner is None:
        return None
    controls = [indices[each] for each in operation.controls]
    steps: list[Step] = []
    for values in operation.control_values.expand():  # they exclude each other
        zeros = [control for control, value in zip(controls, values, strict=True) if not value]
        flips: list[Step] = [Gate("X", (control,)) for control in zeros]
        steps += [*flips, *functools.reduce(controlled, controls, inner), *flips]
    return steps


def _phasor_steps(operation: Any, indices: Indices) -> list[Step]:
    string = operation.pauli_string
    turns = snapped(float(operation.exponent_neg - operation.exponent_pos))
    if string.coefficient == -1:
        turns = -turns
    elif string.coefficient != 1:
        raise ValueError("its Pauli string has a coefficient that is not 1 or -1.")
    factors = [(indices[qubit], str(pauli)) for qubit, pauli in string.items()]
    if not factors:
        return []
    qubits, letters = zip(*factors, strict=True)
    return [Gate("R_PAULI", qubits, (turns,), "".join(letters))]


def _power_of_pauli(pauli: str, turns: float, qubit: int) -> list[Step]:
    """The power of X or Y whose eigenvalue of |+⟩ is 1."""
    if turns % 2 == 1:
        return [Gate(pauli, (qubit,))]
    return [Gate(f"R_{pauli}", (qubit,), (turns,)), Phase(turns / 2)]
