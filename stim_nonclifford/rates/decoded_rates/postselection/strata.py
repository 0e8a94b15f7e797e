"""A stratum: kept sets that are alike, with the rest of the noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..answers.decoding import FailureTest, Gaps, Predict
from ..chains.chains import ChainStates, signed_gaps
from ..chains.ladder import Ladder
from ..chains.renewal import RENEWED
from ..failing.plain_shots import Indices, PlainShots, members_of_events
from ..faults.mechanisms import FaultModel, Floats, Words
from .kept_choices import KeptChoices
from .levels import ladder_of_gaps
from .paths.coverage import ChainRatios, Coverage
from .paths.path_shots import PathShots
from .paths.wrong_shots import WrongShots, gains, part_of_plain_shots, weighted_curve
from .survival import Counts, Curve, curve_of, difference_of

__all__ = ["COLUMNS", "MOST_GAP", "Stratum"]

COLUMNS = 64
MOST_GAP = 512
_COST_OF_PLAIN, _COST_OF_KNOWN, _COST_OF_RATIO = 1 / 512, 1 / 16, 1 / 2
_COST_OF_PATHS = 4.0
_FIRST_SWEEPS, _FIRST_PATHS, _GROWTH = 192, 1 << 14, 0.4
_COST_OF_CHAINS = 300_000
"""The number of decodes that it takes to set up chains."""

_FIRST_EXPLORING, _BETWEEN_RATIOS = 64, 4
"""The first sweeps of chains beside paths; and from how many sweeps on their ratios are noted again."""

_BURN_IN = 2
"""The part of the sweeps that is left out: one of so many."""


class Stratum:
    """Kept sets, of which one is chosen in each shot, with the rest of the noise.

    Attributes:
        mass: P(a kept set of the stratum).
        mass_error: Its standard error: sets may have been drawn.
        name: For messages.
        shots: Plain shots taken.
        wrong: How many of them were wrong.
        path_shots: Shots with paths taken.
        can_climb: Whether there can be shots with paths, or levels for chains, as far as is known.
        can_explore: Whether there can be shots with paths, and levels for chains beside them.
        climb_cost: What they have cost so far: rows that were decoded, and a part of those that were known.
        shot_cost: The same of plain shots.
        explore_cost: The same of chains beside paths.
    """

    def __init__(
        self,
        name: str,
        mass: float,
        mass_error: float,
        model: FaultModel,
        predict: Predict,
        paths: PathShots | None = None,
    ) -> None:
        self.name, self.mass, self.mass_error = name, mass, mass_error
        self._model = model
        self._log_odds = model.log_odds[0]
        self.test = FailureTest(model, predict)
        self._plain = PlainShots(model, self._log_odds, self.test)
        self._batch = max(COLUMNS, self._plain.batch // 4 // COLUMNS * COLUMNS)
        self._all = np.zeros((COLUMNS, MOST_GAP))
        self._signed = np.zeros((COLUMNS, 2 * MOST_GAP))
        self._sets: list[Indices] = []
        self._numbers: list[Words] = []
        self.ladder: Ladder | None = None
        self._gaps: list[npt.NDArray[np.int16]] = []
        self._founders: list[npt.NDArray[np.int16]] = []
        self._paths = paths
        self._wrong: list[WrongShots] = []
        self._ratios: ChainRatios | None = None
        self.shots = self.wrong = self.path_shots = 0
        self.can_climb, self.can_explore = True, paths is not None
        self.shot_cost = self.climb_cost = self.explore_cost = 0.0

    def take(self, shots: int, rng: np.random.Generator, check: Callable[[], None]) -> None:
        """Takes plain shots, whose number is rounded up."""
        decoded = self.test.decoded
        self.shot_cost += _COST_OF_PLAIN * shots
        while shots > 0:
            check()
            some = min(self._batch, -(-shots // COLUMNS) * COLUMNS)
            rows, events, numbers, outcomes = self._plain.drawn(rng, some)
            wrong, gaps = self.test.answers(rows)
            column = np.arange(some) % COLUMNS
            np.add.at(self._all, (column, np.clip(gaps, 0, MOST_GAP - 1)), 1)
            np.add.at(self._signed, (column, _places(signed_gaps(wrong, gaps))), 1)
            ends = np.cumsum(numbers)
            for k in range(min(some, COLUMNS - len(self._sets))):
                self._sets.append(members_of_events(events[ends[k] - numbers[k] : ends[k]]))
                self._numbers.append(outcomes[k])
            if self._paths is not None:
                self._note_wrong(wrong, gaps, self._keys(events, numbers), outcomes, are_plain=True)
                self.shot_cost += _COST_OF_RATIO * float(wrong.any(axis=1).sum())
            self.shots += some
            self.wrong += int(wrong.any(axis=1).sum())
            shots -= some
        self.shot_cost += self.test.decoded - decoded

    def climb(self, rng: np.random.Generator, check: Callable[[], None]) -> None:
        """Takes more of what sees rare shots: shots with paths, or sweeps of chains if levels can be had."""
        decoded = self.test.decoded
        if self._paths is not None:
            shots = max(_FIRST_PATHS, int(_GROWTH * self.path_shots))
            self._take_with_paths(self._paths, shots, rng, check)
            self.climb_cost += self.test.decoded - decoded + _COST_OF_PATHS * shots
        else:
            moves = self._sweep(max(_FIRST_SWEEPS, int(_GROWTH * self.sweeps)), rng, check)
            self.can_climb = self.ladder is not None
            self.climb_cost += self.test.decoded - decoded + _COST_OF_KNOWN * moves

    def explore(self, rng: np.random.Generator, check: Callable[[], None]) -> None:
        """Takes sweeps of chains, which see what paths do not cover, if levels can be had."""
        decoded = self.test.decoded
        moves = self._sweep(max(_FIRST_EXPLORING, int(_GROWTH * self.sweeps)), rng, check)
        self.can_explore = self.ladder is not None
        self.explore_cost += self.test.decoded - decoded + _COST_OF_KNOWN * moves

    def plain_shots_tell_more(self, gap: int, share: float) -> bool:
        """Whether the error at a gap gets smaller by plain shots sooner than by climbing, which has begun.

        Args:
            gap: The gap.
            share: The inverse of the squared relative error at this gap.
        """
        if self._paths is None:
            seen = max(float(self._signed[:, MOST_GAP + gap :].sum()), 0.5)
            return seen / self.shot_cost >= max(share - seen, 0.0) / self.climb_cost
        by_plain, by_paths = gains(
            self._wrong, gap, self.shots, self.path_shots, self._coverage, self.can_explore
        )
        return by_plain * self.shots / self.shot_cost > by_paths * self.path_shots / self.climb_cost

    def cost_of_climbing(self, factor: float) -> float:
        """About what it costs to make the error of what climbing sees smaller by a factor."""
        if self._paths is None and not self.sweeps:
            return _COST_OF_CHAINS
        return self.climb_cost * factor**2 if self.climb_cost else 2.0 * _FIRST_PATHS

    def cost_of_exploring(self, factor: float) -> float:
        """About what it costs to make the error of what chains see beside paths smaller by a factor."""
        return self.explore_cost * factor**2 if self.sweeps else 2.0 * _COST_OF_CHAINS

    def _keys(self, events: Indices, numbers: npt.NDArray[np.int64]) -> Indices:
        """Shot * mechanisms + mechanism, ascending, of the mechanisms that act an odd number of times."""
        owners = np.repeat(np.arange(len(numbers)), numbers)
        return members_of_events(owners * self._model.num_mechanisms + events)

    def _kept_sets(self, outcomes: Words) -> Indices:
        """The kept set of each shot."""
        choices = self._model.outcomes
        if isinstance(choices, KeptChoices):
            return choices.chosen(outcomes)
        return np.zeros(len(outcomes), dtype=np.intp)

    def _note_wrong(
        self, wrong: Words, gaps: Gaps, keys: Indices, outcomes: Words, *, are_plain: bool
    ) -> None:
        """Notes how likely wrong shots are with paths."""
        assert self._paths is not None
        chosen = np.flatnonzero(wrong.any(axis=1))
        if not len(chosen):
            return
        size = self._model.num_mechanisms
        place = np.full(len(wrong), -1, dtype=np.intp)
        place[chosen] = np.arange(len(chosen))
        shots = place[keys // size]
        mine = (shots * size + keys % size)[shots >= 0]
        ratios = self._paths.ratios(mine, self._kept_sets(outcomes[chosen]))
        gaps = np.minimum(gaps[chosen], MOST_GAP - 1)
        self._wrong.append(WrongShots(ratios, gaps, chosen % COLUMNS, are_plain))

    def _take_with_paths(
        self, paths: PathShots, shots: int, rng: np.random.Generator, check: Callable[[], None]
    ) -> None:
        while shots > 0:
            check()
            some = min(self._batch, -(-shots // COLUMNS) * COLUMNS)
            rows, events, numbers, outcomes = self._plain.drawn(rng, some)
            rows, keys = paths.add_paths(rows, self._keys(events, numbers), self._kept_sets(outcomes), rng)
            self._note_wrong(*self.test.answers(rows), keys, outcomes, are_plain=False)
            self.path_shots += some
            shots -= some

    def _sweep(self, sweeps: int, rng: np.random.Generator, check: Callable[[], None]) -> int:
        """Takes sweeps of the chains; returns the number of their moves."""
        if self.ladder is None:
            starts = ChainStates.of(self._model, self._sets, np.array(self._numbers))
            self.ladder = ladder_of_gaps(self._model, self.test, starts, self._log_odds, rng, check)
            if self.ladder is None:
                return 0
            self._ratios = ChainRatios(self.least_gaps(), COLUMNS, MOST_GAP)
        for _ in range(sweeps):
            self.ladder.run(1, rng, check)
            gaps = self.ladder.signed_gaps()
            self._gaps.append(_places(gaps).astype(np.int16))
            self._founders.append(self.ladder.founders(np.arange(COLUMNS)).astype(np.int16))
            if self._paths is not None and self.sweeps % _BETWEEN_RATIOS == 0:
                self._note_ratios(self._paths, self.ladder, gaps)
        return sweeps * len(self.ladder.levels) * COLUMNS

    def _note_ratios(self, paths: PathShots, ladder: Ladder, gaps: npt.NDArray[np.int64]) -> None:
        """Notes how likely the wrong shots of chains are with paths."""
        assert self._ratios is not None
        states = ChainStates.joined(ladder.states()).taken(np.flatnonzero(gaps.ravel() >= 0))
        events = states.members[states.members >= 0]
        keys = np.sort(self._keys(events, states.sizes))
        ratios = np.zeros(gaps.shape)
        ratios[gaps >= 0] = paths.ratios(keys, self._kept_sets(states.numbers))
        self._ratios.add(gaps, ratios, ladder.founders(np.full(COLUMNS, RENEWED)))

    @property
    def sweeps(self) -> int:
        """Number of sweeps of the chains."""
        return len(self._gaps)

    def least_gaps(self) -> list[int]:
        """The least signed gaps of the levels of the chains; the first one, of all shots, is left out."""
        levels = [] if self.ladder is None else self.ladder.levels
        return [level.least_gap for level in levels if level.least_gap is not None]

    def curve(self) -> Curve:
        """What follows from all that was counted."""
        if self._paths is not None:
            counts, coverage = self._counts(0, 0), self._coverage
            levels = None if coverage is None else self._curve_of_levels()
            can_explore = self.can_explore
            return weighted_curve(counts, self._wrong, self.path_shots, coverage, levels, can_explore)
        return self._curve_of_levels()

    def _curve_of_levels(self) -> Curve:
        """What follows from plain shots and chains."""
        return curve_of(self._counts(*self._settled))

    def comparisons(self) -> list[tuple[Floats, Floats]]:
        """Differences over the gap that should be 0, with their variances.

        They are those of both halves of the chains, and of the chains and plain shots: of P(wrong), or of the
        part of the wrong shots that paths hardly cover.
        """
        if self._paths is not None:
            return self._comparisons_of_coverage()
        first, last = self._settled
        middle = (first + last) // 2
        if middle == first:
            return []
        halves = difference_of(self._counts(first, middle), self._counts(middle, last))
        plain, chains = self._counts(0, 0), self._counts(first, last)
        by_chains = replace(chains, signed=np.zeros_like(chains.signed))
        difference, variance = difference_of(plain, by_chains)
        # Plain shots that have seen nothing have an error, too: that of the number to be expected.
        return [halves, (difference, np.maximum(variance, curve_of(chains).wrong / self.shots))]

    @property
    def _coverage(self) -> Coverage | None:
        return None if self._ratios is None else self._ratios.coverage(*self._settled_ratios)

    @property
    def _settled_ratios(self) -> tuple[int, int]:
        number = 0 if self._ratios is None else len(self._ratios)
        return number // _BURN_IN, number

    def _comparisons_of_coverage(self) -> list[tuple[Floats, Floats]]:
        """The part below the median: of both halves, and of chains and plain shots with any gap."""
        found, (first, last) = self._coverage, self._settled_ratios
        if found is None or self._ratios is None or last - first < 2:
            return []
        middle = (first + last) // 2
        halves = [self._ratios.coverage(*some) for some in ((first, middle), (middle, last))]
        place = np.arange(MOST_GAP), (found.below <= 0.5).sum(axis=1) - 1
        known = np.where(halves[0].is_known & halves[1].is_known, 1.0, 0.0)
        one, other = (each.below[place] for each in halves)
        of_halves = known * (one - other), halves[0].variance[place] + halves[1].variance[place]
        median = int(place[1][0])
        part, number = part_of_plain_shots(self._wrong, median)
        expected = float(found.below[0, median])
        variance = expected * (1 - expected) / max(number, 1) + float(found.variance[0, median])
        difference = part - expected if number else 0.0
        return [of_halves, (np.full(MOST_GAP, difference), np.full(MOST_GAP, variance))]

    @property
    def _settled(self) -> tuple[int, int]:
        """The sweeps that count."""
        return len(self._gaps) // _BURN_IN, len(self._gaps)

    def _counts(self, first: int, last: int) -> Counts:
        """The counts by columns, with the records of some sweeps by the columns that they descend from."""
        seen, could_be = np.zeros((2, COLUMNS, 2 * MOST_GAP))
        if self.ladder is not None and last > first:
            gaps, founders = (np.array(each[first:last]) for each in (self._gaps, self._founders))
            for level, least in enumerate([-MOST_GAP, *self.least_gaps()]):
                place = founders[:, level].astype(np.intp) * 2 * MOST_GAP + gaps[:, level]
                here = np.bincount(place.ravel(), minlength=seen.size).reshape(seen.shape)
                tail = here[:, ::-1].cumsum(axis=1)[:, ::-1].copy()
                tail[:, : MOST_GAP + least] = 0
                seen += here
                could_be += tail
        return Counts(self._all.sum(axis=1), self._all, self._signed, seen, could_be)


def _places(gaps: Gaps) -> Indices:
    """The places of signed gaps in counts."""
    return np.clip(gaps + MOST_GAP, 0, 2 * MOST_GAP - 1)
