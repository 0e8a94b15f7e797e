"""Escape: grows the code at once to a large distance, and goes on until a decoder can protect the state.

Growth is that of `growth`: Bell pairs on the new red edges, then syndrome cycles in which the Z checks are
collected first. The first cycle turns the checks of the new red tiles into +1 or -1 at random. Nothing turns
them to +1 here. Instead, each cycle is compared with the one before.

From now on, shots with outcome 1 are kept. Then a Z check of -1 has byproducts in every cycle (see
`syndrome_cycle`): X on half of its tile, which would flip checks of the neighbouring tiles and logical
operators. Paulis that depend on the outcomes undo them. So a detector is the sum of two outcomes of the
same check, and the logical operators, X or Y on all data qubits, keep their values.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..builder import CircuitBuilder
from ..color_code import ColorCode, Coord, Tile
from .bell_pairs import append_bell_pairs
from .bell_paths import bell_paths
from .growth import new_red_tiles
from .syndrome_cycle import append_check_measurements, undo_byproducts

_FIRST_Z_COLOR = 3  # Chromobius counts X checks by color from 0, and Z checks from 3.


def append_escape(
    builder: CircuitBuilder,
    small: ColorCode,
    large: ColorCode,
    *,
    postselected_rounds: int,
    rounds: int,
    all_postselect: bool = False,
) -> Mapping[Coord, int]:
    """Appends the growth and all syndrome cycles (5 moments, and 10 for each cycle).

    All checks of the small code are +1 before. The detectors of `postselected_rounds` cycles discard shots;
    `rounds` more are for the decoder. Returns the last record of each check, by the site of its ancilla.
    """
    builder.begin_stage(f"escape d={large.distance}")
    append_bell_pairs(builder, bell_paths(large, present=small.data))
    random = {site for tile in new_red_tiles(small, large) for site in (tile.x_ancilla, tile.z_ancilla)}
    before: Mapping[Coord, int] = {}
    for k in range(postselected_rounds + rounds):
        postselect = all_postselect or k < postselected_rounds
        kind = "syndrome cycle" if postselect else "decoded syndrome cycle"
        builder.begin_stage(f"{kind} d={large.distance}")
        records = append_check_measurements(builder, large, first="Z")
        for tile in large.tiles:
            for site in (tile.z_ancilla, tile.x_ancilla):
                if site in before or site not in random:
                    compared = [before[site]] if site in before else []
                    append_check_detector(
                        builder, tile, site, [*compared, records[site]], postselect=postselect
                    )
        undo_byproducts(builder, large, records)
        builder.tick()
        before = records
    return before


def append_check_detector(
    builder: CircuitBuilder, tile: Tile, ancilla: Coord, records: list[int], *, postselect: bool
) -> None:
    """Declares a detector that Chromobius knows as a check of the color code."""
    color = tile.color + (_FIRST_Z_COLOR if ancilla == tile.z_ancilla else 0)
    builder.detector(ancilla, records, color=color, postselect=postselect)
