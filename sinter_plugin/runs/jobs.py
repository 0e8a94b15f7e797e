"""Jobs for workers: count a range of the shots of a task.

A job has no state. What it returns depends on the task, the seed and the numbers of its shots alone, so any
worker can do it, and do it again if another one died over it.
"""

from __future__ import annotations

import functools
import pickle
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import sinter

import stim_nonclifford as snc

from ..samplers.task_sampler import CompiledSampler, TaskSampler
from ..statistics.shot_ranges import seed_of

BLOCK_SHOTS = 1024
"""A run with a limit for errors ends with a block of so many shots, counted from shot 0."""

_FIRST_SHOTS_BEFORE_A_DEADLINE = 16
_PART_SECONDS = 0.5

_MOST_SAMPLERS = 4
"""Compiled samplers that a thread keeps. Doubled, they take twice the memory; jobs are mostly of one task."""


@dataclass(frozen=True)
class PackedTask:
    """A task with its sampler, as workers get it."""

    content: bytes  # the pickled sampler, task and seed of the task
    run: str  # the run, so that Dask does not take jobs of two runs for the same

    @classmethod
    def of(cls, sampler: TaskSampler[Any], task: sinter.Task, seed: int, run: str = "") -> PackedTask:
        """A task that has its error model, in a run with a seed."""
        try:
            from cloudpickle import dumps  # which comes with Dask, and packs decoders of a script
        except ImportError:
            from pickle import dumps
        try:
            content = dumps((sampler, task, seed_of(task.strong_id(), seed)))
        except Exception as error:  # whatever its pickling raises
            raise ValueError(
                f"The sampler {task.decoder} cannot be sent to workers: {error}. Define your decoder at the"
                " top of a module."
            ) from error
        return cls(content, run)

    def compiled(self) -> CompiledSampler:
        """The compiled sampler."""
        sampler, task, seed = pickle.loads(self.content)
        try:
            compiled: CompiledSampler = sampler.compiled_range_sampler_for_task(task, seed=seed)
        except (ValueError, NotImplementedError, snc.ResourceLimitError, snc.EngineUnavailableError):
            raise
        except (Exception, SystemExit) as error:  # a decoder may raise anything
            raise ValueError(
                f"The sampler {task.decoder} failed with {type(error).__name__}: {error}. (In the task with"
                f" json_metadata={task.json_metadata!r}.)"
            ) from error
        return compiled


@dataclass(frozen=True)
class Job:
    """Shots to be counted."""

    first: int  # the number of the first shot
    shots: int  # how many shots
    # if not None, only the blocks up to the one with this error are counted. The range must have so many
    # errors
    missing_errors: int | None = None
    error_key: str | None = None  # the name of the custom count that is limited instead of errors, or None
    # when the worker stops, as ``time.time()`` says, with the shots that it has then; or None
    deadline: float | None = field(default=None, repr=False)


def run_job(packed: PackedTask, job: Job) -> sinter.AnonTaskStats:
    """Counts the first shots of a job, in a worker: all, unless the job has a limit or a deadline."""
    sampler = _samplers.of(packed)
    if job.missing_errors is None:
        return _counts_of(sampler, job, job.first, job.first + job.shots)
    return _counts_until(sampler, job, job.missing_errors)


class _Samplers(threading.local):
    """The compiled samplers of a thread: threads that shared one would wait for each other."""

    def __init__(self) -> None:
        self.of = functools.lru_cache(_MOST_SAMPLERS)(PackedTask.compiled)


_samplers = _Samplers()


def count_of(stats: sinter.AnonTaskStats, error_key: str | None) -> int:
    """The count that a limit for errors applies to."""
    return int(stats.errors if error_key is None else stats.custom_counts[error_key])


def _counts_of(sampler: CompiledSampler, job: Job, first: int, end: int) -> sinter.AnonTaskStats:
    """Counts shots, and stops near the deadline, if there is one, after parts that get shorter towards it."""
    if job.deadline is None:
        return sampler.sample_range(first, end - first)
    found = sinter.AnonTaskStats()
    shots = _FIRST_SHOTS_BEFORE_A_DEADLINE
    while found.shots < end - first:
        shots = min(shots, end - first - found.shots)
        began = time.time()
        found += sampler.sample_range(first + found.shots, shots)
        now = time.time()
        affordable = shots / max(now - began, 1e-9) * min(_PART_SECONDS, (job.deadline - now) / 2)
        if affordable < 1:
            break
        shots = min(4 * shots, int(affordable))
    return found


def _counts_until(sampler: CompiledSampler, job: Job, missing_errors: int) -> sinter.AnonTaskStats:
    """Finds the block with the last missing error by halving, which costs the shots of the range again."""
    before = sinter.AnonTaskStats()  # of the shots before ``first``, which have too few errors
    first, end = job.first, job.first + job.shots
    last = None  # the statistics of the shots from ``first`` to ``end``, if they are known
    while True:
        block, end_block = first // BLOCK_SHOTS, -(-end // BLOCK_SHOTS)
        is_last = end_block - block <= 1
        if is_last and last:
            return before + last
        middle = end if is_last else (block + end_block) // 2 * BLOCK_SHOTS
        stats = _counts_of(sampler, job, first, middle)
        if stats.shots < middle - first:
            return before  # the time was up
        if is_last:
            return before + stats
        if count_of(before + stats, job.error_key) >= missing_errors:
            end, last = middle, stats
        else:
            before, first, last = before + stats, middle, None
