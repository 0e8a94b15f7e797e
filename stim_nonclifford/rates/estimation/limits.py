"""What an estimate may cost: time, memory, and the prices of work."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from ...base.arguments import flag, integer, positive, positive_or_none
from ...simulation.engines.cpu import MAX_THREADS

DEFAULT_MAX_BYTES = 2 << 30
_MOST_BYTES = (1 << 63) - 1

PART_FOR_PAIRS = 8
"""Inverse of the part of the memory for a table of pairs, of mechanisms or of the nodes of a matching graph.
Doubled, large circuits take longer."""

MOST_AT_A_TIME = 0.2
"""Seconds of work that is not interrupted: a call of a decoder, or a run of shots before a refusal. Doubled,
``max_seconds`` is exceeded by twice as much, and refusals take longer."""

_BYTES_OF_CLASS = 400
"""Memory for an outcome class with its distribution; half of it is for a half, or a set of a sample. Doubled,
large circuits are known with larger errors."""

_SECONDS_OF_STEP = 1e-8
"""Seconds of a step of an enumeration. Doubled, fewer sizes are enumerated and more are sampled."""

_SECONDS_OF_SET = 1.5e-7
"""Seconds of a half that is drawn, or of a set that is found. Doubled, fewer sizes are sampled."""

_SECONDS_OF_OUTCOMES = 1.5e-6
"""Seconds of an outcome distribution. Doubled, fewer sizes are enumerated."""


def price(*, steps: float = 0.0, halves: float = 0.0, sets: float = 0.0, outcomes: float = 0.0) -> float:
    """The processor time of work, about.

    Decisions follow from such counts with fixed prices and not from a clock, so that results depend on the
    seed alone. Only the ratios of the prices matter.
    """
    return _SECONDS_OF_STEP * steps + _SECONDS_OF_SET * (halves + sets) + _SECONDS_OF_OUTCOMES * outcomes


@dataclass(frozen=True)
class Settings:
    """What an estimate may cost, and how it is made; these are arguments of public functions, and checked."""

    relative_error: float = 0.01  # standard error over estimate at which it stops
    max_seconds: float | None = None  # no sample begins after that, and none takes longer; None: no limit
    max_bytes: int = DEFAULT_MAX_BYTES  # memory for pairs, outcome classes and samples, about
    seed: int = 0
    threads: int = 1
    progress: bool = False  # whether to print what is under way

    def __post_init__(self) -> None:
        checked = {
            "relative_error": positive(self.relative_error, "relative_error"),
            "max_seconds": positive_or_none(self.max_seconds, "max_seconds"),
            "max_bytes": integer(self.max_bytes, "max_bytes", 0, _MOST_BYTES),
            "threads": integer(self.threads, "threads", 1, MAX_THREADS),
            "progress": flag(self.progress, "progress"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def report(self, line: str) -> None:
        """Prints a line about what is under way, if that is wanted."""
        if self.progress:
            print(line, file=sys.stderr, flush=True)

    @property
    def first_cost(self) -> float:
        """Seconds that a single enumeration or sample may cost before as much was spent on others."""
        cost = 0.5 * self._patience
        return cost if self.max_seconds is None else min(cost, self.max_seconds / 10)

    @property
    def work(self) -> float:
        """Seconds of one core that all may cost together."""
        return 300.0 * self._patience

    @property
    def most_steps(self) -> float:
        """Steps that the enumeration of a weight may take: half of the work."""
        return 0.5 * self.work / price(steps=1)

    @property
    def most_classes(self) -> float:
        """Outcome classes of a weight."""
        return self.max_bytes / _BYTES_OF_CLASS

    def may_enumerate(self, weight: int, steps: float, classes: float) -> bool:
        """Whether all sets of a weight may be enumerated, as far as memory and these limits allow."""
        return steps <= self.most_steps and (weight <= 2 or classes <= self.most_classes)

    @property
    def most_halves(self) -> float:
        """Halves of either kind in a join, and sampled sets that are stored."""
        return 2 * self.most_classes

    @property
    def _patience(self) -> float:
        """How much more a small error may cost."""
        return max(1.0, min(50.0, 0.01 / self.relative_error))


class TimeIsOver(Exception):
    """``max_seconds`` have passed, or there are as many shots as may be."""


class Deadline:
    """The time since an estimate began, and when it has to end.

    ``max_seconds`` is the limit that a user gave, for messages (None: there is none), ``started`` the
    beginning as ``time.monotonic`` says (None: now), and ``seconds`` this estimate's part (None: all of it).
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

    @property
    def is_over(self) -> bool:
        """Whether the limit has been reached."""
        return self.seconds_left < 0

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

    def check(self) -> None:
        """Raises TimeIsOver after the limit."""
        if self.is_over:
            raise TimeIsOver
