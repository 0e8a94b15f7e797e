"""How often shots are wrong with at least a gap: from plain shots, shots with paths, and what chains know.

Up to the gap with a hundred wrong plain shots, plain shots and shots with paths suffice: the former see how
much the latter do not cover. At larger gaps that is taken from chains, if there are any (``coverage``). If
not, what paths may not cover is an error: half of the rate at least, but not more than what plain shots may
have missed. If chains know too little of it, their levels say how much may have been missed. And if there
cannot be any, because nearly all shots have the same gap, it is as large a part as at smaller gaps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...faults.mechanisms import Floats
from ..survival import Counts, Curve, curve_of, jackknife_variance
from .coverage import NUM_BINS, Coverage, least_ratios, ratio_bins, tails

__all__ = ["WrongShots", "gains", "part_of_plain_shots", "part_without_paths", "weighted_curve"]

_ENOUGH = 100
"""So many wrong plain shots tell which part of them paths do not cover."""

_MISSED = 3 / 2
"""So many shots may have been missed by chance.

Where three are to be expected, none is seen with a probability of 5%: twice this error must reach so far.
"""

_AGREEMENT = 3
"""Standard errors by which what chains say in two ways may differ."""

_MOST_PART = 1 / 2
"""If paths do not cover a larger part, what they see at large gaps says nothing of the rest.

Where too few plain shots are wrong to tell, they may not cover so much.
"""


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


def weighted_curve(
    counts: Counts,
    wrong: Sequence[WrongShots],
    path_shots: int,
    coverage: Coverage | None = None,
    levels: Curve | None = None,
    can_explore: bool = False,
) -> Curve:
    """The curves of plain shots and of shots with paths.

    A wrong shot that is r times as likely with paths stands for 1 / (plain shots + r * shots with paths),
    whichever it is itself: the balance heuristic (Veach and Guibas, SIGGRAPH 1995).

    Args:
        counts: What is known of plain shots.
        wrong: The wrong ones among them, and with paths.
        path_shots: Number of shots with paths.
        coverage: What chains say of the wrong shots, if they do.
        levels: What follows from the levels of these chains alone.
        can_explore: Whether chains could say it.

    Examples:
        Of 4 plain shots, one is wrong, with a gap of 1; of 4 with paths, two are, which are 3 times as likely
        there: each of the three stands for 1 / (4 + 3 * 4).

        >>> counts = Counts(np.array([2.0, 2]), np.ones((2, 2)), *np.zeros((3, 2, 4)))
        >>> three = WrongShots(np.array([3.0, 3, 3]), np.array([1, 1, 0]), np.array([0, 1, 0]), False)
        >>> weighted_curve(counts, [three], 4).wrong.tolist()
        [0.1875, 0.125]

        Chains say that half of the wrong shots have a ratio of nearly 0: then there are twice as many.

        >>> below = np.repeat([[0.0, 0.5, 1.0]], [1, 17, NUM_BINS - 18], axis=1) * np.ones((2, 1))
        >>> chains = Coverage(np.full(2, True), below, 1e-4 * below)
        >>> weighted_curve(counts, [three], 4, chains, curve_of(counts)).wrong.tolist()
        [0.375, 0.25]
    """
    found = curve_of(counts)
    plain, (columns, gaps) = counts.shots.sum(), counts.kept.shape
    sums, largest = np.zeros((columns, gaps)), np.zeros(gaps)
    for some in wrong:
        weights = _weights(some, plain, path_shots)
        np.add.at(sums, (some.columns, some.gaps), weights)
        np.maximum.at(largest, some.gaps, weights)
    at_least = sums[:, ::-1].cumsum(axis=1)[:, ::-1]
    variance = _variance_of_sums(at_least)
    # There might have been one more, as heavy as any with such a gap; beyond the last gap, as there.
    largest = np.maximum.accumulate(largest[::-1])[::-1]
    last = int(np.flatnonzero(largest)[-1]) if largest.any() else 0
    largest[largest == 0] = largest[last] if largest.any() else 1 / plain
    totals = at_least.sum(axis=0)
    part = part_without_paths(wrong, plain, path_shots)
    are_beyond = np.arange(gaps) > _measured_gap(wrong)
    unseen = _not_covered(part, plain, totals, can_explore & are_beyond)
    if part > _MOST_PART:
        # That is a matter of chance, then.
        largest, unseen = np.maximum(largest, unseen / _MISSED), np.zeros(gaps)
    by_both = Curve(
        found.kept, found.kept_variance, totals, variance, unseen, _MISSED * largest, np.zeros(gaps)
    )
    if coverage is None or levels is None:
        return by_both
    far = coverage.is_known & are_beyond
    if far.any():
        by_both = _with_coverage(by_both, far, counts, wrong, path_shots, coverage)
    return _with_levels(by_both, far, are_beyond & ~far, levels, _MISSED / plain)


def _with_coverage(
    curve: Curve,
    far: npt.NDArray[np.bool_],
    counted: Counts,
    wrong: Sequence[WrongShots],
    path_shots: int,
    coverage: Coverage,
) -> Curve:
    """The same, where at some gaps chains tell how often ratios are small."""
    number, columns, plain = int(np.flatnonzero(far)[-1]) + 1, len(counted.shots), counted.shots.sum()
    counts = np.zeros(columns * number * NUM_BINS)
    for some in wrong:
        place = some.columns * number + np.minimum(some.gaps, number - 1)
        place = place * NUM_BINS + ratio_bins(some.ratios)
        counts += np.bincount(place, _weights(some, plain, path_shots), len(counts))
    bins, each = coverage.best_bins(curve.wrong, plain, path_shots)[:number], np.arange(number)
    are_large = np.arange(NUM_BINS) >= bins[:, np.newaxis]
    large = np.where(are_large, tails(counts.reshape(columns, number, NUM_BINS)), 0.0).sum(axis=2)
    rest = np.maximum(1 - coverage.below[each, bins], 1e-12)
    totals = large.sum(axis=0) / rest
    by_chains = totals**2 * coverage.variance[each, bins] / rest**2
    heaviest = 1 / (plain + least_ratios(bins) * path_shots) / rest
    chosen = far[:number]

    def replaced(old: Floats, new: Floats | float) -> Floats:
        return np.concatenate([np.where(chosen, new, old[:number]), old[number:]])

    return replace(
        curve,
        wrong=replaced(curve.wrong, totals),
        wrong_variance=replaced(curve.wrong_variance, _variance_of_sums(large) / rest**2 + by_chains),
        unseen=replaced(curve.unseen, 0.0),
        one_more=replaced(curve.one_more, _MISSED * heaviest),
        by_chains=replaced(curve.by_chains, by_chains),
    )


def _with_levels(
    curve: Curve,
    are_known: npt.NDArray[np.bool_],
    are_unknown: npt.NDArray[np.bool_],
    levels: Curve,
    most_missed: float,
) -> Curve:
    """The same, with what the levels of chains say of its errors.

    Where chains tell a part of the curve, and it differs from that of their levels by more than three
    standard errors, they have not forgotten yet how they began: half of the difference is an error. At gaps
    of which they do not know enough, as much may lack as there may be by their levels, if plain shots would
    not have seen it.
    """
    error = np.sqrt(levels.wrong_variance + levels.unseen**2)
    difference = curve.wrong - levels.wrong
    differ = are_known & (np.abs(difference) > _AGREEMENT * np.hypot(np.sqrt(curve.wrong_variance), error))
    lacks = np.maximum(2 * error - difference, 0)
    by_levels = are_unknown & (lacks < most_missed)
    more = np.where(differ, difference**2 / 4, np.where(by_levels, lacks**2, 0.0))
    return replace(
        curve,
        wrong_variance=curve.wrong_variance + more,
        unseen=np.where(are_unknown, np.where(by_levels, 0.0, most_missed), curve.unseen),
        one_more=np.where(by_levels, 0.0, curve.one_more),
        by_chains=curve.by_chains + more,
    )


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
    gaps, ratios = (np.concatenate([getattr(some, name) for some in plain]) for name in ("gaps", "ratios"))
    ratios = ratios[gaps >= _measured_gap(wrong)]
    few = int((ratios < max(1.0, shots / max(path_shots, 1))).sum()) + 1
    return (few + math.sqrt(few)) / len(ratios)


def gains(
    wrong: Sequence[WrongShots],
    gap: int,
    shots: int,
    path_shots: int,
    coverage: Coverage | None = None,
    can_explore: bool = False,
) -> tuple[float, float]:
    """By how much one more plain shot, or one more with a path, makes the variance at a gap smaller.

    The variance is the sum of the squared weights w of wrong shots. One with ratio r is seen 1 / w times on
    average, and w = 1 / (shots + r * path_shots): the derivatives are sums of w^3 and of r * w^3. To the
    variance, the square of what paths may not cover is added. That is in inverse proportion to plain shots.

    Args:
        wrong: The wrong shots.
        gap: The gap.
        shots: Number of plain shots.
        path_shots: Number of shots with paths.
        coverage: What chains say of shots with small ratios, if they do.
        can_explore: Whether chains could say it.

    Examples:
        Nearly all of what is here is what paths may not cover: what plain shots may have missed.

        >>> some = WrongShots(np.array([0.0, 1.0]), np.array([9, 3]), np.zeros(2, dtype=np.intp), False)
        >>> gains([some], 5, 2, 2), gains([some], 0, 2, 2)
        ((0.6875, 0.0), (0.703125, 0.015625))
    """
    ratios = np.concatenate([np.zeros(0), *(some.ratios[some.gaps >= gap] for some in wrong)])
    weights = 1 / (shots + ratios * path_shots)
    total = float(weights.sum())
    if coverage is not None and coverage.is_known[gap] and gap > _measured_gap(wrong):
        bins = coverage.best_bins(np.full(len(coverage.below), total), shots, path_shots)
        least = float(least_ratios(bins)[gap])
        weights, ratios = weights[ratios >= least], ratios[ratios >= least]
        heaviest = 1 / (shots + least * path_shots)
        by_one = 2 * _MISSED**2 * heaviest**3
        more = by_one, least * by_one
    else:
        part = part_without_paths(wrong, shots, path_shots)
        is_beyond = np.array(can_explore and gap > _measured_gap(wrong))
        more = 2 * float(_not_covered(part, shots, np.array(total), is_beyond)) ** 2 / shots, 0.0
    return float((weights**3).sum()) + more[0], float((ratios * weights**3).sum()) + more[1]


def part_of_plain_shots(wrong: Sequence[WrongShots], bin_: int) -> tuple[float, int]:
    """The part of wrong plain shots whose ratio lies below a bin; and how many plain shots are wrong.

    Examples:
        >>> part_of_plain_shots([WrongShots(np.array([1.0, 4.0]), *np.zeros((2, 2), dtype=int), True)], 17)
        (0.5, 2)
    """
    ratios = np.concatenate([np.zeros(0), *(some.ratios for some in wrong if some.are_plain)])
    return float((ratio_bins(ratios) < bin_).mean()) if len(ratios) else 0.0, len(ratios)


def _measured_gap(wrong: Sequence[WrongShots]) -> int:
    """The largest gap that a hundred wrong plain shots have at least; -1: there are fewer."""
    gaps = np.concatenate([np.zeros(0, dtype=np.int64), *(some.gaps for some in wrong if some.are_plain)])
    return int(np.sort(gaps)[-_ENOUGH]) if len(gaps) >= _ENOUGH else -1


def _weights(some: WrongShots, plain: float, path_shots: int) -> Floats:
    return np.asarray(1 / (plain + some.ratios * path_shots))


def _variance_of_sums(sums: Floats) -> Floats:
    """The jackknife's variance of the sum over columns: shape (columns, gaps)."""
    columns = len(sums)
    return jackknife_variance((sums.sum(axis=0) - sums) * columns / (columns - 1))


def _not_covered(part: float, shots: float, totals: Floats, are_beyond: npt.NDArray[np.bool_]) -> Floats:
    """By how much rates may be too small because paths do not cover all: at most by missed plain shots.

    Where they cover most wrong shots, it is less: as large a part as plain shots see. Beyond the gap that is
    measured, that part may be larger.
    """
    if part > _MOST_PART:
        return np.full_like(totals, _MISSED / shots)
    return np.minimum(_MISSED / shots, np.where(are_beyond, _MOST_PART, part) * totals)
