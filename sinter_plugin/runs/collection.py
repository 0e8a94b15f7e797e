"""``collect``: collects statistics of tasks from workers that count ranges of shots."""

from __future__ import annotations

import contextlib
import math
import os
import pathlib
import queue
import secrets
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from typing import Any

import sinter

from stim_nonclifford.base.arguments import (
    MOST_SHOTS,
    check_types,
    flag,
    integer,
    integer_or_none,
    iterable,
    path,
    positive_or_none,
    refuse_argument,
    seed_of,
    text,
)

from ..samplers.by_name import check_error_key, sampler_named
from ..samplers.task_sampler import TaskSampler
from ..samplers.tasks import completed_task
from ..statistics.csv_rows import read_rows
from ..statistics.shot_ranges import ShotRange, with_joined_ranges
from ..statistics.statistics_file import StatisticsFile, sums_of
from .executors import local_executor, lost_workers, num_slots_of
from .jobs import Job, PackedTask, run_job
from .progress import ProgressLine, say
from .schedule import ShotSchedule, resumed_schedule, seeds_in

TIME_IS_UP = "The time is up."
"""The status of a run that ``max_seconds`` has ended."""

_TICK_SECONDS = 0.5
_LOOK_SECONDS = 2.0  # between two looks at the number of workers
_JOB_SECONDS = 5.0
_JOBS_PER_SLOT = 2  # so that a worker has its next job when it is done
_SAVE_SECONDS = (1.0, 60.0)  # between two rows of a task: a tenth of the run so far, within these limits
_GRACE_SECONDS = 0.5
_GRACE = 0.05  # of max_seconds


def collect(
    tasks: Iterable[sinter.Task],
    *,
    executor: Executor | None = None,
    num_workers: int | None = None,
    seed: int | None = None,
    shard: tuple[int, int] = (1, 1),
    max_shots: int | None = None,
    max_errors: int | None = None,
    max_seconds: float | None = None,
    count_observable_error_combos: bool = False,
    count_detection_events: bool = False,
    decoders: Iterable[str] | str | None = None,
    custom_decoders: Mapping[str, Any] | None = None,
    custom_error_count_key: str | None = None,
    max_batch_seconds: float | None = None,
    save_resume_filepath: str | pathlib.Path | None = None,
    existing_data_filepaths: Iterable[str | pathlib.Path] = (),
    print_progress: bool = False,
    progress_callback: Callable[[sinter.Progress], None] | None = None,
) -> list[sinter.TaskStats]:
    r"""Collects statistics as ``sinter.collect`` does, on processes of this machine or any other workers.

    Workers count ranges of numbered shots. What a shot is depends on the seed of the run, the ``strong_id``
    of the task and the number of the shot alone. Ranges are accepted in the order of their numbers. So the
    counts of a seed are the same for any number of workers, and if workers die, or if the run is interrupted
    and resumed.

    Args:
        tasks: The tasks; see ``sinter_plugin.task``.
        executor: Who counts: an executor of ``concurrent.futures`` or with its interface, such as
            ``client.get_executor()`` of a ``distributed.Client``, or mpi4py's ``MPIPoolExecutor``. Its
            workers need this package, and the decoders that are used. None: processes of this machine.
        num_workers: The number of jobs that run at the same time. None: as many as the executor says, and on
            this machine one for each core.
        seed: Seed of the shots, in range(2**64). None: that of the saved statistics if they have one, and
            otherwise entropy of the operating system. It is in the rows.
        shard: Which part of the shots is counted, counted from 1, and how many parts there are.
        max_shots: Every task ends with so many shots, including those that are there already; with several
            parts, the number of shots of all parts.
        max_errors: Every task ends with the block of 1024 shots, counted from shot 0, in which it has so many
            errors, including those that are there already.
        max_seconds: The run ends so long after the first worker has started, with the shots that it has then.
            Ranges get shorter towards its end. The first range of shots is waited for, with the preparation
            of its decoder, so that a short run has shots, too.
        count_observable_error_combos: Whether all samplers count combinations of wrong observables, beside
            those that have this setting.
        count_detection_events: Whether all samplers count detection events, beside those that have this
            setting.
        decoders: Names of samplers for the tasks that name none, such as ``"soft_postselect"``.
        custom_decoders: Further samplers of this package by name, and decoders: any ``sinter.Decoder``
            decodes shots of this package, and the rows of the decoder ``"mine"`` have the name
            ``"soft_mine"``.
        custom_error_count_key: Lets ``max_errors`` apply to a custom count, such as ``"survivors"``. A count
            that the sampler does not have is refused.
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
        WorkersLostError: Workers died, or can no longer be reached. What was accepted is saved.
        StatisticsFileError: Statistics can no longer be saved.
        FileInUseError: Another run saves to the file.

    Examples:
        >>> import stim
        >>> from sinter_plugin import task
        >>> circuit = stim.Circuit.generated(
        ...     "repetition_code:memory", distance=3, rounds=2, before_round_data_depolarization=0.1
        ... )
        >>> tasks = [task(circuit, decoder="soft_pymatching")]
        >>> [stats] = collect(tasks, num_workers=1, seed=1, max_shots=10_000)
        >>> stats.shots, stats.custom_counts["seed=1 shots=0:10000"]
        (10000, 10000)
    """
    if executor is not None and not callable(getattr(executor, "submit", None)):
        refuse_argument("executor", "a concurrent.futures.Executor or None", executor)
    tasks = list(iterable(tasks, "tasks", "an iterable of sinter.Task"))
    for each in tasks:
        check_types(each, "Each of tasks", "a sinter.Task", sinter.Task)
    num_workers = integer_or_none(num_workers, "num_workers", 1)
    seed = None if seed is None else seed_of(seed)
    if not isinstance(shard, tuple | list) or len(shard) != 2:
        refuse_argument("shard", "a tuple of two numbers", shard)
    num_parts = integer(shard[1], "The number of parts in shard", 1)
    shard = (integer(shard[0], "The part in shard", 1, num_parts), num_parts)
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
    existing_paths = [
        path(each, "Each of existing_data_filepaths")
        for each in iterable(existing_data_filepaths, "existing_data_filepaths", "paths")
    ]
    if progress_callback is not None and not callable(progress_callback):
        refuse_argument("progress_callback", "a function or None", progress_callback)
    counts = {}
    if flag(count_observable_error_combos, "count_observable_error_combos"):
        counts["count_observable_error_combos"] = True
    if flag(count_detection_events, "count_detection_events"):
        counts["count_detection_events"] = True
    unique = _with_samplers(tasks, names, custom_decoders or {}, counts, custom_error_count_key)
    existing = _rows_of(existing_paths, save_resume_filepath)
    with contextlib.ExitStack() as stack:
        save_file = None
        if save_resume_filepath is not None:
            save_file = StatisticsFile(pathlib.Path(save_resume_filepath), say=say)
            existing += stack.enter_context(save_file).rows
        if executor is None:
            executor = stack.enter_context(local_executor(num_workers or os.cpu_count() or 1))
        before = {key: row.to_anon_stats() for key, row in sums_of(existing).items()}
        drawn = seed is None
        if seed is None:
            found = set().union(*(seeds_in(before[key]) for key in unique.keys() & before.keys()))
            [seed] = found if len(found) == 1 else [secrets.randbits(53)]
        job_seconds = max_batch_seconds or _JOB_SECONDS
        if max_seconds is not None:
            job_seconds = min(job_seconds, max_seconds / 20)
        run_name = uuid.uuid4().hex
        counted = []
        for key, (task, sampler) in unique.items():
            limits = task.collection_options.combine(
                sinter.CollectionOptions(max_shots=max_shots, max_errors=max_errors)
            )
            if limits.max_shots is None and limits.max_errors is None and max_seconds is None:
                raise ValueError("The run would never end: give max_shots, max_errors or max_seconds.")
            there = before.get(key, sinter.AnonTaskStats())
            try:
                schedule = resumed_schedule(there, limits, seed, shard, custom_error_count_key, job_seconds)
                packed = PackedTask.of(sampler, task, seed, run_name)
            except ValueError as error:
                raise ValueError(f"Task {task.json_metadata!r}: {error}") from None
            counted.append(_CountedTask(task, packed, schedule, there, seed))
        if drawn and print_progress:
            say(f"The seed of the shots is {seed}.")
        run = _Run(
            executor,
            num_workers,
            math.inf if max_seconds is None else max_seconds,
            save_file,
            ProgressLine() if print_progress else None,
            progress_callback or (lambda progress: None),
            counted,
        )
        return run.run()


def _with_samplers(
    tasks: Iterable[sinter.Task],
    names: Sequence[str],
    custom: Mapping[str, Any],
    counts: dict[str, Any],
    error_key: str | None,
) -> dict[str, tuple[sinter.Task, TaskSampler[Any]]]:
    """The complete tasks, one for each name of a sampler if they name none, with these, by ``strong_id``."""
    found = {}
    for task in tasks:
        own = names if task.decoder is None else [task.decoder]
        if not own:
            raise ValueError(
                f"The task {task.json_metadata!r} names no decoder. Name one in the task, or in the argument"
                " decoders."
            )
        for decoder in own:
            name, sampler = sampler_named(decoder, custom)
            sampler = replace(sampler, **counts)
            complete = completed_task(task, name)
            check_error_key(error_key, sampler, complete.circuit.num_observables)
            found[complete.strong_id()] = complete, sampler
    return found


def _rows_of(
    paths: Iterable[str | pathlib.Path], save_path: str | pathlib.Path | None
) -> list[sinter.TaskStats]:
    """The rows of files that are only read."""
    found = []
    for each in map(pathlib.Path, paths):
        if save_path is not None and pathlib.Path(save_path).is_file() and each.samefile(save_path):
            raise ValueError(
                f"existing_data_filepaths: {each} is also the file of save_resume_filepath: its rows would be"
                " counted twice. Leave it out of existing_data_filepaths."
            )
        found += [row.stats for row in read_rows(each.read_bytes(), str(each))]
    return found


@dataclass
class _CountedTask:
    """A task of a run."""

    task: sinter.Task
    packed: PackedTask  # the task as workers get it
    schedule: ShotSchedule  # hands out its shots, and has what was accepted
    before: sinter.AnonTaskStats  # what was there before
    seed: int
    saved_at: float = 0.0  # when it was last saved

    def accepted(self) -> sinter.TaskStats:
        """What was accepted in this run."""
        return self._row(self.schedule.accepted, self.schedule.first)

    def new(self) -> sinter.TaskStats:
        """What was accepted since the last call."""
        new, self.schedule.new = self.schedule.new, sinter.AnonTaskStats()
        return self._row(new, self.schedule.end_of_accepted - new.shots)

    def total(self) -> sinter.TaskStats:
        """Everything, with what was there before."""
        return self._row(self.before + self.accepted().to_anon_stats(), None)

    def _row(self, stats: sinter.AnonTaskStats, first: int | None) -> sinter.TaskStats:
        """Statistics of this task; with the entry for shots from a first one on, if there are some."""
        counts = stats.custom_counts.copy()
        if first is not None and stats.shots:
            counts[ShotRange(self.seed, first, first + stats.shots).key] = stats.shots
        return sinter.TaskStats(
            strong_id=self.task.strong_id(),
            decoder=self.task.decoder,
            json_metadata=self.task.json_metadata,
            shots=stats.shots,
            errors=stats.errors,
            discards=stats.discards,
            seconds=stats.seconds,
            custom_counts=with_joined_ranges(counts),
        )


@dataclass
class _Run:
    """Ranges of shots of some tasks are counted by an executor, and saved by this process alone."""

    executor: Executor
    num_workers: int | None
    max_seconds: float
    save_file: StatisticsFile | None
    progress: ProgressLine | None
    on_rows: Callable[[sinter.Progress], None]
    tasks: list[_CountedTask]

    def __post_init__(self) -> None:
        self._done: queue.SimpleQueue[Future[sinter.AnonTaskStats]] = queue.SimpleQueue()
        self._under_way: dict[Future[sinter.AnonTaskStats], tuple[_CountedTask, Job]] = {}
        self._started = time.monotonic()
        self._deadline: float | None = None
        self._num_slots = self.num_workers or 0
        self._looked_at = float("-inf")

    def run(self) -> list[sinter.TaskStats]:
        """Runs until all tasks are done, or the time is up. Accepted shots are saved whatever happens."""
        try:
            self._start_clock()
            while not self._is_done():
                if self._seconds_left() > 0:
                    self._hand_out()
                elif self._has_shots():  # jobs that no worker has begun are taken back
                    self._drop(each for each in self._under_way if not each.running() and each.cancel())
                self._take_results()
                self._save(at_end=False)
                self._show(at_end=False)
        finally:
            self._drop(self._under_way)
            self._save(at_end=True)
            self._show(at_end=True)
        if not all(task.schedule.is_done for task in self.tasks):
            self.on_rows(sinter.Progress(new_stats=(), status_message=TIME_IS_UP))
        return [task.total() for task in self.tasks]

    def _start_clock(self) -> None:
        """Sets the deadline as soon as a worker is there: its imports are not part of the time."""
        if self.max_seconds == math.inf or all(task.schedule.is_done for task in self.tasks):
            return
        is_there = threading.Event()
        with lost_workers(self.executor):
            answer = self.executor.submit(int)
            answer.add_done_callback(lambda _: is_there.set())
            while not is_there.wait(_TICK_SECONDS):
                waited = time.monotonic() - self._started
                if waited > self.max_seconds and num_slots_of(self.executor) == 0:
                    answer.cancel()
                    break  # a cluster without workers
            else:
                answer.result()
        self._deadline = time.time() + self.max_seconds

    def _seconds_left(self) -> float:
        return math.inf if self._deadline is None else self._deadline - time.time()

    def _is_done(self) -> bool:
        # Workers that stop at the deadline have some time to say what they have found.
        grace = min(_GRACE_SECONDS, _GRACE * self.max_seconds) if self._under_way else 0.0
        if self._seconds_left() + grace <= 0 and (self._has_shots() or not self._under_way):
            return True
        return all(task.schedule.is_done for task in self.tasks)

    def _has_shots(self) -> bool:
        """Whether a range of this run was accepted."""
        return any(task.schedule.accepted.shots for task in self.tasks)

    def _hand_out(self) -> None:
        if self.num_workers is None and time.monotonic() - self._looked_at > _LOOK_SECONDS:
            self._num_slots = num_slots_of(self.executor)  # Dask's workers come and go
            self._looked_at = time.monotonic()
        for task in self.tasks:
            while len(self._under_way) < _JOBS_PER_SLOT * self._num_slots:
                job = task.schedule.next_job(self._num_slots)
                if job is None:
                    break
                with lost_workers(self.executor):
                    timed = replace(job, deadline=self._deadline)
                    future = self.executor.submit(run_job, task.packed, timed)
                self._under_way[future] = task, job
                future.add_done_callback(self._done.put)

    def _take_results(self) -> None:
        """Waits for a result, at most for a tick, and takes all that are there."""
        timeout = max(min(_TICK_SECONDS, self._seconds_left()), _GRACE_SECONDS / 20)
        with contextlib.suppress(queue.Empty):
            future = self._done.get(timeout=timeout)
            while True:
                self._take(future)
                future = self._done.get(block=False)

    def _take(self, future: Future[sinter.AnonTaskStats]) -> None:
        if future not in self._under_way:
            return  # it was dropped
        task, job = self._under_way.pop(future)
        with lost_workers(self.executor):
            stats = future.result()
        task.schedule.record(job, stats)
        if not task.schedule.num_handed_out:  # what is under way is behind the end of its run
            self._drop(each for each, (its_task, _) in self._under_way.items() if its_task is task)

    def _drop(self, futures: Iterable[Future[sinter.AnonTaskStats]]) -> None:
        for future in list(futures):
            del self._under_way[future]
            with contextlib.suppress(OSError, TimeoutError, RuntimeError):  # of a connection that was lost
                future.cancel()

    def _save(self, *, at_end: bool) -> None:
        now = time.monotonic()
        shortest, longest = _SAVE_SECONDS
        pause = min(max(shortest, (now - self._started) / 10), longest)
        due = [
            task
            for task in self.tasks
            if task.schedule.new.shots and (at_end or task.schedule.is_done or now - task.saved_at >= pause)
        ]
        if due and self.save_file is not None:
            self.save_file.save([task.accepted() for task in due])
        for task in due:
            task.saved_at = now
            self.on_rows(sinter.Progress(new_stats=(task.new(),), status_message=""))

    def _show(self, *, at_end: bool) -> None:
        if self.progress is not None:
            self.progress.show(self._text, at_end=at_end)

    def _text(self, duration: str) -> str:
        """How far the run is."""
        is_open = [task for task in self.tasks if not task.schedule.is_done]
        shots = sum(task.schedule.accepted.shots for task in self.tasks)
        parts = [
            f"{len(self.tasks) - len(is_open)} of {len(self.tasks)} tasks done",
            f"{self._num_slots} workers" if self._num_slots != 1 else "1 worker",
            f"{shots:.3g} shots in {duration}",
        ]
        if is_open:
            row = is_open[0].total()
            parts.append(
                f"{row.decoder} {row.json_metadata}: {row.shots:.4g} shots, {row.discards:.4g} discarded,"
                f" {row.errors} errors"
            )
        return "; ".join(parts)
