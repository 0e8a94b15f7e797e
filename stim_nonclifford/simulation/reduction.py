"""What of a plan needs a coefficient vector, if anything does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

from .. import _native
from .plan import SamplingPlan, plain_attributes

__all__ = ["Obstacle", "Reduction", "reduction_of"]


class Obstacle(IntEnum):
    """Why the outcomes of a plan need coefficients."""

    NONE = 0
    SIZE = 1
    NOT_DIAGONAL = 2
    ANGLE = 3
    CORE = 4
    LATE_SIGN = 5


@dataclass(frozen=True)
class Reduction:
    """What of a plan needs a coefficient vector.

    T with its sign reversed is T times a Clifford gate. So what is not Clifford about commuting rotations is
    the same for all signatures, and for many codes a measurement needs nothing of it: then each outcome is
    either certain or fair, and an elimination over GF(2) finds which.

    Attributes:
        obstacle: Why outcomes need coefficients; ``Obstacle.NONE`` if they need none.
        rotation: Number of the operation that is named by the obstacle; -1 if there is none.
        measurement: Number of the measurement that needs coefficients; -1 if there is none.
        rank: The measurement needs this number of coordinates, or one more.
        qubits: Number of activated coordinates, on which the elimination works.
        measurements: Number of outcomes.
        t_rotations: Number of rotations that are not Clifford.
        conditional_cliffords: Number of Clifford gates that depend on the signature.
        coins: Largest number of fair outcomes of the signatures that were looked at.
        strings: Mean number of strings of Zs that such a signature adds to measured Paulis.
        products: Mean number of products of Paulis in such an elimination.
        vector_cost: What a shot costs with coefficients: nanoseconds, computed from numbers of operations.
        elimination_cost: What it costs without them, in the same units.
        eliminates: Whether engines simulate shots without coefficients.
    """

    obstacle: Obstacle
    rotation: int
    measurement: int
    rank: int
    qubits: int
    measurements: int
    t_rotations: int
    conditional_cliffords: int
    coins: int
    strings: float
    products: float
    vector_cost: float
    elimination_cost: float
    eliminates: bool


def reduction_of(plan: SamplingPlan) -> Reduction:
    r"""What of a plan needs a coefficient vector.

    Args:
        plan: The plan.

    Returns:
        The reduction. It depends on the plan alone.

    Examples:
        >>> import stim_nonclifford as snc
        >>> text = "RX 0 1 2\nCX 0 1\nT 0 1 2\nCX 0 1\nT_DAG 0 1 2\nMX 0 1 2"
        >>> found = reduction_of(snc.Circuit(text).compile().record_plan())
        >>> found.obstacle.name, found.rank
        ('CORE', 2)
    """
    try:
        found = _native.reduction(plain_attributes(plan))
    except MemoryError:  # more coordinates than the native module has bits for
        return Reduction(
            Obstacle.SIZE, -1, -1, 0, 0, 0, 0, 0, 0, 0.0, 0.0, math.inf, math.inf, eliminates=False
        )
    return Reduction(**{**found, "obstacle": Obstacle(found["obstacle"])})
