"""Failing fault sets of one circuit, each as likely to be here as it is among all failing ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..faults.mechanisms import Floats, Words

__all__ = ["EXACT", "FailingSets", "Recorder", "failing_sets", "resampled_places"]

Indices = npt.NDArray[np.intp]

EXACT = -1
"""The column of sets that are all there are."""

_MOST_RECORDS = 256


def resampled_places(weights: Floats, count: int, rng: np.random.Generator) -> Indices:
    """So many places, each as often as its weight says, on average (systematic resampling)."""
    ends = np.cumsum(weights)
    points = (rng.random() + np.arange(count)) * (ends[-1] / count)
    return np.minimum(np.searchsorted(ends, points, side="right"), len(weights) - 1)


@dataclass(frozen=True)
class FailingSets:
    """Failing fault sets.

    Attributes:
        members: intp, shape (sets, room): the mechanisms of each, then -1.
        numbers: uint64, shape (sets,): what fixes their quantum outcomes.
        columns: intp, shape (sets,): sets of different columns are independent, and all columns have about
            as many; ``EXACT``: these are all sets of their fault numbers, and have no error.
        wrong: uint64, shape (sets, words): the observables that the decoder predicts wrongly.
        weights: float64, shape (sets,): how likely each is among failing sets, up to a factor; None: all are
            as likely.
    """

    members: Indices
    numbers: Words
    columns: Indices
    wrong: Words
    weights: Floats | None = None

    def __len__(self) -> int:
        return len(self.members)

    def column_means(self, values: Floats) -> tuple[Floats, Floats]:
        """The mean of what each set says, and its standard error.

        Args:
            values: Shape (sets, quantities).

        Returns:
            Two arrays of shape (quantities,). The errors are those of independent columns.
        """
        weights = np.ones(len(self)) if self.weights is None else self.weights
        total = weights.sum()
        mean = weights @ values / total
        is_sampled = self.columns != EXACT
        if not is_sampled.any():
            return mean, np.zeros(mean.shape)
        labels, column = np.unique(self.columns[is_sampled], return_inverse=True)
        count = len(labels)
        if count == 1:
            return mean, np.full(mean.shape, np.inf)
        sums = np.zeros((count, values.shape[1]))
        np.add.at(sums, column, (weights[:, np.newaxis] * (values - mean))[is_sampled])
        spread = (sums**2).sum(axis=0) * (count / (count - 1))
        return mean, np.sqrt(spread) / total

    def equally_likely(self, count: int) -> FailingSets:
        """At most so many sets, each as often as it is likely, about."""
        if self.weights is None:
            places = np.unique(np.linspace(0, len(self) - 1, min(len(self), count)).astype(np.intp))
        else:
            # As the members of a set are known by now, there is nothing to draw: the same sets for all seeds.
            places = resampled_places(self.weights, count, np.random.default_rng(0))
        return FailingSets(
            self.members[places], self.numbers[places], self.columns[places], self.wrong[places]
        )

    def rates_of_observables(
        self, count: int, rate: float, error: float, factor: float
    ) -> list[tuple[float, float]]:
        """For each observable how often it is predicted wrongly, and the standard error.

        Args:
            count: The number of observables.
            rate: How often any is.
            error: Its standard error; 0: the sets are all that fail.
            factor: By how much errors are enlarged.
        """
        if count == 1 or not rate:
            return [(rate, error)] * count
        shares = [self.share_with_wrong(observable) for observable in range(count)]
        if not error:
            return [(share * rate, 0.0) for share, _ in shares]
        return [(share * rate, math.hypot(share * error, rate * spread * factor)) for share, spread in shares]

    def share_with_wrong(self, observable: int) -> tuple[float, float]:
        """The part of the sets with which the prediction of an observable is wrong, and its error."""
        word, bit = divmod(observable, 64)
        is_wrong = (self.wrong[:, word] >> np.uint64(bit) & np.uint64(1)).astype(np.float64)
        mean, error = self.column_means(is_wrong[:, np.newaxis])
        # Where none or all are wrong, one column might have been otherwise.
        least = 1 / max(len(np.unique(self.columns)), 1)
        return float(mean[0]), max(float(error[0]), least if mean[0] in (0.0, 1.0) else 0.0)


def failing_sets(sets: Sequence[Indices], numbers: Words, wrong: Words) -> FailingSets:
    """Independent sets.

    Args:
        sets: The mechanisms of each.
        numbers: What fixes their quantum outcomes.
        wrong: The observables that are predicted wrongly.
    """
    members = np.full((len(sets), max((len(each) for each in sets), default=0)), -1, dtype=np.intp)
    for row, each in zip(members, sets, strict=True):
        row[: len(each)] = each
    return FailingSets(members, numbers, np.arange(len(sets)), wrong)


class Recorder:
    """Keeps what chains go through at one level: at most so many records, at equal distances in time."""

    def __init__(self) -> None:
        self._stride = 1
        self._records: list[tuple[int, npt.NDArray[np.int32], Words, Words]] = []

    def wants(self, sweep: int) -> bool:
        """Whether a sweep is to be recorded."""
        return sweep % self._stride == 0

    def add(self, sweep: int, members: Indices, numbers: Words, wrong: Words) -> None:
        """Records one set of each column, as of ``FailingSets``."""
        room = int((members >= 0).sum(axis=1).max(initial=0))
        self._records.append((sweep, members[:, :room].astype(np.int32), numbers.copy(), wrong.copy()))
        if len(self._records) > _MOST_RECORDS:
            self._stride *= 2
            self._records = [record for record in self._records if self.wants(record[0])]

    def sets(self, burn_in: int) -> FailingSets:
        """The sets of the sweeps from number ``burn_in`` on."""
        chosen = [record for record in self._records if record[0] >= burn_in]
        room = max(members.shape[1] for _, members, *_ in chosen)
        return FailingSets(
            members=np.vstack(
                [
                    np.pad(members, ((0, 0), (0, room - members.shape[1])), constant_values=-1)
                    for _, members, *_ in chosen
                ]
            ).astype(np.intp),
            numbers=np.concatenate([numbers for _, _, numbers, _ in chosen]),
            columns=np.concatenate([np.arange(len(members)) for _, members, *_ in chosen]),
            wrong=np.vstack([wrong for *_, wrong in chosen]),
        )
