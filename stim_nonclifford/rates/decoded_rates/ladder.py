"""Replica exchange: columns of chains, one for each level, that exchange their fault sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...base.errors import ResourceLimitError
from .chains import ChainStates, Level, Moves
from .decoding import FailureTest
from .failing.sets import FailingSets, Recorder
from .mechanisms import FaultModel, Floats
from .plain_shots import Indices

__all__ = ["DECODERS_DIFFER", "Ladder", "Stop", "ladder_down_from"]

_MOVES = "rrs"
"""What a chain does between exchanges: draw a share of the mechanisms anew (r), replace a member (s)."""

_STEPS_PER_LEVEL = 36
_SPACING = 1.1
"""Standard deviation, in a level, of the logarithm of the factor by which weights change to the next one."""

_LEAST_PASSED, _MOST_PASSED = 0.3, 0.45
_MOVES_PER_SHARE = 3
_LARGEST_SHARE = 0.5
_PATIENCE = 40
"""Times as many steps as usual in which a fault set must turn up on which the next decoder fails, too."""


DECODERS_DIFFER = (
    "The decoders of neighbouring circuits hardly ever fail on the same fault sets, so that their rates"
    " cannot be compared. Ask for the rate of each circuit by itself (Circuit.logical_error_rate), or give"
    " circuits whose noise differs less."
)


@dataclass(frozen=True)
class Stop:
    """A level that there must be.

    Attributes:
        log_odds: ln of the odds of each mechanism.
        decoder: The number of its decoder.
    """

    log_odds: Floats
    decoder: int


def ladder_down_from(
    model: FaultModel,
    tests: Sequence[FailureTest],
    stops: Sequence[Stop],
    starts: Sequence[Indices],
    rng: np.random.Generator,
    check: Callable[[], None],
) -> Ladder:
    """Sets up the levels from the strongest noise to the weakest, and takes each column's fault set along.

    Args:
        model: The mechanisms.
        tests: The decoders.
        stops: The levels that there must be, the strongest first.
        starts: A failing fault set of the first stop for each column, independent of each other.
        rng: What the moves are drawn with.
        check: Is called between moves; may raise to end the work.

    Returns:
        The ladder.

    Raises:
        ResourceLimitError: The decoders of neighbouring levels hardly ever fail on the same fault sets.
    """
    columns = len(starts)
    states = ChainStates.of(model, starts)
    levels: list[Level] = []
    stops_at: list[int] = []
    found: list[ChainStates] = []
    share = 1 / (1 + float(states.sizes.mean()))
    for number, stop in enumerate(stops):
        at = 0.0  # how far from the stop before
        while True:
            if number == 0:
                at, odds, decoder = 1.0, stop.log_odds, stop.decoder
            else:
                before = stops[number - 1]
                spread = states.sums(stop.log_odds - before.log_odds).std() * (1 - at)
                at += (1 - at) / max(1, math.ceil(spread / _SPACING))
                is_there = at > 1 - 1e-9
                odds = stop.log_odds if is_there else before.log_odds + at * (stop.log_odds - before.log_odds)
                decoder = stop.decoder if at >= 0.5 else before.decoder
            level = Level(odds, decoder, share)
            if levels and decoder != levels[-1].decoder:
                states = _failing_in_both(model, tests, levels[-1], level, states, rng, check)
            share = _settle(Moves(model, tests, [level]), states, rng, check)
            level.share = share
            levels.append(level)
            found.append(states.taken(np.arange(columns)))
            if at > 1 - 1e-9:
                stops_at.append(len(levels) - 1)
                break
    return Ladder(model, tests, levels, stops_at, found)


def _settle(moves: Moves, states: ChainStates, rng: np.random.Generator, check: Callable[[], None]) -> float:
    """Runs the chains of a level for a while, and finds the share of mechanisms to draw anew in a move.

    The larger the share s, the more changes, and the more of them are refused. Their number is largest where
    refusals are as frequent as 1 - 1/e, if a move with the share s is refused with probability 1 - e^(-cs).
    """
    level_of = np.zeros(len(states.sizes), dtype=np.intp)
    share = float(moves.shares[0])
    refused = np.zeros(len(level_of), dtype=np.int64)
    moved = 0
    for step in range(_STEPS_PER_LEVEL):
        check()
        if _MOVES[step % len(_MOVES)] == "s":
            moves.replace(states, level_of, rng)
            continue
        decided, accepted = moves.refresh(states, level_of, rng)
        refused += decided & ~accepted
        moved += 1
        if moved == _MOVES_PER_SHARE:
            passed = 1 - float(refused.mean()) / moved
            if passed > _MOST_PASSED:
                share = min(_LARGEST_SHARE, 1.3 * share)
            elif passed < _LEAST_PASSED:
                share /= 1.3
            moves.set_shares([share])
            refused[:] = moved = 0
    return share


def _failing_in_both(
    model: FaultModel,
    tests: Sequence[FailureTest],
    level: Level,
    following: Level,
    states: ChainStates,
    rng: np.random.Generator,
    check: Callable[[], None],
) -> ChainStates:
    """For each column a fault set of a level on which the decoder of the following level fails, too."""
    moves = Moves(model, tests, [level])
    test = tests[following.decoder]
    result = states.taken(np.arange(len(states.sizes)))
    waiting = np.flatnonzero(~test(states.rows))
    for step in range(_PATIENCE * _STEPS_PER_LEVEL):
        if not len(waiting):
            return result
        check()
        some = states.taken(waiting)
        (moves.refresh if _MOVES[step % len(_MOVES)] == "r" else moves.replace)(
            some, np.zeros(len(waiting), dtype=np.intp), rng
        )
        states.put(waiting, some)
        fails = test(some.rows)
        result.put(waiting[fails], some.taken(np.flatnonzero(fails)))
        waiting = waiting[~fails]
    raise ResourceLimitError(DECODERS_DIFFER)


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
        sizes: After each sweep, the numbers of members: shape (levels, columns).
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
    ) -> None:
        self.model, self.levels, self.stops_at = model, levels, stops_at
        self._moves = Moves(model, tests, levels)
        self.columns = len(states[0].sizes)
        self._level_of = np.repeat(np.arange(len(levels)), self.columns)
        room = max(each.members.shape[1] for each in states)
        self._states = ChainStates(
            np.vstack(
                [
                    np.pad(each.members, ((0, 0), (0, room - each.members.shape[1])), constant_values=-1)
                    for each in states
                ]
            ),
            np.concatenate([each.sizes for each in states]),
            np.vstack([each.rows for each in states]),
        )
        self._steps = [after.log_odds - before.log_odds for before, after in itertools.pairwise(levels)]
        self.up: list[list[Floats]] = [[] for _ in self._steps]
        self.down: list[list[Floats]] = [[] for _ in self._steps]
        self.sizes: list[Floats] = []
        self.exchanged = np.zeros((len(self._steps), 2))
        self.decided = np.zeros(len(levels))
        self.accepted = np.zeros(len(levels))
        self._recorders = {level: Recorder() for level in stops_at}
        self._sweep = 0

    def run(self, sweeps: int, rng: np.random.Generator, check: Callable[[], None]) -> None:
        """Takes steps with all chains, each sweep followed by exchanges.

        Args:
            sweeps: How many sweeps.
            rng: What they are drawn with.
            check: Is called between steps; may raise to end the work.
        """
        for _ in range(sweeps):
            for kind in _MOVES:
                check()
                move = self._moves.refresh if kind == "r" else self._moves.replace
                decided, accepted = move(self._states, self._level_of, rng)
                self.decided += decided.reshape(-1, self.columns).sum(axis=1)
                self.accepted += accepted.reshape(-1, self.columns).sum(axis=1)
            self.sizes.append(self._states.sizes.reshape(-1, self.columns).astype(np.float64))
            self._record()
            self._exchange(rng)
            self._sweep += 1

    def _record(self) -> None:
        for level, recorder in self._recorders.items():
            if recorder.wants(self._sweep):
                chains = slice(level * self.columns, (level + 1) * self.columns)
                test = self._moves.tests[self.levels[level].decoder]
                wrong = test.wrong(self._states.rows[chains])
                recorder.add(self._sweep, self._states.members[chains], wrong)

    def failing_sets(self, level: int, burn_in: int) -> FailingSets:
        """Fault sets of the chains of a level that was asked for.

        Args:
            level: The number of the level.
            burn_in: Sweeps to leave out.
        """
        return self._recorders[level].sets(burn_in)

    def _exchange(self, rng: np.random.Generator) -> None:
        columns = np.arange(self.columns)
        for number in range(self._sweep % 2, len(self._steps), 2):
            one, other = number * self.columns + columns, (number + 1) * self.columns + columns
            up = self._states.taken(one).sums(self._steps[number])
            down = self._states.taken(other).sums(self._steps[number])
            if self.levels[number].decoder != self.levels[number + 1].decoder:
                up[~self._moves.fails(self._states.rows[one], self._level_of[other])] = -np.inf
                down[~self._moves.fails(self._states.rows[other], self._level_of[one])] = np.inf
            self.up[number].append(up)
            self.down[number].append(down)
            swapped = np.log(rng.random(self.columns)) < up - down
            self._states.exchange(one[swapped], other[swapped])
            self.exchanged[number] += self.columns, int(swapped.sum())

    def still_failing(self) -> npt.NDArray[np.bool_]:
        """Whether each chain's decoder still fails on its fault set if it is asked anew."""
        fails = np.zeros(len(self._level_of), dtype=np.bool_)
        decoder_of = np.array([level.decoder for level in self.levels])[self._level_of]
        for decoder in np.unique(decoder_of):
            which = np.flatnonzero(decoder_of == decoder)
            fails[which] = self._moves.tests[decoder].without_memory(self._states.rows[which])
        return fails
