"""The forward sweep: which quantum operations the circuit performs on which coordinates.

The state of the noise-free machine is written U (|v> on the active coordinates, |0> on the dormant
ones) with a Clifford U, and its coefficient vector v has 2^(number of active coordinates) entries. A
Clifford gate changes U alone. A Pauli P of the circuit is the Pauli P' = U^-1 P U of the coordinates:

* a rotation about P' acts on v (ROTATE), or activates a dormant coordinate (ACTIVATE), or is a global phase;
* a measurement of P' is a fair coin, or is determined, or samples v and makes one coordinate dormant
  (MEASURE).

This is the generalized stabilizer formalism (T. J. Yoder, 2012) with the tableau computed once for all
shots. The sweep follows the *base path*, on which every random outcome is 0; all other paths differ from
it by signs of rotations, which the backward sweep (``backward_sweep``) tracks.

Qubits that nothing connects have coordinates of their own (``patches``): U is a product over them. The
active coordinates of all of them have one vector.

Rotations are deferred until a measurement needs them. A rotation is needed if it does not commute with the
measurement, or with a later deferred rotation that is needed. A rotation that no measurement needs is never
applied. Measurements that commute, with nothing between them that depends on their order, are a *batch*: the
next one is always one of those that activate the fewest coordinates.

Native code follows the circuit (``forward_sweep.h``, ``coordinates.h`` and ``measurement_batch.h`` of
``native/compiler/sweeps/``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...._native import QuantumProgram as NativeQuantumProgram
from ...._native import forward_sweep as native_forward_sweep
from ...plan import SparseRows
from ..algebra.gf2 import masks_of
from ..program.extent import TABLES_WITH_ROTATIONS
from ..program.program import Program
from ..program.steps import Rotate
from .operations import Operation, OperationKind, RotationTerm
from .patches import check_tableau_bytes, patch_sizes
from .progress import progress_of


@dataclass(frozen=True)
class ExpectedPauli:
    """The Pauli P|α> = i^i_power (-1)^|α & z| |α ^ x> of an expectation value, on the base path."""

    place: int  # number of operations before it
    x: int  # the bits of the index that P flips
    z: int  # the bits of the index whose parity is the sign in P
    i_power: int  # the power of i in the prefactor
    is_zero: bool  # whether the value is 0 on all paths, as the Pauli anticommutes with a stabilizer


@dataclass
class QuantumProgram:
    """What the forward sweep finds."""

    # the same in native code, with the Paulis whose effects the backward sweep finds: those by which
    # the paths of outcomes differ, and the stabilizers that make signs of ACTIVATE free choices
    native: NativeQuantumProgram
    base_records: npt.NDArray[np.uint8]  # the measurement record of the base path
    # the operations on the coefficient vector, in order: ROTATE and ACTIVATE with one term each, and
    # MEASURE
    operations: list[Operation] = field(default_factory=list)
    num_signs: int = 0  # number of rotations among them, each of which has a sign
    # for each recorded fair coin, the number of operations before it, and its record
    coins: list[tuple[int, int]] = field(default_factory=list)
    peak_width: int = 0  # largest number of active coordinates
    reordered: bool = False  # whether commuting measurements are done in another order than the circuit's
    # the Paulis of the expectation values, in the order of the circuit
    expectations: list[ExpectedPauli] = field(default_factory=list)

    @staticmethod
    def without_operations(base_records: npt.ArrayLike) -> QuantumProgram:
        """That of a Clifford circuit with these records."""
        records = np.array(base_records, dtype=np.uint8)
        return QuantumProgram(NativeQuantumProgram(records), records)


def forward_sweep(program: Program, *, keep_order: bool = False) -> QuantumProgram:
    """Runs the circuit without noise along the base path.

    Commuting measurements come in the order that activates the fewest coordinates at a time, or in that of
    the circuit.
    """
    tables = TABLES_WITH_ROTATIONS if any(isinstance(step, Rotate) for step in program.stored_steps) else 1
    check_tableau_bytes(patch_sizes(program), tables)
    with progress_of("forward sweep", len(program.steps)) as progress:
        native = native_forward_sweep(program.native, keep_order, progress)
    found = native.arrays()
    quantum = QuantumProgram(
        native,
        found["base_records"],
        coins=[(place, record) for place, record in found["coins"].tolist()],
        peak_width=found["peak_width"],
        reordered=found["reordered"],
        expectations=[
            ExpectedPauli(place, x, z, i_power, bool(is_zero))
            for (place, is_zero, i_power), x, z in _with_paulis(
                found, "expectations", "expected_x", "expected_z"
            )
        ],
    )
    for row, x, z in _with_paulis(found, "operations", "x", "z"):
        kind, width, i_power, pivot, outcome, step, is_negative = row
        terms: tuple[RotationTerm, ...] = ()
        if outcome < 0:
            rotation = program.rotation_at(step)
            angle = -rotation.half_turns if is_negative else rotation.half_turns
            terms = (RotationTerm(angle, quantum.num_signs, step),)
            quantum.num_signs += 1
        of_step = -1 if terms else step
        quantum.operations.append(
            Operation(_KINDS[kind], width, x, z, i_power, pivot, terms, outcome, of_step)
        )
    return quantum


_KINDS = tuple(OperationKind)


def _with_paulis(found: dict[str, Any], table: str, x: str, z: str) -> Iterator[tuple[list[int], int, int]]:
    """The rows of a table, with the masks of their Paulis."""
    return zip(
        found[table].tolist(), masks_of(SparseRows(*found[x])), masks_of(SparseRows(*found[z])), strict=True
    )
