"""Expectation values: the plan for a sampler's bits and, with them, the path of each shot.

An EXP_VAL of a Pauli P is treated as a measurement of P that leaves the state alone. The forward sweep
applies the deferred rotations that P needs, and notes P as a Pauli of the coefficient vector. The backward
sweep takes the sign of P as an output: faults, outcomes and coins flip it as they would flip the outcome of a
measurement.

The expectation value on the coefficient vector depends on the *path* of the shot alone: on the signs of the
rotations and the outcomes of the measurements before it. These are bits of an effect (an outcome is a further
sign, which only it flips), so that the plan of a sampler reports the path in the way of outputs, and every
engine can sample it. The values of a path are those of a simulation with the signs and the outcomes of the
path (``native/rates/set_laws/path_expectations.h``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..._native import PathExpectations
from ...base.memory import memory_is_a_limit
from ..plan import SamplingPlan, SparseRows
from .algebra.gf2 import ones
from .compiled_circuit import CompiledCircuit, swept_forward
from .plans.plan_construction import construct_plan, operation_array, schedule, term_array
from .plans.requested_outputs import RequestedOutputs, needed_operations
from .plans.width_limit import check_width
from .sweeps.backward_sweep import backward_sweep
from .sweeps.effects import EffectTable, Outputs
from .sweeps.forward_sweep import ExpectedPauli
from .sweeps.operations import Operation, OperationKind


@dataclass(frozen=True)
class ExpectationPlan:
    """A plan that reports paths, and what computes the expectation values of a path."""

    # the plan. Its outputs are the requested ones, then the signs of the expectation values that can be
    # different from 0, then the bits of the path
    plan: SamplingPlan
    num_requested: int
    signed: npt.NDArray[np.intp]  # the numbers of the expectation values that have a sign
    num_path_bits: int
    num_expectations: int
    # float64, shape (num_expectations,): the values of those that are the same on all paths
    fixed: npt.NDArray[np.float64]
    evaluated: npt.NDArray[np.intp]  # the numbers of the others
    paths: PathExpectations  # computes their values on paths, before signs

    def values(self, paths: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        """The expectation values on each path, a row of bits, before signs."""
        found = np.tile(self.fixed, (len(paths), 1))
        evaluated = self.paths.evaluate(paths.astype(np.uint8).ravel())
        # Without bits, all paths are the same.
        rows = len(paths) if self.num_path_bits else 1
        found[:, self.evaluated] = evaluated.reshape(rows, len(self.evaluated))
        return found


class ExpectationCircuit:
    """A circuit after both sweeps, with its expectation values."""

    def __init__(self, compiled: CompiledCircuit) -> None:
        compiled.check_plan()
        self._compiled = compiled
        with memory_is_a_limit():
            decides = bool(compiled.program.decisions)
            self._program, quantum = swept_forward(
                compiled.circuit, with_expectations=True, with_decisions=decides
            )
            assert quantum is not None  # no records switch blocks
            self._quantum = quantum
        self._tables: dict[Outputs, EffectTable] = {}

    @property
    def num_expectations(self) -> int:
        """Number of expectation values."""
        return len(self._quantum.expectations)

    def detector_plan(
        self,
        requested: RequestedOutputs,
        *,
        skip_reference_sample: bool = False,
        raw: int = 0,
        max_active_coordinates: int,
    ) -> ExpectationPlan:
        """The plan for detectors and observables; see ``CompiledCircuit.detector_plan``."""
        self._check_width(max_active_coordinates)
        table = self._table("detectors")
        constant = table.base_outputs
        if not skip_reference_sample:
            constant ^= self._compiled.reference_detectors(max_active_coordinates) & ~raw
        return self._plan(table, requested, constant)

    def record_plan(self, *, reference: int = 0, max_active_coordinates: int) -> ExpectationPlan:
        """The plan for records; see ``CompiledCircuit.record_plan``."""
        self._check_width(max_active_coordinates)
        table = self._table("records")
        requested = RequestedOutputs.of(range(self._program.num_records))
        return self._plan(table, requested, table.base_outputs ^ reference)

    def _table(self, outputs: Outputs) -> EffectTable:
        if outputs not in self._tables:
            with memory_is_a_limit():
                self._tables[outputs] = backward_sweep(self._program, self._quantum, outputs)
        return self._tables[outputs]

    def _check_width(self, max_active_coordinates: int) -> None:
        check_width(
            max((operation.largest_width for operation in self._quantum.operations), default=0),
            max_active_coordinates,
            what="The circuit with its expectation values",
            narrower="Or ask for fewer expectation values.",
        )

    @cached_property
    def _before_last(self) -> list[Operation]:
        """The operations before the last expectation value that depends on the coefficient vector."""
        places = [value.place for value in self._quantum.expectations if not value.is_zero]
        return self._quantum.operations[: max(places, default=0)]

    def _plan(self, table: EffectTable, requested: RequestedOutputs, constant: int) -> ExpectationPlan:
        with memory_is_a_limit():
            values = self._quantum.expectations
            signed = [k for k, value in enumerate(values) if not value.is_zero]
            first_value, first_outcome = table.num_outputs - len(values), table.num_outputs + table.num_signs
            table = _with_outcomes_as_signs(table)
            flipped = _flipped_bits(table)
            path = [
                (operation, bit)
                for operation in self._before_last
                if (bit := _bit_of(operation, table.num_outputs, first_outcome)) in flipped
            ]
            reported = [*requested.reported, *(first_value + k for k in signed), *(bit for _, bit in path)]
            extended = RequestedOutputs.of(reported, requested.postselected)
            needed = needed_operations(self._quantum.operations, table.outcomes, extended)
            plan = construct_plan(table, needed, schedule(needed, table), extended, constant)
        return ExpectationPlan(
            plan,
            num_requested=len(requested.reported),
            signed=np.array(signed, dtype=np.intp),
            num_path_bits=len(path),
            num_expectations=len(values),
            fixed=np.array([_fixed_value(value) for value in values], dtype=np.float64),
            evaluated=np.array(
                [k for k, value in enumerate(values) if _depends_on_path(value)], dtype=np.intp
            ),
            paths=_path_expectations(
                self._before_last,
                [operation for operation, _ in path],
                [value for value in values if _depends_on_path(value)],
            ),
        )


def _with_outcomes_as_signs(table: EffectTable) -> EffectTable:
    """The table with a further sign for each outcome, which the outcome alone flips."""
    first = table.num_outputs + table.num_signs
    more = len(table.outcomes)
    own = first + np.arange(more, dtype=np.int32)
    starts, bits = table.outcomes.starts, table.outcomes.bits
    outcomes = SparseRows(starts + np.arange(more + 1), np.insert(bits, starts[1:], own))

    def moved(rows: SparseRows) -> SparseRows:
        """Rows in which the bits behind those of signs have more room before them."""
        return SparseRows(rows.starts, np.where(rows.bits < first, rows.bits, rows.bits + np.int32(more)))

    behind = table.constant >> first << first
    return replace(
        table,
        num_signs=table.num_signs + more,
        outcomes=outcomes,
        constant=table.constant ^ behind | behind << more,
        noise=replace(table.noise, effects=moved(table.noise.effects)),
        coins=moved(table.coins),
        leakage=replace(table.leakage, effects=moved(table.leakage.effects)),
        decisions=moved(table.decisions),
        readouts=replace(table.readouts, effects=moved(table.readouts.effects)),
    )


def _bit_of(operation: Operation, first_sign: int, first_outcome: int) -> int:
    """The bit of an effect that is the sign of a ROTATE or the outcome of a MEASURE; -1 for an ACTIVATE."""
    if operation.measures:
        return first_outcome + operation.outcome
    return first_sign + operation.terms[0].sign if operation.kind == OperationKind.ROTATE else -1


def _flipped_bits(table: EffectTable) -> set[int]:
    """The bits of an effect that any cause flips: the others are 0 in every shot."""
    return set(np.union1d(table.causes.bits, table.outcomes.bits).tolist()).union(ones(table.constant))


class _PathSteps(NamedTuple):
    """Operations up to the last expectation value, as in a plan; their signs are bits of the path."""

    operations: npt.NDArray[np.void]
    rotation_terms: npt.NDArray[np.void]


def _path_expectations(
    operations: Sequence[Operation], path: Sequence[Operation], values: Sequence[ExpectedPauli]
) -> PathExpectations:
    asked = iter([*values, None])
    value = next(asked)
    steps: list[Operation] = []
    width = 0
    for place in range(len(operations) + 1):
        while value is not None and value.place == place:
            pivot = (value.x or value.z).bit_length() - 1
            steps.append(Operation(OperationKind.EXPECT, width, value.x, value.z, value.i_power, pivot))
            value = next(asked)
        for operation in operations[place : place + 1]:
            steps.append(operation)
            width += (operation.kind == OperationKind.ACTIVATE) - operation.measures
    terms = [term for operation in operations for term in operation.terms]
    bits = {operation.terms[0].sign: k for k, operation in enumerate(path) if not operation.measures}
    array = operation_array(steps)
    array["outcome"][array["kind"] == OperationKind.EXPECT] = range(len(values))
    return PathExpectations(_PathSteps(array, term_array(terms, bits)), len(path))


def _depends_on_path(value: ExpectedPauli) -> bool:
    return not value.is_zero and bool(value.x | value.z)


def _fixed_value(value: ExpectedPauli) -> float:
    """The value of a Pauli that does not depend on the path; 0 for others."""
    if value.is_zero or value.x | value.z:
        return 0.0
    return 1.0 if value.i_power == 0 else -1.0
