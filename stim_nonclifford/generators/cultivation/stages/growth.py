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

from ..builder import CircuitBuilder
from ..color_code import ColorCode, Coord, Tile, adjacent
from .bell_pairs import append_bell_pairs
from .bell_paths import RED, bell_paths
from .syndrome_cycle import append_syndrome_cycle

NUM_CYCLES = 3
"""Syndrome cycles after growth, including the one with the random outcomes."""


def append_growth(builder: CircuitBuilder, small: ColorCode, large: ColorCode) -> None:
    """Appends the growth and `NUM_CYCLES` syndrome cycles; all checks are +1 before and after."""
    builder.begin_stage(f"growth d={large.distance}")
    append_bell_pairs(builder, bell_paths(large, present=small.data))

    new_red = new_red_tiles(small, large)
    random = {site for tile in new_red for site in (tile.x_ancilla, tile.z_ancilla)}
    records = append_syndrome_cycle(builder, large, first="Z", random=random)
    append_corrections(builder, large, new_red, records)
    for _ in range(NUM_CYCLES - 1):
        append_syndrome_cycle(builder, large, first="Z")


def new_red_tiles(small: ColorCode, large: ColorCode) -> tuple[Tile, ...]:
    """Lists the red tiles that growth adds. Their checks come out at random in the first cycle.

    Examples:
        >>> small, large = ColorCode.triangular(3), ColorCode.triangular(5)
        >>> [tile.x_ancilla for tile in new_red_tiles(small, large)]
        [(3, 3), (5, 0)]
    """
    return tuple(tile for tile in large.tiles if tile.color == RED and tile not in small.tiles)


def append_corrections(
    builder: CircuitBuilder, code: ColorCode, tiles: Sequence[Tile], records: Mapping[Coord, int]
) -> None:
    """Appends the Paulis that turn the checks of red tiles to +1, after a cycle that collected Z first."""
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
    """The first edge from a tile to the boundary, whose other qubit is in no tile of the tile's color.

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
