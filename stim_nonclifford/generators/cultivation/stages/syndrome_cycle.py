"""One superdense syndrome cycle: measures the X and Z checks of every tile at the same time.

The two ancillas of a tile start as a Bell pair, and act as one ancilla with neighbours on all sides.
On the *way out* (three moments) the pair collects one check of its tile, on the *way back* the other.
Ancilla -> data gates collect the X check in the value of XX, and data -> ancilla gates collect the Z
check in the value of ZZ. The last CX disentangles the pair: the X check is then on the X ancilla, and the
Z check on the Z ancilla.

After the way out, a check of -1 that has been collected is also a Pauli on the ancillas, and the way back
copies this Pauli to data qubits. So outcome 1 of a check that is collected first has *byproducts*: Z on half
of the tile for an X check, X on half of the tile for a Z check. Most cycles need no correction of them, since
shots with any outcome other than 0 are discarded. The exceptions are `growth`, and cycles that a decoder
reads: those after `escape` and of the graft, see `undo_byproducts`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ..builder import CircuitBuilder, Pauli
from ..color_code import ColorCode, Coord, Tile, adjacent, shifted

# Steps from the X ancilla and from the Z ancilla of a tile to the data qubits that they meet in one moment.
SIDE: tuple[Coord, Coord] = ((-1, 0), (1, 0))
NORTH: tuple[Coord, Coord] = ((0, 1), (0, 1))
SOUTH: tuple[Coord, Coord] = ((0, -1), (0, -1))

# The three moments of the way out and the three of the way back, by the check that is collected first.
WAYS: Mapping[Pauli, tuple[tuple[tuple[Coord, Coord], ...], ...]] = {
    "X": ((SIDE, NORTH, SOUTH), (SOUTH, SIDE, NORTH)),
    "Z": ((SOUTH, NORTH, SIDE), (SOUTH, NORTH, SIDE)),
}


def append_syndrome_cycle(
    builder: CircuitBuilder,
    code: ColorCode,
    *,
    first: Pauli = "X",
    arriving: Sequence[tuple[Coord, Coord]] = (),
    random: Collection[Coord] = (),
) -> Mapping[Coord, int]:
    """Appends a cycle (10 moments) whose outcomes are all 0 if all checks are +1.

    Returns its records by site.

    The checks of kind `first` are collected on the way out. Ancillas whose outcomes are `random` get no
    detector.
    """
    builder.begin_stage(f"syndrome cycle d={code.distance}")
    record_of = append_check_measurements(builder, code, first=first, arriving=arriving)
    for site, record in record_of.items():
        if site not in random:
            builder.detector(site, [record])
    builder.tick()
    return record_of


def append_check_measurements(
    builder: CircuitBuilder,
    code: ColorCode,
    *,
    first: Pauli,
    arriving: Sequence[tuple[Coord, Coord]] = (),
) -> Mapping[Coord, int]:
    """Appends a cycle without its detectors, and without the TICK after its measurements.

    Returns its records by site.

    `arriving` has (from, to) pairs of sites: the state of data qubit `to` is still at `from`. It moves during
    the first two moments of gates, so `to` must not meet an ancilla before the third. The sites `from` end in
    |0>, and are measured together with the checks.
    """
    departures = [origin for origin, _ in arriving]
    arrivals = [site for _, site in arriving]
    builder.reset(x=code.x_ancillas, z=sorted([*code.z_ancillas, *arrivals]))
    builder.tick()

    bell_pairs = [(tile.x_ancilla, tile.z_ancilla) for tile in code.tiles]
    second: Pauli = "Z" if first == "X" else "X"
    steps_out, steps_back = WAYS[first]
    way_out = [meetings(code.tiles, steps, first) for steps in steps_out]
    way_back = [meetings(code.tiles, steps, second) for steps in steps_back]
    builder.cx_moments(
        [
            # The site `to` starts in |0>. One CX copies the bit to it, a second CX erases the original.
            [*bell_pairs, *arriving],
            [*way_out[0], *((site, origin) for origin, site in arriving)],
            *way_out[1:],
            *way_back,
            bell_pairs,
        ]
    )
    z_sites = sorted([*code.z_ancillas, *departures])
    records = builder.measure(z=z_sites, x=code.x_ancillas)
    return dict(zip([*z_sites, *code.x_ancillas], records, strict=True))


def undo_byproducts(builder: CircuitBuilder, code: ColorCode, records: Mapping[Coord, int]) -> None:
    """Appends X on half of each tile whose Z check is -1, after a cycle that collects Z checks first."""
    for tile in code.tiles:
        half = [site for site in tile.data if adjacent(site, tile.z_ancilla)]
        builder.feedback("X", records[tile.z_ancilla], half)


def meetings(tiles: Sequence[Tile], steps: tuple[Coord, Coord], check: Pauli) -> list[tuple[Coord, Coord]]:
    """Lists the CX gates, as (control, target), by which ancillas collect a check in one moment.

    The steps lead from the X ancilla and from the Z ancilla of a tile to the data qubits that they meet;
    those that lead out of the tile are left out. The check is "X" for gates from ancilla to data, "Z" for the
    others.
    """
    pairs = []
    for tile in tiles:
        for ancilla, step in zip((tile.x_ancilla, tile.z_ancilla), steps, strict=True):
            data = shifted(ancilla, step)
            if data in tile.data:
                pairs.append((ancilla, data) if check == "X" else (data, ancilla))
    return pairs
