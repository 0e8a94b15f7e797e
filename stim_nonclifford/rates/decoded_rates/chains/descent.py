"""Sets up the levels of a ladder, the strongest noise first: each level takes fault sets of the one before.

Weaker noise has other fault sets, those with few members above all. So the fault sets that a level takes over
are drawn from those of the one before with the ratio of both weights, as in population annealing (Hukushima
and Iba, AIP Conference Proceedings 690, 200, 2003). Taken over as they are, they would be sets of stronger
noise that chains leave slowly, and rates of weak noise would be too low for hundreds of sweeps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....base.errors import ResourceLimitError
from ..answers.decoding import FailureTest
from ..faults.mechanisms import FaultModel, Floats, Words
from .chains import ChainStates, Level, Moves
from .ladder import Ladder

__all__ = [
    "DECODERS_DIFFER",
    "HARDLY_EVER_KEPT",
    "Stop",
    "allowed_in_both",
    "ladder_down_from",
    "resampled",
    "settle",
]

_STEPS_PER_LEVEL = 36
_SPACING = 1.1
"""Standard deviation, in a level, of the logarithm of the factor by which weights change to the next one."""

_LEAST_PASSED, _MOST_PASSED = 0.3, 0.45
_MOVES_PER_SHARE = 3
_LARGEST_SHARE = 0.5
_PATIENCE = 40
"""A fault set on which the next decoder fails, too, must turn up within so many times the usual steps."""

_STEPS_BEFORE_COPIES = 144
_LEAST_ALLOWED = 0.5
"""The next level begins with copies of the sets that it allows, if they are at least this part of all."""

_STEPS_UNTIL_KEPT = 144
_MOST_DESCENTS = 60
"""Until no postselected detector fires, a chain takes so many steps, and goes down so often, at most."""

_LEAST_SURVIVING = 0.35
_LEAST_SPREAD = 0.5
"""The next penalty is chosen as if the number of postselected detectors that fire varied at least so much."""

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

HARDLY_EVER_KEPT = (
    "Chains do not get to fault sets on which the decoder fails while no postselected detector fires: such"
    " sets are too rare here, or too far from each other. If all detectors are postselected, leave out"
    ' decoder= and give postselection_mask="all". Otherwise postselect fewer of them, or count errors with'
    " sinter or with SoftDecodingSampler."
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
    """Sets up the levels from the strongest noise to the weakest.

    Columns share no fault sets with postselection and gaps; without, some of their chains begin with the
    fault set of another column.

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
        ResourceLimitError: The decoders of neighbouring levels hardly ever fail on the same fault sets, or on
            sets that are kept.
    """
    # With these, chains do not wait until they come from the first level, so that columns must share nothing.
    resamples = not (gaps or model.postselects)
    climb = _Descent(model, tests, starts, rng, check, resamples)
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
    return Ladder(model, tests, climb.levels, stops_at, climb.found, founders=climb.founders)


class _Descent:
    """Sets up one level after the other.

    Attributes:
        levels: The levels.
        found: The states of each.
        founders: For each of these, from which column it descends.
    """

    def __init__(
        self,
        model: FaultModel,
        tests: Sequence[FailureTest],
        states: ChainStates,
        rng: np.random.Generator,
        check: Callable[[], None],
        resamples: bool,
    ) -> None:
        self._model, self._tests, self._states, self._rng, self._check = model, tests, states, rng, check
        self._resamples = resamples
        self._share = 1 / (1 + float(states.sizes.mean()))
        self.levels: list[Level] = []
        self.found: list[ChainStates] = []
        self.founders: list[npt.NDArray[np.intp]] = []
        self._founders = np.arange(len(states.sizes))

    def add(self, level: Level) -> None:
        """Adds a level; the states are taken along, and settle there."""
        level.share = self._share
        if self.levels:
            self._states = self._taken_along(self.levels[-1], level)
        moves = Moves(self._model, self._tests, [level])
        self._share = level.share = settle(moves, self._states, self._rng, self._check)
        self.levels.append(level)
        self.found.append(self._states.taken(np.arange(len(self._states.sizes))))
        self.founders.append(self._founders)

    def _taken_along(self, before: Level, level: Level) -> ChainStates:
        """The states with which a level begins."""
        states = self._states
        columns = len(states.sizes)
        if math.isinf(level.penalty) > math.isinf(before.penalty):
            return self._kept(level)
        log_weights = states.sums(level.log_odds - before.log_odds)
        if not level.has_condition_of(before):
            target = Moves(self._model, self._tests, [level])
            is_allowed = target.are_allowed(states.rows, np.zeros(columns, dtype=np.intp))
            if self._resamples and is_allowed.mean() >= _LEAST_ALLOWED:
                log_weights[~is_allowed] = -np.inf
            else:
                states, _ = allowed_in_both(
                    self._model, self._tests, before, level, states, self._rng, self._check
                )
                log_weights = states.sums(level.log_odds - before.log_odds)
        if not self._resamples:
            return states
        taken = resampled(log_weights, self._rng)
        self._founders = self._founders[taken]
        return states.taken(taken)

    def _kept(self, level: Level) -> ChainStates:
        """For each column a fault set with which no postselected detector fires.

        A chain may be caught where one does: of a set with two members, most neighbours with three are not
        kept either. So those that do not arrive go down through all penalties once more.
        """
        found = self._states
        waiting = np.arange(len(found.sizes))
        moves, target = (Moves(self._model, self._tests, [one]) for one in (self.levels[-1], level))
        for descents in range(_MOST_DESCENTS):
            some = self.found[0].taken(waiting) if descents else found.taken(waiting)
            if descents:
                for above in self.levels:
                    _walk(Moves(self._model, self._tests, [above]), some, self._rng, self._check)
            arrived, left = _arrivals(moves, target, some, _STEPS_UNTIL_KEPT, self._rng, self._check)
            found.put(waiting, arrived)
            waiting = waiting[left]
            if not len(waiting):
                return found
        raise ResourceLimitError(HARDLY_EVER_KEPT)

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


def resampled(log_weights: Floats, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """For each column, of which one it takes the state: of each as often as its weight says, on average.

    The numbers of copies are as near to their mean as they can be (systematic resampling), and a column whose
    state goes on keeps it.

    Args:
        log_weights: Shape (columns,): ln of the weights.
        rng: What the copies are drawn with.

    Examples:
        >>> resampled(np.log([1.0, 1e-9, 2.0, 1e-9]), np.random.default_rng(1)).tolist()
        [0, 2, 2, 2]
    """
    columns = len(log_weights)
    ends = np.cumsum(np.exp(log_weights - log_weights.max()))
    points = (np.arange(columns) + rng.random()) * (ends[-1] / columns)
    chosen = np.minimum(np.searchsorted(ends, points, side="right"), columns - 1)
    copies = np.bincount(chosen, minlength=columns)
    taken = np.arange(columns)
    taken[copies == 0] = np.repeat(taken, np.maximum(copies - 1, 0))
    return taken


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
) -> tuple[ChainStates, npt.NDArray[np.intp]]:
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

    Returns:
        The fault sets, and for each the column that it comes from, its own one or another one.

    Raises:
        ResourceLimitError: Some columns do not get there.
    """
    moves, target = (Moves(model, tests, [one]) for one in (level, following))
    steps = _PATIENCE * _STEPS_PER_LEVEL
    result, waiting = _arrivals(moves, target, states, steps, rng, check, copies)
    taken = np.arange(len(states.sizes))
    if len(waiting) > copies * len(taken):
        raise ResourceLimitError(DECODERS_DIFFER)
    taken[waiting] = rng.choice(np.setdiff1d(taken, waiting), len(waiting))
    return result.taken(taken), taken


def _arrivals(
    moves: Moves,
    target: Moves,
    states: ChainStates,
    steps: int,
    rng: np.random.Generator,
    check: Callable[[], None],
    few: float = 0.0,
) -> tuple[ChainStates, npt.NDArray[np.intp]]:
    """Moves at one level until states are allowed at another one, and the columns that did not get there.

    After a while, that is left at so small a part of the columns.
    """

    def allowed(rows: Words) -> npt.NDArray[np.bool_]:
        return target.are_allowed(rows, np.zeros(len(rows), dtype=np.intp))

    result = states.taken(np.arange(len(states.sizes)))
    waiting = np.flatnonzero(~allowed(states.rows))
    for step in range(steps):
        if len(waiting) <= few * len(states.sizes) * (step >= _STEPS_BEFORE_COPIES):
            break
        check()
        some = states.taken(waiting)
        moves.move(step, some, np.zeros(len(waiting), dtype=np.intp), rng)
        states.put(waiting, some)
        is_found = allowed(some.rows)
        result.put(waiting[is_found], some.taken(np.flatnonzero(is_found)))
        waiting = waiting[~is_found]
    return result, waiting


def _walk(moves: Moves, states: ChainStates, rng: np.random.Generator, check: Callable[[], None]) -> None:
    """Takes as many steps as a level begins with, at the only level of the moves."""
    for step in range(_STEPS_PER_LEVEL):
        check()
        moves.move(step, states, np.zeros(len(states.sizes), dtype=np.intp), rng)
