"""Any channel on one qubit, given by its Kraus operators.

``KRAUS`` takes the elements of the operators, row by row, each as a real and an imaginary part. At most four
operators are needed for a channel (the eigenvectors of its Choi matrix). Two weak measurements in turn find
out which one applies: a measurement of two groups of operators has the operators sqrt(E) and sqrt(1 - E),
where E is the sum of K^dagger K over the first group. In the basis in which E is diagonal, it is a rotation
of an ancilla by an angle that depends on the qubit, and a measurement of the ancilla. What is left of an
operator after the measurement is a unitary that depends on the outcomes (Lloyd and Viola 2001).
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import stim

from ..gates import Part, RotationPart
from .channel_tags import ChannelDefinition, TaggedChannel, read_channel

__all__ = ["KRAUS", "Kraus", "kraus_of", "values_of_operators"]

Matrix = npt.NDArray[np.complex128]

_PER_OPERATOR = 8
_TOLERANCE = 1e-9
_ROUNDING = 1e-15
"""Operators with a smaller weight are left out."""

_NOTHING = 1e-12
"""Amplitudes and angles that are smaller are rounded zeros."""

_PAULIS: tuple[Matrix, ...] = (
    np.eye(2, dtype=np.complex128),
    np.array([[0, 1], [1, 0]], dtype=np.complex128),
    np.array([[0, -1j], [1j, 0]], dtype=np.complex128),
    np.array([[1, 0], [0, -1]], dtype=np.complex128),
)


@dataclass(frozen=True)
class Kraus(TaggedChannel):
    """A channel, as read from a tag."""

    @property
    def twirl(self) -> tuple[float, float, float]:
        """The probabilities of X, Y and Z in the Pauli twirl of the channel."""
        _, x, y, z = np.diag(_chi_matrix(self.values)).real.tolist()
        return max(x, 0.0), max(y, 0.0), max(z, 0.0)

    @property
    def is_pauli_channel(self) -> bool:
        """Whether the channel is its twirl."""
        chi = _chi_matrix(self.values)
        return bool(np.abs(chi - np.diag(np.diag(chi))).max() < _NOTHING)

    @property
    def stages(self) -> tuple[tuple[Part, ...], ...]:
        """The channel as rotations of the qubit and of two ancillas in |0>, which are targets 0, 1 and 2.

        After the first stage, ancilla 1 is measured; if there are three, then ancilla 2 after the second one.
        """
        return _stages(self.values)


def values_of_operators(operators: Any) -> list[float]:
    """The arguments of KRAUS for Kraus operators.

    Args:
        operators: The operators, complex, shape (number of operators, 2, 2).

    Raises:
        ValueError: They have another shape.

    Examples:
        >>> values_of_operators([[[0, 1j], [1, 0]]])
        [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    """
    wanted = "KRAUS takes operators on one qubit, an array of shape (number of operators, 2, 2)"
    try:
        array = np.asarray(operators, dtype=np.complex128)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{wanted}: {error}.") from None
    if array.ndim != 3 or array.shape[1:] != (2, 2):
        raise ValueError(
            f"{wanted}; got the shape {array.shape}. A channel on more qubits can be written as gates with an"
            " ancilla that is reset."
        )
    return [part for element in array.ravel().tolist() for part in (element.real, element.imag)]


def _problem(*values: float) -> str:
    if not values or len(values) % _PER_OPERATOR:
        return (
            "each operator has 8 numbers, the real and the imaginary part of each element, row by row; got"
            f" {len(values)}"
        )
    if not all(map(math.isfinite, values)):
        return "the elements must be finite numbers"
    operators = _operators(values)
    total = np.einsum("kba,kbc->ac", operators.conj(), operators)
    off = float(np.abs(total - np.eye(2)).max())
    if off > _TOLERANCE:
        return (
            "the sum of K^dagger K over the operators must be the identity, to 1e-9, but differs from it by"
            f" {off:.3g}"
        )
    return ""


_DEFINITION = ChannelDefinition(
    "KRAUS",
    "any channel on a qubit, by its Kraus operators: real and imaginary parts of the elements, row by row",
    ("re", "im", "..."),
    _problem,
    (0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0),
    is_list=True,
)

KRAUS = {_DEFINITION.name: _DEFINITION}
"""The channel by its name."""


def kraus_of(instruction: stim.CircuitInstruction) -> Kraus | None:
    """The channel for which the tag of an instruction stands, or None; errors are those of ``read_channel``.

    Examples:
        >>> tag = "KRAUS(0, 0, 1, 0, 1, 0, 0, 0)"
        >>> kraus_of(stim.CircuitInstruction("I_ERROR", [0], tag=tag)).twirl
        (1.0, 0.0, 0.0)
    """
    found = read_channel(instruction, KRAUS)
    return None if found is None else Kraus(found.name, found.values)


def _operators(values: Sequence[float]) -> Matrix:
    parts = np.array(values, dtype=np.float64).reshape(-1, 2, 2, 2)
    return parts[..., 0] + 1j * parts[..., 1]


@lru_cache(maxsize=256)
def _chi_matrix(values: tuple[float, ...]) -> Matrix:
    """The channel's weights of products of Paulis: ρ becomes the sum of chi[P, Q] P ρ Q."""
    parts = np.array([[np.trace(pauli @ k) / 2 for pauli in _PAULIS] for k in _operators(values)])
    return parts.T @ parts.conj()


@lru_cache(maxsize=256)
def _stages(values: tuple[float, ...]) -> tuple[tuple[Part, ...], ...]:
    weights, vectors = np.linalg.eigh(_chi_matrix(values))
    operators = [
        math.sqrt(weight) * sum(c * pauli for c, pauli in zip(vector, _PAULIS, strict=True))
        for weight, vector in zip(weights[::-1].tolist(), vectors.T[::-1], strict=True)
        if weight > _ROUNDING
    ]
    if len(operators) == 1:
        return (tuple(_unitary(lambda _: operators[0], 0)),)
    half = (len(operators) + 1) // 2
    first = _Split(np.array(operators), half)
    basis, then = (
        tuple(_unitary(lambda _: first.basis.conj().T, 0)),
        tuple(_rotation(lambda _: first.angles, 0)),
    )
    if len(operators) == 2:
        last = tuple(_unitary(lambda bits: first.rest(bits[0])[0], 1))
        return basis + then, last
    second = [_Split(first.rest(bit), 1) for bit in (0, 1)]
    return (
        basis + then,
        (
            *_unitary(lambda bits: second[bits[0]].basis.conj().T, 1),
            *_rotation(lambda bits: second[bits[0]].angles, 1),
        ),
        tuple(_unitary(lambda bits: second[bits[0]].rest(bits[1])[0], 2)),
    )


class _Split:
    """A measurement that tells the first operators from the others."""

    def __init__(self, operators: Matrix, first: int) -> None:
        self._groups = operators[:first], operators[first:]
        kept = np.einsum("kba,kbc->ac", self._groups[0].conj(), self._groups[0])
        weights, basis = np.linalg.eigh(kept)
        if abs(basis[0, 0]) < abs(basis[0, 1]) - _NOTHING:  # as near to the identity as it can be
            weights, basis = weights[::-1], basis[:, ::-1]
        self.basis: Matrix = basis * np.exp(-1j * np.angle(np.diag(basis)))
        self._amplitudes = np.sqrt(np.clip(np.array([weights, 1 - weights]), 0, 1))
        angles = 2 * np.arctan2(self._amplitudes[1], self._amplitudes[0]) / math.pi
        self.angles: tuple[float, float] = (float(angles[0]), float(angles[1]))

    def rest(self, bit: int) -> Matrix:
        """What is left of the operators of a group, after the measurement and in its basis: an isometry."""
        group, amplitudes = self._groups[bit], self._amplitudes[bit]
        if not len(group):
            return np.eye(2, dtype=np.complex128)[np.newaxis]
        stacked = (group @ self.basis).reshape(-1, 2)
        seen = amplitudes > _NOTHING
        columns = np.zeros_like(stacked)
        columns[:, seen] = stacked[:, seen] / amplitudes[seen]
        for k in np.flatnonzero(~seen):  # the measurement never leaves the qubit there: any orthogonal column
            others = columns[:, [1 - k]]
            _, _, rows = np.linalg.svd(others.conj().T)
            columns[:, k] = rows[-1].conj() if others.any() else np.eye(len(columns))[k]
        left, _, right = np.linalg.svd(columns, full_matrices=False)
        return (left @ right).reshape(-1, 2, 2)


Bits = tuple[int, ...]


def _unitary(matrix: Callable[[Bits], Matrix], ancillas: int) -> Iterator[RotationPart]:
    """A unitary on the qubit that depends on the values of the first ancillas."""
    angles = np.array([_euler_angles(matrix(bits)) for bits in itertools.product((0, 1), repeat=ancillas)])
    for axis, letter in enumerate("ZYZ"):
        yield from _depending(angles[:, axis], ancillas, letter, "")


def _rotation(angles: Callable[[Bits], tuple[float, float]], ancillas: int) -> Iterator[RotationPart]:
    """A rotation about Y of the next ancilla by an angle that depends on the first ancillas and the qubit."""
    turned = [angles(bits) for bits in itertools.product((0, 1), repeat=ancillas)]
    for sign, letter in ((1, "_"), (-1, "Z")):
        parts = np.array([(at_0 + sign * at_1) / 2 for at_0, at_1 in turned])
        yield from _depending(parts, ancillas, letter, "Y")


def _depending(
    angles: npt.NDArray[np.float64], ancillas: int, before: str, after: str
) -> Iterator[RotationPart]:
    """Rotations that add up to an angle for each value of the ancillas, whose letters stand in between."""
    for signs in itertools.product((0, 1), repeat=ancillas):
        bits = itertools.product((0, 1), repeat=ancillas)
        parity = [(-1) ** sum(a & b for a, b in zip(signs, each, strict=True)) for each in bits]
        angle = float(np.dot(parity, angles)) / len(angles)
        angle = round(2 * angle) / 2 if abs(2 * angle - round(2 * angle)) < _NOTHING else angle
        if angle:
            yield RotationPart(f"{before}{''.join('_Z'[sign] for sign in signs)}{after}", angle)


def _euler_angles(unitary: Matrix) -> tuple[float, float, float]:
    """The angles λ, θ and φ, in half-turns, of R_Z(φ) R_Y(θ) R_Z(λ), which is the unitary up to a phase."""
    theta = 2 * math.atan2(abs(unitary[1, 0]), abs(unitary[0, 0]))
    if abs(unitary[1, 0]) < _NOTHING:
        return cmath.phase(unitary[1, 1] / unitary[0, 0]) / math.pi, 0.0, 0.0
    if abs(unitary[0, 0]) < _NOTHING:
        return cmath.phase(-unitary[0, 1] / unitary[1, 0]) / math.pi, 1.0, 0.0
    phi = cmath.phase(unitary[1, 0] / unitary[0, 0])
    lambda_ = cmath.phase(-unitary[0, 1] / unitary[0, 0])
    return lambda_ / math.pi, theta / math.pi, phi / math.pi
