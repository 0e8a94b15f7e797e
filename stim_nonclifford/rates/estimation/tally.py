"""Sums of importance weights: the one place where samples become means, variances and bounds.

Of n independent samples, sample i adds the weight v_i to a quantity, often 0. Then

    mean = Σ v_i / n,      variance of the mean = (Σ v_i² / n - mean²) / n,

and the covariance with the mean of a_i is (Σ a_i v_i / n - mean of a · mean of v) / n. A sample that was not
drawn by chance could have had the largest weight w: the zero-count bound w / n (M. P. Fay, E. J. Feuer,
Statistics in Medicine 16, 791, 1997; ``estimation.ratios`` makes intervals of it). Enumerated fault sets have
their probabilities as weights, n = 1, and neither a variance nor a bound.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["ACCEPTED", "WRONG", "Tally"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

ACCEPTED, WRONG = 0, 1
"""The first two quantities: a shot is accepted; and any observable of it is predicted wrongly, too."""

_ALL_GAPS = np.array([np.iinfo(np.int64).min])


class Tally:
    """Sums of the weights of independent samples, for several quantities and by the decoder's gap.

    Args:
        num_observables: Number of observables.
        largest: The largest weight that a sample can have, as far as is known.

    Attributes:
        samples: n, the number of samples that were drawn, or of fault sets that were enumerated.
        failures: How many fault sets were accepted and wrong.
        largest: The largest weight of a sample.
        is_exact: Whether these are all fault sets, each with its probability.

    Examples:
        >>> tally = Tally(1, 0.5)
        >>> tally.add(4, np.array([[0.5, 0.5, 0.5], [0.5, 0, 0], [0.5, 0, 0]]), np.array([3, 0, 3]))
        >>> tally.means(np.array([0, 3, 5]))[[ACCEPTED, WRONG]].tolist()
        [[0.375, 0.25, 0.0], [0.125, 0.125, 0.0]]
    """

    def __init__(self, num_observables: int, largest: float) -> None:
        self.samples = self.failures = 0
        self.largest = largest
        self.is_exact = False
        self._gaps: Integers = np.zeros(0, dtype=np.int64)
        # The sums of v, v² and a v by gap: shape (3, gaps, quantities).
        self._sums: Floats = np.zeros((3, 0, 2 + num_observables))

    def add(self, samples: int, values: Floats, gaps: Integers | None = None) -> None:
        """Takes more samples.

        Args:
            samples: How many.
            values: float64, shape (some, 2 + observables): the weights of those samples that have any: if
                accepted, if also wrong, and if wrong about each observable.
            gaps: int64, shape (some,): the decoder's gaps; None: 0.
        """
        self.samples += samples
        self.failures += int(np.count_nonzero(values[:, WRONG]))
        self.largest = max(self.largest, float(values[:, WRONG].max(initial=0.0)))
        if gaps is None:
            gaps = np.zeros(len(values), dtype=np.int64)
        every = np.concatenate([self._gaps, gaps])
        moments = np.stack([values, values**2, values * values[:, :1]])
        sums = np.concatenate([self._sums, moments], axis=1)
        self._gaps, place = np.unique(every, return_inverse=True)
        order = np.argsort(place, kind="stable")
        if len(order):
            starts = np.searchsorted(place[order], np.arange(len(self._gaps)))
            self._sums = np.add.reduceat(sums[:, order], starts, axis=1)

    @property
    def gaps(self) -> Integers:
        """The distinct gaps of accepted samples, ascending: int64, shape (gaps,)."""
        return self._gaps

    @property
    def bound(self) -> float:
        """W / n, the mean's largest unobserved contribution by one sample; 0 if all sets were enumerated."""
        return 0.0 if self.is_exact else self.largest / max(self.samples, 1)

    def means(self, least_gaps: Integers = _ALL_GAPS) -> Floats:
        """The means of all quantities at some least gaps: float64, shape (2 + observables, gaps)."""
        return self._moments(least_gaps)[0]

    def variances(self, least_gaps: Integers = _ALL_GAPS) -> tuple[Floats, Floats]:
        """The variances of ``means``, and their covariances with the mean of ``ACCEPTED``; same shapes."""
        mean, square, product = self._moments(least_gaps)
        if self.is_exact:
            return np.zeros_like(mean), np.zeros_like(mean)
        count = max(self.samples, 1)
        return np.maximum(square - mean**2, 0.0) / count, (product - mean[ACCEPTED] * mean) / count

    @property
    def mean(self) -> float:
        """The mean of ``WRONG``, whatever the gap."""
        return float(self.means()[WRONG, 0])

    @property
    def variance(self) -> float:
        """The variance of ``mean``, with the square of the zero-count bound."""
        return float(self.variances()[0][WRONG, 0]) + self.bound**2

    @property
    def effective_failures(self) -> float:
        """Kish's effective number of failing samples, (Σw)² / Σw²."""
        first, second = self._sums[:2, :, WRONG].sum(axis=1).tolist()
        return float(first**2 / second) if second else 0.0

    def _moments(self, least_gaps: Integers) -> Floats:
        """The sums over n of v, v² and a v: shape (3, quantities, gaps)."""
        tails = self._sums[:, ::-1].cumsum(axis=1)[:, ::-1]
        tails = np.concatenate([tails, np.zeros((3, 1, tails.shape[2]))], axis=1)
        found = tails[:, np.searchsorted(self._gaps, least_gaps)].transpose(0, 2, 1)
        return np.asarray(found / (1 if self.is_exact else max(self.samples, 1)))
