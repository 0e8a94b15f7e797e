"""Strata that are sampled: by joins of halves, and by unions of smaller sets where these are known."""

from __future__ import annotations

import numpy as np

from .joins import JoinedSets
from .outcomes import Floats, OutcomeClasses
from .strata import Bound, Numbers, Tally
from .unions import UnionSets

__all__ = ["SampledSets"]


class SampledSets:
    """A sample of the fault sets of a weight, or of several.

    Args:
        joins: The sampler of its sets.
        unions: The sampler of those of them that are unions of smaller sets; None: joins find these, too.

    Attributes:
        weights: The weights of its sets.
    """

    method = "join"

    def __init__(self, joins: JoinedSets, unions: UnionSets | None) -> None:
        self.weights = joins.weights
        self.joins = joins
        self.unions = unions

    @property
    def draws(self) -> int:
        """Halves and unions that were drawn."""
        return 2 * self.joins.num_halves + (self.unions.draws if self.unions else 0)

    @property
    def rounds(self) -> int:
        """Number of joins and samples of unions."""
        return len(self.joins.joins) + (len(self.unions.samples) if self.unions else 0)

    @property
    def sets(self) -> int:
        """Sets of joins that pass the checks, each as often as it was found."""
        return self.joins.sets

    @property
    def num_stored(self) -> int:
        """Number of finds that can be kept."""
        return self.joins.num_stored + (self.unions.num_stored if self.unions else 0)

    @property
    def classes(self) -> Numbers:
        """See ``Stratum``."""
        samples = [*self.joins.joins, *(self.unions.samples if self.unions else ())]
        return np.concatenate([each.classes for each in samples])

    def passing(self, circuit: int) -> float:
        """The total odds of its sets that pass the checks."""
        return self.joins.passing(circuit)

    def tallies(self, circuit: int, outcomes: OutcomeClasses, bound: Bound) -> tuple[Tally, ...]:
        """See ``Stratum``."""
        samplers = (self.joins, self.unions) if self.unions else (self.joins,)
        return tuple(each.tally(circuit, outcomes, bound) for each in samplers)

    def coefficients(self, circuit: int, num_classes: int) -> Floats:
        """See ``Stratum``."""
        pooled = [(self.joins.share(each), each.classes, each.weights) for each in self.joins.joins]
        if self.unions is not None:
            pooled += [(self.unions.share(each), each.classes, each.weights) for each in self.unions.samples]
        sums = np.zeros(num_classes)
        for share, classes, weights in pooled:
            sums += share * np.bincount(classes, weights[:, circuit], minlength=num_classes)
        return sums
