"""Failing fault sets with importance weights, of which some are kept."""

from __future__ import annotations

import numpy as np

from ..failing.sets import Indices, resampled_places
from ..faults.mechanisms import Floats, Words
from .classify import Bits

__all__ = ["WeightedSets"]

_MOST_STORED = 1 << 13
"""Twice as many sets are kept at most. With more, error budgets have smaller errors, and take more memory."""


class WeightedSets:
    """Failing sets with weights; if they get too many, some are drawn of them.

    Args:
        observables: Number of observables.
        keeps_all: Whether as many as there are may be kept.

    Attributes:
        members: intp, shape (sets, room): the mechanisms of each, or -1.
        numbers: uint64, shape (sets,): what fixes their quantum outcomes.
        wrong: bool, shape (sets, observables): which are predicted wrongly.
        weights: float64, shape (sets,).
        owners: intp, shape (sets,): sets with different ones are independent.
    """

    def __init__(self, observables: int, keeps_all: bool = False) -> None:
        self._keeps_all = keeps_all
        self.members = np.zeros((0, 0), dtype=np.intp)
        self.numbers = np.zeros(0, dtype=np.uint64)
        self.wrong = np.zeros((0, observables), dtype=np.bool_)
        self.weights = np.zeros(0)
        self.owners = np.zeros(0, dtype=np.intp)

    def __len__(self) -> int:
        return len(self.weights)

    def add(
        self,
        members: Indices,
        numbers: Words,
        wrong: Bits,
        weights: Floats,
        owners: Indices,
        rng: np.random.Generator,
    ) -> None:
        """Takes more sets; arguments as the attributes."""
        room = max(members.shape[1], self.members.shape[1])
        self.members = np.vstack([_padded(self.members, room), _padded(members, room)])
        self.numbers = np.concatenate([self.numbers, numbers])
        self.wrong = np.vstack([self.wrong, wrong])
        self.weights = np.concatenate([self.weights, weights])
        self.owners = np.concatenate([self.owners, owners])
        if len(self.weights) > 2 * _MOST_STORED and not self._keeps_all:
            total = float(self.weights.sum())
            self._take(resampled_places(self.weights, _MOST_STORED, rng))
            self.weights = np.full(_MOST_STORED, total / _MOST_STORED)

    def _take(self, places: Indices) -> None:
        self.members, self.numbers = self.members[places], self.numbers[places]
        self.wrong, self.owners = self.wrong[places], self.owners[places]


def _padded(members: Indices, room: int) -> Indices:
    return np.pad(members, ((0, 0), (0, room - members.shape[1])), constant_values=-1)
