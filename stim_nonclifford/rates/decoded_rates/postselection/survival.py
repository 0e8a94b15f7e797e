"""How often the gap is at least g, from plain shots and from chains that are confined to large gaps.

The signed gap is that of a wrong prediction, and negative for a right one (``chains.signed_gaps``). Records
of a chain at a level with the least signed gap a are draws from its law given that it is at least a. Such
records are left-truncated at a, and the product-limit estimate puts them together (Kaplan and Meier, J. Am.
Stat. Assoc. 53, 457, 1958): of all records that are at least h and could have been, the part that is h is the
hazard of h. The columns of chains share nothing, so that leaving out one after the other (the jackknife)
gives the standard error of whatever follows from their counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..faults.mechanisms import Floats

__all__ = [
    "Counts",
    "Curve",
    "WrongShots",
    "curve_of",
    "difference_of",
    "gains",
    "part_without_paths",
    "weighted_curve",
]

_DEPENDENT = 10
"""So many records of chains, one after the other, count as one of what has not been seen."""

_ENOUGH = 100
"""So many wrong plain shots tell which part of them paths do not cover."""

_MOST_PART = 1 / 2
"""If paths do not cover a larger part, what they see at large gaps says nothing of the rest."""


@dataclass
class Counts:
    """What columns saw.

    Attributes:
        shots: float64, shape (columns,): plain shots.
        kept: float64, shape (columns, gaps): plain shots by their gap.
        signed: float64, shape (columns, 2 gaps): plain shots by their signed gap, from -gaps on.
        seen: float64, shape (columns, 2 gaps): records of chains by their signed gap.
        could_be: float64, shape (columns, 2 gaps): records of chains whose least signed gap is at most g,
            and whose signed gap is at least g.
    """

    shots: Floats
    kept: Floats
    signed: Floats
    seen: Floats
    could_be: Floats


@dataclass(frozen=True)
class Curve:
    """Probabilities over the least gap, with variances.

    Attributes:
        kept: float64, shape (gaps,): P(gap >= g).
        kept_variance: Of ``kept``.
        wrong: float64, shape (gaps,): P(gap >= g and wrong).
        wrong_variance: Of ``wrong``, from what was seen.
        unseen: By how much ``wrong`` may be too small because of what was not seen.
        one_more: The heaviest shot that may have been missed by chance.
    """

    kept: Floats
    kept_variance: Floats
    wrong: Floats
    wrong_variance: Floats
    unseen: Floats
    one_more: Floats


@dataclass(frozen=True)
class WrongShots:
    """Wrong shots, plain ones and ones with paths.

    Attributes:
        ratios: float64, shape (shots,): by what factor each is likelier with paths (``path_shots``).
        gaps: int64, shape (shots,).
        columns: intp, shape (shots,).
        are_plain: Whether these are plain shots.
    """

    ratios: Floats
    gaps: npt.NDArray[np.int64]
    columns: npt.NDArray[np.intp]
    are_plain: bool


def weighted_curve(counts: Counts, wrong: Sequence[WrongShots], path_shots: int) -> Curve:
    """The curves of plain shots and of shots with paths.

    A wrong shot that is r times as likely with paths stands for 1 / (plain shots + r * shots with paths),
    whichever it is itself: the balance heuristic (Veach and Guibas, SIGGRAPH 1995).

    Args:
        counts: What is known of plain shots.
        wrong: The wrong ones among them, and with paths.
        path_shots: Number of shots with paths.

    Examples:
        Of 4 plain shots, one is wrong, with a gap of 1; of 4 with paths, two are, which are 3 times as likely
        there: each of the three stands for 1 / (4 + 3 * 4).

        >>> counts = Counts(np.array([2.0, 2]), np.ones((2, 2)), *np.zeros((3, 2, 4)))
        >>> three = WrongShots(np.array([3.0, 3, 3]), np.array([1, 1, 0]), np.array([0, 1, 0]), False)
        >>> weighted_curve(counts, [three], 4).wrong.tolist()
        [0.1875, 0.125]
    """
    found = curve_of(counts)
    plain, (columns, gaps) = counts.shots.sum(), counts.kept.shape
    sums, largest = np.zeros((columns, gaps)), np.zeros(gaps)
    for some in wrong:
        weights = 1 / (plain + some.ratios * path_shots)
        np.add.at(sums, (some.columns, some.gaps), weights)
        np.maximum.at(largest, some.gaps, weights)
    tails = sums[:, ::-1].cumsum(axis=1)[:, ::-1]
    variance = _variance((tails.sum(axis=0) - tails) * columns / (columns - 1))
    # There might have been one more, as heavy as any with such a gap; beyond the last gap, as there.
    largest = np.maximum.accumulate(largest[::-1])[::-1]
    last = int(np.flatnonzero(largest)[-1]) if largest.any() else 0
    largest[largest == 0] = largest[last] if largest.any() else 1 / plain
    totals = tails.sum(axis=0)
    part = part_without_paths(wrong, plain, path_shots)
    unseen = _not_covered(part, plain, totals)
    if part > _MOST_PART:
        # That is a matter of chance, then.
        largest, unseen = np.maximum(largest, unseen), np.zeros(gaps)
    return Curve(found.kept, found.kept_variance, totals, variance, unseen, largest)


def part_without_paths(wrong: Sequence[WrongShots], shots: float, path_shots: float) -> float:
    """What part of the wrong shots may be ones that paths hardly cover: plain shots see more of them.

    Shots with paths see few of these, and at large gaps plain shots may see none. So the part is that at the
    largest gap with a hundred wrong plain shots, as if there had been one more, and a standard error.

    Args:
        wrong: The wrong shots.
        shots: Number of plain shots.
        path_shots: Number of shots with paths.

    Examples:
        >>> hundred = WrongShots(np.full(100, 50.0), np.full(100, 7), np.zeros(100, dtype=np.intp), True)
        >>> one = WrongShots(np.array([0.2]), np.array([3]), np.zeros(1, dtype=np.intp), True)
        >>> part_without_paths([hundred, one], 10, 10), round(part_without_paths([one], 10, 10), 3)
        (0.02, 3.414)
    """
    plain = [some for some in wrong if some.are_plain]
    if not plain:
        return 1.0
    gaps = np.concatenate([some.gaps for some in plain])
    least = np.sort(gaps)[-_ENOUGH] if len(gaps) >= _ENOUGH else 0
    ratios = np.concatenate([some.ratios for some in plain])[gaps >= least]
    few = int((ratios < max(1.0, shots / max(path_shots, 1))).sum()) + 1
    return (few + math.sqrt(few)) / len(ratios)


def _not_covered(part: float, shots: float, totals: Floats) -> Floats:
    """By how much rates may be too small because paths do not cover all: at most by one plain shot.

    Where they cover most wrong shots, it is less at large gaps: as large a part as plain shots see.
    """
    return np.minimum(1 / shots, part * totals if part <= _MOST_PART else np.inf)


def gains(wrong: Sequence[WrongShots], gap: int, shots: int, path_shots: int) -> tuple[float, float]:
    """By how much one more plain shot, or one more with a path, makes the variance at a gap smaller.

    The variance is the sum of the squared weights w of wrong shots. One with ratio r is seen 1 / w times on
    average, and w = 1 / (shots + r * path_shots): the derivatives are sums of w^3 and of r * w^3. To the
    variance, the square of what paths may not cover is added. That is in inverse proportion to plain shots.

    Examples:
        Nearly all of what is here is what paths may not cover: half of the rate, or one plain shot.

        >>> some = WrongShots(np.array([0.0, 1.0]), np.array([9, 3]), np.zeros(2, dtype=np.intp), False)
        >>> gains([some], 5, 2, 2), gains([some], 0, 2, 2)
        ((0.375, 0.0), (0.390625, 0.015625))
    """
    by_plain = by_paths = total = 0.0
    for some in wrong:
        ratios = some.ratios[some.gaps >= gap]
        weights = 1 / (shots + ratios * path_shots)
        total += float(weights.sum())
        by_plain += float((weights**3).sum())
        by_paths += float((ratios * weights**3).sum())
    unseen = float(_not_covered(part_without_paths(wrong, shots, path_shots), shots, np.array(total)))
    return by_plain + 2 * unseen**2 / shots, by_paths


def curve_of(counts: Counts) -> Curve:
    """The curves that counts give.

    Examples:
        Of 4 shots of each column, 2 are right and 2 wrong, with the gaps 0 and 1 each. Chains with wrong
        predictions and a gap of 1 at least see the gaps 1 and 2 equally often.

        >>> one = np.ones((2, 1))
        >>> found = curve_of(
        ...     Counts(
        ...         shots=np.array([4.0, 4.0]),
        ...         kept=one * [2, 2, 0],
        ...         signed=one * [0, 1, 1, 1, 1, 0],
        ...         seen=one * [0, 0, 0, 0, 99, 100],
        ...         could_be=one * [0, 0, 0, 0, 199, 100],
        ...     )
        ... )
        >>> found.kept.tolist(), found.wrong.tolist()
        ([1.0, 0.5, 0.0], [0.5, 0.25, 0.125])
    """
    kept, wrong, seen = _estimates(counts, np.zeros(1, dtype=np.intp))
    some_kept, some_wrong, _ = _estimates(counts, np.arange(len(counts.shots)), leave_out=True)
    # Of what nobody saw, there might have been one: after the last gap that was seen, and before.
    last = np.maximum.accumulate(np.where(wrong[0] > 0, np.arange(wrong.shape[1]), 0))
    shots = counts.shots.sum()
    unseen = np.where(seen[0, last] > 0, wrong[0, last] / np.maximum(seen[0, last], 1), 1 / shots)
    unseen = np.minimum(unseen * np.where(counts.seen.any(), _DEPENDENT, 1), 1.0)
    variance = _variance(some_wrong)
    more = np.sqrt(np.maximum(unseen**2 - variance, 0))
    return Curve(kept[0], _variance(some_kept), wrong[0], variance, more, np.zeros_like(more))


def difference_of(one: Counts, other: Counts) -> tuple[Floats, Floats]:
    """The difference of ``wrong`` of two counts of the same columns, and its variance."""
    none, columns = np.zeros(1, dtype=np.intp), np.arange(len(one.shots))
    found = _estimates(one, none)[1] - _estimates(other, none)[1]
    some = _estimates(one, columns, leave_out=True)[1] - _estimates(other, columns, leave_out=True)[1]
    return found[0], _variance(some)


def _variance(values: Floats) -> Floats:
    """The jackknife's variance, of values without one of the columns each."""
    return np.asarray((len(values) - 1) / len(values) * ((values - values.mean(axis=0)) ** 2).sum(axis=0))


def _estimates(
    counts: Counts, columns: npt.NDArray[np.intp], leave_out: bool = False
) -> tuple[Floats, Floats, Floats]:
    """P(gap at least g); the same and wrong; and the records that the latter comes from."""

    def total(values: Floats) -> Floats:
        whole = values.sum(axis=0, keepdims=True)
        return whole - values[columns] if leave_out else whole

    def tail(values: Floats) -> Floats:
        return np.asarray(values[:, ::-1].cumsum(axis=1)[:, ::-1])

    shots, kept, signed = total(counts.shots)[:, None], total(counts.kept), total(counts.signed)
    at_risk = tail(signed) + total(counts.could_be)
    hazard: Floats = (signed + total(counts.seen)) / np.where(at_risk > 0, at_risk, 1)
    survival: Floats = np.cumprod(1 - hazard, axis=1).astype(np.float64)
    survival = np.hstack([np.ones((len(survival), 1)), survival[:, :-1]])
    survival[at_risk <= 0] = 0
    first = kept.shape[1]
    return np.asarray(tail(kept) / shots), survival[:, first:], np.asarray(at_risk[:, first:])
