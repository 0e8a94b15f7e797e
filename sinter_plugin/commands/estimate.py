"""The command ``estimate``: logical error rates from fault sets, printed or as rows of Sinter's statistics.

No shots are taken, and so a row has none: its counts are zero. The estimate is in the metadata, and
``sinter_plugin.error_rate`` draws it. The decoder's name in such a row is ``soft_fault_sets``, so that it is
never added to counted shots. The custom count ``estimates`` is 1, which gives away a row that was added to
itself.

Circuit files, masks, metadata, the file of statistics and interrupts are treated as by the command
``collect``.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import pathlib
import secrets
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sinter
from numpy.typing import NDArray

import stim_nonclifford as snc
from stim_nonclifford.circuit.logical_states import parsed_state
from stim_nonclifford.circuit.methods.fault_set_methods import planned, rates_with_decoder
from stim_nonclifford.commands.options import masks_of
from stim_nonclifford.commands.streams import as_flags, naming, read_circuit
from stim_nonclifford.rates.decoded_rates import DecodedErrorRate, DecodedGapPoint
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import Symptoms
from stim_nonclifford.rates.decoding.decoders import decodes_kept_shots
from stim_nonclifford.rates.decoding_problems import exact_symptoms
from stim_nonclifford.rates.fault_sets import LogicalErrorRate
from stim_nonclifford.rates.fault_sets.interface import PlannedCircuit, estimate_rates, families_of
from stim_nonclifford.rates.fault_sets.search.limits import Limits
from stim_nonclifford.rates.fault_sets.uncertainty import rate_text, uncertainty_of

from ..processes.executors import CallingExecutor, WorkersLostError, dask_executor, lost_workers, num_slots_of
from ..processes.interrupts import interrupted_by_signals
from ..samplers.tasks import task
from ..statistics.csv_rows import ESTIMATE, ESTIMATES, FAULT_SETS
from ..statistics.shot_ranges import seed_of
from ..statistics.statistics_file import StatisticsFile, StatisticsFileError
from .circuit_arguments import (
    metadata_of,
    postselected_detectors,
    postselected_observables,
    with_state_check,
)
from .estimate_arguments import (
    SOFT_POSTSELECT,
    check_decoded_alone,
    chosen_decoder,
    parse_estimate_arguments,
    sinter_arguments,
)

__all__ = ["estimate"]

_GAP = "gap"

_Rate = LogicalErrorRate | DecodedErrorRate


@dataclass(frozen=True)
class _Question:
    """A circuit whose logical error rate is asked for, in a form that can be sent.

    Attributes:
        circuit: The circuit.
        detectors: bool, shape (num_detectors,): the postselected detectors; None for all, or with a decoder
            for none.
        observables: bool, shape (num_observables,): the postselected observables; None for none.
        decoder: The decoder that is told all detectors, or its name; None: there is none.
        confidence: Whether rates are asked for as a curve over the decoder's gap.
        state_check: The state that is checked in the decoded frame; None: observables are.
        skip_reference_sample: Whether outputs are raw parities, and not flips of the reference sample.
    """

    circuit: snc.Circuit
    detectors: NDArray[np.bool_] | None
    observables: NDArray[np.bool_] | None
    decoder: Any = None
    confidence: bool = False
    state_check: Any = None
    skip_reference_sample: bool = False

    def planned(self) -> PlannedCircuit:
        """The circuit, compiled."""
        return planned(
            self.circuit,
            "all" if self.detectors is None else self.detectors,
            self.observables,
            skip_reference_sample=self.skip_reference_sample,
        )


@dataclass(frozen=True)
class _Job:
    """A question, and what its row says beside the answer."""

    path: str
    question: _Question
    planned: PlannedCircuit | None
    symptoms: Symptoms | None
    num_observables: int
    metadata: dict[str, Any]
    strong_id: str

    @property
    def mean_events(self) -> float:
        """The mean number of errors of a shot, by which circuits with the same ones are compared."""
        if self.planned is not None:
            return self.planned.plan().mean_events
        return sum(self.symptoms.probabilities.values()) if self.symptoms is not None else 0.0


def estimate(arguments: Sequence[str], program: str = "python -m sinter_plugin") -> int:
    """Runs the command.

    Args:
        arguments: The arguments, without the program's name and ``estimate``.
        program: The program's name.

    Returns:
        The exit code: 0 for success, 130 if the user interrupted the run, 1 if fault sets are the wrong tool
        for a circuit, or if a row could not be saved.

    Raises:
        ValueError: An argument, a circuit or a mask is wrong.
        OSError: A file cannot be read or written.
        SystemExit: ``argparse`` ended the command, for example after ``--help``.
    """
    args = parse_estimate_arguments(arguments, program)
    sinter_args = sinter_arguments(args)
    sinter_args.custom_decoders = sinter_args.custom_decoders or {}
    for name in ("postselect", "state_check", "confidence", "skip_reference_sample"):
        setattr(sinter_args, name, getattr(args, name))
    check_decoded_alone(args, sinter_args.custom_decoders)
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_: _say(
            f"{program} estimate: warning: {as_flags(str(message))}"
        )
        try:
            stack.enter_context(interrupted_by_signals())
            circuits = [(path, read_circuit(path)) for path in args.circuits]
            asked = [(*each, decoder) for each in circuits for decoder in args.decoders]
            jobs = {job.strong_id: job for job in (_job(*each, sinter_args) for each in asked)}
            save_file = None
            if args.save_resume_filepath is not None:
                path = pathlib.Path(args.save_resume_filepath)
                save_file = stack.enter_context(StatisticsFile(path, say=_say))
            executor: Executor = CallingExecutor()
            if args.dask is not None:
                executor = stack.enter_context(dask_executor(args.dask, args.threads))
            if args.out is not None:
                file = stack.enter_context(open(args.out, "w", encoding="utf-8"))
                stack.enter_context(contextlib.redirect_stdout(file))
            return _Run(args, save_file, executor).run(list(jobs.values()))
        except KeyboardInterrupt:
            _say("\nInterrupted. Run the same command again to continue with the circuits that are left.")
            return 130
        except WorkersLostError as error:
            _say(f"\n{error} Run the same command again to continue with the circuits that are left.")
            return 1
        except StatisticsFileError as error:
            _say(f"\n{error}")
            return 1


class _Run:
    """A run of the command, with its arguments and its file."""

    def __init__(
        self, args: argparse.Namespace, save_file: StatisticsFile | None, executor: Executor
    ) -> None:
        self._args = args
        self._save_file = save_file
        self._executor = executor
        self._seed = secrets.randbits(53) if args.seed is None else args.seed
        self._known: dict[str, dict[str, Any]] = {}  # estimates in the file, by strong_id
        if save_file is not None:
            for row in save_file.rows:
                if row.decoder == FAULT_SETS:
                    self._known[row.strong_id] = row.json_metadata[ESTIMATE]
        self._header_printed = False
        self._has_failed = False

    def run(self, jobs: Sequence[_Job]) -> int:
        jobs = self._without_done(jobs)
        groups = collections.deque(_groups_of(jobs))
        under_way: dict[Future[Sequence[_Rate]], list[_Job]] = {}
        slots = max(1, num_slots_of(self._executor))
        num_started = 0
        while groups or under_way:
            while groups and len(under_way) < slots:
                group = groups.popleft()
                num_started += 1
                others = f" and {len(group) - 1} that differ in noise strength only" if len(group) > 1 else ""
                number = f"{num_started}/{num_started + len(groups) + len(under_way)}"
                self._show(f"[{number}] {group[0].path}{others}")
                under_way[self._started(group)] = group
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                groups.extendleft(self._taken(under_way.pop(future), future))
        return 1 if self._has_failed else 0

    def _without_done(self, jobs: Sequence[_Job]) -> list[_Job]:
        """The circuits that the file does not have with a small enough error."""
        left = []
        for job in jobs:
            facts = self._known.get(job.strong_id)
            if facts is not None and _is_enough(facts, self._args):
                self._show(f"{job.path}: {_shown(facts)} (in the file already)")
            else:
                left.append(job)
        return left

    def _seed_of(self, group: Sequence[_Job]) -> int:
        # The draws are made for the strongest noise. What is asked for beside it must not change them.
        if self._args.prints_text:
            return self._seed  # so that the number is that of Circuit.logical_error_rate
        return seed_of(_strongest(group).strong_id, self._seed) >> 11  # every program can read 53 bits

    def _started(self, group: Sequence[_Job]) -> Future[Sequence[_Rate]]:
        args = self._args
        limits = Limits(args.relative_error, args.max_seconds, args.max_bytes)
        questions = [job.question for job in group]
        progress = args.dask is None and not args.quiet
        progress = progress and (not args.prints_text or sys.stderr.isatty())
        with lost_workers(self._executor):
            return self._executor.submit(
                _estimated, questions, limits, self._seed_of(group), args.threads, progress
            )

    def _taken(self, group: list[_Job], future: Future[Sequence[_Rate]]) -> list[list[_Job]]:
        """Saves the estimates of a group; returns the groups that are to be estimated instead of it."""
        try:
            with lost_workers(self._executor):
                found = future.result()
        except (snc.ResourceLimitError, ValueError) as error:
            if len(group) > 1:  # What is too much for the strongest noise may do for the others.
                strongest = _strongest(group)
                return [[job for job in group if job is not strongest], [strongest]]
            self._has_failed = True
            _say(f"{group[0].path}: {as_flags(str(error))}")
            return []
        for job, rate in zip(group, found, strict=True):
            seconds, seed = rate.seconds / len(group), self._seed_of(group)
            if self._args.prints_text:
                self._print(str(rate))
                if self._args.error_budget is not None:
                    self._print(f"\n{rate.error_budget(self._args.error_budget)}")
            curve = rate.gap_curve if isinstance(rate, DecodedErrorRate) else ()
            # The row of all kept shots comes last: if it is there, the curve is complete.
            for point in reversed(curve):
                self._save(_at_gap(job, point.gap), point, rate.coverage, seconds, seed)
            if not curve:  # as without --confidence, or where nothing is ever wrong
                self._save(job, rate, rate.coverage, seconds, seed)
        return []

    def _save(
        self, job: _Job, rate: _Rate | DecodedGapPoint, coverage: float, seconds: float, seed: int
    ) -> None:
        facts = {
            "kept": rate.kept,
            "kept_and_wrong": rate.kept_and_wrong,
            "logical_error_rate": rate.logical_error_rate,
            "standard_error": rate.standard_error,
            "interval": list(rate.interval),
            "coverage": coverage,
            "seconds": round(seconds, 3),
            "seed": seed,
            "asked_relative_error": self._args.relative_error,
            "asked_max_seconds": self._args.max_seconds,
        }
        if isinstance(rate, LogicalErrorRate) and job.num_observables > 1:
            facts["error_patterns"] = {
                "".join("_E"[pattern >> k & 1] for k in range(job.num_observables)): probability
                for pattern, probability in sorted(rate.error_patterns.items())
            }
        gap = f", gap {job.metadata[_GAP]} and more" if job.question.confidence else ""
        self._show(f"{job.path}{gap}: {_shown(facts)}")
        known = self._known.get(job.strong_id)
        if known is not None and not _is_narrower(facts, known):
            self._show("The row in the file stays, as its interval is as narrow.")
            return
        stats = sinter.TaskStats(
            strong_id=job.strong_id,
            decoder=FAULT_SETS,
            json_metadata={**job.metadata, ESTIMATE: facts},
            seconds=seconds,
            custom_counts=collections.Counter({ESTIMATES: 1}),
        )
        if self._save_file is not None:
            self._save_file.save([stats], replacing=True)
        prints_rows = self._save_file is None and not self._args.prints_text
        if prints_rows or self._args.also_print_results_to_stdout:
            if not self._header_printed:
                self._print(sinter.CSV_HEADER)
            self._header_printed = True
            self._print(stats.to_csv_line())

    def _print(self, text: str) -> None:
        try:
            print(text, flush=True)
        except OSError as error:
            error.filename = self._args.out or "standard output"
            raise

    def _show(self, message: str) -> None:
        if not self._args.quiet and (not self._args.prints_text or self._save_file is not None):
            _say(message)


def _say(message: str) -> None:
    with contextlib.suppress(OSError):  # the terminal may have been closed
        print(message, file=sys.stderr, flush=True)


def _is_enough(facts: dict[str, Any], args: argparse.Namespace) -> bool:
    """Whether an estimate has the error that is asked for, or has been asked for as much before."""
    rate = facts["logical_error_rate"]
    uncertainty = uncertainty_of(rate, facts["standard_error"], facts["interval"])
    if rate and uncertainty <= args.relative_error * rate:
        return True
    had_seconds = facts["asked_max_seconds"]
    had_as_long = had_seconds is None or (args.max_seconds is not None and args.max_seconds <= had_seconds)
    return bool(facts["asked_relative_error"] <= args.relative_error and had_as_long)


def _is_narrower(facts: dict[str, Any], known: dict[str, Any]) -> bool:
    """Whether an estimate has a smaller error than a known one.

    Much smaller: of two estimates that have cost the same, it must not decide which one happens to be lower.
    """
    (low, high), (known_low, known_high) = facts["interval"], known["interval"]
    return bool(high - low < 0.9 * (known_high - known_low))


def _shown(facts: dict[str, Any]) -> str:
    rate, standard_error = facts["logical_error_rate"], facts["standard_error"]
    text = rate_text(rate, standard_error, facts["interval"], facts["coverage"])
    text = f"logical error rate per kept shot {text}; kept {facts['kept']:.8g}"
    if (
        rate
        and uncertainty_of(rate, standard_error, facts["interval"]) > rate * facts["asked_relative_error"]
    ):
        text += f"; a relative error of {facts['asked_relative_error']:g} was out of reach, or of time"
    return text


def _job(path: str | None, circuit: snc.Circuit, name: str | None, args: argparse.Namespace) -> _Job:
    shown_path = "standard input" if path is None else path
    with naming(path):
        check: Any = None if args.state_check is None else parsed_state(args.state_check)
        if check is not None and not decodes_kept_shots(args.custom_decoders.get(name, name)):
            circuit = circuit.with_logical_readout(check)
        if circuit.num_observables == 0:
            raise ValueError(
                "The circuit has no observables, so there is no logical error. Declare an observable with"
                " OBSERVABLE_INCLUDE."
            )
        stim_circuit = circuit.to_stim()
        metadata = metadata_of(stim_circuit, shown_path, args)
        if args.state_check is not None:
            metadata = with_state_check(metadata, args.state_check)
        if not isinstance(metadata, dict) or ESTIMATE in metadata:
            raise ValueError(
                f'--metadata_func must yield a dictionary without the key "{ESTIMATE}", which the estimate is'
                f" stored under, but it yields {metadata!r}."
            )
        is_decoded = name not in (None, SOFT_POSTSELECT)
        if args.postselect is not None:
            detectors, observables = masks_of(args, circuit)
        else:
            discards_on_all = None if is_decoded else FAULT_SETS
            detectors = postselected_detectors(stim_circuit, metadata, args, discards_on_all=discards_on_all)
            observables = postselected_observables(circuit.num_observables, metadata, args)
        if name is not None and is_decoded:
            if observables is not None:
                raise ValueError(
                    f"--decoders {name} predicts all observables. Postselect detectors only; or count errors:"
                    f" `collect` with soft_{name.removeprefix('soft_')}."
                )
            if detectors is not None and not detectors.any():
                detectors = None
            decoder = chosen_decoder(name, args.custom_decoders, confidence=args.confidence)
            return _decoded_job(
                shown_path, circuit, (name, decoder), metadata, detectors, args.confidence, check
            )
        if args.state_check is not None and observables is not None:
            raise ValueError("--state_check takes the place of the observables. Postselect detectors only.")
        if detectors is None and name is None:
            planned(circuit, None, observables)  # which refuses a circuit with detectors
        if args.postselect == ["all"]:
            detectors = None  # in the task, as with soft_postselect: the same question has the same row
        if args.skip_reference_sample:
            metadata = {**metadata, "skip_reference_sample": True}
        strong_id = task(
            circuit,
            decoder=FAULT_SETS,
            postselection_mask=detectors,
            postselected_observables_mask=observables,
            json_metadata=metadata,
        ).strong_id()
        question = _Question(
            circuit, detectors, observables, skip_reference_sample=args.skip_reference_sample
        )
        asked = question.planned()
        asked.plan()
        return _Job(shown_path, question, asked, None, circuit.num_observables, metadata, strong_id)


def _decoded_job(
    path: str,
    circuit: snc.Circuit,
    named_decoder: tuple[str, Any],
    metadata: dict[str, Any],
    detectors: NDArray[np.bool_] | None,
    confidence: bool,
    check: Any,
) -> _Job:
    """A circuit that is decoded; its metadata name the decoder and, with ``confidence``, the least gap."""
    name, decoder = named_decoder
    for key, argument in (("decoder", "--decoders"), *[(_GAP, "--confidence")] * confidence):
        if key in metadata:
            raise ValueError(f'--metadata_func must not yield the key "{key}", as {argument} does.')
    metadata = {**metadata, "decoder": name}
    question = _Question(circuit, detectors, None, decoder, confidence, check)
    symptoms = None if decodes_kept_shots(decoder) else exact_symptoms(circuit)
    job = _Job(path, question, None, symptoms, circuit.num_observables, metadata, "")
    return _at_gap(job, 0) if confidence else _identified(job)


def _at_gap(job: _Job, gap: int) -> _Job:
    """The job whose row has the rate of shots with at least some gap."""
    return _identified(replace(job, metadata={**job.metadata, _GAP: gap}))


def _identified(job: _Job) -> _Job:
    asked = job.question
    named = task(
        asked.circuit,
        decoder=FAULT_SETS,
        postselection_mask=asked.detectors,
        json_metadata=job.metadata,
    )
    return replace(job, strong_id=named.strong_id())


def _groups_of(jobs: Sequence[_Job]) -> list[list[_Job]]:
    """The jobs that share work, together. Decoded circuits are computed one by one."""
    planned_jobs = [(job, job.planned.plan()) for job in jobs if job.planned is not None]
    groups = [
        [planned_jobs[k][0] for k in family] for family in families_of([plan for _, plan in planned_jobs])
    ]
    return groups + [[job] for job in jobs if job.planned is None]


def _strongest(group: Sequence[_Job]) -> _Job:
    return max(group, key=lambda job: (job.mean_events, job.strong_id))


def _estimated(
    questions: Sequence[_Question], limits: Limits, seed: int, threads: int, progress: bool
) -> Sequence[_Rate]:
    """Estimates a group, here or in a worker."""
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        with contextlib.suppress(ValueError):  # this is no worker of Dask, which has threads of its own
            threads = distributed.get_worker().state.nthreads
    decoder = questions[0].decoder
    if decoder is None:
        return estimate_rates([each.planned() for each in questions], limits, seed, threads, progress)
    circuits = [each.circuit for each in questions]
    return rates_with_decoder(
        circuits,
        decoder,
        limits,
        seed,
        threads,
        progress,
        postselection_mask=questions[0].detectors,
        confidence=questions[0].confidence,
        state_check=questions[0].state_check,
    )
