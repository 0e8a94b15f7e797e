"""Error budgets from sums over malignant fault sets.

**Shares.** A fault set X contributes P(X) f(X) to P(kept and wrong), where f is the probability that a shot
with it is kept and wrong. The contribution is divided equally among the members of X, and the part of each
member among groups of noise (``groups``). All shares, with that of the empty set, add up to 1. (Noise that
is more likely to do something than nothing is taken as part of the circuit; its fault is not to do it.)

**Derivatives.** That of P(kept and wrong) is the sum over X of P(X) f(X) d ln P(X) / d ln s (``groups``), no
approximation; that of P(kept) likewise. That of ln(logical error rate) is the difference of both over their
probabilities: in leading order, of all noise together, the fault distance.

Both follow from the sums over the sets that have a member; for sampled sets, the sample gives the errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ...base.arrays import Floats
from ...simulation.compiler import CompiledCircuit
from ...simulation.plan import SamplingPlan
from ..estimation.interval import ROUNDING
from ..fault_sets.search.estimate import Estimate
from ..fault_sets.search.joins import Join
from ..fault_sets.search.strata import KEPT, WRONG
from ..results.error_budget import BudgetShare, ErrorBudget, Grouping
from .groups import NoiseGroups, derivative_terms, site_matrix
from .noise_sources import noise_sources

NO_FAULT = "no fault"
"""The group of the empty fault set, where a shot can be wrong, or discarded, without any noise."""

_QUADRATURE_NODES = 64
"""Nodes of an integral over a product of factors, one for each site. Doubled, it changes by 10^-6 for shots
of a thousand faults."""


@dataclass(frozen=True)
class _Sample:
    """A join, and what each of its sets adds to P(kept), and to P(kept and wrong): shape (finds, 2)."""

    join: Join
    probabilities: Floats

    def incidence(self, num_mechanisms: int) -> sparse.csr_array:
        """1 where a set has a mechanism; shape (finds, num_mechanisms)."""
        count, most = self.join.members.shape
        starts = np.concatenate([[0], np.cumsum(self.join.sizes)])
        members = self.join.members[np.arange(most) < self.join.sizes[:, None]]
        return sparse.csr_array((np.ones(len(members)), members, starts), shape=(count, num_mechanisms))

    def variance(self, spread: sparse.csr_array, factors: Floats, constants: Floats) -> Floats:
        """The estimated variance of sums to which each set adds its row of spread + factors @ constants."""
        # Sets with a half in common are not independent: the halves are.
        total = -_sum_of_squares(spread, factors, constants)
        for side in self.join.sides:
            draws, draw = np.unique(side, return_inverse=True)
            count = len(draw)
            gather = sparse.csr_array((np.ones(count), (draw, np.arange(count))), shape=(len(draws), count))
            total += _sum_of_squares(sparse.csr_array(gather @ spread), gather @ factors, constants)
        return np.maximum(total, 0.0)


def _sum_of_squares(spread: sparse.csr_array, factors: Floats, constants: Floats) -> Floats:
    """The sum over rows of (spread + factors @ constants)^2."""
    squares = np.asarray(spread.multiply(spread).sum(axis=0)).ravel()
    mixed = np.einsum("jg,jg->g", np.asarray((spread.T @ factors).T), constants)
    return np.asarray(
        squares + 2 * mixed + np.einsum("ig,ij,jg->g", constants, factors.T @ factors, constants)
    )


class BudgetBasis:
    """What the error budgets of an estimate are computed from: sums over the fault sets with a mechanism.

    Enumerated sets are enumerated again, sampled ones are weighed.
    """

    def __init__(self, known: Estimate, compiled: CompiledCircuit, plan: SamplingPlan) -> None:
        self._known, self._compiled, self._plan = known, compiled, plan
        self._sources = noise_sources(compiled, plan)
        # Of each mechanism, P(kept) and P(kept and wrong) of its sets; and each set's divided by its size.
        self._whole, self._divided = np.zeros((2, plan.num_mechanisms, 2))
        self._without_faults = np.zeros(2)  # those of the empty set
        self._samples: list[_Sample] = []
        for search in known.searches:
            factor, values = search.factor, search.outcomes.probabilities
            for stratum in search.enumerated:
                weight = stratum.weights[0]
                members = search.native.member_sums(weight, values.ravel(), 2).reshape(-1, 2)
                self._whole += factor * members
                self._divided += factor * members / max(weight, 1)
            for sampled in search.sampled:
                for join in sampled.joins:
                    weights = sampled.share(join) * join.weights
                    sample = _Sample(join, weights[:, np.newaxis] * (factor * values)[join.classes])
                    incidence = sample.incidence(plan.num_mechanisms).T
                    self._whole += incidence @ sample.probabilities
                    self._divided += incidence @ (sample.probabilities / join.sizes[:, None])
                    self._samples.append(sample)
            search.native.release()
            first = search.sums(search.strata[0])
            self._without_faults += np.array([first.kept, first.wrong])

    def budget(self, by: Grouping) -> ErrorBudget:
        """The budget for groups of places."""
        totals, mechanisms = self._known.totals, self._known.searches[0].mechanisms
        if not totals.wrong:
            raise ValueError("No malignant set was found: there is no logical error rate to divide.")
        groups = NoiseGroups(self._sources, by)
        fractions = groups.fractions
        of_kept, of_wrong = self._divided.T[[KEPT, WRONG]]
        shares = of_wrong / totals.wrong
        scores, base = derivative_terms(mechanisms.odds, self._plan.sites, groups.changes)
        base = np.where(groups.is_unknown, np.nan, base)
        kept = totals.kept * base + self._whole[:, KEPT] @ scores
        wrong = totals.wrong * base + self._whole[:, WRONG] @ scores
        # The errors of sampled sets: of shares, and of derivatives of ln(rate).
        of_groups = shares @ fractions
        of_shares, of_sensitivities = np.zeros((2, len(base)))
        for sample in self._samples:
            members = sample.incidence(self._plan.num_mechanisms)
            parts = sample.probabilities / [totals.kept, totals.wrong]
            in_wrong, in_kept = parts[:, WRONG], parts[:, KEPT]
            divided = sparse.diags_array(in_wrong / sample.join.sizes) @ (members @ fractions)
            of_shares += sample.variance(sparse.csr_array(divided), in_wrong[:, None], -of_groups[None, :])
            scored = sparse.diags_array(in_wrong - in_kept) @ (members @ scores)
            factors = np.stack([in_wrong - in_kept, in_wrong, in_kept], axis=1)
            constants = np.stack([base, -wrong / totals.wrong, kept / totals.kept])
            of_sensitivities += sample.variance(sparse.csr_array(scored), factors, constants)
        share_errors, errors = np.sqrt(np.maximum([of_shares, of_sensitivities], 0))
        lost = 1 - totals.kept if 1 - totals.kept > ROUNDING else math.inf  # less is none
        discarded = (self._all_shares() - of_kept) @ fractions / lost
        kept_anyway, wrong_anyway = self._without_faults[[KEPT, WRONG]].tolist()
        nothing = mechanisms.nothing - kept_anyway
        without_faults = []
        if wrong_anyway or nothing > ROUNDING:
            parts_of_none = wrong_anyway / totals.wrong, 0.0, nothing / lost
            without_faults.append(BudgetShare(NO_FAULT, *parts_of_none, 0.0, 0.0, 0.0, 0.0))
        sensitivities = wrong / totals.wrong - kept / totals.kept
        low, high = totals.interval
        return groups.budget(
            self._compiled.circuit,
            totals.kept,
            totals.wrong,
            totals.standard_error * totals.kept,
            (low * totals.kept, high * totals.kept),
            shares,
            (share_errors, discarded, kept, wrong, sensitivities, errors),
            without_faults,
        )

    def _all_shares(self) -> Floats:
        """For each mechanism the sum over all sets with it, kept or not, of P(X) / |X|."""
        # The mean of 1 / (1 + N), with N the number of others that act, is the integral over t from 0 to 1 of
        # the mean of t^N: a product over the mechanisms.
        odds, members = self._known.searches[0].mechanisms.odds, site_matrix(self._plan.sites)
        of_sites = members @ odds
        nodes, weights = np.polynomial.legendre.leggauss(_QUADRATURE_NODES)
        t, weights = (nodes + 1) / 2, weights / 2
        factors = (1 + of_sites * t[:, None]) / (1 + of_sites)
        products = np.exp(np.log(factors).sum(axis=1))
        return np.asarray(odds * (members.T @ ((weights * products @ (1 / factors)) / (1 + of_sites))))
