"""The seam: a round of all faces of the grafted code, without the tiles.

Two data qubits of the color code are at the ancillas of faces at the apex. The first CX of their moves stands
in the place of the gate by which the ancilla would read them: for a Z face, it copies the bit to the new
site, and the old one keeps it. So it becomes an ancilla that has read this data qubit.

Other faces of the seam read data qubits of the color code with a helper, as they are no neighbours.
"""

from __future__ import annotations

from ..builder import CircuitBuilder
from ..color_code import Coord
from .grafted_code import GraftedCode
from .parts import (
    Gates,
    append_helper_detectors,
    append_resets,
    append_seam_detector,
    bases_of,
    compared,
    helpers_of,
    measured,
)
from .surface_patch import Face, face_moments, meeting


def append_seam(
    builder: CircuitBuilder, code: GraftedCode, last: dict[Coord, int], *, postselect: bool
) -> None:
    """Appends a round of all faces (6 moments), which moves the data qubits at the apex.

    Updates the last outcome of each face.
    """
    builder.begin_stage("seam")
    graft, faces, fresh = code.graft, (*code.faces, *code.seam_faces), {} if last else code.fresh
    bases = bases_of(faces) | helpers_of(graft.reaches)
    moved = {move.target: move.leaves for move in graft.apex_moves}
    origins = {move.origin for move in graft.apex_moves}
    starts = {site: basis for site, basis in (bases | fresh | moved).items() if site not in origins}
    append_resets(builder, starts)
    builder.tick()
    builder.cx_moments(_seam_moments(code))
    records = measured(builder, bases)
    append_helper_detectors(builder, graft.reaches, records)
    for face in faces:
        if face.ancilla in last or all(fresh.get(site) == face.basis for site in face.data):
            append_seam_detector(builder, code, face, compared(last, records, face), postselect=postselect)
    builder.tick()
    last.update({face.ancilla: records[face.ancilla] for face in faces})


def _seam_moments(code: GraftedCode) -> list[Gates]:
    reaches = {reach.ancilla: reach for reach in code.graft.reaches}
    apex = [face for face in code.seam_faces if face.ancilla not in reaches]
    moments = face_moments([*code.faces, *apex])
    for move in code.graft.apex_moves:  # Each goes south, where its face reads first.
        moments[0] = [gate for gate in moments[0] if gate != move.gate[::-1]]
        moments[0].append(move.gate)
    for face in code.seam_faces:
        if face.ancilla in reaches:
            gates = reaches[face.ancilla].helper_gates()
            for k, gate in enumerate(gates):
                moments[k].append(gate)
            free = [k for k in range(4) if k >= len(gates) or face.ancilla not in gates[k]]
            outside = _outside(code, face)
            for k, site in zip(free[-len(outside) :], outside, strict=True):
                moments[k].append(meeting(face, site))
    return moments


def _outside(code: GraftedCode, face: Face) -> list[Coord]:
    """The data qubits of a face that are not those of the color code, in the order of its gates."""
    return [site for site in face.steps if site is not None and site not in code.tip]
