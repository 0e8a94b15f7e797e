"""Backward deletion: failing fault sets lose one fault after the other, as long as what is left fails.

Fault sets of few faults hardly ever fail, and make the rate where noise is weak. Sets of many fail often, and
what is left of them still fails far more often than a random set of the same size. The method is sequential
Monte Carlo over the number of faults; that the failures of a decoder at weak noise can be reached from those
at strong noise is the idea of S. Bravyi, A. Vargo (Phys. Rev. A 88, 062308, 2013).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...base.arrays import Bools, Floats, Indices, Words
from ..decoding.classifying import Classes, Classifier
from .sampler import DirectSamples, Sampler
from .strata import Batch, FaultStates, Stratum

_MOST_TRIED = 8
"""Faults of a state that are tried at most, for one to be removed: a random sample of all, without a bias.
Doubled, large sets take twice the decodes, and weights vary less."""

_REPEATS = 4
"""Repetitions of the draws until a state fails. Doubled, the variance of their mean number is halved."""


@dataclass
class _Generation(Batch):
    """Failing states of one size, their weights, and the sample that each descends from."""

    states: FaultStates
    weights: Floats
    owners: Indices
    wrong: Bools


class Lineages(Sampler):
    """Samples whose failing states lose one fault after the other, down to a least number of faults."""

    starts_at_most: ClassVar[bool]  # whether all samples begin with the largest number of faults

    def __init__(
        self,
        stratum: Stratum,
        classifier: Classifier,
        least: int,
        most: int,
        most_draws: Sequence[int] | None = None,
    ) -> None:
        self._starts = DirectSamples(stratum, classifier, most if self.starts_at_most else least, most)
        self._most_draws = most_draws
        # By number of faults: Σw and Σw² of failing states.
        self.by_number: Floats = np.zeros((2, len(stratum.numbers.probabilities)))
        # By number of faults: Σw before draws until a state fails with one more fault, and how many states.
        self._reached: Floats = np.zeros((2, len(stratum.numbers.probabilities)))
        super().__init__(stratum, classifier, least, most)

    @property
    def probability(self) -> float:
        """The probability of the numbers of faults that samples begin with."""
        return self._starts.probability

    def take(self, count: int, rng: np.random.Generator) -> None:
        """Draws samples, and follows their lineages; none of them is counted when TimeIsOver is raised."""
        generations = list(self._generations(count, rng))
        self._classifier.deadline.check()
        values = np.zeros((count, 2 + self._classifier.num_observables))
        for each in generations:
            every, none = np.arange(len(each.owners)), np.zeros(len(each.owners), dtype=np.int64)
            own = self._values(each.weights, Classes(len(every), every, each.wrong, none))
            own[:, 0] = 0.0  # all shots are accepted; how many, is no question
            np.add.at(values, each.owners, own)
            self.by_number[:, each.states.size] += each.weights.sum(), (each.weights**2).sum()
            self._store(each.states, each.weights, each.owners, rng)
        self.tally.add(count, values[values[:, 1] > 0])

    def _generations(self, count: int, rng: np.random.Generator) -> Iterator[_Generation]:
        """The failing states of independent samples with their lineages, one size at a time."""
        for first in self._first(count, rng):
            at = first
            while len(at.owners):
                yield at
                size = at.states.size - 1
                if size < self.least or self._draws_at(size) == 0:
                    break
                at = self._without_one(at, rng)
                self._reached[:, size] += at.weights.sum(), len(at.weights)
                repeated = at.states.taken(np.repeat(np.arange(len(at.owners)), _REPEATS))
                draws, _ = self._draws_until_failing(repeated, rng)
                at.weights = at.weights * draws.reshape(-1, _REPEATS).mean(axis=1)

    def _draws_at(self, size: int) -> float:
        """How many faults are drawn at most, until a state of so many faults fails with one of them."""
        return np.inf if self._most_draws is None else self._most_draws[size]

    def _first(self, count: int, rng: np.random.Generator) -> Iterator[_Generation]:
        """The failing direct samples that lineages begin with, by their number of faults."""
        parts: dict[int, list[_Generation]] = {}
        begin = 0
        for drawn in self._starts.drawn(count, rng):
            wrong = self._wrong(drawn.rows, drawn.numbers)
            sizes = (drawn.sets >= 0).sum(axis=1)
            self.cost += int((1 + sizes).sum())
            for size in np.unique(sizes[wrong.any(axis=1)]).tolist():
                which = np.flatnonzero(wrong.any(axis=1) & (sizes == size))
                states = drawn.taken(which)
                states.sets = states.sets[:, :size]
                found = self._starting(states, rng)
                which, states = which[found], states.taken(found)
                weights = np.full(len(which), self.probability)
                parts.setdefault(size, []).append(_Generation(states, weights, begin + which, wrong[which]))
            begin += len(drawn)
        for _, generations in sorted(parts.items()):
            yield _Generation.joined(generations)

    def _starting(self, states: FaultStates, rng: np.random.Generator) -> Bools:
        """Which of some failing states lineages may begin with."""
        return np.ones(len(states), dtype=np.bool_)

    def _wrong(self, rows: Words, numbers: Words) -> Bools:
        rows = self._stratum.model.with_outcomes(rows, numbers)
        return self._classifier.classify_all(rows).wrong

    def _without_one(self, at: _Generation, rng: np.random.Generator) -> _Generation:
        """The states without a fault, as far as what is left of them fails."""
        count, size = at.states.sets.shape
        tried = min(size, _MOST_TRIED)
        places = np.argsort(rng.random((count, size)), axis=1)[:, :tried]
        removed = np.take_along_axis(at.states.sets, places, axis=1)
        rows = at.states.rows[:, np.newaxis] ^ self._stratum.flips[removed]
        wrong = self._wrong(rows.reshape(count * tried, -1), np.repeat(at.states.numbers, tried))
        wrong = wrong.reshape(count, tried, -1)
        is_failing = np.asarray(wrong.any(axis=2))
        self.cost += count * tried * size
        left = np.flatnonzero(is_failing.any(axis=1))
        # They are in a random order: of those that fail, the first is a random one.
        chosen = is_failing[left].argmax(axis=1)
        stay = np.ones((len(left), size), dtype=np.bool_)
        stay[np.arange(len(left)), places[left, chosen]] = False
        sets = at.states.sets[left][stay].reshape(len(left), size - 1)
        weights = at.weights[left] * is_failing[left].sum(axis=1) * (size / tried)
        weights /= self._stratum.numbers.odds_outside(sets)
        states = FaultStates(sets, rows[left, chosen], at.states.numbers[left])
        return _Generation(states, weights, at.owners[left], wrong[left, chosen])

    def _draws_until_failing(self, states: FaultStates, rng: np.random.Generator) -> tuple[Indices, Bools]:
        """How often faults outside each state are drawn by their odds, until it fails with one; or never.

        The second array says which states failed with none of as many faults as may be drawn.
        """
        draws, waiting = np.zeros(len(states), dtype=np.intp), np.arange(len(states))
        done, most = 0, self._draws_at(states.size)
        while len(waiting) and done < most:
            draws[waiting] += 1
            some = states.taken(waiting)
            self.cost += len(some) * (1 + some.size)
            rows = some.rows ^ self._stratum.flips[self._stratum.numbers.outside(some.sets, rng)]
            waiting = waiting[~self._wrong(rows, some.numbers).any(axis=1)]
            done += 1
        return draws, np.isin(np.arange(len(states)), waiting)


class BackwardDeletion(Lineages):
    """P(least <= number of faults <= most, wrong), but for what it reaches too rarely.

    A state (F, ω) has the density a(F), the product of the odds of its faults. A direct sample of ``most``
    faults that fails has the weight P(most). A failing state of s faults loses a random one, and what is
    left, (G, ω), counts if it fails. It is reached from each failing state that has one fault more:
    altogether with the density a(G) S(G) h(G, ω) / s, with S(G) the sum of the odds of the faults outside G,
    and h the probability that G fails with one of these, drawn by its odds, and the same ω. So

        w(G, ω) = w(F, ω) · s / S(G) · N,     E[N] = 1 / h(G, ω),

    where N is the number of such draws until one fails. The sum of the weights of a sample and its lineage is
    without a bias for all failing states of each size that have a failing superset of one fault more. Samples
    are independent: their variance is that of a mean.

    A state that is hardly ever reached has a large weight where it is, and no sample says so where it is not.
    Where there are at most K draws, E[min(N, K)] = (1 - (1 - h)^K) / h: so weights are limited, and the part
    (1 - h)^K of the state is left to ``Orphans``. ``most_draws`` has K for each number of faults; None: there
    is no limit.
    """

    method, starts_at_most = "backward deletion", True

    def draws_for(self, largest: float) -> list[int]:
        """K for each number of faults with which weights are about ``largest`` at most, or smaller ones.

        Where even one draw makes larger weights, deletion ends.
        """
        found = [0] * len(self._reached[0])
        weight = self.probability
        for size in range(self.most - 1, self.least - 1, -1):
            total, count = self._reached[:, size].tolist()
            # Where no state was reached, its weight would be larger than that of one more fault at least.
            weight = total / count if count else weight / float(self._stratum.numbers.odds.sum())
            found[size] = int(min(largest / weight, 1 << 30))
            if not found[size]:
                break
        return found


class Orphans(Lineages):
    """P(least <= number of faults <= most, wrong) of what backward deletion cannot reach, or too rarely.

    An orphan is a failing state (F, ω) without a failing superset of one fault more. A direct sample that
    fails counts if it fails with none of K faults that are drawn by their odds, which has the probability
    (1 - h)^K, and 1 for an orphan; and it has a lineage as in ``BackwardDeletion``. Each begins with the
    weight P(least <= number of faults <= most). Deletion from ``most`` + 1 faults and orphans together, with
    the same K, are without a bias for all failing states of each size.
    """

    method, starts_at_most = "direct samples", False

    @property
    def counts(self) -> bool:
        """Whether any was found. What those may add, of which none was drawn, is in the interval alone."""
        return bool(self.tally.failures)

    def _starting(self, states: FaultStates, rng: np.random.Generator) -> Bools:
        return self._draws_until_failing(states, rng)[1]
