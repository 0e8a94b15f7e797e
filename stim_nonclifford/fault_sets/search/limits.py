"""What an estimate may cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...base.arguments import integer, positive, positive_or_none

__all__ = ["DEFAULT_MAX_BYTES", "Limits"]

DEFAULT_MAX_BYTES = 2 << 30
_MOST_BYTES = (1 << 63) - 1

_LONGER = 5
"""How many times longer a search may take where laws are long."""


@dataclass(frozen=True)
class Limits:
    """What an estimate may cost.

    Attributes:
        relative_error: Standard error over estimate at which it stops.
        max_seconds: No new round begins after that, and no weight is enumerated for longer; None: no limit.
        max_bytes: Memory for pairs, keys and draws, about.
        long_laws: Whether coefficient vectors are long. Then sets with which no shot is kept are not
            stored, and more sets may be found.
        few_sets: Whether hardly any set passes the checks. Then joins find few, and may have more draws.
    """

    relative_error: float = 0.01
    max_seconds: float | None = None
    max_bytes: int = DEFAULT_MAX_BYTES
    long_laws: bool = False
    few_sets: bool = False

    def __post_init__(self) -> None:
        """Checks the numbers, which are arguments of public functions.

        Raises:
            TypeError: One is of the wrong type.
            ValueError: One is out of range.
        """
        checked = {
            "relative_error": positive(self.relative_error, "relative_error"),
            "max_seconds": positive_or_none(self.max_seconds, "max_seconds"),
            "max_bytes": integer(self.max_bytes, "max_bytes", 0, _MOST_BYTES),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def exact_steps(self) -> float:
        """Steps that the enumeration of a weight may take: about a second's, more for a smaller error."""
        return 2.5e8 * self._patience * (_LONGER if self.long_laws else 1)

    @property
    def enumeration_seconds(self) -> float:
        """After that, the enumeration of a weight ends without a result: steps take longer than usual."""
        return math.inf if self.max_seconds is None else max(1.0, self.max_seconds)

    @property
    def exact_sets(self) -> float:
        """Sets that are listed for it."""
        return 2e7 * self._patience * (_LONGER if self.long_laws else 1)

    @property
    def draw_steps(self) -> float:
        """The same for a pass in which sets are drawn; a step is longer."""
        return 4e8 * self._patience

    @property
    def exact_keys(self) -> float:
        """Distinct keys of a weight, some 200 bytes each; those that are not stored need half of that."""
        if self.long_laws:
            return self.max_bytes / 200
        return min(1.5e6 * max(1.0, min(8.0, 0.01 / self.relative_error)), self.max_bytes / 400)

    @property
    def draws(self) -> float:
        """Sets that are drawn at once, or stored, some 100 bytes each."""
        return min(3e7, self.max_bytes / 200)

    @property
    def join_draws(self) -> float:
        """Parts of either kind that are drawn for a join, some 85 bytes for a pair, without the sets."""
        if self.few_sets:
            return min(4e7, self.max_bytes / 100)
        return min(1.6e7, self.max_bytes / 130) if self.long_laws else min(4e6, self.max_bytes / 400)

    @property
    def sets_of_join(self) -> float:
        """Sets that a join should find."""
        return self.draws * 5 if self.long_laws else self.draws / 50

    @property
    def most_sets_of_join(self) -> float:
        """Sets after which a join gives up."""
        return self.draws * 20 if self.long_laws else self.draws / 10

    @property
    def joined_sets(self) -> float:
        """Sets of all weights together that joins store, some 160 bytes each with their keys."""
        return self.max_bytes / 160

    @property
    def total_draws(self) -> float:
        """Sets that are drawn of a weight."""
        return 3e7 * max(1.0, min(50.0, 0.01 / self.relative_error))

    @property
    def _patience(self) -> float:
        """About the seconds that a weight may take: one, more for a smaller error, at most max_seconds."""
        wanted = max(1.0, min(50.0, 0.01 / self.relative_error))
        return wanted if self.max_seconds is None else min(wanted, max(self.max_seconds, 0.1))
