"""The shots of one task, taken in ranges by workers in any order, and accepted in the order of their numbers.

The accepted shots are always the first ones of the run. A run with a limit for errors ends with the block of
``BLOCK_SHOTS`` shots, counted from shot 0, in which the last missing error is. Whatever workers have found
behind that is dropped. So the counts depend neither on the number of workers nor on the ranges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import sinter

from ..statistics.shot_ranges import joined_ranges, ranges_in
from .jobs import BLOCK_SHOTS, Job, count_of

_FIRST_SHOTS = BLOCK_SHOTS
_GROWTH = 16  # of a range over the largest one before: the first shots are the slowest
_SHORTER = 32  # times a job may be shorter than ``job_seconds`` at the end of a run
_WINDOW = 16  # jobs per slot that may be handed out or wait for an earlier one


@dataclass
class ShotSchedule:
    """Hands out the shots of a task as jobs, and adds up what comes back.

    Examples:
        >>> schedule = ShotSchedule(first=0, end=10_000, job_seconds=5.0)
        >>> first, nothing = schedule.next_job(slots=2), schedule.next_job(slots=2)
        >>> first, nothing  # the speed is not known yet
        (Job(first=0, shots=1024, missing_errors=None, error_key=None), None)
        >>> schedule.record(first, sinter.AnonTaskStats(shots=1024, errors=3, seconds=0.5))
        >>> schedule.next_job(slots=2).shots  # divided among the slots, in blocks
        3072
        >>> schedule.end_of_accepted, schedule.accepted.errors, schedule.is_done
        (1024, 3, False)
    """

    first: int  # the number of the first shot
    end: int | None  # the run ends before this shot; None: there is no such limit
    job_seconds: float  # of a job, about
    missing_errors: int | None = None  # the run ends with so many; None: there is no such limit
    error_key: str | None = None
    # the statistics of the first shots of the run
    accepted: sinter.AnonTaskStats = field(default_factory=sinter.AnonTaskStats)
    # the part of these that is not in a row yet
    new: sinter.AnonTaskStats = field(default_factory=sinter.AnonTaskStats)

    def __post_init__(self) -> None:
        self._next = self.first
        self._waiting: dict[int, sinter.AnonTaskStats] = {}  # by first shot
        self._handed_out: dict[int, Job] = {}  # by first shot
        self._largest = 0
        self._is_cut = self.missing_errors is not None and self.missing_errors <= 0
        self._cut_job: Job | None = None

    @property
    def end_of_accepted(self) -> int:
        """One more than the number of the last accepted shot."""
        return self.first + self.accepted.shots

    @property
    def is_done(self) -> bool:
        """Whether all shots of the run are accepted."""
        return self._is_cut or (self.end is not None and self.end_of_accepted >= self.end)

    @property
    def num_handed_out(self) -> int:
        """The number of jobs that have not come back."""
        return len(self._handed_out)

    def next_job(self, slots: int) -> Job | None:
        """The next job for workers that can do so many at the same time; None if there is none for now."""
        job, self._cut_job = self._cut_job, None
        if job is None:
            is_cutting = any(job.missing_errors is not None for job in self._handed_out.values())
            is_full = len(self._handed_out) + len(self._waiting) >= _WINDOW * slots
            is_first_out = not self.accepted.shots and self._handed_out
            if self.is_done or is_cutting or is_full or is_first_out:
                return None
            shots = self._num_shots(slots)
            if shots <= 0:
                return None
            job = Job(self._next, shots)
            self._next += shots
        self._handed_out[job.first] = job
        return job

    def record(self, job: Job, stats: sinter.AnonTaskStats) -> None:
        """Records what came back for a job."""
        if self._handed_out.pop(job.first, None) is None:
            return  # it was behind the end of the run
        self._largest = max(self._largest, stats.shots)
        self._waiting[job.first] = stats
        if job.missing_errors is not None:
            self._accept(stats)
            self._is_cut = count_of(stats, self.error_key) >= job.missing_errors  # or its time was up
            self._drop_the_rest()
        while (following := self._waiting.get(self.end_of_accepted)) is not None:
            if self.missing_errors is not None:
                missing = self.missing_errors - count_of(self.accepted, self.error_key)
                if count_of(following, self.error_key) >= missing:
                    self._cut_job = Job(self.end_of_accepted, following.shots, missing, self.error_key)
                    self._drop_the_rest()
                    return
            del self._waiting[self.end_of_accepted]
            self._accept(following)

    def _accept(self, stats: sinter.AnonTaskStats) -> None:
        self.accepted, self.new = self.accepted + stats, self.new + stats

    def _drop_the_rest(self) -> None:
        self._handed_out.clear()
        self._waiting.clear()

    def _num_shots(self, slots: int) -> int:
        """The size of the next range: whole blocks, unless the run begins or ends inside one."""
        size = float(_FIRST_SHOTS)
        if self.accepted.shots:
            speed = self.accepted.shots / max(self.accepted.seconds, 1e-9)
            longest = speed * self.job_seconds
            rest = self._shots_left() / slots
            if self.missing_errors is None:
                # Shorter and shorter towards the end, so that no worker waits long for the last one.
                rest = max(rest / 2, longest / _SHORTER)
            size = min(longest, float(_GROWTH * self._largest), rest)
        end = self._next + max(1, math.ceil(size))
        end = -(-end // BLOCK_SHOTS) * BLOCK_SHOTS
        return (end if self.end is None else min(end, self.end)) - self._next

    def _shots_left(self) -> float:
        """The number of shots that may still be needed, beyond those handed out."""
        left = math.inf if self.end is None else self.end - self._next
        if self.missing_errors is not None:
            # Rather too few than too many: what is behind the last missing error is dropped.
            found = count_of(self.accepted, self.error_key)
            per_error = self.accepted.shots / (found + 1)
            needed = (self.missing_errors - found) * per_error - (self._next - self.end_of_accepted)
            left = min(left, max(needed, self.accepted.shots / 16))
        return left


def shard_bounds(shots: int, shard: tuple[int, int]) -> tuple[int, int]:
    """The first shot and the end of one of several parts, which are as large as whole blocks allow.

    Examples:
        >>> shard_bounds(10_000, (1, 3)), shard_bounds(10_000, (2, 3)), shard_bounds(10_000, (3, 3))
        ((0, 3072), (3072, 6144), (6144, 10000))
    """
    part, parts = shard
    first, end = (shots * k // parts // BLOCK_SHOTS * BLOCK_SHOTS for k in (part - 1, part))
    return first, shots if part == parts else end


def seeds_in(existing: sinter.AnonTaskStats) -> set[int]:
    """The seeds of which the first shots are there, so that a run can go on."""
    ranges = joined_ranges(ranges_in(existing.custom_counts))
    return {one.seed for one in ranges if one.first == 0} - {one.seed for one in ranges if one.first > 0}


def resumed_schedule(
    existing: sinter.AnonTaskStats,
    limits: sinter.CollectionOptions,
    seed: int,
    shard: tuple[int, int],
    error_key: str | None,
    job_seconds: float,
) -> ShotSchedule:
    """What is left to do, given what there is; shots of other seeds, or of none, count as well."""
    own = [one for one in joined_ranges(ranges_in(existing.custom_counts)) if one.seed == seed]
    others = existing.shots - sum(one.shots for one in own)
    first, end = 0, None
    if limits.max_shots is not None:
        max_shots = limits.max_shots if shard[1] > 1 else max(limits.max_shots - others, 0)
        first, end = shard_bounds(max_shots, shard)
    if any(one.first != first for one in own) or (shard[1] > 1 and own and own[0].end > (end or 0)):
        found = ", ".join(f"{one.first} to {one.end - 1}" for one in own)
        raise ValueError(
            f"of seed {seed}, the shots {found} are counted already, but this run begins with shot {first}"
            f"{'' if end is None else f' and ends before {end}'}. Save to another file, and add the files up"
            " with `python -m sinter_plugin combine`; or choose another --seed."
        )
    missing = None if limits.max_errors is None else limits.max_errors - count_of(existing, error_key)
    return ShotSchedule(own[0].end if own else first, end, job_seconds, missing, error_key)
