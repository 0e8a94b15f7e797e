"""The rotations that turn products of X into logical checks of the T state.

Between T_DAG and T on a qubit, X becomes T X T_DAG = H_XY = (X+Y)/sqrt(2); between T and T_DAG it
becomes H_NXY = (X-Y)/sqrt(2). With s = -1 for a qubit of the first kind and s = +1 for one of the
second, the product over all data qubits is

    exp(-i pi/4 sum(s)) * (X on all qubits) * (S^s on all qubits).

It maps the code to itself if the S gates do. They turn the X check of a tile into i^sum(s) times its
X check times its Z check, with the sum over the tile, so **the sum over each tile must be a multiple
of 4**. Then they act as S^sum(s) on the logical qubit, with the sum over all qubits. A **total of 1
modulo 8** makes the product the logical operator (X-Y)/sqrt(2), whose +1 state is T_DAG|+>.

For distance 3, s = -1 everywhere will do: the tiles have four qubits each, and the total is -7. For
distance 5 the three tiles of six qubits need an odd number of exceptions: s = +1 on the one qubit that
they share. That alone makes the total -17, which is -1 modulo 8; but s = +1 along the bottom edge, a
logical operator, which shares an even number of qubits with each tile, adds 10.
"""

from __future__ import annotations

from .builder import CircuitBuilder
from .color_code import ColorCode, Coord


def opposite_rotation_sites(code: ColorCode) -> tuple[Coord, ...]:
    """Lists the data qubits that get T where the others get T_DAG, and the other way round.

    Args:
        code: The code, of distance 3 or 5.

    Returns:
        The sites, sorted.

    Raises:
        ValueError: The distance is another one.

    Examples:
        >>> opposite_rotation_sites(ColorCode.triangular(5))
        ((0, 0), (3, 0), (4, 0), (4, 2), (7, 0), (8, 0))
    """
    if code.distance == 3:
        return ()
    if code.distance == 5:
        large_tiles = (set(tile.data) for tile in code.tiles if len(tile.data) == 6)
        [shared] = set.intersection(*large_tiles)
        return tuple(site for site in code.data if site == shared or site[1] == 0)
    raise ValueError(f"no rotations are known for distance {code.distance}")


def append_rotations(builder: CircuitBuilder, code: ColorCode, *, undo: bool = False) -> None:
    """Rotates all data qubits, so that measuring X on all of them is the logical check.

    Args:
        builder: The circuit to extend, inside a moment.
        code: The code.
        undo: Whether to rotate back instead.
    """
    opposite = opposite_rotation_sites(code)
    others = [site for site in code.data if site not in opposite]
    builder.t_dag(opposite if undo else others)
    builder.t(others if undo else opposite)
