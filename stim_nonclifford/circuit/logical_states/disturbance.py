"""Which instructions act on a logical qubit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import stim

from ...dialect import gate_from_tag, is_expectation
from .operators import pauli_product

__all__ = ["disturbs"]

_PAULI_OF_MEASUREMENT = {"M": "Z", "MX": "X", "MY": "Y", "MZZ": "Z", "MXX": "X", "MYY": "Y"}
_PAULI_GATES = ("I", "II", "X", "Y", "Z")
_NO_ACTION = ("DETECTOR", "OBSERVABLE_INCLUDE", "TICK", "QUBIT_COORDS", "SHIFT_COORDS", "MPAD")


def disturbs(
    instruction: stim.CircuitInstruction, products: Sequence[stim.PauliString], *, noise_too: bool
) -> bool:
    r"""Whether an instruction changes logical Paulis, or its records tell of them.

    Examples:
        >>> def found(text, noise_too=False):
        ...     return disturbs(stim.Circuit(text)[0], [stim.PauliString("XX_")], noise_too=noise_too)
        >>> found("M 2"), found("MZZ 0 1"), found("M 0"), found("H 0"), found("R 1")
        (False, False, True, True, True)
        >>> found("DEPOLARIZE1(0.1) 0"), found("DEPOLARIZE1(0.1) 0", noise_too=True)
        (False, True)
    """
    name = instruction.name
    if name in _NO_ACTION or is_expectation(instruction):
        return False
    support = {qubit for product in products for qubit in product.pauli_indices()}
    targets = instruction.targets_copy()
    if support.isdisjoint(target.qubit_value for target in targets):
        return False
    if gate_from_tag(instruction) is not None:
        return True
    data = stim.gate_data(name)
    if data.is_reset:
        return True
    if data.produces_measurements and not name.startswith("HERALDED_"):
        return any(
            not measured.commutes(product)
            for measured in _measured(instruction, len(products[0]))
            for product in products
        )
    is_feedback = data.is_two_qubit_gate and all(
        any(target.is_measurement_record_target for target in group) for group in instruction.target_groups()
    )
    return noise_too if data.is_noisy_gate or is_feedback or name in _PAULI_GATES else True


def _measured(instruction: stim.CircuitInstruction, num_qubits: int) -> Iterator[stim.PauliString]:
    """The Pauli products that a measurement measures."""
    letter = _PAULI_OF_MEASUREMENT.get(instruction.name)
    for group in instruction.target_groups():
        if letter is not None:
            group = [stim.target_pauli(target.value, letter) for target in group]
        yield pauli_product(group, num_qubits)
