"""Probabilities of parities, and intervals of rates that were counted."""

from __future__ import annotations

from collections.abc import Callable


def exactly_one(p: float, q: float) -> float:
    """The probability that exactly one of two independent errors of these probabilities happens.

    Examples:
        >>> exactly_one(0.5, 0.1)
        0.5
    """
    return p * (1 - q) + q * (1 - p)


def clopper_pearson(hits: int, shots: int, coverage: float) -> tuple[float, float]:
    """The interval of Clopper and Pearson for the rate behind a number of hits.

    Args:
        hits: Number of hits.
        shots: Number of shots.
        coverage: The probability with which the interval contains the rate, at least.

    Returns:
        The rates at which so many hits or more, and so many or fewer, have the probability
        (1 - coverage) / 2 each.

    Examples:
        >>> clopper_pearson(0, 100, 0.95)
        (0.0, 0.0362...)
    """
    from scipy.special import betainc  # takes as long to import as Sinter and this package

    tail = (1 - coverage) / 2
    best = hits / shots if shots else 0.0
    # SciPy's betaincinv is wrong for exactly 1000 hits among more than 10^8.
    low = _crossing(lambda rate: float(betainc(hits, shots - hits + 1, rate)), tail, best) if hits else 0.0
    if hits == shots:
        return low, 1.0
    return low, _crossing(lambda rate: float(betainc(hits + 1, shots - hits, rate)), 1 - tail, 1.0)


def _crossing(rising: Callable[[float], float], level: float, high: float) -> float:
    """Where a rising function, which is 0 at 0, reaches a level before ``high``."""
    low = 0.0
    while low < (middle := (low + high) / 2) < high:
        if rising(middle) < level:
            low = middle
        else:
            high = middle
    return high
