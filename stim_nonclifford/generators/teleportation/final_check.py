"""The final check: measures the logical operator and all checks of a patch, without noise.

This stage evaluates the protocol and is not part of it, so it has no noise and takes no time (no TICK). The
state is T|+> if X_L is +1 after T_DAG about Z_L. The rotation leaves the checks alone. In the S-proxy the
rotation is S_DAG, which also turns the state, S|+>, to |+>. So the proxy is deterministic too.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..cultivation.color_code import Coord
from .builder import TeleportationBuilder
from .surface_code import SurfaceCode
from .syndrome_round import CheckValues, append_noiseless_checks


def append_final_check(
    builder: TeleportationBuilder,
    code: SurfaceCode,
    values: CheckValues,
    *,
    z_logical: Sequence[Coord],
    sign: Sequence[int] = (),
) -> None:
    """Appends perfect measurements: of X_L after T_DAG, which is observable 0, and of each check.

    The state refers to the Z_L of the column `z_logical`, and X_L has changed its sign if the parity of the
    records `sign` is odd.
    """
    builder.begin_stage("final check")
    builder.logical_t_dag(z_logical)
    builder.observable([*sign, builder.measure_product("X", code.x_logical)])
    append_noiseless_checks(builder, code.checks, values)
