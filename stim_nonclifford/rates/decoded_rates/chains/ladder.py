"""Replica exchange: columns of chains, one for each level, that exchange their fault sets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ..answers.decoding import FailureTest
from ..failing.cores import Core, cores_of
from ..failing.sets import FailingSets, Indices, Recorder
from ..faults.mechanisms import FaultModel, Floats, Words
from .chains import ChainStates, Level, Moves, log_penalty, signed_gaps
from .renewal import RENEWED

__all__ = ["Ladder"]

_CORE_LEVELS = 16
"""The cores that jumps replace are looked for in the fault sets of at most so many levels."""

_MOST_RECORDS = 1 << 13
"""The largest number of sweeps that are recorded. A record takes 0.6 kB for each level."""


def _cores_at(
    model: FaultModel, tests: Sequence[FailureTest], levels: Sequence[Level], states: Sequence[ChainStates]
) -> list[Core]:
    """The cores of the states of some levels, among them the last one."""
    found: list[Core] = []
    for number in range(len(levels) - 1, -1, -max(1, -(-len(levels) // _CORE_LEVELS))):
        moves, here = Moves(model, tests, [levels[number]]), states[number]

        def fails(rows: Words, which: Indices, moves: Moves = moves) -> npt.NDArray[np.bool_]:
            return moves.are_allowed(rows, np.zeros(len(which), dtype=np.intp))

        found += cores_of(model, here.members, here.numbers, levels[number].log_odds, fails)[0]
    return found


class Ladder:
    """Columns of chains.

    Attributes:
        levels: The levels, the strongest noise first.
        stops_at: The numbers of the levels that were asked for.
        columns: The number of columns.
        up: What was recorded in each level but the last, for each exchange: for each column, ln of the factor
            by which the weight of the fault set would change in the next level; -inf if its decoder does
            not fail.
        down: The same factor of the fault set in the next level; inf if the decoder of this level does not
            fail.
        sizes: After each sweep, the numbers of members: shape (levels, columns). If there are too many sweeps
            for the memory, these and ``families`` are of every ``stride``-th only.
        stride: A power of two.
        sweeps: Number of sweeps.
        families: As often as ``up``, for each level but the last: int16, shape (2, columns): from which
            column the chains of this level and of the next one descend; -1 (``RENEWED``) if their fault set
            has come from the first level by exchanges, where chains begin in equilibrium, each column with a
            set of its own. The others descend from sets that the ladder was set up with.
        decided: For each level, the changes that chains had to ask the decoder about.
        accepted: Those that were made.
        exchanged: For each level but the last, the attempts to exchange with the next, and the successes.
    """

    def __init__(
        self,
        model: FaultModel,
        tests: Sequence[FailureTest],
        levels: Sequence[Level],
        stops_at: Sequence[int],
        states: Sequence[ChainStates],
        jumps: bool = True,
        founders: Sequence[Indices] | None = None,
    ) -> None:
        self.model, self.levels, self.stops_at = model, levels, stops_at
        self.columns = len(states[0].sizes)
        self._level_of = np.repeat(np.arange(len(levels)), self.columns)
        self._states = ChainStates.joined(states)
        cores = _cores_at(model, tests, levels, states) if jumps else []
        self._moves = Moves(model, tests, levels, cores)
        # With a column of 0 for the places that are free.
        steps = [
            np.append(after.log_odds - before.log_odds, 0) for before, after in itertools.pairwise(levels)
        ]
        self._steps = np.array(steps).reshape(len(steps), -1)
        self._differ = np.array(
            [not before.has_condition_of(after) for before, after in itertools.pairwise(levels)],
            dtype=np.bool_,
        )
        # In even and odd sweeps: for each level the one that it exchanges with, if their conditions differ.
        self._further = np.full((2, len(levels)), -1)
        for number in np.flatnonzero(self._differ).tolist():
            self._further[number % 2, number : number + 2] = number + 1, number
        self._penalties = np.array([level.penalty for level in levels])
        self.up: list[list[npt.NDArray[np.float32]]] = [[] for _ in self._steps]
        self.down: list[list[npt.NDArray[np.float32]]] = [[] for _ in self._steps]
        self.sizes: list[npt.NDArray[np.float32]] = []
        self.stride = 1
        self.exchanged = np.zeros((len(self._steps), 2))
        self.decided = np.zeros(len(levels))
        self.accepted = np.zeros(len(levels))
        self._recorders = {level: Recorder() for level in stops_at}
        if founders is None:
            founders = [np.arange(self.columns)] * len(levels)
        self._families = np.concatenate(founders).astype(np.int16)
        self.families: list[list[npt.NDArray[np.int16]]] = [[] for _ in self._steps]
        self.sweeps = 0

    def run(self, sweeps: int, rng: np.random.Generator, check: Callable[[], None]) -> None:
        """Takes steps with all chains, each sweep followed by exchanges.

        Args:
            sweeps: How many sweeps.
            rng: What they are drawn with.
            check: Is called between steps; may raise to end the work.
        """
        for _ in range(sweeps):
            further = np.repeat(self._further[self.sweeps % 2], self.columns)
            decided, accepted, fails = self._moves.sweep(self._states, self._level_of, further, rng, check)
            self.decided += decided.reshape(-1, self.columns).sum(axis=1)
            self.accepted += accepted.reshape(-1, self.columns).sum(axis=1)
            self._families[: self.columns] = RENEWED
            if self.sweeps % self.stride == 0:
                self.sizes.append(self._states.sizes.reshape(-1, self.columns).astype(np.float32))
            self._record()
            self._exchange(rng, fails)
            self.sweeps += 1
            if len(self.sizes) > _MOST_RECORDS:
                self._halve_records()

    def _halve_records(self) -> None:
        self.stride *= 2
        self.sizes = self.sizes[::2]
        self.up, self.down = ([each[::2] for each in records] for records in (self.up, self.down))
        self.families = [each[::2] for each in self.families]

    def _record(self) -> None:
        wanting = [level for level, recorder in self._recorders.items() if recorder.wants(self.sweeps)]
        if not wanting:
            return
        chains = (np.array(wanting)[:, np.newaxis] * self.columns + np.arange(self.columns)).ravel()
        wrong = self._moves.wrong(self._states.rows[chains], self._level_of[chains])
        for level, of_level in zip(wanting, wrong.reshape(len(wanting), self.columns, -1), strict=True):
            mine = slice(level * self.columns, (level + 1) * self.columns)
            self._recorders[level].add(
                self.sweeps, self._states.members[mine], self._states.numbers[mine], of_level
            )

    @property
    def gap_levels(self) -> list[tuple[int, int]]:
        """The levels with a least gap, by number, and that gap."""
        return [(k, level.least_gap) for k, level in enumerate(self.levels) if level.least_gap is not None]

    def failing_sets(self, level: int, burn_in: int) -> FailingSets:
        """Fault sets of the chains of a level that was asked for.

        Args:
            level: The number of the level.
            burn_in: Sweeps to leave out.
        """
        return self._recorders[level].sets(burn_in)

    def _exchange(self, rng: np.random.Generator, fails: npt.NDArray[np.bool_]) -> None:
        """Exchanges fault sets of neighbouring levels; ``fails``: in the sense of each other's decoders."""
        pairs = np.arange(self.sweeps % 2, len(self._steps), 2)
        if not len(pairs):
            return
        one = (pairs[:, np.newaxis] * self.columns + np.arange(self.columns)).ravel()
        other = one + self.columns
        step_of = np.repeat(pairs, self.columns)[:, np.newaxis]
        up, down = (self._steps[step_of, self._states.members[chains]].sum(axis=1) for chains in (one, other))
        self._add_penalties(up, one)
        self._add_penalties(down, one, self.columns)
        differs = np.flatnonzero(np.repeat(self._differ[pairs], self.columns))
        up[differs[~fails[one[differs]]]] = -np.inf
        down[differs[~fails[other[differs]]]] = np.inf
        swapped = np.log(rng.random(len(one))) < up - down
        families = np.stack([self._families[one], self._families[other]])
        self._states.exchange(one[swapped], other[swapped])
        self._families[one[swapped]], self._families[other[swapped]] = families[::-1, swapped]
        families = families.reshape(2, len(pairs), -1)
        up, down, swapped = (each.reshape(len(pairs), -1) for each in (up, down, swapped))
        is_recorded = self.sweeps // 2 % self.stride == 0  # a pair of levels has every second sweep
        for k, number in enumerate(pairs.tolist()):
            if is_recorded:
                self.up[number].append(up[k].astype(np.float32))
                self.down[number].append(down[k].astype(np.float32))
                self.families[number].append(families[:, k])
            self.exchanged[number] += self.columns, int(swapped[k].sum())

    def _add_penalties(self, values: Floats, one: Indices, shift: int = 0) -> None:
        """Adds the change of ln of the penalty of chains from their levels to the next ones.

        Args:
            values: What it is added to, shape (pairs of chains,).
            one: The first chain of each pair, whose level is the one.
            shift: How far behind it the chain lies whose fault set is looked at.
        """
        if not self._moves.model.postselects:
            return
        fired = self._moves.model.fired(self._states.rows[one + shift])
        before, after = (self._penalties[self._level_of[one] + k] for k in (0, 1))
        has_changed = before != after
        values[has_changed] += log_penalty(fired[has_changed], after[has_changed])
        values[has_changed] -= log_penalty(fired[has_changed], before[has_changed])

    def states(self) -> list[ChainStates]:
        """The states of the chains of each level."""
        columns = np.arange(self.columns)
        return [self._states.taken(k * self.columns + columns) for k in range(len(self.levels))]

    def founders(self, renewed: Indices) -> Indices:
        """From which column each chain descends: shape (levels, columns).

        Args:
            renewed: The same of those that come from the first level: shape (columns,).
        """
        families = self._families.reshape(-1, self.columns)
        return np.where(families == RENEWED, renewed, families).astype(np.intp)

    def signed_gaps(self) -> npt.NDArray[np.int64]:
        """The signed gap of each chain (see ``chains.signed_gaps``), shape (levels, columns)."""
        wrong, gaps = self._moves.tests[0].answers(self._states.rows)
        return signed_gaps(wrong, gaps).reshape(-1, self.columns)

    def last_allows(self, rows: Words) -> npt.NDArray[np.bool_]:
        """Whether rows can be states of the last level."""
        return self._moves.are_allowed(rows, np.full(len(rows), len(self.levels) - 1))

    def still_failing(self) -> npt.NDArray[np.bool_]:
        """Whether each chain's decoder still fails on its fault set if it is asked anew."""
        fails = np.zeros(len(self._level_of), dtype=np.bool_)
        for k, level in enumerate(self.levels):
            which = slice(k * self.columns, (k + 1) * self.columns)
            wrong, gaps = self._moves.tests[level.decoder].without_memory(self._states.rows[which])
            fails[which] = wrong if level.least_gap is None else wrong & (gaps >= level.least_gap)
        return fails
