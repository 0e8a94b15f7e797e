"""The interface of all samplers, and the elementary ones: direct samples and enumeration.

A sampler has a part of all fault sets, weighted samples of it, and a tally.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from ...base.arrays import Bools, Floats, Indices, Words
from ..decoding.classifying import Classes, Classifier
from ..estimation.tally import EXACT, FailingSets, Tally
from .strata import FaultStates, Stratum


class Sampler(ABC):
    """An estimator of P(part, accepted, wrong) for a part of all fault sets of a stratum.

    The mean over samples of the sum of the weights of those of its fault sets that are accepted and wrong is
    without a bias. Failing sets are stored for error budgets, if the classifier says so.
    """

    method: ClassVar[str]  # its name, for tables

    def __init__(self, stratum: Stratum, classifier: Classifier, least: int, most: int) -> None:
        self._stratum, self._classifier = stratum, classifier
        self.least, self.most = least, most  # the least number of free faults, and the largest one
        self.tally = Tally(classifier.num_observables, self.probability)
        self.found = FailingSets()
        self.cost = 0  # in flips of detection events: each fault set costs one more than it has faults

    @property
    def probability(self) -> float:
        """The probability of the stratum with these numbers of faults: the largest weight of a sample."""
        law = self._stratum.numbers.probabilities
        is_all = self.least == 0 and self.most == len(law) - 1
        return self._stratum.probability * (1.0 if is_all else float(law[self.least : self.most + 1].sum()))

    @property
    def size(self) -> float:
        """About how many shots enumerate the same; infinite if that is impossible."""
        return float("inf")

    @property
    def counts(self) -> bool:
        """Whether its sum is part of the rate, with a zero-count bound in the standard error."""
        return True

    @abstractmethod
    def take(self, count: int, rng: np.random.Generator) -> None:
        """Draws samples, classifies them, and adds them to the tally; TimeIsOver may leave a part of them."""

    def failing_sets(self) -> FailingSets:
        """The failing sets, with their weights."""
        return self.found

    def _store(self, states: FaultStates, weights: Floats, owners: Indices, rng: np.random.Generator) -> None:
        """Stores failing states of the samples that come next, if they are asked for."""
        if self._classifier.stores_failures:
            members, owners = self._stratum.members(states), self.tally.samples + owners
            self.found.add(members, states.numbers, weights, owners, rng)

    @staticmethod
    def _values(weights: Floats, classes: Classes) -> Floats:
        """The weights of classified fault sets for the quantities of a tally."""
        weights = weights[classes.accepted, np.newaxis]
        any_wrong = classes.wrong.any(axis=1, keepdims=True)
        return np.hstack([weights, weights * any_wrong, weights * classes.wrong])


class DirectSamples(Sampler):
    """P(stratum, least <= number of faults <= most, accepted and wrong), by direct Monte Carlo.

    The number k is drawn by pi_k, and the set by conditional Poisson sampling (``FaultNumbers``); or, of all
    numbers, each fault by itself: these are plain shots. With P the probability of the stratum with these
    numbers, and n samples,

        estimate = P · (number of samples that are accepted and wrong) / n.

    This is stratified sampling with proportional weights: each sample has the weight P. From the gap
    ``wrong_below`` on, it is only counted whether a sample is accepted: another sampler has what is wrong.
    """

    method = "direct samples"

    def __init__(
        self, stratum: Stratum, classifier: Classifier, least: int, most: int, wrong_below: int | None = None
    ) -> None:
        super().__init__(stratum, classifier, least, most)
        self._wrong_below = wrong_below
        self.tally = Tally(classifier.num_observables, self.probability, wrong_below)

    @property
    def size(self) -> float:
        """About how many shots enumerate the same; infinite with several numbers, or if gaps are left out."""
        is_one = self.least == self.most and self._wrong_below is None
        return self._stratum.size(self.least) if is_one else float("inf")

    def drawn(self, count: int, rng: np.random.Generator) -> Iterator[FaultStates]:
        """Independent states, in batches: what is drawn beyond the limit on the time is lost."""
        at_once = int(np.clip((1 << 16) / max(self._stratum.numbers.mean, 1.0), 256, 1 << 12))
        for begin in range(0, count, at_once):
            yield self._stratum.drawn(self.least, self.most, min(at_once, count - begin), rng)

    def take(self, count: int, rng: np.random.Generator) -> None:
        """Draws and classifies samples. What was classified when TimeIsOver is raised is counted."""
        for states in self.drawn(count, rng):
            self._classifier.deadline.check()
            rows = self._stratum.model.with_outcomes(states.rows, states.numbers)
            classes = self._classifier.classify(rows)
            self.cost += classes.shots * (1 + states.size)
            weights = np.full(len(states), self.probability)
            failing = classes.accepted[classes.wrong.any(axis=1)]
            self._store(states.taken(failing), weights[failing], failing, rng)
            self.tally.add(classes.shots, self._values(weights, classes), classes.gaps)
        self._classifier.deadline.check()


class Enumeration(Sampler):
    """P(stratum, k faults, accepted and wrong), exactly: a sum over all fault sets F of k faults.

        estimate = sum over F, coins c and outcomes o of P(F) 2^-coins P(o | F, c) [accepted and wrong]

    The size of the stratum with k faults must be finite.
    """

    method = "enumerated"

    def __init__(self, stratum: Stratum, classifier: Classifier, number: int) -> None:
        super().__init__(stratum, classifier, number, number)
        self._failing: list[tuple[Indices, Words, Floats]] = []

    def take(self, count: int, rng: np.random.Generator) -> None:
        """Enumerates all fault sets; if TimeIsOver is raised, nothing is counted."""
        self._failing = []
        tally = Tally(self._classifier.num_observables, 0.0)
        for block in self._stratum.listed(self.least):
            classes = self._classifier.classify_all(block.rows)
            tally.add(len(block.rows), self._values(block.weights, classes), classes.gaps)
            if self._classifier.stores_failures:
                failing = classes.accepted[classes.wrong.any(axis=1)]
                of_sets: Floats = np.bincount(
                    block.owners[failing], block.weights[failing], minlength=len(block.bare)
                ).astype(np.float64)
                some = np.flatnonzero(of_sets)
                self._failing.append((block.members[some], block.bare[some], of_sets[some]))
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

    def _failing_outcomes(self, bare: Words, rng: np.random.Generator) -> tuple[Words, Bools]:
        """Numbers ω with which rows fail, and whether one was found."""
        numbers = np.zeros(len(bare), dtype=np.uint64)
        waiting = np.arange(len(bare))
        for _ in range(1 << 10):
            if not len(waiting):
                break
            numbers[waiting] = rng.integers(1 << 64, size=len(waiting), dtype=np.uint64)
            rows = self._stratum.model.with_outcomes(bare[waiting], numbers[waiting])
            waiting = waiting[~self._classifier.fails(rows)]
        return numbers, ~np.isin(np.arange(len(bare)), waiting)
