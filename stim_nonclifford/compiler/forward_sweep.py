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

Rotations are deferred (``deferred_rotations``) until a measurement needs them. A rotation that no
measurement needs is never applied.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import stim

from ..errors import assert_never
from .deferred_rotations import DeferredRotation, DeferredRotations
from .gf2 import ones
from .measurement_batch import MeasurementBatch
from .operations import Operation, OperationKind, RotationTerm
from .patches import Patch, check_tableau_bytes, connected_qubits
from .paulis import Factors, Z, bits_of, pauli_code
from .steps import (
    Clifford,
    CorrelatedError,
    DetectorStep,
    Feedback,
    Measure,
    Noise,
    ObservableStep,
    Program,
    Reset,
    Rotate,
    Step,
)

__all__ = ["Insertion", "QuantumProgram", "forward_sweep"]


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
    """

    operations: list[Operation] = field(default_factory=list)
    num_signs: int = 0
    activations: list[Insertion] = field(default_factory=list)
    outcomes: list[Insertion] = field(default_factory=list)
    coins: list[tuple[int, int, Insertion]] = field(default_factory=list)
    base_records: list[int] = field(default_factory=list)
    peak_width: int = 0
    reordered: bool = False


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
        >>> from stim_nonclifford.compiler.flattening import program_of
        >>> quantum = forward_sweep(program_of(stim.Circuit("H 0\nS[T] 0\nH 0\nM 0")))
        >>> [(op.kind.name, op.width) for op in quantum.operations], quantum.peak_width
        ([('ACTIVATE', 0), ('MEASURE', 1)], 1)
    """
    sweep = _ForwardSweep(program, keep_order)
    sweep.result.base_records = [0] * program.num_records
    for index, step in enumerate(program.steps):
        sweep.follow(index, step)
    sweep.measure_batch()
    return sweep.result


def _flipping(factor: tuple[int, int]) -> tuple[int, int]:
    """A Pauli that flips the eigenvalue of a one-qubit Pauli."""
    qubit, pauli = factor
    return qubit, pauli_code("X") if pauli == Z else Z


_NO_QUBITS = Patch([])


class _ForwardSweep:
    def __init__(self, program: Program, keep_order: bool) -> None:
        patches = connected_qubits(program)
        tables = 3 if any(isinstance(step, Rotate) for step in program.steps) else 1
        check_tableau_bytes((len(qubits) for qubits in patches), tables)
        self.patch_on = [_NO_QUBITS] * program.num_qubits
        for qubits in patches:
            patch = Patch(qubits)
            for qubit in qubits:
                self.patch_on[qubit] = patch
        self.keep_order = keep_order
        self.active: list[tuple[Patch, int]] = []  # the patch and coordinate of bit k of the index
        self.num_deferred = 0
        self.batch = MeasurementBatch()
        self.result = QuantumProgram()

    def patch_of(self, factors: Factors) -> Patch:
        """The patch that a Pauli acts on."""
        return self.patch_on[factors[0][0]] if factors else _NO_QUBITS

    def follow(self, index: int, step: Step) -> None:
        """Follows one step of the program along the base path."""
        match step:
            case Measure(resets=False):
                self.add_to_batch(index, step)
                return
            case Noise():
                return
            case Clifford(gate, groups):
                self.measure_batch()
                for targets in groups:
                    self.patch_on[targets[0]].apply(gate.inverse, targets)
            case Rotate(factors, half_turns):
                self.measure_batch()
                self.rotate(index, factors, half_turns)
            case Measure(factors, record, inverted):
                self.measure_batch()
                outcome = self.measure(index, factors, record)
                self.result.base_records[record] = outcome ^ inverted
                if outcome:
                    self.apply_pauli(*_flipping(factors[0]))
            case Reset(qubit, pauli):
                self.measure_batch()
                if self.measure(index, ((qubit, pauli),)):
                    self.apply_pauli(*_flipping((qubit, pauli)))
            case Feedback(record, qubit, pauli):
                self.measure_batch()
                if self.result.base_records[record]:
                    self.apply_pauli(qubit, pauli)
            case CorrelatedError() | DetectorStep() | ObservableStep():
                self.measure_batch()
            case _:
                assert_never(step)

    def apply_pauli(self, qubit: int, pauli: int) -> None:
        self.patch_on[qubit].apply(stim.Tableau.from_named_gate("_XZY"[pauli]), [qubit])

    def rotate(self, step: int, factors: Factors, half_turns: float) -> None:
        patch = self.patch_of(factors)
        pauli = patch.coordinate_form(factors)
        x, z = bits_of(pauli)
        trivial = not x and not z & patch.active_mask
        if trivial and not patch.deferred.anticommuting(pauli):
            return  # an eigenstate: a global phase
        patch.defer(DeferredRotation(step, half_turns), pauli)
        self.num_deferred += 1

    def add_to_batch(self, index: int, step: Measure) -> None:
        """Adds a measurement to the batch, or to a new one if it must come after the batch."""
        if not self.batch.commutes_with(step.factors):
            self.measure_batch()
        self.batch.add(index, step)

    def measure_batch(self) -> None:
        """Adds the measurements of the batch, in the order that activates the fewest coordinates each."""
        if not self.batch:
            return
        in_order = self.batch.in_order(self.patch_of, lambda: not self.keep_order and self.num_deferred > 0)
        for k, (place, index, step) in enumerate(in_order):
            self.result.reordered |= place != k
            outcome = self.measure(index, step.factors, step.record)
            self.result.base_records[step.record] = outcome ^ step.inverted
            self.batch.set_done(index)
        self.batch = MeasurementBatch()

    def _insertion(self, step: int, patch: Patch, coordinate: int, pauli: str, deferred: int) -> Insertion:
        """The insertion of an X or Z of a coordinate."""
        factors = patch.circuit_form(coordinate, pauli)
        steps = frozenset(patch.deferred.steps(deferred))
        return Insertion(step, factors, steps, self.batch.reordered(step, factors))

    def measure(self, step: int, factors: Factors, record: int | None = None) -> int:
        """Measures along the base path; returns its outcome."""
        patch = self.patch_of(factors)
        if factors in patch.determined:
            return patch.determined[factors]
        pauli = patch.coordinate_form(factors)
        needed = patch.deferred.needed_by(pauli)
        for number in ones(needed):
            self._apply(patch, number, step)
        if needed:
            pauli = patch.coordinate_form(factors)
        x, z = bits_of(pauli)
        dormant_x = x & ~patch.active_mask
        if dormant_x:
            tossed = _lowest(dormant_x)
            if record is not None and self.result.operations:
                coin = self._insertion(step, patch, tossed, "Z", patch.deferred.with_x_on(tossed))
                self.result.coins.append((len(self.result.operations), record, coin))
            patch.change_coordinates(_to_plus_z(pauli, tossed))
            return 0
        if not (x | z) & patch.active_mask:
            patch.determined[factors] = int(pauli.sign.real < 0)
            return patch.determined[factors]
        self._measure_active(step, patch, pauli)
        return 0

    def _measure_active(self, step: int, patch: Patch, pauli: stim.PauliString) -> None:
        x, z = bits_of(pauli)
        support = x & patch.active_mask or z & patch.active_mask
        bit = max(k for k, (on, c) in enumerate(self.active) if on is patch and support >> c & 1)
        _, pivot = self.active[bit]
        if x:
            partner = patch.circuit_form(pivot, "Z")
            change = _to_plus_z(pauli, pivot)
        else:
            partner = patch.circuit_form(pivot, "X")
            change = stim.Circuit()
            for c in ones(z & ~(1 << pivot)):
                change.append("CX", [c, pivot])
            if pauli.sign.real < 0:
                change.append("X", [pivot])
        outcome = len(self.result.outcomes)
        self._append(OperationKind.MEASURE, patch, pauli, bit, outcome=outcome, step=step)
        patch.change_coordinates(change)
        del self.active[bit]
        patch.active_mask &= ~(1 << pivot)
        deferred = frozenset(patch.deferred.steps(patch.deferred.with_z_on(pivot)))
        reordered = self.batch.reordered(step, partner)
        self.result.outcomes.append(Insertion(step, partner, deferred, reordered))

    def _apply(self, patch: Patch, number: int, step: int) -> None:
        """Applies a deferred rotation, for a measurement in a step."""
        deferred = patch.deferred
        pauli = deferred.pauli(number)
        x, z = bits_of(pauli)
        dormant_x = x & ~patch.active_mask
        self.num_deferred -= 1
        if dormant_x:
            activated = _lowest(dormant_x)
            patch.change_coordinates(_to_x(pauli, activated))
            activation = self._insertion(step, patch, activated, "Z", deferred.with_x_on(activated))
            self.result.activations.append(activation)
            if _becomes_diagonal(deferred, number, activated):
                patch.change_coordinates(stim.Circuit(f"H {activated}"))
            self.active.append((patch, activated))
            patch.active_mask |= 1 << activated
            rotation, pauli = deferred.take(number)
            sign = pauli.sign.real
            term = self._term(rotation, sign * rotation.half_turns)
            bit = len(self.active) - 1
            self._append(OperationKind.ACTIVATE, patch, pauli * sign, bit, terms=(term,))
            self.result.peak_width = max(self.result.peak_width, len(self.active))
            return
        rotation, _ = deferred.take(number)
        if (x | z) & patch.active_mask:
            term = self._term(rotation, rotation.half_turns)
            self._append(OperationKind.ROTATE, patch, pauli, 0, terms=(term,))

    def _term(self, rotation: DeferredRotation, half_turns: float) -> RotationTerm:
        """A rotation, with the next sign."""
        self.result.num_signs += 1
        return RotationTerm(half_turns, self.result.num_signs - 1, rotation.step)

    def _append(
        self,
        kind: OperationKind,
        patch: Patch,
        pauli: stim.PauliString,
        pivot: int,
        *,
        terms: tuple[RotationTerm, ...] = (),
        outcome: int = -1,
        step: int = -1,
    ) -> None:
        """Appends an operation about a Pauli of the current coordinates."""
        bits = [(1 << k, c) for k, (on, c) in enumerate(self.active) if on is patch]
        x, z = (sum(bit for bit, c in bits if mask >> c & 1) for mask in bits_of(pauli))
        i_power = ((x & z).bit_count() + (2 if pauli.sign.real < 0 else 0)) % 4
        width = len(self.active) - (kind == OperationKind.ACTIVATE)
        self.result.operations.append(Operation(kind, width, x, z, i_power, pivot, terms, outcome, step))


def _becomes_diagonal(deferred: DeferredRotations, number: int, activated: int) -> bool:
    """Whether a rotation that activates a coordinate should be about its Z instead of its X.

    Deferred rotations with nothing but Z on the coordinate are cheaper, because they are diagonal. As a rule
    they are of the same kind as the rotation that activates it. But a circuit that starts in eigenstates of
    Z, and rotates about all axes, has most of its rotations and CX gates in the basis of the state.
    """
    with_x = deferred.with_x_on(activated) & ~(1 << number)
    with_z = deferred.with_z_on(activated) & ~(1 << number)
    return (with_x & ~with_z).bit_count() >= (with_z & ~with_x).bit_count()


def _to_x(pauli: stim.PauliString, pivot: int) -> stim.Circuit:
    """Clifford gates that turn ``pauli`` into ±X on ``pivot`` and do nothing where ``pivot`` is |0>."""
    change = stim.Circuit()
    if pauli[pivot] == 2:  # Y
        change.append("S_DAG", [pivot])
    for c in pauli.pauli_indices():
        if c != pivot:
            change.append(("", "CX", "CY", "CZ")[pauli[c]], [pivot, c])
    return change


def _to_plus_z(pauli: stim.PauliString, pivot: int) -> stim.Circuit:
    """Clifford gates that turn ``pauli``, which has an X on ``pivot``, into +Z on ``pivot``."""
    change = _to_x(pauli, pivot)
    negative = pauli.after(change).sign.real < 0
    change.append("H", [pivot])
    if negative:
        change.append("X", [pivot])
    return change


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1
