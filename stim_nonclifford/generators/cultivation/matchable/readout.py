"""The final check of the surface code: logical operators and all faces, without noise."""

from __future__ import annotations

from collections.abc import Mapping

from ..builder import CircuitBuilder, Pauli
from ..color_code import Coord
from .parts import append_face_detector
from .surface_patch import SurfacePatch


def append_surface_readout(
    builder: CircuitBuilder, patch: SurfacePatch, last: Mapping[Coord, int], *, decodes: bool
) -> None:
    """Appends the readout of the logical state, then a perfect measurement of each face.

    See `stages/final_check`.

    `decodes`: expectation values of logical X and Y, as observables 0 and 1. Otherwise the outcome of logical
    X after a T gate about logical Z is observable 0, and all detectors postselect. `last` has the last record
    of each face.
    """
    builder.begin_stage("final check")
    if decodes:
        x: dict[Coord, Pauli] = dict.fromkeys(patch.logical_x, "X")
        y: dict[Coord, Pauli] = {**x, **dict.fromkeys(patch.logical_z, "Z")}
        # Logical Y is i X Z, and so is Y where X and Z meet. The wanted state has Y = -1/√2.
        y |= dict.fromkeys(set(patch.logical_x).intersection(patch.logical_z), "Y")
        builder.expectation_value(x)
        builder.expectation_value(y, inverted=True)
    else:
        builder.t_of_product("Z", patch.logical_z)
        builder.observable([builder.measure_product("X", patch.logical_x)])
    for face in patch.faces:
        known = [last[face.ancilla]] if face.ancilla in last else []
        record = builder.measure_product(face.basis, face.data)
        append_face_detector(builder, face, [*known, record], postselect=not decodes)
