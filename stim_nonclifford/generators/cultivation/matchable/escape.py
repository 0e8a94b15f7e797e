"""Escape from the color code into the surface code, by way of the grafted code.

1. *Seam*: the new data qubits start in |0> or |+>, and those two of the color code that are at the seam move
   to their sites in the surface code. A round measures the faces of the grafted code.
2. *Graft*: the two qubits move back. A superdense cycle measures the tiles, two of which are extended, and
   the other faces. Seam and graft are repeated.
3. *Change of code*: four data qubits move to their sites in the surface code, and a Bell pair completes its
   tip. From then on all checks are faces.
4. *Surface code*: as many cycles as wanted.

In the seam, a face has the value +1 if its data qubits start in its basis, and a random one otherwise. All
checks of tiles are +1. The change of code forgets two of them, the X check of the blue tile and the Z check
of the red one, and measures two faces at random instead. Paulis turn these to +1, so that the logical
operators stay what they are. The other faces at the tip are products of known checks::

    X(3,0) = green X              Z(2,1) = blue Z
    X(1,0) X(3,-2) = red X        Z(4,1) Z(2,-1) = green Z

The order of the stages, and that there are two rounds of the seam and of the graft, makes every set of two
faults visible. A Z error on the apex of the color code flips the X check of the blue tile, which is
forgotten, and X(3,2) alone. Before the seam, it looks like the random first value of X(3,2), and only both
checks of the blue tile see it. Between the first and the second one, X(3,2) is measured again. After them, it
looks like a wrong value of X(3,2), which has two by then.

The X check of the blue tile and the Z check of the green tile have data qubits on both sides of the seam. A
decoder must know them, though they postselect: errors on both sides leave them silent together. Their
detectors have the coordinates of red X and green Z checks, which is how `DesaturatedGapDecoder` is told so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..builder import CircuitBuilder
from ..color_code import Coord
from ..stages.syndrome_cycle import WAYS, meetings
from .grafted_code import SEAM_MOVES, TIP_MOVES, TIP_PAIR, GraftedCode, Move
from .surface_patch import Basis, Face, face_moments, fitted_moments

_NUM_GRAFTS = 2

_COLORS: Mapping[Basis, int] = {"X": 0, "Z": 3}
_RED_X, _GREEN_Z = 0, 4
"""The fourth and fifth coordinate of checks that postselect, and that a decoder knows."""

_RANDOM_X, _RANDOM_Z = (1, 2), (0, -1)
"""Ancillas of the faces that the change of code measures at random."""

_FLIPS_RANDOM_X, _FLIPS_RANDOM_Z = ((0, 0), (1, 1)), ((1, -1), (2, -2))
"""Data qubits on which Z and X flip these faces and a logical operator, and no other face."""

_Gates = list[tuple[Coord, Coord]]


def append_matchable_escape(
    builder: CircuitBuilder,
    code: GraftedCode,
    *,
    postselected_rounds: int,
    rounds: int,
    all_postselect: bool = False,
) -> Mapping[Coord, int]:
    """Appends seam and graft twice (40 moments), and cycles of the surface code (8, then 6 for each).

    Args:
        builder: The circuit to extend.
        code: The grafted code; all checks of its color code are +1.
        postselected_rounds: The number of cycles of the surface code whose detectors discard the shot. The
            change of code is the first one.
        rounds: The number of cycles after these, whose detectors are for the decoder.
        all_postselect: Whether all detectors discard the shot.

    Returns:
        The index of the last outcome of each face in the measurement record, by the site of the ancilla.
    """
    last: dict[Coord, int] = {}
    tiles: Mapping[Coord, int] = {}
    for _ in range(_NUM_GRAFTS):
        _append_seam(builder, code, last, postselect=all_postselect)
        tiles = _append_graft(builder, code, last, tiles, postselect=all_postselect)
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


def _append_seam(
    builder: CircuitBuilder, code: GraftedCode, last: dict[Coord, int], *, postselect: bool
) -> None:
    builder.begin_stage("seam")
    faces, fresh = (*code.faces, *code.seam_faces), {} if last else code.fresh
    starts = {face.ancilla: face.basis for face in faces} | fresh
    _reset(builder, starts, SEAM_MOVES)
    builder.tick()
    builder.cx_moments([*_moves(SEAM_MOVES), *face_moments(faces)])
    records = _measure(builder, faces)
    for face in faces:
        if face.ancilla in last or all(fresh.get(site) == face.basis for site in face.data):
            append_face_detector(builder, face, _compared(last, records, face), postselect=postselect)
    builder.tick()
    last.update(records)


def _append_graft(
    builder: CircuitBuilder,
    code: GraftedCode,
    last: dict[Coord, int],
    tiles: Mapping[Coord, int],
    *,
    postselect: bool,
) -> Mapping[Coord, int]:
    """Appends the way back of the data qubits of the seam, and a cycle of tiles and faces.

    Args:
        builder: The circuit to extend.
        code: The code.
        last: The last outcome of each face, which this updates.
        tiles: The last outcome of each check of a tile, empty in the first cycle.
        postselect: Whether all detectors discard the shot.

    Returns:
        The outcome of each check of a tile, by the site of its ancilla.
    """
    builder.begin_stage("graft")
    x_ancillas, z_ancillas = code.color_code.x_ancillas, code.color_code.z_ancillas
    starts: dict[Coord, Basis] = {face.ancilla: face.basis for face in code.faces}
    starts |= {**dict.fromkeys(x_ancillas, "X"), **dict.fromkeys(z_ancillas, "Z")}
    back = [move.reversed for move in SEAM_MOVES]
    _reset(builder, starts, back)
    builder.tick()
    builder.cx_moments([*_moves(back), *_graft_moments(code)])
    records = _measure(builder, code.faces)
    outcomes = builder.measure(x=x_ancillas, z=z_ancillas)
    found = dict(zip((*z_ancillas, *x_ancillas), outcomes, strict=True))
    if tiles:  # The last cycle: the Bell pair takes three moments, two of which are those of the moves.
        end, middle, other_end = TIP_PAIR
        builder.reset(x=[middle], z=[end, other_end])
    _, blue, green = code.color_code.tiles
    known = {blue.x_ancilla: _RED_X, green.z_ancilla: _GREEN_Z}
    for site, record in found.items():
        compared = [tiles[site], record] if tiles else [record]
        color = known.get(site)
        builder.detector(site, compared, color=color, postselect=postselect or color is None)
    for face in code.faces:
        append_face_detector(builder, face, _compared(last, records, face), postselect=postselect)
    builder.tick()
    last.update(records)
    return found


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
    faces, moves, (end, middle, other_end) = code.patch.faces, (*SEAM_MOVES, *TIP_MOVES), TIP_PAIR
    # The Bell pair leaves its ancilla in the state in which this starts.
    starts = {face.ancilla: face.basis for face in faces if face.ancilla != middle}
    _reset(builder, starts, moves)
    builder.cx([(middle, end)])
    builder.tick()
    first, second = _moves(moves)
    builder.cx_moments([[*first, (middle, other_end)], [*second, (other_end, middle)], *face_moments(faces)])
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
    # With the forgotten check of the blue tile, errors on that side of the seam flip no logical operator.
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
        append_face_detector(builder, face, _compared(last, records, face), postselect=postselect)
    builder.tick()
    last.update(records)


def _compared(last: Mapping[Coord, int], records: Mapping[Coord, int], face: Face) -> list[int]:
    known = [last[face.ancilla]] if face.ancilla in last else []
    return [*known, records[face.ancilla]]


def _moves(moves: Iterable[Move]) -> list[_Gates]:
    """Two moments of CX gates. The state that is left at the origin is that in which the target started."""
    first: _Gates = []
    for move in moves:
        pair = (move.origin, move.target)
        first.append(pair if move.leaves == "Z" else pair[::-1])
    return [first, [(target, control) for control, target in first]]


def _reset(builder: CircuitBuilder, bases: Mapping[Coord, Basis], moves: Sequence[Move] = ()) -> None:
    """Resets qubits, and the targets of moves. Their origins become ancillas, in the states that are left."""
    starts = {**bases, **{move.target: move.leaves for move in moves}}
    for move in moves:
        del starts[move.origin]
    x, z = (sorted(site for site, found in starts.items() if found == basis) for basis in "XZ")
    builder.reset(x=x, z=z)


def _measure(builder: CircuitBuilder, faces: Sequence[Face]) -> dict[Coord, int]:
    x, z = ([face.ancilla for face in faces if face.basis == basis] for basis in "XZ")
    return dict(zip([*z, *x], builder.measure(x=x, z=z), strict=True))
