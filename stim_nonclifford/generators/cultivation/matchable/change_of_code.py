"""The change of code: the first cycle of the surface code.

The data qubits of the color code move to their sites in the surface code, and those that its tip lacks start
in a state of their own. From then on all checks are faces. The tables of `grafts` say which faces at the tip
are known from checks of tiles, alone or as products. The others are random.

Far from the tip, the logical operators of both codes are the same. At the tip they differ by checks of tiles
and by faces, some of which are random. So these outcomes flip the logical operators.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..builder import CircuitBuilder, Pauli
from ..color_code import Coord
from .grafted_code import GraftedCode
from .parts import Gates, append_face_detector, append_resets, bases_of, measured
from .surface_patch import face_moments


def append_change_of_code(
    builder: CircuitBuilder,
    code: GraftedCode,
    last: dict[Coord, int],
    tiles: Mapping[Coord, int],
    *,
    postselect: bool,
) -> None:
    """Appends the first cycle of the surface code (8 moments), and updates the last outcome of each face.

    `tiles` has the last outcome of each check of a tile.
    """
    graft, faces = code.graft, code.patch.faces
    moves = (*graft.apex_moves, *graft.tip_moves)
    starts = bases_of(faces) | dict(graft.tip_starts) | {move.target: move.leaves for move in moves}
    first = [move.gate for move in moves]
    second = [gate[::-1] for gate in first]
    pair: Gates = []
    if graft.tip_pair is not None:
        # The Bell pair leaves its ancilla in the state in which this starts.
        end, middle, other_end = graft.tip_pair
        del starts[middle]
        pair = [(middle, end)]
        first.append((middle, other_end))
        second.append((other_end, middle))
    # The moves leave their origins in the states in which ancillas of faces start.
    origins = {move.origin for move in moves}
    append_resets(builder, {site: basis for site, basis in starts.items() if site not in origins})
    builder.cx(pair)
    builder.tick()
    builder.cx_moments([first, second, *face_moments(faces)])
    records = measured(builder, bases_of(faces))
    products = {product.faces[0]: product for product in graft.products}
    for face in faces:
        if face.ancilla in last:
            compared = [last[face.ancilla], records[face.ancilla]]
        elif face.ancilla in products:
            compared = products[face.ancilla].records(tiles, records)
        else:
            continue
        append_face_detector(builder, face, compared, postselect=postselect)
    flips: list[tuple[Pauli, list[int], tuple[Coord, ...]]] = [
        ("Z", graft.flips["X"].records(tiles, records), code.patch.logical_z),
        ("X", graft.flips["Z"].records(tiles, records), code.patch.logical_x),
    ]
    for pauli, outcomes, sites in flips:
        for record in outcomes:
            builder.feedback(pauli, record, sites)
    builder.tick()
    last.update(records)
