"""Logical operators as circuits name them: by EXP_VAL, and by observables with Pauli targets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import stim

from ...base.written_circuits import circuit_of, instructions_in, with_replaced
from ...dialect import expectation_products, is_expectation


def pauli_product(targets: Iterable[stim.GateTarget], num_qubits: int) -> stim.PauliString:
    """The product of Pauli targets as a string of a length; combiners and records are skipped.

    Examples:
        >>> pauli_product([stim.target_x(0), stim.target_z(2, invert=True)], 3)
        stim.PauliString("-X_Z")
    """
    product = stim.PauliString(num_qubits)
    for target in targets:
        if target.pauli_type in ("X", "Y", "Z"):
            factor = stim.PauliString(num_qubits)
            factor[target.value] = target.pauli_type
            product *= -factor if target.is_inverted_result_target else factor
    return product


def shown_product(product: stim.PauliString) -> str:
    """A product as targets of MPP.

    Examples:
        >>> shown_product(stim.PauliString("-X_Z"))
        '!X0*Z2'
    """
    letters = [f"{'_XYZ'[product[qubit]]}{qubit}" for qubit in product.pauli_indices()]
    return ("!" if product.sign == -1 else "") + "*".join(letters)


def expected_paulis(circuit: stim.Circuit) -> Iterator[stim.PauliString]:
    """The products whose expectation values a circuit asks for, in their order, with blocks unrolled."""
    return _expected(circuit, circuit.num_qubits)


def _expected(circuit: stim.Circuit, num_qubits: int) -> Iterator[stim.PauliString]:
    for instruction in circuit:
        if isinstance(instruction, stim.CircuitRepeatBlock):
            body = instruction.body_copy()
            if next(_expected(body, num_qubits), None) is not None:
                for _ in range(instruction.repeat_count):
                    yield from _expected(body, num_qubits)
        elif is_expectation(instruction):
            for targets in expectation_products(instruction):
                yield pauli_product(targets, num_qubits)


def has_pauli_targets(instruction: stim.CircuitInstruction) -> bool:
    """Whether an instruction is an OBSERVABLE_INCLUDE with Pauli targets."""
    return instruction.name == "OBSERVABLE_INCLUDE" and any(
        not target.is_measurement_record_target for target in instruction.targets_copy()
    )


def observable_paulis(circuit: stim.Circuit) -> dict[int, stim.PauliString]:
    """The products of the Pauli targets of observables that have some."""
    found: dict[int, stim.PauliString] = {}

    def look(part: stim.Circuit) -> None:
        for instruction in part:
            if isinstance(instruction, stim.CircuitRepeatBlock):
                body = instruction.body_copy()
                for _ in range(instruction.repeat_count % 2 or 2):  # a product, and so its own inverse
                    look(body)
            elif has_pauli_targets(instruction):
                observable = int(instruction.gate_args_copy()[0])
                product = pauli_product(instruction.targets_copy(), circuit.num_qubits)
                before = found.get(observable, stim.PauliString(circuit.num_qubits))
                found[observable] = before * product

    look(circuit)
    return found


def observables_with_records(circuit: stim.Circuit) -> set[int]:
    """The observables that records are part of."""
    return {
        int(part.gate_args_copy()[0])
        for part in instructions_in(circuit)
        if part.name == "OBSERVABLE_INCLUDE"
        and any(target.is_measurement_record_target for target in part.targets_copy())
    }


def without_pauli_targets(circuit: stim.Circuit) -> stim.Circuit:
    """The circuit whose observables are sums of records alone."""

    def stand_in(part: stim.CircuitInstruction) -> stim.Circuit | None:
        if not has_pauli_targets(part):
            return None
        records = [each for each in part.targets_copy() if each.is_measurement_record_target]
        return circuit_of(stim.CircuitInstruction(part.name, records, part.gate_args_copy(), tag=part.tag))

    return with_replaced(circuit, stand_in)
