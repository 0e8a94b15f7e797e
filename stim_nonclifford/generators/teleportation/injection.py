"""Corner injection: one data qubit of a patch is prepared in T|+>, and the patch keeps its state.

The corner is where the X_L along the uppermost row meets the Z_L along the rightmost column. The other
qubits of this row start in |+>, and those of this column in |0>. So before any check is measured, X_L is X
of the corner, and Z_L is Z of the corner. The rest of the patch is divided between |+> and |0> along the
diagonal, which starts in |+>, so that as many checks as possible are +1. All other checks are random in the
first round; from then on they must not change.

A fault of the corner before the first round is a fault of the logical qubit, and no check can see it. So
the error of an injected state is proportional to the strength of the noise, at any distance. How large it
is depends on the corner, on the state of the diagonal and on the order of the gates. With the order of
`syndrome_round`, this corner and this diagonal have the smallest error.
"""

from __future__ import annotations

from ..cultivation.builder import CircuitBuilder, Pauli
from ..cultivation.color_code import Coord
from .surface_code import SurfaceCode
from .syndrome_round import CheckValues, values_after_reset


def corner_of(code: SurfaceCode) -> Coord:
    """The data qubit that the state is injected at: the upper right one."""
    return code.x_logical[-1]


def append_injection_resets(
    builder: CircuitBuilder, code: SurfaceCode, corner_basis: Pauli = "X"
) -> CheckValues:
    """Resets the data qubits of a patch, its corner to |+> or |0>, in the current moment.

    Returns the checks that are +1.
    """
    x_corner, y_corner = corner = corner_of(code)
    others = [site for site in code.data if site != corner]
    in_plus = [(x, y) for x, y in others if x_corner - x >= y_corner - y]
    in_zero = [site for site in others if site not in in_plus]
    in_x = corner_basis == "X"
    builder.reset(x=[*in_plus, corner] if in_x else in_plus, z=in_zero if in_x else [*in_zero, corner])
    return values_after_reset(code.checks, x=in_plus, z=in_zero)


def append_plus_resets(builder: CircuitBuilder, code: SurfaceCode) -> CheckValues:
    """Resets a patch to logical |+> in the current moment; returns the checks that are +1: those of X."""
    builder.reset(x=code.data)
    return values_after_reset(code.checks, x=code.data)
