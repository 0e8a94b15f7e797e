"""The forward sweep: which quantum operations the circuit performs on which coordinates.

The state of the noise-free machine is written U (|v> on the active coordinates, |0> on the dormant
ones) with a Clifford U, and its coefficient vector v has 2^(number of active coordinates) entries. A
Clifford gate changes U alone. A Pauli P of the circuit is the Pauli P' = U^-1 P U of the coordinates:

* a rotation about P' acts on v (ROTATE), or wakes a dormant coordinate (ACTIVATE), or is a global phase;
* a measurement of P' is a fair coin, or is determined, or samples v and puts one coordinate to sleep
  (MEASURE).

This is the generalized stabilizer formalism (T. J. Yoder, 2012) with the tableau computed once for all
shots. The sweep follows the *base path*, on which every random outcome is 0; all other paths differ from
it by signs of rotations, which the backward sweep (``backward_sweep``) tracks.

Rotations are deferred (``deferred_rotations``) until a measurement needs them. A rotation that no
measurement needs is never applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import stim

from ..errors import assert_never
from .deferred_rotations import DeferredRotation, DeferredRotations, gates_of
from .gf2 import ones
from .operations import Operation, OperationKind, RotationTerm
from .paulis import Factors, Z, anticommute, bits_of, from_pauli_string, pauli_code, to_pauli_string
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
            wakes the fewest coordinates at a time.

    Returns:
        The operations, the base path's record, and the insertions for the backward sweep.

    Examples:
        >>> import stim
        >>> from stim_nonclifford.compiler.steps import program_of
        >>> quantum = forward_sweep(program_of(stim.Circuit("H 0\nS[T] 0\nH 0\nM 0")))
        >>> [(op.kind.name, op.width) for op in quantum.operations], quantum.peak_width
        ([('ACTIVATE', 0), ('MEASURE', 1)], 1)
    """
    sweep = _ForwardSweep(program.num_qubits, keep_order)
    sweep.result.base_records = [0] * program.num_records
    for index, step in enumerate(program.steps):
        sweep.follow(index, step)
    sweep.measure_batch()
    return sweep.result


def _flipping(factor: tuple[int, int]) -> tuple[int, int]:
    """A Pauli that flips the eigenvalue of a one-qubit Pauli."""
    qubit, pauli = factor
    return qubit, pauli_code("X") if pauli == Z else Z


class _ForwardSweep:
    def __init__(self, num_qubits: int, keep_order: bool) -> None:
        self.num_qubits = num_qubits
        self.keep_order = keep_order
        # P -> U^-1 P U; gates are prepended, changes of coordinates appended.
        self.to_coordinates = stim.Tableau(num_qubits)
        self.active: list[int] = []  # active[k] is the coordinate of bit k of the index
        self.active_mask = 0
        self.deferred = DeferredRotations(num_qubits)
        # A batch: measurements that commute, with nothing between them that depends on their order.
        self.batch: list[tuple[int, Measure]] = []
        self.batch_on: dict[int, list[Factors]] = {}  # by qubit
        self.done: set[int] = set()  # steps of the batch that have been measured
        self.result = QuantumProgram()

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
                    self.to_coordinates.prepend(gate.inverse, targets)
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
        gate = stim.Tableau.from_named_gate("_XZY"[pauli])
        self.to_coordinates.prepend(gate, [qubit])

    def coordinate_form(self, factors: Factors) -> stim.PauliString:
        if len(factors) == 1:
            ((qubit, pauli),) = factors
            if pauli == Z:
                return self.to_coordinates.z_output(qubit)
            if pauli == pauli_code("X"):
                return self.to_coordinates.x_output(qubit)
            return self.to_coordinates.y_output(qubit)
        return self.to_coordinates(to_pauli_string(factors, self.num_qubits))

    def rotate(self, step: int, factors: Factors, half_turns: float) -> None:
        pauli = self.coordinate_form(factors)
        x, z = bits_of(pauli)
        trivial = not x and not z & self.active_mask
        if trivial and not self.deferred.anticommuting(pauli):
            return  # an eigenstate: a global phase
        self.deferred.add(DeferredRotation(step, half_turns), pauli)

    def add_to_batch(self, index: int, step: Measure) -> None:
        """Adds a measurement to the batch, or to a new one if it must come after the batch."""
        neighbours = (other for qubit, _ in step.factors for other in self.batch_on.get(qubit, ()))
        if any(anticommute(step.factors, other) for other in neighbours):
            self.measure_batch()
        self.batch.append((index, step))
        for qubit, _ in step.factors:
            self.batch_on.setdefault(qubit, []).append(step.factors)

    def measure_batch(self) -> None:
        """Does the measurements of the batch, in the order that wakes the fewest coordinates at a time."""
        left = list(self.batch)
        while left:
            is_free = self.deferred and not self.keep_order and len(left) > 1
            best = self._next_measurement(left) if is_free else left[0]
            self.result.reordered |= best is not left[0]
            left.remove(best)
            index, step = best
            outcome = self.measure(index, step.factors, step.record)
            self.result.base_records[step.record] = outcome ^ step.inverted
            self.done.add(index)
        self.batch.clear()
        self.batch_on.clear()
        self.done.clear()

    def _next_measurement(self, left: list[tuple[int, Measure]]) -> tuple[int, Measure]:
        """The measurement that wakes the fewest coordinates; of several, no coin, with few rotations."""
        best, least = left[0], (self.num_qubits + 1, 0, 0)
        dormant = (1 << self.num_qubits) - 1 & ~self.active_mask
        for measurement in left:
            pauli = self.coordinate_form(measurement[1].factors)
            needed = self.deferred.needed_by(pauli)
            woken = self.deferred.num_woken_by(needed, dormant, least[0] + 1)
            if woken > least[0]:
                continue
            # A fair coin puts no coordinate to sleep: it is about one that is never woken.
            is_coin = self.deferred.num_woken_by(needed, dormant, woken + 1, pauli) > woken
            cost = woken, is_coin, needed.bit_count()
            if cost < least:
                best, least = measurement, cost
            if not needed:
                break
        return best

    def _reordered(self, step: int, factors: Factors) -> frozenset[int]:
        """Records of the measurements whose order with an insertion before a step has changed."""
        return frozenset(
            measurement.record
            for index, measurement in self.batch
            if (index < step) != (index in self.done) and index != step
            if anticommute(factors, measurement.factors)
        )

    def _insertion(self, step: int, pauli: stim.PauliString, deferred: int) -> Insertion:
        factors = from_pauli_string(pauli)
        steps = frozenset(self.deferred.steps(deferred))
        return Insertion(step, factors, steps, self._reordered(step, factors))

    def measure(self, step: int, factors: Factors, record: int | None = None) -> int:
        """Measures along the base path; returns its outcome."""
        self._apply_needed_rotations(step, self.coordinate_form(factors))
        pauli = self.coordinate_form(factors)
        x, z = bits_of(pauli)
        negative = pauli.sign.real < 0
        dormant_x = x & ~self.active_mask
        if dormant_x:
            tossed = _lowest(dormant_x)
            if record is not None and self.result.operations:
                stabilizer = self.to_coordinates.inverse_z_output(tossed, unsigned=True)
                coin = self._insertion(step, stabilizer, self.deferred.with_x_on(tossed))
                self.result.coins.append((len(self.result.operations), record, coin))
            self._change_coordinates(_to_plus_z(pauli, tossed))
            return 0
        if not (x | z) & self.active_mask:
            return int(negative)
        self._measure_active(step, pauli, x, z, negative)
        return 0

    def _measure_active(self, step: int, pauli: stim.PauliString, x: int, z: int, negative: bool) -> None:
        support = x & self.active_mask or z & self.active_mask
        bit = max(k for k, c in enumerate(self.active) if support >> c & 1)
        pivot = self.active[bit]
        if x:
            partner = self.to_coordinates.inverse_z_output(pivot, unsigned=True)
            change = _to_plus_z(pauli, pivot)
        else:
            partner = self.to_coordinates.inverse_x_output(pivot, unsigned=True)
            change = stim.Circuit()
            for c in ones(z & ~(1 << pivot)):
                change.append("CX", [c, pivot])
            if negative:
                change.append("X", [pivot])
        outcome = len(self.result.outcomes)
        self._append(OperationKind.MEASURE, pauli, bit, outcome=outcome, step=step)
        self._change_coordinates(change)
        del self.active[bit]
        self.active_mask &= ~(1 << pivot)
        self.result.outcomes.append(self._insertion(step, partner, self.deferred.with_z_on(pivot)))

    def _apply_needed_rotations(self, step: int, pauli: stim.PauliString) -> None:
        """Applies the deferred rotations that the measurement of ``pauli`` needs."""
        for number in ones(self.deferred.needed_by(pauli)):
            self._apply(number, step)

    def _apply(self, number: int, step: int) -> None:
        """Applies a deferred rotation, for a measurement in a step."""
        pauli = self.deferred.pauli(number)
        x, z = bits_of(pauli)
        dormant_x = x & ~self.active_mask
        if dormant_x:
            woken = _lowest(dormant_x)
            self._change_coordinates(_to_x(pauli, woken))
            stabilizer = self.to_coordinates.inverse_z_output(woken, unsigned=True)
            deferred = self.deferred.with_x_on(woken)
            self.result.activations.append(self._insertion(step, stabilizer, deferred))
            if self._becomes_diagonal(number, woken):
                self._change_coordinates(stim.Circuit(f"H {woken}"))
            self.active.append(woken)
            self.active_mask |= 1 << woken
            rotation, pauli = self.deferred.take(number)
            sign = pauli.sign.real
            term = self._term(rotation, sign * rotation.half_turns)
            self._append(OperationKind.ACTIVATE, pauli * sign, len(self.active) - 1, terms=(term,))
            self.result.peak_width = max(self.result.peak_width, len(self.active))
            return
        rotation, _ = self.deferred.take(number)
        if (x | z) & self.active_mask:
            term = self._term(rotation, rotation.half_turns)
            self._append(OperationKind.ROTATE, pauli, 0, terms=(term,))

    def _becomes_diagonal(self, number: int, woken: int) -> bool:
        """Whether a rotation that wakes a coordinate should be about its Z instead of its X.

        Deferred rotations with nothing but Z on the coordinate are cheaper, because they are diagonal. As a
        rule they are of the same kind as the rotation that wakes it. But a circuit that starts in eigenstates
        of Z, and rotates about all axes, has most of its rotations and CX gates in the basis of the state.
        """
        with_x = self.deferred.with_x_on(woken) & ~(1 << number)
        with_z = self.deferred.with_z_on(woken) & ~(1 << number)
        return (with_x & ~with_z).bit_count() >= (with_z & ~with_x).bit_count()

    def _term(self, rotation: DeferredRotation, half_turns: float) -> RotationTerm:
        """A rotation, with the next sign."""
        self.result.num_signs += 1
        return RotationTerm(half_turns, self.result.num_signs - 1, rotation.step)

    def _append(
        self,
        kind: OperationKind,
        pauli: stim.PauliString,
        pivot: int,
        *,
        terms: tuple[RotationTerm, ...] = (),
        outcome: int = -1,
        step: int = -1,
    ) -> None:
        """Appends an operation about a Pauli of the current coordinates."""
        x, z = (_gather(mask, self.active) for mask in bits_of(pauli))
        i_power = ((x & z).bit_count() + (2 if pauli.sign.real < 0 else 0)) % 4
        width = len(self.active) - (kind == OperationKind.ACTIVATE)
        self.result.operations.append(Operation(kind, width, x, z, i_power, pivot, terms, outcome, step))

    def _change_coordinates(self, change: stim.Circuit) -> None:
        for gate, targets in gates_of(change):
            self.to_coordinates.append(gate, targets)
        self.deferred.change_coordinates(change)


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


def _gather(mask: int, positions: Sequence[int]) -> int:
    gathered = 0
    for k, c in enumerate(positions):
        if mask >> c & 1:
            gathered |= 1 << k
    return gathered
