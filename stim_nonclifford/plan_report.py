"""What a circuit costs: the operations of a plan with their widths and their places in the circuit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
import stim

from .compiler import CompiledCircuit
from .compiler.paulis import Factors
from .compiler.steps import Measure, Program, Reset, Rotate, Step, unrolled
from .dialect import bare_name
from .plan import ACTIVATE, MEASURE, ROTATE, Plan
from .plan_table import text_of
from .sampling.questions import outputs_of

__all__ = ["PlanMethod", "PlanReport", "PlannedOperation", "plan_report"]

PlanMethod = Literal["sample", "sample_kept", "sample_counts", "sample_measurements"]

_KINDS = {ROTATE: "rotation", ACTIVATE: "activation", MEASURE: "measurement"}


@dataclass(frozen=True)
class PlannedOperation:
    """One operation on the coefficient vector, and where in the circuit it comes from.

    Attributes:
        kind: ``"rotation"``, ``"activation"`` (a rotation that wakes a coordinate, so that the vector
            doubles), or ``"measurement"`` (which halves the vector).
        width: Active coordinates of the vector that it works on: 2^width coefficients. Of an activation, the
            vector after it; of a measurement, the one before it; in a weak measurement, the one without
            the coordinate that is woken and measured.
        coefficients: Number of coefficients that it changes or reads: 2^width; 0 if it is joined or diagonal.
        joined: Whether it is done together with the operation before it: a rotation about the same Pauli, or
            the end of a weak measurement.
        diagonal: Whether it is a rotation that changes phases of coefficients only: its angle can be kept
            apart, and used when another operation goes through the vector.
        half_turns: Angle of the rotation in half-turns (units of π radians) as in the circuit; 0.0 for a
            measurement.
        sign_controlled: Whether noise or earlier outcomes can reverse the angle.
        outcome: Number of the outcome that a measurement gives; None for rotations.
        weak: Whether it is part of a weak measurement: a coordinate is woken, and measured at once together
            with a parity of others, so that the vector need not grow.
        pauli: The rotated or measured Pauli on the qubits of the circuit, as in ``"X0*Z2"``.
        instruction: Name of the circuit's instruction, non-Clifford gates by their bare names.
        line: Line of the instruction in the printed circuit, from 1.
        tick: Number of TICKs before it, with every iteration of a REPEAT counted.
        step: Position of the instruction's step in the unrolled circuit; tells iterations apart.
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


@dataclass(frozen=True, repr=False)
class PlanReport:
    r"""What one call of a sampler costs per shot. Made by ``Circuit.plan``; printed, it is a table.

    Attributes:
        question: The call whose plan this is.
        plan: The plan itself.
        operations: The quantum operations in the order in which they are done.

    Examples:
        >>> import stim_nonclifford as snc
        >>> circuit = snc.Circuit("RX 0 1\nT 0\nDEPOLARIZE1(0.01) 0 1\nTICK\nT 0\nR_X(0.1) 0\nMY 0")
        >>> report = circuit.plan()
        >>> for operation in report.operations:
        ...     print(operation.line, operation.instruction, operation.pauli, operation.kind, operation.width)
        2 T Z0 activation 1
        5 T Z0 rotation 1
        6 R_X X0 rotation 1
        7 MY Y0 measurement 1
        >>> report.peak_width, report.num_mechanisms, round(report.mean_events, 4)
        (1, 3, 0.0101)
    """

    question: str
    plan: Plan
    operations: tuple[PlannedOperation, ...]

    @cached_property
    def widths(self) -> npt.NDArray[np.int64]:
        """The ``width`` of each operation: int64, shape (len(operations),)."""
        return np.array([operation.width for operation in self.operations], dtype=np.int64)

    @property
    def peak_width(self) -> int:
        """Largest number of active coordinates: an engine holds 2^peak_width complex coefficients."""
        return self.plan.peak_width

    @property
    def num_mechanisms(self) -> int:
        """Number of error mechanisms with distinct effects."""
        return self.plan.num_mechanisms

    @property
    def mean_events(self) -> float:
        """Mean number of events of error mechanisms per shot."""
        return self.plan.mean_events

    @property
    def num_signature_bits(self) -> int:
        """Number of bits, after noise, that the quantum outcomes depend on: at most 2^this many laws."""
        return self.plan.num_signature_bits

    @property
    def total_coefficients(self) -> int:
        """The coefficients of all operations: about the work of a shot that is simulated from the start.

        Shots that begin like others begin where those have been. Shots whose signature and outcomes have come
        before, and shots that a noise-only check discards, take nothing of it.
        """
        return sum(operation.coefficients for operation in self.operations)

    def table(self, max_rows: int = 60) -> str:
        r"""The report as text; printing it shows the same.

        Neighbouring operations are one row if they are of the same kind and instruction. If those are too
        many rows: if they are of the same kind; and then if they belong to the same time of waking or of
        measuring coordinates.

        Args:
            max_rows: Rows of the table of operations, at most.

        Returns:
            The text. ``width`` is the number of active coordinates before and after the operations of the
            row, with a bar for the largest. ``±`` is in front of angles whose sign depends on noise or on
            earlier outcomes. ``gates`` are gathered into fewer rotations where they are about the same Pauli.

        Examples:
            >>> import stim_nonclifford as snc
            >>> text = "RX 0 1 2\nT 0 1 2\nMPP X0*X1*X2\nTICK\nCX 0 1\nT 0\nMX 0 1 2"
            >>> print("\n".join(snc.Circuit(text).plan().table().splitlines()[-5:]))
            width       coefficients  operations, angles in half-turns       line  tick  instruction
            0 -> 2  ##             6  2 activations by 0.25                     2     0  T 0 1
            2       ##             4  1 weak measurement by 0.25, outcome 0   2-3     0  T 2; MPP X0*X1*X2
            2 -> 0  ##             6  2 measurements, outcomes 1-2              7     1  MX 1 2
            0                      1  1 weak measurement by 0.25, outcome 3   6-7     1  T 0; MX 0
        """
        return text_of(self, max_rows)

    def __str__(self) -> str:
        return self.table()

    __repr__ = __str__


def plan_report(
    compiled: CompiledCircuit, circuit: stim.Circuit, method: PlanMethod, postselected: Sequence[int]
) -> PlanReport:
    """The report for one method of a sampler.

    Args:
        compiled: The circuit, compiled.
        circuit: The circuit, with tags.
        method: The method.
        postselected: The outputs that discard a shot: detectors, then observables.

    Returns:
        The report.
    """
    program = compiled.program
    if method == "sample_measurements":
        plan = compiled.record_plan()
        question = "compile_sampler().sample"
    else:
        reported, discarding = outputs_of(
            method, program.num_detectors, program.num_observables, postselected
        )
        # Against the reference sample other constants are flipped, but nothing else changes.
        plan = compiled.detector_plan(reported=reported, postselected=discarding, skip_reference_sample=True)
        question = f"compile_detector_sampler().{method}{_postselection(program, discarding)}"
    return PlanReport(question, plan, tuple(_traced(plan, program, list(unrolled(circuit)))))


def _postselection(program: Program, postselected: Sequence[int]) -> str:
    if not postselected:
        return ", nothing postselected"
    num_detectors = sum(output < program.num_detectors for output in postselected)
    text = f", {num_detectors} of {program.num_detectors} detectors postselected"
    if num_detectors < len(postselected):
        text += f", {len(postselected) - num_detectors} of {program.num_observables} observables"
    return text


def _traced(
    plan: Plan, program: Program, instructions: Sequence[stim.CircuitInstruction]
) -> Iterator[PlannedOperation]:
    """The operations with their places in the circuit."""
    ticks = np.cumsum([instruction.name == "TICK" for instruction in instructions], dtype=np.int64)
    for place, width, joined, weak in _engine_work(plan.operations):
        operation, step = plan.operations[place], int(plan.operation_steps[place])
        kind, number = int(operation["kind"]), program.instructions[step]
        diagonal = kind == ROTATE and not operation["x"]
        yield PlannedOperation(
            kind=_KINDS[kind],
            width=width,
            coefficients=0 if joined or diagonal else 1 << width,
            joined=joined,
            diagonal=diagonal,
            half_turns=_half_turns(program.steps[step]),
            sign_controlled=int(operation["sign"]) >= 0,
            outcome=int(operation["outcome"]) if kind == MEASURE else None,
            weak=weak,
            pauli="*".join(f"{'_XZY'[code]}{qubit}" for qubit, code in _factors(program.steps[step])),
            instruction=bare_name(instructions[number]),
            line=program.lines[step],
            tick=int(ticks[number]),
            step=step,
        )


def _engine_work(operations: npt.NDArray[np.void]) -> Iterator[tuple[int, int, bool, bool]]:
    """For each operation its place, width, and whether it is joined, and part of a weak measurement."""
    fields = ("kind", "x", "z", "width", "pivot")
    rows = list(zip(*(operations[name].tolist() for name in fields), strict=True))
    place = 0
    while place < len(rows):
        kind, x, z, width, _ = rows[place]
        end = place + 1
        if kind == MEASURE:
            yield place, width, False, False
            place = end
            continue
        while end < len(rows) and rows[end][0] == ROTATE and rows[end][1:3] == (x, z):
            end += 1
        weak = kind == ACTIVATE and not x and end < len(rows) and _measures_woken(rows[end], width)
        if kind == ACTIVATE and not weak:
            width += 1
        end += weak
        for k in range(place, end):
            yield k, width, k > place, weak
        place = end


def _measures_woken(row: tuple[int, int, int, int, int], bit: int) -> bool:
    """Whether an operation measures a coordinate in the other basis than that in which it has been woken."""
    kind, x, _, _, pivot = row
    return kind == MEASURE and pivot == bit and bool(x >> bit & 1)


def _factors(step: Step) -> Factors:
    match step:
        case Rotate(factors, _) | Measure(factors):
            return factors
        case Reset(qubit, pauli):
            return ((qubit, pauli),)
    raise AssertionError("operations come from rotations, measurements and resets")


def _half_turns(step: Step) -> float:
    return step.half_turns if isinstance(step, Rotate) else 0.0
