"""The logical error rate of one circuit as a sum over the numbers of mechanisms that act."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..answers.decoding import FailureTest
from ..faults.mechanisms import FaultModel, Floats
from .removals import Removals, WeightedSets, resampled_places
from .sets import FailingSets
from .sized_sets import SizedSets

__all__ = ["DecodedSize", "SumOverSizes", "failing_size", "table_of_sizes"]

_RATE_AT_START = 0.005
"""Members are taken out of sets of the smallest size, about, of which so many fail."""

_GROWTH = 1.25
_PILOT_SHOTS = 1 << 11
_FEWEST_DIFFERENT = 0.5
"""Mechanisms that are drawn one by one are to be different so often, at the size of the start."""

_FIRST_SHOTS = 1 << 13
_FEWEST_EFFECTIVE = 64
"""Failing sets of equal weights, as it were, before their variance is believed."""

_PART_OF_LARGER = 1 / 3
_MARGIN = 1.1
_PIECES = 16
_GROWTH_AT_END = 0.1
_NEGLIGIBLE = 1e-3
"""What is less than this part of the error that is asked for is left out."""

_LISTED_SETS = 1 << 12
_COLUMNS = 64
_MOST_PIECE = 1 << 12


@dataclass(frozen=True)
class DecodedSize:
    """Shots in which a given number of mechanisms act.

    Attributes:
        least: The number, or the least one.
        most: The largest one; None: any number.
        probability: P(so many act).
        rate: P(so many act, and the decoder fails).
        standard_error: Of ``rate``.
    """

    least: int
    most: int | None
    probability: float
    rate: float
    standard_error: float


def table_of_sizes(
    sizes: Sequence[DecodedSize], rate: float
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The header and the rows of a table.

    Args:
        sizes: What its rows show.
        rate: The rate of all of them.
    """
    header = ("faults", "probability", "of them fail", "share of the rate")
    return header, [
        (
            f"{each.least}{'' if each.most else ' or more'}",
            f"{each.probability:.3g}",
            f"{each.rate / each.probability:.3g}",
            f"{each.rate / rate:.1%} ± {each.standard_error / rate:.1%}",
        )
        for each in sizes
    ]


def failing_size(
    sized: SizedSets, test: FailureTest, rng: np.random.Generator, check: Callable[[], None]
) -> int | None:
    """The number of members of sets to begin with; None: even large sets fail too rarely.

    Args:
        sized: The law of the sets.
        test: The decoder.
        rng: What they are drawn with.
        check: Is called now and then; may raise to end the work.
    """
    size = max(1, math.floor(sized.mean))
    while size < len(sized.law) and sized.part_that_differs(size) >= _FEWEST_DIFFERENT:
        check()
        rows = sized.rows(sized.drawn(size, _PILOT_SHOTS, rng))
        if test.without_memory(rows)[0].mean() >= _RATE_AT_START:
            return size
        size = max(size + 1, round(_GROWTH * size))
    return None


class _LargerSets:
    """Shots in which more mechanisms act than in the sets of the start, which are simply counted."""

    def __init__(self, sized: SizedSets, test: FailureTest, start: int) -> None:
        self._sized, self._test, self._start = sized, test, start
        self.probability = float(sized.law[start + 1 :].sum())
        self.shots = self.failures = self.costs = 0
        self.found = WeightedSets(len(sized.law))

    @property
    def rate(self) -> float:
        return self.probability * self.failures / self.shots if self.shots else 0.0

    @property
    def variance(self) -> float:
        if not self.shots:
            return 0.0
        share = (self.failures + 1) / (self.shots + 2)
        return self.probability**2 * share * (1 - share) / self.shots

    def take(self, shots: int, rng: np.random.Generator, check: Callable[[], None]) -> None:
        law = self._sized.law[self._start + 1 :]
        for begin in range(0, shots, _MOST_PIECE):
            piece = min(_MOST_PIECE, shots - begin)
            sizes = self._start + 1 + rng.choice(len(law), size=piece, p=law / law.sum())
            groups = []
            for size, count in zip(*np.unique(sizes, return_counts=True), strict=True):
                check()
                sets = self._sized.drawn(int(size), int(count), rng)
                groups.append(sets[self._test.without_memory(self._sized.rows(sets))[0]])
            for failing in groups:
                owners = self.failures + np.arange(len(failing))
                self.found.add(failing, np.ones(len(failing)), owners, rng)
                self.failures += len(failing)
            self.shots += piece
            self.costs += int((1 + sizes).sum())


class SumOverSizes:
    """P(fails) as a sum over sizes: up to one of them by ``Removals``, beyond it by counting.

    Args:
        model: The mechanisms.
        sized: The law of their sets.
        test: The decoder.
        start: The number of members to begin with.

    Attributes:
        sized: The same.
        removals: What sets with at most ``start`` members say.
        larger: What the others say.
    """

    def __init__(self, model: FaultModel, sized: SizedSets, test: FailureTest, start: int) -> None:
        self._model, self._test = model, test
        self.sized = sized
        self.removals = Removals(model, sized, test, start)
        self.larger = _LargerSets(sized, test, start)

    @property
    def rate(self) -> float:
        """The logical error rate."""
        return self.removals.rate + self.larger.rate

    @property
    def variance(self) -> float:
        """Of ``rate``."""
        return self.removals.variance + self.larger.variance

    @property
    def is_known(self) -> bool:
        """Whether there is an estimate whose error can be believed."""
        is_counted = self.larger.shots > 0 or self.larger.probability <= _NEGLIGIBLE * self.removals.rate
        return self.removals.effective_failures >= _FEWEST_EFFECTIVE and is_counted

    def run(
        self,
        relative_error: float,
        rng: np.random.Generator,
        check: Callable[[], None],
        report: Callable[[str], None],
    ) -> None:
        """Draws sets until the rate has an error.

        Args:
            relative_error: The error, over the rate.
            rng: What they are drawn with.
            check: Is called now and then; may raise to end the work.
            report: Is told how far it is.
        """
        pilot, larger = self.removals, self.larger
        pilot.take(_FIRST_SHOTS, rng, check)
        while pilot.effective_failures < _FEWEST_EFFECTIVE:
            self._report(report)
            pilot.take(pilot.shots // 2, rng, check)
        if larger.probability > _NEGLIGIBLE * relative_error * pilot.rate:
            larger.take(_FIRST_SHOTS // 4, rng, check)
        while larger.variance > _PART_OF_LARGER * (relative_error * self.rate) ** 2:
            larger.take(larger.shots // 2, rng, check)
        # Sets that choose their own number say too little: a search ends early if few of them were heavy.
        rest = (relative_error * self.rate) ** 2 - larger.variance
        shots = math.ceil(max(1.0, _MARGIN * pilot.variance / rest) * pilot.shots)
        self.removals = Removals(self._model, self.sized, self._test, pilot.start)
        piece = max(_FIRST_SHOTS, shots // _PIECES)
        for begin in range(0, shots, piece):
            self.removals.take(min(piece, shots - begin), rng, check)
            self._report(report)
        while not self.rate or self.variance > (relative_error * self.rate) ** 2:
            self.removals.take(math.ceil(self.removals.shots * _GROWTH_AT_END), rng, check)
            self._report(report)

    def _report(self, report: Callable[[str], None]) -> None:
        removals = self.removals
        found = f"{removals.failures:,} of {removals.shots:,} sets of {removals.start} faults failed"
        if self.is_known:  # before, larger sets are missing, or the error is too small
            found += f": {self.rate:.3g} ± {math.sqrt(self.variance) / self.rate:.1%}"
        report(found)

    def sizes(self) -> tuple[DecodedSize, ...]:
        """What each number of members up to that of the start adds to the rate, and all larger ones."""
        shots, larger, law = self.removals.shots, self.larger, self.sized.law
        means = self.removals.sums / shots
        errors = np.sqrt(np.maximum(self.removals.squares / shots - means**2, 0) / shots)
        found = [
            DecodedSize(size, size, float(law[size]), float(means[size]), float(errors[size]))
            for size in np.flatnonzero(means).tolist()
        ]
        if larger.rate:
            more = self.removals.start + 1, None, larger.probability
            found.append(DecodedSize(*more, larger.rate, math.sqrt(larger.variance)))
        return tuple(found)

    def failing_sets(self) -> FailingSets:
        """Failing sets, each as likely to be among them as in a shot that fails."""
        large, small = self.larger.found, self.removals.found
        weights: Floats = np.concatenate(
            [
                small.weights / max(self.removals.shots, 1),
                large.weights * (self.larger.probability / max(self.larger.shots, 1)),
            ]
        )
        room = large.members.shape[1]
        few = np.pad(small.members, ((0, 0), (0, room - small.members.shape[1])), constant_values=-1)
        members, owners = np.vstack([few, large.members]), np.concatenate([small.owners, large.owners])
        # As the members of a set are known by now, there is nothing to draw: the same sets for all seeds.
        places = resampled_places(weights, _LISTED_SETS, np.random.default_rng(0))
        members = members[places]
        padded = np.vstack([self._model.flips, np.zeros_like(self._model.base)])
        rows = np.bitwise_xor.reduce(padded[members], axis=1) ^ self._model.base
        return FailingSets(
            members=members[:, : max(1, int((members >= 0).sum(axis=1).max(initial=0)))],
            numbers=np.zeros(len(members), dtype=np.uint64),
            columns=owners[places] % _COLUMNS,
            wrong=self._test.wrong(rows),
        )
