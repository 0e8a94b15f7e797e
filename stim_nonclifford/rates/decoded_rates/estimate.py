"""From circuits and decoders to logical error rates, one circuit after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...base.errors import ResourceLimitError
from ..estimation.deadline import Deadline, TimeIsOver
from ..estimation.interval import COVERAGE
from ..results import LogicalErrorRate
from .answers.decoding import FailureTest, Gaps, Predict, check_answers
from .answers.decoding_processes import DecodingProcesses
from .failing.study import FailureStudy
from .faults.mechanisms import FaultModel, fault_model, seed_words
from .postselection.estimate import accepted_rate
from .postselection.questions import AcceptedQuestion
from .questions import DecodedCircuit, Goal
from .samplers.fault_numbers import FaultNumberSum

if TYPE_CHECKING:
    from ..results import DecodedFailure
    from ..results.error_budget import ErrorBudget, Grouping

__all__ = ["decoded_rates"]

_REPEATED = 1024
"""Answers that the decoder is asked for once more. If one in a hundred changes, that is seen with 99.99%.

With twice as many, one in two hundred is.
"""

_SECONDS_OF_PIECE = 0.1
"""A decoder is given as many rows at once as it decodes in this time, if there is a limit of time."""

_PART_OF_CHECK, _SECONDS_OF_CHECK = 0.03, 0.3
"""The time, at most, that asking once more may take beyond the limit."""

_GROWTH = 4
"""By how much more rows a decoder may be given than it has decoded: its first call is for one."""


def decoded_rates(
    circuits: Sequence[DecodedCircuit],
    goal: Goal,
    seed: int,
    report: Callable[[str], None],
    threads: int = 1,
) -> list[LogicalErrorRate]:
    """The logical error rates of circuits. What is asked beside a circuit does not change its rate.

    Args:
        circuits: The circuits.
        goal: When to stop.
        seed: 0 <= seed < 2^64.
        report: Is told what is under way.
        threads: Number of threads.

    Returns:
        One result for each circuit.

    Raises:
        ResourceLimitError: Nothing can be said in the time that there is, or no failing shot is found.
        ValueError: A decoder returned something else than predictions, or is not deterministic.
    """
    overall = Deadline(goal.max_seconds, goal.begun)
    with DecodingProcesses([circuit.recipe for circuit in circuits], threads - 1) as processes:
        shared = [
            replace(circuit, predict=processes.shared(k, circuit.predict))
            for k, circuit in enumerate(circuits)
        ]
        found = []
        for circuit, deadline in zip(shared, overall.shares(len(shared)), strict=True):
            if circuit.postselected or circuit.confidence:
                found.append(accepted_rate(_question_of(circuit), goal, seed, report, deadline))
            else:
                found.append(_rate_of(circuit, goal, deadline, seed, report))
        return found


def _question_of(circuit: DecodedCircuit) -> AcceptedQuestion:
    """A circuit with postselected detectors, or of which a curve over the gap is asked for."""
    mask = np.zeros(circuit.symptoms.num_detectors, dtype=np.bool_)
    mask[list(circuit.postselected)] = True
    return AcceptedQuestion(
        circuit.symptoms,
        circuit.predict,
        circuit.decoder,
        mask,
        None,
        circuit.confidence,
        circuit.matching,
    )


class _TimelyDecoder:
    """A decoder that is asked for a part of a batch at a time, until time is over.

    Args:
        predict: The decoder.
        deadline: When time is over.
    """

    def __init__(self, predict: Predict, deadline: Deadline) -> None:
        self._predict, self._deadline = predict, deadline
        self._rows, self._seconds = 0, 0.0

    def rows_in(self, seconds: float) -> int:
        """About as many rows are decoded in a time."""
        return int(seconds * self._rows / self._seconds) if self._seconds else 1

    def __call__(self, dets: npt.NDArray[np.uint8], /) -> tuple[npt.NDArray[np.uint8], Gaps]:
        """Decodes.

        Raises:
            TimeIsOver: Time was over before all was decoded.
        """
        parts, begin = [], 0
        while begin < len(dets):
            self._deadline.check()
            count = max(1, min(self.rows_in(_SECONDS_OF_PIECE), _GROWTH * self._rows))
            parts.append(self._timed(np.ascontiguousarray(dets[begin : begin + count])))
            begin += count
        predictions, gaps = zip(*parts, strict=True)
        return np.concatenate(predictions), np.concatenate(gaps)

    def end_limit(self) -> None:
        """From now on, decodes whatever time it is."""
        self._deadline = Deadline(None)

    def _timed(self, dets: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], Gaps]:
        start = time.perf_counter()
        found = self._predict(dets)
        self._seconds += time.perf_counter() - start
        self._rows += len(dets)
        return found


def _rate_of(
    circuit: DecodedCircuit,
    goal: Goal,
    deadline: Deadline,
    seed: int,
    report: Callable[[str], None],
) -> LogicalErrorRate:
    """The logical error rate of a circuit of which all shots are kept."""
    model = fault_model([circuit.symptoms])
    timely = _TimelyDecoder(circuit.predict, deadline)
    predict: Predict = circuit.predict if goal.max_seconds is None else timely
    test = FailureTest(model, predict, _REPEATED, circuit.matching)
    has_no_orphans = circuit.finds_least_weight and model.outcomes is None
    total = FaultNumberSum(model, model.log_odds[0], test, has_no_orphans)
    try:
        total.run(goal.relative_error, np.random.default_rng(seed_words(model, seed)), deadline.check, report)
    except TimeIsOver:
        total.count_pilot()
        if not total.is_known:
            raise ResourceLimitError(
                f"max_seconds={goal.max_seconds:g} ended the search {total.reached()}. The rate is at most"
                f" {total.bound():.2g} ({COVERAGE:.0%}). Allow several times as much."
            ) from None
    most = None
    if goal.max_seconds is not None:
        timely.end_limit()
        seconds = _SECONDS_OF_CHECK + _PART_OF_CHECK * goal.max_seconds
        most = max(1, min(_REPEATED, timely.rows_in(seconds)))
    check_answers(test, circuit.decoder, most)
    if not total.rate and not total.is_exact:
        raise ResourceLimitError(
            f"The decoder {circuit.decoder} failed in none of {test.asked:,} shots, with"
            f" {total.sized.mean:.3g} errors per shot: the rate is at most {total.interval[1]:.2g}"
            f" ({COVERAGE:.0%}). If it can fail, that is too rare to be found."
        )
    return _result(circuit, goal, model, test, total, deadline.seconds)


def _result(
    circuit: DecodedCircuit,
    goal: Goal,
    model: FaultModel,
    test: FailureTest,
    total: FaultNumberSum,
    seconds: float,
) -> LogicalErrorRate:
    rates, errors = total.rates.tolist(), np.sqrt(total.variances).tolist()
    one = model.num_observables == 1
    sets = total.failing_sets()
    study = FailureStudy(sets, model, model.log_odds[0], test, circuit.fault_table)
    result = LogicalErrorRate(
        decoder=circuit.decoder,
        logical_error_rate=rates[0],
        standard_error=errors[0],
        interval=total.interval,
        coverage=COVERAGE,
        observable_rates=tuple(rates[:1] if one else rates[1:]),
        observable_errors=tuple(errors[:1] if one else errors[1:]),
        kept=1.0,
        kept_error=0.0,
        kept_and_wrong=rates[0],
        strata=total.strata(),
        asked_relative_error=goal.relative_error,
        seconds=seconds,
        decodes=test.decoded,
        notes=_notes(total),
    )
    return result._with_failing_sets(_FailingSets(study, result) if rates[0] and len(sets) else None)


def _notes(total: FaultNumberSum) -> tuple[str, ...]:
    """What else there is to say of a sum over fault numbers."""
    if total.orphans_left is None:
        return ()
    samples, least, most = total.orphans_left
    numbers = f"{least} to {most}" if least < most else f"{least}"
    return (
        f"among {samples:,} random sets of {numbers} faults, none failed without a failing set of one fault"
        " more, which backward deletion cannot see: the interval has room for one",
    )


class _FailingSets:
    """The failing fault sets of a decoder, for budgets."""

    def __init__(self, study: FailureStudy, result: LogicalErrorRate) -> None:
        self._study, self._result = study, result

    def budget(self, by: Grouping) -> ErrorBudget:
        """The error budget of the rate."""
        from .failing.budget import decoded_budget  # SciPy takes as long to import as this package

        found = self._result
        return decoded_budget(self._study, by, found.logical_error_rate, found.standard_error, found.interval)

    def failures(self, count: int) -> list[DecodedFailure]:
        """The minimal failing sets, the most typical first."""
        from .failing.failures import decoded_failures

        return decoded_failures(self._study, count)
