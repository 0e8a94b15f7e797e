"""The graft: a superdense cycle of the tiles, and of the faces beside them.

All Z checks are collected in the first four moments of gates, all X checks in the last four. A check is
extended in moments in which its ancilla meets no data qubit, with a helper between them where they are no
neighbours: see `Reach`.

The two data qubits at the apex, which the seam has moved, are still at ancillas of tiles. A CX copies the
bit of each to the site to which it returns. The ancilla keeps it, and so has read this data qubit. The Bell
pairs of these two tiles are made after that, and then their other data qubits are read.

In the first graft, all tiles postselect, as errors before the seam have no matching graph: chains of them end
at all three sides of a color code. For distance 5, a decoder reads most tiles of later grafts. Then a third
of them postselect, and Paulis undo the byproducts of Z checks.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..builder import CircuitBuilder
from ..color_code import Coord, shifted
from ..stages.syndrome_cycle import WAYS, meetings, undo_byproducts
from .grafted_code import GraftedCode
from .grafts import Move, Reach
from .parts import (
    SHOWN_COLORS,
    Gates,
    append_helper_detectors,
    append_resets,
    append_seam_detector,
    bases_of,
    compared,
    helpers_of,
    measured,
)
from .surface_patch import Basis, fitted_moments

_EXTENDED: Mapping[Basis, int] = {"X": 0, "Z": 4}
"""The color that a decoder reads of extended checks in grafts in which all tiles postselect.

Errors on both sides of the seam can leave them silent together, so it must know them. It treats red X and
green Z checks like that.
"""

_JOIN, _PART = 2, 5
"""In which of the eight moments of gates a helper is joined with the ancilla, and parts with it."""


def append_graft(
    builder: CircuitBuilder,
    code: GraftedCode,
    last: dict[Coord, int],
    tiles: Mapping[Coord, int],
    *,
    pairs_up: bool,
    postselect: bool,
) -> Mapping[Coord, int]:
    """Appends the way back of the data qubits of the seam, and a cycle of tiles and faces (10 moments).

    Updates the last outcome of each face, and returns the outcome of each check of a tile, by the site of its
    ancilla; `tiles` has the earlier ones. `pairs_up` resets the qubits of the Bell pair of the change of
    code, which follows.
    """
    builder.begin_stage("graft")
    x_ancillas, z_ancillas = code.color_code.x_ancillas, code.color_code.z_ancillas
    graft = code.graft
    a, b = graft.apex_moves
    helpers = helpers_of(graft.extensions)
    tile_bases: dict[Coord, Basis] = {**dict.fromkeys(x_ancillas, "X"), **dict.fromkeys(z_ancillas, "Z")}
    bases = bases_of(code.faces) | helpers | tile_bases
    # The targets of the moves still hold data qubits. One of the Bell pairs starts at its Z ancilla.
    starts = bases | {a.origin: "Z", b.origin: "Z", shifted(b.target, (1, 0)): "X"}
    append_resets(
        builder, {site: basis for site, basis in starts.items() if site not in (a.target, b.target)}
    )
    builder.tick()
    builder.cx_moments(_graft_moments(code))
    records = measured(builder, bases)
    append_helper_detectors(builder, graft.extensions, records)
    found = {site: records[site] for site in tile_bases}
    # The Bell pair of the change of code takes three moments, two of which are those of its moves.
    if pairs_up and graft.tip_pair is not None:
        end, middle, other_end = graft.tip_pair
        builder.reset(x=[middle], z=[end, other_end])
    decodes = graft.decodes_tiles
    colors = _shown_colors(code) if decodes and tiles else _extended_colors(code)
    for site, record in found.items():
        color = colors.get(site)
        known = [tiles[site]] if tiles else []
        builder.detector(site, [*known, record], color=color, postselect=postselect or color is None)
    for face in code.faces:
        append_seam_detector(builder, code, face, compared(last, records, face), postselect=postselect)
    if decodes:
        undo_byproducts(builder, code.color_code, found)
    builder.tick()
    last.update({face.ancilla: records[face.ancilla] for face in code.faces})
    return found


def _extended_colors(code: GraftedCode) -> dict[Coord, int]:
    return {extension.ancilla: _EXTENDED[extension.basis] for extension in code.graft.extensions}


def _shown_colors(code: GraftedCode) -> dict[Coord, int]:
    colors = {tile.x_ancilla: SHOWN_COLORS[tile.color] for tile in code.color_code.tiles}
    return colors | {tile.z_ancilla: SHOWN_COLORS[tile.color] + 3 for tile in code.color_code.tiles}


def _graft_moments(code: GraftedCode) -> list[Gates]:
    pairs = list(zip(code.color_code.x_ancillas, code.color_code.z_ancillas, strict=True))
    steps_out, steps_back = WAYS["Z"]
    out = [pairs, *(meetings(code.z_tiles, steps, "Z") for steps in steps_out)]
    gates = [*out, *(meetings(code.x_tiles, steps, "X") for steps in steps_back), [*pairs]]
    for extension in code.graft.extensions:
        if extension.helper is not None:
            _add_helper(gates, extension)
    _move_back(gates, *code.graft.apex_moves)
    moments = []
    for basis, part in (("Z", gates[:4]), ("X", gates[4:])):
        busy = [{site for pair in moment for site in pair} for moment in part]
        fitted = fitted_moments([face for face in code.faces if face.basis == basis], busy)
        moments += [[*a, *b] for a, b in zip(part, fitted, strict=True)]
    return moments


def _add_helper(gates: list[Gates], extension: Reach) -> None:
    """Adds the gates of a helper. Nothing else may read the bit of a Z ancilla while it has that of one."""
    if extension.basis == "Z":
        for k in range(_JOIN, _PART + 1):
            for gate in [gate for gate in gates[k] if gate[0] == extension.ancilla]:
                _shift(gates, gate, k, _PART + 1)
    for k, gate in enumerate(extension.helper_gates(), start=_JOIN):
        gates[k].append(gate)


def _move_back(gates: list[Gates], a: Move, b: Move) -> None:
    """Lets one CX for each way back stand for the gate by which an ancilla reads this data qubit.

    The X ancilla of the tile of ``a`` reads nothing before the Bell pair is made. The Z ancilla of the tile
    of ``b`` starts the Bell pair and reads after that, the data qubits of the surface code last.
    """
    z_ancilla, x_ancilla = a.target, b.target
    partner_x, partner_z = shifted(z_ancilla, (-1, 0)), shifted(x_ancilla, (1, 0))
    for move in (a, b):
        gates[2].remove((move.origin, move.target))
        gates[0].append((move.target, move.origin))
    _shift(gates, (partner_x, z_ancilla), 0, 2)
    _shift(gates, (shifted(partner_x, (0, -1)), partner_x), 1, 3)
    gates[0].remove((x_ancilla, partner_z))
    gates[2].append((partner_z, x_ancilla))
    south, north, east = (shifted(partner_z, step) for step in ((0, -1), (0, 1), (1, 0)))
    _shift(gates, (east, partner_z), 3, 4)
    _shift(gates, (north, partner_z), 2, 5)
    _shift(gates, (south, partner_z), 1, 3)
    _shift(gates, (partner_z, south), 4, 6)


def _shift(gates: list[Gates], gate: tuple[Coord, Coord], start: int, end: int) -> None:
    gates[start].remove(gate)
    gates[end].append(gate)
