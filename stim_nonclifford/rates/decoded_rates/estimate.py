"""From circuits and decoders to logical error rates, one circuit after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ...base.errors import ResourceLimitError
from ..decoding.classifying import Classifier
from ..decoding.decoding_processes import DecodingProcesses
from ..estimation.deadline import Deadline, TimeIsOver
from ..estimation.interval import COVERAGE
from ..estimation.tally import WRONG
from ..results import LogicalErrorRate
from ..results.logical_error_rate import FaultSets
from ..samplers.strata import Stratum
from .accepted_rate import accepted_rate
from .fault_number_search import FaultNumberSearch
from .fault_number_sum import FaultNumberSum
from .faults.mechanisms import FaultModel, fault_model, seed_words
from .questions import AcceptedQuestion, Goal

if TYPE_CHECKING:
    from ..budget.failing_sets import FailureStudy
    from ..results import DecodedFailure
    from ..results.error_budget import ErrorBudget, Grouping

__all__ = ["decoded_rates"]

_REPEATED = 1024
"""Shots that are decoded once more, if there is no limit on the time. Doubled, a decoder that
is random in one of 200 answers is found out as surely as now in one of 100: with 99.99%."""


def decoded_rates(
    circuits: Sequence[AcceptedQuestion],
    goal: Goal,
    seed: int,
    report: Callable[[str], None],
    threads: int = 1,
) -> list[LogicalErrorRate]:
    """The logical error rates of circuits, each independent of the others.

    Raises:
        ResourceLimitError: There is no estimate within the limit on the time, or no failing shot is found.
        ValueError: A decoder returned something else than predictions, or is not deterministic.
    """
    overall = Deadline(goal.max_seconds, goal.begun)
    with DecodingProcesses([circuit.decoder.predict for circuit in circuits], threads - 1) as processes:
        shared = []
        for k, circuit in enumerate(circuits):
            decoder = replace(circuit.decoder, predict=processes.shared(k))
            shared.append(replace(circuit, decoder=decoder))
        found = []
        for circuit, deadline in zip(shared, overall.shares(len(shared)), strict=True):
            estimate = _rate_of if circuit.decodes_all_shots else accepted_rate
            found.append(estimate(circuit, goal, seed, report, deadline))
        return found


def _check_repeats(
    classifier: Classifier, decoder: str, max_seconds: float | None, deadline: Deadline
) -> None:
    """Decodes a sample once more; with a limit on the time, what takes 3% of it and 0.3 seconds."""
    answers, begun = 1, deadline.seconds
    # Twice as many take twice as long.
    while max_seconds is not None and answers < _REPEATED:
        classifier.check_repeats(decoder, answers)
        if 3 * (deadline.seconds - begun) > 0.3 + 0.03 * max_seconds:
            return
        answers *= 2
    classifier.check_repeats(decoder, _REPEATED)


def _rate_of(
    circuit: AcceptedQuestion, goal: Goal, seed: int, report: Callable[[str], None], deadline: Deadline
) -> LogicalErrorRate:
    """The logical error rate of a circuit of which all shots are kept."""
    model = fault_model(circuit.symptoms)
    classifier = Classifier(model, circuit.decoder.predict, deadline)
    has_no_orphans = circuit.decoder.finds_least_weight and model.outcomes is None
    rng = np.random.default_rng(seed_words(model, seed))
    stratum = Stratum(model)
    search = FaultNumberSearch(stratum, classifier, has_no_orphans, deadline, rng, report)
    total = search.total
    try:
        search.run(goal.relative_error)
    except TimeIsOver:
        search.count_pilot()
        if not total.is_known:
            raise ResourceLimitError(
                f"max_seconds={goal.max_seconds:g} ended the search {search.reached()}. The rate is at most"
                f" {search.upper_bound():.2g} ({COVERAGE:.0%}). Allow several times as much."
            ) from None
    _check_repeats(classifier, circuit.decoder.name, goal.max_seconds, deadline)
    if not total.rate and not total.is_exact:
        raise ResourceLimitError(
            f"The decoder {circuit.decoder.name} failed in none of {classifier.asked:,} shots, with"
            f" {stratum.numbers.mean:.3g} errors per shot: the rate is at most {search.upper_bound():.2g}"
            f" ({COVERAGE:.0%}). If it can fail, that is too rare to be found."
        )
    ratio = total.ratio()
    each = [total.ratio(WRONG + 1 + k) for k in range(model.num_observables)] or [ratio]
    study = cache(partial(_study, circuit, total, model, classifier))
    result = LogicalErrorRate(
        decoder=circuit.decoder.name,
        logical_error_rate=ratio.rate,
        standard_error=ratio.standard_error,
        interval=ratio.interval,
        coverage=COVERAGE,
        observable_rates=tuple(one.rate for one in each),
        observable_errors=tuple(one.standard_error for one in each),
        kept=1.0,
        kept_error=0.0,
        kept_and_wrong=ratio.rate,
        strata=total.strata(),
        asked_relative_error=goal.relative_error,
        seconds=deadline.seconds,
        decodes=classifier.decoded,
        notes=_notes(total),
    )
    fault_sets = FaultSets(partial(_budget, study, result), partial(_failures, study))
    return result._with(_fault_sets=fault_sets if ratio.rate else None)


def _notes(total: FaultNumberSum) -> tuple[str, ...]:
    """What else there is to say of a sum over fault numbers."""
    if total.orphans_left is None:
        return ()
    samples, least, most = total.orphans_left
    numbers = f"{least} to {most}" if least < most else f"{least}"
    return (
        f"among {samples:,} random sets of {numbers} faults, none failed without a failing set of one fault"
        " more, which backward deletion cannot reach: the interval has room for one",
    )


def _study(
    circuit: AcceptedQuestion, total: FaultNumberSum, model: FaultModel, classifier: Classifier
) -> FailureStudy:
    from ..budget.failing_sets import FailureStudy  # SciPy takes as long to import as this package

    assert circuit.fault_table is not None
    return FailureStudy(total.failing_sets(), model, classifier, circuit.fault_table())


def _budget(study: Callable[[], FailureStudy], result: LogicalErrorRate, by: Grouping) -> ErrorBudget:
    return study().budget(by, result.logical_error_rate, result.standard_error, result.interval)


def _failures(study: Callable[[], FailureStudy], count: int) -> list[DecodedFailure]:
    return study().failures(count)
