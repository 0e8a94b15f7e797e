"""What of a plan needs coefficients, if anything does."""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass
from enum import IntEnum

from .. import _native
from .plan import SamplingPlan, plain_attributes

MAX_ELIMINATION_QUBITS = _native.MAX_ELIMINATION_QUBITS
"""Plans with more activated coordinates have no elimination."""


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
    """What of a plan needs coefficients.

    T with its sign reversed is T times a Clifford gate. So what is not Clifford about commuting rotations is
    the same for all signatures, and for many codes a measurement needs little of it. An elimination
    over GF(2) finds whether an outcome is certain, fair, or depends on coefficients, and on which.

    Attributes:
        obstacle: The first reason why outcomes need coefficients; ``Obstacle.NONE`` if they need none.
        rotation: Number of the operation that is named by the obstacle; -1 if there is none.
        measurement: Number of the measurement that needs coefficients; -1 if none is named.
        dense_width: Largest number of coordinates that an elimination has coefficients of, for the signatures
            that were looked at.
        dense_rotations: Number of rotations of these coefficients.
        qubits: Number of activated coordinates, on which the elimination works.
        measurements: Number of outcomes.
        t_rotations: Number of rotations that are not Clifford.
        conditional_cliffords: Number of Clifford gates that depend on the signature.
        coins: Largest number of fair outcomes of the signatures that were looked at.
        strings: Mean number of strings of Zs that such a signature adds to measured Paulis.
        products: Mean number of products of Paulis in such an elimination.
        vector_cost: Nanoseconds of a shot with all coefficients, computed from numbers of operations.
        elimination_cost: The same with an elimination.
        is_possible: Whether there is an elimination.
        eliminates: Whether engines simulate shots with it.
    """

    obstacle: Obstacle
    rotation: int = -1
    measurement: int = -1
    dense_width: int = 0
    dense_rotations: int = 0
    qubits: int = 0
    measurements: int = 0
    t_rotations: int = 0
    conditional_cliffords: int = 0
    coins: int = 0
    strings: float = 0.0
    products: float = 0.0
    vector_cost: float = math.inf
    elimination_cost: float = math.inf
    is_possible: bool = False
    eliminates: bool = False


_KNOWN: dict[int, Reduction] = {}
"""The reductions of the plans that exist, by ``id``."""


def reduction_of(plan: SamplingPlan) -> Reduction:
    r"""What of a plan needs coefficients.

    Args:
        plan: The plan.

    Returns:
        The reduction. It depends on the plan alone.

    Examples:
        >>> import stim_nonclifford as snc
        >>> text = "RX 0 1 2\nCX 0 1\nT 0 1 2\nCX 0 1\nT_DAG 0 1 2\nMX 0 1 2"
        >>> found = reduction_of(snc.Circuit(text).compile().record_plan())
        >>> found.obstacle.name, found.dense_width
        ('CORE', 2)
    """
    if id(plan) not in _KNOWN:
        found = _native.reduction(plain_attributes(plan))
        _KNOWN[id(plan)] = Reduction(**{**found, "obstacle": Obstacle(found["obstacle"])})
        weakref.finalize(plan, _KNOWN.pop, id(plan), None)
    return _KNOWN[id(plan)]


def simulation_nanoseconds(plan: SamplingPlan) -> float:
    r"""What the outcomes of a shot take, from numbers of operations.

    Examples:
        >>> import stim_nonclifford as snc
        >>> simulation_nanoseconds(snc.Circuit("H 0\nM 0").compile().record_plan())
        0.0
    """
    reduction = reduction_of(plan)
    return reduction.elimination_cost if reduction.eliminates else reduction.vector_cost


def simulated_width(plan: SamplingPlan) -> int:
    r"""The number of coordinates that engines on the CPU have coefficients of.

    Args:
        plan: The plan.

    Returns:
        ``peak_width`` if engines have all coefficients, or else the largest number for the signatures that
        ``reduction_of`` looks at.

    Examples:
        >>> import stim_nonclifford as snc
        >>> simulated_width(snc.Circuit("RX 0 1 2\nT 0 1 2\nMPP X0*X1*X2").compile().record_plan())
        2
    """
    reduction = reduction_of(plan)
    return reduction.dense_width if reduction.eliminates else plan.peak_width
