"""Clifford gates in the form that the two sweeps use, computed from Stim's tableaus."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

import stim


@dataclass(frozen=True)
class CliffordGate:
    """A Clifford gate on a few qubits."""

    name: str  # the name in Stim, for messages
    num_qubits: int  # number of qubits in one target group
    # ``inverse_images[2*k]`` (``[2*k+1]``) lists the generators whose product is the image of X (Z) on
    # target k under the inverse gate, ascending. Generator ``2*j`` is X on target j, and ``2*j+1`` is Z
    # on it (both are Y). ``2*num_qubits`` is a minus sign
    inverse_images: tuple[tuple[int, ...], ...]


@cache
def named_gate(name: str) -> CliffordGate:
    """The unitary Clifford gate with this name in Stim."""
    return tableau_gate(name, stim.Tableau.from_named_gate(name))


@lru_cache(maxsize=4096)
def pauli_product_gate(paulis: tuple[int, ...], quarter_turns: int) -> CliffordGate:
    """The gate exp(-i π/4 P)^quarter_turns of a Pauli product P, with one code (``paulis``) per target."""
    product = "*".join(f"{'_XZY'[code]}{k}" for k, code in enumerate(paulis))
    circuit = stim.Circuit(f"SPP {product}\n" * (quarter_turns % 4) + f"I {len(paulis) - 1}")
    return tableau_gate(f"SPP^{quarter_turns % 4} {product}", circuit.to_tableau())


def tableau_gate(name: str, tableau: stim.Tableau) -> CliffordGate:
    """The gate with a tableau."""
    inverse = tableau.inverse()
    images = (output(k) for k in range(len(inverse)) for output in (inverse.x_output, inverse.z_output))
    return CliffordGate(name, len(inverse), tuple(map(_generators, images)))


def _generators(image: stim.PauliString) -> tuple[int, ...]:
    found: list[int] = []
    for k in image.pauli_indices():
        if image[k] in (1, 2):
            found.append(2 * k)
        if image[k] in (2, 3):
            found.append(2 * k + 1)
    if image.sign.real < 0:
        found.append(2 * len(image))
    return tuple(found)
