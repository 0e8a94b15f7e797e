"""The command ``estimate``: logical error rates from fault sets, printed or as rows of Sinter's statistics.

``sinter_plugin.error_rate`` draws the rows; see ``statistics.estimates``.

Circuit files, masks, metadata, the file of statistics and interrupts are treated as by the command
``collect``.
"""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import secrets
import sys
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass, replace
from typing import Any

import stim_nonclifford as snc
from stim_nonclifford.circuit.logical_states import parsed_state
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.commands.options import masks_of
from stim_nonclifford.commands.streams import as_flags, naming, read_circuit
from stim_nonclifford.rates.results import GapPoint, LogicalErrorRate

from ..runs.executors import dask_executor, lost_workers
from ..runs.progress import say
from ..samplers.by_name import checks_states, chosen_decoder
from ..samplers.tasks import task
from ..statistics.csv_rows import ESTIMATE, FAULT_SETS
from ..statistics.estimates import GAP, estimate_row, is_enough, is_narrower, shown_estimate
from ..statistics.shot_ranges import seed_of
from ..statistics.statistics_file import StatisticsFile
from .arguments import metadata_of, postselected_detectors, postselected_observables
from .endings import RowPrinter, exit_code_of, print_text
from .estimate_arguments import SOFT_POSTSELECT, parse_estimate_arguments


@dataclass(frozen=True)
class _Job:
    """A circuit whose logical error rate is asked for, and what its row says beside the answer."""

    path: str
    circuit: snc.Circuit
    asked: dict[str, Any]  # arguments of ``logical_error_rate``: the decoder, and what is postselected
    metadata: dict[str, Any]  # the metadata of its row, without the estimate
    strong_id: str = ""  # Sinter's name of the question

    def at_gap(self, gap: int) -> _Job:
        """The job whose row has the rate of shots with at least some gap."""
        return replace(self, metadata={**self.metadata, GAP: gap}).identified()

    def identified(self) -> _Job:
        """The job with its name."""
        named = task(
            self.circuit,
            decoder=FAULT_SETS,
            postselection_mask=self.asked["postselection_mask"],
            postselected_observables_mask=self.asked.get("postselected_observables_mask"),
            json_metadata=self.metadata,
        )
        return replace(self, strong_id=named.strong_id())


def estimate(arguments: Sequence[str], program: str = "python -m sinter_plugin") -> int:
    """Runs the command."""
    args = parse_estimate_arguments(arguments, program)
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_: say(
            f"{program} estimate: warning: {as_flags(str(message))}"
        )
        return exit_code_of(lambda: _estimate(args), "continue with the circuits that are left")


def _estimate(args: argparse.Namespace) -> int:
    circuits = [(path, read_circuit(path)) for path in args.circuits]
    asked = [(*each, decoder) for each in circuits for decoder in args.decoders]
    jobs = {job.strong_id: job for job in (_job(*each, args) for each in asked)}
    with contextlib.ExitStack() as stack:
        save_file = None
        if args.save_resume_filepath is not None:
            save_file = stack.enter_context(StatisticsFile(pathlib.Path(args.save_resume_filepath), say=say))
        executor = None
        if args.dask is not None:
            executor = stack.enter_context(dask_executor(args.dask, args.threads))
        if args.out is not None:
            file = stack.enter_context(open(args.out, "w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(file))
        return _Run(args, save_file, executor).run(list(jobs.values()))


@dataclass
class _Run:
    """A run of the command, with its arguments, its file and, if they are Dask's, its workers."""

    args: argparse.Namespace
    save_file: StatisticsFile | None
    executor: Executor | None

    def __post_init__(self) -> None:
        self._seed = secrets.randbits(53) if self.args.seed is None else self.args.seed
        rows = [] if self.save_file is None else self.save_file.rows
        self._known: dict[str, dict[str, Any]] = {  # estimates in the file
            row.strong_id: row.json_metadata[ESTIMATE] for row in rows if row.decoder == FAULT_SETS
        }
        self._printer = RowPrinter(self.args.out)

    def run(self, jobs: Sequence[_Job]) -> int:
        left, has_failed = [], False
        for job in jobs:
            facts = self._known.get(job.strong_id)
            if facts is not None and is_enough(facts, self.args.relative_error, self.args.max_seconds):
                self._show(f"{job.path}: {shown_estimate(facts)} (in the file already)")
            else:
                left.append(job)
        for job, rate in self._estimates(left):
            if isinstance(rate, str):
                has_failed = True
                say(f"{job.path}: {as_flags(rate)}")
                continue
            if self.args.prints_text:
                print_text(str(rate), self.args.out)
                if self.args.error_budget is not None:
                    print_text(f"\n{rate.error_budget(self.args.error_budget)}", self.args.out)
            # The row of all kept shots comes last: if it is there, the curve is complete.
            for point in reversed(rate.gap_curve):
                self._save(job.at_gap(point.gap), rate, point)
            if not rate.gap_curve:  # as without --confidence, or where nothing is ever wrong
                self._save(job, rate, None)
        return 1 if has_failed else 0

    def _estimates(self, jobs: Sequence[_Job]) -> Iterator[tuple[_Job, LogicalErrorRate | str]]:
        """Each circuit with its estimate, as soon as it is there."""
        futures: dict[Future[LogicalErrorRate | str], _Job] = {}
        for number, job in enumerate(jobs, start=1):
            self._show(f"[{number}/{len(jobs)}] {job.path}")
            if self.executor is None:
                yield job, _estimated(job.circuit, self._asked(job))
            else:
                with lost_workers(self.executor):
                    futures[self.executor.submit(_estimated, job.circuit, self._asked(job))] = job
        if self.executor is not None:
            with lost_workers(self.executor):
                yield from ((futures[future], future.result()) for future in as_completed(futures))

    def _asked(self, job: _Job) -> dict[str, Any]:
        args = self.args
        progress = args.dask is None and not args.quiet
        seed = self._seed  # so that a number that is printed is that of Circuit.logical_error_rate
        if not args.prints_text:  # what is asked for beside a circuit must not change its draws
            seed = seed_of(job.strong_id, seed) >> 11  # every program can read 53 bits
        return {
            **job.asked,
            "relative_error": args.relative_error,
            "max_seconds": args.max_seconds,
            "max_bytes": args.max_bytes,
            "seed": seed,
            "threads": args.threads,
            "progress": progress and (not args.prints_text or sys.stderr.isatty()),
        }

    def _save(self, job: _Job, rate: LogicalErrorRate, point: GapPoint | None) -> None:
        stats = estimate_row(job.strong_id, job.metadata, rate, point, self.args.max_seconds)
        facts = stats.json_metadata[ESTIMATE]
        num_observables = job.circuit.num_observables
        if rate.decoder is None and num_observables > 1:
            facts["error_patterns"] = {
                "".join("_E"[pattern >> k & 1] for k in range(num_observables)): probability
                for pattern, probability in sorted(rate.error_patterns.items())
            }
        gap = f", gap {job.metadata[GAP]} and more" if job.asked.get("confidence") else ""
        self._show(f"{job.path}{gap}: {shown_estimate(facts)}")
        known = self._known.get(job.strong_id)
        if known is not None and not is_narrower(facts, known):
            self._show("The row in the file stays, as its interval is as narrow.")
            return
        if self.save_file is not None:
            self.save_file.save([stats], replacing=[stats.strong_id])
        prints_rows = self.save_file is None and not self.args.prints_text
        if prints_rows or self.args.also_print_results_to_stdout:
            self._printer.show(stats)

    def _show(self, message: str) -> None:
        if not self.args.quiet and (not self.args.prints_text or self.save_file is not None):
            say(message)


def _job(path: str | None, circuit: snc.Circuit, name: str | None, args: argparse.Namespace) -> _Job:
    shown_path = "standard input" if path is None else path
    with naming(path):
        is_decoded = name not in (None, SOFT_POSTSELECT)
        check: Any = None if args.state_check is None else parsed_state(args.state_check)
        if check is not None and not checks_states(args.custom_decoders.get(name, name)):
            circuit = circuit.with_logical_readout(check)
        if circuit.num_observables == 0:
            raise ValueError(
                "The circuit has no observables, so there is no logical error. Declare an observable with"
                " OBSERVABLE_INCLUDE."
            )
        stim_circuit = circuit.to_stim()
        added = {ESTIMATE: "the estimate"} | ({"decoder": "the decoder"} if is_decoded else {})
        added |= {GAP: "the least gap"} if args.confidence else {}
        metadata = metadata_of(stim_circuit, shown_path, args, added)
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
            asked: dict[str, Any] = {
                "decoder": chosen_decoder(name, args.custom_decoders, confidence=args.confidence),
                "postselection_mask": detectors if detectors is not None and detectors.any() else None,
                "confidence": args.confidence,
                "state_check": check,
            }
            job = _Job(shown_path, circuit, asked, {**metadata, "decoder": name})
            return job.at_gap(0) if args.confidence else job.identified()
        if check is not None and observables is not None:
            raise ValueError("--state_check takes the place of the observables. Postselect detectors only.")
        if detectors is None and name is None:
            planned(circuit, None, observables)  # which refuses a circuit with detectors
        if args.postselect == ["all"]:
            detectors = None  # in the task, as with soft_postselect: the same question has the same row
        if args.skip_reference_sample:
            metadata["skip_reference_sample"] = True
        asked = {"postselection_mask": detectors, "postselected_observables_mask": observables}
        job = _Job(shown_path, circuit, asked, metadata).identified()
        asked |= {
            "postselection_mask": "all" if detectors is None else detectors,
            "skip_reference_sample": args.skip_reference_sample,
        }
        planned(circuit, **asked).plan()  # which refuses what has no rate, before any is computed
        return replace(job, asked=asked)


def _estimated(circuit: snc.Circuit, arguments: dict[str, Any]) -> LogicalErrorRate | str:
    """Estimates a rate, here or in a worker; a refusal stands for it."""
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        with contextlib.suppress(ValueError):  # this is no worker of Dask, which has threads of its own
            arguments = {**arguments, "threads": distributed.get_worker().state.nthreads}
    try:
        return circuit.logical_error_rate(**arguments)
    except (snc.ResourceLimitError, ValueError) as error:
        return str(error)
