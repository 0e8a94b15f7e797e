"""Enumerates the weights that cost little, from 0 on, and says what the next one would cost."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..wrong_tool import refuse
from .costs import of_enumeration
from .exploration import Exploration

__all__ = ["check_first", "enumerate_cheap", "enumerate_to", "expected_enumeration"]

_REST_OF_RATE = 1e-3
"""Sets are listed up to the weight beyond which P(kept and wrong) grows by less than this part of it."""

_REST_WITHOUT_RATE = 1e-9
"""Where no set is wrong yet: up to the weight beyond which there is less probability than this."""

_MAX_PAIRS = 0.25
"""Part of the pairs of mechanisms that may pass where larger sets are too many to enumerate. Of larger sets,
a smaller part passes. If it is doubled, circuits whose checks see nothing are refused after minutes."""

_PART_OF_TIME = 0.3
"""The part of the time left that an enumeration may take: if it takes longer than expected, larger sets can
still be sampled."""

_MANY_TOSSES = 2.0
"""Laws for each signature that are worth a word where they take too long."""

_FREE = 0.1, 0.5
"""Seconds that a weight may cost where the smaller ones were enough: P(kept) has more digits then. The second
number is for a search for P(kept) alone."""

_TOLERANCE = 3.0
"""How many times as many steps as expected an enumeration may take."""


def enumerate_to(known: Exploration, last: int) -> None:
    """Enumerates all weights up to one, as long as the limits allow."""
    for weight in range(len(known.strata), min(last, known.max_weight) + 1):
        if not known.enumerate(weight, known.limits.exact_steps):
            return


def enumerate_cheap(known: Exploration, is_enough: Callable[[], bool]) -> bool:
    """Enumerates as many weights as cost little, until that is enough.

    Returns:
        Whether no enumeration took too much.

    Raises:
        ResourceLimitError: Nearly all pairs pass the checks, and larger sets are too many to list.
    """
    for weight in range(len(known.strata), known.max_weight + 1):
        max_steps = known.limits.exact_steps
        if weight >= 2:
            steps, sets, candidates, keys = expected_enumeration(known, weight)
            if weight == 2:
                _check_pairs(known)
            cost = of_enumeration(steps, sets, candidates, keys) + known.cost_of_tosses(keys)
            is_cheap = weight == 2 or cost <= (
                _FREE[known.passing_only] if is_enough() else known.limits.first_cost
            )
            if not is_cheap or not known.limits.may_enumerate(weight, steps, keys):
                return True
            max_steps = min(max_steps, _TOLERANCE * steps)
        if not known.enumerate(weight, max_steps, _PART_OF_TIME if weight > 2 else 1.0):
            return False
        if weight == 2:
            for c in range(len(known.odds)):
                _check_pruning(known, c, known.exact(2).passing(c), known.totals(c).wrong)
    return True


def check_first(known: Exploration) -> None:
    """Refuses where not even the pairs of mechanisms could be enumerated.

    Raises:
        ResourceLimitError: It says why.
    """
    if len(known.strata) >= min(3, known.max_weight + 1):
        return
    keys, laws = known.study.evaluated
    reason = f"there are too many sets of {len(known.strata)} mechanisms that pass them"
    if laws > _MANY_TOSSES * keys:
        reason += (
            f", each with an outcome law that is an average over about {laws / keys:.0f} tosses of coins"
            " (random records of measurements)"
        )
    if known.limits.max_seconds is not None:
        reason += f", for max_seconds={known.limits.max_seconds:g}: more time may do"
    refuse(reason)


def expected_enumeration(known: Exploration, weight: int) -> tuple[float, float, float, float]:
    """Steps, sets, candidates and their signatures of the first weight that is not exact.

    They follow from those of the weights before.
    """
    before, last = known.exact(weight - 2), known.exact(weight - 1)
    branching = known.study.branching
    if weight == 2:
        # Single mechanisms are no guide: pairs of equal ones pass the checks, too.
        twins = float(known.study.num_twins)
        return max(twins, float(known.odds.shape[1])), twins, twins, twins
    steps = max(last.steps, known.odds.shape[1]) * branching
    sets = last.sets * (last.sets / before.sets if before.sets else branching)
    # Of few candidates nothing follows for larger weights: there may be as many of them as of sets.
    grown = sets / last.sets if last.sets else branching
    candidates = last.candidates * grown
    keys = last.num_keys * min(grown, last.num_keys / before.num_keys if before.num_keys else grown)
    return steps, sets, candidates, keys


def _check_pairs(known: Exploration) -> None:
    """Refuses before the laws of all pairs, if nothing that these may say changes that."""
    if not known.mechanisms.target.any():
        passing = float(known.study.weight_of_twins)
        most = known.totals(0).wrong + known.factor(0) * passing
        _check_pruning(known, 0, passing, most)


def _check_pruning(known: Exploration, circuit: int, passing: float, wrong: float) -> None:
    """Refuses where nearly all pairs pass the checks, and larger sets are too many to enumerate.

    Args:
        known: The circuits.
        circuit: The number of the circuit.
        passing: The odds of all its pairs that pass.
        wrong: P(kept and wrong), about.
    """
    fraction = passing / float(known.masses[circuit, 2])
    if fraction < _MAX_PAIRS:
        return
    enough = _REST_OF_RATE * wrong or _REST_WITHOUT_RATE
    weight = next((k for k in range(3, known.max_weight + 1) if known.rest(circuit, k + 1) < enough), 2)
    if math.comb(known.odds.shape[1], weight - 1) > known.limits.exact_steps:
        num_sets = math.comb(known.odds.shape[1], weight)
        refuse(
            f"{fraction:.0%} of the pairs of mechanisms pass them, and there are {float(num_sets):.2g} sets"
            f" of {weight}"
        )
