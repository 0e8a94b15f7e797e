"""Enumeration: all fault sets with a number of faults, with all their coins and quantum outcomes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..decoding.classifying import Classifier
from ..estimation.deadline import Deadline
from ..estimation.failing_sets import EXACT, FailingSets
from ..estimation.tally import Tally
from .sampler import Batch, Sampler, classified
from .strata import FaultStates, Floats, Indices, Stratum, Words


class Enumeration(Sampler):
    """P(stratum, k faults, accepted and wrong), exactly: a sum over all fault sets F of k faults.

        estimate = sum over F, coins c and outcomes o of P(F) 2^-coins P(o | F, c) [accepted and wrong]

    Args:
        number: k, the number of free faults; ``stratum.size(k)`` must be finite.
    """

    method = "enumerated"

    def __init__(
        self, stratum: Stratum, classifier: Classifier, number: int, stores_failures: bool = False
    ) -> None:
        self.least = self.most = number
        super().__init__(stratum, classifier, stores_failures)
        self._failing: list[tuple[Indices, Words, Floats]] = []

    @property
    def probability(self) -> float:
        """The probability of the stratum with k faults."""
        return self._stratum.probability * float(self._stratum.numbers.probabilities[self.least])

    def sample(self, count: int, rng: np.random.Generator, deadline: Deadline) -> Iterator[Batch]:
        """All fault sets, whatever the count, with their probabilities as weights."""
        for block in self._stratum.listed(self.least):
            deadline.check()
            classes = classified(self._classifier, block.rows)
            states = FaultStates(block.members, block.rows, np.zeros(len(block.rows), dtype=np.uint64))
            if self._stores_failures:
                is_failing = classes.wrong.any(axis=1)
                of_sets: Floats = np.bincount(
                    block.owners[classes.accepted],
                    block.weights[classes.accepted] * is_failing,
                    minlength=len(block.bare),
                ).astype(np.float64)
                some = np.flatnonzero(of_sets)
                self._failing.append((block.members[some], block.bare[some], of_sets[some]))
            yield Batch(len(block.rows), states, block.weights, np.arange(len(block.rows)), classes)

    def take(self, count: int, rng: np.random.Generator, deadline: Deadline) -> None:
        """Enumerates all fault sets.

        Raises:
            TimeIsOver: The limit has been reached; nothing is counted then.
        """
        self._failing = []
        tally = Tally(self._classifier.num_observables, 0.0)
        for batch in self.sample(count, rng, deadline):
            assert batch.classes is not None
            tally.add(batch.samples, self._values(batch, batch.classes), batch.classes.gaps)
        tally.is_exact = True
        self.tally = tally
        self.cost = tally.samples * (1 + self.least)

    def failing_sets(self) -> FailingSets:
        """The failing sets, each with its probability and with a number ω for which it fails."""
        rng = np.random.default_rng(0)  # which sets fail is known by now: the same ones for all seeds
        found = FailingSets()
        for members, bare, weights in self._failing:
            numbers, fails = np.zeros(len(bare), dtype=np.uint64), np.ones(len(bare), dtype=np.bool_)
            if self._stratum.model.outcomes is not None:
                numbers, fails = self._failing_outcomes(bare, rng)
            owners = np.full(int(fails.sum()), EXACT)
            found.add(members[fails], numbers[fails], weights[fails], owners, rng)
        return found

    def _failing_outcomes(
        self, bare: Words, rng: np.random.Generator
    ) -> tuple[Words, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        """Numbers ω with which rows fail, and whether one was found."""
        numbers = np.zeros(len(bare), dtype=np.uint64)
        waiting = np.arange(len(bare))
        for _ in range(1 << 10):
            if not len(waiting):
                break
            numbers[waiting] = rng.integers(1 << 64, size=len(waiting), dtype=np.uint64)
            rows = self._stratum.model.with_outcomes(bare[waiting], numbers[waiting])
            waiting = waiting[~self._classifier.fails(rows)]
        fails = np.ones(len(bare), dtype=np.bool_)
        fails[waiting] = False
        return numbers, fails
