"""Error budgets of decoded circuits, from a sample of the failing fault sets.

Let q_i be the probability that mechanism i acts, and m_i the part of the failing sets that have it. With the
decoder as it is, the rate P is a polynomial of the probabilities, and d ln P / d ln s is the mean over
failing sets X of d ln P(X) / d ln s (``groups``):

    d ln P / d ln s = sum over i of (m_i - q_i) / (q_i (1 - q_i)) q_i'

A failing shot has Σ m_i faults on average and any shot has Σ q_i. The difference are the faults that make the
shot fail, and m_i - q_i is the part of mechanism i in them: its share, up to a factor.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..results.error_budget import ErrorBudget, Grouping
from .groups import NoiseGroups, derivative_terms
from .noise_sources import noise_sources
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
    groups = NoiseGroups(noise_sources(study.compiled, study.plan), by)
    count = len(groups.labels)
    # Mechanisms of the plan that look the same are one of the model.
    known = np.flatnonzero(study.mechanism_of >= 0)
    rows, rates = study.mechanism_of[known], study.plan.rates[known]
    shape = (study.model.num_mechanisms, study.plan.num_mechanisms)
    total = np.bincount(rows, rates, minlength=shape[0])
    parts_of = sparse.csr_array((rates / total[rows], (rows, known)), shape=shape)
    fractions = sparse.csr_array(parts_of @ groups.fractions)
    changes = sparse.csr_array((np.ones(len(rows)), (rows, known)), shape=shape) @ groups.changes
    odds = np.exp(study.model.log_odds)
    scores, base = derivative_terms(odds, np.full(shape[0], -1), sparse.csr_array(changes))
    q = odds / (1 + odds)
    members = _incidence(study)
    parts = sparse.hstack([members @ fractions, members @ scores]).toarray()
    parts += np.concatenate([-q @ fractions, base])
    found, errors = study.sets.means(parts)
    sensitivities = np.where(groups.is_unknown, np.nan, found[count:])
    excess = float(found[:count].sum())
    # Residuals of each set's shares, with the total of all groups projected out.
    deviations = parts[:, :count] - found[:count] / excess * parts[:, :count].sum(axis=1, keepdims=True)
    _, share_errors = study.sets.means(deviations / excess)
    weights = study.sets.weights
    shares = (weights @ members / weights.sum() - q) @ parts_of / excess
    nothing = np.zeros(count)  # every shot is kept
    columns = (share_errors, nothing, nothing, sensitivities * rate, sensitivities, errors[count:])
    circuit = study.compiled.circuit
    return groups.budget(circuit, 1.0, rate, standard_error, interval, shares, columns)


def _incidence(study: FailureStudy) -> sparse.csr_array:
    """1 where a fault set has a mechanism; shape (sets, mechanisms)."""
    members = study.sets.members
    row, place = np.nonzero(members >= 0)
    shape = (len(members), study.model.num_mechanisms)
    return sparse.csr_array((np.ones(len(row)), (row, members[row, place])), shape=shape)
