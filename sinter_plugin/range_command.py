"""Runs over ranges of shots: ``collect`` with ``--dask``, ``--shard`` or ``--seed``."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator

import sinter

import stim_nonclifford as snc

from .dask_workers import DaskWorkers, dask_client
from .interrupts import interrupted_by_signals
from .local_workers import local_workers
from .range_arguments import RangeArguments
from .range_collection import Workers
from .range_run import RangeRun, sampler_of
from .statistics.statistics_file import StatisticsFile
from .tasks import with_error_model

__all__ = ["check_range_arguments", "collect_ranges"]

_WITHOUT_MEANING = ("max_batch_size", "allowed_cpu_affinity_ids")


def check_range_arguments(own: RangeArguments, args: argparse.Namespace) -> None:
    """Checks what can be checked before circuits are read.

    Args:
        own: The arguments of this command.
        args: Sinter's namespace.

    Raises:
        ValueError: Arguments contradict each other, or a sampler cannot take ranges.
    """
    for name in _WITHOUT_MEANING:
        if getattr(args, name) is not None:
            raise ValueError(f"--{name} has no meaning with --dask, --shard or --seed. Leave it out.")
    for decoder in args.decoders:
        sampler_of(decoder, args.custom_decoders)
    if own.shard is not None and args.max_shots is None:
        raise ValueError("--shard needs --max_shots, the number of shots of all parts together.")
    if own.shard is not None and args.max_errors is not None:
        raise ValueError(
            "--shard and --max_errors do not go together, as the parts know nothing of each other's errors."
            " Leave out --max_errors, or use --dask."
        )


def collect_ranges(
    tasks: list[sinter.Task],
    num_processes: int,
    own: RangeArguments,
    args: argparse.Namespace,
    save_file: StatisticsFile | None,
    on_progress: Callable[[sinter.Progress], None],
) -> None:
    """Runs the command.

    Args:
        tasks: The tasks, without decoders.
        num_processes: The number of processes on this machine, if the workers are here.
        own: The arguments of this command.
        args: Sinter's namespace.
        save_file: The file for new rows, or None.
        on_progress: Called with new rows that are to be printed.

    Raises:
        KeyboardInterrupt: The user interrupted the run, or another process sent SIGTERM or SIGHUP.
        WorkersLostError: The scheduler or the workers were lost.
        ValueError: Existing statistics do not fit the run, or a worker could not sample a circuit.
    """
    with interrupted_by_signals(), _workers(own, num_processes) as workers:
        existing = list(args.existing_data_filepaths)
        if save_file is not None:
            existing.append(args.save_resume_filepath)
        run = RangeRun(
            workers,
            [
                (with_error_model(task, decoder), sampler_of(decoder, args.custom_decoders))
                for task in tasks
                for decoder in args.decoders
            ],
            seed=own.seed,
            shard=own.shard or (1, 1),
            max_shots=args.max_shots,
            max_errors=args.max_errors,
            error_key=args.custom_error_count_key,
            max_seconds=own.max_seconds,
            job_seconds=args.max_batch_seconds,
            existing_paths=existing,
            save_file=save_file,
            print_progress=not args.quiet,
        )
        run.call_with_rows(on_progress)
        if own.seed is None and not args.quiet:
            print(f"The seed of the shots is {run.collection.seed}.", file=sys.stderr)
        try:
            run.run()
        except (NotImplementedError, snc.ResourceLimitError, snc.EngineUnavailableError) as error:
            raise ValueError(f"A worker could not sample a circuit: {error}") from None


def _workers(own: RangeArguments, num_processes: int) -> contextlib.AbstractContextManager[Workers]:
    if own.dask is None:
        return local_workers(num_processes)
    return _dask_workers(own.dask, num_processes)


@contextlib.contextmanager
def _dask_workers(where: str, num_processes: int) -> Iterator[DaskWorkers]:
    with dask_client(where, num_processes) as client:
        yield DaskWorkers(client)
