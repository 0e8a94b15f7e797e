"""Strata of shots, and their cells: a stratum with an exact number of faults of the other noise.

A stratum has fault sets that are chosen in proportion to their masses, and independent mechanisms, the free
noise, of which any number acts beside them. Without lists of accepted sets there is one stratum: it has the
empty set, and all mechanisms are free. The cell (S, k) has k free faults; its probability is P(S) pi_k, and
its shots have an accepted set drawn by mass, and k faults drawn by conditional Poisson sampling
(``samplers.fault_numbers``). The last cell of a stratum has k faults and more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...decoding.classifying import Classifier
from ...estimation.deadline import Deadline, TimeIsOver
from ...estimation.tally import Tally
from ...samplers.fault_numbers import FaultNumbers
from ..faults.mechanisms import FaultModel, Floats, Words

__all__ = ["Cell", "Stratum", "whole_stratum"]

_LAST = 1e-15
"""The last cell of a stratum has all numbers of faults above one, with at most this part of its probability.
Squared, each stratum has a few cells more."""

_MOST_LISTED_COINS = 8
"""Coins whose outcomes are listed. Doubled, circuits with random records are enumerated to no use."""

_OUTCOMES = 4
"""About how many quantum outcomes a set of faults has. Doubled, cells are enumerated later."""

_LISTED_FROM = 2.5
"""A cell is enumerated if so many times the shots that are wanted are all. Doubled, that is earlier."""

_ROWS = 1 << 12
"""Shots that are drawn at once. Doubled, equal shots are found sooner, and time is looked at less often."""


class Stratum:
    """Fault sets, of which one is chosen in each shot, with the free noise.

    Args:
        name: What its fault sets have in common.
        probability: P(one of them).
        error: Its standard error: sets may have been drawn.
        model: The free noise, and what quantum outcomes flip.
        starts: uint64, shape (sets, words): what each set flips, as rows of the model, with its base.
        masses: float64, shape (sets,): they are chosen in proportion to these.
        numbers: The free noise by the number of faults, without coins; strata may share it.

    Attributes:
        name: The name.
        probability: The probability.
        relative_error: Standard error over value of the probability.
    """

    def __init__(
        self,
        name: str,
        probability: float,
        error: float,
        model: FaultModel,
        starts: Words,
        masses: Floats,
        numbers: FaultNumbers,
    ) -> None:
        self.name, self.probability = name, probability
        self.relative_error = error / probability if probability else 0.0
        self._model, self.numbers = model, numbers
        is_coin = model.log_odds[0] == 0
        self._flips, self._coins = model.flips[~is_coin], model.flips[is_coin]
        if len(self._coins) <= _MOST_LISTED_COINS:
            for coin in self._coins:
                starts, masses = np.concatenate([starts, starts ^ coin]), np.tile(masses, 2)
            self._coins = self._coins[:0]
        self._starts, self._shares = starts, masses / masses.sum()
        self._ends = np.cumsum(self._shares)

    def size(self, number: int) -> float:
        """How many shots enumerate all with so many free faults; infinite if they cannot be enumerated."""
        outcomes = self._model.outcomes
        if len(self._coins) or (outcomes is not None and not outcomes.can_be_summed):
            return math.inf
        ways = 1 if outcomes is None else _OUTCOMES
        return ways * float(len(self._starts)) * math.comb(len(self._flips), number)

    def drawn(self, least: int, most: int, count: int, rng: np.random.Generator) -> Words:
        """Rows of shots with at least and at most so many free faults."""
        chosen = np.searchsorted(self._ends, rng.random(count) * self._ends[-1], side="right")
        rows = self._starts[np.minimum(chosen, len(self._starts) - 1)]
        shares = self.numbers.probabilities[least : most + 1]
        number_of = least + rng.choice(len(shares), count, p=shares / shares.sum()) if most > least else None
        for number in range(least, most + 1):
            which = np.arange(count) if number_of is None else np.flatnonzero(number_of == number)
            for column in self.numbers.drawn(number, len(which), rng).T:
                rows[which] ^= self._flips[column]
        for coin in self._coins:
            rows[rng.random(count) < 0.5] ^= coin
        if self._model.outcomes is None:
            return rows
        return self._model.with_outcomes(rows, rng.integers(1 << 64, size=count, dtype=np.uint64))

    def listed(self, number: int) -> Iterator[tuple[Words, Floats]]:
        """Rows of all shots with so many free faults, in blocks, with their probabilities."""
        for members, weights in self.numbers.listed(number):
            at_once = max(1, len(members) // len(self._starts))
            for start in range(0, len(members), at_once):
                some = members[start : start + at_once]
                flips = np.zeros((len(some), self._starts.shape[1]), dtype=np.uint64)
                for column in some.T:
                    flips ^= self._flips[column]
                rows = (flips[:, np.newaxis] ^ self._starts).reshape(-1, self._starts.shape[1])
                masses = np.outer(weights[start : start + at_once], self.probability * self._shares).ravel()
                owners, shares, rows = self._model.with_all_outcomes(rows)
                yield rows, masses[owners] * shares

    def cells(self, number: int, classifier: Classifier, seed: np.random.SeedSequence) -> list[Cell]:
        """The cells of the stratum.

        Args:
            number: The stratum's place among all.
            classifier: What classifies shots.
            seed: What the cells' shots follow from.
        """
        shares = self.numbers.probabilities
        beyond = np.append(shares[::-1].cumsum()[::-1], 0.0)
        last = int(np.flatnonzero(beyond[1:] <= _LAST)[0])
        seeds = seed.spawn(last + 2)
        most = len(shares) - 1
        ranges = [(k, k) for k in range(last + 1)] + ([(last + 1, most)] if last < most else [])
        return [
            Cell(self, number, *each, classifier, np.random.default_rng(seeds[k]))
            for k, each in enumerate(ranges)
            if shares[each[0] : each[1] + 1].sum() > 0
        ]


class Cell:
    """A stratum with an exact number of free faults, or with all larger ones.

    Attributes:
        stratum: The place of the stratum among all.
        tally: What was counted.
        size: How many shots enumerate the cell; infinite if it cannot be enumerated.
    """

    def __init__(
        self,
        stratum: Stratum,
        place: int,
        least: int,
        most: int,
        classifier: Classifier,
        rng: np.random.Generator,
    ) -> None:
        self._stratum, self._least, self._most = stratum, least, most
        self._classifier, self._rng = classifier, rng
        self.stratum = place
        probability = stratum.probability * float(stratum.numbers.probabilities[least : most + 1].sum())
        self.tally = Tally(probability, classifier.num_observables)
        self.size = stratum.size(least) if least == most else math.inf

    def take(self, shots: int, deadline: Deadline) -> None:
        """Draws so many shots, or enumerates the cell.

        Raises:
            TimeIsOver: The limit has been reached; what was drawn until then is counted.
        """
        if self.size <= _LISTED_FROM * shots:
            self._enumerate(deadline)
            return
        while shots > 0:
            deadline.check()
            some = min(shots, _ROWS)
            found = self._classifier.classify(self._stratum.drawn(self._least, self._most, some, self._rng))
            self.tally.add(found.gaps, found.wrong, np.ones(len(found.gaps)), found.shots)
            shots -= some
        deadline.check()

    def _enumerate(self, deadline: Deadline) -> None:
        tally = Tally(self.tally.probability, self._classifier.num_observables)
        for rows, weights in self._stratum.listed(self._least):
            deadline.check()
            found = self._classifier.classify(rows)
            if found.shots < len(rows):
                raise TimeIsOver
            tally.add(found.gaps, found.wrong, weights[found.accepted], found.shots)
        tally.is_exact = True
        self.tally = tally


def whole_stratum(model: FaultModel) -> Stratum:
    """The one stratum of all shots, whose free noise is all mechanisms.

    Raises:
        ResourceLimitError: There are too many mechanisms, or errors per shot.
    """
    numbers = FaultNumbers(np.exp(model.log_odds[0][model.log_odds[0] != 0]))
    return Stratum("all shots", 1.0, 0.0, model, model.base[np.newaxis], np.ones(1), numbers)
