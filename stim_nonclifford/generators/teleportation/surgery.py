"""Lattice surgery: measures Z_L Z_L of two patches by merging them, and X_L of one of them by taking it out.

**Merge.** The column of data qubits between the patches, the *seam*, is reset to |+>, and the checks of the
rectangle that covers both are measured. The X checks at the facing edges of the patches continue as checks
on four qubits, with the same values. The Z checks on the seam are new, and random. Each qubit of the seam
is in two of them, and each qubit of the facing columns in one. So their product is the product of the two
Z_L along these columns: the outcome of the measurement.

**Split.** All data qubits of the seam and of one patch are measured in the X basis. That gives the X checks
of this patch once more, and the part of the rectangle's X_L that lies outside the other patch.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..cultivation.builder import CircuitBuilder
from ..cultivation.color_code import Coord
from .surface_code import SurfaceCode
from .syndrome_round import CheckValues, append_syndrome_round, values_after_reset


@dataclass(frozen=True)
class Patches:
    """Two patches side by side.

    Examples:
        >>> patches = Patches.of_distance(3)
        >>> patches.seam
        ((7, 1), (7, 3), (7, 5))
        >>> len(patches.merged.sites)
        41
    """

    magic: SurfaceCode  # the left patch, into which the magic state is injected
    target: SurfaceCode  # the right patch, on which the gate acts
    merged: SurfaceCode  # the rectangle that covers both and the seam

    @classmethod
    def of_distance(cls, distance: int) -> Patches:
        """Returns two square patches of an odd distance."""
        return cls(
            magic=SurfaceCode(0, distance, distance),
            target=SurfaceCode(distance + 1, distance, distance),
            merged=SurfaceCode(0, 2 * distance + 1, distance),
        )

    @property
    def seam(self) -> tuple[Coord, ...]:
        """The data qubits between the patches."""
        return self.merged.column(self.magic.end_column)


def append_merge(builder: CircuitBuilder, patches: Patches, values: CheckValues, rounds: int) -> list[int]:
    """Appends rounds of checks of the merged patches, which measure the product of their Z_L.

    A wrong outcome needs as many faults of measurements as there are rounds. `values` has what is known of
    the checks of both patches, afterwards of the merged ones. Returns the records of the new checks in the
    first round: their parity is the outcome.
    """
    builder.reset(x=patches.seam)
    old = {check.ancilla for patch in (patches.magic, patches.target) for check in patch.checks}
    new = [check for check in patches.merged.checks if check.ancilla not in old]
    values.update(values_after_reset(new, x=patches.seam))
    append_syndrome_round(builder, patches.merged.checks, values)
    outcome = [record for check in new for record in values[check.ancilla]]
    for _ in range(rounds - 1):
        append_syndrome_round(builder, patches.merged.checks, values)
    return outcome


def append_split(builder: CircuitBuilder, patches: Patches, values: CheckValues) -> list[int]:
    """Measures the magic patch and the seam in the X basis, in the current moment.

    Returns the records whose parity says whether X_L of the target has changed its sign.
    """
    measured = [*patches.magic.data, *patches.seam]
    record_of = dict(zip(measured, builder.measure(x=measured), strict=True))
    kept = {check.ancilla for check in patches.target.checks}
    for check in patches.merged.checks:
        records = {record_of[site] for site in check.data if site in record_of}
        if check.ancilla in kept and check.pauli == "X":
            values[check.ancilla] ^= records
        elif check.ancilla not in kept:
            known = values.pop(check.ancilla)
            if check.pauli == "X":
                builder.detector(check.ancilla, sorted(known | records))
    return [record_of[site] for site in patches.merged.x_logical if site in record_of]
