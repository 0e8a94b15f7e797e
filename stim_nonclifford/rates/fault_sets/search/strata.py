"""What is known of the fault sets of one weight: all of them, or a sample.

A stratum gives sums over fault sets X of its weight, for several circuits that differ in the odds of their
mechanisms: of odds(X) f(X), where f is the probability that a shot is kept, or kept and wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ..interval import upper_limit_of_weighted_sum
from .laws import Floats, KeyValues, sum_of_products

__all__ = [
    "CircuitTotals",
    "ErrorParts",
    "ExactWeight",
    "Outlook",
    "Stratum",
    "Sums",
    "next_passing",
]

_MISSED_COUNTS = 1.5
"""What the square of a missed event counts in the error of a weight alone: intervals reach farther for it
than for as large a standard error."""

_POWER = 6
"""Events of several weights count together like the largest of them. For decisions it is this norm of all of
them: where two are equally large, to make one of them smaller is the first half of what helps."""

_ONE_SIGMA = math.erf(math.sqrt(0.5))
"""The probability of at most one standard deviation."""

Keys = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Sums:
    """Sums over the fault sets of a weight, in units of the probability that no mechanism acts.

    Attributes:
        passing: Of all sets that pass the noise-only checks.
        kept: Of the sets times the probability of being kept.
        wrong: The same for kept and wrong.
        listed: The part of ``wrong`` that comes from sets of which none can have been missed.
        variance: Estimated variance of ``wrong`` - rate x ``kept``, from what was found.
        largest: The largest amount by which one more event would have changed ``wrong``.
    """

    passing: float
    kept: float
    wrong: float
    listed: float
    variance: float
    largest: float

    @property
    def standard_error(self) -> float:
        """Of ``wrong``, with what the largest event that may have been missed would add."""
        return math.hypot(math.sqrt(self.variance), self.largest)

    def scaled(self, factor: float) -> Sums:
        """In other units."""
        return Sums(
            passing=factor * self.passing,
            kept=factor * self.kept,
            wrong=factor * self.wrong,
            listed=factor * self.listed,
            variance=factor**2 * self.variance,
            largest=factor * self.largest,
        )


class Stratum(Protocol):
    """The fault sets of one weight, or of several."""

    weight: int
    weights: range

    @property
    def method(self) -> str:
        """How its sets were found."""

    @property
    def draws(self) -> int:
        """Sets, or parts of sets, that were drawn; 0 if all sets were looked at."""

    @property
    def rounds(self) -> int:
        """How often draws were added; 0 if all sets were looked at."""

    @property
    def sets(self) -> int:
        """Sets that pass the checks, found one by one."""

    def passing(self, circuit: int) -> float:
        """The sum of the odds of all sets that pass the checks."""

    def signatures(self, values: KeyValues) -> int:
        """Distinct keys, signature and outputs, with which a shot can be kept."""

    def malignant(self, values: KeyValues) -> int:
        """Those of them with which a kept shot can be wrong."""

    def sums(self, circuit: int, values: KeyValues, rate: float) -> Sums:
        """The sums for a circuit; ``rate`` is about its logical error rate."""

    def coefficients(self, circuit: int, num_keys: int) -> Floats:
        """For each key its part in the sums: float64, shape (num_keys,)."""


class ExactWeight:
    """All sets of a weight.

    Args:
        weight: The weight.
        found: What ``FaultSetStudy.enumerate`` found.
        num_circuits: Number of circuits.
    """

    method = "exact"
    draws = 0
    rounds = 0

    def __init__(self, weight: int, found: dict[str, object], num_circuits: int) -> None:
        self.weight = weight
        self.weights = range(weight, weight + 1)
        self.sets = int(found["sets"])  # type: ignore[call-overload]
        self.steps = int(found["steps"])  # type: ignore[call-overload]
        self.candidates = int(found["candidates"])  # type: ignore[call-overload]
        self.num_keys = int(found["num_keys"])  # type: ignore[call-overload]
        self.keys = np.asarray(found["keys"])
        self._masses = np.asarray(found["masses"]).reshape(len(self.keys), num_circuits)
        self._left_out = np.asarray(found["left_out"])

    def signatures(self, values: KeyValues) -> int:
        """See ``Stratum``."""
        return int(np.count_nonzero(values.kept[self.keys]))

    def malignant(self, values: KeyValues) -> int:
        """See ``Stratum``."""
        return int(np.count_nonzero(values.wrong[self.keys]))

    def passing(self, circuit: int) -> float:
        """The sum of all sets that pass the checks."""
        return float(self._masses[:, circuit].sum() + self._left_out[circuit])

    def sums(self, circuit: int, values: KeyValues, rate: float) -> Sums:
        """See ``Stratum``."""
        masses = self._masses[:, circuit]
        wrong = values.wrong[self.keys]
        of_wrong = sum_of_products(masses, wrong)
        return Sums(
            passing=self.passing(circuit),
            kept=sum_of_products(masses, values.kept[self.keys]),
            wrong=of_wrong,
            listed=of_wrong,
            variance=0.0,
            largest=0.0,
        )

    def coefficients(self, circuit: int, num_keys: int) -> Floats:
        """See ``Stratum``."""
        sums = np.zeros(num_keys)
        sums[self.keys] = self._masses[:, circuit]
        return sums


@dataclass(frozen=True)
class CircuitTotals:
    """Sums over all weights for a circuit, as probabilities.

    Attributes:
        kept: P(kept).
        wrong: P(kept and wrong).
        exact_wrong: The part of it that is not sampled.
        variance: Of ``wrong - rate * kept``, estimated from what was found.
        largest: By how much the largest event that may have been missed would have changed ``wrong``, of all
            weights. It is one event and not one of each weight: see ``interval_of_weighted_sum``.
        rest: Probability of all sets that were not looked at.
        rest_passing: An upper bound on the probability of those of them that pass the noise-only checks.
        by_weight: (weight, stratum, probability of all sets of the weight, sums as probabilities).
    """

    kept: float
    wrong: float
    exact_wrong: float
    variance: float
    largest: float
    rest: float
    rest_passing: float
    by_weight: tuple[tuple[int, Stratum, float, Sums], ...]

    @staticmethod
    def of(
        strata: Sequence[Stratum],
        sums: Sequence[Sums],
        masses: Floats,
        factors: tuple[float, float],
        rests: tuple[float, float],
    ) -> CircuitTotals:
        """Adds up the weights from 0 on.

        Args:
            strata: The weights.
            sums: Their sums.
            masses: For each weight the sum of the odds of all sets.
            factors: Probability that no mechanism acts and the removed coins pass, and without the coins.
            rests: Probability of all larger sets, and an upper bound for those that pass; without the coins.
        """
        factor, nothing = factors
        return CircuitTotals(
            kept=factor * math.fsum(each.kept for each in sums),
            wrong=factor * math.fsum(each.wrong for each in sums),
            exact_wrong=factor * math.fsum(each.listed for each in sums),
            variance=factor**2 * math.fsum(each.variance for each in sums),
            largest=factor * max(each.largest for each in sums),
            rest=rests[0] * factor / nothing,
            rest_passing=rests[1] * factor / nothing,
            by_weight=tuple(
                (stratum.weight, stratum, nothing * float(masses[stratum.weights].sum()), each.scaled(factor))
                for stratum, each in zip(strata, sums, strict=True)
            ),
        )

    @property
    def rate(self) -> float:
        """P(wrong | kept)."""
        return self.wrong / self.kept if self.kept else 0.0

    @property
    def standard_error(self) -> float:
        """Of the rate, with what the largest event that may have been missed would add.

        Sets that were not looked at may all be wrong. That is not a matter of chance: they add to the error,
        not to its square.
        """
        return (self.error_of_sampled + self.rest_passing) / self.kept if self.kept else 0.0

    @property
    def error_of_sampled(self) -> float:
        """The standard error of the sampled part of ``wrong``.

        A sum of few events has a small variance where it is too small itself. In units of that, it would be
        farther from the truth than the normal distribution says. The upper end of an interval with the
        probability of one standard deviation knows of it.
        """
        sampled = self.wrong - self.exact_wrong
        high = upper_limit_of_weighted_sum(sampled, self.variance, self.largest, _ONE_SIGMA)
        return max(math.hypot(math.sqrt(self.variance), self.largest), high - sampled)


class ErrorParts(NamedTuple):
    """What the error of a sampled weight is made of, or that of several.

    Attributes:
        variance: Of the sum, from what was found.
        events: The sum of a power of the largest events that may have been missed, one for each sample.
    """

    variance: float
    events: float

    @staticmethod
    def of(variance: float, *missed: float) -> ErrorParts:
        """With the largest event that each sample may have missed."""
        return ErrorParts(variance, math.fsum(each**_POWER for each in missed))

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

    def changed(self, before: ErrorParts, after: ErrorParts) -> ErrorParts:
        """With other parts for one of the weights."""
        return ErrorParts(
            max(0.0, self.variance - before.variance + after.variance),
            max(0.0, self.events - before.events + after.events),
        )


@dataclass(frozen=True)
class Outlook:
    """What is known of the error of a sampled weight, and what more draws would make of it.

    Attributes:
        density: Mean number of finds per unit of odds, each with what it counts.
        variance: Of the sum over finds.
        own: The part of it from each set alone, per unit of density, if finds count 1.
        shared: The part from different sets with a half in common, over the cube of the number of halves.
        drawn_clumping: By how much more draws have more variance than independent ones.
        clumping: See ``_Round``, per half.
        scale: See ``SampledWeight``.
        drawn_density: The part of the density that draws have.
        drawn_event: The largest number of hits that one more draw may have.
        joined_event: The same of a half.
        told_density: With this density there will probably be sets enough to tell how many a half may be in.
        told_event: What the event of a half will then be, about.
        most: An upper limit on what can be missed at all.
        composed: The variance of the part that composed sets have, and what they may have missed.
    """

    density: float
    variance: float
    own: float
    shared: float
    drawn_clumping: float
    clumping: float
    scale: float
    drawn_density: float
    drawn_event: float
    joined_event: float
    told_density: float
    told_event: float
    most: float
    composed: tuple[float, float] = (0.0, 0.0)

    @property
    def missed(self) -> float:
        """What the largest event that may have been missed would add."""
        return self._missed(self.density, self.drawn_density)

    @property
    def now(self) -> ErrorParts:
        """What the error is made of."""
        return self._parts(self.variance / self.density**2, self.missed)

    def with_draws(self, density: float) -> ErrorParts:
        """The same with draws of so much more density."""
        density /= 1 + self.drawn_clumping
        total = self.density + density
        missed = self._missed(total, self.drawn_density + density)
        return self._parts((self.variance + self.own * density) / total**2, missed)

    def with_joins(self, halves: int, times: int) -> ErrorParts:
        """The same with so many more joins of so many halves."""
        density, count = halves**2 / self.scale, 1 / (1 + self.clumping * halves)
        more = times * count**2 * (self.own * density + self.shared * float(halves) ** 3)
        total = self.density + times * count * density
        missed = self._missed(total, self.drawn_density)
        return self._parts((self.variance + more) / total**2, missed)

    def with_composed(self, growth: float) -> ErrorParts:
        """The same with so many times as many further draws of composed sets as there are."""
        return self.more_composed(growth).now

    def _parts(self, variance: float, missed: float) -> ErrorParts:
        return ErrorParts.of(variance + self.composed[0], missed, self.composed[1])

    def more_composed(self, growth: float) -> Outlook:
        """What is known then."""
        variance, missed = self.composed
        return replace(self, composed=(variance / (1 + growth), missed / (1 + growth)))

    @property
    def error_of_composed(self) -> float:
        """The part of the square of the error that composed sets have."""
        variance, missed = self.composed
        return ErrorParts.of(variance, missed).alone

    def anew(self, share: float) -> Outlook:
        """Of the sets that are left when those with a share of the variance are listed: none is drawn yet."""
        own, shared = (1 - share) * self.own, (1 - share) * self.shared
        return replace(self, density=0.0, variance=0.0, own=own, shared=shared, drawn_density=0.0)

    def halves_for(self, density: float) -> float:
        """The number of halves of a join that adds so much density, with what its finds count."""
        finds = density * self.scale
        clumped = finds * self.clumping
        return (clumped + math.sqrt(clumped**2 + 4 * finds)) / 2

    def _missed(self, density: float, drawn_density: float) -> float:
        # No more than draws alone, or joins alone, would have missed: more finds do not make it larger. Draws
        # also see what sets with a common half add up to.
        joined = self.joined_event if density < self.told_density else self.told_event
        by_draws = self.drawn_event / drawn_density if drawn_density else math.inf
        by_joins = joined / (density - drawn_density) if joined and density > drawn_density else math.inf
        together = max(self.drawn_event if drawn_density else 0.0, joined) / density
        return min(together, by_draws, by_joins, self.most)


def next_passing(strata: Sequence[Stratum], masses: Floats, weight: int, circuit: int) -> float:
    """The odds of all sets of a weight that pass the checks, extrapolated from smaller weights.

    Args:
        strata: Those, from 0 on.
        masses: For each weight the odds of all sets, in the circuit.
        weight: The weight.
        circuit: The number of the circuit.
    """
    known = [(stratum.weight, stratum.passing(circuit)) for stratum in strata]
    # Where none were found, there may still be some.
    found = [(k, passing) for k, passing in known if passing] or [(0, 0.0)]
    (j, a), (k, b) = found[-2:] if len(found) > 1 else (found[-1], found[-1])
    if not b:
        return float(masses[weight]) * 1e-6
    if j == k:
        return b * float(masses[weight] / masses[k])
    return b * min(1.0, (b / a) ** (1 / (k - j))) ** (weight - k)
