"""Outputs that depend on quantum outcomes: what the outcomes flip, drawn from the exact outcome law.

With T gates, detectors and observables follow from the fault set and from the outcomes of quantum
measurements. A state has a fault set and a random number then. The signature of the fault set and this
number fix the outcomes, with the probabilities of the outcome law (``simulation.plan``). So a number is as
good as one more, uniform, mechanism: when a fault is taken out of a set, the number stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ....base.arrays import Bools, Bytes, Floats, Words, bits_of_words
from ....simulation.compiler.algebra.gf2 import mask_of, ones
from ....simulation.compiler.program.channels import independent_errors
from ....simulation.engines import CpuEngine
from ....simulation.plan import SamplingPlan, choices_of_sites
from .mechanisms import Outcomes, Symptom, Symptoms, symptoms_of_flips
from .sites import Site, with_sites

_MOST_SUMMED = 10
"""Quantum outcomes of a shot that are summed over, at most. Doubled, one sum may take a minute."""


class PlanOutcomes(Outcomes):
    """The outcome law of a plan of all detectors and observables, which must not postselect."""

    def __init__(self, plan: SamplingPlan) -> None:
        self._plan = plan
        self._engine = CpuEngine(plan)
        self._laws: dict[bytes, tuple[Floats, Bytes]] = {}  # bit-packed
        self.num_signature_bits = plan.num_signature_bits
        self.can_be_summed = plan.num_outcomes <= _MOST_SUMMED

    @property
    def dependent(self) -> Bools:
        """The outputs that an outcome flips."""
        plan = self._plan
        found = np.zeros(plan.num_outputs, dtype=np.bool_)
        bits = plan.outcome_effects.bits - plan.num_signs - plan.num_outcome_checks
        found[bits[bits >= 0]] = True
        return found

    def flips(self, signatures: Words, numbers: Words) -> Words:
        """The outputs that outcomes flip: detectors, then observables."""
        words = -(-self.num_signature_bits // 64)
        return self._engine.outcomes(signatures[:, :words], numbers, 0)

    def law(self, signature: Words) -> tuple[Floats, Bools]:
        """All outcomes of a signature, with their probabilities."""
        name = signature.tobytes()
        if name not in self._laws:
            if len(self._laws) >= 1 << 14:
                self._laws.clear()
            found = self._engine.outcome_law(bits_of_words(signature, self.num_signature_bits))
            shares, flips = (np.array([each[part] for each in found]) for part in (0, 2))
            self._laws[name] = shares, np.packbits(flips, axis=1)
        shares, packed = self._laws[name]
        return shares, np.unpackbits(packed, axis=1, count=self._plan.num_outputs).astype(np.bool_)


def symptoms_of_plan(plan: SamplingPlan, num_detectors: int, outcomes: PlanOutcomes | None) -> Symptoms:
    r"""The errors and the coins of a plan of all detectors and observables that does not postselect.

    A symptom also has the signature bits that are flipped. ``outcomes`` are those of the plan; None: they
    flip nothing. Errors that exclude each other are ``sites``.

    Examples:
        >>> import stim_nonclifford as snc
        >>> from stim_nonclifford.simulation.compiler import RequestedOutputs
        >>> circuit = snc.Circuit("RX 0\nT 0\nX_ERROR(0.1) 0\nT_DAG 0\nMX 0\nDETECTOR rec[-1]")
        >>> plan = circuit.compile().detector_plan(RequestedOutputs.of([0]))
        >>> symptoms = symptoms_of_plan(plan, 1, PlanOutcomes(plan))
        >>> {symptom: round(p, 6) for symptom, p in symptoms.probabilities.items()}
        {((), (), (0,)): 0.1}
    """
    return symptoms_by_rows(
        plan,
        num_detectors,
        plan.num_outputs - num_detectors,
        lambda bits: symptom_of_row(plan, bits, num_detectors),
        outcomes,
    )


def symptoms_by_rows(
    plan: SamplingPlan,
    num_detectors: int,
    num_observables: int,
    symptom: Callable[[list[int]], Symptom],
    outcomes: Outcomes | None,
) -> Symptoms:
    """The errors and the coins of a plan, with the symptoms that the bits of their rows stand for.

    A site with the distribution of independent errors becomes these; other sites stay errors of their own.
    """
    errors = [
        (frozenset(plan.effects.row(k).tolist()), -0.5 * math.expm1(-2 * plan.rates[k]))
        for k in np.flatnonzero(plan.sites < 0).tolist()
    ]
    sites = []
    for choices, total in choices_of_sites(plan):
        happens = -math.expm1(-total)
        rows = [plan.effects.row(k).tolist() for k in choices]
        patterns = [
            (mask_of(row), happens * plan.rates[k] / total) for k, row in zip(choices, rows, strict=True)
        ]
        independent = independent_errors(patterns)
        if independent is None:
            sites.append(Site([symptom(row) for row in rows], plan.rates[choices] / total, happens))
        else:
            errors += [(frozenset(ones(mask)), probability) for mask, probability in independent.items()]
    errors += [(frozenset(plan.coins.row(k).tolist()), 0.5) for k in range(len(plan.coins))]
    found = symptoms_of_flips(
        errors,
        symptom,
        frozenset(plan.constant.tolist()),
        num_detectors=num_detectors,
        num_observables=num_observables,
        outcomes=outcomes,
    )
    return with_sites(found, sites)


def symptom_of_row(plan: SamplingPlan, bits: Sequence[int], num_detectors: int) -> Symptom:
    """The symptom of a row of a plan, detectors first among its outputs: with signature bits."""
    first = plan.num_signature_bits
    outputs = sorted(k - first for k in bits if k >= first)
    detectors = tuple(k for k in outputs if k < num_detectors)
    observables = tuple(k - num_detectors for k in outputs if k >= num_detectors)
    return detectors, observables, tuple(sorted(k for k in bits if k < first))
