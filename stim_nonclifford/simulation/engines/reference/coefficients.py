"""The action of each operation on a coefficient vector, in NumPy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["IndexPauli", "Vector", "activate", "initial_vector", "measure", "outcome_weights", "rotate"]

Vector = npt.NDArray[np.complex128]


class IndexPauli(NamedTuple):
    """The Pauli P|α> = i^i_power (-1)^|α & z| |α ^ x>, with α the index of a coefficient.

    Attributes:
        x: The bits of the index that P flips.
        z: The bits of the index whose parity is the sign.
        i_power: The power of i in the prefactor.
    """

    x: int
    z: int
    i_power: int


def initial_vector() -> Vector:
    """The vector without active coordinates: the single coefficient 1."""
    return np.ones(1, dtype=np.complex128)


def rotate(vector: Vector, pauli: IndexPauli, cosine: float, sine: float) -> Vector:
    """Applies a rotation: exp(-i φ P) v = cos φ v - i sin φ P v."""
    return cosine * vector - 1j * sine * _apply_pauli(vector, pauli)


def activate(vector: Vector, about_x: bool, cosine: float, sine: float) -> Vector:
    """Adds a coordinate in exp(-i φ Z)|+>, or in exp(-i φ X)|0> if ``about_x``, as the highest bit."""
    if about_x:
        return np.concatenate([cosine * vector, -1j * sine * vector])
    phase = complex(cosine, -sine)
    return np.concatenate([phase * vector, phase.conjugate() * vector]) / np.sqrt(2)


def outcome_weights(vector: Vector, pauli: IndexPauli, pivot: int) -> tuple[float, float]:
    """The squared norms of the projections on outcome 0 and outcome 1."""
    return tuple(float(np.vdot(part, part).real) for part in _projections(vector, pauli, pivot))  # type: ignore[return-value]


def measure(vector: Vector, pauli: IndexPauli, pivot: int, outcome: int) -> Vector:
    """The normalized vector after an outcome, without the pivot's coordinate.

    If P has an X on the pivot, the projected state is an eigenstate of P, and the coefficients with pivot bit
    0 determine the others. If not, P is diagonal, and one parity of the index remains: the other bits of the
    index determine the pivot bit.
    """
    part = _projections(vector, pauli, pivot)[outcome]
    return part / np.linalg.norm(part)


def _projections(vector: Vector, pauli: IndexPauli, pivot: int) -> tuple[Vector, Vector]:
    """The projected vectors on the remaining coordinates for both outcomes, not normalized."""
    rest = np.arange(len(vector) // 2)
    low = rest & (1 << pivot) - 1
    index = (rest ^ low) << 1 | low  # the remaining bits, with a 0 at the pivot
    if pauli.x:
        kept, flipped = vector[index], _apply_pauli(vector, pauli)[index]
        # Half of the entries of (v ± P v) / 2, times √2, as the other half has the same norm.
        return (kept + flipped) / np.sqrt(2), (kept - flipped) / np.sqrt(2)
    odd = _parity(index, pauli.z) ^ int(pauli.i_power == 2)
    return vector[index | odd << pivot], vector[index | (1 - odd) << pivot]


def _apply_pauli(vector: Vector, pauli: IndexPauli) -> Vector:
    source = np.arange(len(vector)) ^ pauli.x
    phase = 1j**pauli.i_power
    return phase * np.where(_parity(source, pauli.z), -vector[source], vector[source])


def _parity(index: npt.NDArray[np.int64], mask: int) -> npt.NDArray[np.int64]:
    bits = index & mask
    for shift in (32, 16, 8, 4, 2, 1):
        if shift < mask.bit_length():
            bits ^= bits >> shift
    return bits & 1
