"""Estimates in which little is enumerated, so that sampling is what is tested."""

from __future__ import annotations

from dataclasses import dataclass

import stim_nonclifford as snc
from stim_nonclifford.circuit.fault_set_methods import planned
from stim_nonclifford.fault_sets.interface import estimate_rates
from stim_nonclifford.fault_sets.limits import Limits


@dataclass(frozen=True)
class FewExactWeights(Limits):
    """Limits that end the enumeration early."""

    @property
    def exact_steps(self) -> float:
        return 5e3


def estimate(circuit: snc.Circuit, limits: Limits, seed: int) -> snc.LogicalErrorRate:
    """An estimate with all detectors postselected."""
    return estimate_rates([planned(circuit, None, None)], limits, seed, 1, False)[0]


def covers(found: snc.LogicalErrorRate, rate: float) -> bool:
    """Whether the interval has the true value."""
    low, high = found.interval
    return low <= rate <= high
