"""Growth: enlarges the distance of the code by two, and keeps its logical state.

The new data qubits start as Bell pairs (XX = +1 and ZZ = +1) on the red edges outside the small code.
Then all checks of the large code are +1, except those of the new red tiles: an edge that ends in a red
tile shares only one qubit with it, so these checks are random. The next syndrome cycle measures all checks,
the Z checks first. Paulis that depend on the random outcomes then turn these checks to +1. The logical
operators (X, Y or Z on all data qubits) keep their values.

Each such Pauli acts on an *exit* of the tile: an edge that leads from the tile to the boundary. It flips
the checks of this tile and no others. Before the cycle it was a stabilizer, so it acts trivially on the
logical qubit.

* Outcome 1 of the X check: Z on both qubits of the exit.
* Outcome 1 of the Z check: X on both qubits of the exit, and X on half of the tile, which cancels the
  byproducts of the cycle. The two halves differ by the X check, so either would do. The half that shares
  a qubit with the exit needs fewer gates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .bell_pairs import append_bell_pairs
from .builder import CircuitBuilder
from .color_code import ColorCode, Coord, Tile, adjacent
from .syndrome_cycle import append_syndrome_cycle

RED = 0
"""The color of the boundary at which the code grows.

A tile of this color either stays as it is or is new. Tiles of the other colors grow by whole red edges.
"""

NUM_CYCLES = 3
"""Syndrome cycles after growth, including the one with the random outcomes."""

# For each distance, the paths of the Bell pairs on the new red edges: from one end of the edge to the other,
# through sites that are free at this time.
_PATHS: Mapping[int, tuple[tuple[Coord, ...], ...]] = {
    5: (
        ((3, 4), (3, 5), (4, 5), (4, 6)),
        ((4, 2), (5, 2), (5, 1)),
        ((4, 4), (5, 4), (5, 5)),
        ((5, 3), (6, 3)),
        ((7, 2), (6, 2), (6, 1)),
        ((7, 0), (8, 0)),
    ),
}


def append_growth(builder: CircuitBuilder, small: ColorCode, large: ColorCode) -> None:
    """Appends the growth and `NUM_CYCLES` syndrome cycles, after which all checks are +1.

    Args:
        builder: The circuit to extend.
        small: The code that holds the state; all its checks are +1.
        large: The code after growth.
    """
    builder.begin_stage(f"growth d={large.distance}")
    append_bell_pairs(builder, _PATHS[large.distance])

    new_red = [tile for tile in large.tiles if tile.color == RED and tile not in small.tiles]
    random = {site for tile in new_red for site in (tile.x_ancilla, tile.z_ancilla)}
    records = append_syndrome_cycle(builder, large, first="Z", random=random)
    append_corrections(builder, large, new_red, records)
    for _ in range(NUM_CYCLES - 1):
        append_syndrome_cycle(builder, large, first="Z")


def append_corrections(
    builder: CircuitBuilder, code: ColorCode, tiles: Sequence[Tile], records: Mapping[Coord, int]
) -> None:
    """Appends the Paulis that turn the checks of red tiles to +1, after a cycle that collected Z first.

    Args:
        builder: The circuit to extend.
        code: The code.
        tiles: The red tiles to correct.
        records: The index of each outcome in the measurement record, by the site of the ancilla.
    """
    for tile in tiles:
        way_out = _exit_of(code, tile)
        halves = [
            {site for site in tile.data if adjacent(site, ancilla)}
            for ancilla in (tile.x_ancilla, tile.z_ancilla)
        ]
        half = next(half for half in halves if half.intersection(way_out))
        builder.feedback("Z", records[tile.x_ancilla], way_out)
        builder.feedback("X", records[tile.z_ancilla], sorted(half.symmetric_difference(way_out)))


def _exit_of(code: ColorCode, tile: Tile) -> tuple[Coord, Coord]:
    """Finds the first edge that leads from a tile to the boundary.

    Args:
        code: The code.
        tile: One of its tiles.

    Returns:
        An edge of the tile's color with one qubit in the tile and the other in no tile of that color.

    Examples:
        >>> code = ColorCode.triangular(3)
        >>> _exit_of(code, code.tiles[0])
        ((1, 1), (2, 3))
    """
    same_color = {site for other in code.tiles if other.color == tile.color for site in other.data}
    return next(
        edge
        for edge in code.edges(tile.color)
        if len(same_color.intersection(edge)) == len(set(tile.data).intersection(edge)) == 1
    )
