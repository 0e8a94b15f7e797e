"""The exact distribution of the bits of a Qiskit circuit, and its final states, by Qiskit's state vectors.

A measurement splits a state into its two branches; conditions are read off the bits of a branch.
"""

from typing import Any

import numpy as np

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
