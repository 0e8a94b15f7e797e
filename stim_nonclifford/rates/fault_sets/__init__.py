"""Logical error rates from malignant fault sets, without waiting for errors.

* ``interval`` and ``uncertainty`` turn sums into intervals, and these into printed digits.
* ``search`` enumerates and draws fault sets, and sums their probabilities.
* ``malignant`` lists the sets. ``budget`` divides a rate among the noise that causes it.
* ``wrong_tool`` says where fault sets are too many, and ``short_count`` what a short count says instead.
* ``results`` is what users get, ``interface`` how.
"""

from .budget.noise_sources import NoisePlace
from .budget.table import BudgetShare, ErrorBudget
from .malignant import FaultDistance, MalignantSet
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
