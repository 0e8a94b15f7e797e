"""Logical error rates from malignant fault sets, without waiting for errors.

* ``mechanisms`` takes a plan's mechanisms with their odds and removes coins from the checks; ``study`` is the
  native search (``native/fault_sets/``); ``laws`` has the probabilities of being kept and wrong for each
  signature; ``strata`` the sums for each number of faults, ``exploration`` all of them.
* ``enumeration`` decides what is enumerated, ``estimator`` what is sampled, within ``limits``;
  ``wrong_tool`` says where that is too much; ``interval`` turns sums into intervals. ``two_searches`` is for
  circuits without quantum outcomes: one search for P(kept), one for P(kept and wrong).
* ``malignant`` lists the sets. For error budgets, ``noise_sources`` finds where mechanisms come
  from, ``member_sums`` adds up what sets say of their members, and ``budget`` divides that.
* ``results`` and ``budget_table`` are what users get, ``interface`` how.
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
