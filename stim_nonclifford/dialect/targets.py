"""Targets of an instruction, as ``stim.Circuit.append`` takes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import stim

Target: TypeAlias = "int | str | stim.GateTarget"

_ERRORS = ("E", "CORRELATED_ERROR", "ELSE_CORRELATED_ERROR")
"""The sign of an error is a global phase."""


def listed_targets(name: str, targets: Any) -> list[Target]:
    """The targets of an instruction as a list, with the factors of Pauli products in place of these.

    Stim drops the signs of products. Here a negative product has its first factor inverted, as in
    ``MPP !X0*Z2``.

    Examples:
        >>> listed_targets("MPP", [stim.PauliString("-X_Z")])
        [stim.target_x(0, invert=True), stim.GateTarget.combiner(), stim.target_z(2)]
        >>> listed_targets("T", range(2))
        [0, 1]
    """
    if isinstance(targets, (str, stim.PauliString)) or not isinstance(targets, Iterable):
        targets = [targets]
    found: list[Target] = []
    for target in targets:
        if isinstance(target, stim.PauliString):
            found += _factors(name, target)
        else:
            found.append(target)
    return found


def is_on_qubit(target: stim.GateTarget) -> bool:
    """Whether a target is a qubit, or a Pauli on one."""
    return bool(target.is_qubit_target or target.pauli_type in ("X", "Y", "Z"))


def check_groups(name: str, size: int, instruction: stim.CircuitInstruction) -> None:
    """Checks the targets of a gate or channel that acts on more qubits than the instruction with its tag."""
    qubits = [target.value for target in instruction.targets_copy()]
    groups = [qubits[k : k + size] for k in range(0, len(qubits), size)]
    if any(len(set(group)) != size for group in groups):
        raise ValueError(
            f"{name} needs targets in groups of {size} different qubits; got {' '.join(map(str, qubits))}."
        )


def _factors(name: str, product: stim.PauliString) -> list[stim.GateTarget]:
    """The factors of a product, with combiners between them."""
    if not product.weight:
        raise ValueError(f"{name.upper()} needs products of X, Y and Z; got the identity {product}.")
    if name.upper() in _ERRORS:
        product = product / product.sign
    if product.sign.imag:
        positive = product / product.sign
        raise ValueError(
            f"{name.upper()} needs products whose sign is +1 or -1, but {product} has an imaginary one. Write"
            f" stim.PauliString({str(positive)!r}) or stim.PauliString({str(-positive)!r})."
        )
    factors: list[stim.GateTarget] = stim.target_combined_paulis(product)
    return factors
