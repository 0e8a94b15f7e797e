"""Escape from the color code into the surface code, by way of the grafted code.

1. *Seam*: the new data qubits start in |0> or |+>. The two data qubits at the seam move to their sites in the
   surface code. One round measures the faces of the grafted code, then the two qubits move back.
2. *Graft*: `NUM_GRAFT_CYCLES` superdense cycles of the tiles, two of which are extended. Faces take part.
   All checks of tiles have the value +1, and postselect.
3. *Change of code*: four data qubits move, and a Bell pair completes the tip. From then on all checks are faces.
4. *Surface code*: as many cycles as wanted.

A face is +1 in the seam if its data qubits start in its basis. The change of code forgets two checks of the
grafted code, and measures two faces at random instead, which Paulis turn to +1. These Paulis keep the logical
operators, so they are those of the surface code in the end. All other tip faces are products of known checks::

    X(3,0) = green X                Z(2,1) = blue Z
    X(1,0) X(3,-2) = red X          Z(4,1) Z(2,-1) = extended green Z

The seam comes first. A Z error on the apex of the color code flips the extended X check of the blue tile and
X(3,2) alone. The first one is forgotten, so a first value of the second one that is taken later would hide
the error, if one measurement fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..builder import CircuitBuilder
from ..color_code import Coord
from ..stages.syndrome_cycle import WAYS, meetings
from .grafted_code import SEAM_MOVES, TIP_MOVES, TIP_PAIR, GraftedCode, Move
from .surface_patch import Basis, Face, face_moments, fitted_moments

NUM_SEAM_CYCLES = 2
NUM_GRAFT_CYCLES = 2
"""Cycles of the grafted code: a fault before them, and a wrong outcome in each, are as many as cultivation sees."""

_COLORS: Mapping[Basis, int] = {"X": 0, "Z": 3}
_RED_X, _GREEN_Z = 0, 4
_RANDOM_X, _RANDOM_Z = (1, 2), (0, -1)
_FLIPS_RANDOM_X, _FLIPS_RANDOM_Z = ((0, 0), (1, 1)), ((1, -1), (2, -2))
_Gates = list[tuple[Coord, Coord]]


def append_matchable_escape(
    builder: CircuitBuilder,
    code: GraftedCode,
    *,
    postselected_rounds: int,
    rounds: int,
    all_postselect: bool = False,
) -> Mapping[Coord, int]:
    """Appends the escape (32 moments), the change of code (8), and 6 moments for each further cycle.

    Args:
        builder: The circuit to extend.
        code: The grafted code; all checks of its color code are +1.
        postselected_rounds: The number of cycles of the surface code whose detectors discard the shot. The change
            of code is the first one.
        rounds: The number of cycles after these, whose detectors are for the decoder.
        all_postselect: Whether all detectors discard the shot.

    Returns:
        The index of the last outcome of each face in the measurement record, by the site of the ancilla.
    """
    last = _append_seam(builder, code, all_postselect)
    tiles: Mapping[Coord, int] = {}
    for k in range(NUM_GRAFT_CYCLES):
        is_last = k == NUM_GRAFT_CYCLES - 1
        tiles = _append_graft_cycle(
            builder, code, last, tiles, back=k == 0, prepares_tip=is_last, postselect=all_postselect
        )
    for k in range(postselected_rounds + rounds):
        postselect = all_postselect or k < postselected_rounds
        decoded = "" if postselect else "decoded "
        if k == 0:
            builder.begin_stage(f"{decoded}change of code")
            _append_change_of_code(builder, code, last, tiles, postselect=postselect)
        else:
            builder.begin_stage(f"{decoded}surface cycle d={code.patch.distance}")
            _append_surface_cycle(builder, code.patch.faces, last, postselect=postselect)
    return last


def append_face_detector(
    builder: CircuitBuilder, face: Face, records: Iterable[int], *, postselect: bool
) -> None:
    """Declares a detector for a face."""
    builder.detector(face.ancilla, records, color=_COLORS[face.basis], postselect=postselect, is_face=True)


def _append_seam(builder: CircuitBuilder, code: GraftedCode, postselect: bool) -> dict[Coord, int]:
    faces, fresh = (*code.faces, *code.seam_faces), code.fresh
    last: dict[Coord, int] = {}
    for k in range(NUM_SEAM_CYCLES):
        builder.begin_stage("seam")
        starts: dict[Coord, Basis] = {face.ancilla: face.basis for face in faces}
        moves: list[_Gates] = []
        if k == 0:
            for face in code.seam_faces:
                del starts[face.ancilla]
            starts |= {**fresh, **_targets(SEAM_MOVES)}
            moves = _moves(SEAM_MOVES)
        _reset(builder, starts)
        builder.tick()
        builder.cx_moments([*moves, *face_moments(faces)])
        records = _measure(builder, faces)
        for face in faces:
            known = [last[face.ancilla]] if k else []
            if k or all(fresh.get(site) == face.basis for site in face.data):
                append_face_detector(builder, face, [*known, records[face.ancilla]], postselect=postselect)
        builder.tick()
        last.update(records)
    return last


def _append_graft_cycle(
    builder: CircuitBuilder,
    code: GraftedCode,
    last: dict[Coord, int],
    tiles_before: Mapping[Coord, int],
    *,
    back: bool,
    prepares_tip: bool,
    postselect: bool,
) -> Mapping[Coord, int]:
    """Appends a cycle of tiles and faces.

    Args:
        builder: The circuit to extend.
        code: The code.
        last: The last outcome of each face, which this updates.
        back: Whether the data qubits of the seam first move back. They leave two ancillas in the states
            in which these start.
        prepares_tip: Whether the qubits of the Bell pair are reset during the measurement.
        postselect: Whether detectors of faces discard the shot.

    Returns:
        The outcome of each check of a tile, by the site of its ancilla.
    """
    builder.begin_stage("graft")
    x_ancillas, z_ancillas = code.color_code.x_ancillas, code.color_code.z_ancillas
    starts: dict[Coord, Basis] = {face.ancilla: face.basis for face in code.faces}
    starts |= dict.fromkeys(x_ancillas, "X")
    starts |= dict.fromkeys(z_ancillas, "Z")
    moves: list[_Gates] = []
    if back:
        starts = {site: basis for site, basis in starts.items() if site not in _targets(SEAM_MOVES)}
        starts |= {move.color_site: move.surface_leaves for move in SEAM_MOVES}
        moves = _moves([Move(m.surface_site, m.color_site, m.surface_leaves, m.color_leaves) for m in SEAM_MOVES])
    _reset(builder, starts)
    builder.tick()
    builder.cx_moments([*moves, *_graft_moments(code)])
    records = _measure(builder, code.faces)
    z_records = builder.measure(z=z_ancillas)
    tiles = dict(zip((*z_ancillas, *x_ancillas), z_records + builder.measure(x=x_ancillas), strict=True))
    if prepares_tip:
        a, middle, b = TIP_PAIR
        builder.reset(x=[middle], z=[a, b])
    _, blue, green = code.color_code.tiles
    for tile in code.color_code.tiles:
        for site in (tile.z_ancilla, tile.x_ancilla):
            known = [tiles_before[site]] if site in tiles_before else []
            color = {blue.x_ancilla: _RED_X, green.z_ancilla: _GREEN_Z}.get(site)
            builder.detector(
                site, [*known, tiles[site]], color=color, postselect=postselect or color is None
            )
    for face in code.faces:
        compared = [last[face.ancilla], records[face.ancilla]]
        append_face_detector(builder, face, compared, postselect=postselect)
    builder.tick()
    last.update(records)
    return tiles


def _graft_moments(code: GraftedCode) -> list[_Gates]:
    """Eight moments of gates: all Z checks are collected in the first four, then all X checks."""
    pairs = list(zip(code.color_code.x_ancillas, code.color_code.z_ancillas, strict=True))
    steps_out, steps_back = WAYS["Z"]
    out = [pairs, *(meetings(code.z_tiles, steps, "Z") for steps in steps_out)]
    way_back = [*(meetings(code.x_tiles, steps, "X") for steps in steps_back), pairs]
    moments = []
    for basis, gates in (("Z", out), ("X", way_back)):
        busy = [{site for pair in moment for site in pair} for moment in gates]
        fitted = fitted_moments([face for face in code.faces if face.basis == basis], busy)
        moments += [[*a, *b] for a, b in zip(gates, fitted, strict=True)]
    return moments


def _append_change_of_code(
    builder: CircuitBuilder,
    code: GraftedCode,
    last: dict[Coord, int],
    tiles: Mapping[Coord, int],
    *,
    postselect: bool,
) -> None:
    """Appends the first cycle of the surface code.

    Args:
        builder: The circuit to extend.
        code: The code.
        last: The last outcome of each face, which this updates.
        tiles: The last outcome of each check of a tile.
        postselect: Whether the detectors discard the shot.
    """
    faces, moves = code.patch.faces, (*SEAM_MOVES, *TIP_MOVES)
    a, middle, b = TIP_PAIR
    # The moves and the Bell pair leave these ancillas in the states in which they start.
    ready = {*(move.color_site for move in moves), middle}
    _reset(
        builder,
        {**_targets(moves), **{face.ancilla: face.basis for face in faces if face.ancilla not in ready}},
    )
    builder.cx([(middle, a)])
    builder.tick()
    first, second = _moves(moves)
    builder.cx_moments([[*first, (middle, b)], [*second, (b, middle)], *face_moments(faces)])
    records = _measure(builder, faces)
    red, blue, green = code.color_code.tiles
    products = {
        (3, 0): [tiles[green.x_ancilla]],
        (2, 1): [tiles[blue.z_ancilla]],
        (1, 0): [tiles[red.x_ancilla], records[3, -2]],
        (4, 1): [tiles[green.z_ancilla], records[2, -1]],
    }
    for face in faces:
        known = [last[face.ancilla]] if face.ancilla in last else products.get(face.ancilla)
        if known is not None:
            append_face_detector(builder, face, [*known, records[face.ancilla]], postselect=postselect)
    for record in (records[_RANDOM_X], tiles[blue.x_ancilla]):
        builder.feedback("Z", record, _FLIPS_RANDOM_X)
    records[_RANDOM_X] = tiles[blue.x_ancilla]
    builder.feedback("X", records.pop(_RANDOM_Z), _FLIPS_RANDOM_Z)
    builder.tick()
    last.update(records)


def _append_surface_cycle(
    builder: CircuitBuilder, faces: Sequence[Face], last: dict[Coord, int], *, postselect: bool
) -> None:
    _reset(builder, {face.ancilla: face.basis for face in faces})
    builder.tick()
    builder.cx_moments(face_moments(faces))
    records = _measure(builder, faces)
    for face in faces:
        known = [last[face.ancilla]] if face.ancilla in last else []
        append_face_detector(builder, face, [*known, records[face.ancilla]], postselect=postselect)
    builder.tick()
    last.update(records)


def _targets(moves: Iterable[Move]) -> dict[Coord, Basis]:
    return {move.surface_site: move.color_leaves for move in moves}


def _moves(moves: Iterable[Move]) -> list[_Gates]:
    """Two moments of CX gates. The state that is left at the origin is that in which the target started."""
    first: _Gates = []
    for move in moves:
        pair = (move.color_site, move.surface_site)
        first.append(pair if move.color_leaves == "Z" else pair[::-1])
    return [first, [(target, control) for control, target in first]]


def _reset(builder: CircuitBuilder, bases: Mapping[Coord, Basis]) -> None:
    x, z = (sorted(site for site, found in bases.items() if found == basis) for basis in ("X", "Z"))
    builder.reset(x=x, z=z)


def _measure(builder: CircuitBuilder, faces: Sequence[Face]) -> dict[Coord, int]:
    x, z = ([face.ancilla for face in faces if face.basis == basis] for basis in ("X", "Z"))
    return dict(zip([*z, *x], builder.measure(x=x, z=z), strict=True))
