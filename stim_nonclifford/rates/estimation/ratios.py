"""Rates per accepted shot from tallies: ratios of sums over cells, with their errors and intervals.

The rate is R = Y / K, with Y the sum of the W of all cells, and K that of their A (see ``tally``). To first
order its error is that of Y - R K, whose variance is

    V = sum over sampled cells of ((P W - W^2) - 2 R (P W - W A) + R^2 (P A - A^2)) / n.

A wrong shot that was not seen is allowed for once, by the largest weight w of any cell: the standard error is
sqrt(V + w^2) / K, and the interval is that of M. P. Fay and E. J. Feuer (Statistics in Medicine 16, 791,
1997) for a sum of weighted counts with the mean Y, the variance V and the largest weight w, divided by K.
Where most accepted shots are wrong, it is the interval of those that are right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .interval import COVERAGE, interval_of_weighted_sum
from .tally import Tally

__all__ = ["Ratio", "Sums", "sums_over"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Ratio:
    """A rate per accepted shot.

    Attributes:
        rate: The rate.
        standard_error: Its standard error, with the allowance for a wrong shot that was not seen.
        interval: (low, high): holds the rate with a probability of 95%.
    """

    rate: float
    standard_error: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Sums:
    """Sums over cells at several least gaps; arrays have the shape (gaps,) or (cells, gaps).

    Attributes:
        accepted: K, the probability that a shot is accepted with at least the gap.
        accepted_variance: Its variance.
        wrong: Y, the probability that it is wrong, too.
        wrong_variance: Its variance.
        weight: w, the largest weight of a shot that was not seen.
        cells_accepted: A of each cell.
        shares: W of each cell.
        variances: The contribution of each cell to V.
        variance: V, with what else is unsure of the cells' probabilities.
    """

    accepted: Floats
    accepted_variance: Floats
    wrong: Floats
    wrong_variance: Floats
    weight: float
    cells_accepted: Floats
    shares: Floats
    variances: Floats
    variance: Floats

    @property
    def relative_errors(self) -> Floats:
        """What more shots make smaller of standard error over rate, at each gap; 0 if nothing is unsure."""
        errors = np.sqrt(self.variances.sum(axis=0) + self.weight**2)
        rates = np.where(self.wrong > 0, self.wrong, np.where(errors > 0, 1e-300, 1.0))
        return np.asarray(errors / rates)

    def ratio(self, place: int, accepted: float) -> Ratio:
        """The rate per accepted shot at one of the gaps, with K as given."""
        return ratio_of(float(self.wrong[place]), accepted, float(self.variance[place]), self.weight)


def ratio_of(wrong: float, accepted: float, variance: float, weight: float) -> Ratio:
    """The rate per accepted shot, from Y, K, V and w.

    Examples:
        >>> found = ratio_of(0.0, 1.0, 0.0, 1e-3)  # none of a thousand shots is wrong
        >>> found.rate, found.standard_error, round(found.interval[1], 6)
        (0.0, 0.001, 0.003689)
    """
    if accepted <= 0:
        return Ratio(0.0, math.inf, (0.0, 1.0))
    if not variance and not weight:
        rate = wrong / accepted
        return Ratio(rate, 0.0, (rate, rate))
    right = accepted - wrong
    low, high = interval_of_weighted_sum(min(wrong, right), variance, weight, COVERAGE)
    if wrong > right:
        low, high = accepted - high, accepted - low
    interval = max(0.0, low / accepted), min(1.0, high / accepted)
    return Ratio(wrong / accepted, math.sqrt(variance + weight**2) / accepted, interval)


def sums_over(
    tallies: Sequence[Tally],
    least_gaps: npt.NDArray[np.int64],
    strata: npt.NDArray[np.intp],
    relative_errors: Floats,
    unlisted: Floats,
    unlisted_accepted: float = 0.0,
) -> Sums:
    """Sums over cells.

    Args:
        tallies: The counts of the cells.
        least_gaps: int64, shape (gaps,).
        strata: intp, shape (cells,): the stratum of each cell.
        relative_errors: float64, shape (strata,): standard error over value of the probabilities of strata.
        unlisted: float64, shape (gaps,): about what part of Y no stratum has.
        unlisted_accepted: About what probability of accepted shots no stratum has.
    """
    means = [tally.means(least_gaps) for tally in tallies]
    accepted, wrong = (np.array([mean[k] for mean in means]) for k in (0, 1))
    probabilities = np.array([tally.probability for tally in tallies])[:, np.newaxis]
    shots = np.array([np.inf if tally.is_exact else max(tally.shots, 1) for tally in tallies])[:, np.newaxis]
    all_accepted, all_wrong = accepted.sum(axis=0), wrong.sum(axis=0)
    rates = all_wrong / np.maximum(all_accepted, 1e-300)
    of_wrong = np.maximum(probabilities * wrong - wrong**2, 0) / shots
    of_accepted = np.maximum(probabilities * accepted - accepted**2, 0) / shots
    together = (probabilities * wrong - wrong * accepted) / shots
    variances = np.maximum(of_wrong - 2 * rates * together + rates**2 * of_accepted, 0)
    # The probabilities of strata are common to their cells.
    squares = relative_errors[:, np.newaxis] ** 2
    belongs = (strata == np.arange(len(relative_errors))[:, np.newaxis]).astype(np.float64)
    by_stratum = belongs @ accepted, belongs @ wrong
    of_listing = (squares * (by_stratum[1] - rates * by_stratum[0]) ** 2).sum(axis=0)
    return Sums(
        accepted=all_accepted,
        accepted_variance=of_accepted.sum(axis=0)
        + (squares * by_stratum[0] ** 2).sum(axis=0)
        + unlisted_accepted**2,
        wrong=all_wrong,
        wrong_variance=of_wrong.sum(axis=0)
        + (squares * by_stratum[1] ** 2).sum(axis=0)
        + (unlisted * all_wrong) ** 2,
        weight=max((tally.weight for tally in tallies), default=0.0),
        cells_accepted=accepted,
        shares=wrong,
        variances=variances,
        variance=variances.sum(axis=0)
        + of_listing
        + (unlisted * all_wrong) ** 2
        + (rates * unlisted_accepted) ** 2,
    )
