"""Direct samples: sets of some fault numbers as they are drawn, and how many of them fail.

With the fault number k drawn by P(k) / P, where P is the probability of all numbers that are wanted, and
the set by its odds, the rate is P times the mean number of samples that fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .classify import Bits, Classify, fails
from .sized_sets import FaultStates, SizedSets
from .tally import Tally
from .weighted_sets import WeightedSets

__all__ = ["DirectSamples", "batches_of", "drawn_by_law"]

_BATCH_MEMBERS = 1 << 16
_LEAST_BATCH = 256
"""Faults that a batch has, about, and the least number of its samples. Larger batches take more memory."""


def batches_of(samples: int, size: int) -> Iterator[tuple[int, int]]:
    """Where batches of samples begin, and how many each has."""
    most = max(_LEAST_BATCH, _BATCH_MEMBERS // max(size, 1))
    for begin in range(0, samples, most):
        yield begin, min(most, samples - begin)


def drawn_by_law(
    sized: SizedSets, least: int, most: int, samples: int, rng: np.random.Generator
) -> Iterator[FaultStates]:
    """Random states whose fault number is from a range, in batches of one number each."""
    law = sized.law[least : most + 1]
    sizes, counts = np.unique(
        least + rng.choice(len(law), size=samples, p=law / law.sum()), return_counts=True
    )
    for size, number in zip(sizes.tolist(), counts.tolist(), strict=True):
        for _, count in batches_of(number, size):
            yield sized.drawn(size, count, rng)


class DirectSamples:
    """P(the fault number is in a range, and the decoder fails).

    Args:
        sized: The distribution of fault sets.
        classify: Whether the decoder fails.
        least: The least fault number.

    Attributes:
        least: The least fault number; there is no largest.
        probability: P(as many faults act).
        costs: Detection events looked at, each with one more than the fault number.
        tally: The sum over samples.
        found: Failing sets.
    """

    def __init__(self, sized: SizedSets, classify: Classify, least: int) -> None:
        self._sized, self._classify = sized, classify
        self.least = least
        self.probability = float(sized.law[least:].sum())
        self.costs = 0
        self.tally = Tally.of(classify.model.num_observables, self.probability)
        self.found = WeightedSets(classify.model.num_observables)

    @property
    def failures(self) -> int:
        """The number of samples that failed."""
        return round(float(self.tally.sums[0]) / self.probability) if self.probability else 0

    def take(self, samples: int, rng: np.random.Generator, check: Callable[[], None]) -> None:
        """Draws more samples.

        Args:
            samples: How many.
            rng: What they are drawn with.
            check: Is called now and then; may raise to end the work. None of these samples counts then.
        """
        failing: list[tuple[FaultStates, Bits]] = []
        for states in drawn_by_law(self._sized, self.least, self._sized.most, samples, rng):
            check()
            wrong = self._classify(states.rows, states.numbers, remember=False)
            is_failing = fails(wrong)
            failing.append((states.taken(is_failing), wrong[is_failing]))
            self.costs += len(states) * (1 + states.size)
        count = sum(len(states) for states, _ in failing)
        values = np.zeros((count, len(self.tally.sums)))
        values[:, 0] = self.probability
        begin = 0
        for states, wrong in failing:
            owners = self.tally.samples + begin + np.arange(len(states))
            values[begin : begin + len(states), 1:] = self.probability * wrong
            weights = np.full(len(states), self.probability)
            members = self._sized.members(states)
            self.found.add(members, states.numbers, wrong, weights, owners, rng)
            begin += len(states)
        self.tally.add(samples, values)
