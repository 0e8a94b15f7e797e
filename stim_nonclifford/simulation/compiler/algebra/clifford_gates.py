"""Clifford gates in the forms that the two sweeps use, computed from Stim's tableaus."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

import stim

from .paulis import Factors, from_pauli_string

__all__ = ["CliffordGate", "named_gate", "pauli_product_gate", "tableau_gate"]


@dataclass(frozen=True)
class CliffordGate:
    """A Clifford gate on a few qubits.

    Attributes:
        name: The name in Stim, for messages.
        num_qubits: Number of qubits in one target group.
        inverse: The tableau of the inverse gate.
        pullback: ``pullback[2*k]`` (``[2*k+1]``) lists the generators whose product is the image of X
            (Z) on target k, up to sign. Generator ``2*j`` is X on target j, and ``2*j+1`` is Z on target j.
            None for Pauli gates, which only change signs.
    """

    name: str
    num_qubits: int
    inverse: stim.Tableau
    pullback: tuple[tuple[int, ...], ...] | None

    @property
    def inverse_images(self) -> list[tuple[Factors, bool]]:
        """For each generator, its image under the inverse gate: factors on targets, and if it is negative."""
        tableau = self.inverse
        images = [output(k) for k in range(len(tableau)) for output in (tableau.x_output, tableau.z_output)]
        return [(from_pauli_string(image), image.sign.real < 0) for image in images]


@cache
def named_gate(name: str) -> CliffordGate:
    """The unitary Clifford gate with this name in Stim.

    Examples:
        >>> named_gate("CX").pullback
        ((0, 2), (1,), (2,), (1, 3))
    """
    return tableau_gate(name, stim.Tableau.from_named_gate(name))


@lru_cache(maxsize=4096)
def pauli_product_gate(paulis: tuple[int, ...], quarter_turns: int) -> CliffordGate:
    """The gate exp(-i π/4 P)^quarter_turns of a Pauli product P, with one code (see ``paulis``) per target.

    Examples:
        >>> pauli_product_gate((2,), 1).inverse == stim.Tableau.from_named_gate("S_DAG")
        True
    """
    product = "*".join(f"{'_XZY'[code]}{k}" for k, code in enumerate(paulis))
    circuit = stim.Circuit(f"SPP {product}\n" * (quarter_turns % 4) + f"I {len(paulis) - 1}")
    return tableau_gate(f"SPP^{quarter_turns % 4} {product}", circuit.to_tableau())


def tableau_gate(name: str, tableau: stim.Tableau) -> CliffordGate:
    """The gate with a tableau.

    Examples:
        >>> tableau_gate("a gate", stim.Tableau.from_named_gate("CX")).pullback
        ((0, 2), (1,), (2,), (1, 3))
    """
    images = [output(k) for k in range(len(tableau)) for output in (tableau.x_output, tableau.z_output)]
    pullback = tuple(_generators(image) for image in images)
    changes = any(generators != (k,) for k, generators in enumerate(pullback))
    return CliffordGate(name, len(tableau), tableau.inverse(), pullback if changes else None)


def _generators(image: stim.PauliString) -> tuple[int, ...]:
    found: list[int] = []
    for k in image.pauli_indices():
        if image[k] in (1, 2):
            found.append(2 * k)
        if image[k] in (2, 3):
            found.append(2 * k + 1)
    return tuple(found)
