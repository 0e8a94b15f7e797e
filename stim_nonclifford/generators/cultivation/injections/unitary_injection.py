"""Unitary injection: prepares an encoded T state in the distance-3 code with unitary gates alone.

In the Z basis a logical |+> is the sum of all bit strings that satisfy the Z checks. Four data bits
are free, and the checks determine the other three::

    a = (2,1)   b = (3,0)   c = (3,2)   e = (1,1)

    (4,0) = a+b+c       (0,0) = a+b+e       (2,3) = a+c+e

The qubits of the free bits start in |+>. CX gates collect a+b+c, a+b and a+c on the ancillas beside them,
move these three bits to their data qubits, and add e on the way. The left edge (0,0), (1,1), (2,3) supports
logical Z. Before the last move, its parity is collected on (1,1), so T_DAG on (1,1) is a logical rotation.

No check has been measured so far. A single fault near the rotation can leave a wrong logical state, which
the cat check detects.
"""

from __future__ import annotations

from ..builder import CircuitBuilder, CxMoment
from ..color_code import Coord

CORNER: Coord = (2, 3)
# The last move does not reach (2,3). Its bit stays here until the syndrome cycle moves it.
CORNER_PARKING: Coord = (1, 3)

_FREE_BITS: tuple[Coord, ...] = ((1, 1), (2, 1), (3, 0), (3, 2))
_COLLECTING: tuple[Coord, ...] = ((2, 0), (2, 2), (3, 1))
_CARRIED_TO: tuple[Coord, ...] = ((1, 0), (1, 2), (4, 1), (4, 0), (0, 0), CORNER_PARKING)

_EDGE_PARITY_SITE: Coord = (1, 1)

# The CX gates t->s and s->t, in two moments, move a bit from s to a site t in |+>, and leave s in |+>.
_ENCODE: tuple[CxMoment, ...] = (
    # Collect a+b+c on (3,1), a+b on (2,0), a+c on (2,2).
    (((2, 1), (3, 1)), ((3, 0), (2, 0)), ((3, 2), (2, 2))),
    (((2, 1), (2, 2)), ((3, 0), (3, 1))),
    (((2, 1), (2, 0)), ((3, 2), (3, 1))),
    # Move a+b to (1,0), a+c to (1,2), a+b+c to (4,1).
    (((1, 0), (2, 0)), ((1, 2), (2, 2)), ((4, 1), (3, 1))),
    (((2, 0), (1, 0)), ((2, 2), (1, 2)), ((3, 1), (4, 1))),
    # Add e on the left; move a+b+c to its corner (4,0) on the right.
    (((1, 1), (1, 2)), ((4, 0), (4, 1))),
    (((1, 1), (1, 0)), ((4, 1), (4, 0))),
)
_GATHER_EDGE_PARITY: tuple[CxMoment, ...] = (
    (((1, 2), _EDGE_PARITY_SITE),),
    (((1, 0), _EDGE_PARITY_SITE),),
)
_CARRY_TO_LEFT_EDGE: tuple[CxMoment, ...] = (
    (((0, 0), (1, 0)), (CORNER_PARKING, (1, 2))),
    (((1, 0), (0, 0)), ((1, 2), CORNER_PARKING)),
)


def append_unitary_injection(builder: CircuitBuilder) -> None:
    """Appends the preparation of T_DAG|+> encoded in the distance-3 code (15 moments).

    All checks of the code then have the value +1, with `CORNER_PARKING` in the role of the data qubit
    `CORNER`, whose bit is still there.
    """
    builder.begin_stage("unitary injection")
    builder.reset(x=sorted(_FREE_BITS + _CARRIED_TO), z=_COLLECTING)
    builder.tick()
    builder.cx_moments([*_ENCODE, *_GATHER_EDGE_PARITY])
    builder.t_dag([_EDGE_PARITY_SITE])
    builder.tick()
    builder.cx_moments([*reversed(_GATHER_EDGE_PARITY), *_CARRY_TO_LEFT_EDGE])
