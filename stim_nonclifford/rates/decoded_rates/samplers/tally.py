"""Sums of importance weights: mean, variance, and what may have been missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...estimation.interval import interval_of_weighted_sum
from ..faults.mechanisms import Floats

__all__ = ["COVERAGE", "Tally", "interval_of_tallies"]

COVERAGE = 0.95
"""The probability with which an interval contains the true rate."""


_ROUNDING = 1e-12
"""The relative error of sums, which an interval has room for."""


@dataclass
class Tally:
    """A sum over n independent samples, each of which has an importance weight if it fails, and 0 if not.

    The mean w̄ = Σw / n estimates the rate without a bias, with the variance (Σw²/n - w̄²) / n. To that, the
    square of the largest weight over n is added: one more sample of it may have been missed by chance. So no
    count has an error of 0.

    Attributes:
        sums: float64, shape (1 + observables,): Σw of the samples that fail, and of those with each
            observable predicted wrongly.
        squares: float64, shape (1 + observables,): Σw² of the same samples.
        largest: The largest weight that a sample had, or can have as far as is known.
        samples: n.
    """

    sums: Floats
    squares: Floats
    largest: float
    samples: int = 0

    @classmethod
    def of(cls, observables: int, largest: float) -> Tally:
        """An empty tally."""
        return cls(np.zeros(1 + observables), np.zeros(1 + observables), largest)

    def add(self, samples: int, values: Floats) -> None:
        """Takes more samples.

        Args:
            samples: How many.
            values: Shape (failing samples, 1 + observables): the weights, and for each observable the part of
                the weight with which it is predicted wrongly.
        """
        self.samples += samples
        self.sums += values.sum(axis=0)
        self.squares += (values**2).sum(axis=0)
        self.largest = max(self.largest, float(values[:, 0].max(initial=0.0)))

    @property
    def means(self) -> Floats:
        """w̄, for any observable and for each: shape (1 + observables,)."""
        return self.sums / self.samples if self.samples else np.zeros_like(self.sums)

    @property
    def spreads(self) -> Floats:
        """The variances of ``means`` that the samples show."""
        if not self.samples:
            return np.zeros_like(self.sums)
        return np.maximum(self.squares / self.samples - self.means**2, 0.0) / self.samples

    @property
    def one_more(self) -> float:
        """What one more sample of the largest weight would add to the mean."""
        return self.largest / max(self.samples, 1)

    @property
    def variances(self) -> Floats:
        """The variances of ``means``, with the sample that may have been missed."""
        return self.spreads + self.one_more**2

    @property
    def effective_failures(self) -> float:
        """Kish's effective number of failing samples, (Σw)² / Σw²."""
        return float(self.sums[0] ** 2 / self.squares[0]) if self.squares[0] else 0.0


def interval_of_tallies(
    exact: float, tallies: Sequence[Tally], least_missed: float = 0.0
) -> tuple[float, float]:
    """The interval of Fay and Feuer for a known number plus the means of tallies.

    Args:
        exact: The known number.
        tallies: The tallies.
        least_missed: What one missed sample adds at least.

    Returns:
        (low, high), within 0 and 1.

    Examples:
        >>> none = Tally.of(0, 1.0)
        >>> none.add(1000, np.zeros((0, 1)))
        >>> low, high = interval_of_tallies(0.0, [none])
        >>> low, round(high, 6)  # ln 40 over 1000
        (0.0, 0.003689)
    """
    total = float(sum(tally.means[0] for tally in tallies))
    variance = float(sum(tally.spreads[0] for tally in tallies))
    largest = max((tally.one_more for tally in tallies), default=0.0)
    if exact + total > 0.5:  # then shots that are right are the rare ones
        low, high = interval_of_weighted_sum(max(1 - exact - total, 0.0), variance, largest, COVERAGE)
        low, high = max(0.0, 1 - high), 1 - low
    else:
        low, high = interval_of_weighted_sum(total, variance, max(largest, least_missed), COVERAGE)
        low, high = exact + low, exact + high
    return low * (1 - _ROUNDING), min(1.0, high * (1 + _ROUNDING))
