"""The limit on the time of an estimate."""

from __future__ import annotations

import time

__all__ = ["Deadline", "TimeIsOver"]


class TimeIsOver(Exception):
    """``max_seconds`` have passed, or there are as many shots as may be."""


class Deadline:
    """The time since an estimate began, and when it has to end.

    Args:
        max_seconds: The limit; None: there is none.
        begun: When the estimate began, by ``time.monotonic``; None: now.
    """

    def __init__(self, max_seconds: float | None, begun: float | None = None) -> None:
        self._started = time.monotonic() if begun is None else begun
        self._max_seconds = max_seconds

    @property
    def seconds(self) -> float:
        """The time since the estimate began."""
        return time.monotonic() - self._started

    def has_passed(self, part: float) -> bool:
        """Whether more than a part of the time is over that there is."""
        return self._max_seconds is not None and self.seconds > part * self._max_seconds

    def check(self) -> None:
        """Raises TimeIsOver after the limit."""
        if self._max_seconds is not None and self.seconds > self._max_seconds:
            raise TimeIsOver
