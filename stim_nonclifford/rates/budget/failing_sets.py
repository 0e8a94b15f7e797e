"""What follows from a sample of the fault sets on which a decoder fails: an error budget, and minimal sets.

Let q_i be the probability that mechanism i acts, and m_i the part of the failing sets that have it. With the
decoder as it is, the rate P is a polynomial of the probabilities, and d ln P / d ln s is the mean over
failing sets X of d ln P(X) / d ln s (``groups``):

    d ln P / d ln s = sum over i of (m_i - q_i) / (q_i (1 - q_i)) q_i'

A failing shot has Σ m_i faults on average and any shot has Σ q_i. The difference are the faults that make the
shot fail, and m_i - q_i is the part of mechanism i in them: its share, up to a factor.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ...base.arrays import Bools, Indices, Words
from ...simulation.compiler import RequestedOutputs
from ...simulation.faults import FaultTable
from ...simulation.plan import SamplingPlan
from ..decoded_rates.faults.mechanisms import FaultModel, log_probability_of_none, symptom_without
from ..decoded_rates.faults.outcomes import symptom_of_row
from ..decoding.classifying import Classifier
from ..estimation.tally import FailingSets
from ..results import DecodedFailure
from ..results.error_budget import ErrorBudget, Grouping
from .groups import NoiseGroups, derivative_terms
from .noise_sources import noise_sources

_MOST_SETS = 2048
"""Failing sets that are reduced to minimal ones. Doubled, shares of failures have errors smaller by 1.4."""


@dataclass(frozen=True)
class FailureStudy:
    """A circuit with a decoder, and a sample of its failing fault sets."""

    sets: FailingSets
    model: FaultModel
    classifier: Classifier  # whether the decoder fails
    table: FaultTable  # the faults of the circuit

    @cached_property
    def _plan(self) -> SamplingPlan:
        """A plan of the circuit for all detectors and observables."""
        outputs = range(self.model.num_detectors + self.model.num_observables)
        plan = self.table.compiled.detector_plan(RequestedOutputs.of(outputs))
        sites = plan.sites[plan.sites >= 0]
        if len(np.unique(sites)) < len(sites):
            raise ValueError(
                "Some errors of the circuit exclude each other, and failing fault sets do not say which one"
                " happened. For a budget, compare circuits with and without parts of their noise:"
                ' circuit.error_budget("instruction", decoder="pymatching").'
            )
        return plan

    @cached_property
    def _mechanism_of(self) -> Indices:
        """For each mechanism of the plan, that of the model, or -1: those that look the same are one."""
        number = {symptom: k for k, symptom in enumerate(self.model.probabilities)}
        parts = 2 if self.model.outcomes is None else 3
        plan, found = self._plan, np.full(self._plan.num_mechanisms, -1, dtype=np.intp)
        for k in range(plan.num_mechanisms):
            symptom = symptom_of_row(plan, plan.effects.row(k).tolist(), self.model.num_detectors)
            found[k] = number.get(symptom_without(symptom[:parts], self.model.ignored), -1)
        rates = np.bincount(found[found >= 0], plan.rates[found >= 0], minlength=len(number))
        probabilities = -0.5 * np.expm1(-2 * rates)
        expected = 1 / (1 + np.exp(-self.model.log_odds))
        is_coin = self.model.log_odds == 0
        if not np.allclose(probabilities[~is_coin], expected[~is_coin], rtol=1e-6, atol=0):
            raise AssertionError("the mechanisms of a plan are not those of the error model")
        return found

    def budget(
        self, by: Grouping, rate: float, standard_error: float, interval: tuple[float, float]
    ) -> ErrorBudget:
        """The budget of a rate for groups of places."""
        compiled, sets = self.table.compiled, self.sets
        groups = NoiseGroups(noise_sources(compiled, self._plan), by)
        count = len(groups.labels)
        # Mechanisms of the plan that look the same are one of the model.
        known = np.flatnonzero(self._mechanism_of >= 0)
        rows, rates = self._mechanism_of[known], self._plan.rates[known]
        shape = (self.model.num_mechanisms, self._plan.num_mechanisms)
        total = np.bincount(rows, rates, minlength=shape[0])
        parts_of = sparse.csr_array((rates / total[rows], (rows, known)), shape=shape)
        fractions = sparse.csr_array(parts_of @ groups.fractions)
        changes = sparse.csr_array((np.ones(len(rows)), (rows, known)), shape=shape) @ groups.changes
        odds = np.exp(self.model.log_odds)
        scores, base = derivative_terms(odds, np.full(shape[0], -1), sparse.csr_array(changes))
        q = odds / (1 + odds)
        row, place = np.nonzero(sets.members >= 0)
        entries = np.ones(len(row)), (row, sets.members[row, place])
        members = sparse.csr_array(entries, shape=(len(sets), shape[0]))
        parts = sparse.hstack([members @ fractions, members @ scores]).toarray()
        parts += np.concatenate([-q @ fractions, base])
        found, errors = sets.means(parts)
        sensitivities = np.where(groups.is_unknown, np.nan, found[count:])
        excess = float(found[:count].sum())
        # Residuals of each set's shares, with the total of all groups projected out.
        deviations = parts[:, :count] - found[:count] / excess * parts[:, :count].sum(axis=1, keepdims=True)
        _, share_errors = sets.means(deviations / excess)
        shares = (sets.weights @ members / sets.weights.sum() - q) @ parts_of / excess
        nothing = np.zeros(count)  # every shot is kept
        columns = (share_errors, nothing, nothing, sensitivities * rate, sensitivities, errors[count:])
        return groups.budget(compiled.circuit, 1.0, rate, standard_error, interval, shares, columns)

    def failures(self, count: int) -> list[DecodedFailure]:
        """The minimal sets that most failing sets come down to; of equal ones, the most probable first."""
        model, sets = self.model, self.sets.equally_likely(_MOST_SETS)
        found_cores, members = cores_of(model, sets.members, sets.numbers, self.classifier.fails)
        cores = Counter(found_cores)
        none = log_probability_of_none(model.log_odds)
        log_probability = {core: none + float(model.log_odds[list(core)].sum()) for core in cores}
        ranked = sorted(cores, key=lambda core: (-cores[core], -log_probability[core], core))[:count]
        named = self.table.by_mechanism(self._plan)
        plan_mechanisms = {
            k: np.flatnonzero(self._mechanism_of == k).tolist() for core in ranked for k in core
        }
        examples = [found_cores.index(core) for core in ranked]
        shots = rows_of(model, members[examples], sets.numbers[examples])
        outputs, mistakes = model.outputs(shots), self.classifier.wrong(shots)
        found = []
        for core, flips, wrong in zip(ranked, outputs, mistakes, strict=True):
            seen, flipped = (np.flatnonzero(each).tolist() for each in np.split(flips, [model.num_detectors]))
            causing = [plan_mechanisms[k][0] for k in core]
            # The model ignores detectors that may fire.
            rows = [self._plan.constant, *(self._plan.effects.row(k) for k in causing)]
            symptoms = [symptom_of_row(self._plan, each.tolist(), model.num_detectors) for each in rows]
            events = Counter(k for detectors, *_ in symptoms for k in detectors)
            ignored = [k for k in model.ignored if events[k] % 2]
            found.append(
                DecodedFailure(
                    share=cores[core] / len(sets),
                    probability=math.exp(log_probability[core]),
                    detectors=tuple(sorted({*seen, *ignored})),
                    observables=tuple(flipped),
                    predicted=tuple(sorted({*flipped} ^ {*np.flatnonzero(wrong).tolist()})),
                    causes=tuple(
                        tuple(cause for mechanism in plan_mechanisms[k] for cause in named.causes(mechanism))
                        for k in core
                    ),
                    faults=named.faults(causing),
                )
            )
        return found


def cores_of(
    model: FaultModel, members: Indices, numbers: Words, fails: Callable[[Words], Bools]
) -> tuple[list[tuple[int, ...]], Indices]:
    """The failing sets without the members that can be left out, the least probable first; and what is left.

    A member that could not be left out is tried again after others are gone. Coins, which are no faults, stay
    as they are, and belong to no core.
    """
    odds = np.append(model.log_odds, np.inf)
    order = np.argsort(odds[members], axis=1, kind="stable")
    members = np.take_along_axis(members, order, axis=1)
    is_coin = np.append(model.log_odds == 0, False)
    changed = np.ones(len(members), dtype=np.bool_)
    while changed.any():
        active = np.flatnonzero(changed)
        changed[:] = False
        for place in range(members.shape[1]):
            tried = members[active, place]
            there = active[(tried >= 0) & ~is_coin[tried]]
            if not len(there):
                continue
            without = members[there].copy()
            without[:, place] = -1
            is_failing = fails(rows_of(model, without, numbers[there]))
            members[there[is_failing], place] = -1
            changed[there[is_failing]] = True
    cores = [tuple(sorted(int(k) for k in row if k >= 0 and not is_coin[k])) for row in members]
    return cores, members


def rows_of(model: FaultModel, members: Indices, numbers: Words) -> Words:
    """The rows of sets with these members, -1 for none, and numbers that fix their quantum outcomes."""
    nothing = np.zeros((1, model.flips.shape[1]), dtype=np.uint64)
    flips: Words = np.concatenate([model.flips, nothing])
    rows = np.asarray(np.bitwise_xor.reduce(flips[members], axis=1) ^ model.base)
    return model.with_outcomes(rows, numbers)
