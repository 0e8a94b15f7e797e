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

    See `final_check` in `stages`, which does the same for color codes.

    Args:
        builder: The circuit to extend.
        patch: The code whose state is measured.
        last: The index of the last outcome of each face in the measurement record, by the site of its
            ancilla.
        decodes: True: expectation values of logical X and Y, as observables 0 and 1. False: the outcome of
            logical X after a T gate about logical Z, as observable 0; then all detectors postselect.
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
