"""Forecasts of the error of a sampled weight: what further joins would make of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

__all__ = ["ErrorTerms", "Forecast"]

_MISSED_COUNTS = 1.5
"""What the square of a missed event counts in the error of a weight alone: intervals reach farther for it
than for as large a standard error. If it is doubled, weights in which little was found are sampled more."""

_POWER = 6
"""Events of several weights count together like the largest of them. For decisions it is this norm of all of
them: where two are equally large, to make one of them smaller is the first half of what helps."""


class ErrorTerms(NamedTuple):
    """What the error of a sampled weight is made of, or that of several.

    Attributes:
        variance: Variance of the sum, from what was found.
        events: The sum of a power of the largest events that may have been missed, one for each sample.
    """

    variance: float
    events: float

    @staticmethod
    def of(variance: float, *missed: float) -> ErrorTerms:
        """The terms of samples, with the largest event that each may have missed."""
        return ErrorTerms(variance, math.fsum(each**_POWER for each in missed))

    @property
    def missed(self) -> float:
        """The largest of the events, about, and not less."""
        return self.events ** (1 / _POWER)

    @property
    def alone(self) -> float:
        """The square of the error of a weight, as if there were no others."""
        return self.variance + _MISSED_COUNTS * self.missed**2

    @property
    def together(self) -> float:
        """About the square of the error that is printed for the sum of several weights.

        The upper end of the interval is that of a sum with one more event.
        """
        return (self.missed + math.hypot(math.sqrt(self.variance), self.missed)) ** 2

    def changed(self, before: ErrorTerms, after: ErrorTerms) -> ErrorTerms:
        """The sum with other terms for one of the weights."""
        return ErrorTerms(
            max(0.0, self.variance - before.variance + after.variance),
            max(0.0, self.events - before.events + after.events),
        )


@dataclass(frozen=True)
class Forecast:
    """What is known of the error of a sampled weight, and what further joins would make of it.

    Attributes:
        density: Mean number of finds per unit of odds, each with what it counts.
        variance: Variance of the sum over finds.
        own: The part of it from each set alone, per unit of density, if finds count 1.
        shared: The part from different sets with a half in common, over the cube of the number of halves.
        clumping: By how much finds that share halves increase the variance of P(kept), per half.
        scale: See ``Halves``.
        event: The largest number of hits that one more half may have.
        told_density: With this density there will probably be sets enough to tell how many a half may be in.
        told_event: What the event of a half will then be, about.
        most: An upper limit on what can be missed at all.
        unions: The variance of the part that unions of smaller sets have, and what they may have missed.
    """

    density: float
    variance: float
    own: float
    shared: float
    clumping: float
    scale: float
    event: float
    told_density: float
    told_event: float
    most: float
    unions: tuple[float, float] = (0.0, 0.0)

    @property
    def missed(self) -> float:
        """What the largest event that may have been missed would add."""
        return self._missed(self.density)

    @property
    def now(self) -> ErrorTerms:
        """What the error is made of."""
        return self._terms(self.variance / self.density**2, self.missed)

    def with_joins(self, halves: int, times: int) -> ErrorTerms:
        """What it is made of after so many more joins of so many halves."""
        density, count = halves**2 / self.scale, 1 / (1 + self.clumping * halves)
        more = times * count**2 * (self.own * density + self.shared * float(halves) ** 3)
        total = self.density + times * count * density
        return self._terms((self.variance + more) / total**2, self._missed(total))

    def with_unions(self, growth: float) -> ErrorTerms:
        """What it is made of with so many times as many further unions as there are."""
        return self.more_unions(growth).now

    def more_unions(self, growth: float) -> Forecast:
        """What is known then."""
        variance, missed = self.unions
        return replace(self, unions=(variance / (1 + growth), missed / (1 + growth)))

    @property
    def error_of_unions(self) -> float:
        """The part of the square of the error that unions have."""
        return ErrorTerms.of(*self.unions).alone

    def _terms(self, variance: float, missed: float) -> ErrorTerms:
        return ErrorTerms.of(variance + self.unions[0], missed, self.unions[1])

    def halves_for(self, density: float) -> float:
        """The number of halves of a join that adds so much density, with what its finds count."""
        finds = density * self.scale
        clumped = finds * self.clumping
        return (clumped + math.sqrt(clumped**2 + 4 * finds)) / 2

    def _missed(self, density: float) -> float:
        event = self.event if density < self.told_density else self.told_event
        return min(event / density, self.most)
