"""Channels as weak measurements and rotations, from their Kraus operators.

Weak measurements in turn find out which operator applies, each between two groups of operators. A
measurement of two groups has the operators sqrt(E) and sqrt(1 - E), where E is the sum of K^dagger K over the
first group. In the basis in which E is diagonal, it is a rotation of an ancilla by an angle that depends on
the qubits, and a measurement of the ancilla. What is left of an operator after the measurements is a unitary
that depends on the outcomes (Lloyd and Viola 2001). A unitary on two qubits is two multiplexers, which are
unitaries on the first qubit that depend on the second one, with a rotation of the second one by angles that
depend on the first one in between (the cosine-sine decomposition; Shende, Bullock and Markov 2006).
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from ..gates import Part, RotationPart

Matrix = npt.NDArray[np.complex128]
Bits = tuple[int, ...]

_NOTHING = 1e-12
"""Matrix elements and angles that are smaller are rounded zeros."""

_ALIKE = 1e-6
"""Weights that are nearer to 0 or 1 are one to the other nearly the same."""


def stages_of(operators: Matrix) -> tuple[tuple[Part, ...], ...]:
    """A channel as rotations of its qubits and of ancillas in |0>; the qubits are the first targets.

    After each stage but the last one, the next ancilla is measured. The Kraus operators have the shape
    (number of operators, 2, 2) or (number of operators, 4, 4); bit k of an index is the value of qubit k.
    """
    depth = (len(operators) - 1).bit_length()
    groups: dict[Bits, Matrix] = {(): operators}
    found: list[tuple[Part, ...]] = []
    for _ in range(depth):
        splits = {bits: _Split(group) for bits, group in groups.items()}
        bases = {bits: split.basis.conj().T for bits, split in splits.items()}
        angles = np.array([split.angles for split in splits.values()])
        found.append((*_unitary(bases), *_rotation(angles)))
        groups = {(*bits, bit): split.rest(bit) for bits, split in splits.items() for bit in (0, 1)}
    return (*found, tuple(_unitary({bits: group[0] for bits, group in groups.items()})))


class _Split:
    """A measurement that tells the first half of the operators from the others."""

    def __init__(self, operators: Matrix) -> None:
        first = (len(operators) + 1) // 2
        self._groups = operators[:first], operators[first:]
        kept = np.einsum("kba,kbc->ac", self._groups[0].conj(), self._groups[0])
        weights, basis = np.linalg.eigh(kept)
        if len(basis) == 2 and abs(basis[0, 0]) < abs(basis[0, 1]) - _NOTHING:
            weights, basis = weights[::-1], basis[:, ::-1]  # as near to the identity as it can be
        size = len(basis)
        stacked = [group.reshape(-1, size) for group in self._groups]
        for group, alike in zip(stacked, (weights < _ALIKE, weights > 1 - _ALIKE), strict=True):
            # Rounded weights do not tell their basis, which the operators themselves do.
            if len(group) and alike.sum() > 1:
                _, amplitudes, rows = np.linalg.svd(group @ basis[:, alike], full_matrices=False)
                if amplitudes[0] > _NOTHING:
                    basis[:, alike] = basis[:, alike] @ rows.conj().T
        self.basis: Matrix = basis * np.exp(-1j * np.angle(np.diag(basis)))
        self._amplitudes = np.array([np.linalg.norm(group @ basis, axis=0) for group in stacked])
        self.angles = 2 * np.arctan2(self._amplitudes[1], self._amplitudes[0]) / math.pi

    def rest(self, bit: int) -> Matrix:
        """What is left of the operators of a group, after the measurement and in its basis: an isometry."""
        group, amplitudes = self._groups[bit], self._amplitudes[bit]
        size = len(self.basis)
        if not len(group):
            return np.eye(size, dtype=np.complex128)[np.newaxis]
        stacked = (group @ self.basis).reshape(-1, size)
        seen = amplitudes > _NOTHING
        columns = np.zeros_like(stacked)
        columns[:, seen] = stacked[:, seen] / amplitudes[seen]
        for k in np.flatnonzero(
            ~seen
        ):  # the measurement never leaves the qubits there: any orthogonal column
            others = np.delete(columns, k, axis=1)
            _, _, rows = np.linalg.svd(others.conj().T)
            columns[:, k] = rows[-1].conj() if others.any() else np.eye(len(columns))[k]
        # Columns of large amplitudes are known best: they stay as they are.
        order = np.argsort(-amplitudes, kind="stable")
        orthonormal, triangle = np.linalg.qr(columns[:, order])
        diagonal = np.diag(triangle)
        columns[:, order] = orthonormal * np.exp(1j * np.angle(diagonal))
        return columns.reshape(-1, size, size)


def _unitary(matrices: Mapping[Bits, Matrix]) -> Iterator[RotationPart]:
    """A unitary that depends on the values of the first ancillas."""
    found = list(matrices.values())
    if len(found[0]) == 2:
        angles = np.array([_euler_angles(matrix) for matrix in found])
        for axis, letter in enumerate("ZYZ"):
            yield from _depending(angles[:, axis], letter, "")
        return
    parts = [_cosine_sine(matrix) for matrix in found]
    yield from _multiplexer(np.array([right for _, _, right in parts]))
    turned = np.array([2 * angles / math.pi for _, angles, _ in parts])
    for sign, letter in ((1, "_"), (-1, "Z")):
        yield from _depending((turned[:, 0] + sign * turned[:, 1]) / 2, f"{letter}Y", "")
    yield from _multiplexer(np.array([left for left, _, _ in parts]))


def _multiplexer(blocks: Matrix) -> Iterator[RotationPart]:
    """Unitaries on the first qubit for both values of the second one; shape (values, 2, 2, 2)."""
    angles = np.array([[_euler_angles(block) for block in pair] for pair in blocks])
    phases = np.array(
        [
            [cmath.phase(np.vdot(_of_euler_angles(*own), block)) for own, block in zip(a, b, strict=True)]
            for a, b in zip(angles, blocks, strict=True)
        ]
    )
    for axis, letter in enumerate("ZYZ"):
        for sign, other in ((1, "_"), (-1, "Z")):
            both = (angles[:, 0, axis] + sign * angles[:, 1, axis]) / 2
            yield from _depending(both, f"{letter}{other}", "")
    yield from _depending((phases[:, 1] - phases[:, 0]) / math.pi, "_Z", "")


def _cosine_sine(unitary: Matrix) -> tuple[Matrix, npt.NDArray[np.float64], Matrix]:
    """(L_0 ⊕ L_1) (cos -sin; sin cos) (R_0 ⊕ R_1), where the direct sums are over the second qubit.

    Returns L_0 and L_1, the angles for both values of the first qubit, in radians, R_0 and R_1.
    """
    u00, u01, u10, u11 = unitary[:2, :2], unitary[:2, 2:], unitary[2:, :2], unitary[2:, 2:]
    left_0, cosines, right_0 = np.linalg.svd(u00)
    if cosines[1] > 0.5:  # they may be too near to each other to tell the basis
        left_1, sines, right_0 = np.linalg.svd(u10)
        columns = u00 @ right_0.conj().T
        cosines = np.linalg.norm(columns, axis=0)
        left_0 = columns / cosines
    else:
        columns = u10 @ right_0.conj().T  # of L_1, times the sines, of which the second one is the larger
        last = columns[:, 1] / np.linalg.norm(columns[:, 1])
        first = np.array([last[1].conj(), -last[0].conj()])
        first = first * np.exp(1j * np.angle(np.vdot(first, columns[:, 0])))
        left_1 = np.stack([first, last], axis=1)
        sines = np.einsum("ba,ba->a", left_1.conj(), columns).real
    by_cosine, by_sine = left_1.conj().T @ u11, -(left_0.conj().T @ u01)
    rows = [
        by_cosine[j] / cosines[j] if cosines[j] > abs(sines[j]) else by_sine[j] / sines[j] for j in (0, 1)
    ]
    polar_left, _, polar_right = np.linalg.svd(np.array(rows))
    right_1 = polar_left @ polar_right
    return np.array([left_0, left_1]), np.arctan2(sines, cosines), np.array([right_0, right_1])


def _rotation(angles: npt.NDArray[np.float64]) -> Iterator[RotationPart]:
    """A rotation about Y of the next ancilla; its angle depends on the first ancillas and on the qubits."""
    size = angles.shape[1]
    for mask in range(size):
        signs = np.array([(-1.0) ** (mask & index).bit_count() for index in range(size)])
        letters = "".join("_Z"[mask >> qubit & 1] for qubit in range(size.bit_length() - 1))
        yield from _depending(angles @ signs / size, letters, "Y")


def _depending(angles: npt.NDArray[np.float64], before: str, after: str) -> Iterator[RotationPart]:
    """Rotations that add up to an angle for each value of the ancillas, whose letters stand in between."""
    ancillas = len(angles).bit_length() - 1
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
    turned = cmath.exp(1j * phi)
    if abs(unitary[0, 0]) > abs(unitary[1, 0]):  # φ is rounded most where the sum alone matters
        lambda_ = cmath.phase(unitary[1, 1] / unitary[0, 0] / turned)
    else:
        lambda_ = cmath.phase(-unitary[0, 1] / unitary[1, 0] * turned)
    return lambda_ / math.pi, theta / math.pi, phi / math.pi


def _of_euler_angles(lambda_: float, theta: float, phi: float) -> Matrix:
    """R_Z(φ) R_Y(θ) R_Z(λ); angles in half-turns."""
    cosine, sine = math.cos(theta * math.pi / 2), math.sin(theta * math.pi / 2)
    turned = np.array([[cosine, -sine], [sine, cosine]], dtype=np.complex128)
    outer, inner = (np.exp(0.5j * math.pi * angle * np.array([-1, 1])) for angle in (phi, lambda_))
    return outer[:, np.newaxis] * turned * inner
