"""Rates from ratios and anchors, with errors: what the columns of a ladder say, and how well they agree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..chains.ladder import Ladder
from ..chains.renewal import Families
from ..faults.mechanisms import Floats, log_probability_of_none
from .plain_counts import PlainLevel
from .ratios import PARTS, bennett_ratio, means_of_parts

__all__ = ["Chains", "LowAnchor", "Profile", "burn_ins", "chains_of", "profile_of"]

_SEGMENTS = (1 / 8, 1 / 4, 3 / 8)
_LEAST_SWEEPS = 48
"""So many sweeps are always left out: chains begin at sets of stronger noise, with too many members."""

_NOT_BY_WEIGHTS = 0.25
"""The part to leave out in any case where chains begin at fault sets that were not drawn by weights."""

_WORTH_SWEEPS = 1 / 6
"""To leave out an eighth more makes the variance of the rest larger by this part, or more."""

_AGREEMENT = 2.5
"""Standard errors by which a segment may differ from the last half of the sweeps."""

_DEPENDENT_SWEEPS = 10
_LEAST_SHARE = 0.05
"""The exact sum over the lightest fault sets anchors rates if at least this part of the chains' sets is among
them."""


@dataclass(frozen=True)
class LowAnchor:
    """An exact sum.

    Attributes:
        level: The number of the level.
        size: The largest number of members of the sets in the sum.
        log_probability: ln of the sum.
        rest: Upper limit of the probability that more mechanisms act, over the sum.
    """

    level: int
    size: int
    log_probability: float
    rest: float


@dataclass(frozen=True)
class Profile:
    """The rates of all levels of a ladder.

    Attributes:
        log_rates: Shape (levels,).
        variances: Of ``log_rates``, from the columns and from the counts, without ``error_factor``.
        count_variance: The part of the variance that more plain shots would reduce.
        burn_in: Sweeps that were left out.
        column_chi_squared: See ``DecodedErrorRate``.
        halves: See ``DecodedErrorRate``.
        lightest: See ``DecodedErrorRate``.
        error_factor: See ``DecodedErrorRate``.
    """

    log_rates: Floats
    variances: Floats
    count_variance: float
    burn_in: int
    column_chi_squared: tuple[float, int]
    halves: float
    lightest: tuple[float, float] | None
    error_factor: float


def burn_ins(sizes: npt.NDArray[np.floating], least: float = 0.0) -> Iterator[int]:
    """How many of the first sweeps can be left out, the fewest first, and half of them in any case.

    It is an eighth of them or more, and such a number that the next eighth has, at every level, the mean
    numbers of members of the last half.

    Args:
        sizes: Shape (sweeps, levels, columns).
        least: The part that is left out in any case.
    """
    sweeps, _, columns = sizes.shape
    last = sizes[sweeps // 2 :].mean(axis=0)
    for first in sorted({max(int(part * sweeps), _LEAST_SWEEPS) for part in _SEGMENTS if part >= least}):
        if first >= sweeps // 2:
            break
        difference = sizes[first : first + sweeps // 8].mean(axis=0) - last
        error = difference.std(axis=1, ddof=1) / math.sqrt(columns)
        if (np.abs(difference.mean(axis=1)) <= _AGREEMENT * error).all():
            yield first
    yield sweeps // 2


@dataclass(frozen=True)
class Chains:
    """What the chains of a ladder say.

    Attributes:
        burn_in: Records of sweeps that were left out.
        log_rates: Shape (levels,): ln of the rates over that of the first level.
        influences: Shape (PARTS, columns, levels): as of a ``Ratio``.
        of_families: Shape (levels,): what is added to the variances of ``log_rates`` because columns have
            common ancestors (``Families``); 0 where this was not looked at.
    """

    burn_in: int
    log_rates: Floats
    influences: Floats
    of_families: Floats


def chains_of(ladder: Ladder, *, from_first: bool = True) -> Chains:
    """What the chains of a ladder say, from the sweep on that makes the errors least.

    Args:
        ladder: The ladder.
        from_first: Whether chains have common ancestors until they come from the first level. Where levels
            differ in what they keep, they have none, and more sweeps are taken and left out instead.

    Raises:
        ZeroDivisionError: No fault set of one level fails in its neighbour.
    """
    least = 0.0 if from_first else _NOT_BY_WEIGHTS
    best, least_variance = None, math.inf
    for left_out in burn_ins(np.array(ladder.sizes, dtype=np.float32), least):
        try:
            chains = _chains_from(ladder, left_out, from_first)
        except ZeroDivisionError:
            if best is None:
                raise
            break
        own = chains.influences.mean(axis=0).var(axis=0, ddof=1) / ladder.columns
        worst = int((own + chains.of_families).argmax())
        variance = own[worst] + chains.of_families[worst]
        if best is None or variance < least_variance:
            best, least_variance = chains, variance
        if chains.of_families[worst] <= _WORTH_SWEEPS * own[worst]:
            break
    assert best is not None
    return best


def _chains_from(ladder: Ladder, left_out: int, from_first: bool) -> Chains:
    """What chains say after the sweeps of so many records."""
    levels = len(ladder.levels)
    log_rates = np.zeros(levels)
    influences = np.zeros((PARTS, ladder.columns, levels))
    families = Families(levels, ladder.columns)
    for number in range(levels - 1):
        # Each pair of levels exchanges in every second sweep.
        up, down = (
            np.array(records[number][left_out // 2 :], dtype=np.float64)
            for records in (ladder.up, ladder.down)
        )
        ratio = bennett_ratio(up, down)
        none = [log_probability_of_none(ladder.levels[number + k].log_odds) for k in (0, 1)]
        log_rates[number + 1] = log_rates[number] + ratio.log_ratio + none[1] - none[0]
        influences[:, :, number + 1] = influences[:, :, number] + ratio.influences
        if from_first:
            families.add(number, np.array(ladder.families[number][left_out // 2 :]), ratio.says(up, down))
    return Chains(left_out, log_rates, influences, families.variances())


def profile_of(
    ladder: Ladder, chains: Chains, plain: Sequence[tuple[int, PlainLevel]], low: LowAnchor | None
) -> Profile:
    """The rates of all levels.

    Args:
        ladder: The ladder.
        chains: What its chains say.
        plain: Levels at which plain shots were counted, by their numbers.
        low: The exact sum, if there is one.
    """
    left_out, log_rates, influences = chains.burn_in, chains.log_rates, chains.influences
    # ln of the rate at the first level: counts in the place of expected ones.
    counted = [(level, each.shots * math.exp(log_rates[level]), each.failures) for level, each in plain]
    expected = np.array([shots for _, shots, _ in counted])
    failures = sum(failures for _, _, failures in counted)
    log_rates = log_rates + math.log(failures / expected.sum())
    weights = expected / expected.sum()
    for (level, _, _), weight in zip(counted, weights, strict=True):
        influences = influences - weight * influences[:, :, level : level + 1]
    # A rate p of binomial counts has the variance (1 - p) / failures.
    count_variance = (1 - math.exp(log_rates[plain[0][0]])) / failures
    columns = influences.shape[1]
    lightest = None
    own_counts = np.ones(len(log_rates))
    disagreement = unseen = 0.0
    if low is not None:
        found = _anchored_low(ladder, low, left_out, log_rates, influences)
        if found is not None:
            others, other_influences, unseen = found
            shift = log_rates[low.level] - others[low.level]
            change = influences.mean(axis=0)[:, low.level] - other_influences.mean(axis=0)[:, low.level]
            error = math.sqrt(change.var(ddof=1) / columns + count_variance + unseen)
            lightest, disagreement = (math.expm1(shift), error), abs(shift) / error
            log_rates, influences, own_counts = _combined(
                log_rates, influences, count_variance, others, other_influences, unseen
            )
    means = influences.mean(axis=0)
    variances = means.var(axis=0, ddof=1) / columns
    of_families = np.where(own_counts > 0, chains.of_families, 0)  # which may be infinite
    variances += own_counts**2 * (count_variance + of_families) + (1 - own_counts) ** 2 * unseen
    last = chains.influences[:, :, -1]
    chi_squared, is_spread = _column_chi_squared(last)
    halves = last[: PARTS // 2].mean(axis=0) - last[PARTS // 2 :].mean(axis=0)
    halves_error = float(halves.std(ddof=1)) / math.sqrt(columns)
    drift = float(halves.mean()) / halves_error if halves_error else 0.0
    pulls = [each / 2 for each in (abs(drift), disagreement) if each > _AGREEMENT]
    factor = max(1.0, is_spread, *pulls)
    return Profile(
        log_rates, variances, count_variance, left_out * ladder.stride, chi_squared, drift, lightest, factor
    )


def _anchored_low(
    ladder: Ladder, low: LowAnchor, left_out: int, log_rates: Floats, influences: Floats
) -> tuple[Floats, Floats, float] | None:
    """Rates and influences as the exact sum at the low end anchors them, and a variance.

    The variance is that of heavier fault sets of which the chains may have seen none: sweeps that follow each
    other do not count as independent.
    """
    is_light = np.array([sizes[low.level] <= low.size for sizes in ladder.sizes[left_out:]]).astype(float)
    share = float(is_light.mean())
    if share < _LEAST_SHARE:
        return None
    rate = low.log_probability - math.log(share)
    own = -(means_of_parts(is_light) / share - 1)
    others = log_rates - log_rates[low.level] + rate
    unseen = min(low.rest, _DEPENDENT_SWEEPS / is_light.size) ** 2
    return others, influences - influences[:, :, [low.level]] + own[:, :, np.newaxis], unseen


def _combined(
    log_rates: Floats,
    influences: Floats,
    count_variance: float,
    others: Floats,
    other_influences: Floats,
    unseen: float,
) -> tuple[Floats, Floats, Floats]:
    """Of two estimates of each rate the mean with the least variance; and the weight of the first."""
    columns = influences.shape[1]
    one, other = influences.mean(axis=0), other_influences.mean(axis=0)
    variance_one = (one**2).sum(axis=0) / columns / (columns - 1) + count_variance
    variance_other = (other**2).sum(axis=0) / columns / (columns - 1) + unseen
    covariance = (one * other).sum(axis=0) / columns / (columns - 1)
    whole = variance_one + variance_other - 2 * covariance
    weight = np.clip((variance_other - covariance) / np.where(whole > 0, whole, 1), 0, 1)
    return (
        weight * log_rates + (1 - weight) * others,
        weight * influences + (1 - weight) * other_influences,
        weight,
    )


def _column_chi_squared(influences: Floats) -> tuple[tuple[float, int], float]:
    """Of the means of columns against what their parts say of their errors; and a factor for the error."""
    from scipy.special import fdtrc  # not needed where plain shots suffice

    columns = influences.shape[1]
    within = influences.var(axis=0, ddof=1).mean() / PARTS
    if not within:
        return (0.0, columns - 1), 1.0
    chi_squared = float(((influences.mean(axis=0)) ** 2).sum() / within)
    ratio = chi_squared / (columns - 1)
    is_chance = fdtrc(columns - 1, columns * (PARTS - 1), ratio) > 0.001
    return (chi_squared, columns - 1), 1.0 if is_chance else math.sqrt(ratio)
