"""Error budgets: what part of a logical error rate comes from which noise.

**Shares.** A fault set X contributes P(X) f(X) to P(kept and wrong), where f is the probability that a shot
with it is kept and wrong. The contribution is divided equally among the members of X. The part of a mechanism
is divided among the places of the circuit that cause it in proportion to their rates, as each of its events
comes from a place with that probability. All shares, with that of the empty set, add up to 1. (Noise that
is more likely to do something than nothing is taken as part of the circuit; its fault is not to do it.)

**Derivatives.** The strength s of a group multiplies the probabilities of its noise; s is 1. With q_i the
probability that mechanism i acts, P(X) is the product of q_i over the members of X and of 1 - q_i over the
others, so that

    d ln P(X) / d ln s = sum over i in X of q_i' / q_i - sum over the others of q_i' / (1 - q_i)

with q_i' = dq_i / d ln s = (1 - 2 q_i) dλ_i / d ln s (``noise_sources``). Of a site, p_none takes the place
of 1 - q_i. The derivative of P(kept and wrong) is the sum over X of P(X) f(X) times this, no approximation;
that of P(kept) likewise. That of ln(logical error rate) is the difference of both over their probabilities:
in leading order, of all noise together, the fault distance.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ....simulation.compiler import CompiledCircuit
from ....simulation.plan import SamplingPlan
from ...estimation.interval import COVERAGE
from ...results.error_budget import BudgetShare, ErrorBudget, Grouping
from ..search.estimate import CircuitTotals, Estimate
from ..search.outcomes import KEPT, WRONG, Floats
from .grouping import groups_of, name_of_grouping
from .layout import places_of_qubits
from .member_sums import MemberSums, member_sums
from .noise_sources import NoiseSources, noise_sources

__all__ = ["NO_FAULT", "BudgetBasis"]

NO_FAULT = "no fault"
"""The group of the empty fault set, where a shot can be wrong, or discarded, without any noise."""

_QUADRATURE_NODES = 64
_ROUNDING = 1e-12


@dataclass(frozen=True)
class BudgetBasis:
    """What an error budget is computed from. It keeps the keys that were found.

    Attributes:
        known: The estimate.
        circuit: Which of its circuits.
        compiled: That circuit.
        plan: Its plan.
    """

    known: Estimate
    circuit: int
    compiled: CompiledCircuit
    plan: SamplingPlan

    @cached_property
    def totals(self) -> CircuitTotals:
        """The estimate."""
        return self.known.totals(self.circuit)

    @cached_property
    def sums(self) -> MemberSums:
        """Sums for each mechanism."""
        return member_sums(self.known, self.circuit)

    @cached_property
    def sources(self) -> NoiseSources:
        """The places of the circuit's noise."""
        return noise_sources(self.compiled, self.plan)

    def budget(self, by: Grouping) -> ErrorBudget:
        """The budget for groups of places.

        Args:
            by: What makes a group.
        """
        totals = self.totals
        if not totals.wrong:
            raise ValueError("No malignant set was found: there is no logical error rate to divide.")
        labels, membership = groups_of(self.sources.places, by)
        fractions = self._of_mechanisms(self.sources.fractions) @ membership
        shares = self._shares(WRONG, fractions) / totals.wrong
        discarded = self._all_shares() @ fractions - self._shares(KEPT, fractions)
        scores, base = self._scores(membership)
        by_mechanism = self.sums.by_weight.sum(axis=0).T
        kept = totals.kept * base + by_mechanism[KEPT] @ scores
        wrong = totals.wrong * base + by_mechanism[WRONG] @ scores
        share_errors, sensitivity_errors = self._errors(fractions, shares, scores, base, kept, wrong)
        lost = 1 - totals.kept if 1 - totals.kept > _ROUNDING else math.inf
        groups = [
            BudgetShare(
                group=label,
                share=float(shares[g]),
                share_error=float(share_errors[g]),
                discarded=float(discarded[g] / lost),
                kept_derivative=float(kept[g]),
                kept_and_wrong_derivative=float(wrong[g]),
                sensitivity=float(wrong[g] / totals.wrong - kept[g] / totals.kept),
                sensitivity_error=float(sensitivity_errors[g]),
            )
            for g, label in enumerate(labels)
        ]
        kept_without, wrong_without = self.sums.without_faults
        nothing = self.known.probability_of_nothing(self.circuit) - kept_without
        if wrong_without or nothing > _ROUNDING:
            share = wrong_without / totals.wrong
            groups.append(BudgetShare(NO_FAULT, share, 0.0, nothing / lost, 0.0, 0.0, 0.0, 0.0))
        low, high = self.known.interval(self.circuit, COVERAGE)
        return ErrorBudget(
            by=by if isinstance(by, str) else name_of_grouping(by),
            kept=totals.kept,
            kept_and_wrong=totals.wrong,
            groups=tuple(groups),
            standard_error=totals.standard_error * totals.kept,
            interval=(low * totals.kept, high * totals.kept),
            qubit_shares=self._shares_of_qubits(labels, membership),
            qubit_places=places_of_qubits(self.compiled.circuit),
        )

    def _shares_of_qubits(
        self, labels: list[Hashable], membership: sparse.csr_array
    ) -> dict[Hashable, dict[int, float]]:
        """For each group, the parts of its share that come from noise on each qubit."""
        of_places = self._of_mechanisms(self.sources.fractions)
        shares = self._shares(WRONG, of_places) / self.totals.wrong
        found: dict[Hashable, dict[int, float]] = {label: {} for label in labels}
        entries = membership.tocoo()
        for place, group, part in zip(entries.row, entries.col, entries.data, strict=True):
            targets = self.sources.places[place].targets
            own = found[labels[group]]
            # By qubit, a group has its own part of a place alone.
            where = [labels[group]] if part < 1 else targets
            for qubit in where:
                if isinstance(qubit, int):
                    own[qubit] = own.get(qubit, 0.0) + float(shares[place] * part) / len(where)
        return found

    def _of_mechanisms(self, values: Floats) -> sparse.csr_array:
        """Values of the sources as a matrix, shape (num_mechanisms, num_places)."""
        sources = self.sources
        known = sources.mechanisms >= 0
        shape = (self.plan.num_mechanisms, len(sources.places))
        places = (sources.mechanisms[known], sources.of_places[known])
        return sparse.csr_array((values[known], places), shape=shape)

    def _shares(self, column: int, fractions: sparse.csr_array) -> Floats:
        """Contributions of all kept, or kept and wrong, sets divided among their members."""
        weights = np.maximum(np.arange(len(self.sums.by_weight)), 1)
        return np.asarray((self.sums.by_weight[:, :, column] / weights[:, None]).sum(axis=0) @ fractions)

    def _all_shares(self) -> Floats:
        """For each mechanism the sum over all sets with it, kept or not, of P(X) / |X|.

        The mean of 1 / (1 + N), with N the number of others that act, is the integral over t from 0 to 1 of
        the mean of t^N: a product over the mechanisms.
        """
        odds, sites = self.known.odds[self.circuit], self.plan.sites
        # Mechanisms that stand alone are sites of their own.
        site = np.where(sites >= 0, sites, sites.max(initial=-1) + 1 + np.arange(len(odds)))
        _, site = np.unique(site, return_inverse=True)
        of_sites = np.bincount(site, odds)
        nodes, weights = np.polynomial.legendre.leggauss(_QUADRATURE_NODES)
        t, weights = (nodes + 1) / 2, weights / 2
        factors = (1 + of_sites * t[:, None]) / (1 + of_sites)
        products = np.exp(np.log(factors).sum(axis=1))
        return np.asarray(odds / (1 + of_sites[site]) * (weights * products @ (1 / factors))[site])

    def _scores(self, membership: sparse.csr_array) -> tuple[sparse.csr_array, Floats]:
        """Terms of d ln P(X) / d ln s: what each member of X adds, and what there is without any member.

        Shapes (num_mechanisms, num_groups) and (num_groups,).
        """
        odds, sites = self.known.odds[self.circuit], self.plan.sites
        changes = sparse.csr_array(self._of_mechanisms(self.sources.derivatives) @ membership)
        free = sites < 0
        # q' / q + q' / (1 - q) and q' / (1 - q), with q = odds / (1 + odds).
        scores = sparse.diags_array(np.where(free, (1 - odds**2) / odds, 0.0)) @ changes
        base = -np.asarray(np.where(free, 1 - odds, 0.0) @ changes)
        for site in np.unique(sites[~free]):
            choices = np.flatnonzero(sites == site)
            nothing = 1 / (1 + odds[choices].sum())
            leaves = np.asarray(changes[choices].sum(axis=0)) / nothing
            base -= leaves
            place = np.zeros(len(odds))
            place[choices] = 1
            scores += sparse.diags_array(place / (odds * nothing)) @ changes
            scores += sparse.csr_array(place[:, None]) @ sparse.csr_array(leaves[None, :])
        base = base + np.where(self._is_unknown @ membership > 0, np.nan, 0.0)
        return sparse.csr_array(scores), base

    @cached_property
    def _is_unknown(self) -> Floats:
        """1 for places that also have a direction in which there is no mechanism."""
        sources = self.sources
        unknown = (sources.mechanisms < 0) & np.isnan(sources.derivatives)
        return (np.bincount(sources.of_places[unknown], minlength=len(sources.places)) > 0).astype(float)

    def _errors(
        self,
        fractions: sparse.csr_array,
        shares: Floats,
        scores: sparse.csr_array,
        base: Floats,
        kept: Floats,
        wrong: Floats,
    ) -> tuple[Floats, Floats]:
        """Standard errors of the shares and of the derivatives of ln(rate)."""
        totals = self.totals
        of_shares, of_sensitivities = np.zeros(len(base)), np.zeros(len(base))
        for sample in self.sums.samples:
            members = sample.incidence(self.plan.num_mechanisms)
            parts = sample.probabilities / [totals.kept, totals.wrong]
            of_wrong, of_kept = parts[:, WRONG], parts[:, KEPT]
            divided = sparse.diags_array(of_wrong / sample.sizes) @ (members @ fractions)
            of_shares += sample.variance(sparse.csr_array(divided), of_wrong[:, None], -shares[None, :])
            scored = sparse.diags_array(of_wrong - of_kept) @ (members @ scores)
            factors = np.stack([of_wrong - of_kept, of_wrong, of_kept], axis=1)
            constants = np.stack([base, -wrong / totals.wrong, kept / totals.kept])
            of_sensitivities += sample.variance(sparse.csr_array(scored), factors, constants)
        return np.sqrt(np.maximum(of_shares, 0)), np.sqrt(np.maximum(of_sensitivities, 0))
