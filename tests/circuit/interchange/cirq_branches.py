"""The exact distribution of the records of a Cirq circuit, by Cirq's own matrices and conditions.

A measurement splits a density matrix into its branches; conditions are resolved by Cirq from the data of a
branch.
"""

import copy
import itertools
from typing import Any

import numpy as np

Branch = tuple[tuple[int, ...], Any, Any]
"""The records in their order, Cirq's classical data, and a density matrix whose trace is the probability."""

CUTOFF = 1e-13


def distribution_of(circuit: Any) -> dict[tuple[int, ...], float]:
    """The probabilities of all records, in the order of the measurements."""
    import cirq

    qubits = sorted(circuit.all_qubits())
    size = len(qubits)
    start = np.zeros((2,) * (2 * size), dtype=np.complex128)
    start[(0,) * (2 * size)] = 1
    branches: list[Branch] = [((), cirq.ClassicalDataDictionaryStore(), start)]
    for operation in circuit.all_operations():
        branches = _run(operation, branches, qubits)
    found: dict[tuple[int, ...], float] = {}
    for records, _, state in branches:
        found[records] = found.get(records, 0.0) + _trace(state)
    return found


def _trace(state: Any) -> float:
    size = 2 ** (state.ndim // 2)
    return float(np.trace(state.reshape(size, size)).real)


def _run(operation: Any, branches: list[Branch], qubits: list[Any]) -> list[Branch]:
    import cirq

    operation = operation.untagged
    if isinstance(operation, cirq.ClassicallyControlledOperation):
        inner = operation.without_classical_controls()
        found = []
        for branch in branches:
            holds = all(each.resolve(branch[1]) for each in operation.classical_controls)
            found += _run(inner, [branch], qubits) if holds else [branch]
        return found
    if isinstance(operation.gate, cirq.MeasurementGate):
        return [new for branch in branches for new in _measured(operation, branch, qubits)]
    is_product = isinstance(operation.gate, cirq.ParallelGate)
    if not cirq.is_measurement(operation) and not is_product and cirq.has_kraus(operation):
        places = [qubits.index(each) for each in operation.qubits]
        operators = cirq.kraus(operation)
        return [(a, b, sum(_sandwich(state, k, places) for k in operators)) for a, b, state in branches]
    for part in cirq.decompose_once(operation):
        branches = _run(part, branches, qubits)
    return branches


def _sandwich(state: Any, operator: Any, places: list[int]) -> Any:
    size = state.ndim // 2
    matrix = np.asarray(operator, dtype=np.complex128).reshape((2,) * (2 * len(places)))
    inner = list(range(len(places), 2 * len(places)))
    for axes, factor in ((places, matrix), ([size + k for k in places], matrix.conj())):
        state = np.moveaxis(np.tensordot(factor, state, (inner, axes)), range(len(places)), axes)
    return state


def _measured(operation: Any, branch: Branch, qubits: list[Any]) -> list[Branch]:
    records, data, state = branch
    places = [qubits.index(each) for each in operation.qubits]
    found = []
    for bits in itertools.product((0, 1), repeat=len(places)):
        projector = np.diag([float(each == bits) for each in itertools.product((0, 1), repeat=len(bits))])
        projected = _sandwich(state, projector, places)
        if _trace(projected) < CUTOFF:
            continue
        for read, probability in _confused(bits, operation.gate.confusion_map):
            inverted = tuple(
                bit ^ int(flip) for bit, flip in zip(read, operation.gate.full_invert_mask(), strict=True)
            )
            after = copy.deepcopy(data)
            after.record_measurement(operation.gate.mkey, inverted, operation.qubits)
            found.append(((*records, *inverted), after, projected * probability))
    return found


def _confused(bits: tuple[int, ...], confusion_map: Any) -> list[tuple[tuple[int, ...], float]]:
    found = [(bits, 1.0)]
    for places, matrix in confusion_map.items():
        row = matrix[int("".join(str(bits[k]) for k in places), 2)]
        new = []
        for read, probability in found:
            for values, chance in zip(itertools.product((0, 1), repeat=len(places)), row, strict=True):
                if chance:
                    changed = list(read)
                    for place, value in zip(places, values, strict=True):
                        changed[place] = value
                    new.append((tuple(changed), probability * chance))
        found = new
    return found
