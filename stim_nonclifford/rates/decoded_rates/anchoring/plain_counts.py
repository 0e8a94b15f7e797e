"""Levels at which plain shots are counted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..answers.decoding import FailureTest
from ..chains.descent import Stop
from ..failing.plain_shots import Indices, PlainShots, xor_of_groups
from ..failing.sets import FailingSets, failing_sets
from ..faults.mechanisms import FaultModel, Words

__all__ = ["PlainLevel"]

_STORED = 4096


class PlainLevel:
    """A level of noise of which plain shots are taken.

    Attributes:
        stop: The level.
        shots: Shots taken.
        failures: How many of them failed.
        sets: The first fault sets that failed.
        numbers: The numbers that fix their quantum outcomes.
        mean_events: The mean number of mechanisms that act in a shot.
    """

    def __init__(self, model: FaultModel, tests: list[FailureTest], stop: Stop) -> None:
        self.stop = stop
        self.shots = self.failures = 0
        self.sets: list[Indices] = []
        self.numbers: Words = np.zeros(0, dtype=np.uint64)
        self.mean_events = float((1 / (1 + np.exp(-stop.log_odds))).sum())
        self._model, self._test = model, tests[stop.decoder]
        self._plain = PlainShots(model, stop.log_odds, tests[stop.decoder])

    @property
    def rate(self) -> float:
        """The share of shots that failed."""
        return self.failures / self.shots if self.shots else 0.0

    def take(self, shots: int, rng: np.random.Generator, check: Callable[[], None]) -> None:
        """Takes some more shots."""
        while shots > 0:
            check()
            batch = min(shots, self._plain.batch)
            failures, sets, numbers = self._plain.failures(rng, batch, _STORED - len(self.sets))
            self.shots += batch
            self.failures += failures
            self.sets += sets
            self.numbers = np.concatenate([self.numbers, numbers])
            shots -= batch

    def failing_sets(self) -> FailingSets:
        """The first fault sets that failed."""
        events = np.concatenate([np.zeros(0, dtype=np.intp), *self.sets])
        rows = xor_of_groups(self._model, events, np.array([len(each) for each in self.sets], dtype=np.int64))
        rows = self._model.with_outcomes(rows, self.numbers)
        return failing_sets(self.sets, self.numbers, self._test.wrong(rows))
