"""The parts of all fault sets, each with its sampler, and their sums."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...base.arrays import Floats, Integers
from ..decoding.classifying import Classifier
from ..estimation.allocation import factors
from ..estimation.interval import Sums, Unlisted, sums_over
from ..estimation.limits import Deadline
from ..estimation.tally import ACCEPTED, WRONG, Tally
from ..samplers.sampler import DirectSamples, Enumeration, Sampler
from ..samplers.strata import Stratum
from .partition import Partition
from .questions import DecodingProblem

MOST_AT_ONCE = 1 << 17
"""Shots of a part before errors are evaluated again. Doubled, searches overshoot by more."""

_PART_OF_SHOTS = math.sqrt(3) / 2
"""With lists, what the error of shots may be of the one that is asked for: that of lists is at most half."""

_STEP, _MOST_POINTS = 5, 50
"""The step from one gap of the curve to the next, in decibels, and about how many there are at most. Doubled,
curves are coarser, and longer ones have more points."""

_LEAST_KEPT = 1e-2
"""The largest gap of a curve is one of at least this part of the accepted shots. Doubled, it is smaller."""


@dataclass
class Part:
    """The fault sets of a stratum with some numbers of free faults, and what samples them."""

    stratum: int
    sampler: Sampler
    rng: np.random.Generator


class Parts:
    """The parts of all fault sets, and their sums."""

    def __init__(
        self,
        asked: DecodingProblem,
        shots: Partition,
        relative_error: float,
        deadline: Deadline,
        seed: np.random.SeedSequence,
    ) -> None:
        self.asked, self.model, self.strata = asked, shots.strata[0].model, shots.strata
        self.relative_error, self.deadline = relative_error, deadline
        self.is_listed = shots.wrong_sizes is not None
        # Whether all shots are accepted, and have no gap.
        self.accepts_all = not (asked.confidence or asked.postselected.any() or self.is_listed)
        # Strata of one model have one classifier.
        by_model = {
            id(each.model): Classifier(each.model, asked.predict, deadline, self.accepts_all)
            for each in self.strata
        }
        self.classifiers = tuple(by_model.values())
        self._classifier_of = [by_model[id(each.model)] for each in self.strata]
        # The relative error that samples are to have.
        self.wanted = relative_error * (_PART_OF_SHOTS if self.is_listed else 1.0)
        self._shots, self._seed = shots, seed
        self.refined: set[int] = set()  # the strata that have another sampler than at first
        self.every = [
            Part(index, DirectSamples(*self.judged(index), least, most), self.rng())
            for index, stratum in enumerate(self.strata)
            for least, most in _ranges_of(stratum)
        ]

    def rng(self) -> np.random.Generator:
        """A random number generator of its own."""
        return np.random.default_rng(*self._seed.spawn(1))

    def judged(self, number: int) -> tuple[Stratum, Classifier]:
        """A stratum, and what classifies its shots."""
        return self.strata[number], self._classifier_of[number]

    @property
    def decoded(self) -> int:
        """Number of decodes."""
        return sum(each.decoded for each in self.classifiers)

    def enumerate(self, part: Part) -> None:
        """Enumerates a part, in place of its samples."""
        every = Enumeration(*self.judged(part.stratum), part.sampler.least)
        every.take(0, part.rng)
        part.sampler = every

    def replace(self, number: int, least: int, samplers: list[Sampler]) -> None:
        """Other samplers of a stratum from a number of free faults on."""
        self.every = [
            *(each for each in self.every if each.stratum != number or each.sampler.least < least),
            *(Part(number, sampler, self.rng()) for sampler in samplers),
        ]

    def first_not_enumerated(self, number: int) -> int:
        """The least number of free faults of a stratum whose fault sets were not enumerated."""
        mine = [each.sampler for each in self.every if each.stratum == number]
        return min(each.least for each in mine if not each.tally.is_exact)

    @property
    def counted(self) -> list[Part]:
        """The parts whose sums are the rate: not those where nothing is expected, and nothing was found."""
        return [each for each in self.every if each.sampler.counts]

    @property
    def tallies(self) -> list[Tally]:
        """Their tallies."""
        return [each.sampler.tally for each in self.counted]

    @property
    def taken(self) -> int:
        """How many shots these have."""
        return sum(tally.samples for tally in self.tallies)

    @property
    def costs(self) -> Floats:
        """What was spent on each: shape (parts,)."""
        return np.array([float(each.sampler.cost) for each in self.counted])

    def sums(self, gaps: Integers, quantity: int = WRONG) -> Sums:
        """The sums over all parts at some least gaps."""
        owners = np.array([each.stratum for each in self.counted], dtype=np.intp)
        errors = np.array([stratum.relative_error for stratum in self.strata])
        unlisted = self._shots.unlisted_at(gaps) if self.is_listed else Unlisted()
        return sums_over(self.tallies, gaps, owners, errors, unlisted, quantity, self.accepts_all)

    @property
    def all_are_chosen(self) -> bool:
        """Whether each shot is in one stratum, and none is left to those of other choices of blocks."""
        return self.is_listed or len(self.strata) == 1

    def gaps(self) -> Integers:
        """The least gaps of the curve: all shots, steps, and the largest one that is not too rare."""
        if not self.asked.confidence:
            return np.array([np.iinfo(np.int64).min])
        seen = np.unique(np.concatenate([tally.gaps for tally in self.tallies]))
        accepted = np.sum([tally.means(seen)[ACCEPTED] for tally in self.tallies], axis=0)
        often = seen[accepted >= _LEAST_KEPT * accepted.max(initial=0.0)]
        least, most = (int(often.min(initial=0)), int(often.max(initial=0)))
        is_usual = _STEP < most - least <= _STEP * _MOST_POINTS
        step = max(1, _STEP if is_usual else -(-(most - least) // _MOST_POINTS))
        return np.unique([*range(least, most, step), most]).astype(np.int64)

    def needed(self, sums: Sums) -> Floats:
        """About how many shots each part needs in all: the terms of N(g), shape (parts, gaps).

        Y is at least as large as what may not have been seen.
        """
        shots = np.array([tally.samples for tally in self.tallies])[:, np.newaxis]
        sizes = np.array([each.sampler.size for each in self.counted])[:, np.newaxis]
        is_exact = np.array([tally.is_exact for tally in self.tallies])[:, np.newaxis]
        wanted = self.wanted * np.maximum(sums.wrong, np.maximum(sums.bounds, 1e-300))
        costs = self.costs[:, np.newaxis]
        each = (factors(sums.variances / wanted**2, costs) + sums.unseen / wanted) * shots
        return np.where(is_exact, 0.0, np.minimum(each, sizes))


def _ranges_of(stratum: Stratum) -> list[tuple[int, int]]:
    """The numbers of free faults of each part: the last one has all that cannot be enumerated."""
    law = stratum.numbers.probabilities
    found: list[tuple[int, int]] = []
    for number in np.flatnonzero(law[::-1].cumsum()[::-1]).tolist():
        if stratum.size(number) > MOST_AT_ONCE:
            return [*found, (number, stratum.numbers.most)]
        found.append((number, number))
    return found
