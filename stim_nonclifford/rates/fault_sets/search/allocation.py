"""How much of each weight is looked at next: the cheapest choice that leaves little enough error.

Each weight has a menu: to do nothing, a sample of some size, all of its sets. Errors of different weights are
independent, so that their squares add up. With a price μ for the square of an error, the best choice of a
weight is the option with the smallest cost + μ x error, whatever is chosen for the others. The smallest μ
that leaves little enough in all is sought. (For sizes that can be anything this is Neyman's allocation.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Option", "allocate"]

_DOUBLINGS = 200
"""Prices from 2^-200 to 2^200 are tried: error for cost."""

_HALVINGS = 60


@dataclass(frozen=True)
class Option:
    """Something that can be done next about a weight.

    Attributes:
        cost: In seconds of one core.
        error: The square of the error that the weight then has, in units of what was asked for, for each
            circuit.
        run: Does it; None: nothing is to be done.
        is_complete: Whether it looks at all sets of the weight.
    """

    cost: float
    error: tuple[float, ...]
    run: Callable[[], object] | None = None
    is_complete: bool = False


def allocate(menus: Sequence[Sequence[Option]], enough: Sequence[float], budget: float) -> list[Option]:
    """Chooses one option of each menu.

    Args:
        menus: For each weight what can be done.
        enough: For each circuit the sum of the errors that is small enough; infinite: it does not matter.
        budget: What all may cost.

    Returns:
        For each menu an option: of least cost, so that the errors are small enough; where the budget does not
        suffice, about of least error within it.

    Examples:
        >>> menu = [Option(cost, (1 / (1 + cost),)) for cost in (0, 1, 3, 9)]
        >>> [each.cost for each in allocate([menu, menu], [1.0], budget=100)]
        [1, 1]
        >>> [each.cost for each in allocate([menu, menu], [0.2], budget=10)]
        [3, 3]
    """
    counts = [limit < math.inf for limit in enough]

    def choice(price: float) -> list[Option]:
        def loss(option: Option) -> float:
            return option.cost + price * sum(
                error for error, is_counted in zip(option.error, counts, strict=True) if is_counted
            )

        return [min(menu, key=loss) for menu in menus]

    def is_enough(chosen: list[Option]) -> bool:
        return all(sum(option.error[c] for option in chosen) <= limit for c, limit in enumerate(enough))

    def is_within_budget(chosen: list[Option]) -> bool:
        return sum(option.cost for option in chosen) <= budget

    # The cost grows with the price, and the error falls.
    low, high = -float(_DOUBLINGS), float(_DOUBLINGS)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        chosen = choice(2.0**middle)
        if is_within_budget(chosen) and not is_enough(chosen):
            low = middle
        else:
            high = middle
    dearer = choice(2.0**high)
    return dearer if is_within_budget(dearer) else choice(2.0**low)
