"""Failing fault sets with importance weights, for means over the fault sets of failing shots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.arrays import Floats, Indices, Words

EXACT = -1
"""The owner of sets that were enumerated."""

_MOST_SETS = 1 << 13
"""Twice as many sets are stored at most. Doubled, error budgets have errors smaller by up to 1.4, and results
take twice the memory."""


class FailingSets:
    """Failing fault sets with weights; if their number is limited and they get too many, a sample of them."""

    def __init__(self, limited: bool = True) -> None:
        self._limited = limited
        self.members: Indices = np.zeros((0, 1), dtype=np.intp)  # shape (sets, room): -1 for none
        self.numbers: Words = np.zeros(0, dtype=np.uint64)  # what fixes their quantum outcomes
        self.weights: Floats = np.zeros(0)  # how likely each is among failing sets, up to a factor
        self.owners: Indices = np.zeros(0, dtype=np.intp)  # the independent sample of each, or ``EXACT``

    def __len__(self) -> int:
        return len(self.weights)

    def add(
        self, members: Indices, numbers: Words, weights: Floats, owners: Indices, rng: np.random.Generator
    ) -> None:
        """Takes more sets; ``rng`` chooses among them if they get too many."""
        room = max(members.shape[1], self.members.shape[1])
        self.members = np.vstack([padded(self.members, room), padded(members, room)])
        self.numbers = np.concatenate([self.numbers, numbers])
        self.weights = np.concatenate([self.weights, weights])
        self.owners = np.concatenate([self.owners, owners])
        if self._limited and len(self) > 2 * _MOST_SETS:
            # A sample of enumerated sets has a statistical error as any other.
            is_exact = self.owners == EXACT
            self.owners[is_exact] = self.owners.max(initial=0) + 1 + np.arange(np.count_nonzero(is_exact))
            self._resample(_MOST_SETS, float(self.weights.sum()), rng)

    @classmethod
    def joined(cls, parts: Sequence[tuple[FailingSets, int]]) -> FailingSets:
        """The sets of several samplers, each with its number of samples: members first, then -1."""
        rng = np.random.default_rng(0)
        found = cls(limited=False)
        for part, samples in parts:
            beyond = int(found.owners.max(initial=0)) + 1
            owners = np.where(part.owners == EXACT, EXACT, part.owners + beyond)
            found.add(part.members, part.numbers, part.weights / max(samples, 1), owners, rng)
        found.members = -np.sort(-found.members, axis=1)
        most = int((found.members >= 0).sum(axis=1).max(initial=0))
        found.members = found.members[:, : max(1, most)]
        return found

    def means(self, values: Floats) -> tuple[Floats, Floats]:
        """The weighted means of quantities of the sets, shape (sets, quantities), and their standard errors.

        The errors are those of independent replicas: the sets of each 64th sample.
        """
        total = self.weights.sum()
        mean = self.weights @ values / total
        is_sampled = self.owners != EXACT
        if not is_sampled.any():
            return mean, np.zeros(mean.shape)
        labels, replica = np.unique(self.owners[is_sampled] % 64, return_inverse=True)
        count = len(labels)
        if count == 1:
            return mean, np.full(mean.shape, np.inf)
        sums = np.zeros((count, values.shape[1]))
        np.add.at(sums, replica.ravel(), (self.weights[:, np.newaxis] * (values - mean))[is_sampled])
        spread = (sums**2).sum(axis=0) * (count / (count - 1))
        return mean, np.sqrt(spread) / total

    def equally_likely(self, count: int) -> FailingSets:
        """At most so many sets, each about as often as it is likely."""
        found = FailingSets(limited=False)
        # The members of a set are known by now: the choice need not depend on a seed.
        rng = np.random.default_rng(0)
        found.add(self.members, self.numbers, self.weights, self.owners, rng)
        found._resample(count, float(count), rng)
        return found

    def _resample(self, count: int, total: float, rng: np.random.Generator) -> None:
        """Systematic resampling: so many sets with equal weights, each as often as its weight on average."""
        ends = np.cumsum(self.weights)
        points = (rng.random() + np.arange(count)) * (ends[-1] / count)
        places = np.minimum(np.searchsorted(ends, points, side="right"), len(self) - 1)
        self.members, self.numbers = self.members[places], self.numbers[places]
        self.owners, self.weights = self.owners[places], np.full(count, total / count)


def padded(members: Indices, room: int) -> Indices:
    """Sets with -1 for none, in an array with more room."""
    return np.pad(members, ((0, 0), (0, room - members.shape[1])), constant_values=-1)
