"""Which part of the wrong shots paths hardly ever show, at each gap: measured by chains.

Chains at levels of the signed gap (``levels``) visit all kinds of wrong shots, but how often such shots are
follows only from the product of many ratios. Shots with paths tell how often those are that paths cover, but
may never show the others. Each knows what the other one does not: of the wrong shots of a gap, chains say
which part has a ratio below some r; shots with paths say how often those with a larger ratio are. This needs
no plain shot that is wrong with such a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...chains.renewal import RENEWED
from ...faults.mechanisms import Floats
from ..survival import jackknife_variance

__all__ = ["ChainRatios", "Coverage", "least_ratios", "ratio_bins", "tails"]

Bools = npt.NDArray[np.bool_]
Bins = npt.NDArray[np.intp]

_LEAST_EXPONENT, NUM_BINS = -16, 64
_LEAST_RATIOS = np.append(0.0, 2.0 ** (_LEAST_EXPONENT + np.arange(1, NUM_BINS)))

_DEPENDENT = 10
"""So many records of chains count as one."""

_FEWEST_FOUNDERS = 8
"""A gap is known if its records are those of so many founders, as if each had equally many."""

_DOUBT = 1 / 2
"""The relative error of a part that chains tell before they come from the first level."""


def ratio_bins(ratios: Floats) -> Bins:
    """The bins of ratios: the lowest one begins at 0, the others at powers of 2.

    Examples:
        >>> ratio_bins(np.array([0.0, 1.0, 1.5, 2.0])).tolist()
        [0, 16, 16, 17]
    """
    with np.errstate(divide="ignore"):
        exponents = np.floor(np.log2(ratios)) - _LEAST_EXPONENT
    return np.clip(exponents, 0, NUM_BINS - 1).astype(np.intp)


def tails(counts: Floats) -> Floats:
    """Sums over gaps that are at least g: shape (columns, gaps, bins), as ``counts``."""
    return np.asarray(counts[:, ::-1].cumsum(axis=1)[:, ::-1])


@dataclass(frozen=True)
class Coverage:
    """What chains say of the ratios of wrong shots whose gap is at least g.

    Attributes:
        is_known: bool, shape (gaps,): whether they say anything.
        below: float64, shape (gaps, bins): the part of the wrong shots whose ratio lies below each bin.
        variance: Of ``below``.
    """

    is_known: Bools
    below: Floats
    variance: Floats

    def best_bins(self, totals: Floats, plain: float, path_shots: float) -> Bins:
        """From which bin on shots with paths should be counted, so that the error is small.

        The fewer are left to the chains, the more the heavy shots with small ratios tell by chance. What is
        to be expected of that is taken from the chains, so that it is not the shots that decide.

        Args:
            totals: float64, shape (gaps,): about how often shots are wrong.
            plain: Number of plain shots.
            path_shots: Number of shots with paths.

        Returns:
            intp, shape (gaps,).
        """
        weights = 1 / (plain + _LEAST_RATIOS * path_shots)
        shares = np.diff(self.below, axis=1, append=1.0) * weights
        about = np.maximum(totals, 1e-100)[:, np.newaxis]
        by_shots = shares[:, ::-1].cumsum(axis=1)[:, ::-1] / about + (weights / about) ** 2
        rest = np.maximum(1 - self.below, 1e-12)
        return np.asarray(((by_shots + self.variance) / rest**2).argmin(axis=1))


def least_ratios(bins: Bins) -> Floats:
    """The least ratios of bins."""
    return _LEAST_RATIOS[bins]


class ChainRatios:
    """The records of chains: by what factor their wrong shots are likelier with paths.

    Args:
        least_gaps: The least signed gap of each level but the first, which has all shots.
        columns: The number of columns.
        gaps: The number of gaps.

    Examples:
        Two columns with one level more; of five records with a gap of 1, one has a ratio below 2.

        >>> records, renewed = ChainRatios([1], 2, 3), np.full((2, 2), RENEWED)
        >>> records.add(np.array([[-5, 1], [1, 1]]), np.array([[0.0, 2.0], [1.0, 8.0]]), renewed)
        >>> records.add(np.array([[-5, -5], [1, 1]]), np.array([[0.0, 0.0], [4.0, 4.0]]), renewed)
        >>> records.coverage(0, 2).below[:, ratio_bins(np.array([2.0]))].round(2).tolist()
        [[0.0], [0.2], [0.0]]
    """

    def __init__(self, least_gaps: Sequence[int], columns: int, gaps: int) -> None:
        self._least = [0, *(max(0, each) for each in least_gaps)]
        self._columns, self._gaps = columns, gaps
        self._records: list[tuple[npt.NDArray[np.int16], ...]] = []
        self._known: dict[tuple[int, int], Coverage] = {}

    def __len__(self) -> int:
        return len(self._records)

    def add(self, gaps: npt.NDArray[np.int64], ratios: Floats, founders: Bins) -> None:
        """Notes the signed gaps of all chains, their ratios, and from which column they descend.

        All have the shape (levels, columns). Chains that come from the first level are ``RENEWED``.
        """
        each = np.minimum(gaps, self._gaps - 1), ratio_bins(ratios), founders
        self._records.append(tuple(some.astype(np.int16) for some in each))
        self._known.clear()

    def coverage(self, first: int, last: int) -> Coverage:
        """What some of the records say."""
        if (first, last) not in self._known:
            self._known[first, last] = self._coverage(first, last)
        return self._known[first, last]

    def _coverage(self, first: int, last: int) -> Coverage:
        counts, are_old = self._counts(first, last)
        known = counts.shape[1]
        number = counts.sum(axis=2, keepdims=True)
        small = counts.cumsum(axis=2) - counts
        founders = number.sum(axis=0) ** 2 / np.maximum((number**2).sum(axis=0), 1.0)
        below = small.sum(axis=0) / np.maximum(number.sum(axis=0), 1.0)
        others = number.sum(axis=0) - number
        without = np.where(others > 0, (small.sum(axis=0) - small) / np.maximum(others, 1.0), below)
        # Some records that depend on each other might have been otherwise.
        one_more = _DEPENDENT / np.maximum(number.sum(axis=0), _DEPENDENT)
        doubt = _DOUBT * below * (are_old / np.maximum(number.sum(axis=0)[:, 0], 1.0))[:, np.newaxis]
        variance = np.maximum(jackknife_variance(without), one_more**2) + doubt**2
        beyond = ((0, self._gaps - known), (0, 0))
        is_known = (founders >= _FEWEST_FOUNDERS)[:, 0]
        return Coverage(np.pad(is_known, beyond[0]), np.pad(below, beyond), np.pad(variance, beyond))

    def _counts(self, first: int, last: int) -> tuple[Floats, Floats]:
        """Records by founder, least gap and bin: those of each level that has all shots with such gaps.

        And how many of them, for each gap, are of chains that are not renewed yet.
        """
        gaps, bins, founders = (np.array([each[k] for each in self._records[first:last]]) for k in range(3))
        number = max(1, int(gaps.max(initial=0)) + 1)
        found, are_old = np.zeros((self._columns, number, NUM_BINS)), np.zeros(number)
        for level, least in enumerate(self._least if len(gaps) else []):
            founder, is_here = founders[:, level].astype(np.intp), gaps[:, level] >= least
            is_old = is_here & (founder != RENEWED)
            founder = np.where(founder == RENEWED, np.arange(self._columns), founder)
            place = (founder * number + gaps[:, level]) * NUM_BINS + bins[:, level]
            here = np.bincount(place[is_here], minlength=found.size)
            of_level = tails(here.astype(np.float64).reshape(found.shape))
            old = np.bincount(gaps[:, level][is_old], minlength=number)[::-1].cumsum()[::-1]
            found[:, least:] += of_level[:, least:]
            are_old[least:] += old[least:]
        return found, are_old
