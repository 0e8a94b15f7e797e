"""Degenerate injection: teleports a T state into the code through a check of weight four.

At first the code is stretched: its corner (4,0) is at (4,2), and a fourth tile joins the edge (2,3), (3,2),
(4,2) to one more qubit, (3,4). That edge supports logical X and logical Z. With the X check and the Z check
of the fourth tile at +1, the logical qubit on the edge and the qubit (3,4) are therefore a Bell pair.
T_DAG and a measurement of X on (3,4) then teleport the state: the code is left in T_DAG|+> or Z T_DAG|+>.
(Until then the stretched code has no logical qubit: its checks fix a single state.)

All data qubits start in |0>, so the Z checks are +1. The X checks are random, and are measured twice.
During the second measurement, the corner moves to (4,0). Finally, Z gates that depend on the outcomes turn
all X checks to +1.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..builder import CircuitBuilder, CxMoment
from ..color_code import Coord, Tile
from ..stages.syndrome_cycle import NORTH, SIDE, SOUTH, meetings

_T_SITE: Coord = (3, 4)

_RED = Tile((1, 0), ((0, 0), (1, 1), (2, 1), (3, 0)))
_GREEN = Tile((1, 2), ((1, 1), (2, 1), (2, 3), (3, 2)))
_BLUE = Tile((3, 1), ((2, 1), (3, 0), (3, 2), (4, 2)))
_FOURTH = Tile((3, 3), ((2, 3), (3, 2), (3, 4), (4, 2)))

STRETCHED_TILES: tuple[Tile, ...] = (_RED, _GREEN, _BLUE, _FOURTH)
"""The tiles of the stretched code."""

EXTRA_SITES: tuple[Coord, ...] = ((4, 2), _T_SITE, _FOURTH.x_ancilla, _FOURTH.z_ancilla)
"""Sites that the distance-3 code does not have."""

# The corner moves from (4,2) through (4,1) to (4,0). The CX gates t->s and s->t, in two moments, move a
# bit from s to a site t in |+>, and leave s in |+>. This uses the Z ancilla of the blue tile, so that tile
# measures its X check with its X ancilla alone. It meets its fourth data qubit on its way, at (4,1).
_PASSED_SITES: tuple[Coord, Coord] = ((4, 1), (4, 2))
_BLUE_MEETS: tuple[Coord, ...] = ((2, 1), (3, 0), (3, 2), (4, 1))
_CARRY_CORNER: tuple[CxMoment, ...] = (
    (((4, 1), (4, 2)),),
    (((4, 0), (4, 1)),),
    (((4, 2), (4, 1)),),
    (),
    (((4, 1), (4, 0)),),
)

# The sites of the Z gates that are applied if the outcome of X at a site is 1. Logical X was on the edge at
# the fourth tile. Multiplied by the red X check it is X on all data qubits, the logical X from here on.
_LOGICAL_Z: tuple[Coord, ...] = ((0, 0), (1, 1), (2, 3))
_CORRECTIONS: Mapping[Coord, tuple[Coord, ...]] = {
    _RED.x_ancilla: ((0, 0),),  # Z here flips the red X check and the logical X
    _GREEN.x_ancilla: ((0, 0), (1, 1)),
    _BLUE.x_ancilla: ((0, 0), (3, 0)),
    _FOURTH.x_ancilla: _LOGICAL_Z,
    _T_SITE: _LOGICAL_Z,
}


def append_degenerate_injection(builder: CircuitBuilder) -> None:
    """Appends the preparation of T_DAG|+> encoded in the distance-3 code (15 moments).

    All checks of the code then have the value +1.
    """
    builder.begin_stage("degenerate injection")
    first_outcomes = _append_first_round(builder)
    outcomes = _append_second_round(builder, first_outcomes)

    for ancilla, sites in _CORRECTIONS.items():
        builder.feedback("Z", outcomes[ancilla], sites)


def _append_first_round(builder: CircuitBuilder) -> dict[Coord, int]:
    """Measures the X checks of the stretched code."""
    tiles = STRETCHED_TILES
    data = {site for tile in tiles for site in tile.data}
    x_ancillas = [tile.x_ancilla for tile in tiles]
    z_ancillas = [tile.z_ancilla for tile in tiles]
    ancilla_pairs = list(zip(x_ancillas, z_ancillas, strict=True))

    builder.reset(x=x_ancillas, z=sorted([*data, *z_ancillas]))
    builder.tick()
    ways = [meetings(tiles, steps, "X") for steps in (NORTH, SIDE, SOUTH)]
    builder.cx_moments([ancilla_pairs, *ways, ancilla_pairs])
    records = builder.measure(z=z_ancillas, x=x_ancillas)
    record_of = dict(zip([*z_ancillas, *x_ancillas], records, strict=True))
    for site in z_ancillas:
        builder.detector(site, [record_of[site]])
    builder.tick()
    return record_of


def _append_second_round(builder: CircuitBuilder, first_outcomes: dict[Coord, int]) -> dict[Coord, int]:
    """Measures the X checks again, moves the corner, and teleports the state into the code."""
    tiles = (_RED, _GREEN, _FOURTH)
    x_ancillas = [_RED.x_ancilla, _GREEN.x_ancilla, _BLUE.x_ancilla, _FOURTH.x_ancilla]
    z_ancillas = [tile.z_ancilla for tile in tiles]
    ancilla_pairs = [(tile.x_ancilla, tile.z_ancilla) for tile in tiles]

    builder.reset(x=sorted([*x_ancillas, (4, 0), (4, 1)]), z=z_ancillas)
    builder.tick()
    ways = [ancilla_pairs, *(meetings(tiles, steps, "X") for steps in (SOUTH, NORTH, SIDE)), ancilla_pairs]
    blue = [*((((_BLUE.x_ancilla, site)),) for site in _BLUE_MEETS), ()]
    builder.cx_moments(
        [*way, *meeting, *carry] for way, meeting, carry in zip(ways, blue, _CARRY_CORNER, strict=True)
    )
    builder.t_dag([_T_SITE])
    builder.tick()
    x_sites = sorted([*x_ancillas, *_PASSED_SITES, _T_SITE])
    records = builder.measure(z=z_ancillas, x=x_sites)
    record_of = dict(zip([*z_ancillas, *x_sites], records, strict=True))
    for site, record in record_of.items():
        if site in x_ancillas:
            builder.detector(site, [first_outcomes[site], record])
        elif site != _T_SITE:
            builder.detector(site, [record])
    builder.tick()
    return record_of
