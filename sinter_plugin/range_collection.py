"""Collects statistics of tasks from workers that take ranges of shots: the loop, and what becomes a row."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import sinter

from .ordered_ranges import OrderedRanges
from .range_jobs import RangeCounts, RangeJob, TaskPackage
from .range_start import start_of
from .statistics.shot_ranges import ShotRange

__all__ = ["CollectionTask", "RangeCollection", "Workers", "WorkersLostError"]

_TICK_SECONDS = 0.5
_JOB_SECONDS = 5.0
_JOBS_PER_SLOT = 2  # so that a worker has its next job when it is done
_SAVE_SECONDS = (1.0, 60.0)  # between two rows of a task: a tenth of the run so far, within these limits


class WorkersLostError(RuntimeError):
    """No worker can be reached any more, or a job has ended several of them."""


class Workers(Protocol):
    """Those who do the jobs."""

    def num_slots(self) -> int:
        """The number of jobs that they can do at the same time; 0 while there is no worker."""
        ...

    def start(self, package: TaskPackage, job: RangeJob, done: Callable[[int], None]) -> int:
        """Starts a job, and returns its number. The number is passed to ``done`` when the job is done."""
        ...

    def result(self, number: int) -> RangeCounts:
        """What came out of a job that is done. To be called once.

        Raises:
            WorkersLostError: The job was lost and will not come back.
        """
        ...

    def cancel(self, numbers: Sequence[int]) -> None:
        """Drops jobs, as far as they have not begun."""
        ...


@dataclass
class CollectionTask:
    """A task of a run.

    Attributes:
        task: The task, with its decoder and its error model.
        package: What workers get of it.
        ranges: Its shots.
        start: The statistics that there were before.
        saved: How far the accepted shots are in rows already.
    """

    task: sinter.Task
    package: TaskPackage
    ranges: OrderedRanges
    start: sinter.AnonTaskStats
    saved: sinter.AnonTaskStats = field(default_factory=sinter.AnonTaskStats)
    saved_at: float = 0.0

    def own_counts(self, seed: int) -> dict[str, int]:
        """The range of the saved shots, as ``custom_counts`` have it."""
        shots = self.saved.shots
        return {ShotRange(seed, self.ranges.first, self.ranges.first + shots).key: shots} if shots else {}

    def new_row(self, seed: int) -> sinter.TaskStats | None:
        """The row of what was accepted since the last one; None if there is nothing new."""
        accepted = self.ranges.accepted
        shots = accepted.shots - self.saved.shots
        if not shots:
            return None
        end = self.ranges.end_of_accepted
        custom_counts = accepted.custom_counts - self.saved.custom_counts
        custom_counts[ShotRange(seed, end - shots, end).key] = shots
        row = sinter.TaskStats(
            strong_id=self.task.strong_id(),
            decoder=self.task.decoder,
            json_metadata=self.task.json_metadata,
            shots=shots,
            errors=accepted.errors - self.saved.errors,
            discards=accepted.discards - self.saved.discards,
            seconds=accepted.seconds - self.saved.seconds,
            custom_counts=custom_counts,
        )
        self.saved = accepted
        return row


class RangeCollection:
    """A run over some tasks.

    Args:
        workers: Those who do the jobs.
        seed: The seed of the run.
        on_row: Called with each new row.
        on_tick: Called twice per second, and at the end.
        max_seconds: The run ends after that. Shots that are under way then are dropped.
        job_seconds: How long a job should take, about.
    """

    def __init__(
        self,
        workers: Workers,
        *,
        seed: int,
        on_row: Callable[[sinter.TaskStats], None],
        on_tick: Callable[[RangeCollection], None] = lambda run: None,
        max_seconds: float | None = None,
        job_seconds: float | None = None,
    ) -> None:
        self._workers = workers
        self._on_row = on_row
        self._on_tick = on_tick
        self._max_seconds = max_seconds
        self._job_seconds = job_seconds or _JOB_SECONDS
        if max_seconds is not None:
            self._job_seconds = min(self._job_seconds, max_seconds / 20)
        self._done: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._under_way: dict[int, CollectionTask] = {}
        self._started = time.monotonic()
        self.seed = seed
        self.tasks: list[CollectionTask] = []
        self.is_out_of_time = False
        self.num_slots = 0

    def add(
        self,
        task: sinter.Task,
        package: TaskPackage,
        existing: sinter.AnonTaskStats,
        *,
        shard: tuple[int, int],
        max_shots: int | None,
        max_errors: int | None,
        error_key: str | None,
    ) -> None:
        """Adds a task.

        Args:
            task: The task.
            package: What workers get of it.
            existing: Statistics that there are already.
            shard: Which part of the shots, counted from 1, and how many parts there are.
            max_shots: The number of shots to end with, including existing ones, or None.
            max_errors: The number of errors to end with, including existing ones, or None.
            error_key: The custom count that ``max_errors`` limits instead, or None.

        Raises:
            ValueError: The existing shots of the seed do not begin where this run begins.
        """
        start = start_of(
            existing,
            seed=self.seed,
            shard=shard,
            max_shots=max_shots,
            max_errors=max_errors,
            error_key=error_key,
        )
        ranges = OrderedRanges(
            first=start.first,
            end=start.end,
            job_seconds=self._job_seconds,
            wanted=start.wanted,
            error_key=error_key,
        )
        self.tasks.append(CollectionTask(task, package, ranges, existing))

    def run(self) -> None:
        """Runs until all tasks are done, or the time is up. Accepted shots are saved whatever happens.

        Raises:
            WorkersLostError: The workers were lost.
            ValueError: A worker could not sample a circuit, as could any other error of a sampler.
        """
        try:
            while not self._is_done():
                self._hand_out()
                self._take_results()
                self._save(at_end=False)
                self._on_tick(self)
        finally:
            self._workers.cancel(list(self._under_way))
            self._save(at_end=True)
            self._on_tick(self)

    def _is_done(self) -> bool:
        if self._max_seconds is not None:
            self.is_out_of_time = time.monotonic() - self._started >= self._max_seconds
        return self.is_out_of_time or all(task.ranges.is_done for task in self.tasks)

    def _hand_out(self) -> None:
        self.num_slots = self._workers.num_slots()
        for task in self.tasks:
            while len(self._under_way) < _JOBS_PER_SLOT * self.num_slots:
                job = task.ranges.next_job(self.num_slots)
                if job is None:
                    break
                number = self._workers.start(task.package, job, self._done.put)
                self._under_way[number] = task

    def _take_results(self) -> None:
        """Waits for a result, at most for a tick, and takes all that are there."""
        timeout: float | None = _TICK_SECONDS
        while True:
            try:
                number = self._done.get(block=timeout is not None, timeout=timeout)
            except queue.Empty:
                return
            timeout = None
            task = self._under_way.pop(number, None)
            if task is None:
                continue  # it was cancelled
            task.ranges.record(self._workers.result(number))
            if not task.ranges.num_handed_out:
                self._drop([other for other, its_task in self._under_way.items() if its_task is task])

    def _drop(self, numbers: Sequence[int]) -> None:
        """Drops the jobs of a task behind the end of its run."""
        for number in numbers:
            del self._under_way[number]
        self._workers.cancel(numbers)

    def _save(self, *, at_end: bool) -> None:
        now = time.monotonic()
        shortest, longest = _SAVE_SECONDS
        pause = min(max(shortest, (now - self._started) / 10), longest)
        for task in self.tasks:
            if at_end or task.ranges.is_done or now - task.saved_at >= pause:
                row = task.new_row(self.seed)
                if row is not None:
                    task.saved_at = now
                    self._on_row(row)
