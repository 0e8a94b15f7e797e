"""Growth: enlarges the code by two of distance, keeping its state.

The new data qubits start as Bell pairs (XX = +1 and ZZ = +1) on the red edges outside the small code.
That makes all checks of the large code +1 but those of the new red tiles, which are random: an edge
that ends in a red tile shares one qubit with it. The next syndrome cycle, Z checks first, measures
them, and Paulis that depend on the random outcomes make them +1 as well. X, Y and Z on all data qubits,
which are logical operators, stay as they were.

A Pauli that does so is found on an *exit* of the tile, an edge that leads from it to the boundary: it
flips no check but those of this tile. Being a stabilizer before the cycle, it does nothing to the
logical qubit.

* Outcome 1 of the X check: Z on both qubits of the exit.
* Outcome 1 of the Z check: X on both qubits of the exit, and X on half of the tile, to take back the
  byproducts of the cycle. Of the two halves, which differ by the X check, the one that shares a qubit
  with the exit is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .bell_pairs import append_bell_pairs
from .builder import CircuitBuilder
from .color_code import ColorCode, Coord, Tile, adjacent
from .syndrome_cycle import append_syndrome_cycle

RED = 0
"""The color of the boundary at which the code grows.

Tiles of this color stay as they are or are new; those of the other colors grow by whole red edges.
"""

NUM_CYCLES = 3
"""Syndrome cycles after growth, the one with the random outcomes included."""

# For each distance, how the Bell pairs reach the new red edges: from one end of the edge to the other
# by way of free sites.
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
        small: The code that holds the state, all its checks +1.
        large: The code to grow to.
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
    """Appends the Paulis that make the checks of some red tiles +1, after a cycle with Z checks first.

    Args:
        builder: The circuit to extend.
        code: The code.
        tiles: The red tiles.
        records: Where the outcomes of their ancillas are in the measurement record.
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
