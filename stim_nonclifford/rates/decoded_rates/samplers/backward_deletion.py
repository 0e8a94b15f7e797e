"""Backward deletion: failing fault sets lose one fault after the other, as long as what is left fails.

Sets of few faults hardly ever fail, and make the rate where noise is weak. Sets of many fail often, and what
is left of them still fails far more often than a random set of the same size.

A state (F, ω) is a fault set F and the random number ω that fixes its coins and quantum outcomes. Let
a(F) = product of its odds, and let a failing state of s faults, of density a(F), lose a random fault. What is
left, (G, ω), fails or is dropped. It is reached from each failing state that has one fault more: altogether
with density a(G) S(G) h(G, ω) / s, where S(G) is the sum of the odds of all faults outside G, and h the
probability that G and one of these, drawn by its odds, fail with the same ω. S(G) is known; 1/h is the mean
 number of such draws until one fails. So each state, with the importance weight multiplied by s / S(G) and
by the number of draws, stands without a bias for the failing states of its size that have a failing superset
of one fault more.

Those that have none, orphans, are never reached from above. ``Orphans`` looks for them with direct samples: a
direct sample that fails counts if no fault can be added so that it still fails, which is looked at for every
fault. They have lineages, too. Both together are without a bias for all failing states of each size.

Samples are independent. What a sample and its lineage say of all fault numbers together is one number, so
that the standard error is that of a mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..failing.sets import Indices
from ..faults.mechanisms import Floats
from .classify import Bits, Classify, fails
from .direct_samples import batches_of, drawn_by_law
from .sized_sets import FaultStates, SizedSets
from .tally import Tally
from .weighted_sets import WeightedSets

__all__ = ["BackwardDeletion", "Orphans"]

_MOST_TRIED = 8
"""Faults of a state that are tried at most, for one to be taken out: a sample of all, without a bias.

Twice as many cost twice the decodes where sets are large, and make weights vary less.
"""

_REPEATS = 4
"""The number of draws until a state fails is a mean of so many. Twice as many: half of its variance."""

_TRIED_TOGETHER = 32
"""Faults that are drawn to show that a state is no orphan, before all are looked at: a matter of time."""


@dataclass
class _Generation:
    """Failing states of one size, their weights, and the sample that each descends from."""

    states: FaultStates
    weights: Floats
    owners: Indices
    wrong: Bits


class _Lineages:
    """Takes faults out of failing states.

    Args:
        sized: The distribution of fault sets.
        classify: Whether the decoder fails.
        least: The least fault number that is wanted.

    Attributes:
        costs: Detection events looked at, each with one more than the fault number.
        sums: Shape (numbers,): Σw of failing states by their fault number.
        squares: Shape (numbers,): Σw² of them.
        found: Failing sets.
        tally: The sum over samples, each with its lineage.
    """

    def __init__(self, sized: SizedSets, classify: Classify, least: int, largest: float) -> None:
        self._sized, self._classify, self._least = sized, classify, least
        self.costs = 0
        self.sums, self.squares = np.zeros((2, len(sized.law)))
        self.found = WeightedSets(classify.model.num_observables)
        self.tally = Tally.of(classify.model.num_observables, largest)

    def _follow(
        self, samples: int, first: list[_Generation], rng: np.random.Generator, check: Callable[[], None]
    ) -> None:
        """Follows the lineages of failing samples, and counts all of them at the end."""
        generations = [each for one in first for each in self._lineage(one, rng, check)]
        check()
        values = np.zeros((samples, len(self.tally.sums)))
        for each in generations:
            np.add.at(values[:, 0], each.owners, each.weights)
            np.add.at(values[:, 1:], each.owners, each.weights[:, np.newaxis] * each.wrong)
            self.sums[each.states.size] += each.weights.sum()
            self.squares[each.states.size] += (each.weights**2).sum()
            members = self._sized.members(each.states)
            owners = self.tally.samples + each.owners
            self.found.add(members, each.states.numbers, each.wrong, each.weights, owners, rng)
        self.tally.add(samples, values[values[:, 0] > 0])

    def _lineage(
        self, at: _Generation, rng: np.random.Generator, check: Callable[[], None]
    ) -> Iterator[_Generation]:
        while len(at.owners):
            yield at
            if at.states.size <= self._least:
                break
            at = self._without_one(at, rng)
            at.weights *= self._draws_until_failing(at.states, rng, check)

    def _without_one(self, at: _Generation, rng: np.random.Generator) -> _Generation:
        """States without a fault, as far as what is left of them fails."""
        count, size = at.states.sets.shape
        tried = min(size, _MOST_TRIED)
        places = np.argsort(rng.random((count, size)), axis=1)[:, :tried]
        leaving = np.take_along_axis(at.states.sets, places, axis=1)
        rows = self._sized.without_one(at.states, leaving)
        wrong = self._classify(rows.reshape(count * tried, -1), np.repeat(at.states.numbers, tried))
        wrong = wrong.reshape(count, tried, -1)
        is_failing = np.asarray(wrong.any(axis=2))
        self.costs += count * tried * size
        left = np.flatnonzero(is_failing.any(axis=1))
        # They are in a random order: of those that fail, the first is a random one.
        chosen = is_failing[left].argmax(axis=1)
        stay = np.ones((len(left), size), dtype=np.bool_)
        stay[np.arange(len(left)), places[left, chosen]] = False
        sets = at.states.sets[left][stay].reshape(len(left), size - 1)
        weights = at.weights[left] * is_failing[left].sum(axis=1) * (size / tried)
        states = FaultStates(sets, rows[left, chosen], at.states.numbers[left])
        return _Generation(
            states, weights / self._sized.odds_outside(sets), at.owners[left], wrong[left, chosen]
        )

    def _draws_until_failing(
        self, states: FaultStates, rng: np.random.Generator, check: Callable[[], None]
    ) -> Floats:
        """How often faults outside each state are drawn by their odds, until it fails with one of them."""
        draws = np.zeros(len(states))
        waiting = np.repeat(np.arange(len(states)), _REPEATS)
        while len(waiting):
            check()
            np.add.at(draws, waiting, 1 / _REPEATS)
            waiting = waiting[~self._fails_with_one(states.taken(waiting), rng)]
        return draws

    def _fails_with_one(self, states: FaultStates, rng: np.random.Generator) -> Bits:
        """Whether each state fails with one more fault, drawn by its odds."""
        self.costs += len(states) * (1 + states.size)
        rows = self._sized.with_one(states, self._sized.outside(states.sets, rng))
        return fails(self._classify(rows, states.numbers))


class BackwardDeletion(_Lineages):
    """P(at most ``start`` faults act, and the decoder fails), but for what has no failing superset.

    Args:
        sized: The distribution of fault sets.
        classify: Whether the decoder fails.
        start: The fault number of the samples.
        least: The least fault number that is wanted.
    """

    def __init__(self, sized: SizedSets, classify: Classify, start: int, least: int) -> None:
        super().__init__(sized, classify, least, float(sized.law[start]))
        self.start = start
        self.failures = 0

    def take(self, samples: int, rng: np.random.Generator, check: Callable[[], None]) -> None:
        """Draws more samples of ``start`` faults, and follows their lineages.

        Args:
            samples: How many.
            rng: What they are drawn with.
            check: Is called now and then; may raise to end the work. None of these samples counts then.
        """
        first, failures = [], 0
        for begin, count in batches_of(samples, self.start):
            check()
            states = self._sized.drawn(self.start, count, rng)
            wrong = self._classify(states.rows, states.numbers, remember=False)
            failing = np.flatnonzero(fails(wrong))
            weights = np.full(len(failing), self._sized.law[self.start])
            first.append(_Generation(states.taken(failing), weights, begin + failing, wrong[failing]))
            failures += len(failing)
        self.costs += samples * (1 + self.start)
        self._follow(samples, _joined(first), rng, check)
        self.failures += failures


class Orphans(_Lineages):
    """Failing states of some fault numbers that have no failing superset of one fault more.

    Args:
        sized: The distribution of fault sets.
        classify: Whether the decoder fails.
        least: The least fault number.
        most: The largest one.
    """

    def __init__(self, sized: SizedSets, classify: Classify, least: int, most: int) -> None:
        self.probability = float(sized.law[least : most + 1].sum())
        super().__init__(sized, classify, least, self.probability)
        self.least, self.most = least, most

    def take(self, samples: int, rng: np.random.Generator, check: Callable[[], None]) -> None:
        """Draws more samples; arguments as in ``BackwardDeletion.take``."""
        first, begin = [], 0
        for states in drawn_by_law(self._sized, self.least, self.most, samples, rng):
            check()
            wrong = self._classify(states.rows, states.numbers, remember=False)
            failing = np.flatnonzero(fails(wrong))
            failing = failing[self._are_orphans(states.taken(failing), rng, check)]
            weights = np.full(len(failing), self.probability)
            first.append(_Generation(states.taken(failing), weights, begin + failing, wrong[failing]))
            begin += len(states)
            self.costs += len(states) * (1 + states.size)
        self._follow(samples, first, rng, check)

    def _are_orphans(self, states: FaultStates, rng: np.random.Generator, check: Callable[[], None]) -> Bits:
        waiting = np.arange(len(states))
        for _ in range(_TRIED_TOGETHER):
            if not len(waiting):
                break
            check()
            waiting = waiting[~self._fails_with_one(states.taken(waiting), rng)]
        found = np.zeros(len(states), dtype=np.bool_)
        for place in waiting.tolist():
            check()
            found[place] = not self._fails_with_any(states.taken(np.array([place])))
        return found

    def _fails_with_any(self, state: FaultStates) -> bool:
        others = np.setdiff1d(np.arange(len(self._sized.faults)), state.sets[0])
        self.costs += len(others) * (1 + state.size)
        rows = self._sized.with_one(state, others)
        return bool(self._classify(rows, np.repeat(state.numbers, len(others))).any())


def _joined(parts: list[_Generation]) -> list[_Generation]:
    """Generations of one fault number as one."""
    states = FaultStates(
        np.concatenate([each.states.sets for each in parts]),
        np.concatenate([each.states.rows for each in parts]),
        np.concatenate([each.states.numbers for each in parts]),
    )
    weights, owners, wrong = (
        np.concatenate([getattr(each, name) for each in parts]) for name in ("weights", "owners", "wrong")
    )
    return [_Generation(states, weights, owners, wrong)]
