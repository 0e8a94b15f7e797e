"""Operations on the coefficient vector: the type on which all passes of the compiler work.

The forward sweep returns one operation for each rotation and each measurement that acts on the vector. Later
passes drop, reorder and merge operations. The last pass writes them to the arrays of a plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

from ...plan import ACTIVATE, EXPECT, MEASURE, ROTATE


class OperationKind(IntEnum):
    """The kinds of operations on the coefficient vector."""

    ROTATE = ROTATE
    """v <- exp(-i φ P) v, with φ the sum of the angles of the terms."""
    ACTIVATE = ACTIVATE
    """Activates a coordinate, the new highest bit of the index, by a rotation about P on it. If P is Z, the
    coordinate is first prepared in |+>: v <- [exp(-i φ) v, exp(i φ) v] / √2. If P is X, it is in |0>:
    v <- [cos φ v, -i sin φ v]."""
    MEASURE = MEASURE
    """Samples the eigenvalue (-1)^outcome of P, projects, and removes coordinate ``pivot`` from the index."""
    EXPECT = EXPECT
    """Asks for the expectation value of P: a MEASURE that is not carried out. Only in the operations of
    paths (``compiler.expectations``)."""


@dataclass(frozen=True, slots=True)
class RotationTerm:
    """One rotation of the circuit, as a part of an operation."""

    half_turns: float  # the angle a in exp(-i a π/2 Q) on the base path, with Q the rotation's own Pauli
    sign: int  # the number of the sign that reverses the angle: bit ``num_outputs + sign`` of an effect
    step: int  # the index of the step of the program that has the rotation
    is_reversed: bool = False  # whether Q is minus the operation's P


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation on the coefficient vector.

    Its Pauli is P|α> = i^i_power (-1)^|α & z| |α ^ x>, with α the index of a coefficient.
    """

    kind: OperationKind
    width: int  # number of active coordinates before the operation
    x: int  # the bits of the index that P flips
    z: int  # the bits of the index whose parity is the sign in P
    i_power: int  # the power of i in the prefactor, 0 to 3; it includes the sign of P on the base path
    # the bit of the index that ACTIVATE adds, or that MEASURE removes (a bit of ``x`` if that is not 0,
    # otherwise of ``z``); 0 for ROTATE. EXPECT has that of a MEASURE of P
    pivot: int
    terms: tuple[RotationTerm, ...] = ()  # the rotations of ROTATE and ACTIVATE
    # the number of the outcome of MEASURE, in the order of the forward sweep; -1 for other kinds
    outcome: int = -1
    # the index of the step of the program that has the measurement; -1 for rotations, where each term
    # has its own step
    step: int = -1

    @property
    def measures(self) -> bool:
        """Whether the operation has an outcome."""
        return self.outcome >= 0

    @property
    def is_diagonal_rotation(self) -> bool:
        """Whether the operation is a ROTATE that changes only the phases of coefficients."""
        return self.kind == OperationKind.ROTATE and not self.x

    @property
    def largest_width(self) -> int:
        """Width of the largest vector that the operation needs."""
        return self.width + (self.kind == OperationKind.ACTIVATE)


def measure_weakly(activation: Operation, then: Operation) -> bool:
    """Whether an ACTIVATE about Z comes before a MEASURE of a P with an X on its coordinate, which leaves.

    Together they are a weak measurement of P on the other coordinates: if the angle is small, the outcome has
    little information about it. Syndrome measurements of coherent noise are of this kind. The vector need not
    grow.
    """
    is_diagonal = activation.kind == OperationKind.ACTIVATE and not activation.x
    return is_diagonal and then.measures and bool(then.x) and then.pivot == activation.pivot


def peak_width(operations: Sequence[Operation]) -> int:
    """The largest width of a list of operations, in the order in which engines apply them."""
    left_out = {k for k, pair in enumerate(pairwise(operations)) if measure_weakly(*pair)}
    activations = (k for k, operation in enumerate(operations) if operation.kind == OperationKind.ACTIVATE)
    return max((operations[k].largest_width for k in activations if k not in left_out), default=0)
