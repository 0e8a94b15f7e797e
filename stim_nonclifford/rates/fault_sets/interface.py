"""From circuits to logical error rates."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ...base.arguments import flag, integer, seed_of
from ...base.errors import ResourceLimitError
from ...simulation.compiler import CompiledCircuit, RequestedOutputs
from ...simulation.engines.cpu import MAX_THREADS
from ...simulation.plan import SamplingPlan
from ..estimation.interval import COVERAGE
from ..results import LogicalErrorRate, RateStratum
from ..results.logical_error_rate import FaultSets
from ..results.strata import name_of_faults
from .search.allocation import estimate_of
from .search.estimate import Estimate
from .search.limits import Limits
from .search.mechanisms import mechanisms_of
from .search.search import Search
from .short_count import naming_enough_shots
from .wrong_tool import WrongToolError, cause_of

if TYPE_CHECKING:
    from ..budget.malignant_sets import BudgetBasis
    from ..results.error_budget import ErrorBudget, Grouping

__all__ = ["PlannedCircuit", "estimate_rates", "families_of", "rate_of", "search_of"]

_ROUNDING = 1e-9
"""Relative error of sums of many numbers, generously."""

_RATES = {"rates", "count_thresholds", "alias_thresholds", "alias_indices"}


@dataclass(frozen=True)
class PlannedCircuit:
    """A circuit and what is asked of it.

    Attributes:
        compiled: The circuit, compiled.
        requested: The observables, and the outputs that are postselected.
        skip_reference_sample: Whether outputs are raw parities, and not flips of the reference sample.
        written: The circuit as its user wrote it, whose lines messages name. It has the same detectors.
    """

    compiled: CompiledCircuit
    requested: RequestedOutputs
    skip_reference_sample: bool
    written: CompiledCircuit

    @staticmethod
    def of(
        compiled: CompiledCircuit,
        postselected: Collection[int],
        *,
        skip_reference_sample: bool = False,
        written: CompiledCircuit | None = None,
    ) -> PlannedCircuit:
        """A circuit with its observables, in shots in which the postselected outputs are 0."""
        num_detectors, num_observables = compiled.program.num_detectors, compiled.program.num_observables
        observables = range(num_detectors, num_detectors + num_observables)
        requested = RequestedOutputs.of(observables, postselected)
        return PlannedCircuit(compiled, requested, skip_reference_sample, written or compiled)

    def plan(self) -> SamplingPlan:
        """Its plan."""
        return self.compiled.detector_plan(self.requested, skip_reference_sample=self.skip_reference_sample)

    @contextlib.contextmanager
    def naming_the_cause(self) -> Iterator[None]:
        """Completes the message of a search that is refused."""
        try:
            yield
        except WrongToolError as error:
            if not error.checks_are_weak:
                raise
            detectors = [k for k in self.requested.postselected if k < self.written.program.num_detectors]
            plan = self.written.detector_plan(RequestedOutputs.of([], detectors))
            cause = cause_of(self.written, plan, detectors)
            raise ResourceLimitError(f"{error} {cause}".strip()) from error


def search_of(
    plans: Sequence[SamplingPlan],
    limits: Limits,
    seed: int | None,
    threads: int,
    progress: bool,
) -> Search:
    """A search for the fault sets of plans that differ in their rates only, before anything was enumerated.

    Args:
        plans: The plans.
        limits: What it may cost.
        seed: 0 <= seed < 2^64; None: fresh entropy.
        threads: Number of threads.
        progress: Whether to print what is under way to stderr.

    Raises:
        ResourceLimitError: A plan has too many coins.
        ValueError: An argument is out of range, or no shot is ever kept.
    """
    _check_kept(plans[0])
    mechanisms = [mechanisms_of(plan) for plan in plans]
    return Search(plans[0], mechanisms, limits, *search_arguments(seed, threads, progress))


def _check_kept(plan: SamplingPlan) -> None:
    if plan.never_kept:
        raise ValueError("No shot is ever kept: the postselected detectors contradict each other.")


def search_arguments(
    seed: int | None, threads: int, progress: bool
) -> tuple[int, int, Callable[[str], None]]:
    """Checks the arguments of a search that do not limit it.

    Args:
        seed: 0 <= seed < 2^64; None: fresh entropy.
        threads: Number of threads.
        progress: Whether to print what is under way to stderr.

    Returns:
        The seed, the number of threads, and what is called with each line about what is under way.

    Raises:
        TypeError: One is of the wrong type.
        ValueError: One is out of range.
    """
    threads = integer(threads, "threads", 1, MAX_THREADS)
    report = _print_progress if flag(progress, "progress") else _say_nothing
    return seed_of(seed), threads, report


def estimate_rates(
    circuits: Sequence[PlannedCircuit],
    limits: Limits,
    seed: int | None,
    threads: int,
    progress: bool,
    begin: float | None = None,
) -> list[LogicalErrorRate]:
    """Logical error rates of circuits; those that differ in their rates only share the work.

    Args:
        circuits: The circuits.
        limits: What the estimate of each family may cost.
        seed: 0 <= seed < 2^64; None: fresh entropy.
        threads: Number of threads.
        progress: Whether to print what is under way to stderr.
        begin: When the time of the first family began, on the clock of ``time.perf_counter``; None: now.
    """
    begin = time.perf_counter() if begin is None else begin
    plans = [circuit.plan() for circuit in circuits]
    results: list[LogicalErrorRate | None] = [None] * len(plans)
    for family in families_of(plans):
        members = [plans[k] for k in family]
        _check_kept(members[0])
        # The strongest noise needs the most draws: they are made for it.
        family = sorted(family, key=lambda k: -plans[k].mean_events)
        asked = circuits[family[0]].naming_the_cause()
        strongest = plans[family[0]]
        counts = naming_enough_shots(strongest, len(family), limits.relative_error, threads)
        with asked, counts:
            mechanisms = [mechanisms_of(plans[k]) for k in family]
            arguments = search_arguments(seed, threads, progress)
            known = estimate_of(strongest, mechanisms, limits, *arguments, begin)
        begin = time.perf_counter()
        for place, k in enumerate(family):
            basis = cache(partial(_basis, known, place, circuits[k].compiled, plans[k]))
            rate = rate_of(known, place, plans[k].num_outputs, limits.relative_error)
            results[k] = rate._with(_fault_sets=FaultSets(partial(_budget, basis)))
    return [result for result in results if result is not None]


def _basis(known: Estimate, circuit: int, compiled: CompiledCircuit, plan: SamplingPlan) -> BudgetBasis:
    # SciPy's sparse matrices take as long to import as this package.
    from ..budget.malignant_sets import BudgetBasis

    return BudgetBasis(known, circuit, compiled, plan)


def _budget(basis: Callable[[], BudgetBasis], by: Grouping) -> ErrorBudget:
    return basis().budget(by)


def rate_of(
    known: Estimate, circuit: int, num_observables: int, asked_relative_error: float
) -> LogicalErrorRate:
    """The result for one of the circuits."""
    totals = known.totals(circuit)
    patterns = known.error_patterns(circuit)
    flips = np.zeros(num_observables)
    for pattern, probability in patterns.items():
        for observable in range(num_observables):
            if pattern >> observable & 1:
                flips[observable] += probability
    strata = [
        RateStratum(
            name=name_of_faults(weight, stratum.weights[-1]),
            method=stratum.method,
            probability=mass,
            sets=stratum.sets,
            wrong=stratum.sets if len(known.searches) > 1 else None,
            draws=stratum.draws,
            kept=sums.kept,
            kept_and_wrong=sums.wrong,
            standard_error=sums.standard_error,
            least_faults=weight,
            most_faults=stratum.weights[-1],
        )
        for weight, stratum, mass, sums in totals.by_weight
    ]
    if totals.rest:
        least = totals.by_weight[-1][1].weights[-1] + 1
        name = name_of_faults(least, None)
        strata.append(
            RateStratum(name, "bound", totals.rest, 0, 0, 0.0, 0.0, totals.rest_passing, least, None)
        )
    low, high = known.interval(circuit, COVERAGE)
    return LogicalErrorRate(
        decoder=None,
        logical_error_rate=totals.rate,
        standard_error=totals.standard_error,
        interval=((1 - _ROUNDING) * low, min(1.0, (1 + _ROUNDING) * high)),
        coverage=COVERAGE,
        observable_rates=tuple((flips / (totals.kept or 1.0)).tolist()),
        observable_errors=(),
        kept=totals.kept,
        kept_error=0.0,
        kept_and_wrong=totals.wrong,
        strata=tuple(strata),
        error_patterns=patterns,
        seconds=known.seconds,
        asked_relative_error=asked_relative_error,
    )


def families_of(plans: Sequence[SamplingPlan]) -> list[list[int]]:
    """Plans that differ in their rates only, by their positions."""
    families: list[list[int]] = []
    for k, plan in enumerate(plans):
        for family in families:
            if _differ_in_rates_only(plans[family[0]], plan):
                family.append(k)
                break
        else:
            families.append([k])
    return families


def _differ_in_rates_only(a: SamplingPlan, b: SamplingPlan) -> bool:
    if len(a.rates) != len(b.rates):
        return False
    same = {field.name: getattr(a, field.name) for field in fields(a) if field.name in _RATES}
    return replace(b, **same) == a


def _print_progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _say_nothing(line: str) -> None:
    del line
