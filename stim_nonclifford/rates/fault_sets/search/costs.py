"""What looking at fault sets costs, in seconds of one core, from what is counted on the way.

Decisions must not depend on how busy a machine is, so that they follow from counts: of steps, sets, halves
and signatures, each with a price that was measured once. Only the ratios of prices matter.
"""

from __future__ import annotations

__all__ = ["laws_for", "of_draws", "of_enumeration", "of_join", "of_laws"]

_STEP = 1.5e-8
_SET = 1e-7
_KEY = 1.5e-6
_SET_OUT_OF_CACHE = 1e-7
"""Added to the price of a set if there are more signatures than the cache holds."""
_KEYS_IN_CACHE = 1e6
_DRAW_STEP = 3e-8
_DRAW = 2.5e-6
_HALF = 4e-7
_FOUND = 1e-6


def of_enumeration(steps: float, sets: float, keys: float) -> float:
    """The cost of enumerating all sets of a weight."""
    of_set = _SET + (_SET_OUT_OF_CACHE if keys > _KEYS_IN_CACHE else 0.0)
    return _STEP * steps + of_set * sets + _KEY * keys


def of_laws(laws: float) -> float:
    """The cost of outcome laws that are evaluated beyond one for each signature: of tosses of coins."""
    return _KEY * laws


def laws_for(cost: float) -> float:
    """How many laws may be evaluated for a cost."""
    return cost / _KEY


def of_draws(steps: float, draws: float) -> float:
    """The cost of a search that draws sets."""
    return _DRAW_STEP * steps + _DRAW * draws


def of_join(halves: float, sets: float) -> float:
    """The cost of a join, from the number of halves of each kind and of the sets that it finds.

    Pairs of halves that flip the same checks but overlap are not counted. They matter only in circuits with a
    handful of noise places, whose sets are enumerated.
    """
    return _HALF * halves + _FOUND * sets
