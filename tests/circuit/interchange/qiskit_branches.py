"""Circuits of Qiskit with feedback; the exact distribution of their bits, and their final states, by its state vectors.

A measurement splits a state into its two branches; conditions are read off the bits of a branch.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...support.laws.exact import largest_difference, marginal

Branch = tuple[tuple[int, ...], Any]
"""The bits, and a state vector whose norm squared is the probability."""

CUTOFF = 1e-14


def branches_of(circuit: Any) -> list[Branch]:
    """The branches of a circuit with measurements, resets and ``if_test``."""
    from qiskit.quantum_info import Statevector

    start = Statevector.from_int(0, 2**circuit.num_qubits)
    wires = {qubit: k for k, qubit in enumerate(circuit.qubits)}
    bits = {bit: k for k, bit in enumerate(circuit.clbits)}
    return _run(circuit, [((0,) * circuit.num_clbits, start)], wires, bits)


def distribution_of(circuit: Any) -> dict[tuple[int, ...], float]:
    """The probabilities of the bits at the end."""
    found: dict[tuple[int, ...], float] = {}
    for bits, state in branches_of(circuit):
        found[bits] = found.get(bits, 0.0) + float(np.vdot(state.data, state.data).real)
    return found


def _run(circuit: Any, branches: list[Branch], wires: dict[Any, int], bits: dict[Any, int]) -> list[Branch]:
    for instruction in circuit.data:
        operation = instruction.operation
        qubits = [wires[each] for each in instruction.qubits]
        places = [bits[each] for each in instruction.clbits]
        found: list[Branch] = []
        for values, state in branches:
            if operation.name == "barrier":
                found.append((values, state))
            elif operation.name in ("measure", "reset"):
                found += _measured(values, state, qubits[0], places, resets=operation.name == "reset")
            elif operation.name == "if_else":
                block = _chosen(operation, values, bits)
                if block is None:
                    found.append((values, state))
                else:
                    inner_wires = dict(zip(block.qubits, qubits, strict=True))
                    inner_bits = dict(zip(block.clbits, places, strict=True))
                    found += _run(block, [(values, state)], inner_wires, inner_bits)
            else:
                found.append((values, state.evolve(operation, qubits)))
        branches = found
    return branches


def _chosen(operation: Any, values: tuple[int, ...], bits: dict[Any, int]) -> Any:
    subject, wanted = operation.condition
    members = list(subject) if hasattr(subject, "size") else [subject]
    number = sum(values[bits[bit]] << k for k, bit in enumerate(members))
    blocks = [*operation.blocks, None]
    return blocks[0] if number == int(wanted) else blocks[1]


def _measured(values: Any, state: Any, qubit: int, places: list[int], *, resets: bool) -> list[Branch]:
    from qiskit.circuit.library import XGate
    from qiskit.quantum_info import Operator

    found = []
    for outcome in (0, 1):
        projector = Operator(np.diag([1.0 - outcome, float(outcome)]))
        projected = state.evolve(projector, [qubit])
        if np.vdot(projected.data, projected.data).real < CUTOFF:
            continue
        if resets and outcome:
            projected = projected.evolve(XGate(), [qubit])
        after = list(values)
        for place in places:
            after[place] = outcome
        found.append((tuple(after), projected))
    return found


def circuit_with_feedback(qiskit: Any, seed: int) -> Any:
    """Gates, four measurements into different bits, and gates that depend on a bit or on a register."""
    from qiskit.circuit.random import random_circuit

    rng = np.random.default_rng(seed)
    qubits, first, second = (
        qiskit.QuantumRegister(3),
        qiskit.ClassicalRegister(2),
        qiskit.ClassicalRegister(2),
    )
    circuit = qiskit.QuantumCircuit(qubits, first, second)

    def some_gates(into: Any) -> None:
        part = random_circuit(3, 2, max_operands=2, seed=int(rng.integers(1 << 30)))
        for instruction in part.data:
            into.append(instruction.operation, [qubits[part.find_bit(q).index] for q in instruction.qubits])

    some_gates(circuit)
    circuit.measure(qubits[0], first[0])
    circuit.measure(qubits[1], first[1])
    circuit.reset(qubits[0])
    some_gates(circuit)
    with circuit.if_test((first, int(rng.integers(4)))) as otherwise:
        some_gates(circuit)
    with otherwise:
        some_gates(circuit)
    with circuit.if_test((first[1], int(rng.integers(2)))):
        circuit.h(2)
        with circuit.if_test((first[0], 0)):
            circuit.t(2)
            circuit.h(2)
    circuit.measure(qubits[2], second[0])
    circuit.measure(qubits[0], second[1])
    return circuit


def compare_bits(expected: Mapping[tuple[int, ...], float], found: Mapping[tuple[int, ...], float]) -> None:
    """Records of ancillas stand between those of the four measurements, which are the first two and the last two."""
    summed = marginal(found, lambda bits: (*bits[:2], *bits[-2:]))
    assert largest_difference(summed, expected) < 1e-9
