"""Decides which weights are enumerated: those that cost little, from 0 on."""

from __future__ import annotations

import math

from .exploration import MAX_PASSING, Exploration
from .wrong_tool import refuse

__all__ = ["check_events", "enumerate_cheap", "enumerate_to"]

_MAX_EVENTS = 12.0
"""Mean number of noise events of a shot; plain sampling keeps few shots then, but most sets are large."""

_MORE_STEPS = 50
"""How many times as many steps a weight may take that is asked for."""


def enumerate_to(known: Exploration, last: int) -> None:
    """Enumerates all weights up to one, as long as the limits allow."""
    for weight in range(len(known.strata), min(last, known.max_weight) + 1):
        if not known.enumerate(weight, _MORE_STEPS * known.limits.exact_steps):
            return


def enumerate_cheap(known: Exploration) -> None:
    """Enumerates as many weights as cost little.

    Raises:
        ResourceLimitError: Nearly all pairs pass the checks, and larger sets are too many to list.
    """
    for weight in range(len(known.strata), known.max_weight + 1):
        if weight > 1 and not _is_cheap(known, weight):
            return
        if not known.enumerate(weight, known.limits.exact_steps):
            return
        if weight == 2:
            _check_pruning(known)


def _is_cheap(known: Exploration, weight: int) -> bool:
    before, last = known.exact(weight - 2), known.exact(weight - 1)
    branching = known.study.branching
    steps = max(last.steps, known.odds.shape[1]) * branching
    sets = last.sets * (last.sets / before.sets if before.sets else branching)
    keys = last.signatures * (last.signatures / before.signatures if before.signatures else 1.0)
    if weight == 2:
        # Single mechanisms are no guide: pairs of equal ones pass the checks, too.
        steps, sets, keys = (known.study.num_twins,) * 3
    return (
        steps <= known.limits.exact_steps
        and sets <= known.limits.exact_sets
        and keys <= known.limits.exact_keys
    )


def check_events(known: Exploration) -> None:
    """Refuses where sets of very many mechanisms matter.

    Raises:
        ResourceLimitError: A shot has too many noise events.
    """
    chances = [known.probability_of_nothing(c) for c in range(len(known.odds))]
    mean = max(-math.log(nothing) if nothing else math.inf for nothing in chances)
    if mean > _MAX_EVENTS and known.max_weight > _MAX_EVENTS:
        refuse(
            f"a shot has {mean:.3g} noise events on average, so that sets of very many mechanisms matter"
            f" (the limit is {_MAX_EVENTS:.0f} events)",
            checks_are_weak=False,
        )


def _check_pruning(known: Exploration) -> None:
    """Refuses where nearly all pairs pass the checks, and larger sets are too many to list."""
    for c in range(len(known.odds)):
        fraction = known.exact(2).passing(c) / float(known.masses[c, 2])
        if fraction < MAX_PASSING:
            continue
        enough = 1e-3 * known.totals(c).wrong or 1e-9
        weight = next((k for k in range(3, known.max_weight + 1) if known.rest(c, k + 1) < enough), 2)
        num_sets = math.comb(known.odds.shape[1], weight)
        if num_sets > known.limits.exact_sets:
            refuse(
                f"{fraction:.0%} of the pairs of mechanisms pass them, and there are"
                f" {float(num_sets):.2g} sets of {weight}"
            )
