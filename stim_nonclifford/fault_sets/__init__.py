"""Logical error rates from malignant fault sets, without waiting for errors.

``mechanisms`` takes a plan's mechanisms with their odds and removes coins from the checks; ``study`` is the
native search (``native/fault_set*``); ``laws`` has the probabilities of being kept and wrong for each
signature; ``strata`` the sums for each number of faults; ``estimator`` decides what is enumerated and what
is sampled; ``malignant`` lists the sets; ``interval`` turns sums into intervals; ``results`` is what users
get, ``interface`` how. For error budgets, ``noise_sources`` finds where in the circuit mechanisms come from,
``member_sums`` adds up what sets say of their members, ``budget`` divides that, and ``budget_table`` prints
it.
"""

from .budget_table import BudgetShare, ErrorBudget
from .malignant import FaultDistance, MalignantSet
from .noise_sources import NoisePlace
from .results import LogicalErrorRate, WeightShare

__all__ = [
    "BudgetShare",
    "ErrorBudget",
    "FaultDistance",
    "LogicalErrorRate",
    "MalignantSet",
    "NoisePlace",
    "WeightShare",
]
