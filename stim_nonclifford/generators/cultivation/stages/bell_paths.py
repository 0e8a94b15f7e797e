"""Where Bell pairs are prepared when a code grows: on the red edges that are new.

Every data qubit but the corner (0,0) is on one red edge, and the qubits of a red edge are one to three steps
apart. The sites between them belong to ancillas, which are free before the first syndrome cycle.
"""

from __future__ import annotations

from collections.abc import Collection

from ..color_code import ColorCode, Coord, Tile

RED = 0
"""The color of the boundary at which the code grows.

A tile of this color either stays as it is or is new. Tiles of the other colors grow by whole red edges.
"""

_PREFERRED = 2  # The color of the tiles that offer their ancillas as helpers.


def bell_paths(code: ColorCode, *, present: Collection[Coord]) -> tuple[tuple[Coord, ...], ...]:
    """Plans a path along each new red edge, so that no two paths share a site.

    Edges on the left-hand boundary, three steps long, go through both ancillas of a tile. An edge of two
    steps goes round a corner, by an ancilla of the tile of color 2 next to it, or, where that is taken, by
    one of the other tile. Such a path begins with the qubit in the row of the ancilla.

    Examples:
        >>> for path in bell_paths(ColorCode.triangular(3), present=[(0, 0)]):
        ...     print(*path)
        (1, 1) (1, 2) (2, 2) (2, 3)
        (2, 1) (3, 1) (3, 2)
        (3, 0) (4, 0)
    """
    tile_of = {site: tile for tile in code.tiles for site in (tile.x_ancilla, tile.z_ancilla)}
    edges = [edge for edge in code.edges(RED) if not set(edge).issubset(present)]
    long = {(a, b) for a, b in edges if b[1] - a[1] == 2}
    taken = {site for a, b in long for site in _between(a, b)}
    return tuple(
        (a, *_between(a, b), b) if (a, b) in long or a[1] == b[1] else _round_corner(a, b, tile_of, taken)
        for a, b in edges
    )


def _between(a: Coord, b: Coord) -> tuple[Coord, ...]:
    """The sites between the ends of an edge that is not diagonal: two, or none."""
    return () if a[1] == b[1] else ((a[0], a[1] + 1), (b[0], b[1] - 1))


def _round_corner(
    a: Coord, b: Coord, tile_of: dict[Coord, Tile], taken: Collection[Coord]
) -> tuple[Coord, Coord, Coord]:
    corners = [corner for corner in ((b[0], a[1]), (a[0], b[1])) if corner in tile_of and corner not in taken]
    corner = min(corners, key=lambda corner: tile_of[corner].color != _PREFERRED)
    return (a, corner, b) if a[1] == corner[1] else (b, corner, a)
