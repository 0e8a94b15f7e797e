"""Sparse Pauli products: tuples of (qubit, code) with code X = 1, Z = 2, Y = 3.

Bit 0 of a code is 1 if the Pauli has an X part, bit 1 is 1 if it has a Z part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import stim

X, Z, Y = 1, 2, 3

Factors = tuple[tuple[int, int], ...]

_CODE_OF_LETTER = {"I": 0, "X": X, "Y": Y, "Z": Z}
_CODE_OF_STIM = (0, X, Y, Z)
_STRINGS = tuple(stim.PauliString(letter) for letter in "_XZY")


def pauli_code(letter: str) -> int:
    """The code of ``"X"``, ``"Y"``, ``"Z"`` or ``"I"``."""
    return _CODE_OF_LETTER[letter]


@cache
def codes_of(pauli: str) -> Factors:
    """The positions and codes of the letters of a Pauli string such as ``"Z_X"``."""
    return tuple((k, pauli_code(letter)) for k, letter in enumerate(pauli) if letter != "_")


def product_of(targets: Iterable[stim.GateTarget], where: Callable[[], str]) -> tuple[Factors, bool]:
    """The factors of a product such as ``X0*!Y1*X2``, and whether it has a minus sign.

    Factors are in the order of their first appearance.
    """
    factors, phase = _product(targets)
    if phase.imag:
        raise ValueError(f"{where()}: the Pauli product is not Hermitian, as its prefactor is imaginary.")
    return factors, phase.real < 0


def factors_of(targets: Iterable[stim.GateTarget]) -> Factors:
    """The factors of a product of Pauli targets without its phase; targets may repeat a qubit."""
    return _product(targets)[0]


def _product(targets: Iterable[stim.GateTarget]) -> tuple[Factors, complex]:
    codes: dict[int, int] = {}
    phase = 1 + 0j
    for target in targets:
        qubit = target.qubit_value
        if qubit is None:
            continue
        if target.is_inverted_result_target:
            phase = -phase
        code = _CODE_OF_LETTER[target.pauli_type]
        before = codes.get(qubit, 0)
        if before:
            product = _STRINGS[before] * _STRINGS[code]
            phase *= product.sign
            code = _CODE_OF_STIM[product[0]]
        codes[qubit] = code
    return tuple((qubit, code) for qubit, code in codes.items() if code), phase
