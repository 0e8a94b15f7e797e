"""Escape from the color code into the surface code, by way of the grafted code.

1. *Seam*: the new data qubits start in |0> or |+>, and two of those of the color code move to their sites in
   the surface code, as ancillas of faces are in their place. A round measures the faces of the grafted code.
2. *Graft*: these two move back. A superdense cycle measures the tiles, some of which are extended, and the
   other faces. Seam and graft are repeated.
3. *Change of code*: the data qubits move to their sites in the surface code, and its tip is completed. From
   then on all checks are faces.
4. *Surface code*: as many cycles as wanted.

In the seam, a face has the value +1 if its data qubits start in its basis, and a random one otherwise. All
checks of tiles are +1. The change of code forgets most of them, and relies on the faces of the seam. So seam
and graft are repeated, until chains of wrong outcomes need as many faults as errors on the data qubits do.

For distance 3, a Z error on the apex of the color code flips the X check of the blue tile, which is
forgotten, and X(3,2) alone. Before the seam, it looks like the random first value of X(3,2), and only both
checks of the blue tile see it. Between the first and the second one, X(3,2) is measured again. After them, it
looks like a wrong value of X(3,2), which has two by then. So every set of two faults is visible. For distance
5, with three rounds, every set of three faults in the escape is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..builder import CircuitBuilder
from ..color_code import Coord
from .change_of_code import append_change_of_code
from .graft_cycle import append_graft
from .grafted_code import GraftedCode
from .parts import append_face_detector, append_resets, bases_of, compared, measured
from .seam import append_seam
from .surface_patch import Face, face_moments


def append_matchable_escape(
    builder: CircuitBuilder,
    code: GraftedCode,
    *,
    postselected_rounds: int,
    rounds: int,
    all_postselect: bool = False,
) -> Mapping[Coord, int]:
    """Appends rounds of seam and graft (16 moments each), and cycles of the surface code (8, then 6 each).

    All checks of the color code are +1 before. `postselected_rounds` cycles of the surface code, of which the
    change of code is the first one, discard shots; `rounds` more are for the decoder. Returns the last record
    of each face, by the site of its ancilla.
    """
    last: dict[Coord, int] = {}
    tiles: Mapping[Coord, int] = {}
    for k in range(code.graft.num_rounds):
        is_last = k == code.graft.num_rounds - 1
        append_seam(builder, code, last, postselect=all_postselect)
        tiles = append_graft(builder, code, last, tiles, pairs_up=is_last, postselect=all_postselect)
    for k in range(postselected_rounds + rounds):
        postselect = all_postselect or k < postselected_rounds
        decoded = "" if postselect else "decoded "
        if k == 0:
            builder.begin_stage(f"{decoded}change of code")
            append_change_of_code(builder, code, last, tiles, postselect=postselect)
        else:
            builder.begin_stage(f"{decoded}surface cycle d={code.patch.distance}")
            _append_surface_cycle(builder, code.patch.faces, last, postselect=postselect)
    return last


def _append_surface_cycle(
    builder: CircuitBuilder, faces: Sequence[Face], last: dict[Coord, int], *, postselect: bool
) -> None:
    bases = bases_of(faces)
    append_resets(builder, bases)
    builder.tick()
    builder.cx_moments(face_moments(faces))
    records = measured(builder, bases)
    for face in faces:
        append_face_detector(builder, face, compared(last, records, face), postselect=postselect)
    builder.tick()
    last.update(records)
