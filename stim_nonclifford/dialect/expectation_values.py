"""EXP_VAL: the instruction that asks for the expectation values of Pauli products.

``EXP_VAL X0*Y1 !Z3`` is written for Stim as ``I[EXP_VAL(XY, !Z)] 0 1 3``: an identity gate on the qubits of
the products, as the instruction changes no state. The tag has the letters of the products, and the targets
are their qubits, one product after the other. If there are more targets than letters, the letters start
again, so that Stim may fuse two such instructions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import stim

EXP_VAL = "EXP_VAL"
_CARRIER = "I"
_PRODUCT = r"!?[XYZ]+"
_TAG = re.compile(rf"{EXP_VAL}\(\s*(?P<products>{_PRODUCT}(?:\s*,\s*{_PRODUCT})*)\s*\)")
_TARGET = {"X": stim.target_x, "Y": stim.target_y, "Z": stim.target_z}


def is_expectation(instruction: stim.CircuitInstruction) -> bool:
    """Whether an instruction asks for expectation values."""
    return bool(instruction.name == _CARRIER and _TAG.fullmatch(instruction.tag))


def expectation_products(instruction: stim.CircuitInstruction) -> list[list[stim.GateTarget]]:
    """The Pauli products of an instruction whose tag starts with EXP_VAL, as targets without combiners.

    Examples:
        >>> expectation_products(stim.CircuitInstruction("I", [0, 1, 3], tag="EXP_VAL(XY, !Z)"))
        [[stim.target_x(0), stim.target_y(1)], [stim.target_z(3, invert=True)]]
    """
    found = _TAG.fullmatch(instruction.tag)
    if instruction.name != _CARRIER or not found:
        raise ValueError(
            f"Malformed tag [{instruction.tag}] on {instruction.name}: expectation values are written"
            f" {_CARRIER}[{EXP_VAL}(XY, !Z)] 0 1 3 or, without a tag, {EXP_VAL} X0*Y1 !Z3."
        )
    products = [product.strip() for product in found["products"].split(",")]
    qubits = [target.value for target in instruction.targets_copy()]
    letters = sum(len(product.lstrip("!")) for product in products)
    if len(qubits) % letters:
        raise ValueError(
            f"The tag [{instruction.tag}] has {letters} letters, so the number of targets must be a multiple"
            f" of {letters}; got {len(qubits)}."
        )
    groups = []
    remaining = iter(qubits)
    for _ in range(len(qubits) // letters):
        for product in products:
            factors = [_TARGET[letter](next(remaining)) for letter in product.lstrip("!")]
            if product.startswith("!"):
                factors[0] = _TARGET[product[1]](factors[0].value, invert=True)
            groups.append(factors)
    for group in groups:
        _check_hermitian(group)
    return groups


def num_expectations(circuit: stim.Circuit) -> int:
    r"""Number of expectation values of a circuit, with REPEAT blocks unrolled.

    Examples:
        >>> num_expectations(stim.Circuit("REPEAT 3 {\nI[EXP_VAL(X)] 0 1\n}"))
        6
    """
    count = 0
    blocks = [(circuit, 1)]
    while blocks:
        block, repetitions = blocks.pop()
        for instruction in block:
            if isinstance(instruction, stim.CircuitRepeatBlock):
                blocks.append((instruction.body_copy(), repetitions * instruction.repeat_count))
            elif is_expectation(instruction):
                count += repetitions * len(expectation_products(instruction))
    return count


def tagged_expectation(targets: str) -> stim.CircuitInstruction:
    """The tagged form of ``EXP_VAL``, whose targets are those of MPP.

    Examples:
        >>> print(tagged_expectation("X0*Y1 !Z3"))
        I[EXP_VAL(XY, !Z)] 0 1 3
    """
    try:
        measured = stim.Circuit(f"MPP {targets}\n")
    except ValueError as error:
        raise ValueError(str(error).replace("MPP", EXP_VAL)) from None
    groups = [group for instruction in measured for group in instruction.target_groups()]
    if not groups:
        raise ValueError(f"{EXP_VAL} needs Pauli products as targets, as in {EXP_VAL} X0*Y1 Z3.")
    return expectation_of_products(groups)


def expectation_of_products(groups: Sequence[Sequence[stim.GateTarget]]) -> stim.CircuitInstruction:
    """The instruction that asks for the expectation values of products.

    Examples:
        >>> print(expectation_of_products([[stim.target_z(3, invert=True)], [stim.target_x(0)]]))
        I[EXP_VAL(!Z, X)] 3 0
    """
    products, qubits = [], []
    for group in groups:
        _check_hermitian(group)
        is_negative = sum(target.is_inverted_result_target for target in group) % 2
        products.append("!" * is_negative + "".join(target.pauli_type for target in group))
        qubits += [target.value for target in group]
    return stim.CircuitInstruction(_CARRIER, qubits, tag=f"{EXP_VAL}({', '.join(products)})")


def bare_expectation(instruction: stim.CircuitInstruction) -> str:
    """The text of the instruction without a tag.

    Examples:
        >>> bare_expectation(stim.CircuitInstruction("I", [0, 1, 3], tag="EXP_VAL(XY, !Z)"))
        'EXP_VAL X0*Y1 !Z3'
    """
    products = map(stim.target_combined_paulis, expectation_products(instruction))
    targets = [target for product in products for target in product]
    return EXP_VAL + str(stim.CircuitInstruction("MPP", targets))[len("MPP") :]


def _check_hermitian(group: Sequence[stim.GateTarget]) -> None:
    products: dict[int, stim.PauliString] = {}
    for target in group:
        factor = stim.PauliString(target.pauli_type)
        products[target.value] = products[target.value] * factor if target.value in products else factor
    if sum(product.sign.imag != 0 for product in products.values()) % 2:
        text = "*".join(f"{target.pauli_type}{target.value}" for target in group)
        raise ValueError(f"the Pauli product {text} is not Hermitian, as its prefactor is imaginary.")
