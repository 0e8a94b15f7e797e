"""Fault sets of independent mechanisms, given how many of them act: their probabilities, draws, and lists.

With the odds w_j = q_j / (1 - q_j) of M mechanisms, k of them act with the probability

    pi_k = e_k(w) / prod_j (1 + w_j),     e_k(w) = sum over sets F of k mechanisms of prod_{j in F} w_j,

and a set of k mechanisms has the probability prod_{j in F} w_j / e_k(w) among these. Sets are drawn exactly
so (conditional Poisson sampling: S. X. Chen, A. P. Dempster, J. S. Liu, Biometrika 81, 457, 1994): with
E(i, r) = e_r(w_i, w_i+1, ...), the first of r members that are still to come, all from place i on, is j with
the probability w_j E(j + 1, r - 1) / E(i, r) = (E(j, r) - E(j + 1, r)) / E(i, r). E(., r) decreases, so that
one binary search finds it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...base.errors import ResourceLimitError

__all__ = ["FaultNumbers"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

_DEVIATIONS, _MORE = 12, 24
"""Numbers of faults that are known: up to the mean, so many standard deviations, and so many more. Beyond
them there is less than 1e-25. Doubled, the table is larger, and nothing else changes."""

_MOST_ENTRIES = 1 << 26
"""Entries of the table, of 8 bytes each. Doubled, circuits with more errors per shot are accepted."""

_SETS_AT_ONCE = 1 << 14
"""Sets that are listed at once: only memory depends on it."""


class FaultNumbers:
    """The fault sets of independent mechanisms by the number of their members.

    Args:
        odds: float64, shape (mechanisms,): q / (1 - q) of each.

    Attributes:
        odds: The odds.
        probabilities: float64, shape (most + 1,): pi_k, the probability that exactly k mechanisms act.

    Raises:
        ResourceLimitError: There are too many mechanisms, or errors per shot.

    Examples:
        >>> numbers = FaultNumbers(np.array([1.0, 1.0, 0.25]))
        >>> numbers.probabilities.round(6).tolist()
        [0.2, 0.45, 0.3, 0.05]
        >>> [(members.tolist(), weights.round(6).tolist()) for members, weights in numbers.listed(2)]
        [([[0, 1], [0, 2], [1, 2]], [0.2, 0.05, 0.05])]
    """

    def __init__(self, odds: Floats) -> None:
        self.odds = odds
        mean = float((odds / (1 + odds)).sum())
        most = min(len(odds), int(mean + _DEVIATIONS * math.sqrt(mean)) + _MORE)
        if (len(odds) + 1) * (most + 1) > _MOST_ENTRIES:
            raise ResourceLimitError(
                f"{len(odds):,} error mechanisms, of which {mean:.3g} act in a shot, are too many for a sum"
                " over numbers of faults. Count errors with SoftDecodingSampler."
            )
        # E(i, r) times r! / (sum of all odds)^r, so that it neither overflows nor underflows at i = 0.
        total = float(odds.sum())
        table = np.zeros((len(odds) + 1, most + 1))
        table[:, 0] = 1.0
        scales = np.arange(1, most + 1) / total if total else np.zeros(most)
        for place in range(len(odds) - 1, -1, -1):
            table[place, 1:] = table[place + 1, 1:] + odds[place] * scales * table[place + 1, :-1]
        self._columns = np.ascontiguousarray(-table.T)  # ascending
        numbers = np.arange(most + 1)
        factorials = np.array([math.lgamma(number + 1) for number in numbers])
        with np.errstate(divide="ignore"):
            logs = np.log(table[0]) + numbers * math.log(total or 1.0) - factorials
        self._log_of_none = -float(np.log1p(odds).sum())
        self.probabilities: Floats = np.exp(logs + self._log_of_none)

    def drawn(self, number: int, count: int, rng: np.random.Generator) -> Indices:
        """Independent sets of exactly ``number`` mechanisms, by conditional Poisson sampling.

        Args:
            number: How many members each set has.
            count: How many sets.
            rng: What they are drawn with.

        Returns:
            intp, shape (count, number), ascending in each row.
        """
        members = np.zeros((count, number), dtype=np.intp)
        place = np.zeros(count, dtype=np.intp)
        for column in range(number):
            values = self._columns[number - column]
            at = values[place] * rng.random(count)
            members[:, column] = np.searchsorted(values, at, side="left") - 1
            place = members[:, column] + 1
        return members

    def listed(self, number: int) -> Iterator[tuple[Indices, Floats]]:
        """All sets of exactly ``number`` mechanisms, in blocks, with their probabilities.

        Args:
            number: How many members each set has.

        Yields:
            intp, shape (sets, number); and float64, shape (sets,).
        """
        none = math.exp(self._log_of_none)
        every = itertools.combinations(range(len(self.odds)), number)
        while block := list(itertools.islice(every, _SETS_AT_ONCE)):
            members = np.array(block, dtype=np.intp).reshape(len(block), number)
            yield members, none * self.odds[members].prod(axis=1)
