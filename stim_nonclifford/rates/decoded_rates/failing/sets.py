"""Failing fault sets of one circuit, each as likely to be here as it is among all failing ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..faults.mechanisms import Floats, Words

__all__ = ["EXACT", "FailingSets", "resampled_places"]

Indices = npt.NDArray[np.intp]

EXACT = -1
"""The replica of sets that are all there are."""


def resampled_places(weights: Floats, count: int, rng: np.random.Generator) -> Indices:
    """So many places, each as often as its weight says, on average (systematic resampling)."""
    ends = np.cumsum(weights)
    points = (rng.random() + np.arange(count)) * (ends[-1] / count)
    return np.minimum(np.searchsorted(ends, points, side="right"), len(weights) - 1)


@dataclass(frozen=True)
class FailingSets:
    """Failing fault sets.

    Attributes:
        members: intp, shape (sets, room): the mechanisms of each, then -1.
        numbers: uint64, shape (sets,): what fixes their quantum outcomes.
        replicas: intp, shape (sets,): sets of different replicas are independent, and all replicas have about
            as many; ``EXACT``: these are all sets of their fault numbers, and have no error.
        weights: float64, shape (sets,): how likely each is among failing sets, up to a factor.
    """

    members: Indices
    numbers: Words
    replicas: Indices
    weights: Floats

    def __len__(self) -> int:
        return len(self.members)

    def means(self, values: Floats) -> tuple[Floats, Floats]:
        """The weighted means of quantities of the sets, and their standard errors.

        Args:
            values: Shape (sets, quantities).

        Returns:
            Two arrays of shape (quantities,). The errors are those of independent replicas.
        """
        total = self.weights.sum()
        mean = self.weights @ values / total
        is_sampled = self.replicas != EXACT
        if not is_sampled.any():
            return mean, np.zeros(mean.shape)
        labels, replica = np.unique(self.replicas[is_sampled], return_inverse=True)
        count = len(labels)
        if count == 1:
            return mean, np.full(mean.shape, np.inf)
        sums = np.zeros((count, values.shape[1]))
        np.add.at(sums, replica, (self.weights[:, np.newaxis] * (values - mean))[is_sampled])
        spread = (sums**2).sum(axis=0) * (count / (count - 1))
        return mean, np.sqrt(spread) / total

    def equally_likely(self, count: int) -> FailingSets:
        """At most so many sets, each as often as it is likely, about."""
        # As the members of a set are known by now, there is nothing to draw: the same sets for all seeds.
        places = resampled_places(self.weights, count, np.random.default_rng(0))
        return FailingSets(
            self.members[places], self.numbers[places], self.replicas[places], np.ones(len(places))
        )
