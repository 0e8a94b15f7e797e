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
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from .gap_curve import GapPoint
from .strata import RateStratum

__all__ = ["summed"]

Interval = tuple[float, float]
Result = Any
"""A ``LogicalErrorRate``, whose module imports this one."""


def summed(results: Sequence[Result]) -> dict[str, Any]:
    """The fields of the sum of independent results for one circuit that are not those of the first one.

    Args:
        results: Two or more results of the same call with different seeds.

    Raises:
        ValueError: They are of different circuits or calls, or share a seed.
    """
    first = results[0]
    for each in results[1:]:
        if each.question != first.question:
            raise ValueError(
                "These rates are of different circuits, or of calls with different decoders, masks or checks:"
                " only results that differ in the seed add up."
            )
    seeds = tuple(seed for each in results for seed in each.seeds)
    if len(set(seeds)) < len(seeds):
        again = next(seed for seed in seeds if seeds.count(seed) > 1)
        raise ValueError(
            f"Two of these results have the seed {again}: they are not independent. Estimate one of them"
            " anew, with another seed."
        )
    exact = [each for each in results if not each.samples]
    if exact:
        fields = {name: getattr(exact[0], name) for name in exact[0].__dataclass_fields__}
        return {**fields, "seeds": seeds, "seconds": sum(each.seconds for each in results)}
    total = sum(each.samples for each in results)
    parts = [each.samples / total for each in results]

    def mean(value: Callable[[Result], float]) -> float:
        return math.fsum(part * value(each) for part, each in zip(parts, results, strict=True))

    def error(value: Callable[[Result], float]) -> float:
        return math.hypot(*(part * value(each) for part, each in zip(parts, results, strict=True)))

    kept, wrong = mean(lambda each: each.kept), mean(lambda each: each.kept_and_wrong)
    rate = wrong / kept if kept else 0.0
    patterns = sorted({pattern for each in results for pattern in each.error_patterns})
    bound = mean(lambda each: each.unsampled_bound)
    return dict(
        logical_error_rate=rate,
        standard_error=bound + error(lambda each: max(each.standard_error - each.unsampled_bound, 0.0)),
        interval=_interval(
            rate,
            bound,
            parts,
            [(each.logical_error_rate, each.interval, each.unsampled_bound) for each in results],
        ),
        observable_rates=tuple(
            mean(lambda each, k=k: each.observable_rates[k])  # type: ignore[misc]
            for k in range(len(first.observable_rates))
        ),
        observable_errors=tuple(
            error(lambda each, k=k: each.observable_errors[k])  # type: ignore[misc]
            for k in range(len(first.observable_errors))
        ),
        kept=kept,
        kept_error=error(lambda each: each.kept_error),
        kept_and_wrong=wrong,
        strata=_strata(parts, results),
        gap_curve=_curve(parts, results),
        decodes=sum(each.decodes for each in results),
        seconds=math.fsum(each.seconds for each in results),
        seeds=seeds,
        notes=tuple(dict.fromkeys(note for each in results for note in each.notes)),
        error_patterns={
            pattern: mean(lambda each, p=pattern: each.error_patterns.get(p, 0.0))  # type: ignore[misc]
            for pattern in patterns
        },
    )


def _interval(
    rate: float, bound: float, parts: Sequence[float], each: Sequence[tuple[float, Interval, float]]
) -> Interval:
    """Limits of a mean from those of its parts, each with its rate, its limits, and its bound."""
    below = math.hypot(*(part * (r - low) for part, (r, (low, _), _) in zip(parts, each, strict=True)))
    above = math.hypot(*(part * (high - u - r) for part, (r, (_, high), u) in zip(parts, each, strict=True)))
    return max(0.0, rate - below), min(1.0, rate + bound + above)


def _strata(parts: Sequence[float], results: Sequence[Result]) -> tuple[RateStratum, ...]:
    """Strata that have the same name and method as one; each counts by the part of its result."""
    found: dict[tuple[str, str], RateStratum] = {}
    for part, result in zip(parts, results, strict=True):
        for each in result.strata:
            scaled = replace(
                each,
                probability=part * each.probability,
                kept=part * each.kept,
                kept_and_wrong=part * each.kept_and_wrong,
                standard_error=part * each.standard_error,
                share_at_largest_gap=None,
            )
            key = each.name, each.method
            before = found.get(key)
            if before is None:
                found[key] = scaled
                continue
            is_bound = each.method == "bound"
            errors = before.standard_error, scaled.standard_error
            found[key] = replace(
                before,
                probability=before.probability + scaled.probability,
                sets=before.sets + each.sets if each.draws else before.sets,
                wrong=before.wrong + each.wrong
                if each.draws and before.wrong is not None and each.wrong is not None
                else before.wrong,
                draws=before.draws + each.draws,
                kept=before.kept + scaled.kept,
                kept_and_wrong=before.kept_and_wrong + scaled.kept_and_wrong,
                standard_error=sum(errors) if is_bound else math.hypot(*errors),
            )
    return tuple(sorted(found.values(), key=lambda each: each.least_faults))


def _curve(parts: Sequence[float], results: Sequence[Result]) -> tuple[GapPoint, ...]:
    """The gaps that all curves have."""
    curves = [{point.gap: point for point in each.gap_curve} for each in results]
    gaps = sorted(set(curves[0]).intersection(*curves[1:]))
    found = []
    for gap in gaps:
        points = [curve[gap] for curve in curves]

        def mean(name: str, points: Sequence[GapPoint] = points) -> float:
            return math.fsum(
                part * float(getattr(each, name)) for part, each in zip(parts, points, strict=True)
            )

        def error(name: str, points: Sequence[GapPoint] = points) -> float:
            return math.hypot(
                *(part * float(getattr(each, name)) for part, each in zip(parts, points, strict=True))
            )

        kept, wrong = mean("kept"), mean("kept_and_wrong")
        limits = [(each.logical_error_rate, each.interval, 0.0) for each in points]
        found.append(
            GapPoint(
                gap,
                kept,
                error("kept_error"),
                wrong,
                error("kept_and_wrong_error"),
                error("standard_error"),
                _interval(wrong / kept if kept else 0.0, 0.0, parts, limits),
            )
        )
    return tuple(found)
