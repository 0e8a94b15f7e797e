"""What is known of the fault sets of one weight: all of them, or a sample.

A stratum gives sums over fault sets X of its weight, for several circuits that differ in the odds of their
mechanisms: of odds(X) f(X), where f is the probability that a shot is kept, or kept and wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ...estimation.interval import upper_limit_of_weighted_sum
from .laws import Floats, KeyValues, sum_of_products

__all__ = [
    "CircuitTotals",
    "ExactWeight",
    "Stratum",
    "Sums",
    "next_passing",
]

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
        exact: The part of ``wrong`` that comes from sets of which none can have been missed.
        variance: Estimated variance of ``wrong`` - rate x ``kept``, from what was found.
        largest: The largest amount by which one more event would have changed ``wrong``.
    """

    passing: float
    kept: float
    wrong: float
    exact: float
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
            exact=factor * self.exact,
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
            exact=of_wrong,
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
            exact_wrong=factor * math.fsum(each.exact for each in sums),
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
