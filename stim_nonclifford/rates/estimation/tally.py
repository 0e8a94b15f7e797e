"""Counts of accepted and of wrong shots in one cell, by the decoder's gap.

A cell is a stratum of known probability P. Its n shots are drawn from it directly, so that each of them has
the importance weight P / n; or its fault sets are enumerated with their probabilities as weights. With
A(g) and W(g) the sums of the weights of the shots with a gap of at least g that are accepted, and that are
accepted and wrong as well, W is an unbiased estimate of P(cell, accepted, wrong, gap >= g), with the variance
(P W - W^2) / n, and the covariance of W and A is (P W - W A) / n, as each wrong shot is an accepted one. A
wrong shot that was not seen would have had the weight P / n (zero-count bound); enumerated cells have none.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["Tally"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Tally:
    """The counts of one cell.

    Args:
        probability: P, the probability of the cell.
        num_observables: Number of observables.

    Attributes:
        probability: P.
        shots: How many shots were drawn, or sets enumerated.
        is_exact: Whether all fault sets of the cell were enumerated.
        wrong: How many of the shots were accepted and wrong.

    Examples:
        >>> tally = Tally(0.5, 1)
        >>> tally.add(np.array([3, 0, 3]), np.array([[True], [False], [False]]), np.ones(3), 4)
        >>> [found.tolist() for found in tally.means(np.array([0, 3, 5]))]
        [[0.375, 0.25, 0.0], [0.125, 0.125, 0.0]]
    """

    def __init__(self, probability: float, num_observables: int) -> None:
        self.probability = probability
        self.shots = self.wrong = 0
        self.is_exact = False
        self._gaps: Integers = np.zeros(0, dtype=np.int64)
        self._sums: Floats = np.zeros((2, 0))
        self._observables: Floats = np.zeros(num_observables)

    def add(self, gaps: Integers, wrong: npt.NDArray[np.bool_], weights: Floats, shots: int) -> None:
        """Counts accepted shots.

        Args:
            gaps: int64, shape (accepted,).
            wrong: bool, shape (accepted, observables): which observables are predicted wrongly.
            weights: float64, shape (accepted,): 1 for each shot; or the probabilities of enumerated sets.
            shots: How many shots there were, accepted or not.
        """
        is_wrong = wrong.any(axis=1)
        self.shots += shots
        self.wrong += int(is_wrong.sum())
        every = np.concatenate([self._gaps, gaps])
        sums = np.hstack([self._sums, np.array([weights, weights * is_wrong])])
        self._gaps, place = np.unique(every, return_inverse=True)
        self._sums = np.array([np.bincount(place.ravel(), each, len(self._gaps)) for each in sums])
        self._observables = self._observables + weights @ wrong

    @property
    def gaps(self) -> Integers:
        """The gaps of accepted shots that were seen, ascending: int64, shape (gaps,)."""
        return self._gaps

    @property
    def weight(self) -> float:
        """The weight of a wrong shot that was not seen: P / n, or 0 if the cell was enumerated."""
        return 0.0 if self.is_exact else self.probability / max(self.shots, 1)

    def means(self, least_gaps: Integers) -> tuple[Floats, Floats]:
        """The estimates A and W of P(cell, accepted, gap >= g) and P(cell, accepted, wrong, gap >= g).

        Args:
            least_gaps: int64, shape (gaps,): the gaps g.
        """
        tails = np.hstack([self._sums[:, ::-1].cumsum(axis=1)[:, ::-1], np.zeros((2, 1))])
        found = self._factor * tails[:, np.searchsorted(self._gaps, least_gaps)]
        return found[0], found[1]

    def of_observables(self) -> Floats:
        """The estimates of P(cell, accepted, observable wrong), whatever the gap: shape (observables,)."""
        return self._factor * self._observables

    @property
    def _factor(self) -> float:
        return 1.0 if self.is_exact else self.probability / max(self.shots, 1)
