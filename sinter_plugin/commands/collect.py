"""``python -m sinter_plugin collect``: ``sinter collect`` for circuits with T gates.

The command takes the arguments of ``sinter collect``, and calls ``sinter_plugin.collect``. It reads bare
gates and tags, knows the samplers of this plugin, and reports wrong input in one line. Unlike in Sinter 1.16,
observable 0 can be the only postselected one, and detectors may lack a fourth coordinate.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import warnings
from collections.abc import Sequence
from typing import Any

import sinter

import stim_nonclifford as snc
from stim_nonclifford.rates.decoding.decoders import decoder_named, known_decoders

from ..runs.collection import TIME_IS_UP
from ..runs.collection import collect as collect_tasks
from ..runs.executors import dask_executor, local_executor
from ..runs.progress import say
from ..samplers.by_name import sampler_named
from ..samplers.soft_postselect import SoftPostselectSampler, check_soft_postselect
from ..samplers.task_sampler import TaskSampler
from ..samplers.tasks import task
from ..statistics.row_warnings import RANDOM_DECODER, RANDOM_DECODER_REMEDY
from .arguments import metadata_of, parse_own_arguments, postselected_detectors, postselected_observables
from .endings import RowPrinter, exit_code_of
from .sinter_internals import parse_collect_arguments


def collect(arguments: Sequence[str]) -> int:
    """Runs the command."""
    own, others = parse_own_arguments(arguments)
    for name in known_decoders():
        if f"soft_{name}" in (own.decoders or ()):
            decoder_named(name)  # says what to install, where Sinter would say that there is no such decoder
    # Sinter would accept its own decoders only.
    args = parse_collect_arguments([*others, "--decoders", "vacuous"] if own.decoders else others)
    vars(args).update(vars(own))
    args.custom_decoders = args.custom_decoders or {}
    for name in ("max_batch_size", "allowed_cpu_affinity_ids"):
        if getattr(args, name) is not None:
            raise ValueError(
                f"--{name} has no meaning here: workers choose their batches, and the system their"
                " cores. Leave it out."
            )
    if args.shard is not None and args.max_shots is None:
        raise ValueError("--shard needs --max_shots, the number of shots of all parts together.")
    if args.shard is not None and args.max_errors is not None:
        raise ValueError(
            "--shard and --max_errors do not go together, as the parts know nothing of each other's errors."
            " Leave out --max_errors, or use --dask."
        )
    samplers = _with_arguments(args)
    num_workers = os.cpu_count() or 1
    if args.processes != "auto":
        if not args.processes.isdigit() or int(args.processes) < 1:
            raise ValueError(f'--processes must be a positive integer or "auto", not {args.processes!r}.')
        num_workers = int(args.processes)
    tasks = [_task_of_file(path, args, samplers) for path in args.circuits]
    return exit_code_of(lambda: _collected(tasks, args, num_workers), "continue from the saved statistics")


def _collected(tasks: Sequence[sinter.Task], args: argparse.Namespace, num_workers: int) -> int:
    news = _News(args)
    workers = local_executor(num_workers) if args.dask is None else dask_executor(args.dask, num_workers)
    try:
        with workers as executor:
            collect_tasks(
                tasks,
                executor=executor,
                seed=args.seed,
                shard=args.shard or (1, 1),
                max_shots=args.max_shots,
                max_errors=args.max_errors,
                max_seconds=args.max_seconds,
                decoders=args.decoders,
                custom_decoders=args.custom_decoders,
                custom_error_count_key=args.custom_error_count_key,
                max_batch_seconds=args.max_batch_seconds,
                save_resume_filepath=args.save_resume_filepath,
                existing_data_filepaths=args.existing_data_filepaths,
                print_progress=not args.quiet,
                progress_callback=news.show,
            )
    except (NotImplementedError, snc.ResourceLimitError, snc.EngineUnavailableError) as error:
        raise ValueError(f"A worker could not sample a circuit: {error}") from error
    if news.is_time_up:
        say("The time is up. Run the same command again to continue from the saved statistics.")
    return 0


def _with_arguments(args: argparse.Namespace) -> list[TaskSampler[Any]]:
    """The samplers with what the arguments say. Warnings come from this process, not from the workers."""
    named = dict(sampler_named(name, args.custom_decoders) for name in args.decoders)
    args.decoders = list(named)
    names = ("count_observable_error_combos", "count_detection_events")
    changes: dict[str, Any] = {each: True for each in names if getattr(args, each)}
    if args.state_check is not None:
        changes["state_check"] = args.checked_state
    samplers = []
    for name, sampler in named.items():
        if args.state_check is not None and sampler.state_check is not None:
            raise ValueError(f"The sampler {name} has a state check already. Leave out --state_check.")
        samplers.append(dataclasses.replace(sampler, **changes))
        args.custom_decoders[name] = dataclasses.replace(samplers[-1], warn=False)
    return samplers


def _task_of_file(path: str, args: argparse.Namespace, samplers: Sequence[TaskSampler[Any]]) -> sinter.Task:
    """The task of a circuit, which is checked; says once what the workers would all warn of."""
    try:
        circuit = snc.Circuit.from_file(path)
        discards_on_all = any(isinstance(sampler, SoftPostselectSampler) for sampler in samplers)
        if discards_on_all:  # before Sinter's arguments are applied to it
            check_soft_postselect(circuit, args.checked_state)
        stim_circuit = circuit.to_stim()
        metadata = metadata_of(stim_circuit, path, args)
        detectors = postselected_detectors(
            stim_circuit, metadata, args, discards_on_all="soft_postselect" if discards_on_all else None
        )
        observables = postselected_observables(circuit.num_observables, metadata, args)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for sampler in samplers:
                sampler.check(circuit, detectors, observables)
        for message in dict.fromkeys(str(each.message) for each in caught):
            say(f"{path}: {message}")
        return task(
            circuit,
            postselection_mask=detectors,
            postselected_observables_mask=observables,
            json_metadata=metadata,
        )
    except (ValueError, NotImplementedError, snc.ResourceLimitError) as error:
        raise ValueError(f"{path}: {error}") from error


class _News:
    """Says what is new, and prints new rows if the arguments ask for it."""

    def __init__(self, args: argparse.Namespace) -> None:
        prints = args.also_print_results_to_stdout or args.save_resume_filepath is None
        self._printer = RowPrinter() if prints else None
        self.is_time_up = False
        self._said: set[str] = set()

    def show(self, progress: sinter.Progress) -> None:
        self.is_time_up = self.is_time_up or progress.status_message == TIME_IS_UP
        for stats in progress.new_stats:
            if RANDOM_DECODER in stats.custom_counts and stats.strong_id not in self._said:
                self._said.add(stats.strong_id)
                say(
                    f"{stats.decoder} {stats.json_metadata}: the decoder answers equal detection events"
                    f" differently. {RANDOM_DECODER_REMEDY}"
                )
            if self._printer is not None:
                self._printer.show(stats)
