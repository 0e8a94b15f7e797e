"""Plain shots: direct Monte Carlo of all faults, where the decoder fails often enough to be counted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..decoding.classifying import Classifier
from ..estimation.deadline import Deadline
from .sampler import Batch, Sampler
from .strata import FaultStates, Indices, Stratum

__all__ = ["PlainShots"]


class PlainShots(Sampler):
    """P(accepted and wrong) as the part of all shots that are, each with the weight 1.

    A fault acts a Poisson number of times, and counts if that is odd: with the mean -ln(1 - 2q) / 2 that has
    the probability q. So all faults of a shot are as many draws from one table as their sum has.

    Args:
        stratum: The fault sets, with the probability 1.
        classifier: The decoder.
        stores_failures: Whether failing sets are stored, for error budgets.
    """

    def __init__(self, stratum: Stratum, classifier: Classifier, stores_failures: bool = False) -> None:
        super().__init__(stratum, classifier, stores_failures)
        # q / (1 - q) = w: 1 - 2q = (1 - w) / (1 + w)
        odds = stratum.numbers.odds
        self._ends = np.cumsum(0.5 * (np.log1p(odds) - np.log1p(-odds)))
        self._mean = float(self._ends[-1]) if len(odds) else 0.0
        self._rows = int(np.clip((1 << 16) / max(self._mean, 1e-300), 256, 1 << 12))

    @property
    def probability(self) -> float:
        """That of all shots."""
        return 1.0

    def sample(self, count: int, rng: np.random.Generator, deadline: Deadline) -> Iterator[Batch]:
        """Independent shots."""
        for begin in range(0, count, self._rows):
            some = min(self._rows, count - begin)
            yield Batch(some, self._drawn(some, rng), np.ones(some), np.arange(some))

    def _drawn(self, count: int, rng: np.random.Generator) -> FaultStates:
        numbers = rng.poisson(self._mean, count)
        events = np.searchsorted(self._ends, rng.random(int(numbers.sum())) * self._mean, side="right")
        sets = np.full((count, int(numbers.max(initial=0))), -1, dtype=np.intp)
        sets[np.arange(sets.shape[1]) < numbers[:, np.newaxis]] = np.minimum(events, len(self._ends) - 1)
        return self._stratum.states(_of_odd_number(sets), rng)


def _of_odd_number(sets: Indices) -> Indices:
    """The members of each row that occur an odd number of times, in descending order."""
    sets = -np.sort(-sets, axis=1)
    while (is_pair := (sets[:, 1:] == sets[:, :-1]) & (sets[:, 1:] >= 0)).any():
        # Of three equal ones, the first two are a pair.
        is_pair[:, 1:] &= ~is_pair[:, :-1]
        row, place = np.nonzero(is_pair)
        sets[row, place] = sets[row, place + 1] = -1
        sets = -np.sort(-sets, axis=1)
    return sets
