"""The fault sets that make a kept shot wrong, one by one, and the fewest faults that do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...base.arguments import integer, integer_or_none
from ...simulation.faults import CircuitFault, NamedMechanisms
from ...simulation.plan import SamplingPlan
from ..estimation.limits import Settings
from .search.mechanisms import mechanisms_of
from .search.search import Search
from .search.strata import WRONG
from .wrong_tool import refuse


@dataclass(frozen=True)
class MalignantSet:
    """A set of error mechanisms that can make a kept shot wrong.

    Attributes:
        probability: That these mechanisms act, and no other one.
        kept: Probability that the shot is then kept.
        kept_and_wrong: The same, and that an observable is flipped.
        causes: One entry per mechanism: the faults that have its effect, any one of which may have been the
            cause; no measurement can tell them apart. Where an error is more likely than none, the mechanism
            is that something else happens. If that is another error, it is named here; if it is that nothing
            happens, it has no name, and the entry may be empty.
        faults: The faults of a shot in which these mechanisms act, and no other one: ``circuit.with_faults``
            of them, and ``circuit.outcome_probabilities``, have the probabilities of this set. Usually that
            is one fault per mechanism, the first of its causes. Mechanisms of the same place are one fault,
            as X and Z of a depolarizing channel are Y. Errors that are more likely than none are there unless
            a mechanism says otherwise.
    """

    probability: float
    kept: float
    kept_and_wrong: float
    causes: tuple[tuple[CircuitFault, ...], ...]
    faults: tuple[CircuitFault, ...]

    @property
    def weight(self) -> int:
        """Number of mechanisms."""
        return len(self.causes)


@dataclass(frozen=True)
class FaultDistance:
    """The fewest error mechanisms that can make a kept shot wrong.

    Attributes:
        at_least: No smaller set can: all of them were enumerated.
        value: The distance, if a set of that size was found; otherwise None.
    """

    at_least: int
    value: int | None

    def __str__(self) -> str:
        return f"at least {self.at_least}" if self.value is None else str(self.value)


def fault_distance(plan: SamplingPlan, max_weight: int, settings: Settings) -> FaultDistance:
    """The fault distance, if it is at most ``max_weight``; otherwise a lower bound.

    The plan postselects what is postselected, and its outputs are the observables.
    """
    max_weight = integer(max_weight, "max_weight")
    search = Search(plan, mechanisms_of(plan), settings)
    for weight in range(min(max_weight, search.max_weight) + 1):
        if not search.enumerate(weight, settings.most_steps):
            break
        if search.outcomes.probabilities[search.enumerated[weight].classes, WRONG].any():
            return FaultDistance(weight, weight)
    return FaultDistance(len(search.enumerated), None)


def malignant_sets(
    plan: SamplingPlan, named: NamedMechanisms[CircuitFault], max_weight: int | None, settings: Settings
) -> list[MalignantSet]:
    """All malignant sets of up to some weight, most probable to be kept and wrong first; None: the smallest.

    ``named`` has the faults behind the mechanisms of the plan, which is one as in ``fault_distance``.
    """
    max_weight = integer_or_none(max_weight, "max_weight")
    search = Search(plan, mechanisms_of(plan), settings)
    odds, nothing = search.mechanisms.odds, search.mechanisms.nothing
    of_coins = search.mechanisms.coin_factor
    found: list[MalignantSet] = []
    weight = 0
    while weight <= search.max_weight and (weight <= max_weight if max_weight is not None else not found):
        if not search.enumerate(weight, settings.most_steps):
            refuse(f"there are too many sets of {weight} mechanisms that pass them")
        probabilities = search.outcomes.probabilities
        is_wrong = np.ascontiguousarray(probabilities[:, WRONG])
        if weight:
            members = search.native.sets_with(weight, is_wrong).reshape(-1, weight)
            classes = search.native.number_keys(members.ravel(), weight)
        else:
            members = np.zeros((int(np.any(is_wrong[:1] > 0)), 0), dtype=np.uint32)
            classes = np.zeros(len(members), np.uint32)
        for each, (kept, wrong) in zip(members.tolist(), probabilities[classes].tolist(), strict=True):
            found.append(
                MalignantSet(
                    probability=nothing * float(np.prod(odds[each])),
                    kept=of_coins * kept,
                    kept_and_wrong=of_coins * wrong,
                    causes=tuple(named.causes(mechanism) for mechanism in sorted(each)),
                    faults=named.faults(sorted(each)),
                )
            )
        weight += 1
    return sorted(found, key=lambda each: -each.probability * each.kept_and_wrong)
