"""Replica exchange: columns of chains, one for each level, that exchange their fault sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...base.errors import ResourceLimitError
from .chains import ChainStates, Level, Moves, log_penalty, signed_gaps
from .decoding import FailureTest
from .failing.cores import Core, cores_of
from .failing.sets import FailingSets, Indices, Recorder
from .mechanisms import FaultModel, Floats, Words

__all__ = ["DECODERS_DIFFER", "Ladder", "Stop", "allowed_in_both", "ladder_down_from", "settle"]

_STEPS_PER_LEVEL = 36
_SPACING = 1.1
"""Standard deviation, in a level, of the logarithm of the factor by which weights change to the next one."""

_LEAST_PASSED, _MOST_PASSED = 0.3, 0.45
_MOVES_PER_SHARE = 3
_LARGEST_SHARE = 0.5
_CORE_LEVELS = 16
"""Of so many levels, at most, cores of fault sets are found for jumps."""

_MOST_RECORDS = 1 << 13
"""Sweeps of which something is recorded: 0.5 kB for each level."""

_PATIENCE = 40
"""Times as many steps as usual in which a fault set must turn up on which the next decoder fails, too."""

_STEPS_BEFORE_COPIES = 144
_LEAST_SURVIVING = 0.35
_LEAST_SPREAD = 0.5
"""Of numbers of postselected detectors that fire, for the next penalty."""

_SURER = 0.4
"""The part of the fault sets of a level that are to be in the next one, with a larger gap."""

_MOST_GAP_LEVELS = 40
_FEWEST_SURER = 4

DECODERS_DIFFER = (
    "The decoders of neighbouring circuits hardly ever fail on the same fault sets, so that their rates"
    " cannot be compared. Ask for the rate of each circuit by itself (Circuit.logical_error_rate), give"
    " circuits whose noise differs less, or a sinter.Decoder that has the same priors for all of them: one"
    " that compiles the decoder of one error model, whatever model it is given."
)


@dataclass(frozen=True)
class Stop:
    """A level that there must be.

    Attributes:
        log_odds: ln of the odds of each mechanism.
        decoder: The number of its decoder.
        penalty: As of a ``Level``. Levels are put between one without a penalty and one at which it is
            infinite, if they have the same odds.
    """

    log_odds: Floats
    decoder: int
    penalty: float = 0.0


def ladder_down_from(
    model: FaultModel,
    tests: Sequence[FailureTest],
    stops: Sequence[Stop],
    starts: ChainStates,
    rng: np.random.Generator,
    check: Callable[[], None],
    gaps: bool = False,
) -> Ladder:
    """Sets up the levels from the strongest noise to the weakest, and takes each column's fault set along.

    Args:
        model: The mechanisms.
        tests: The decoders.
        stops: The levels that there must be, the strongest first.
        starts: For each column a failing state of the first stop, independent of the others.
        rng: What the moves are drawn with.
        check: Is called between moves; may raise to end the work.
        gaps: Whether levels with larger and larger gaps follow the last stop.

    Returns:
        The ladder.

    Raises:
        ResourceLimitError: The decoders of neighbouring levels hardly ever fail on the same fault sets.
    """
    climb = _Descent(model, tests, starts, rng, check)
    stops_at: list[int] = []
    for before, stop in zip([None, *stops], stops, strict=False):
        if before is None:
            climb.add(Level(stop.log_odds, stop.decoder))
        elif stop.penalty != before.penalty:
            climb.postselect(stop)
        else:
            climb.weaken(before, stop)
        stops_at.append(len(climb.levels) - 1)
    if gaps:
        climb.widen_gaps()
    return Ladder(model, tests, climb.levels, stops_at, climb.found)


class _Descent:
    """Sets up one level after the other.

    Attributes:
        levels: The levels.
        found: The states of each.
    """

    def __init__(
        self,
        model: FaultModel,
        tests: Sequence[FailureTest],
        states: ChainStates,
        rng: np.random.Generator,
        check: Callable[[], None],
    ) -> None:
        self._model, self._tests, self._states, self._rng, self._check = model, tests, states, rng, check
        self._share = 1 / (1 + float(states.sizes.mean()))
        self.levels: list[Level] = []
        self.found: list[ChainStates] = []

    def add(self, level: Level) -> None:
        """Adds a level; the states are taken along, and settle there."""
        level.share = self._share
        if self.levels:
            before = self.levels[-1]
            if not level.has_condition_of(before) or math.isinf(level.penalty) > math.isinf(before.penalty):
                self._states = allowed_in_both(
                    self._model, self._tests, before, level, self._states, self._rng, self._check
                )
        moves = Moves(self._model, self._tests, [level])
        self._share = level.share = settle(moves, self._states, self._rng, self._check)
        self.levels.append(level)
        self.found.append(self._states.taken(np.arange(len(self._states.sizes))))

    def weaken(self, before: Stop, stop: Stop) -> None:
        """Adds levels down to weaker noise, with odds between those of two stops."""
        at = 0.0  # how far from the stop before
        while at <= 1 - 1e-9:
            spread = self._states.sums(stop.log_odds - before.log_odds).std() * (1 - at)
            at += (1 - at) / max(1, math.ceil(spread / _SPACING))
            is_there = at > 1 - 1e-9
            odds = stop.log_odds if is_there else before.log_odds + at * (stop.log_odds - before.log_odds)
            decoder = stop.decoder if at >= 0.5 else before.decoder
            self.add(Level(odds, decoder, penalty=stop.penalty))

    def postselect(self, stop: Stop) -> None:
        """Adds levels with larger penalties, up to that at which no postselected detector fires."""
        while True:
            fired = self._model.fired(self._states.rows)
            if (fired == 0).mean() >= _LEAST_SURVIVING:
                break
            penalty = self.levels[-1].penalty + _SPACING / max(float(fired.std()), _LEAST_SPREAD)
            self.add(Level(stop.log_odds, stop.decoder, penalty=penalty))
        self.add(Level(stop.log_odds, stop.decoder, penalty=stop.penalty))

    def widen_gaps(self) -> None:
        """Adds levels at which the decoder is surer and surer of its wrong prediction."""
        last = self.levels[-1]
        test = self._tests[last.decoder]
        for _ in range(_MOST_GAP_LEVELS):
            seen = np.sort(test.answers(self._states.rows)[1])
            above = seen[seen > (seen[0] if self.levels[-1].least_gap is None else self.levels[-1].least_gap)]
            if len(above) < _FEWEST_SURER:
                return
            least = max(int(seen[int((1 - _SURER) * len(seen))]), int(above[0]))
            try:
                self.add(Level(last.log_odds, last.decoder, penalty=last.penalty, least_gap=least))
            except ResourceLimitError:
                return  # some columns do not reach it


def settle(moves: Moves, states: ChainStates, rng: np.random.Generator, check: Callable[[], None]) -> float:
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
        decided, accepted = moves.move(step, states, level_of, rng)
        if moves.kinds[step % len(moves.kinds)] != "r":
            continue
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


def allowed_in_both(
    model: FaultModel,
    tests: Sequence[FailureTest],
    level: Level,
    following: Level,
    states: ChainStates,
    rng: np.random.Generator,
    check: Callable[[], None],
    copies: float = 0.0,
) -> ChainStates:
    """For each column a fault set of a level that can be a state of the following level, too.

    Args:
        model: The mechanisms.
        tests: The decoders.
        level: The level.
        following: The following level.
        states: Of the columns, at the level.
        rng: What the moves are drawn with.
        check: Is called between moves; may raise to end the work.
        copies: The part of the columns that may take the state of another one if they do not get there soon.

    Raises:
        ResourceLimitError: Some columns do not get there.
    """
    moves, target = Moves(model, tests, [level]), Moves(model, tests, [following])

    def allowed(rows: Words) -> npt.NDArray[np.bool_]:
        return target.are_allowed(rows, np.zeros(len(rows), dtype=np.intp))

    result = states.taken(np.arange(len(states.sizes)))
    waiting = np.flatnonzero(~allowed(states.rows))
    for step in range(_PATIENCE * _STEPS_PER_LEVEL):
        if not len(waiting):
            return result
        if step >= _STEPS_BEFORE_COPIES and len(waiting) <= copies * len(states.sizes):
            there = np.setdiff1d(np.arange(len(states.sizes)), waiting)
            result.put(waiting, result.taken(rng.choice(there, len(waiting))))
            return result
        check()
        some = states.taken(waiting)
        moves.move(step, some, np.zeros(len(waiting), dtype=np.intp), rng)
        states.put(waiting, some)
        is_found = allowed(some.rows)
        result.put(waiting[is_found], some.taken(np.flatnonzero(is_found)))
        waiting = waiting[~is_found]
    raise ResourceLimitError(DECODERS_DIFFER)


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
            for the memory, ``up``, ``down``, ``sizes`` and ``renewed`` are of every ``stride``-th only.
        stride: A power of two.
        sweeps: Number of sweeps.
        renewed: As often, for each level the part of its chains whose fault set has come from the first
            level by exchanges, where chains begin in equilibrium. The others descend from sets that the
            ladder was set up with, too much like those of stronger noise.
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
        self.renewed: list[Floats] = []
        self._is_renewed = np.zeros(len(self._level_of), dtype=np.bool_)
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
            self._is_renewed[: self.columns] = True
            if self.sweeps % self.stride == 0:
                self.renewed.append(self._is_renewed.reshape(-1, self.columns).mean(axis=1))
                self.sizes.append(self._states.sizes.reshape(-1, self.columns).astype(np.float32))
            self._record()
            self._exchange(rng, fails)
            self.sweeps += 1
            if len(self.sizes) > _MOST_RECORDS:
                self._halve_records()

    def _halve_records(self) -> None:
        self.stride *= 2
        self.sizes, self.renewed = self.sizes[::2], self.renewed[::2]
        self.up, self.down = ([each[::2] for each in records] for records in (self.up, self.down))

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
        self._states.exchange(one[swapped], other[swapped])
        self._is_renewed[one[swapped]], self._is_renewed[other[swapped]] = (
            self._is_renewed[other[swapped]],
            self._is_renewed[one[swapped]],
        )
        up, down, swapped = (each.reshape(len(pairs), -1) for each in (up, down, swapped))
        is_recorded = self.sweeps // 2 % self.stride == 0  # a pair of levels has every second sweep
        for k, number in enumerate(pairs.tolist()):
            if is_recorded:
                self.up[number].append(up[k].astype(np.float32))
                self.down[number].append(down[k].astype(np.float32))
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
