"""Logical error rates as users get them, whatever computed them.

``LogicalErrorRate`` is a sum over strata (``RateStratum``), with a curve over the decoder's gap
(``GapPoint``) if one was asked for. ``ErrorBudget`` says which noise it comes from, and ``DifferenceBudget``
what it is without some of the noise. ``sums`` adds up results of several seeds.
"""

from .error_budget import BudgetShare, DifferenceBudget, ErrorBudget, NoiseDifference, NoisePlace
from .logical_error_rate import LogicalErrorRate
from .strata import DecodedFailure, GapPoint, RateStratum

__all__ = [
    "BudgetShare",
    "DecodedFailure",
    "DifferenceBudget",
    "ErrorBudget",
    "GapPoint",
    "LogicalErrorRate",
    "NoiseDifference",
    "NoisePlace",
    "RateStratum",
]
