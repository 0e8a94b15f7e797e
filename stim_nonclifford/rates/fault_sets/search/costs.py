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
    "DrawSteps",
    "Spending",
    "laws_for",
    "of_composed",
    "of_draws",
    "of_enumeration",
    "of_join",
    "of_laws",
    "of_list",
    "of_pairs",
]

_STEP = 1e-8
_SET = 3e-8
_CANDIDATE = 1e-7
"""A set that may be kept, whose key is looked up."""
_CANDIDATE_OUT_OF_CACHE = 1e-7
"""Added to that if there are more signatures than the cache holds."""
_KEYS_IN_CACHE = 1e6
_KEY = 1.5e-6
_DRAW_STEP = 1.5e-8
_DRAW = 1e-6
_HALF = 2e-7
_FOUND = 8e-8
_COMBINATION = 1.5e-7
_LAW_OF_COMPOSED = 4e-6
_LIST_STEP = 1.3e-8
_PAIR = 8e-8
_DRAWS_THAT_TELL = 10.0
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


def of_draws(steps: float, draws: float) -> float:
    """The cost of a search that draws sets."""
    return _DRAW_STEP * steps + _DRAW * draws


def of_join(halves: float, sets: float, candidates: float) -> float:
    """The cost of a join, from the number of halves of each kind and of the sets that it finds.

    Pairs of halves that flip the same checks but overlap are not counted. They matter only in circuits with a
    handful of noise places, whose sets are enumerated.
    """
    return _HALF * halves + _FOUND * sets + _CANDIDATE_OF_JOIN * candidates


def of_composed(combinations: float, laws: float) -> float:
    """The cost of composed sets, from the number of combinations of keys and of laws that were evaluated."""
    return _COMBINATION * combinations + _LAW_OF_COMPOSED * laws


def of_list(steps: float) -> float:
    """The cost of listing all sets with given keys."""
    return _LIST_STEP * steps


def of_pairs(mechanisms: float) -> float:
    """The cost of tables of all pairs of so many mechanisms."""
    return _PAIR * mechanisms**2 / 2


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


class DrawSteps:
    """How many steps searches for draws take.

    A pair that completes a set is found by its hash. Hashes that meet by chance have a share of the draws, in
    proportion to all sets, whether they pass or not. These draws give no set. Each search tells how many.

    Args:
        branching: Steps of a draw.
    """

    def __init__(self, branching: float) -> None:
        self.branching = branching
        self._by_chance = 0.0

    def expected(self, beginnings: float, draws: float, passing: float) -> float:
        """Steps of a search.

        Args:
            beginnings: Steps to the beginnings of sets.
            draws: Sets that it is to draw.
            passing: The part of all sets that pass, about.
        """
        in_vain = self._by_chance / passing if passing else 0.0
        return beginnings + draws * self.branching * (1 + in_vain)

    def learn(self, steps: float, draws: float, passing: float) -> None:
        """Takes note of the steps that so many sets took, without those to beginnings; arguments as above."""
        if draws >= _DRAWS_THAT_TELL:
            in_vain = steps / (draws * self.branching) - 1
            self._by_chance = max(self._by_chance, in_vain * passing)
