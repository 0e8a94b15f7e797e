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

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from ..cultivation.builder import CircuitBuilder
from ..cultivation.color_code import Coord
from .surface_code import Check, SurfaceCode
from .syndrome_round import CheckValues, append_syndrome_round, values_after_reset

Basis = Literal["X", "Z"]


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

    @property
    def new(self) -> frozenset[Coord]:
        """The checks that neither patch has, by their ancillas."""
        old = {check.ancilla for patch in (self.magic, self.target) for check in patch.checks}
        return frozenset(check.ancilla for check in self.merged.checks if check.ancilla not in old)


def append_merge(
    builder: CircuitBuilder,
    checks: Sequence[Check],
    basis: Basis,
    *,
    region: Collection[Coord],
    new: Collection[Coord],
    values: CheckValues,
    rounds: int,
    idle: Sequence[Check] = (),
) -> list[int]:
    """Appends rounds of checks of merged patches, which measure a product of their logical operators.

    A wrong outcome needs as many faults of measurements as there are rounds.

    Args:
        builder: What is written.
        checks: The checks of the merged patches.
        basis: The Pauli of the product.
        region: The data qubits between the patches, which are reset in the other basis.
        new: The checks whose product is the outcome, by their ancillas.
        values: What is known of the checks of the patches, afterwards of the merged ones.
        rounds: The number of rounds.
        idle: Checks of patches that wait.

    Returns:
        The records of the new checks in the first round: their parity is the outcome.
    """
    other = other_basis(basis)
    builder.reset(**{other.lower(): region})
    inside = [check for check in checks if check.ancilla not in new]
    values.update(values_after_reset(inside, **{other.lower(): region}))
    append_syndrome_round(builder, [*checks, *idle], values)
    outcome = [record for check in checks if check.ancilla in new for record in values[check.ancilla]]
    for _ in range(rounds - 1):
        append_syndrome_round(builder, [*checks, *idle], values)
    return outcome


def append_split(
    builder: CircuitBuilder,
    checks: Sequence[Check],
    basis: Basis,
    *,
    measured: Sequence[Coord],
    kept: Collection[Coord],
    values: CheckValues,
) -> dict[Coord, int]:
    """Measures data qubits of merged patches in the other basis, in the current moment.

    Args:
        builder: What is written.
        checks: The checks of the merged patches.
        basis: The Pauli of the product that was measured.
        measured: The data qubits between the patches, and those of a patch that is taken out.
        kept: The checks of the patches that stay, by their ancillas.
        values: What is known of the checks, afterwards of those that stay.

    Returns:
        The record of each measured qubit.
    """
    other = other_basis(basis)
    found = builder.measure(**{other.lower(): measured})
    record_of = dict(zip(measured, found, strict=True))
    for check in checks:
        records = {record_of[site] for site in check.data if site in record_of}
        if check.ancilla in kept and check.pauli == other:
            values[check.ancilla] ^= records
        elif check.ancilla not in kept:
            known = values.pop(check.ancilla)
            if check.pauli == other:
                builder.detector(check.ancilla, sorted(known | records))
    return record_of


def other_basis(basis: Basis) -> Basis:
    """X for Z, and Z for X."""
    return "X" if basis == "Z" else "Z"
