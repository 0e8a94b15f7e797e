"""P(kept) and P(kept and wrong) from the strata of one search, or of one search for each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...estimation.interval import interval_of_weighted_sum, upper_limit_of_weighted_sum
from .joins import FEW
from .outcomes import KEPT, WRONG, Floats
from .search import Search
from .strata import Stratum, Tally

__all__ = ["CircuitTotals", "Estimate", "totals_of"]

_ONE_SIGMA = math.erf(math.sqrt(0.5))
"""The probability of at most one standard deviation."""


@dataclass(frozen=True)
class CircuitTotals:
    """Sums over all strata for a circuit, as probabilities.

    Attributes:
        kept: P(kept).
        wrong: P(kept and wrong).
        exact: The part of the sum asked for that comes from enumerated sets.
        variance: Variance of ``wrong - rate * kept``, or of ``kept`` in a search for that alone.
        missed: By how much the largest event that may have been missed would have changed the sum asked for,
            of all strata. It is one event and not one of each stratum: see ``interval_of_weighted_sum``.
        rest: Probability of all sets that were neither enumerated nor sampled.
        rest_passing: An upper bound on the probability of those of them that pass the noise-only checks.
        rest_kept: The same bound for the sum P(kept), which may come from another search.
        by_weight: (weight, stratum, probability of all sets of the stratum, tally as probabilities).
        column: The sum asked for, ``KEPT`` or ``WRONG``.
    """

    kept: float
    wrong: float
    exact: float
    variance: float
    missed: float
    rest: float
    rest_passing: float
    rest_kept: float
    by_weight: tuple[tuple[int, Stratum, float, Tally], ...]
    column: int = WRONG

    @property
    def asked(self) -> float:
        """The sum asked for."""
        return self.kept if self.column == KEPT else self.wrong

    @property
    def rate(self) -> float:
        """P(wrong | kept)."""
        return self.wrong / self.kept if self.kept else 0.0

    @property
    def standard_error(self) -> float:
        """The standard error of the rate, with what the largest event that may have been missed would add.

        Sets that were neither enumerated nor sampled may all be wrong. That is not a matter of chance: they
        add to the error, not to its square.
        """
        return self.error_of_sum / self.kept if self.kept else 0.0

    @property
    def error_of_sum(self) -> float:
        """The standard error of the sum asked for.

        A sum of few events has a small variance where it is too small itself. In units of that, it would be
        farther from the truth than for the normal distribution. The upper end of an interval with the
        probability of one standard deviation includes it.
        """
        sampled = self.asked - self.exact
        high = upper_limit_of_weighted_sum(sampled, self.variance, self.missed, _ONE_SIGMA)
        return max(math.hypot(math.sqrt(self.variance), self.missed), high - sampled) + self.rest_passing

    def interval_of_sum(self, coverage: float) -> tuple[float, float]:
        """Limits for the sum asked for."""
        low, high = interval_of_weighted_sum(self.asked - self.exact, self.variance, self.missed, coverage)
        return self.exact + low, self.exact + high + self.rest_passing

    def interval(self, coverage: float) -> tuple[float, float]:
        """Limits for the logical error rate."""
        low, high = self.interval_of_sum(coverage)
        # All sets that were left out and pass may be kept and wrong, or all kept and right.
        return (low / (self.kept + self.rest_kept), high / self.kept) if self.kept else (0.0, 1.0)


def totals_of(search: Search, circuit: int) -> CircuitTotals:
    """The sums of a search for a circuit, so far."""
    factor, nothing = search.factors[circuit], search.nothing[circuit]
    tallies = [search.tally(stratum, circuit).scaled(factor) for stratum in search.strata]
    kept, wrong = (math.fsum(getattr(each, name) for each in tallies) for name in ("kept", "wrong"))
    column, rate = search.asked.column, wrong / kept if kept else 0.0
    known = len(search.enumerated)
    rest_passing = search.rest_passing(circuit, search.next_weight) * factor / nothing
    return CircuitTotals(
        kept=kept,
        wrong=wrong,
        exact=math.fsum((each.kept if column == KEPT else each.wrong) for each in tallies[:known]),
        variance=math.fsum(each.variance(rate, column) for each in tallies),
        missed=max((each.missed for each in tallies), default=0.0),
        rest=search.rest(circuit, search.next_weight) * factor / nothing,
        rest_passing=rest_passing,
        rest_kept=rest_passing,
        by_weight=tuple(
            (
                stratum.weights[0],
                stratum,
                nothing * float(search.masses[circuit][stratum.weights].sum()),
                each,
            )
            for stratum, each in zip(search.strata, tallies, strict=True)
        ),
        column=column,
    )


class Estimate:
    """P(kept) and P(kept and wrong) of circuits that differ in the odds of their mechanisms.

    Args:
        searches: A search for both sums, or one for P(kept) and one for P(kept and wrong).
    """

    def __init__(self, searches: Sequence[Search]) -> None:
        self.searches = tuple(searches)
        self.seconds = searches[0].work.seconds

    @property
    def odds(self) -> Floats:
        """The odds of the mechanisms in each circuit: float64, shape (num_circuits, num_mechanisms)."""
        return self.searches[0].odds

    def probability_of_nothing(self, circuit: int) -> float:
        """Probability that no mechanism acts."""
        return self.searches[0].nothing[circuit]

    def totals(self, circuit: int) -> CircuitTotals:
        """The sums for a circuit."""
        wrong = totals_of(self.searches[-1], circuit)
        if len(self.searches) == 1:
            return wrong
        kept = totals_of(self.searches[0], circuit)
        rate = wrong.wrong / kept.kept if kept.kept else 0.0
        found = {weight: tally for weight, _, _, tally in kept.by_weight}
        rows, missed = [], 0.0
        for weight, stratum, mass, tally in wrong.by_weight:
            own = [found.pop(k) for k in stratum.weights if k in found]
            passing, all_kept = (
                math.fsum(getattr(each, name) for each in own) for name in ("passing", "kept")
            )
            if len(own) == 1 and len(stratum.weights) == 1 and stratum.draws and stratum.sets < FEW:
                # Wrong sets are some of the kept ones.
                tally = replace(tally, missed=min(tally.missed, own[0].kept + own[0].missed))
            missed = max(missed, tally.missed)
            passing, all_kept = max(passing, tally.passing), max(all_kept, tally.wrong)
            rows.append((weight, stratum, mass, replace(tally, passing=passing, kept=all_kept)))
        rows += [row for row in kept.by_weight if row[0] in found]
        return replace(
            wrong,
            kept=kept.kept,
            variance=wrong.variance + rate**2 * kept.variance,
            missed=math.hypot(missed, rate * kept.missed),
            rest_kept=kept.rest_passing,
            by_weight=tuple(rows),
        )

    def interval(self, circuit: int, coverage: float) -> tuple[float, float]:
        """Limits for the logical error rate."""
        return self.totals(circuit).interval(coverage)

    def error_patterns(self, circuit: int) -> dict[int, float]:
        """For each combination of flipped observables P(kept and this combination)."""
        search = self.searches[-1]
        if len(self.searches) > 1:
            wrong = totals_of(search, circuit).wrong
            return {1: wrong} if wrong else {}
        coefficients = np.zeros(len(search.outcomes.probabilities))
        for stratum in search.strata:
            coefficients += search.factors[circuit] * stratum.coefficients(circuit, len(coefficients))
        return search.outcomes.pattern_sums(coefficients)
