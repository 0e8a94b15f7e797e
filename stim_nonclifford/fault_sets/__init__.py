"""Logical error rates from malignant fault sets, without waiting for errors.

``mechanisms`` takes a plan's mechanisms with their odds and removes coins from the checks; ``study`` is the
native search (``native/fault_set*``); ``laws`` has the probabilities of being kept and wrong for each
signature; ``strata`` the sums for each number of faults; ``estimator`` decides what is enumerated and what
is sampled; ``malignant`` lists the sets; ``interval`` turns sums into intervals; ``results`` is what users
get, ``interface`` how.
"""

from .malignant import FaultDistance, MalignantSet
from .results import LogicalErrorRate, WeightShare

__all__ = ["FaultDistance", "LogicalErrorRate", "MalignantSet", "WeightShare"]
