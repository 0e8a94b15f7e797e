"""P(kept) and P(kept and wrong) from the strata of one search, or of one search for each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...estimation.interval import interval_of_weighted_sum
from .joins import FEW
from .search import FaultSetStratum, Search
from .strata import KEPT, WRONG, StratumSums


@dataclass(frozen=True)
class WeightRow:
    """A stratum, as it is printed."""

    stratum: FaultSetStratum
    mass: float  # probability of all sets of these weights
    sums: StratumSums  # as probabilities


@dataclass(frozen=True)
class Totals:
    """Sums over all strata, as probabilities."""

    kept: float  # P(kept)
    wrong: float  # P(kept and wrong)
    exact: float  # the part of the sum asked for that comes from enumerated sets
    variance: float  # of ``wrong - rate * kept``, or of ``kept`` in a search for that alone
    kept_error: float  # the standard error of ``kept``, as ``error_of_sum``
    # by how much the largest event that may have been missed would have changed the sum asked for, of all
    # strata: it is one event and not one of each stratum (see ``interval``)
    missed: float
    rest: float  # probability of all sets that were neither enumerated nor sampled
    rest_passing: float  # an upper bound on the probability of those of them that pass the noise-only checks
    rest_kept: float  # the same bound for the sum P(kept), which may come from another search
    rows: tuple[WeightRow, ...]
    column: int = WRONG  # the sum asked for, ``KEPT`` or ``WRONG``

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
        """The standard error of the rate."""
        return self.error_of_sum / self.kept if self.kept else 0.0

    @property
    def error_of_sum(self) -> float:
        """The standard error of the sum asked for, with the largest event that may have been missed.

        Sets that were neither enumerated nor sampled may all be wrong. That is not a matter of chance: they
        add to the error, not to its square.
        """
        return _error(self.variance, self.missed, self.rest_passing)

    @property
    def interval_of_sum(self) -> tuple[float, float]:
        """Limits for the sum asked for."""
        low, high = interval_of_weighted_sum(self.asked - self.exact, self.variance, self.missed)
        return self.exact + low, self.exact + high + self.rest_passing

    @property
    def interval(self) -> tuple[float, float]:
        """Limits for the logical error rate."""
        low, high = self.interval_of_sum
        # All sets that were left out and pass may be kept and wrong, or all kept and right.
        return (low / (self.kept + self.rest_kept), high / self.kept) if self.kept else (0.0, 1.0)


def totals_of(search: Search) -> Totals:
    """The sums of a search so far."""
    nothing, coin_factor = search.mechanisms.nothing, search.mechanisms.coin_factor
    rows = [
        WeightRow(each, nothing * float(search.masses[each.weights].sum()), search.sums(each))
        for each in search.strata
    ]
    kept, wrong = (math.fsum(getattr(row.sums, name) for row in rows) for name in ("kept", "wrong"))
    column = WRONG if search.column is None else search.column
    rate = wrong / kept if kept else 0.0
    rest_passing = search.rest_passing(search.next_weight) * coin_factor
    missed = max((row.sums.missed for row in rows), default=0.0)
    exact = (row.sums for row in rows if not row.stratum.draws)
    return Totals(
        kept=kept,
        wrong=wrong,
        exact=math.fsum(each.kept if column == KEPT else each.wrong for each in exact),
        variance=math.fsum(row.sums.variance(rate, column) for row in rows),
        kept_error=_error(math.fsum(row.sums.variance(rate, KEPT) for row in rows), missed, rest_passing),
        missed=missed,
        rest=search.rest(search.next_weight) * coin_factor,
        rest_passing=rest_passing,
        rest_kept=rest_passing,
        rows=tuple(rows),
        column=column,
    )


def _error(variance: float, missed: float, rest: float) -> float:
    """The standard error of a sum with an event that may have been missed, and with what was left out."""
    return math.hypot(math.sqrt(variance), missed) + rest


@dataclass(frozen=True)
class Estimate:
    """P(kept) and P(kept and wrong) of a circuit."""

    searches: Sequence[Search]  # one for both, or one for each

    @property
    def totals(self) -> Totals:
        """The sums."""
        wrong = totals_of(self.searches[-1])
        if len(self.searches) == 1:
            return wrong
        kept = totals_of(self.searches[0])
        rate = wrong.wrong / kept.kept if kept.kept else 0.0
        found = {row.stratum.weights[0]: row for row in kept.rows}
        rows, missed = [], 0.0
        for row in wrong.rows:
            stratum, sums = row.stratum, row.sums
            own = [found.pop(k).sums for k in stratum.weights if k in found]
            if len(own) == 1 and len(stratum.weights) == 1 and stratum.draws and stratum.sets < FEW:
                # Wrong sets are some of the kept ones.
                sums = replace(sums, missed=min(sums.missed, own[0].kept + own[0].missed))
            missed = max(missed, sums.missed)
            all_kept = max(math.fsum(each.kept for each in own), sums.wrong)
            rows.append(replace(row, sums=replace(sums, kept=all_kept)))
        return replace(
            wrong,
            kept=kept.kept,
            variance=wrong.variance + rate**2 * kept.variance,
            kept_error=kept.kept_error,
            missed=math.hypot(missed, rate * kept.missed),
            rest_kept=kept.rest_passing,
            rows=(*rows, *found.values()),
        )

    def error_patterns(self) -> dict[int, float]:
        """P(kept and this combination), for each combination of flipped observables."""
        search = self.searches[-1]
        if len(self.searches) > 1:
            wrong = totals_of(search).wrong
            return {1: wrong} if wrong else {}
        coefficients = np.zeros(len(search.outcomes.probabilities))
        for stratum in search.strata:
            coefficients += search.factor * stratum.coefficients(len(coefficients))
        return search.outcomes.pattern_sums(coefficients)
