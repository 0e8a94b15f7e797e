"""The operations of a plan, each with the instruction of the circuit that causes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ...dialect import bare_name
from ...simulation.compiler.algebra.paulis import Factors
from ...simulation.compiler.program.program import Program
from ...simulation.compiler.program.steps import Measure, Reset, Rotate, Step
from ...simulation.plan import ACTIVATE, MEASURE, ROTATE, SamplingPlan


@dataclass(frozen=True)
class PlannedOperation:
    """One operation on the coefficient vector, and the instruction of the circuit that causes it.

    Attributes:
        kind: ``"rotation"``, ``"activation"`` (a rotation that activates a coordinate, so that the vector
            doubles), or ``"measurement"`` (which halves the vector).
        width: Number of active coordinates of the vector: after an activation, before a measurement. In a
            weak measurement, its own coordinate does not count.
        coefficients: Number of coefficients that the operation reads or changes: 2^width, or 0 if it is
            joined or diagonal.
        joined: Whether the operation is applied together with the previous one: a rotation about the same
            Pauli, or the measurement of a weak measurement.
        diagonal: Whether the operation is a rotation that only changes the phases of coefficients. An engine
            can keep the angle beside the vector instead of applying it.
        half_turns: Angle of the rotation in half-turns (units of π radians) as in the circuit; 0.0 for a
            measurement.
        sign_controlled: Whether noise or earlier outcomes can reverse the angle.
        outcome: Number of the measurement's outcome; None for rotations.
        weak: Whether the operation is part of a weak measurement: a coordinate is activated and measured at
            once, so that the vector need not grow.
        pauli: The Pauli of the rotation or measurement on the qubits of the circuit, as in ``"X0*Z2"``.
        instruction: Name of the instruction; a non-Clifford gate has its bare name.
        line: Line of the instruction in the printed circuit, counted from 1.
        tick: Number of TICKs before the instruction; every iteration of a REPEAT counts.
        step: Position of the instruction's step in the unrolled circuit, which differs between iterations.
    """

    kind: str
    width: int
    coefficients: int
    joined: bool
    diagonal: bool
    half_turns: float
    sign_controlled: bool
    outcome: int | None
    weak: bool
    pauli: str
    instruction: str
    line: int
    tick: int
    step: int

    @property
    def target(self) -> str:
        """The target as circuit text has it: a product of Paulis, or the number of a qubit."""
        return self.pauli if "*" in self.pauli else self.pauli[1:]


def planned_operations(plan: SamplingPlan, program: Program) -> tuple[PlannedOperation, ...]:
    """The rotations and measurements of a plan, in the order in which they are applied."""
    return tuple(_operations(plan, program))


def _operations(plan: SamplingPlan, program: Program) -> Iterator[PlannedOperation]:
    stored_steps = _StoredSteps(program)
    names = ("kind", "width", "first_term", "end_term", "outcome")
    columns = (plan.operations[name].tolist() for name in names)
    weak, flips = plan.in_weak_measurements.tolist(), plan.flips_index.tolist()
    steps, signs = plan.rotation_term_steps.tolist(), plan.rotation_terms["sign"].tolist()
    for kind, width_before, first, end, outcome, is_weak, has_x, measured_in in zip(
        *columns, weak, flips, plan.operation_steps.tolist(), strict=True
    ):
        width = width_before + (kind == ACTIVATE) - is_weak
        is_diagonal = kind == ROTATE and not has_x
        for k in range(first, end):
            activates = k == first and kind != ROTATE
            stored = stored_steps.of(steps[k])
            yield PlannedOperation(
                kind="activation" if activates else "rotation",
                width=width,
                coefficients=0 if k > first or is_diagonal else 1 << width,
                joined=k > first,
                diagonal=not activates and not has_x,
                half_turns=stored.half_turns,
                sign_controlled=signs[k] >= 0,
                outcome=None,
                weak=is_weak,
                pauli=stored.pauli,
                instruction=stored.instruction,
                line=stored.line,
                tick=program.places[steps[k]].tick,
                step=steps[k],
            )
        if kind == MEASURE:
            stored = stored_steps.of(measured_in)
            yield PlannedOperation(
                kind="measurement",
                width=width,
                coefficients=0 if is_weak else 1 << width,
                joined=is_weak,
                diagonal=False,
                half_turns=0.0,
                sign_controlled=False,
                outcome=outcome,
                weak=is_weak,
                pauli=stored.pauli,
                instruction=stored.instruction,
                line=stored.line,
                tick=program.places[measured_in].tick,
                step=measured_in,
            )


class _StoredStep(NamedTuple):
    """What is the same for a step in all iterations of a loop."""

    half_turns: float
    pauli: str
    instruction: str
    line: int


class _StoredSteps:
    """The stored steps of a program, each described once, and the name of each instruction."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[int, _StoredStep] = {}
        self._names: dict[int, str] = {}  # by the identity of an instruction, as one has many targets

    def of(self, step: int) -> _StoredStep:
        """The stored step of a step of the unrolled circuit."""
        number = self._program.stored_number(step)
        if number not in self._known:
            self._known[number] = self._described(number)
        return self._known[number]

    def _described(self, number: int) -> _StoredStep:
        step, place = self._program.stored_steps[number], self._program.stored_places[number]
        if id(place.source) not in self._names:
            self._names[id(place.source)] = bare_name(place.source)
        factors = self._program.labelled(_factors(step))
        return _StoredStep(
            step.half_turns if isinstance(step, Rotate) else 0.0,
            "*".join(f"{'_XZY'[code]}{qubit}" for qubit, code in factors),
            self._names[id(place.source)],
            place.line,
        )


def _factors(step: Step) -> Factors:
    match step:
        case Rotate(factors, _) | Measure(factors):
            return factors
        case Reset(qubit, pauli):
            return ((qubit, pauli),)
    raise AssertionError("operations come from rotations, measurements and resets")
