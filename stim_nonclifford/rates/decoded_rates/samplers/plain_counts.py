"""Plain shots: direct Monte Carlo of all mechanisms, where the decoder fails often enough to be counted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..failing.plain_shots import PlainShots, members_of_events
from ..failing.sets import Indices
from ..faults.mechanisms import FaultModel, Floats
from .classify import Classify, bits_of_words, fails
from .tally import Tally
from .weighted_sets import WeightedSets

__all__ = ["PlainCounts"]

_PIECE = 256
"""Shots that are decoded together. With more, a slow decoder loses more of them when time is over."""

_MOST_STORED = 1 << 12
"""Failing shots kept for error budgets. With twice as many, their errors are 1.4 times smaller."""


class PlainCounts:
    """The part of all shots that fail.

    Args:
        model: The mechanisms.
        log_odds: ln of their odds.
        classify: Whether the decoder fails.

    Attributes:
        tally: The count.
        found: The first failing shots.
    """

    def __init__(self, model: FaultModel, log_odds: Floats, classify: Classify) -> None:
        self._classify = classify
        self._plain = PlainShots(model, log_odds)
        self.tally = Tally.of(model.num_observables, 1.0)
        self.found = WeightedSets(model.num_observables)

    @property
    def failures(self) -> int:
        """The number of shots that failed."""
        return int(self.tally.sums[0])

    def take(self, shots: int, rng: np.random.Generator, check: Callable[[], None]) -> None:
        """Takes more shots.

        Args:
            shots: How many.
            rng: What they are drawn with.
            check: Is called now and then; may raise to end the work. Shots that are decoded by then count.
        """
        while shots > 0:
            batch = min(shots, self._plain.batch)
            self._take(batch, rng, check)
            shots -= batch

    def _take(self, shots: int, rng: np.random.Generator, check: Callable[[], None]) -> None:
        rows, events, counts, numbers = self._plain.drawn(rng, shots)
        ends = np.cumsum(counts)
        begin = 0
        while begin < shots:
            check()
            most = min(_PIECE, 1 + self.tally.samples)
            piece = np.arange(begin, min(begin + most, shots))
            begin += most
            words = self._classify.test.wrong_without_memory(rows[piece])
            wrong = bits_of_words(words, len(self.tally.sums) - 1)
            is_failing = fails(wrong)
            kept, seen = piece[is_failing][: _MOST_STORED - len(self.found)], wrong[is_failing]
            if len(kept):
                sets = [members_of_events(events[ends[k] - counts[k] : ends[k]]) for k in kept]
                owners = len(self.found) + np.arange(len(kept))
                ones = np.ones(len(kept))
                self.found.add(_padded(sets), numbers[kept], seen[: len(kept)], ones, owners, rng)
            self.tally.add(len(piece), np.hstack([np.ones((len(seen), 1)), seen]))


def _padded(sets: list[Indices]) -> Indices:
    """Sets as one array, -1 for none."""
    members = np.full((len(sets), max(len(each) for each in sets)), -1, dtype=np.intp)
    for row, each in zip(members, sets, strict=True):
        row[: len(each)] = each
    return members
