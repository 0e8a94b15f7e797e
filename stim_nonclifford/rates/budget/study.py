"""A circuit with its failing fault sets: which faults its mechanisms are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...simulation.compiler import CompiledCircuit, RequestedOutputs
from ...simulation.faults import FaultTable
from ...simulation.plan import SamplingPlan
from ..decoded_rates.faults.mechanisms import FaultModel, symptom_without
from ..decoded_rates.faults.outcomes import symptom_of_row
from ..decoding.classifying import Classifier
from ..estimation.failing_sets import FailingSets

__all__ = ["FailureStudy"]

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class FailureStudy:
    """A circuit with a decoder, and a sample of its failing fault sets.

    Attributes:
        sets_of: Returns failing fault sets.
        model: The mechanisms.
        classifier: The decoder.
        table_of: Returns the faults of the circuit.
    """

    sets_of: Callable[[], FailingSets]
    model: FaultModel
    classifier: Classifier
    table_of: Callable[[], FaultTable]

    @cached_property
    def sets(self) -> FailingSets:
        """Failing fault sets."""
        return self.sets_of()

    @cached_property
    def table(self) -> FaultTable:
        """The faults of the circuit."""
        return self.table_of()

    @property
    def compiled(self) -> CompiledCircuit:
        """The circuit, compiled."""
        return self.table.compiled

    @cached_property
    def plan(self) -> SamplingPlan:
        """A plan of the circuit for all detectors and observables."""
        outputs = range(self.model.num_detectors + self.model.num_observables)
        plan = self.compiled.detector_plan(RequestedOutputs.of(outputs))
        sites = plan.sites[plan.sites >= 0]
        if len(np.unique(sites)) < len(sites):
            raise ValueError(
                "Some errors of the circuit exclude each other. The places that failing fault sets come from"
                " are not known then."
            )
        return plan

    @cached_property
    def mechanism_of(self) -> Indices:
        """For each mechanism of the plan, that of the model, or -1: those that look the same are one.

        Raises:
            AssertionError: They have not the same probabilities.
        """
        number = {symptom: k for k, symptom in enumerate(self.model.symptoms)}
        parts = 2 if self.model.outcomes is None else 3
        plan, found = self.plan, np.full(self.plan.num_mechanisms, -1, dtype=np.intp)
        for k in range(plan.num_mechanisms):
            symptom = symptom_of_row(plan, plan.effects.row(k), self.model.num_detectors)
            found[k] = number.get(symptom_without(symptom[:parts], self.model.ignored), -1)
        rates = np.bincount(found[found >= 0], self.plan.rates[found >= 0], minlength=len(number))
        probabilities = -0.5 * np.expm1(-2 * rates)
        expected = 1 / (1 + np.exp(-self.model.log_odds))
        is_coin = self.model.log_odds == 0
        if not np.allclose(probabilities[~is_coin], expected[~is_coin], rtol=1e-6, atol=0):
            raise AssertionError("the mechanisms of a plan are not those of the error model")
        return found
