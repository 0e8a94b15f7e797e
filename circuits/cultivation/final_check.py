"""The final checks: measure a logical operator and all checks without noise.

These stages evaluate the protocol and are not part of it, so they have no noise and take no time (no TICK).
In the check after cultivation, the logical operator is measured as it is defined: as X on all data qubits,
between rotations of all of them (see `rotations`). In the S-proxy the same operations measure
S X S_DAG = Y and S_DAG X S = -Y. The outcome of their product is determined in the proxy, like that of the
product of H_XY and H_NXY with T gates. This is why Stim can compute an error model of the proxy.
(T, Y, T_DAG in place of T_DAG, X, T would measure the same operator, but its proxy measures X, whose outcome
is random.)

After the escape, this would take as many rotations as the large code has data qubits. There, a single
rotation about the product of Z over all data qubits takes the wanted state to logical |+>, and the product
of X over all of them is measured. This needs a state without a logical X flip: T X T_DAG|+> is X S|+>,
whose outcome is random. The decoder knows about such flips only later. So there are two readouts, with T
for states without the flip and with T_DAG for states with it, and each is for one part of the shots.
"""

from __future__ import annotations

from collections.abc import Mapping

from .builder import CircuitBuilder
from .color_code import ColorCode, Coord
from .escape import append_check_detector
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


def append_decoded_check(
    builder: CircuitBuilder, code: ColorCode, last: Mapping[Coord, int], *, flipped: bool
) -> None:
    """Appends perfect measurements: the logical operator, then the X and Z check of each tile.

    The logical outcome is observable 0: it is 0 for the wanted state. Each check is compared with its last
    outcome. These detectors are for the decoder.

    Args:
        builder: The circuit to extend.
        code: The code whose state is measured.
        last: The index of the last outcome of each check in the measurement record, by the site of its
            ancilla.
        flipped: Whether the wanted state is the one after a logical X flip.
    """
    builder.begin_stage("final check")
    builder.rotate_product("Z", code.data, undo=flipped)
    builder.observable([builder.measure_product("X", code.data)])
    for tile in code.tiles:
        for ancilla, record in (
            (tile.x_ancilla, builder.measure_product("X", tile.data)),
            (tile.z_ancilla, builder.measure_product("Z", tile.data)),
        ):
            append_check_detector(builder, tile, ancilla, [last[ancilla], record], postselect=False)
