r"""Results of several seeds as one.

Each of the independent results r_i counts by its number n_i of random draws,

    r = sum_i f_i r_i,   f_i = n_i / sum_j n_j,

which does not depend on what they found, so that r is unbiased if they are. Standard errors add in
quadrature, and so do the two sides of the intervals (MOVER: G. Y. Zou, A. Donner, Statistics in Medicine 27,
1693, 2008),

    high - r = sqrt(sum_i (f_i (high_i - r_i))^2),

except for bounds of what no search evaluated: they are no matter of chance, and add linearly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from .strata import GapPoint, RateStratum

Result = Any
"""A ``LogicalErrorRate``, whose module imports this one."""


def sum_of(results: Sequence[Result]) -> Result:
    """The sum of independent results of the same call with different seeds."""
    first = results[0]
    if any(each.question != first.question for each in results):
        raise ValueError(
            "These rates are of different circuits, or of calls with different decoders, masks or checks:"
            " only results that differ in the seed add up."
        )
    seeds = tuple(seed for each in results for seed in each.seeds)
    seconds = math.fsum(each.seconds for each in results)
    if len(set(seeds)) < len(seeds):
        again = next(seed for seed in seeds if seeds.count(seed) > 1)
        raise ValueError(
            f"Two of these results have the seed {again}: they are not independent. Estimate one of them"
            " anew, with another seed."
        )
    # Nothing is random about the errors of a result without draws: it has no part in a mean, and is the sum
    # where none with draws is better.
    best = min(results, key=lambda each: float(each.standard_error))
    if not best.samples:
        return replace(best, seeds=seeds, seconds=seconds)
    total = sum(each.samples for each in results)
    parts = [each.samples / total for each in results]
    together = _together(parts, results, [each.unsampled_bound for each in results])
    kept, wrong = together["kept"], together["kept_and_wrong"]
    patterns = sorted({pattern for each in results for pattern in each.error_patterns})
    return replace(
        first,
        **together,
        logical_error_rate=wrong / kept if kept else 0.0,
        observable_rates=tuple(
            _mean(parts, rates) for rates in zip(*(each.observable_rates for each in results), strict=True)
        ),
        observable_errors=tuple(
            _error(parts, errors)
            for errors in zip(*(each.observable_errors for each in results), strict=True)
        ),
        strata=_strata(parts, results),
        gap_curve=_curve(parts, results),
        decodes=sum(each.decodes for each in results),
        seconds=seconds,
        seeds=seeds,
        notes=tuple(dict.fromkeys(note for each in results for note in each.notes)),
        error_patterns={
            pattern: _mean(parts, (each.error_patterns.get(pattern, 0.0) for each in results))
            for pattern in patterns
        },
    )


def _together(
    parts: Sequence[float], each: Sequence[Result] | Sequence[GapPoint], bounds: Sequence[float]
) -> dict[str, Any]:
    """What results and points of curves have in common, with bounds of what was not sampled."""
    kept = _mean(parts, (one.kept for one in each))
    wrong = _mean(parts, (one.kept_and_wrong for one in each))
    rate, bound = wrong / kept if kept else 0.0, _mean(parts, bounds)
    rates = [one.logical_error_rate for one in each]
    lows, highs = zip(*(one.interval for one in each), strict=True)
    errors = (max(one.standard_error - own, 0.0) for one, own in zip(each, bounds, strict=True))
    below = _error(parts, (own - low for own, low in zip(rates, lows, strict=True)))
    above = _error(parts, (high - own - u for own, high, u in zip(rates, highs, bounds, strict=True)))
    return {
        "kept": kept,
        "kept_error": _error(parts, (one.kept_error for one in each)),
        "kept_and_wrong": wrong,
        "standard_error": bound + _error(parts, errors),
        "interval": (max(0.0, rate - below), min(1.0, rate + bound + above)),
    }


def _mean(parts: Sequence[float], values: Iterable[float]) -> float:
    """The mean of the results' values."""
    return math.fsum(part * value for part, value in zip(parts, values, strict=True))


def _error(parts: Sequence[float], errors: Iterable[float]) -> float:
    """The standard error of a mean, from those of the results."""
    return math.hypot(*(part * error for part, error in zip(parts, errors, strict=True)))


def _strata(parts: Sequence[float], results: Sequence[Result]) -> tuple[RateStratum, ...]:
    """Strata that have the same name and method as one; each counts by the part of its result."""
    found: dict[tuple[str, str], list[tuple[float, RateStratum]]] = {}
    for part, result in zip(parts, results, strict=True):
        for each in result.strata:
            found.setdefault((each.name, each.method), []).append((part, each))
    together = [_stratum(*zip(*own, strict=True)) for own in found.values()]
    return tuple(sorted(together, key=lambda each: each.least_faults))


def _stratum(parts: Sequence[float], each: Sequence[RateStratum]) -> RateStratum:
    """A stratum of several results; what all of them enumerated was evaluated once."""
    evaluated = [each[0], *(one for one in each[1:] if one.draws)]
    wrong = [one.wrong for one in evaluated if one.wrong is not None]
    errors = [one.standard_error for one in each]
    return replace(
        each[0],
        probability=_mean(parts, (one.probability for one in each)),
        sets=sum(one.sets for one in evaluated),
        wrong=sum(wrong) if len(wrong) == len(evaluated) else None,
        draws=sum(one.draws for one in each),
        kept=_mean(parts, (one.kept for one in each)),
        kept_and_wrong=_mean(parts, (one.kept_and_wrong for one in each)),
        standard_error=(_mean if each[0].method == "bound" else _error)(parts, errors),
        share_at_largest_gap=None,
    )


def _curve(parts: Sequence[float], results: Sequence[Result]) -> tuple[GapPoint, ...]:
    """The gaps that all curves have."""
    curves = [{point.gap: point for point in each.gap_curve} for each in results]
    found = []
    for gap in sorted(set(curves[0]).intersection(*curves[1:])):
        points = [curve[gap] for curve in curves]
        error = _error(parts, (each.kept_and_wrong_error for each in points))
        together = _together(parts, points, [0.0] * len(points))
        found.append(GapPoint(gap=gap, kept_and_wrong_error=error, **together))
    return tuple(found)
