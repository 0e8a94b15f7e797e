"""The forward sweep: which quantum operations the circuit performs on which coordinates.

The state of the noise-free machine is written U (|v> on the active coordinates, |0> on the dormant
ones) with a Clifford U, and its coefficient vector v has 2^(number of active coordinates) entries. A
Clifford gate changes U alone. A Pauli P of the circuit is the Pauli P' = U^-1 P U of the coordinates:

* a rotation about P' acts on v (ROTATE), or wakes a dormant coordinate (ACTIVATE), or is a global phase;
* a measurement of P' is a fair coin, or is determined, or samples v and puts one coordinate to sleep
  (MEASURE).

This is the generalized stabilizer formalism (T. J. Yoder, 2012) with the tableau computed once for all
shots. The sweep follows the *base path*, on which every random outcome is 0; all other paths differ from
it by signs of rotations, which the backward sweep (``mechanisms``) tracks.

Rotations are lazy: they wait until a measurement does not commute with them, or with another one that
waits after them and is needed. A rotation that no measurement needs is never applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import stim

from .gf2 import ones
from .paulis import Factors, Z, anticommute, bits_of, from_pauli_string, pauli_code, to_pauli_string
from .steps import Clifford, Feedback, Measure, Noise, Program, Reset, Rotate
from .waiting import Waiting, WaitingRotations, gates_of

__all__ = ["Insertion", "Operation", "OperationKind", "QuantumProgram", "forward_sweep"]


class OperationKind(IntEnum):
    """What an operation does to the coefficient vector."""

    ROTATE = 0
    """v <- cos(a π/2) v - i sin(a π/2) (-1)^sign P v."""
    ACTIVATE = 1
    """ROTATE about P of one more coordinate, the highest bit of the index. It is in |+> before if P is Z,
    v <- [exp(-i a π/2) v, exp(i a π/2) v] / √2; in |0> if it is X, v <- [cos(a π/2) v, -i sin(a π/2) v]."""
    MEASURE = 2
    """Samples the eigenvalue (-1)^outcome of P, projects, and removes coordinate ``pivot``."""


@dataclass(frozen=True)
class Operation:
    """One operation on the coefficient vector.

    The Pauli is P|α> = i^i_power (-1)^|α & z| |α ^ x>, with α the index of a coefficient.

    Attributes:
        kind: The kind of operation.
        width: Number of active coordinates before the operation.
        x: Bits of the index that P flips.
        z: Bits of the index that P reads.
        i_power: Power of i in front, 0 to 3; holds the sign of P on the base path.
        half_turns: Rotation angle a of exp(-i a π/2 P); 0 for MEASURE.
        pivot: MEASURE: the bit that disappears from the index. It is in ``x`` if that is not 0, else in
            ``z``.
        step: The step of the program that the operation comes from.
    """

    kind: OperationKind
    width: int
    x: int
    z: int
    i_power: int
    half_turns: float
    pivot: int
    step: int


@dataclass(frozen=True)
class Insertion:
    """A Pauli inserted just before a step of the program, as a question to the backward sweep.

    Attributes:
        step: The step.
        factors: The Pauli on the qubits of the circuit.
        waiting: Steps of the rotations that come earlier in the circuit but are applied after the
            insertion, and anticommute with it.
        reordered: Records that anticommute with it, and are measured before it though they come after
            the step in the circuit, or the other way round.
    """

    step: int
    factors: Factors
    waiting: frozenset[int]
    reordered: frozenset[int]


@dataclass
class QuantumProgram:
    """What the forward sweep finds.

    Attributes:
        operations: The operations on the coefficient vector, in order.
        activations: For each ACTIVATE, the stabilizer that makes the sign of its rotation a free choice.
        outcomes: For each MEASURE, the Pauli by which the paths of outcome 1 and 0 differ.
        coins: For each recorded fair coin (number of operations before it, record, the stabilizer by which
            the paths of its two outcomes differ).
        base_records: The measurement record of the base path.
        peak_width: Largest number of active coordinates.
        reordered: Whether commuting measurements are made in another order than the circuit's.
    """

    operations: list[Operation] = field(default_factory=list)
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
        keep_order: Whether to make commuting measurements in the order of the circuit, not in the one that
            wakes the fewest coordinates at a time.

    Returns:
        The operations, the base path's record, and the questions for the backward sweep.

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
        match step:
            case Measure() if not step.resets:
                sweep.add_to_together(index, step)
                continue
            case Noise():
                continue
        sweep.measure_together()
        match step:
            case Clifford(gate, groups):
                for targets in groups:
                    sweep.to_coordinates.prepend(gate.inverse, targets)
            case Rotate(factors, half_turns):
                sweep.rotate(index, factors, half_turns)
            case Measure(factors, record, inverted, _, _):
                outcome = sweep.measure(index, factors, record)
                sweep.result.base_records[record] = outcome ^ inverted
                if outcome:
                    sweep.apply_pauli(*_flipping(factors[0]))
            case Reset(qubit, pauli):
                if sweep.measure(index, ((qubit, pauli),)):
                    sweep.apply_pauli(*_flipping((qubit, pauli)))
            case Feedback(record, qubit, pauli):
                if sweep.result.base_records[record]:
                    sweep.apply_pauli(qubit, pauli)
    sweep.measure_together()
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
        self.waiting = WaitingRotations(num_qubits)
        # Measurements that commute, with nothing between them that depends on their order.
        self.together: list[tuple[int, Measure]] = []
        self.together_on: dict[int, list[Factors]] = {}  # by qubit
        self.measured: set[int] = set()  # those of them that are done
        self.result = QuantumProgram()

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
        if trivial and not self.waiting.anticommuting(pauli):
            return  # an eigenstate: a global phase
        self.waiting.add(Waiting(step, half_turns), pauli)

    def add_to_together(self, index: int, step: Measure) -> None:
        """Adds a measurement to those that stand together; they are made first if it must come after."""
        neighbours = (other for qubit, _ in step.factors for other in self.together_on.get(qubit, ()))
        if any(anticommute(step.factors, other) for other in neighbours):
            self.measure_together()
        self.together.append((index, step))
        for qubit, _ in step.factors:
            self.together_on.setdefault(qubit, []).append(step.factors)

    def measure_together(self) -> None:
        """Measures what stands together, in the order that wakes the fewest coordinates at a time."""
        left = list(self.together)
        while left:
            free = self.waiting and not self.keep_order and len(left) > 1
            best = self._first_to_measure(left) if free else left[0]
            self.result.reordered |= best is not left[0]
            left.remove(best)
            index, step = best
            outcome = self.measure(index, step.factors, step.record)
            self.result.base_records[step.record] = outcome ^ step.inverted
            self.measured.add(index)
        self.together.clear()
        self.together_on.clear()
        self.measured.clear()

    def _first_to_measure(self, left: list[tuple[int, Measure]]) -> tuple[int, Measure]:
        """Of those that wake the fewest coordinates, one that puts one to sleep, with few rotations."""
        best, least = left[0], (self.num_qubits + 1, 0, 0)
        dormant = (1 << self.num_qubits) - 1 & ~self.active_mask
        for measurement in left:
            pauli = self.coordinate_form(measurement[1].factors)
            needed = self.waiting.needed_by(pauli)
            woken = self.waiting.num_woken_by(needed, dormant, least[0] + 1)
            if woken > least[0]:
                continue
            # A fair coin puts none to sleep: it is about a coordinate that is never woken.
            is_coin = self.waiting.num_woken_by(needed, dormant, woken + 1, pauli) > woken
            cost = woken, is_coin, needed.bit_count()
            if cost < least:
                best, least = measurement, cost
            if not needed:
                break
        return best

    def _reordered(self, step: int, factors: Factors) -> frozenset[int]:
        """Records of the measurements around a step whose order with an insertion there has changed."""
        return frozenset(
            measurement.record
            for index, measurement in self.together
            if (index < step) != (index in self.measured) and index != step
            if anticommute(factors, measurement.factors)
        )

    def _insertion(self, step: int, pauli: stim.PauliString, waiting: frozenset[int]) -> Insertion:
        factors = from_pauli_string(pauli)
        return Insertion(step, factors, waiting, self._reordered(step, factors))

    def measure(self, step: int, factors: Factors, record: int | None = None) -> int:
        """Measures along the base path; returns its outcome."""
        self._apply_what_must_come_before(step, self.coordinate_form(factors))
        pauli = self.coordinate_form(factors)
        x, z = bits_of(pauli)
        negative = pauli.sign.real < 0
        dormant_x = x & ~self.active_mask
        if dormant_x:
            tossed = _lowest(dormant_x)
            if record is not None and self.result.operations:
                stabilizer = self.to_coordinates.inverse_z_output(tossed, unsigned=True)
                waiting = frozenset(self.waiting.steps(self.waiting.with_x_on(tossed)))
                coin = self._insertion(step, stabilizer, waiting)
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
        self._record(OperationKind.MEASURE, pauli, 0.0, bit, step)
        self._change_coordinates(change)
        del self.active[bit]
        self.active_mask &= ~(1 << pivot)
        waiting = frozenset(self.waiting.steps(self.waiting.with_z_on(pivot)))
        self.result.outcomes.append(self._insertion(step, partner, waiting))

    def _apply_what_must_come_before(self, step: int, pauli: stim.PauliString) -> None:
        """Applies the waiting rotations that the measurement of ``pauli`` needs."""
        for number in ones(self.waiting.needed_by(pauli)):
            self._apply(number, step)

    def _apply(self, number: int, step: int) -> None:
        """Applies a waiting rotation, for a measurement in a step."""
        pauli = self.waiting.pauli(number)
        x, z = bits_of(pauli)
        dormant_x = x & ~self.active_mask
        if dormant_x:
            woken = _lowest(dormant_x)
            self._change_coordinates(_to_x(pauli, woken))
            stabilizer = self.to_coordinates.inverse_z_output(woken, unsigned=True)
            waiting = frozenset(self.waiting.steps(self.waiting.with_x_on(woken)))
            self.result.activations.append(self._insertion(step, stabilizer, waiting))
            if self._becomes_diagonal(number, woken):
                self._change_coordinates(stim.Circuit(f"H {woken}"))
            self.active.append(woken)
            self.active_mask |= 1 << woken
            rotation, pauli = self.waiting.take(number)
            sign = pauli.sign.real
            self._record(
                OperationKind.ACTIVATE,
                pauli * sign,
                sign * rotation.half_turns,
                len(self.active) - 1,
                rotation.step,
            )
            self.result.peak_width = max(self.result.peak_width, len(self.active))
            return
        rotation, _ = self.waiting.take(number)
        if (x | z) & self.active_mask:
            self._record(OperationKind.ROTATE, pauli, rotation.half_turns, 0, rotation.step)

    def _becomes_diagonal(self, number: int, woken: int) -> bool:
        """Whether a rotation that is about the X of a coordinate and wakes it should be about its Z instead.

        Of the rotations that wait, those that have nothing but Z on the coordinate are cheaper: as a rule
        they are of the same kind as the one that wakes it. But a circuit that starts in eigenstates of Z, and
        rotates about all axes, has most of its rotations and CX gates in the basis that the state is in.
        """
        with_x = self.waiting.with_x_on(woken) & ~(1 << number)
        with_z = self.waiting.with_z_on(woken) & ~(1 << number)
        return (with_x & ~with_z).bit_count() >= (with_z & ~with_x).bit_count()

    def _record(
        self, kind: OperationKind, pauli: stim.PauliString, half_turns: float, pivot: int, step: int
    ) -> None:
        x, z = bits_of(pauli)
        x_index = _gather(x, self.active)
        z_index = _gather(z, self.active)
        i_power = ((x_index & z_index).bit_count() + (2 if pauli.sign.real < 0 else 0)) % 4
        width = len(self.active) - (kind == OperationKind.ACTIVATE)
        operation = Operation(kind, width, x_index, z_index, i_power, half_turns, pivot, step)
        self.result.operations.append(operation)

    def _change_coordinates(self, change: stim.Circuit) -> None:
        for gate, targets in gates_of(change):
            self.to_coordinates.append(gate, targets)
        self.waiting.change_coordinates(change)


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
