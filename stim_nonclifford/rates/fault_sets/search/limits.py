"""What an estimate may cost."""

from __future__ import annotations

from dataclasses import dataclass

from ....base.arguments import integer, positive, positive_or_none

__all__ = ["DEFAULT_MAX_BYTES", "Limits"]

DEFAULT_MAX_BYTES = 2 << 30
_MOST_BYTES = (1 << 63) - 1


@dataclass(frozen=True)
class Limits:
    """What an estimate may cost.

    Attributes:
        relative_error: Standard error over estimate at which it stops.
        max_seconds: No new round begins after that, and no weight is enumerated or drawn for longer; None: no
            limit.
        max_bytes: Memory for pairs, keys and draws, about.
        kept_only: Whether sets with which no shot is kept are not stored: where they are told without their
            laws, or where these take long. Then more sets may be found.
        few_sets: Whether hardly any set passes the checks. Then joins find few, and may have more draws.
    """

    relative_error: float = 0.01
    max_seconds: float | None = None
    max_bytes: int = DEFAULT_MAX_BYTES
    kept_only: bool = False
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
    def first_cost(self) -> float:
        """Seconds that the enumeration of a weight may cost before anything is known of the weights above."""
        cost = 0.5 * self._patience
        return cost if self.max_seconds is None else min(cost, self.max_seconds / 10)

    @property
    def work(self) -> float:
        """Seconds of one core that all may cost together."""
        return 300.0 * self._patience

    @property
    def exact_steps(self) -> float:
        """Steps that the enumeration of a weight may take."""
        return 1.25e10 * self._patience

    @property
    def exact_keys(self) -> float:
        """Distinct keys of a weight, some 200 bytes each; those that are not stored need half of that."""
        return self.max_bytes / (200 if self.kept_only else 400)

    def may_enumerate(self, weight: int, steps: float, keys: float) -> bool:
        """Whether all sets of a weight may be looked at, as far as memory and these limits tell."""
        return steps <= self.exact_steps and (weight <= 2 or keys <= self.exact_keys)

    @property
    def join_draws(self) -> float:
        """Halves of either kind that are drawn for a join, some 85 bytes for a pair, without the sets."""
        if self.few_sets:
            return min(4e7, self.max_bytes / 100)
        return min(1.6e7, self.max_bytes / 130)

    @property
    def union_draws(self) -> float:
        """Unions that are drawn at once, of which a tenth may take some 40 bytes each."""
        return min(1e8, self.max_bytes / 10)

    @property
    def most_sets_of_join(self) -> float:
        """Sets to store after which a join gives up."""
        return self.max_bytes / (100 if self.kept_only else 400)

    @property
    def stored_sets(self) -> float:
        """Keys of a study, or sampled sets of a weight, after which no more are sampled."""
        return self.max_bytes / 200

    @property
    def _patience(self) -> float:
        """How much more a small error may cost."""
        return max(1.0, min(50.0, 0.01 / self.relative_error))
