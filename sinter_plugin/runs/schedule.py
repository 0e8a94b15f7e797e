"""The shots of one task, taken in ranges by workers in any order, and accepted in the order of their numbers.

The accepted shots are always the first ones of the run. A run with a limit for errors ends with the block of
``BLOCK_SHOTS`` shots, counted from shot 0, in which the last missing error is. Whatever workers have found
behind that is dropped. So the counts depend neither on the number of workers nor on the ranges.
"""

from __future__ import annotations

import math

import sinter

from .jobs import BLOCK_SHOTS, Job, JobCounts, count_of

__all__ = ["ShotSchedule"]

_FIRST_SHOTS = BLOCK_SHOTS
_GROWTH = 16  # of a range over the largest one before: the first shots are the slowest
_SHORTER = 32  # times a job may be shorter than ``job_seconds`` at the end of a run
_WINDOW = 16  # jobs per slot that may be handed out or wait for an earlier one


class ShotSchedule:
    """Hands out the shots of a task as jobs, and adds up what comes back.

    Examples:
        >>> schedule = ShotSchedule(first=0, end=10_000, job_seconds=5.0)
        >>> first, nothing = schedule.next_job(slots=2), schedule.next_job(slots=2)
        >>> first, nothing  # the speed is not known yet
        (Job(first=0, shots=1024, missing_errors=None, error_key=None), None)
        >>> schedule.record(JobCounts(first, sinter.AnonTaskStats(shots=1024, errors=3, seconds=0.5)))
        >>> schedule.next_job(slots=2).shots  # divided among the slots, in blocks
        3072
        >>> schedule.end_of_accepted, schedule.accepted.errors, schedule.is_done
        (1024, 3, False)
    """

    def __init__(
        self,
        *,
        first: int,
        end: int | None,
        job_seconds: float,
        missing_errors: int | None = None,
        error_key: str | None = None,
    ) -> None:
        """Sets up a task."""
        self._end = end
        self._job_seconds = job_seconds
        self._missing_errors = missing_errors
        self._error_key = error_key
        self._next = first
        self._waiting: dict[int, JobCounts] = {}  # by first shot
        self._handed_out: dict[int, Job] = {}  # by first shot
        self._largest = 0
        self._is_cut = False
        self._cut_job: Job | None = None
        self.first = first
        self.end_of_accepted = first
        self.accepted = sinter.AnonTaskStats()
        if missing_errors is not None and missing_errors <= 0:
            self._is_cut = True

    @property
    def is_done(self) -> bool:
        """Whether all shots of the run are accepted."""
        return self._is_cut or (self._end is not None and self.end_of_accepted >= self._end)

    @property
    def num_handed_out(self) -> int:
        """The number of jobs that have not come back."""
        return len(self._handed_out)

    def next_job(self, slots: int) -> Job | None:
        """The next job, or None if there is none for now."""
        if self.is_done:
            return None
        if self._cut_job is not None:
            job, self._cut_job = self._cut_job, None
            self._handed_out[job.first] = job
            return job
        is_cutting = any(job.missing_errors is not None for job in self._handed_out.values())
        if is_cutting or len(self._handed_out) + len(self._waiting) >= _WINDOW * slots:
            return None
        if not self.accepted.shots and self._handed_out:
            return None
        shots = self._num_shots(slots)
        if shots <= 0:
            return None
        job = Job(self._next, shots)
        self._handed_out[job.first] = job
        self._next += shots
        return job

    def record(self, counts: JobCounts) -> None:
        """Records what came back for a job."""
        job = counts.job
        if self._handed_out.pop(job.first, None) is None:
            return  # it was behind the end of the run
        self._largest = max(self._largest, counts.stats.shots)
        if job.missing_errors is not None:
            self._accept(counts)
            found = count_of(counts.stats, self._error_key)
            self._is_cut = found >= job.missing_errors  # otherwise its time was up
            self._handed_out.clear()
            self._waiting.clear()
            return
        self._waiting[job.first] = counts
        while (following := self._waiting.get(self.end_of_accepted)) is not None:
            if self._missing_errors is not None:
                missing = self._missing_errors - count_of(self.accepted, self._error_key)
                if count_of(following.stats, self._error_key) >= missing:
                    first, shots = following.job.first, following.stats.shots
                    self._waiting.clear()
                    self._handed_out.clear()
                    self._cut_job = Job(first, shots, missing, self._error_key)
                    return
            del self._waiting[self.end_of_accepted]
            self._accept(following)

    def _accept(self, counts: JobCounts) -> None:
        self.accepted += counts.stats
        self.end_of_accepted += counts.stats.shots

    def _num_shots(self, slots: int) -> int:
        """The size of the next range: whole blocks, unless the run begins or ends inside one."""
        size = float(_FIRST_SHOTS)
        if self.accepted.shots:
            speed = self.accepted.shots / max(self.accepted.seconds, 1e-9)
            longest = speed * self._job_seconds
            rest = self._shots_left() / slots
            if self._missing_errors is None:
                # Shorter and shorter towards the end, so that no worker waits long for the last one.
                rest = max(rest / 2, longest / _SHORTER)
            size = min(longest, float(_GROWTH * self._largest), rest)
        end = self._next + max(1, math.ceil(size))
        end = -(-end // BLOCK_SHOTS) * BLOCK_SHOTS
        return (end if self._end is None else min(end, self._end)) - self._next

    def _shots_left(self) -> float:
        """The number of shots that may still be needed, beyond those handed out."""
        left = math.inf if self._end is None else self._end - self._next
        if self._missing_errors is not None:
            # Rather too few than too many: what is behind the last missing error is dropped.
            found = count_of(self.accepted, self._error_key)
            per_error = self.accepted.shots / (found + 1)
            needed = (self._missing_errors - found) * per_error - (self._next - self.end_of_accepted)
            left = min(left, max(needed, self.accepted.shots / 16))
        return left
