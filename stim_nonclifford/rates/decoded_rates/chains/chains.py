"""Chains over failing fault sets, one for each level and column, which take their steps together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...._native import ChainMoves, ChainWalk
from ..answers.decoding import LISTED_BITS, FailureTest, Gaps, answers_of, tables_of, walked
from ..failing.cores import Core
from ..failing.plain_shots import Indices, outcome_numbers, xor_of_groups
from ..faults.mechanisms import FaultModel, Floats, Words
from .jumps import CoreExchange, CoreGrowth, Jump

__all__ = ["ChainStates", "Level", "Moves", "log_penalty", "signed_gaps"]

Bools = npt.NDArray[np.bool_]
_FREE = -1

_WALKED = {"r": 0, "s": 1}
"""The moves that native code makes by itself."""

_OUTCOMES_TOO = 0.25
"""How often a move that draws mechanisms anew draws the quantum outcomes anew, too."""


@dataclass
class Level:
    """A strength of the noise, and the decoder that goes with it.

    Attributes:
        log_odds: ln of the odds of each mechanism.
        decoder: The number of the decoder.
        share: What part of the mechanisms a move draws anew.
        penalty: A fault set counts exp(-penalty) times as much for each postselected detector that fires;
            infinite: none may fire.
        least_gap: The decoder must be at least so sure of its wrong prediction; None: that does not matter.
        signed: Whether states need not fail: it is the signed gap that must be at least ``least_gap``.
    """

    log_odds: Floats
    decoder: int
    share: float = 0.1
    penalty: float = 0.0
    least_gap: int | None = None
    signed: bool = False

    def has_condition_of(self, other: Level) -> bool:
        """Whether the decoder fails on the same fault sets in the sense of both."""
        mine, others = ((each.decoder, each.least_gap, each.signed) for each in (self, other))
        return mine == others


class ChainStates:
    """The fault sets of chains, all failing.

    Attributes:
        members: intp, shape (chains, room): the members first, then -1.
        sizes: int64, shape (chains,): the number of members.
        rows: uint64, shape (chains, words), with what quantum outcomes flip.
        numbers: uint64, shape (chains,): the numbers that fix the quantum outcomes.
    """

    def __init__(self, members: Indices, sizes: npt.NDArray[np.int64], rows: Words, numbers: Words) -> None:
        self.members = members
        self.sizes = sizes
        self.rows = rows
        self.numbers = numbers

    @classmethod
    def of(cls, model: FaultModel, sets: Sequence[Indices], numbers: Words | None = None) -> ChainStates:
        """The states with given members, and numbers that fix the quantum outcomes; None: 0."""
        if numbers is None:
            numbers = np.zeros(len(sets), dtype=np.uint64)
        sizes = np.array([len(each) for each in sets], dtype=np.int64)
        members = np.full((len(sets), int(sizes.max(initial=1))), _FREE, dtype=np.intp)
        for row, each in zip(members, sets, strict=True):
            row[: len(each)] = each
        rows = xor_of_groups(model, np.concatenate([*sets]).astype(np.intp), sizes)
        return cls(members, sizes, model.with_outcomes(rows, numbers), numbers.copy())

    def taken(self, chains: Indices) -> ChainStates:
        """The states of some chains."""
        return ChainStates(
            self.members[chains].copy(),
            self.sizes[chains].copy(),
            self.rows[chains].copy(),
            self.numbers[chains].copy(),
        )

    @classmethod
    def joined(cls, parts: Sequence[ChainStates]) -> ChainStates:
        """The states of several, one after the other."""
        room = max(each.members.shape[1] for each in parts)
        members = [
            np.pad(each.members, ((0, 0), (0, room - each.members.shape[1])), constant_values=_FREE)
            for each in parts
        ]
        return cls(
            np.vstack(members),
            np.concatenate([each.sizes for each in parts]),
            np.vstack([each.rows for each in parts]),
            np.concatenate([each.numbers for each in parts]),
        )

    def put(self, chains: Indices, states: ChainStates) -> None:
        """Replaces the states of some chains."""
        self._make_room(states.members.shape[1])
        self.members[chains, : states.members.shape[1]] = states.members
        self.members[chains, states.members.shape[1] :] = _FREE
        self.sizes[chains] = states.sizes
        self.rows[chains] = states.rows
        self.numbers[chains] = states.numbers

    def exchange(self, one: Indices, other: Indices) -> None:
        """Exchanges the states of chains."""
        for values in (self.members, self.sizes, self.rows, self.numbers):
            values[one], values[other] = values[other], values[one]

    def sums(self, values: Floats) -> Floats:
        """For each chain, the sum of values of its members.

        Args:
            values: Shape (mechanisms,), or (chains, mechanisms).
        """
        padded = np.append(values, 0.0)
        return padded[self.members].sum(axis=1)

    def _make_room(self, room: int) -> None:
        more = room - self.members.shape[1]
        if more > 0:
            free = np.full((len(self.members), more), _FREE, dtype=np.intp)
            self.members = np.hstack([self.members, free])

    def replace_members(self, chains: Indices, jump: Jump) -> None:
        """Takes members out of the fault sets of some chains, and puts others in.

        Args:
            chains: The chains.
            jump: Which leave and enter, of all chains.
        """
        found = jump.after(self.members)[chains]
        self.sizes[chains] = (found != _FREE).sum(axis=1)
        self._make_room(int(self.sizes[chains].max(initial=0)))
        # Members first, in their order.
        order = np.argsort(found == _FREE, axis=1, kind="stable")[:, : self.members.shape[1]]
        self.members[chains] = np.take_along_axis(found, order, axis=1)


class Moves:
    """Proposes changes of the fault sets of chains, and makes those with which the decoder still fails.

    ``refresh`` draws a share of the mechanisms anew, as if nothing was known of them: the law of all fault
    sets stays as it is, so that its restriction to the failing ones does if others are refused.
    ``replace`` puts a mechanism in the place of a member that shares a detector with it. ``redraw`` draws
    quantum outcomes anew. ``jump`` replaces a core of the fault set (``jumps``).

    Attributes:
        kinds: What a chain does between exchanges: draw a share of the mechanisms anew (r), replace a member
            (s), draw the outcomes anew (o); and, if cores are known, exchange a core (e), replace it by more
            mechanisms or the other way round (g).
    """

    def __init__(
        self,
        model: FaultModel,
        tests: Sequence[FailureTest],
        levels: Sequence[Level],
        cores: Sequence[Core] = (),
    ) -> None:
        self.model = model
        self.tests = tests
        self.levels = levels
        self.kinds = "rrs" if model.outcomes is None else "rrso"
        self._log_odds = np.array([level.log_odds for level in levels])
        self._decoders = np.array([level.decoder for level in levels], dtype=np.int64)
        none = np.iinfo(np.int64).min
        self._least_gaps = np.array(
            [none if level.least_gap is None else level.least_gap for level in levels], dtype=np.int64
        )
        self._signed = np.array([level.signed for level in levels])
        self._penalties = np.array([level.penalty for level in levels])
        starts, neighbours = model.neighbours
        self._proposals = ChainMoves(model.num_mechanisms, self._log_odds.ravel(), starts, neighbours)
        self._flips = model.flips.ravel()
        self._walks = model.outcomes is None and not self._penalties.any()
        self.set_shares([level.share for level in levels])
        self._jumps: dict[str, CoreExchange | CoreGrowth] = {
            "e": CoreExchange(cores, self._log_odds),
            "g": CoreGrowth(cores, self._log_odds),
        }
        self.kinds += "".join(kind for kind, jumps in self._jumps.items() if jumps.is_possible)

    def set_shares(self, shares: Sequence[float]) -> None:
        """Sets which part of the mechanisms ``refresh`` draws anew, for each level."""
        self.shares = np.array(shares, dtype=np.float64)
        self._proposals.set_shares(self.shares)

    def sweep(
        self,
        states: ChainStates,
        level_of: Indices,
        further_level_of: Indices,
        rng: np.random.Generator,
        check: Callable[[], None],
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Bools]:
        """All kinds of moves, one after the other.

        Args:
            states: The fault sets of the chains.
            level_of: intp, shape (chains,): the level of each chain.
            further_level_of: The same: other levels; -1: none.
            rng: What moves are drawn with.
            check: Is called between moves; may raise to end the work.

        Returns:
            For each chain, how many changes there were to decide on; how many were made; and whether the
            fault set fails in the sense of the further level. False where there is none.
        """
        kinds = self.kinds
        walked_by_itself = len(kinds) - len(kinds.lstrip("".join(_WALKED))) if self._walks else 0
        decided, accepted = np.zeros((2, len(level_of)), dtype=np.int64)
        fails = np.zeros(len(level_of), dtype=np.bool_)
        is_asked = further_level_of >= 0
        if walked_by_itself:
            check()
            decided, accepted, fails = self._walk(
                kinds[:walked_by_itself], states, level_of, further_level_of, rng
            )
            is_asked[:] = False
        for number in range(walked_by_itself, len(kinds)):
            check()
            was_decided, was_accepted = self.move(number, states, level_of, rng)
            decided += was_decided
            accepted += was_accepted
            is_asked |= was_accepted & (further_level_of >= 0)
        asked = np.flatnonzero(is_asked)
        fails[asked] = self.fails(states.rows[asked], further_level_of[asked])
        return decided, accepted, fails

    def _walk(
        self,
        kinds: str,
        states: ChainStates,
        level_of: Indices,
        further_level_of: Indices,
        rng: np.random.Generator,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Bools]:
        """As ``sweep``, by native code."""
        walk = ChainWalk(
            self._proposals,
            self._flips,
            states.rows.shape[1],
            tables_of(self.tests),
            self._decoders,
            self._least_gaps,
            self._signed.astype(np.int64),
            np.array([_WALKED[kind] for kind in kinds], dtype=np.int64),
            np.array([rng.integers(1 << 64, dtype=np.uint64) for _ in kinds], dtype=np.uint64),
            states.members.ravel(),
            states.members.shape[1],
            states.rows.ravel(),
            level_of,
            further_level_of,
            LISTED_BITS,
        )
        walked(self.tests, walk)
        states.members, states.rows, decided, accepted, fails = walk.state()
        states.sizes = (states.members != _FREE).sum(axis=1)
        return decided, accepted, fails.view(np.bool_)

    def move(
        self, number: int, states: ChainStates, level_of: Indices, rng: np.random.Generator
    ) -> tuple[Bools, Bools]:
        """The move with a number, of which the kind follows; returns as ``refresh``."""
        kind = self.kinds[number % len(self.kinds)]
        if kind in _WALKED and self._walks:
            decided, accepted, _ = self._walk(kind, states, level_of, np.full(len(level_of), -1), rng)
            return decided > 0, accepted > 0
        if kind in self._jumps:
            return self.jump(kind, states, level_of, rng)
        return {"r": self.refresh, "s": self.replace, "o": self.redraw}[kind](states, level_of, rng)

    def refresh(
        self, states: ChainStates, level_of: Indices, rng: np.random.Generator
    ) -> tuple[Bools, Bools]:
        """One move of each chain.

        Returns:
            For each chain, whether there was a change to decide on; and whether it was made.
        """
        chains = len(level_of)
        seed = int(rng.integers(1 << 64, dtype=np.uint64))
        jump = _jump(self._proposals.refresh, states, level_of, seed)
        numbers_of_outcomes = states.numbers
        if self.model.outcomes is not None:
            drawn = outcome_numbers(self.model, rng, chains)
            numbers_of_outcomes = np.where(rng.random(chains) < _OUTCOMES_TOO, drawn, states.numbers)
        return self._decided(states, level_of, jump, rng, numbers_of_outcomes)

    def redraw(self, states: ChainStates, level_of: Indices, rng: np.random.Generator) -> tuple[Bools, Bools]:
        """One move of each chain; returns as ``refresh``."""
        chains = len(level_of)
        drawn = outcome_numbers(self.model, rng, chains)
        leaving = np.zeros(states.members.shape, dtype=np.bool_)
        jump = Jump(np.ones(chains, dtype=np.bool_), leaving, np.zeros((chains, 0), dtype=np.intp))
        return self._decided(states, level_of, jump, rng, drawn)

    def replace(
        self, states: ChainStates, level_of: Indices, rng: np.random.Generator
    ) -> tuple[Bools, Bools]:
        """One move of each chain; returns as ``refresh``."""
        seed = int(rng.integers(1 << 64, dtype=np.uint64))
        jump = _jump(self._proposals.replace, states, level_of, seed)
        return self._decided(states, level_of, jump, rng, states.numbers)

    def jump(
        self, kind: str, states: ChainStates, level_of: Indices, rng: np.random.Generator
    ) -> tuple[Bools, Bools]:
        """One jump of each chain, of kind ``e`` or ``g``; returns as ``refresh``."""
        jump = self._jumps[kind].proposed(states.members, level_of, rng)
        return self._decided(states, level_of, jump, rng, states.numbers)

    def wrong(self, rows: Words, level_of: Indices) -> Words:
        """The observables that the decoders of levels predict wrongly, as words, for each row."""
        return answers_of(self.tests, rows, self._decoders[level_of])[0]

    def fails(self, rows: Words, level_of: Indices) -> Bools:
        """Whether the decoders of levels fail on rows, and are as sure as they must be."""
        wrong, gaps = answers_of(self.tests, rows, self._decoders[level_of])
        signed = self._signed[level_of]
        values = np.where(signed, signed_gaps(wrong, gaps), gaps)
        return np.asarray((wrong.any(axis=1) | signed) & (values >= self._least_gaps[level_of]))

    def log_penalties(self, rows: Words, level_of: Indices) -> Floats:
        """Ln of the factors with which rows count because of the postselected detectors that fire."""
        return log_penalty(self.model.fired(rows), self._penalties[level_of])

    def are_allowed(self, rows: Words, level_of: Indices) -> Bools:
        """Whether rows can be states of levels."""
        return self.fails(rows, level_of) & np.isfinite(self.log_penalties(rows, level_of))

    def _decided(
        self,
        states: ChainStates,
        level_of: Indices,
        jump: Jump,
        rng: np.random.Generator,
        numbers_of_outcomes: Words,
    ) -> tuple[Bools, Bools]:
        chains = len(level_of)
        flipped = np.hstack([np.where(jump.leaving, states.members, _FREE), jump.entering])
        numbers_flipped = (flipped != _FREE).sum(axis=1)
        is_changed = (numbers_flipped > 0) | (numbers_of_outcomes != states.numbers)
        decided = changed = np.flatnonzero(is_changed & jump.possible)
        events = flipped[changed]
        changes = xor_of_groups(self.model, events[events != _FREE], numbers_flipped[changed])
        rows = self.model.with_outcomes(states.rows[changed], states.numbers[changed])
        rows ^= changes ^ self.model.base
        rows = self.model.with_outcomes(rows, numbers_of_outcomes[changed])
        if self._penalties.any():
            number = self.log_penalties(rows, level_of[changed])
            number -= self.log_penalties(states.rows[changed], level_of[changed])
            is_passed = np.log(rng.random(len(changed))) < number
            changed, rows = changed[is_passed], rows[is_passed]
        is_failing = self.fails(rows, level_of[changed])
        accepted = changed[is_failing]
        states.rows[accepted] = rows[is_failing]
        states.numbers[accepted] = numbers_of_outcomes[accepted]
        states.replace_members(accepted, jump)
        was_decided, is_accepted = np.zeros(chains, dtype=np.bool_), np.zeros(chains, dtype=np.bool_)
        was_decided[decided] = True
        is_accepted[accepted] = True
        return was_decided, is_accepted


def _jump(
    propose: Callable[..., tuple[npt.NDArray[np.uint8], Indices]],
    states: ChainStates,
    level_of: Indices,
    seed: int,
) -> Jump:
    """What native code proposes."""
    leaving, entering = propose(states.members.ravel(), states.members.shape[1], level_of, seed)
    return Jump(np.ones(len(level_of), dtype=np.bool_), leaving.view(np.bool_), entering)


def signed_gaps(wrong: Words, gaps: Gaps) -> Gaps:
    """The gap g of a wrong prediction, and -1 - g of a right one: the larger, the worse.

    Examples:
        >>> signed_gaps(np.array([[0], [1]], dtype=np.uint64), np.array([20, 30])).tolist()
        [-21, 30]
    """
    return np.where(wrong.any(axis=1), gaps, -1 - gaps)


def log_penalty(fired: npt.NDArray[np.int64], penalties: float | Floats) -> Floats:
    """Ln of the factor with which a fault set counts if so many postselected detectors fire.

    Examples:
        >>> log_penalty(np.array([0, 2]), 0.5).tolist(), log_penalty(np.array([0, 2]), np.inf).tolist()
        ([0.0, -1.0], [0.0, -inf])
    """
    with np.errstate(invalid="ignore"):
        return np.where(fired > 0, -fired * penalties, 0.0)
