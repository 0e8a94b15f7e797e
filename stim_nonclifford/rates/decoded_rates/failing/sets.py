"""Failing fault sets of one circuit, each as likely to be here as it is among all failing ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..faults.mechanisms import Floats, Words

__all__ = ["FailingSets", "Recorder", "failing_sets"]

Indices = npt.NDArray[np.intp]

_MOST_RECORDS = 256


@dataclass(frozen=True)
class FailingSets:
    """Failing fault sets.

    Attributes:
        members: intp, shape (sets, room): the mechanisms of each, then -1.
        numbers: uint64, shape (sets,): what fixes their quantum outcomes.
        columns: intp, shape (sets,): sets of different columns are independent, and all columns have about
            as many.
        wrong: uint64, shape (sets, words): the observables that the decoder predicts wrongly.
    """

    members: Indices
    numbers: Words
    columns: Indices
    wrong: Words

    def __len__(self) -> int:
        return len(self.members)

    def column_means(self, values: Floats) -> tuple[Floats, Floats]:
        """The mean of what each set says, and its standard error.

        Args:
            values: Shape (sets, quantities).

        Returns:
            Two arrays of shape (quantities,). The errors are those of independent columns.
        """
        labels, column = np.unique(self.columns, return_inverse=True)
        count = len(labels)
        sums = np.zeros((count, values.shape[1]))
        np.add.at(sums, column, values)
        sizes = np.bincount(column, minlength=count)[:, np.newaxis]
        mean = sums.sum(axis=0) / len(column)
        spread = ((sums - mean * sizes) ** 2).sum(axis=0) * (count / max(count - 1, 1))
        return mean, np.sqrt(spread) / len(column) if count > 1 else np.full(mean.shape, np.inf)

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
        return float(mean[0]), float(error[0])


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
