"""The limit on the time of an estimate."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator


class TimeIsOver(Exception):
    """``max_seconds`` have passed, or there are as many shots as may be."""


class Deadline:
    """The time since an estimate began, and when it has to end.

    Args:
        max_seconds: The limit that a user gave; None: there is none.
        started: When it began, as ``time.monotonic`` says; None: now.
        seconds: The part of the limit that this estimate has; None: all of it.

    Attributes:
        max_seconds: The limit that a user gave, for messages.
    """

    def __init__(
        self, max_seconds: float | None, started: float | None = None, seconds: float | None = None
    ) -> None:
        self._started = time.monotonic() if started is None else started
        self.max_seconds = max_seconds
        self._limit = max_seconds if seconds is None else seconds

    @property
    def seconds(self) -> float:
        """The time since the estimate began."""
        return time.monotonic() - self._started

    @property
    def seconds_left(self) -> float:
        """The time until the limit."""
        return math.inf if self._limit is None else self._limit - self.seconds

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self._limit is not None

    def part(self, part: float) -> Deadline:
        """A deadline that began at the same time, and ends after a part of it."""
        return Deadline(self.max_seconds, self._started, None if self._limit is None else part * self._limit)

    def shares(self, count: int) -> Iterator[Deadline]:
        """The deadlines of several estimates, one after the other: each has an equal part of what is left."""
        if count == 1:
            yield self
            return
        for left in range(count, 0, -1):
            rest = max(self.seconds_left, 0.0) / left if self.is_limited else None
            yield Deadline(self.max_seconds, seconds=rest)

    @property
    def is_over(self) -> bool:
        """Whether the limit has been reached."""
        return self.seconds_left < 0

    def check(self) -> None:
        """Raises TimeIsOver after the limit."""
        if self.is_over:
            raise TimeIsOver
