"""Fault sets by their number of members: how probable each number is, and random sets that have it."""

from __future__ import annotations

import math

import numpy as np

from ..faults.mechanisms import FaultModel, Floats, Words
from .sets import Indices

__all__ = ["SizedSets", "law_of_sizes"]

_MORE = 64
"""Sizes beyond the mean that the law knows in any case."""

_DEVIATIONS = 12


def law_of_sizes(probabilities: Floats, most: int) -> Floats:
    """The probability of each number of independent mechanisms that act.

    The polynomials 1 - q + q x of the mechanisms are multiplied in pairs.

    Args:
        probabilities: q of each mechanism.
        most: The largest number.

    Returns:
        Shape (most + 1,).

    Examples:
        >>> law_of_sizes(np.array([0.5, 0.5, 0.5]), 4).tolist()
        [0.125, 0.375, 0.375, 0.125, 0.0]
    """
    factors = np.stack([1 - probabilities, probabilities], axis=1)
    while len(factors) > 1:
        if len(factors) % 2:
            one = np.zeros((1, factors.shape[1]))
            one[0, 0] = 1
            factors = np.vstack([factors, one])
        first, second = factors[::2], factors[1::2]
        length = first.shape[1]
        product = np.zeros((len(first), 2 * length - 1))
        for k in range(length):
            product[:, k : k + length] += first[:, k, np.newaxis] * second
        factors = product[:, : most + 1]
    law = np.zeros(most + 1)
    law[: factors.shape[1]] = factors[0, : most + 1]
    return law


class SizedSets:
    """Random sets of so many mechanisms, each as probable as the product of the odds of its members.

    Args:
        model: The mechanisms.
        log_odds: ln of their odds.

    Attributes:
        odds: Of each mechanism.
        law: P(so many mechanisms act), for numbers up to one beyond which hardly any do.
        mean: The mean number.
    """

    def __init__(self, model: FaultModel, log_odds: Floats) -> None:
        self._model = model
        self.odds = np.exp(log_odds)
        self._sums = np.cumsum(self.odds)
        probabilities = 1 / (1 + np.exp(-log_odds))
        self.mean = float(probabilities.sum())
        self.law = law_of_sizes(
            probabilities, math.ceil(self.mean + _DEVIATIONS * math.sqrt(self.mean)) + _MORE
        )

    @property
    def all_odds(self) -> float:
        """The sum of all odds."""
        return float(self._sums[-1])

    def part_that_differs(self, size: int) -> float:
        """About how likely it is that so many mechanisms, each drawn by its odds, are different ones."""
        return math.exp(-size * (size - 1) / 2 * float((self.odds**2).sum()) / self.all_odds**2)

    def mechanisms(self, shape: tuple[int, ...], rng: np.random.Generator) -> Indices:
        """Mechanisms, each drawn by its odds."""
        drawn = np.searchsorted(self._sums, rng.random(shape) * self._sums[-1], side="right")
        return np.minimum(drawn, len(self.odds) - 1)

    def drawn(self, size: int, count: int, rng: np.random.Generator) -> Indices:
        """Sets of so many mechanisms, shape (count, size), the members ascending."""
        found = np.zeros((0, size), dtype=np.intp)
        while len(found) < count:
            more = math.ceil(1.1 * (count - len(found)) / max(self.part_that_differs(size), 0.01)) + 8
            tried = np.sort(self.mechanisms((more, size), rng), axis=1)
            found = np.concatenate([found, tried[(np.diff(tried, axis=1) > 0).all(axis=1)]])
        return found[:count]

    def rows(self, sets: Indices) -> Words:
        """The rows of sets, shape (sets, words)."""
        return np.asarray(np.bitwise_xor.reduce(self._model.flips[sets], axis=1) ^ self._model.base)
