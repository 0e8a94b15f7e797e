"""Error budgets of decoded circuits: which noise the failing fault sets come from.

Let q_i be the probability that mechanism i acts, and m_i the part of the failing sets that have it. With the
decoder as it is, the rate P is a polynomial of the probabilities, and

    d ln P / d ln s = sum over i of (m_i - q_i) / (q_i (1 - q_i)) q_i',    q_i' = (1 - 2 q_i) dλ_i / d ln s

with the strength s of a group of noise, which multiplies its probabilities (``fault_sets.budget``). A failing
shot has Σ m_i faults on average and any shot has Σ q_i. The difference are the faults that make the shot
fail, and m_i - q_i is the part of mechanism i in them. It is divided among the places of the circuit that
cause the mechanism in proportion to their rates.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...fault_sets.budget.grouping import groups_of, name_of_grouping
from ...fault_sets.budget.noise_sources import NoiseSources, noise_sources
from ...results.error_budget import BudgetShare, ErrorBudget, Grouping
from ..faults.mechanisms import Floats
from .study import FailureStudy

__all__ = ["decoded_budget"]


def decoded_budget(
    study: FailureStudy, by: Grouping, rate: float, standard_error: float, interval: tuple[float, float]
) -> ErrorBudget:
    """The budget for groups of places.

    Args:
        study: The failing fault sets.
        by: What makes a group.
        rate: The logical error rate.
        standard_error: The standard error of the rate.
        interval: The interval of the rate.
    """
    mechanism_of = study.mechanism_of
    sources = noise_sources(study.compiled, study.plan)
    labels, membership = groups_of(sources.places, by)
    count, model_count = len(labels), study.model.num_mechanisms
    # For each mechanism of the model: the groups it comes from, and how its rate changes with their strength.
    known = np.flatnonzero((sources.mechanisms >= 0) & (sources.derivatives == sources.derivatives))
    known = known[mechanism_of[sources.mechanisms[known]] >= 0]
    rows = mechanism_of[sources.mechanisms[known]]
    shape = (model_count, len(sources.places))
    amounts = sources.fractions[known] * study.plan.rates[sources.mechanisms[known]]
    rates = np.bincount(rows, amounts, minlength=model_count)
    columns = sources.of_places[known]
    fractions = sparse.csr_array((amounts / rates[rows], (rows, columns)), shape=shape) @ membership
    changes = sparse.csr_array((sources.derivatives[known], (rows, columns)), shape=shape) @ membership
    q = 1 / (1 + np.exp(-study.model.log_odds))
    scores = sparse.diags_array((1 - 2 * q) / (q * (1 - q))) @ changes
    members = _incidence(study)
    parts = sparse.hstack([members @ fractions, members @ scores]).toarray()
    means = np.concatenate([q @ fractions, q @ scores])
    found, errors = study.sets.means(parts - means)
    excess = float(found[:count].sum())
    shares = found[:count] / excess
    _, share_errors = study.sets.means(_deviations(parts[:, :count] - means[:count], shares) / excess)
    is_unknown = _unknown_places(sources) @ membership > 0
    sensitivities = np.where(is_unknown, np.nan, found[count:])
    groups = [
        BudgetShare(
            group=label,
            share=float(shares[g]),
            share_error=float(share_errors[g]),
            discarded=0.0,
            kept_derivative=0.0,
            kept_and_wrong_derivative=float(sensitivities[g]) * rate,
            sensitivity=float(sensitivities[g]),
            sensitivity_error=float(errors[count + g]),
        )
        for g, label in enumerate(labels)
    ]
    return ErrorBudget(
        by=by if isinstance(by, str) else name_of_grouping(by),
        kept=1.0,
        kept_and_wrong=rate,
        groups=tuple(groups),
        standard_error=standard_error,
        interval=interval,
    )


def _incidence(study: FailureStudy) -> sparse.csr_array:
    """1 where a fault set has a mechanism; shape (sets, mechanisms)."""
    members = study.sets.members
    row, place = np.nonzero(members >= 0)
    shape = (len(members), study.model.num_mechanisms)
    return sparse.csr_array((np.ones(len(row)), (row, members[row, place])), shape=shape)


def _deviations(parts: Floats, shares: Floats) -> Floats:
    """Residuals of each set's shares, with the total of all groups projected out."""
    return np.asarray(parts - shares * parts.sum(axis=1, keepdims=True))


def _unknown_places(sources: NoiseSources) -> Floats:
    """1 for places that also have a direction in which there is no mechanism."""
    unknown = (sources.mechanisms < 0) & np.isnan(sources.derivatives)
    return (np.bincount(sources.of_places[unknown], minlength=len(sources.places)) > 0).astype(float)
