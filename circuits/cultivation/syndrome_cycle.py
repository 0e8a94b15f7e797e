"""One superdense syndrome cycle: measures the X and Z checks of every tile at the same time.

The two ancillas of a tile start as a Bell pair and act as one ancilla with neighbours on all sides.
On the way out (three moments of ancilla -> data gates) the pair collects the X check of its tile,
in the value of XX; on the way back (data -> ancilla) the Z check, in the value of ZZ. Undoing the
Bell pair leaves the X check on the X ancilla and the Z check on the Z ancilla.

Between the two ways an X check of -1 also sits on the ancillas as a phase, which the way back
copies to data qubits: outcome 1 of an X check comes with Z byproducts. Here this needs no
correction, since shots with any outcome other than 0 are discarded.
"""

from __future__ import annotations

from collections.abc import Sequence

from circuits.cultivation.builder import CircuitBuilder
from circuits.cultivation.color_code import ColorCode, Coord, shifted

# Steps to the data qubits that the X ancilla and the Z ancilla of a tile meet in one moment.
_SIDE: tuple[Coord, Coord] = ((-1, 0), (1, 0))
_NORTH: tuple[Coord, Coord] = ((0, 1), (0, 1))
_SOUTH: tuple[Coord, Coord] = ((0, -1), (0, -1))

_WAY_OUT = (_SIDE, _NORTH, _SOUTH)
_WAY_BACK = (_SOUTH, _SIDE, _NORTH)


def append_syndrome_cycle(
    builder: CircuitBuilder,
    code: ColorCode,
    *,
    arriving: Sequence[tuple[Coord, Coord]] = (),
) -> None:
    """Appends a cycle (10 moments) whose outcomes are all 0 if all checks are +1.

    Args:
        builder: The circuit to extend.
        code: The code to check.
        arriving: (from, to) pairs of sites: data qubits `to` whose state is still at `from`. They
            move during the first two moments of gates and must not meet an ancilla before the
            third. The sites `from` end in |0>, which is measured together with the checks.
    """
    departures = [origin for origin, _ in arriving]
    arrivals = [site for _, site in arriving]
    builder.reset(x=code.x_ancillas, z=sorted([*code.z_ancillas, *arrivals]))
    builder.tick()

    bell_pairs = [(tile.x_ancilla, tile.z_ancilla) for tile in code.tiles]
    way_out = [_meetings(code, steps) for steps in _WAY_OUT]
    way_back = [_meetings(code, steps) for steps in _WAY_BACK]
    # An arrival site starts in |0>, so two CXs move a state there: copy it, then erase the
    # original.
    moments = [
        [*bell_pairs, *arriving],
        [*way_out[0], *((site, origin) for origin, site in arriving)],
        *way_out[1:],
        *([(data, ancilla) for ancilla, data in pairs] for pairs in way_back),
        bell_pairs,
    ]
    for pairs in moments:
        builder.cx(pairs)
        builder.tick()

    z_sites = sorted([*code.z_ancillas, *departures])
    records = builder.measure(z=z_sites, x=code.x_ancillas)
    for site, record in zip([*z_sites, *code.x_ancillas], records, strict=True):
        builder.detector(site, [record])
    builder.tick()


def _meetings(code: ColorCode, steps: tuple[Coord, Coord]) -> list[tuple[Coord, Coord]]:
    """Lists (ancilla, data) pairs, leaving out steps that lead outside the triangle."""
    x_step, z_step = steps
    pairs = []
    for tile in code.tiles:
        for ancilla, step in ((tile.x_ancilla, x_step), (tile.z_ancilla, z_step)):
            data = shifted(ancilla, step)
            if data in tile.data:
                pairs.append((ancilla, data))
    return pairs
