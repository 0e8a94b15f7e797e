"""Any channel on one qubit or two, given by its Kraus operators.

``KRAUS`` and ``KRAUS2`` take the elements of the operators, row by row, each as a real and an imaginary part.
At most four operators are needed for a channel on one qubit, and 16 on two (the eigenvectors of its Choi
matrix). Weak measurements find out which one applies (``kraus_stages``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import stim

from ..gates import Part
from .channel_tags import ChannelDefinition, TaggedChannel, read_channel
from .kraus_stages import stages_of

Matrix = npt.NDArray[np.complex128]

_TOLERANCE = 1e-9
_ROUNDING = 1e-15
"""Operators with a smaller weight are left out."""

_NOTHING = 1e-12
"""Amplitudes and angles that are smaller are rounded zeros."""

_SIZES = {"KRAUS": 1, "KRAUS2": 2}
"""The numbers of qubits."""

_PAULIS: tuple[Matrix, ...] = (
    np.eye(2, dtype=np.complex128),
    np.array([[0, 1], [1, 0]], dtype=np.complex128),
    np.array([[0, -1j], [1j, 0]], dtype=np.complex128),
    np.array([[1, 0], [0, -1]], dtype=np.complex128),
)


def _paulis(num_qubits: int) -> list[Matrix]:
    """The Paulis in the order of Stim's channels: the letter of the last qubit changes first."""
    if num_qubits == 1:
        return list(_PAULIS)
    return [np.kron(last, first).astype(np.complex128) for first in _PAULIS for last in _PAULIS]


@dataclass(frozen=True)
class Kraus(TaggedChannel):
    """A channel, as read from a tag."""

    @property
    def num_qubits(self) -> int:
        """The number of qubits on which it acts."""
        return _SIZES[self.name]

    @property
    def num_ancillas(self) -> int:
        """The number of ancillas that may be needed: the bits of the number of an operator."""
        return 2 * self.num_qubits

    @property
    def twirl(self) -> tuple[float, ...]:
        """The probabilities in the Pauli twirl, in the order of Stim's PAULI_CHANNEL_1 or PAULI_CHANNEL_2."""
        _, *weights = np.diag(_chi_matrix(self.values, self.num_qubits)).real.tolist()
        return tuple(max(weight, 0.0) for weight in weights)

    @property
    def transitions(self) -> npt.NDArray[np.float64]:
        """The probability of each basis state after the channel (row) for each one before (column)."""
        return (np.abs(_operators(self.values, self.num_qubits)) ** 2).sum(axis=0)

    @property
    def is_pauli_channel(self) -> bool:
        """Whether the channel is its twirl."""
        chi = _chi_matrix(self.values, self.num_qubits)
        return bool(np.abs(chi - np.diag(np.diag(chi))).max() < _NOTHING)

    @property
    def stages(self) -> tuple[tuple[Part, ...], ...]:
        """The channel as rotations of the qubits and of ancillas in |0>, which are the targets in this order.

        After each stage but the last one, the next ancilla is measured.
        """
        return _stages(self.values, self.num_qubits)


def values_of_operators(operators: Any, name: str = "KRAUS") -> list[float]:
    """The arguments of KRAUS or KRAUS2 for Kraus operators.

    Their shape is (number of operators, 2, 2), and (number of operators, 4, 4) for KRAUS2. Bit k of an index
    is the value of qubit k, as in Stim's matrices.

    Examples:
        >>> values_of_operators([[[0, 1j], [1, 0]]])
        [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    """
    size = 1 << _SIZES[name]
    on = {"KRAUS": "one qubit", "KRAUS2": "two qubits"}
    wanted = f"{name} takes operators on {on[name]}, an array of shape (number of operators, {size}, {size})"
    try:
        array = np.asarray(operators, dtype=np.complex128)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{wanted}: {error}.") from None
    if array.ndim != 3 or array.shape[1:] != (size, size):
        fitting = [other for other, qubits in _SIZES.items() if array.shape[1:] == (1 << qubits, 1 << qubits)]
        advice = (
            f"For operators on {on[fitting[0]]}, write {fitting[0]}."
            if fitting
            else "A channel on more qubits can be written as gates with an ancilla that is reset."
        )
        raise ValueError(f"{wanted}; got the shape {array.shape}. {advice}")
    return [part for element in array.ravel().tolist() for part in (element.real, element.imag)]


def _problem(name: str, *values: float) -> str:
    num_qubits = _SIZES[name]
    size = 1 << num_qubits
    per_operator = 2 * size**2
    if not values or len(values) % per_operator:
        return (
            f"each operator has {per_operator} numbers, the real and the imaginary part of each element, row"
            f" by row; got {len(values)}"
        )
    if not all(map(math.isfinite, values)):
        return "the elements must be finite numbers"
    operators = _operators(values, num_qubits)
    total = np.einsum("kba,kbc->ac", operators.conj(), operators)
    off = float(np.abs(total - np.eye(size)).max())
    if off > _TOLERANCE:
        return (
            "the sum of K^dagger K over the operators must be the identity, to 1e-9, but differs from it by"
            f" {off:.3g}"
        )
    return ""


def _definition(name: str, description: str, example: Matrix, carrier: str) -> ChannelDefinition:
    return ChannelDefinition(
        name,
        description,
        ("re", "im", "..."),
        partial(_problem, name),
        tuple(values_of_operators([example], name)),
        carrier=carrier,
        num_targets=_SIZES[name],
        is_list=True,
    )


_ELEMENTS = "by its Kraus operators: real and imaginary parts of the elements, row by row"

KRAUS = {
    "KRAUS": _definition("KRAUS", f"any channel on a qubit, {_ELEMENTS}", _PAULIS[1], "I_ERROR"),
    "KRAUS2": _definition(
        "KRAUS2",
        f"any channel on a pair of qubits, {_ELEMENTS}; bit k of an index is the value of qubit k",
        _paulis(2)[1],
        "II_ERROR",
    ),
}
"""The channels by their names."""


def kraus_of(instruction: stim.CircuitInstruction) -> Kraus | None:
    """The channel for which the tag of an instruction stands, or None; see ``read_channel``."""
    found = read_channel(instruction, KRAUS)
    return None if found is None else Kraus(found.name, found.values)


def _operators(values: Sequence[float], num_qubits: int) -> Matrix:
    size = 1 << num_qubits
    parts = np.array(values, dtype=np.float64).reshape(-1, size, size, 2)
    return parts[..., 0] + 1j * parts[..., 1]


@lru_cache(maxsize=256)
def _chi_matrix(values: tuple[float, ...], num_qubits: int) -> Matrix:
    """The channel's weights of products of Paulis: ρ becomes the sum of chi[P, Q] P ρ Q."""
    operators, size = _operators(values, num_qubits), 1 << num_qubits
    parts = np.array([[np.trace(pauli @ k) / size for pauli in _paulis(num_qubits)] for k in operators])
    return parts.T @ parts.conj()


@lru_cache(maxsize=256)
def _stages(values: tuple[float, ...], num_qubits: int) -> tuple[tuple[Part, ...], ...]:
    weights, vectors = np.linalg.eigh(_chi_matrix(values, num_qubits))
    operators = [
        math.sqrt(weight) * sum(c * pauli for c, pauli in zip(vector, _paulis(num_qubits), strict=True))
        for weight, vector in zip(weights[::-1].tolist(), vectors.T[::-1], strict=True)
        if weight > _ROUNDING
    ]
    return stages_of(np.array(operators))
