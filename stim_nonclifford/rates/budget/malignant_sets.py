"""Error budgets from sums over malignant fault sets.

**Shares.** A fault set X contributes P(X) f(X) to P(kept and wrong), where f is the probability that a shot
with it is kept and wrong. The contribution is divided equally among the members of X, and the part of each
member among groups of noise (``groups``). All shares, with that of the empty set, add up to 1. (Noise that
is more likely to do something than nothing is taken as part of the circuit; its fault is not to do it.)

**Derivatives.** That of P(kept and wrong) is the sum over X of P(X) f(X) d ln P(X) / d ln s (``groups``), no
approximation; that of P(kept) likewise. That of ln(logical error rate) is the difference of both over their
probabilities: in leading order, of all noise together, the fault distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ...simulation.compiler import CompiledCircuit
from ...simulation.plan import SamplingPlan
from ..estimation.interval import COVERAGE
from ..fault_sets.search.estimate import Estimate, Totals
from ..fault_sets.search.outcomes import KEPT, WRONG, Floats
from ..results.error_budget import BudgetShare, ErrorBudget, Grouping
from .groups import NoiseGroups, derivative_terms, site_matrix
from .member_sums import MemberSums, member_sums
from .noise_sources import NoiseSources, noise_sources

__all__ = ["NO_FAULT", "BudgetBasis"]

NO_FAULT = "no fault"
"""The group of the empty fault set, where a shot can be wrong, or discarded, without any noise."""

_QUADRATURE_NODES = 64
_ROUNDING = 1e-12


@dataclass(frozen=True)
class BudgetBasis:
    """An estimate with what its error budget is computed from. It keeps the outcome classes that were found.

    Attributes:
        known: The estimate.
        compiled: The circuit.
        plan: Its plan.
    """

    known: Estimate
    compiled: CompiledCircuit
    plan: SamplingPlan

    @cached_property
    def totals(self) -> Totals:
        """The estimate."""
        return self.known.totals

    @cached_property
    def sums(self) -> MemberSums:
        """Sums for each mechanism."""
        return member_sums(self.known)

    @cached_property
    def sources(self) -> NoiseSources:
        """The places of the circuit's noise."""
        return noise_sources(self.compiled, self.plan)

    def budget(self, by: Grouping) -> ErrorBudget:
        """The budget for groups of places."""
        totals = self.totals
        if not totals.wrong:
            raise ValueError("No malignant set was found: there is no logical error rate to divide.")
        groups = NoiseGroups(self.sources, by)
        sizes = np.maximum(np.arange(len(self.sums.by_weight)), 1)
        of_kept, of_wrong = (self.sums.by_weight / sizes[:, None, None]).sum(axis=0).T[[KEPT, WRONG]]
        shares = of_wrong / totals.wrong
        scores, base = derivative_terms(self._odds, self.plan.sites, groups.changes)
        base = np.where(groups.is_unknown, np.nan, base)
        by_mechanism = self.sums.by_weight.sum(axis=0).T
        kept = totals.kept * base + by_mechanism[KEPT] @ scores
        wrong = totals.wrong * base + by_mechanism[WRONG] @ scores
        share_errors, errors = self._errors(groups.fractions, shares, scores, base, kept, wrong)
        lost = 1 - totals.kept if 1 - totals.kept > _ROUNDING else math.inf
        discarded = (self._all_shares() - of_kept) @ groups.fractions / lost
        sensitivities = wrong / totals.wrong - kept / totals.kept
        low, high = totals.interval(COVERAGE)
        return groups.budget(
            self.compiled.circuit,
            totals.kept,
            totals.wrong,
            totals.standard_error * totals.kept,
            (low * totals.kept, high * totals.kept),
            shares,
            (share_errors, discarded, kept, wrong, sensitivities, errors),
            self._without_faults(lost),
        )

    @property
    def _odds(self) -> Floats:
        return self.known.mechanisms.odds

    def _without_faults(self, lost: float) -> list[BudgetShare]:
        """The group of the empty set, if it contributes."""
        kept, wrong = self.sums.without_faults
        nothing = self.known.mechanisms.nothing - kept
        if not wrong and nothing <= _ROUNDING:
            return []
        return [BudgetShare(NO_FAULT, wrong / self.totals.wrong, 0.0, nothing / lost, 0.0, 0.0, 0.0, 0.0)]

    def _all_shares(self) -> Floats:
        """For each mechanism the sum over all sets with it, kept or not, of P(X) / |X|.

        The mean of 1 / (1 + N), with N the number of others that act, is the integral over t from 0 to 1 of
        the mean of t^N: a product over the mechanisms.
        """
        odds, members = self._odds, site_matrix(self.plan.sites)
        of_sites = members @ odds
        nodes, weights = np.polynomial.legendre.leggauss(_QUADRATURE_NODES)
        t, weights = (nodes + 1) / 2, weights / 2
        factors = (1 + of_sites * t[:, None]) / (1 + of_sites)
        products = np.exp(np.log(factors).sum(axis=1))
        return np.asarray(odds * (members.T @ ((weights * products @ (1 / factors)) / (1 + of_sites))))

    def _errors(
        self,
        fractions: sparse.csr_array,
        shares: Floats,
        scores: sparse.csr_array,
        base: Floats,
        kept: Floats,
        wrong: Floats,
    ) -> tuple[Floats, Floats]:
        """Standard errors of the groups' shares and of the derivatives of ln(rate)."""
        totals = self.totals
        of_groups = shares @ fractions
        of_shares, of_sensitivities = np.zeros(len(base)), np.zeros(len(base))
        for sample in self.sums.samples:
            members = sample.incidence(self.plan.num_mechanisms)
            parts = sample.probabilities / [totals.kept, totals.wrong]
            of_wrong, of_kept = parts[:, WRONG], parts[:, KEPT]
            divided = sparse.diags_array(of_wrong / sample.sizes) @ (members @ fractions)
            of_shares += sample.variance(sparse.csr_array(divided), of_wrong[:, None], -of_groups[None, :])
            scored = sparse.diags_array(of_wrong - of_kept) @ (members @ scores)
            factors = np.stack([of_wrong - of_kept, of_wrong, of_kept], axis=1)
            constants = np.stack([base, -wrong / totals.wrong, kept / totals.kept])
            of_sensitivities += sample.variance(sparse.csr_array(scored), factors, constants)
        return np.sqrt(np.maximum(of_shares, 0)), np.sqrt(np.maximum(of_sensitivities, 0))
