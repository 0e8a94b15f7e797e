"""The final checks: measure a logical operator and all checks without noise.

These stages evaluate the protocol and are not part of it, so they have no noise and take no time (no TICK).
In the check after cultivation, the logical operator is measured as it is defined: as X on all data qubits,
between rotations of all of them (see `rotations`). In the S-proxy the same operations measure
S X S_DAG = Y and S_DAG X S = -Y. The outcome of their product is determined in the proxy, like that of the
product of H_XY and H_NXY with T gates. This is why Stim can compute an error model of the proxy.
(T, Y, T_DAG in place of T_DAG, X, T would measure the same operator, but its proxy measures X, whose outcome
is random.)

After the escape, this would take as many rotations as the large code has data qubits. One rotation about
logical Z undoes the T gate instead, and logical X is measured (`append_logical_readout`). But only a decoder
knows which Pauli the state is off by, and an X that it would correct turns the sign of this rotation around.
For a decoder, the expectation values of logical X and Y are asked for, and the decoded state is checked by
them (`append_decoded_check`; see `stim_nonclifford.LogicalStateCheck`).
"""

from __future__ import annotations

from collections.abc import Mapping

from ..builder import CircuitBuilder
from ..color_code import ColorCode, Coord
from .escape import append_check_detector
from .rotations import append_rotations


def append_final_check(builder: CircuitBuilder, code: ColorCode) -> None:
    """Appends perfect measurements: the logical operator, then the X and Z check of each tile.

    The logical outcome is observable 0: it is 0 for the wanted state, and 1 for the orthogonal state.
    Each check is a detector at the site of its ancilla.
    """
    builder.begin_stage("final check")
    append_rotations(builder, code)
    logical = builder.measure_product("X", code.data)
    append_rotations(builder, code, undo=True)
    builder.observable([logical])
    for tile in code.tiles:
        builder.detector(tile.x_ancilla, [builder.measure_product("X", tile.data)])
        builder.detector(tile.z_ancilla, [builder.measure_product("Z", tile.data)])


def append_logical_readout(builder: CircuitBuilder, code: ColorCode, last: Mapping[Coord, int]) -> None:
    """Appends perfect measurements: the logical state, then each check. All of their detectors postselect.

    The wanted state is T_DAG|+>, so that T about logical Z and a measurement of logical X give 0. The outcome
    is observable 0. `last` has the last record of each check, by the site of its ancilla.
    """
    builder.begin_stage("final check")
    # Z on all data qubits is logical Z, and X on all of them logical X.
    builder.t_of_product("Z", code.data)
    builder.observable([builder.measure_product("X", code.data)])
    _append_checks(builder, code, last, postselect=True)


def append_decoded_check(builder: CircuitBuilder, code: ColorCode, last: Mapping[Coord, int]) -> None:
    """Appends the expectation values of logical X and Y, then a perfect measurement of each check.

    Both logical operators are products over all data qubits, with the sign that makes their values positive
    for the wanted state. They are the observables 0 and 1, too. Each check is compared with its last outcome.
    These detectors are for the decoder.
    """
    builder.begin_stage("final check")
    builder.expectation_value(dict.fromkeys(code.data, "X"))
    # The wanted state has Y = i X Z = -1/√2. The product of Y over n qubits is i^(n-1) Y.
    builder.expectation_value(dict.fromkeys(code.data, "Y"), inverted=len(code.data) % 4 == 1)
    _append_checks(builder, code, last, postselect=False)


def _append_checks(
    builder: CircuitBuilder, code: ColorCode, last: Mapping[Coord, int], *, postselect: bool
) -> None:
    for tile in code.tiles:
        for ancilla, record in (
            (tile.x_ancilla, builder.measure_product("X", tile.data)),
            (tile.z_ancilla, builder.measure_product("Z", tile.data)),
        ):
            append_check_detector(builder, tile, ancilla, [last[ancilla], record], postselect=postselect)
