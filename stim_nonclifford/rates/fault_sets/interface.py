"""From circuits to logical error rates."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ...base.errors import ResourceLimitError
from ...simulation.compiler import CompiledCircuit, RequestedOutputs
from ...simulation.plan import SamplingPlan
from ..estimation.interval import COVERAGE
from ..estimation.limits import Deadline, Settings
from ..results import LogicalErrorRate, RateStratum
from ..results.logical_error_rate import FaultSets
from ..results.strata import name_of_faults
from .search.allocation import estimate_of
from .search.estimate import Estimate
from .wrong_tool import WrongToolError, cause_of, enough_shots_text

if TYPE_CHECKING:
    from ..budget.malignant_sets import BudgetBasis

_ROUNDING = 1e-9
"""Relative error of sums of many numbers, generously."""


@dataclass(frozen=True)
class PlannedCircuit:
    """A circuit with its observables, in shots in which the postselected outputs are 0."""

    compiled: CompiledCircuit
    postselected: Collection[int]
    skip_reference_sample: bool = False  # whether outputs are raw parities, and not flips of the reference
    # the circuit as its user wrote it, with the same detectors, whose lines messages name; None: the same
    written: CompiledCircuit | None = None

    @property
    def requested(self) -> RequestedOutputs:
        """The observables, and the outputs that are postselected."""
        program = self.compiled.program
        observables = range(program.num_detectors, program.num_detectors + program.num_observables)
        return RequestedOutputs.of(observables, self.postselected)

    def plan(self) -> SamplingPlan:
        """Its plan."""
        return self.compiled.detector_plan(self.requested, skip_reference_sample=self.skip_reference_sample)

    @contextlib.contextmanager
    def naming_the_cause(self, counts: Callable[[], str] = str) -> Iterator[None]:
        """Completes the message of a search that is refused, also by what short counts of shots say."""
        try:
            yield
        except WrongToolError as error:
            sentences = [str(error), counts()]
            if error.checks_are_weak:
                written = self.written or self.compiled
                detectors = [k for k in sorted(self.postselected) if k < written.program.num_detectors]
                plan = written.detector_plan(RequestedOutputs.of([], detectors))
                sentences.append(cause_of(written, plan, detectors))
            raise ResourceLimitError(" ".join(filter(None, sentences))) from error


def estimate_rates(
    circuits: Sequence[PlannedCircuit], settings: Settings, deadline: Deadline | None = None
) -> list[LogicalErrorRate]:
    """Logical error rates of circuits, one after the other.

    Each has an equal part of the time that is left until ``deadline``, which by default begins now.
    """

    def estimated(circuit: PlannedCircuit, own: Deadline) -> LogicalErrorRate:
        plan = circuit.plan()
        with circuit.naming_the_cause(partial(enough_shots_text, plan, settings)):
            known = estimate_of(plan, settings, own)

        @cache
        def basis() -> BudgetBasis:
            # SciPy's sparse matrices take as long to import as this package.
            from ..budget.malignant_sets import BudgetBasis

            return BudgetBasis(known, circuit.compiled, plan)

        rate = rate_of(known, plan.num_outputs, settings.relative_error)
        return rate._with(_fault_sets=FaultSets(lambda by: basis().budget(by)))

    shares = (deadline or Deadline(settings.max_seconds)).shares(len(circuits))
    return [estimated(circuit, own) for circuit, own in zip(circuits, shares, strict=True)]


def rate_of(known: Estimate, num_observables: int, asked_relative_error: float) -> LogicalErrorRate:
    """The result."""
    totals, patterns = known.totals, known.error_patterns()
    flips = np.zeros(num_observables)
    for pattern, probability in patterns.items():
        flips[[k for k in range(num_observables) if pattern >> k & 1]] += probability
    strata = [
        RateStratum(
            name=name_of_faults(sets.weights[0], sets.weights[-1]),
            method=sets.method,
            probability=row.mass,
            sets=sets.sets,
            wrong=sets.sets if len(known.searches) > 1 else None,
            draws=sets.draws,
            kept=row.sums.kept,
            kept_and_wrong=row.sums.wrong,
            standard_error=row.sums.standard_error,
            least_faults=sets.weights[0],
            most_faults=sets.weights[-1],
        )
        for row in totals.rows
        for sets in [row.stratum]
    ]
    if totals.rest:
        least = totals.rows[-1].stratum.weights.stop
        name, bound = name_of_faults(least, None), totals.rest_passing
        strata.append(RateStratum(name, "bound", totals.rest, 0, 0, 0.0, 0.0, bound, least))
    low, high = totals.interval
    return LogicalErrorRate(
        decoder=None,
        logical_error_rate=totals.rate,
        standard_error=totals.standard_error,
        interval=((1 - _ROUNDING) * low, min(1.0, (1 + _ROUNDING) * high)),
        coverage=COVERAGE,
        observable_rates=tuple((flips / (totals.kept or 1.0)).tolist()),
        observable_errors=(),
        kept=totals.kept,
        kept_error=totals.kept_error,
        kept_and_wrong=totals.wrong,
        strata=tuple(strata),
        error_patterns=patterns,
        seconds=known.searches[0].deadline.seconds,
        asked_relative_error=asked_relative_error,
    )
