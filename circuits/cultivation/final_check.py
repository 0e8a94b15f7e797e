"""The final check: measures the logical operator and all checks without noise.

This stage evaluates the protocol and is not part of it, so it has no noise and takes no time (no TICK).
The logical operator is measured as it is defined: as X on all data qubits, between rotations of all of
them (see `rotations`). In the S-proxy the same operations measure S X S_DAG = Y and S_DAG X S = -Y. The
outcome of their product is determined in the proxy, like that of the product of H_XY and H_NXY with T
gates. This is why Stim can compute an error model of the proxy. (T, Y, T_DAG in place of T_DAG, X, T would
measure the same operator, but its proxy measures X, whose outcome is random.)
"""

from __future__ import annotations

from .builder import CircuitBuilder
from .color_code import ColorCode
from .rotations import append_rotations


def append_final_check(builder: CircuitBuilder, code: ColorCode) -> None:
    """Appends perfect measurements: the logical operator, then the X and Z check of each tile.

    The logical outcome is observable 0: it is 0 for the wanted state, and 1 for the orthogonal state.
    Each check is a detector at the site of its ancilla.

    Args:
        builder: The circuit to extend.
        code: The code whose state is measured.
    """
    builder.begin_stage("final check")
    append_rotations(builder, code)
    logical = builder.measure_product("X", code.data)
    append_rotations(builder, code, undo=True)
    builder.observable([logical])
    for tile in code.tiles:
        builder.detector(tile.x_ancilla, [builder.measure_product("X", tile.data)])
        builder.detector(tile.z_ancilla, [builder.measure_product("Z", tile.data)])
