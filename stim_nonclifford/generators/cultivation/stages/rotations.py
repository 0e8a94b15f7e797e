"""The rotations that turn products of X into logical checks of the T state.

Between T_DAG and T on a qubit, X becomes T X T_DAG = H_XY = (X+Y)/sqrt(2); between T and T_DAG it
becomes H_NXY = (X-Y)/sqrt(2). With s = -1 for a qubit of the first kind and s = +1 for one of the
second, the product over all data qubits is

    exp(-i pi/4 sum(s)) * (X on all qubits) * (S^s on all qubits).

This product maps the code to itself if the S gates do. They turn the X check of a tile into i^sum(s) times
its X check times its Z check, with the sum over the tile. So **the sum over each tile must be a multiple
of 4**. The S gates then act on the logical qubit as S^sum(s), with the sum over all qubits. If this
**total is 1 modulo 8**, the product is the logical operator (X-Y)/sqrt(2), whose +1 state is T_DAG|+>.

For distance 3, s = -1 on all qubits satisfies both conditions: each tile has four qubits, and the total is
-7. For distance 5, each of the three tiles with six qubits needs an odd number of qubits with s = +1. The one
qubit that they share is chosen. The total is then -17, which is -1 modulo 8. So s = +1 is also chosen along
the bottom edge. It supports a logical operator, so it shares an even number of qubits with each tile; these
five qubits add 10 to the total, which becomes -7.

From distance 7 on, s alternates along the boundary of each tile, so that the sum over it is 0: s = +1 on the
data qubits with `x + 2y` = 0 modulo 4, and s = -1 on those with 3. The first kind, that of the corners of
the triangle, has one qubit more, so the total is 1.
"""

from __future__ import annotations

from ..builder import CircuitBuilder
from ..color_code import ColorCode, Coord


def opposite_rotation_sites(code: ColorCode) -> tuple[Coord, ...]:
    """Lists, sorted, the data qubits that get T where the others get T_DAG, and the other way round.

    Examples:
        >>> opposite_rotation_sites(ColorCode.triangular(5))
        ((0, 0), (3, 0), (4, 0), (4, 2), (7, 0), (8, 0))
        >>> len(opposite_rotation_sites(ColorCode.triangular(7)))
        19
    """
    if code.distance == 3:
        return ()
    if code.distance == 5:
        large_tiles = (set(tile.data) for tile in code.tiles if len(tile.data) == 6)
        [shared] = set.intersection(*large_tiles)
        return tuple(site for site in code.data if site == shared or site[1] == 0)
    return tuple((x, y) for x, y in code.data if (x + 2 * y) % 4 == 0)


def append_rotations(builder: CircuitBuilder, code: ColorCode, *, undo: bool = False) -> None:
    """Appends rotations of all data qubits, or their inverse, inside a moment.

    After them the product of X on all data qubits is the logical check.
    """
    opposite = opposite_rotation_sites(code)
    others = [site for site in code.data if site not in opposite]
    builder.t_dag(opposite if undo else others)
    builder.t(others if undo else opposite)
