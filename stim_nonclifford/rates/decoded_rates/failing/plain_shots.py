"""Plain shots of the mechanisms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..faults.mechanisms import FaultModel, Floats, Words

__all__ = ["PlainShots", "members_of_events", "outcome_numbers", "xor_of_groups"]

Indices = npt.NDArray[np.intp]

_MOST_EVENTS = 1 << 18


class PlainShots:
    """A sampler of shots, in which each mechanism acts with its probability.

    Each mechanism acts a Poisson number of times, and counts if that is odd: with the mean -ln(1 - 2q)/2 that
    has probability q.
    """

    def __init__(self, model: FaultModel, log_odds: Floats) -> None:
        self._model = model
        # q/(1 - q) = w: 1 - 2q = (1 - w) / (1 + w)
        odds = np.exp(log_odds)
        means = -0.5 * (np.log1p(-np.minimum(odds, 1 - 1e-12)) - np.log1p(odds))
        self._sums = np.cumsum(means)
        self._total = float(self._sums[-1]) if len(means) else 0.0
        self.batch = int(np.clip(_MOST_EVENTS / max(self._total, 1e-300), 256, 1 << 16))

    def drawn(
        self, rng: np.random.Generator, shots: int
    ) -> tuple[Words, Indices, npt.NDArray[np.int64], Words]:
        """So many shots, which should be at most ``batch``.

        Returns:
            The rows; the mechanisms that act, those of one shot after the other, some of them more than once;
            how many each shot has; and the numbers that fix the quantum outcomes.
        """
        numbers = rng.poisson(self._total, shots)
        events = np.searchsorted(self._sums, rng.random(int(numbers.sum())) * self._total, side="right")
        events = np.minimum(events, self._model.num_mechanisms - 1)
        outcomes = outcome_numbers(self._model, rng, shots)
        rows = self._model.with_outcomes(xor_of_groups(self._model, events, numbers), outcomes)
        return rows, events, numbers, outcomes


def outcome_numbers(model: FaultModel, rng: np.random.Generator, count: int) -> Words:
    """Random numbers that fix quantum outcomes; 0 where there are none."""
    if model.outcomes is None:
        return np.zeros(count, dtype=np.uint64)
    return rng.integers(1 << 64, size=count, dtype=np.uint64)


def xor_of_groups(model: FaultModel, events: Indices, numbers: npt.NDArray[np.int64]) -> Words:
    """The rows of groups of mechanisms, which lie one after the other; without what outcomes flip.

    Args:
        model: The mechanisms.
        events: The mechanisms.
        numbers: How many each group has.

    Returns:
        uint64, shape (groups, words).
    """
    rows = np.repeat(model.base[np.newaxis], len(numbers), axis=0)
    some = np.flatnonzero(numbers)
    if len(some):
        starts = (np.cumsum(numbers) - numbers)[some]
        rows[some] ^= np.bitwise_xor.reduceat(model.flips[events], starts, axis=0)
    return rows


def members_of_events(events: Indices) -> Indices:
    """The mechanisms that occur an odd number of times."""
    members, counts = np.unique(events, return_counts=True)
    return members[counts % 2 == 1]
