"""The exact sum over the lightest failing fault sets, where they are few enough to look at all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..faults.mechanisms import FaultModel, Floats, Words, log_probability_of_none

__all__ = ["largest_enumerable", "log_probability_of_lightest"]

_MOST_SETS = 1 << 18
_BATCH = 1 << 14


def largest_enumerable(mechanisms: int) -> int:
    """The largest number of members such that all sets with at most so many are few enough."""
    total = size = 0
    while size < mechanisms:
        total += math.comb(mechanisms, size + 1)
        if total > _MOST_SETS:
            break
        size += 1
    return size


def log_probability_of_lightest(
    model: FaultModel,
    fails: Callable[[Words], npt.NDArray[np.bool_]],
    log_odds: Floats,
    size: int,
    check: Callable[[], None],
) -> float:
    """The logarithm of the probability that at most so many mechanisms act and the decoder fails.

    Args:
        model: The mechanisms.
        fails: Whether the decoder fails on rows.
        log_odds: ln of their odds.
        size: The largest number of members.
        check: Is called now and then; may raise to end the work.

    Returns:
        The logarithm; -inf if no such set fails. Of quantum outcomes, all are looked at, each with its
        probability.
    """
    terms: list[Floats] = []
    for members in range(size + 1):
        sets = itertools.combinations(range(model.num_mechanisms), members)
        while batch := list(itertools.islice(sets, _BATCH)):
            check()
            chosen = np.array(batch, dtype=np.intp).reshape(len(batch), members)
            rows = np.bitwise_xor.reduce(model.flips[chosen], axis=1) ^ model.base
            owners, shares, rows = model.with_all_outcomes(rows)
            failing = fails(rows)
            terms.append(log_odds[chosen[owners[failing]]].sum(axis=1) + np.log(shares[failing]))
    found = np.concatenate(terms)
    if not len(found):
        return -math.inf
    return float(np.logaddexp.reduce(found)) + log_probability_of_none(log_odds)
