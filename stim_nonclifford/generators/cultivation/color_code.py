"""The triangular 6.6.6 color code, laid out on a square grid of qubits.

Every hexagonal tile has two neighbouring ancillas, one for its X check at `(x, y)` and one for its
Z check at `(x+1, y)`, with its data qubits around them::

            (x, y+1)  (x+1, y+1)
    (x-1, y)   [X]       [Z]    (x+2, y)
            (x, y-1)  (x+1, y-1)

Each data qubit of a tile is a nearest neighbour of one of its ancillas on the square grid. In the plane,
the kind of a site depends on `x + 2y` modulo 4 alone: 1 for X ancillas, 2 for Z ancillas, 0 and 3 for
data. The code consists of the sites inside a triangle with the corners `(0, 0)`, `(2(d-1), 0)` and
`(d-1, 3(d-1)/2)`. Tiles that an edge of the triangle cuts keep four data qubits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Coord = tuple[int, int]

# Data sites of a tile, as steps from its X ancilla.
_TILE_DATA_STEPS = ((-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (2, 0))


def shifted(site: Coord, step: Coord) -> Coord:
    """Returns the site that is `step` away from `site`.

    Examples:
        >>> shifted((3, 1), (-1, 0))
        (2, 1)
    """
    return site[0] + step[0], site[1] + step[1]


def adjacent(a: Coord, b: Coord) -> bool:
    """Tells whether two sites are nearest neighbours.

    Examples:
        >>> adjacent((3, 1), (2, 1)), adjacent((3, 1), (2, 2))
        (True, False)
    """
    return abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1


@dataclass(frozen=True, order=True)
class Tile:
    """One face of the code: its data qubits carry an X check and a Z check."""

    x_ancilla: Coord  # site of the ancilla that measures the X check
    data: tuple[Coord, ...]  # sites of the data qubits of the tile, sorted

    @property
    def z_ancilla(self) -> Coord:
        """Site of the ancilla that measures the Z check."""
        return shifted(self.x_ancilla, (1, 0))

    @property
    def outline(self) -> tuple[Coord, ...]:
        """Corners of the tile in drawings."""
        return self.data

    @property
    def color(self) -> int:
        """Color of the tile: 0, 1 or 2, different for any two tiles that share data qubits."""
        return self.x_ancilla[1] % 3


@dataclass(frozen=True)
class ColorCode:
    """A triangular color code with one logical qubit.

    X on all data qubits is a logical operator, and so are Z and Y on all of them. Each of the three is also
    a logical operator if it acts on the data qubits along one edge of the triangle.
    """

    distance: int  # code distance, odd
    data: tuple[Coord, ...]  # sites of the data qubits, sorted
    tiles: tuple[Tile, ...]  # faces of the code, sorted by site

    @classmethod
    def triangular(cls, distance: int) -> ColorCode:
        """Lays out the code of an odd distance, with `(3 * distance**2 + 1) / 4` data qubits.

        Examples:
            >>> code = ColorCode.triangular(3)
            >>> code.data
            ((0, 0), (1, 1), (2, 1), (2, 3), (3, 0), (3, 2), (4, 0))
            >>> [(tile.x_ancilla, tile.color) for tile in code.tiles]
            [((1, 0), 0), ((1, 2), 2), ((3, 1), 1)]
            >>> len(ColorCode.triangular(5).data)
            19
        """
        if distance < 3 or distance % 2 == 0:
            raise ValueError(f"distance must be 3, 5, 7, ..., but is {distance}")
        width = 2 * (distance - 1)
        sites = [(x, y) for x in range(width + 1) for y in range(width + 1)]
        data = tuple(
            (x, y)
            for x, y in sites
            # The + 1: sites along the right-hand edge form a zigzag, so some lie just outside the triangle.
            if (x + 2 * y) % 4 in (0, 3) and 2 * y <= 3 * x and 2 * y <= 3 * (width - x) + 1
        )
        tiles = []
        for x, y in sites:
            if (x + 2 * y) % 4 == 1:
                around = {shifted((x, y), step) for step in _TILE_DATA_STEPS}
                inside = tuple(sorted(around.intersection(data)))
                if len(inside) >= 4:
                    tiles.append(Tile((x, y), inside))
        return cls(distance, data, tuple(tiles))

    def edges(self, color: int) -> tuple[tuple[Coord, Coord], ...]:
        """Lists the edges of one color. Each connects two tiles of that color, or one tile with the boundary.

        The two data qubits of an edge lie in the same tiles of the other two colors. Every data qubit
        is on one edge, apart from the corner that no tile of the other colors touches.

        Examples:
            >>> ColorCode.triangular(3).edges(0)
            (((1, 1), (2, 3)), ((2, 1), (3, 2)), ((3, 0), (4, 0)))
        """
        groups: dict[tuple[Tile, ...], list[Coord]] = {}
        for site in self.data:
            others = tuple(tile for tile in self.tiles if site in tile.data and tile.color != color)
            groups.setdefault(others, []).append(site)
        return tuple(sorted((a, b) for others, (a, *bs) in groups.items() if others for b in bs))

    @property
    def x_ancillas(self) -> tuple[Coord, ...]:
        """Sites of the ancillas of the X checks, in the order of the tiles."""
        return tuple(tile.x_ancilla for tile in self.tiles)

    @property
    def z_ancillas(self) -> tuple[Coord, ...]:
        """Sites of the ancillas of the Z checks, in the order of the tiles."""
        return tuple(tile.z_ancilla for tile in self.tiles)

    def sites(self, *, extra: Iterable[Coord] = ()) -> tuple[Coord, ...]:
        """Lists all qubits in the order in which circuits number them: sorted by x, then y.

        Examples:
            >>> len(ColorCode.triangular(3).sites(extra=[(0, 1)]))
            14
        """
        return tuple(sorted({*self.data, *self.x_ancillas, *self.z_ancillas, *extra}))
