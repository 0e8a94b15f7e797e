"""What each operation does to a coefficient vector, in NumPy.

The Pauli of an operation is P|α> = i^i_power (-1)^|α & z| |α ^ x>, with α the index of a coefficient.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Vector", "activate", "initial_vector", "measure", "outcome_weights", "rotate"]

Vector = npt.NDArray[np.complex128]


def initial_vector() -> Vector:
    """The vector over no active coordinate: the number 1."""
    return np.ones(1, dtype=np.complex128)


def rotate(vector: Vector, operation: Any, reverse: bool) -> Vector:
    """exp(-i φ P) v = cos φ v - i sin φ P v, with φ reversed if ``reverse``."""
    sine = -operation["sine"] if reverse else operation["sine"]
    return operation["cosine"] * vector - 1j * sine * _apply_pauli(vector, operation)


def activate(vector: Vector, operation: Any) -> Vector:
    """A new coordinate, the highest bit of the index: exp(-i φ Z) |+>, or exp(-i φ X) |0>, as P says."""
    if operation["x"]:
        return np.concatenate([operation["cosine"] * vector, -1j * operation["sine"] * vector])
    phase = complex(operation["cosine"], -operation["sine"])
    return np.concatenate([phase * vector, phase.conjugate() * vector]) / np.sqrt(2)


def outcome_weights(vector: Vector, operation: Any) -> tuple[float, float]:
    """The squared norms of the projections on outcome 0 and outcome 1."""
    return tuple(float(np.vdot(part, part).real) for part in _projections(vector, operation))  # type: ignore[return-value]


def measure(vector: Vector, operation: Any, outcome: int) -> Vector:
    """The normalized vector after an outcome, with the pivot's coordinate gone.

    With an X on the pivot, the state is an eigenstate of P: the half with pivot bit 0 says it all.
    Without, only the entries of one parity are left, and the pivot bit follows from the others.
    """
    part = _projections(vector, operation)[outcome]
    return part / np.linalg.norm(part)


def _projections(vector: Vector, operation: Any) -> tuple[Vector, Vector]:
    """For both outcomes the projected vector over the remaining coordinates, with its norm."""
    pivot = int(operation["pivot"])
    rest = np.arange(len(vector) // 2)
    low = rest & (1 << pivot) - 1
    index = (rest ^ low) << 1 | low  # the remaining bits, with a 0 at the pivot
    if operation["x"]:
        kept, flipped = vector[index], _apply_pauli(vector, operation)[index]
        # (v ± P v) / 2 on half of its entries; the other half has the same norm.
        return (kept + flipped) / np.sqrt(2), (kept - flipped) / np.sqrt(2)
    odd = _parity(index, operation["z"]) ^ int(operation["i_power"] == 2)
    return vector[index | odd << pivot], vector[index | (1 - odd) << pivot]


def _apply_pauli(vector: Vector, operation: Any) -> Vector:
    source = np.arange(len(vector)) ^ int(operation["x"])
    phase = 1j ** int(operation["i_power"])
    return phase * np.where(_parity(source, operation["z"]), -vector[source], vector[source])


def _parity(index: npt.NDArray[np.int64], mask: Any) -> npt.NDArray[np.int64]:
    bits = index & int(mask)
    for shift in (32, 16, 8, 4, 2, 1):
        bits ^= bits >> shift
    return bits & 1
