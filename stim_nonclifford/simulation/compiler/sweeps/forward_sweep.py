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

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...._native import forward_sweep as native_forward_sweep
from ...plan import SparseRows
from ..algebra.gf2 import masks_of
from ..algebra.paulis import Factors
from ..program.program import Program
from ..program.steps import Rotate
from .operations import Operation, OperationKind, RotationTerm
from .patches import check_tableau_bytes, connected_qubits
from .progress import progress_of

__all__ = ["ExpectedPauli", "Insertion", "QuantumProgram", "forward_sweep"]


@dataclass(frozen=True)
class Insertion:
    """A Pauli inserted just before a step of the program, whose effect the backward sweep finds.

    Attributes:
        step: The step.
        factors: The Pauli on the qubits of the circuit.
        deferred: Steps of the rotations that come earlier in the circuit but are applied after the
            insertion, and anticommute with it.
        reordered: Records whose measurements anticommute with the insertion, and stand on one side of it
            in the circuit but are done on the other side.
    """

    step: int
    factors: Factors
    deferred: frozenset[int]
    reordered: frozenset[int]


@dataclass(frozen=True)
class ExpectedPauli:
    """The Pauli P|α> = i^i_power (-1)^|α & z| |α ^ x> of an expectation value, on the base path.

    Attributes:
        place: Number of operations before it.
        x: The bits of the index that P flips.
        z: The bits of the index whose parity is the sign in P.
        i_power: The power of i in the prefactor.
        is_zero: Whether the value is 0 on all paths, as the Pauli anticommutes with a stabilizer.
    """

    place: int
    x: int
    z: int
    i_power: int
    is_zero: bool


@dataclass
class QuantumProgram:
    """What the forward sweep finds.

    Attributes:
        operations: The operations on the coefficient vector, in order: ROTATE and ACTIVATE with one term
            each, and MEASURE.
        num_signs: Number of rotations among them, each of which has a sign.
        activations: For each ACTIVATE, the stabilizer that makes the sign of its rotation a free choice.
        outcomes: For each MEASURE, the Pauli by which the paths of outcome 1 and 0 differ.
        coins: For each recorded fair coin (number of operations before it, record, the stabilizer by which
            the paths of its two outcomes differ).
        base_records: The measurement record of the base path.
        peak_width: Largest number of active coordinates.
        reordered: Whether commuting measurements are done in another order than the circuit's.
        expectations: The Paulis of the expectation values, in the order of the circuit.
    """

    operations: list[Operation] = field(default_factory=list)
    num_signs: int = 0
    activations: list[Insertion] = field(default_factory=list)
    outcomes: list[Insertion] = field(default_factory=list)
    coins: list[tuple[int, int, Insertion]] = field(default_factory=list)
    base_records: list[int] = field(default_factory=list)
    peak_width: int = 0
    reordered: bool = False
    expectations: list[ExpectedPauli] = field(default_factory=list)


def forward_sweep(program: Program, *, keep_order: bool = False) -> QuantumProgram:
    r"""Runs the circuit without noise along the base path.

    Args:
        program: The circuit's steps.
        keep_order: Whether to do commuting measurements in the order of the circuit, not in the order that
            activates the fewest coordinates at a time.

    Returns:
        The operations, the base path's record, and the insertions for the backward sweep.

    Examples:
        >>> import stim
        >>> from stim_nonclifford.simulation.compiler.program.flattening import program_of
        >>> quantum = forward_sweep(program_of(stim.Circuit("H 0\nS[T] 0\nH 0\nM 0")))
        >>> [(op.kind.name, op.width) for op in quantum.operations], quantum.peak_width
        ([('ACTIVATE', 0), ('MEASURE', 1)], 1)
    """
    tables = 3 if any(isinstance(step, Rotate) for step in program.stored_steps) else 1
    check_tableau_bytes((len(qubits) for qubits in connected_qubits(program)), tables)
    with progress_of("forward sweep", len(program.steps)) as progress:
        swept = native_forward_sweep(program.native, keep_order, progress)
    operations, x, z, activations, outcomes, coins, records, width, reordered = swept[:9]
    found = QuantumProgram(
        activations=[_insertion(*activation) for activation in activations],
        outcomes=[_insertion(*outcome) for outcome in outcomes],
        coins=[(place, record, _insertion(*coin)) for place, record, coin in coins],
        base_records=records.tolist(),
        peak_width=width,
        reordered=reordered,
        expectations=_expected(*swept[9:]),
    )
    for (kind, before, i_power, pivot, outcome, step, is_negative), flipped, read in zip(
        operations, masks_of(SparseRows(*x)), masks_of(SparseRows(*z)), strict=True
    ):
        terms: tuple[RotationTerm, ...] = ()
        if outcome < 0:
            rotation = program.rotation_at(step)
            angle = -rotation.half_turns if is_negative else rotation.half_turns
            terms = (RotationTerm(angle, found.num_signs, step),)
            found.num_signs += 1
        found.operations.append(
            Operation(
                _KINDS[kind], before, flipped, read, i_power, pivot, terms, outcome, -1 if terms else step
            )
        )
    return found


_KINDS = tuple(OperationKind)


def _expected(
    values: list[tuple[int, bool, int]],
    x: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]],
    z: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]],
) -> list[ExpectedPauli]:
    return [
        ExpectedPauli(place, flipped, read, i_power, is_zero)
        for (place, is_zero, i_power), flipped, read in zip(
            values, masks_of(SparseRows(*x)), masks_of(SparseRows(*z)), strict=True
        )
    ]


def _insertion(
    step: int, factors: list[tuple[int, int]], deferred: list[int], reordered: list[int]
) -> Insertion:
    return Insertion(step, tuple(factors), frozenset(deferred), frozenset(reordered))
