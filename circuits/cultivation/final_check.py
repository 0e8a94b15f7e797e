"""The final check: reads the result out perfectly, to say what a shot was worth.

It is not part of the protocol but of its evaluation, and so has no noise and takes no time (no
TICK). The logical operator is measured the way it is defined, as X between rotations of all data
qubits (see `rotations`). In the S-proxy the same operations measure S X S_DAG = Y and S_DAG X S = -Y,
whose product is as certain there as that of H_XY and H_NXY is here; that is what lets Stim make an
error model of the proxy. (T, Y, T_DAG in place of T_DAG, X, T measures the same operator, but its
proxy measures X, which is random.)
"""

from __future__ import annotations

from .builder import CircuitBuilder
from .color_code import ColorCode
from .rotations import append_rotations


def append_final_check(builder: CircuitBuilder, code: ColorCode) -> None:
    """Appends perfect measurements: the logical operator, then the X and Z check of each tile.

    The logical outcome is observable 0: 0 for the wanted state, 1 for the one orthogonal to it.
    Each check is a detector at its ancilla.

    Args:
        builder: The circuit to extend.
        code: The code whose state is read out.
    """
    builder.begin_stage("final check")
    append_rotations(builder, code)
    logical = builder.measure_product("X", code.data)
    append_rotations(builder, code, undo=True)
    builder.observable([logical])
    for tile in code.tiles:
        builder.detector(tile.x_ancilla, [builder.measure_product("X", tile.data)])
        builder.detector(tile.z_ancilla, [builder.measure_product("Z", tile.data)])
