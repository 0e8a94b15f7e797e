"""The cost per shot of one method of a sampler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from ...base.arguments import integer
from ...base.notebook import Diagram, preformatted, scrolled
from ...dialect import first_conditional_block
from ...simulation.compiler import CompiledCircuit
from ...simulation.compiler.program.program import Program
from ...simulation.engines import CountedCost, counted_cost
from ...simulation.plan import MAX_INDEX_BITS, SamplingPlan
from ...simulation.reduction import simulated_width
from ...simulation.sampling.requests import requested_by
from .operations import PlannedOperation, planned_operations
from .picture import width_picture
from .table import operation_table, summary, total_coefficients

PlanMethod = Literal["sample", "sample_kept", "sample_counts", "sample_measurements"]


@dataclass(frozen=True, repr=False)
class PlanReport:
    r"""The cost per shot of one method of a sampler. ``Circuit.plan`` returns it, and it prints as a table.

    Attributes:
        question: The method of the sampler, and what it postselects.
        sampling_plan: The plan of this method.
        operations: The operations, in the order in which they are applied.
        cost: What a shot costs with a plan, and if it is followed, which ``engine="auto"`` compares; None if
            it takes the plan in any case.

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
    sampling_plan: SamplingPlan
    operations: tuple[PlannedOperation, ...]
    cost: CountedCost | None = None

    @cached_property
    def widths(self) -> npt.NDArray[np.int64]:
        """The ``width`` of each operation: int64, shape (len(operations),)."""
        return np.array([operation.width for operation in self.operations], dtype=np.int64)

    @property
    def peak_width(self) -> int:
        """Largest number of active coordinates: a vector has 2^peak_width complex coefficients."""
        return self.sampling_plan.peak_width

    @property
    def dense_width(self) -> int:
        """Largest number of coordinates that a shot on the CPU has coefficients of; 0 if it needs none.

        If it is less than ``peak_width``, it depends on the signature, and is that of 65 signatures: the one
        without noise, and random ones.
        """
        return simulated_width(self.sampling_plan)

    @property
    def num_mechanisms(self) -> int:
        """Number of error mechanisms with distinct effects."""
        return self.sampling_plan.num_mechanisms

    @property
    def mean_events(self) -> float:
        """Mean number of noise events per shot."""
        return self.sampling_plan.mean_events

    @property
    def num_signature_bits(self) -> int:
        """Number n of the bits on which the outcome law depends: there are at most 2^n laws."""
        return self.sampling_plan.num_signature_bits

    @property
    def total_coefficients(self) -> int:
        """The coefficients of all operations: a measure of the work to simulate a shot from the start.

        Many shots need less. A shot that begins like earlier ones is simulated from a checkpoint. A shot is
        not simulated at all if its signature and outcomes are known, or if a noise-only check discards it.
        """
        return total_coefficients(self.operations)

    def table(self, max_rows: int = 60) -> str:
        r"""The report as text, as it is printed.

        A row combines adjacent operations of the same kind and instruction. If this gives more than
        ``max_rows`` rows, a row combines adjacent operations of the same kind. If there are still too many, a
        row combines all operations from one change between activations and measurements to the next.

        Args:
            max_rows: Largest number of rows in the table of operations.

        Returns:
            The text. ``width`` is the number of active coordinates before and after the operations of the
            row; the bar has the length of the largest width. ``±`` marks angles whose sign depends on noise
            or on earlier outcomes. A number of ``gates`` is given if several gates are one rotation.

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
        max_rows = integer(max_rows, "max_rows")
        lines = [f"What a shot costs in {self.question}", "", *summary(self.sampling_plan, self.operations)]
        if self.cost is not None:
            lines.append(str(self.cost))
        if self.operations:
            lines += ["", *operation_table(self.operations, max_rows)]
        return "\n".join(lines)

    def diagram(self) -> Diagram:
        r"""A picture of the width of the vector during a shot, with the gates that activate coordinates.

        Returns:
            An SVG. Each dot is an operation, and names its instruction if the mouse is over it.

        Examples:
            >>> import stim_nonclifford as snc
            >>> svg = snc.Circuit("RX 0 1 2\nT 0 1 2\nMPP X0*X1*X2").plan().diagram()
            >>> svg.startswith("<svg"), "T 0 1, line 2" in svg
            (True, True)
        """
        return Diagram(width_picture(f"What a shot costs in {self.question}", self.operations))

    def _repr_html_(self) -> str:
        return scrolled(self.diagram()) + preformatted(self.table())

    def __str__(self) -> str:
        return self.table()

    __repr__ = __str__


def plan_report(compiled: CompiledCircuit, method: PlanMethod, postselected: Sequence[int]) -> PlanReport:
    """The report for one method of a sampler."""
    program = compiled.program
    if program.is_switched:
        raise NotImplementedError(
            f"{first_conditional_block(compiled.circuit)}: records switch these instructions, so that shots"
            " have different operations, and there is no plan. compile_sampler() and"
            " compile_detector_sampler() follow each shot: draw some, and statistics() of the sampler says"
            " what they took."
        )
    if not program.has_plan:
        raise NotImplementedError(program.no_plan)
    if method == "sample_measurements":
        plan = compiled.record_plan(max_active_coordinates=MAX_INDEX_BITS)
        cost = counted_cost(compiled, CompiledCircuit.record_plan)
        question = "compile_sampler().sample"
    else:
        requested = requested_by(method, program.num_detectors, program.num_observables, postselected)
        # The reference sample would change only constants of the plan, which the report does not use.
        plan = compiled.detector_plan(
            requested, skip_reference_sample=True, max_active_coordinates=MAX_INDEX_BITS
        )
        wanted = requested_by("sample_kept", program.num_detectors, program.num_observables, postselected)
        cost = counted_cost(compiled, lambda each: each.detector_plan(wanted))
        question = f"compile_detector_sampler().{method}{_postselection(program, requested.postselected)}"
    return PlanReport(question, plan, planned_operations(plan, program), cost)


def _postselection(program: Program, postselected: Sequence[int]) -> str:
    if not postselected:
        return ", nothing postselected"
    num_detectors = sum(output < program.num_detectors for output in postselected)
    text = f", {num_detectors} of {program.num_detectors} detectors postselected"
    if num_detectors < len(postselected):
        text += f", {len(postselected) - num_detectors} of {program.num_observables} observables"
    return text
