"""Counts that describe the size of a cultivation circuit, defined as in published tables."""

from __future__ import annotations

from dataclasses import dataclass

import stim

from ...base.arguments import check_types
from .noise import is_feedback

_T_GATES = ("S", "S_DAG")


@dataclass(frozen=True)
class CircuitStatistics:
    """Size of a cultivation circuit.

    The first five count the protocol alone: everything up to the last TICK. The other three also count
    the T gates that the perfect final check applies before its logical measurement. They do not count
    the inverse T gates after that measurement.

    Attributes:
        qubits: Number of qubits.
        gates: Number of gates, resets and measurements; a gate on two qubits counts once, and Paulis
            controlled by outcomes do not count.
        depth: Number of moments.
        two_qubit_gates: Number of gates on two qubits.
        measurements: Number of measurements.
        t_count: Number of T and T_DAG gates.
        t_support: Number of qubits that T and T_DAG gates act on.
        t_depth: Number of layers of T and T_DAG gates.
    """

    qubits: int
    gates: int
    depth: int
    two_qubit_gates: int
    measurements: int
    t_count: int
    t_support: int
    t_depth: int


def circuit_statistics(circuit: stim.Circuit) -> CircuitStatistics:
    """Computes the columns of Table II of the SOFT paper (arXiv 2512.23037).

    Noise, annotations and feedback do not count. S and S_DAG gates count as T gates with or without the tag,
    so the S-proxy has the same counts as the circuit with T gates.

    Args:
        circuit: A circuit that `cultivation_circuit` returned.

    Returns:
        The counts.

    Examples:
        >>> from stim_nonclifford.generators.cultivation import cultivation_circuit
        >>> print(circuit_statistics(cultivation_circuit(distance=3)))
        CircuitStatistics(qubits=15, gates=137, depth=39, two_qubit_gates=81, measurements=14, \
t_count=22, t_support=7, t_depth=4)
    """
    check_types(circuit, "circuit", "a stim.Circuit", stim.Circuit)
    moments = _operations_by_moment(circuit)
    protocol = [instruction for moment in moments[:-1] for instruction in moment]
    counted = [*moments[:-1], _until_first_measurement(moments[-1])]
    t_layers = [[i for i in moment if i.name in _T_GATES] for moment in counted]
    t_gates = [instruction for layer in t_layers for instruction in layer]
    return CircuitStatistics(
        qubits=circuit.num_qubits,
        gates=sum(_size(i) for i in protocol),
        depth=len(moments) - 1,
        two_qubit_gates=sum(_size(i) for i in protocol if _is_two_qubit_gate(i)),
        measurements=sum(i.num_measurements for i in protocol),
        t_count=sum(_size(i) for i in t_gates),
        t_support=len({target.value for i in t_gates for target in i.targets_copy()}),
        t_depth=sum(1 for layer in t_layers if layer),
    )


def _operations_by_moment(circuit: stim.Circuit) -> list[list[stim.CircuitInstruction]]:
    """Splits a circuit at its TICKs, without noise, annotations and feedback."""
    moments: list[list[stim.CircuitInstruction]] = [[]]
    for instruction in circuit.flattened():
        gate = stim.gate_data(instruction.name)
        if instruction.name == "TICK":
            moments.append([])
        elif is_feedback(instruction):
            continue
        elif gate.is_unitary or gate.is_reset or gate.produces_measurements:
            moments[-1].append(instruction)
    return moments


def _until_first_measurement(
    instructions: list[stim.CircuitInstruction],
) -> list[stim.CircuitInstruction]:
    for k, instruction in enumerate(instructions):
        if instruction.num_measurements:
            return instructions[:k]
    return instructions


def _size(instruction: stim.CircuitInstruction) -> int:
    return len(instruction.target_groups())


def _is_two_qubit_gate(instruction: stim.CircuitInstruction) -> bool:
    return bool(stim.gate_data(instruction.name).is_two_qubit_gate)
