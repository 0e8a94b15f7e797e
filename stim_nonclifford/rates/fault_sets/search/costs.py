"""What looking at fault sets costs, in seconds of one core, from what is counted on the way.

Decisions must not depend on how busy a machine is, so that they follow from counts: of steps, sets, halves
and signatures, each with a price that was measured once. Only the ratios of prices matter. *Candidates* are
the sets that may be kept, as far as that is known without their laws.
"""

from __future__ import annotations

import math
import time

from .limits import Limits

__all__ = [
    "Spending",
    "laws_for",
    "of_enumeration",
    "of_join",
    "of_laws",
    "of_unions",
]

_STEP = 1e-8
_SET = 3e-8
_CANDIDATE = 1e-7
"""A set that may be kept, whose key is looked up."""
_CANDIDATE_OUT_OF_CACHE = 1e-7
"""Added to that if there are more signatures than the cache holds."""
_KEYS_IN_CACHE = 1e6
_KEY = 1.5e-6
_HALF = 2e-7
_FOUND = 8e-8
_COMBINATION = 1.5e-7
_LAW_OF_UNION = 4e-6
_COST_THAT_TELLS = 0.1
"""Seconds of work after which its pace is known."""
_CANDIDATE_OF_JOIN = 3e-7
"""A set of a join that may be kept; few of them have a signature that is new."""


def of_enumeration(steps: float, sets: float, candidates: float, keys: float) -> float:
    """The cost of enumerating all sets of a weight."""
    of_candidate = _CANDIDATE + (_CANDIDATE_OUT_OF_CACHE if keys > _KEYS_IN_CACHE else 0.0)
    return _STEP * steps + _SET * sets + of_candidate * candidates + _KEY * keys


def of_laws(laws: float) -> float:
    """The cost of outcome laws that are evaluated beyond one for each signature: of tosses of coins."""
    return _KEY * laws


def laws_for(cost: float) -> float:
    """How many laws may be evaluated for a cost."""
    return cost / _KEY


def of_join(halves: float, sets: float, candidates: float) -> float:
    """The cost of a join, from the number of halves of each kind and of the sets that it finds.

    Pairs of halves that flip the same checks but overlap are not counted. They matter only in circuits with a
    handful of noise places, whose sets are enumerated.
    """
    return _HALF * halves + _FOUND * sets + _CANDIDATE_OF_JOIN * candidates


def of_unions(combinations: float, laws: float) -> float:
    """The cost of unions, from the number of combinations of keys and of laws that were evaluated."""
    return _COMBINATION * combinations + _LAW_OF_UNION * laws


class Spending:
    """What a search has cost, and the time that it has.

    Args:
        limits: What it may cost.
        elapsed: Seconds that are over before it begins.

    Attributes:
        limits: See above.
        spent: The cost of all that was done, in seconds of one core.
    """

    def __init__(self, limits: Limits, elapsed: float) -> None:
        self.limits = limits
        self.spent = 0.0
        self._begin = time.perf_counter() - elapsed
        self._prepared = self.seconds

    def begin_to_spend(self) -> None:
        """Takes note that all is prepared: what was done until now has no cost."""
        self._prepared = self.seconds

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.perf_counter() - self._begin

    @property
    def is_out_of_time(self) -> bool:
        """Whether no new round may begin."""
        return self.limits.max_seconds is not None and self.seconds > self.limits.max_seconds

    @property
    def seconds_left(self) -> float:
        """Until then a new round may begin, and should have ended."""
        return math.inf if self.limits.max_seconds is None else self.limits.max_seconds - self.seconds

    @property
    def seconds_per_cost(self) -> float:
        """How long what costs a second took here, so far."""
        return (self.seconds - self._prepared) / self.spent if self.spent > _COST_THAT_TELLS else 1.0
