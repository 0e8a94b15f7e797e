"""Fault sets by the number of faults: conditional Poisson sampling.

Let w_j = q_j / (1 - q_j) be the odds of M independent faults. Exactly k of them act with the probability

    pi_k = e_k(w) / prod_j (1 + w_j),     e_k(w) = sum over sets F of k faults of prod_{j in F} w_j,

and then they are the set F with probability prod_{j in F} w_j / e_k(w) (S. X. Chen, A. P. Dempster, J. S.
Liu, Biometrika 81, 457, 1994). Sets are drawn exactly so, one member after the other: with E(i, r) = e_r(w_i,
w_i+1, ...), the first of r members that are still to come, all from index i on, is at least j with the
probability E(j, r) / E(i, r), which a binary search inverts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...base.errors import ResourceLimitError

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

_MOST_ENTRIES = 1 << 27
"""Entries of the tables E, of 8 bytes each. Doubled, circuits with 1.4 times as many faults are accepted, and
may take 2 GB."""


class FaultNumbers:
    """The fault sets of independent faults by the number of their members.

    Args:
        odds: float64, shape (faults,): q / (1 - q) of each, best in ascending order.

    Attributes:
        odds: The odds.
        probabilities: float64, shape (most + 1,): pi_k, up to 12 standard deviations and 64 faults above the
            mean, beyond which there is less than 1e-30.
        mean: The mean number of faults.

    Examples:
        >>> numbers = FaultNumbers(np.array([0.25, 1.0, 1.0]))
        >>> numbers.probabilities.round(6).tolist()
        [0.2, 0.45, 0.3, 0.05]
        >>> [(members.tolist(), weights.round(6).tolist()) for members, weights in numbers.listed(2)]
        [([[0, 1], [0, 2], [1, 2]], [0.05, 0.05, 0.2])]
    """

    def __init__(self, odds: Floats) -> None:
        self.odds = odds
        rates = odds / (1 + odds)
        self.mean = float(rates.sum())
        most = min(len(odds), math.ceil(self.mean + 12 * math.sqrt(self.mean)) + 64)
        self.probabilities = _poisson_binomial(rates, most)
        self._none = math.exp(-float(np.log1p(odds).sum()))
        self._ends = np.append(0.0, np.cumsum(odds))
        self._tails = [np.ones(len(odds) + 1)]  # E(i, r) / E(0, r) for r = 0, 1, ...

    @property
    def most(self) -> int:
        """The largest number of faults in ``probabilities``."""
        return len(self.probabilities) - 1

    def drawn(self, number: int, count: int, rng: np.random.Generator) -> Indices:
        """Independent sets of exactly ``number`` faults: intp, shape (count, number), ascending in each row.

        Raises:
            ResourceLimitError: The tables would be too large.
        """
        members = np.zeros((count, number), dtype=np.intp)
        begin = np.zeros(count, dtype=np.intp)
        for place in range(number):
            tails = self._tails_of(number - place)
            least = tails[begin] * (1 - rng.random(count))
            members[:, place] = len(tails) - 1 - np.searchsorted(tails[::-1], least, side="left")
            begin = members[:, place] + 1
        return members

    def listed(self, number: int) -> Iterator[tuple[Indices, Floats]]:
        """All sets of ``number`` faults, shape (sets, number), in blocks, with their probabilities."""
        every = itertools.combinations(range(len(self.odds)), number)
        while block := list(itertools.islice(every, 1 << 14)):
            members = np.array(block, dtype=np.intp).reshape(len(block), number)
            yield members, self._none * self.odds[members].prod(axis=1)

    def odds_outside(self, sets: Indices) -> Floats:
        """The sums of the odds of the faults outside each set: float64, shape (sets,)."""
        outside = self._ends[-1] - self.odds[sets].sum(axis=1)
        for place in np.flatnonzero(outside < 1e-6 * self._ends[-1]).tolist():  # the difference lost digits
            outside[place] = np.delete(self.odds, sets[place]).sum()
        return np.asarray(outside)

    def outside(self, sets: Indices, rng: np.random.Generator) -> Indices:
        """A fault outside each set, whose members are ascending, drawn by its odds: intp, shape (sets,)."""
        found = np.zeros(len(sets), dtype=np.intp)
        waiting = np.arange(len(sets))
        while len(waiting):  # hardly ever a second time: where rounding leads to a member
            mine = sets[waiting]
            point = rng.random(len(mine)) * self.odds_outside(mine)
            for member in mine.T:
                point += np.where(point >= self._ends[member], self.odds[member], 0.0)
            drawn = np.searchsorted(self._ends[1:], point, side="right")
            found[waiting] = np.minimum(drawn, len(self.odds) - 1)
            waiting = waiting[(mine == found[waiting][:, np.newaxis]).any(axis=1)]
        return found

    def _tails_of(self, number: int) -> Floats:
        if (number + 1) * len(self._tails[0]) > _MOST_ENTRIES:
            raise ResourceLimitError(
                f"{len(self.odds):,} error mechanisms, of which {self.mean:.3g} act in a shot, are too many"
                " for a sum over numbers of faults. Count errors with SoftDecodingSampler."
            )
        while len(self._tails) <= number:
            terms = self.odds * self._tails[-1][1:]
            tails = np.append(np.cumsum(terms[::-1])[::-1], 0.0)
            self._tails.append(tails / tails[0])
        return self._tails[number]


def _poisson_binomial(probabilities: Floats, most: int) -> Floats:
    """The distribution of the number of faults that act: shape (most + 1,).

    The generating polynomials 1 - q + q x of the faults are multiplied in pairs.
    """
    factors = np.stack([1 - probabilities, probabilities], axis=1)
    if not len(factors):
        return np.ones(1)
    while len(factors) > 1:
        if len(factors) % 2:
            one = np.zeros((1, factors.shape[1]))
            one[0, 0] = 1
            factors = np.vstack([factors, one])
        first, second = factors[::2], factors[1::2]
        length = first.shape[1]
        product = np.zeros((len(first), 2 * length - 1))
        for k in range(length):
            product[:, k : k + length] += first[:, k, np.newaxis] * second
        factors = product[:, : most + 1]
    found = np.zeros(most + 1)
    found[: factors.shape[1]] = factors[0, : most + 1]
    return found
