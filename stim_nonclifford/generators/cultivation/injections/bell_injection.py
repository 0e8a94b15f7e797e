"""Bell injection: grows the code from a single T state to distance 3, as `growth` does from 3 to 5.

A single qubit is a code of distance 1. The corner (0,0) is prepared in T_DAG|+>, and the other six data
qubits in Bell pairs on the red edges. All checks are then +1, except those of the red tile, which are
random. Only these two are measured here, the Z check first, while the Bell pairs are still being prepared,
and then corrected. The syndrome cycle that follows measures all tiles.
"""

from __future__ import annotations

from ..builder import CircuitBuilder
from ..color_code import ColorCode, Coord
from ..stages.bell_pairs import BellPairs
from ..stages.bell_paths import RED, bell_paths
from ..stages.growth import append_corrections
from ..stages.syndrome_cycle import NORTH, SIDE, meetings

_T_SITE: Coord = (0, 0)


def append_bell_injection(builder: CircuitBuilder) -> None:
    """Appends the preparation of T_DAG|+> encoded in the distance-3 code (8 moments) to an empty circuit.

    All checks of the code then have the value +1.
    """
    code = ColorCode.triangular(3)
    [red] = [tile for tile in code.tiles if tile.color == RED]
    ancillas = (red.x_ancilla, red.z_ancilla)
    pairs = BellPairs.along(bell_paths(code, present=[_T_SITE]))
    # Data qubits of the red tile meet an ancilla in the third moment, so they disentangle their helper later.
    in_time = [gate for gate in pairs.take_out if gate[0] not in red.data]
    late = [gate for gate in pairs.take_out if gate[0] in red.data]

    builder.begin_stage("Bell injection")
    builder.reset(x=sorted([*pairs.starts, red.x_ancilla, _T_SITE]), z=sorted([*pairs.others, red.z_ancilla]))
    builder.tick()
    builder.t_dag([_T_SITE])
    builder.cx_moments(
        [
            [*pairs.spread[0], ancillas],
            [*pairs.spread[1], *meetings([red], SIDE, "Z")],
            [*in_time, *meetings([red], NORTH, "Z")],
            [*late, *meetings([red], SIDE, "X")],
            meetings([red], NORTH, "X"),
            [ancillas],
        ]
    )
    z_sites = sorted([*pairs.helpers, red.z_ancilla])
    records = builder.measure(z=z_sites, x=[red.x_ancilla])
    record_of = dict(zip([*z_sites, red.x_ancilla], records, strict=True))
    for site in pairs.helpers:
        builder.detector(site, [record_of[site]])
    builder.tick()
    append_corrections(builder, code, [red], record_of)
