"""Relabelling: circuits over the qubits that occur in them, numbered from 0 without gaps.

In a circuit the number of a qubit is only a label: 10203 may be the qubit in row 102, column 3. Stim's
tableaus have room for all smaller numbers, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import stim

from .extent import WITHOUT_EFFECT, Extent, extent_of

_LEFT_OUT = WITHOUT_EFFECT - {"TICK", "SHIFT_COORDS"}


def relabelled(extent: Extent, numbers: Mapping[int, int]) -> stim.Circuit:
    r"""The circuit with other numbers for its qubits.

    Blocks that ``becomes_power`` says so of are replaced by their powers. Coordinates of qubits and errors
    that are the identity are left out: they need no qubit, and ``Extent.qubits`` has none for them.

    Examples:
        >>> circuit = stim.Circuit("CX 70 3\nREPEAT 1000000000001 {\n    H 3\n}\nM !70")
        >>> relabelled(extent_of(circuit), {3: 0, 70: 1})
        stim.Circuit('''
            CX 1 0
            H 0
            M !1
        ''')
    """
    result = stim.Circuit()
    for part in extent.parts:
        if not isinstance(part, Extent):
            if part.name not in _LEFT_OUT:
                result.append(_relabelled_instruction(part, numbers))
        elif part.becomes_power:
            tableau, qubits = power_of_block(part)
            gates = extent_of(tableau.to_circuit("elimination"))
            result += relabelled(gates, {k: numbers[qubit] for k, qubit in enumerate(qubits)})
        else:
            body = relabelled(part, numbers)
            result.append(stim.CircuitRepeatBlock(part.repetitions, body or stim.Circuit("TICK")))
    return result


def power_of_block(block: Extent) -> tuple[stim.Tableau, list[int]]:
    """A block of Clifford gates as one gate: its tableau, and the qubits that it acts on, ascending."""
    qubits = sorted(block.qubits)
    numbers = {qubit: k for k, qubit in enumerate(qubits)}
    tableau = stim.Tableau(len(qubits))
    nothing = stim.Circuit(f"I {len(qubits) - 1}")
    gates = nothing.copy()
    for part in block.parts:
        if isinstance(part, Extent):
            inner, inner_qubits = power_of_block(part)
            tableau = tableau.then(gates.to_tableau())
            tableau.append(inner, [numbers[qubit] for qubit in inner_qubits])
            gates = nothing.copy()
        elif stim.gate_data(part.name).is_unitary:
            gates.append(_relabelled_instruction(part, numbers))
    return tableau.then(gates.to_tableau()) ** block.repetitions, qubits


def _relabelled_instruction(
    instruction: stim.CircuitInstruction, numbers: Mapping[int, int]
) -> stim.CircuitInstruction:
    if instruction.name == "MPAD":
        return instruction
    return stim.CircuitInstruction(
        instruction.name,
        _relabelled_targets(instruction.targets_copy(), numbers),
        instruction.gate_args_copy(),
        tag=instruction.tag,
    )


def _relabelled_targets(
    targets: Iterable[stim.GateTarget], numbers: Mapping[int, int]
) -> list[stim.GateTarget]:
    result = []
    for target in targets:
        qubit = target.qubit_value
        invert = target.is_inverted_result_target
        if qubit is None:
            result.append(target)
        elif target.pauli_type != "I":
            result.append(stim.target_pauli(numbers[qubit], target.pauli_type, invert=invert))
        else:
            result.append(stim.target_inv(numbers[qubit]) if invert else stim.GateTarget(numbers[qubit]))
    return result
