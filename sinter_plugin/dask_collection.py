"""``collect_on_dask``: collects statistics of tasks on a Dask cluster."""

from __future__ import annotations

import contextlib
import pathlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import sinter

from stim_nonclifford.base.arguments import (
    MOST_SHOTS,
    check_types,
    flag,
    integer_or_none,
    iterable,
    path,
    positive_or_none,
    refuse_argument,
    seed_of,
    text,
)

from .dask_workers import DaskWorkers
from .range_run import RangeRun, sampler_of
from .soft_decoding import SoftDecodingSampler, decoding_samplers
from .soft_postselect import SoftPostselectSampler
from .statistics.file_lock import other_file_advice
from .statistics.statistics_file import StatisticsFile
from .tasks import with_error_model

__all__ = ["collect_on_dask"]


def collect_on_dask(
    client: Any,
    tasks: Iterable[sinter.Task],
    *,
    seed: int | None = None,
    max_shots: int | None = None,
    max_errors: int | None = None,
    max_seconds: float | None = None,
    decoders: Iterable[str] | str | None = None,
    custom_decoders: Mapping[str, SoftPostselectSampler | SoftDecodingSampler] | None = None,
    custom_error_count_key: str | None = None,
    max_batch_seconds: float | None = None,
    save_resume_filepath: str | pathlib.Path | None = None,
    existing_data_filepaths: Iterable[str | pathlib.Path] = (),
    print_progress: bool = False,
    progress_callback: Callable[[sinter.Progress], None] | None = None,
) -> list[sinter.TaskStats]:
    r"""Collects statistics as ``sinter.collect`` does, on the workers of a Dask cluster.

    Workers take ranges of numbered shots. What a shot is depends on the seed of the run, the ``strong_id`` of
    the task and the number of the shot alone. Ranges are accepted in the order of their numbers. So the
    counts are the same for any number of workers, and if workers die, or if the run is interrupted and
    resumed.

    Args:
        client: A ``distributed.Client`` of the cluster. Its workers need this package, and the decoders that
            are used.
        tasks: The tasks; see ``sinter_plugin.task``.
        seed: Seed of the shots, in range(2**64). None: that of the saved statistics if they have one, and
            otherwise entropy of the operating system.
        max_shots: Every task ends with so many shots, including those that are there already.
        max_errors: Every task ends with the block of 1024 shots, counted from shot 0, in which it has so many
            errors, including those that are there already.
        max_seconds: The run ends after that, whatever it has then.
        decoders: Names of samplers for the tasks that name none, such as ``"soft_postselect"``.
        custom_decoders: Further samplers by name. Only samplers of this package can take ranges of shots.
        custom_error_count_key: Lets ``max_errors`` apply to a custom count, such as ``"survivors"``.
        max_batch_seconds: How long a range of shots should take, about. A worker that dies loses so much of
            its time. By default 5 seconds.
        save_resume_filepath: A file to save statistics to, and to continue from.
        existing_data_filepaths: Files with further statistics that count towards the limits.
        print_progress: Whether to show progress on standard error.
        progress_callback: Called with new statistics.

    Returns:
        The statistics of each task, including those that were there already.

    Raises:
        ValueError: An argument, a task or a file is wrong, or a worker could not sample a circuit.
        WorkersLostError: The scheduler was lost, or several workers died over the same shots. What was
            accepted is saved.

    Examples:
        >>> import distributed, stim
        >>> from sinter_plugin import task
        >>> circuit = stim.Circuit.generated(
        ...     "repetition_code:memory", distance=3, rounds=2, before_round_data_depolarization=0.1
        ... )
        >>> with distributed.Client(
        ...     processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0"
        ... ) as client:
        ...     [stats] = collect_on_dask(
        ...         client, [task(circuit, decoder="soft_pymatching")], seed=1, max_shots=10_000
        ...     )
        >>> stats.shots, stats.custom_counts["seed=1 shots=0:10000"]
        (10000, 10000)
    """
    if not hasattr(client, "submit"):
        refuse_argument("client", "a distributed.Client", client)
    tasks = list(iterable(tasks, "tasks", "an iterable of sinter.Task"))
    for each in tasks:
        check_types(each, "Each of tasks", "a sinter.Task", sinter.Task)
    seed = None if seed is None else seed_of(seed)
    max_shots = integer_or_none(max_shots, "max_shots", 0, MOST_SHOTS)
    max_errors = integer_or_none(max_errors, "max_errors", 1)
    max_seconds = positive_or_none(max_seconds, "max_seconds")
    max_batch_seconds = positive_or_none(max_batch_seconds, "max_batch_seconds")
    print_progress = flag(print_progress, "print_progress")
    names = [decoders] if isinstance(decoders, str) else []
    if decoders is not None and not names:
        names = [text(each, "Each of decoders") for each in iterable(decoders, "decoders", "names")]
    if custom_decoders is not None:
        check_types(custom_decoders, "custom_decoders", "a mapping of names to samplers", Mapping)
    if custom_error_count_key is not None:
        text(custom_error_count_key, "custom_error_count_key")
    if save_resume_filepath is not None:
        save_resume_filepath = path(save_resume_filepath, "save_resume_filepath")
    existing = [
        path(each, "Each of existing_data_filepaths")
        for each in iterable(existing_data_filepaths, "existing_data_filepaths", "paths")
    ]
    if progress_callback is not None and not callable(progress_callback):
        refuse_argument("progress_callback", "a function or None", progress_callback)
    samplers = {
        "soft_postselect": SoftPostselectSampler(),
        "soft_postselect_gpu": SoftPostselectSampler(engine="gpu"),
        **decoding_samplers(),
        **(custom_decoders or {}),
    }
    chosen = [
        with_error_model(task, decoder)
        for task in tasks
        for decoder in ([task.decoder] if task.decoder is not None else names)
    ]
    with contextlib.ExitStack() as stack:
        save_file = None
        if save_resume_filepath is not None:
            save_file = stack.enter_context(
                StatisticsFile(
                    pathlib.Path(save_resume_filepath),
                    say=lambda message: print(message, file=sys.stderr),
                    advice=other_file_advice(seed),
                )
            )
        run = RangeRun(
            DaskWorkers(client),
            [(task, sampler_of(task.decoder, samplers)) for task in chosen],
            seed=seed,
            max_shots=max_shots,
            max_errors=max_errors,
            error_key=custom_error_count_key,
            max_seconds=max_seconds,
            job_seconds=max_batch_seconds,
            existing_paths=[
                *existing,
                *([save_resume_filepath] if save_resume_filepath is not None else []),
            ],
            save_file=save_file,
            print_progress=print_progress,
        )
        if progress_callback is not None:
            run.call_with_rows(progress_callback)
        return run.run()
