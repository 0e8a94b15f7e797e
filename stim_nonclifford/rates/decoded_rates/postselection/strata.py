"""A stratum: kept sets that are alike, with the rest of the noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..chains import ChainStates
from ..decoding import FailureTest, Predict
from ..ladder import Ladder, Stop, ladder_down_from
from ..mechanisms import FaultModel, Floats, Words
from ..plain_shots import Indices, PlainShots, members_of_events
from .survival import Counts, Curve, curve_of, difference_of

__all__ = ["COLUMNS", "MOST_GAP", "Stratum"]

COLUMNS = 64
MOST_GAP = 1024
_MOST_STORED = 4 * COLUMNS
_BURN_IN = 4
"""The part of the sweeps that is left out: one of so many."""


class Stratum:
    """Kept sets, of which one is chosen in each shot, with the rest of the noise.

    Attributes:
        mass: P(a kept set of the stratum).
        mass_error: Its standard error: sets may have been drawn.
        name: For messages.
        shots: Plain shots taken.
        wrong: How many of them were wrong.
        asked_by_chains: Fault sets about which chains had to ask the decoder.
    """

    def __init__(
        self, name: str, mass: float, mass_error: float, model: FaultModel, predict: Predict
    ) -> None:
        self.name, self.mass, self.mass_error = name, mass, mass_error
        self._model = model
        self._log_odds = model.log_odds[0]
        self.test = FailureTest(model, predict)
        self._plain = PlainShots(model, self._log_odds, self.test)
        self._all = np.zeros((COLUMNS, MOST_GAP))
        self._wrong = np.zeros((COLUMNS, MOST_GAP))
        self._sets: list[Indices] = []
        self._numbers: list[Words] = []
        self.ladder: Ladder | None = None
        self._gaps: list[npt.NDArray[np.int16]] = []
        self.shots = self.wrong = 0
        self.asked_by_chains = 0

    def take(self, shots: int, rng: np.random.Generator, check: Callable[[], None]) -> None:
        """Takes plain shots, whose number is rounded up."""
        batch = max(COLUMNS, self._plain.batch // 4 // COLUMNS * COLUMNS)
        while shots > 0:
            check()
            some = min(batch, -(-shots // COLUMNS) * COLUMNS)
            rows, events, numbers, outcomes = self._plain.drawn(rng, some)
            wrong, gaps = self.test.answers(rows)
            is_wrong = wrong.any(axis=1)
            gaps = np.clip(gaps, 0, MOST_GAP - 1)
            column = np.arange(some) % COLUMNS
            np.add.at(self._all, (column, gaps), 1)
            np.add.at(self._wrong, (column[is_wrong], gaps[is_wrong]), 1)
            ends = np.cumsum(numbers)
            for k in np.flatnonzero(is_wrong)[: max(0, _MOST_STORED - len(self._sets))]:
                self._sets.append(members_of_events(events[ends[k] - numbers[k] : ends[k]]))
                self._numbers.append(outcomes[k])
            self.shots += some
            self.wrong += int(is_wrong.sum())
            shots -= some

    @property
    def can_climb(self) -> bool:
        """Whether there are failing shots for all columns of chains."""
        return len(self._sets) >= COLUMNS

    def climb(self, sweeps: int, rng: np.random.Generator, check: Callable[[], None]) -> None:
        """Runs chains for some sweeps."""
        before = self.test.asked
        if self.ladder is None:
            starts = ChainStates.of(self._model, self._sets[:COLUMNS], np.array(self._numbers[:COLUMNS]))
            stops = [Stop(self._log_odds, 0)]
            self.ladder = ladder_down_from(
                self._model, [self.test], stops, starts, rng, check, gaps=True, copies=0.5, jumps=False
            )
        for _ in range(sweeps):
            self.ladder.run(1, rng, check)
            gaps = np.clip(self.ladder.gaps(), 0, MOST_GAP - 1)
            self._gaps.append(gaps.reshape(-1, COLUMNS).astype(np.int16))
        self.asked_by_chains += self.test.asked - before

    @property
    def sweeps(self) -> int:
        """Number of sweeps of the chains."""
        return len(self._gaps)

    def least_gaps(self) -> list[int]:
        """The least gaps of the levels of the chains."""
        return [] if self.ladder is None else [level.least_gap or 0 for level in self.ladder.levels]

    def curve(self) -> Curve:
        """What follows from all that was counted."""
        return curve_of(self._counts(*self._settled))

    def halves(self) -> tuple[Floats, Floats] | None:
        """By how much P(wrong) over the gap differs in both halves of the chains, and its variance."""
        first, last = self._settled
        middle = (first + last) // 2
        if middle == first:
            return None
        return difference_of(self._counts(first, middle), self._counts(middle, last))

    @property
    def _settled(self) -> tuple[int, int]:
        """The sweeps that count."""
        return len(self._gaps) // _BURN_IN, len(self._gaps)

    def _counts(self, first: int, last: int) -> Counts:
        """The counts, with the records of some sweeps, by columns."""
        seen, could_be = np.zeros((2, COLUMNS, MOST_GAP))
        if self.ladder is not None and last > first:
            records = np.array(self._gaps[first:last])
            for level, least in enumerate(self.least_gaps()):
                here = np.zeros((COLUMNS, MOST_GAP))
                for column in range(COLUMNS):
                    here[column] = np.bincount(records[:, level, column], minlength=MOST_GAP)
                tail = here[:, ::-1].cumsum(axis=1)[:, ::-1].copy()
                tail[:, :least] = 0
                seen += here
                could_be += tail
        return Counts(self._all.sum(axis=1), self._all, self._wrong, seen, could_be)
