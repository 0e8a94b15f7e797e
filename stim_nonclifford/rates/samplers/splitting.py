"""Multilevel splitting: fault sets on which the decoder is wrong and sure of it.

Where free noise has many faults, no enumeration reaches the large gaps, and direct samples hardly ever see
them. Splitting goes there in steps. The score of a fault set is the gap where the decoder is wrong, and minus
the gap where it is right. From one level of the score to the next, a part of the sets remains, which is
counted. They are resampled, and moved about above the level by a Markov chain that leaves the distribution of
the faults as it is.

The method is subset simulation (S. K. Au, J. L. Beck, Probabilistic Engineering Mechanics 16, 263, 2001;
Z. I. Botev, D. P. Kroese, Statistics and Computing 22, 1, 2012). All states of the chains count, as in
waste-free sequential Monte Carlo (H. D. Dau, N. Chopin, J. R. Stat. Soc. B 84, 114, 2022).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...base.arrays import Bools, Integers
from ..decoding.classifying import Classes, Classifier
from ..estimation.tally import ACCEPTED, RunTally
from .sampler import Sampler
from .strata import Batch, FaultStates, Stratum

_CHAINS, _LENGTH = 256, 16
"""Chains of each level, and the states of each. Doubled, a run takes twice the decodes, and has an error
smaller by 1.4."""

_PART = 0.25
"""The part of the states of a level that is above the next one, and of the moves that are to be accepted.
Doubled, there are twice as many levels, and moves are smaller."""

_FEWEST_RUNS = 8
"""Runs before their variance is used. Doubled, it is known to 18% in place of 25%."""

_LEAST_ABOVE = 32
"""States above a level that make another level, where most have the score of the level. Doubled, fewer gaps
are reached."""

_REFUSED = np.iinfo(np.int64).min
"""The score of shots that are discarded."""


@dataclass
class _Level:
    """A least score, and the part of the faults that a move draws anew."""

    least: int
    part: float


@dataclass
class _Population(Batch):
    """States with what the decoder makes of them."""

    states: FaultStates
    scores: Integers
    gaps: Integers
    wrong: Bools

    @property
    def classes(self) -> Classes:
        """What the decoder makes of the states."""
        accepted = np.flatnonzero(self.scores != _REFUSED)
        return Classes(len(self), accepted, self.wrong[accepted], self.gaps[accepted])


class Splitting(Sampler):
    """P(stratum, at least a number of free faults, accepted, wrong, gap >= g), by multilevel splitting.

    A run begins with N direct samples. At each level L_l of the score, it chooses C of the states above at
    random, and moves each of them N / C - 1 times: a part of its faults is drawn anew, and where the score
    falls below the level, the move is undone. With c_l the number of states of level l - 1 above level l,

        P(score >= L_l) = P · product over j <= l of c_j / N,     weight of a state of level l = that / N.

    States count that are wrong, with a gap of at least ``wrong_from``. ``DirectSamples`` have the other wrong
    ones, and count how many shots are accepted. The mean of a run is without a bias, however slowly chains
    forget; runs are independent, and the error is that of their mean. Levels are those of a run before, which
    does not count: they end at the gap ``top``, or one below the first whose states have the probability
    ``floor``. The zero-count bound is what one more run like the largest one would add, or one more state
    above a level, where a chain is one state.
    """

    method = "splitting"

    def __init__(
        self, stratum: Stratum, classifier: Classifier, least: int, wrong_from: int, top: int, floor: float
    ) -> None:
        super().__init__(stratum, classifier, least, stratum.numbers.most)
        self._wrong_from, self._top, self._floor = wrong_from, top, floor
        self._levels: list[_Level] = []
        self._has_levels = False
        self.tally: RunTally = RunTally(classifier.num_observables)

    def take(self, count: int, rng: np.random.Generator) -> None:
        """Makes as many runs as have so many shots, at least one; one that is not complete does not count."""
        if not self._has_levels:
            self._levels = []
            list(self._run(rng, finds_levels=True))
            self._has_levels = True
        shots = _CHAINS * _LENGTH * (1 + len(self._levels))
        for _ in range(max(_FEWEST_RUNS - self.tally.num_runs, round(count / shots), 1)):
            values, gaps = [], []
            unseen: list[float] = []
            for below, weight in self._run(rng):
                counted = below.taken(below.wrong.any(axis=1) & (below.gaps >= self._wrong_from))
                values.append(self._values(np.full(len(counted), weight), counted.classes))
                values[-1][:, ACCEPTED] = 0.0
                gaps.append(counted.classes.gaps)
                # The first states are independent; of a chain, all may be alike.
                unseen.append(weight * (_LENGTH if unseen else 1) or unseen[-1])
            self.cost += shots * (1 + round(self._stratum.numbers.mean))
            least = np.array([_REFUSED, *(level.least for level in self._levels)])
            first = int(np.searchsorted(least, self._wrong_from, side="right")) - 1
            self.tally.add_run(
                shots,
                np.concatenate(values),
                np.concatenate(gaps),
                least[first:],
                np.array(unseen[first:]),
            )

    def _run(
        self, rng: np.random.Generator, finds_levels: bool = False
    ) -> Iterator[tuple[_Population, float]]:
        """The states of each level that are below the next one, and their weight."""
        number = _CHAINS * _LENGTH
        at = self._classified(self._stratum.drawn(self.least, self._stratum.numbers.most, number, rng))
        weight = self.probability / number
        for place in itertools.count():
            if finds_levels and (found := self._next_level(at, weight)) is not None:
                self._levels.append(found)
            if place == len(self._levels):
                break
            is_above = at.scores >= self._levels[place].least
            yield at.taken(~is_above), weight
            weight *= int(is_above.sum()) / number
            at = at.taken(is_above)
            if weight:
                at = self._chains(at, self._levels[place], rng, finds_levels)
        yield at, weight

    def _next_level(self, at: _Population, weight: float) -> _Level | None:
        """The next level for some states; None: this is the last one."""
        before = self._levels[-1] if self._levels else _Level(_REFUSED, 1.0)
        if before.least >= self._top or weight * len(at) <= _PART * self._floor:
            return None
        least = min(int(np.sort(at.scores)[-round(_PART * len(at))]), self._top)
        if least <= before.least:  # most states have the score of the level
            higher = at.scores[at.scores > before.least]
            if len(higher) < _LEAST_ABOVE:
                return None
            least = int(higher.min())
        return _Level(least, before.part)

    def _chains(self, at: _Population, level: _Level, rng: np.random.Generator, adapts: bool) -> _Population:
        """States of Markov chains that begin at random ones of some states, and stay above a level."""
        at = at.taken(rng.integers(len(at), size=_CHAINS))
        found = [at]
        for _ in range(_LENGTH - 1):
            moved = self._classified(self._stratum.moved(at.states, level.part, rng))
            is_accepted = moved.scores >= level.least
            both = _Population.joined([at, moved])
            at = both.taken(np.arange(len(at)) + len(at) * is_accepted)
            found.append(at)
            if adapts:
                level.part = min(1.0, level.part * math.exp(is_accepted.mean() - _PART))
        return _Population.joined(found)

    def _classified(self, states: FaultStates) -> _Population:
        model = self._stratum.model
        classes = self._classifier.classify_all(model.with_outcomes(states.rows, states.numbers))
        gaps, scores = np.zeros(len(states), dtype=np.int64), np.full(len(states), _REFUSED)
        wrong = np.zeros((len(states), classes.wrong.shape[1]), dtype=np.bool_)
        gaps[classes.accepted], wrong[classes.accepted] = classes.gaps, classes.wrong
        is_wrong = classes.wrong.any(axis=1)
        scores[classes.accepted] = np.where(is_wrong, classes.gaps, -classes.gaps)
        scores[(states.sets >= 0).sum(axis=1) < self.least] = _REFUSED
        return _Population(states, scores, gaps, wrong)
