"""Estimates of any question, and those in which little is enumerated, so that sampling is tested."""

from dataclasses import dataclass, replace

import stim_nonclifford as snc
from stim_nonclifford.base.masks import Mask, postselected_outputs
from stim_nonclifford.circuit.rates import planned
from stim_nonclifford.rates.estimation.limits import Settings
from stim_nonclifford.rates.fault_sets.interface import PlannedCircuit, estimate_rates
from stim_nonclifford.rates.fault_sets.malignant import MalignantSet, malignant_sets
from stim_nonclifford.rates.fault_sets.search.mechanisms import mechanisms_of
from stim_nonclifford.rates.fault_sets.search.search import Search
from stim_nonclifford.rates.results import LogicalErrorRate
from stim_nonclifford.simulation.faults import FaultTable
from stim_nonclifford.simulation.plan import SamplingPlan

SIGMAS = 5.0
"""A right estimate is farther away with a probability below 1e-6; seeds are fixed."""


@dataclass(frozen=True)
class FewExactWeights(Settings):
    """Settings under which only sets of up to two mechanisms are enumerated."""

    def may_enumerate(self, weight: int, steps: float, classes: float) -> bool:
        return weight <= 2


def rate_of_anything(
    circuit: snc.Circuit,
    detectors: Mask | None = "all",
    observables: Mask | None = None,
    *,
    settings: Settings | None = None,
) -> LogicalErrorRate:
    """What ``logical_error_rate`` computes, also where it would refuse to call the result an error rate."""
    outputs = postselected_outputs(detectors, observables, circuit.num_detectors, circuit.num_observables)
    asked = PlannedCircuit(circuit.compile(), outputs)
    return estimate_rates([asked], settings or Settings())[0]


def malignant_sets_of_anything(circuit: snc.Circuit, max_weight: int) -> list[MalignantSet]:
    """What ``malignant_sets`` finds with all detectors postselected, also where it would refuse the question.

    There is none if no shot is ever kept.
    """
    outputs = postselected_outputs("all", None, circuit.num_detectors, circuit.num_observables)
    plan = PlannedCircuit(circuit.compile(), outputs).plan()
    if plan.never_kept:
        return []
    named = FaultTable(circuit.to_stim(), circuit.compile()).by_mechanism(plan)
    return malignant_sets(plan, named, max_weight, Settings())


def estimate(circuit: snc.Circuit, settings: Settings, seed: int) -> LogicalErrorRate:
    """An estimate with all detectors postselected."""
    return estimate_rates([planned(circuit, "all", None)], replace(settings, seed=seed))[0]


def search_of(plan: SamplingPlan, settings: Settings) -> Search:
    """A search for the fault sets of a plan, before anything was enumerated."""
    return Search(plan, mechanisms_of(plan), settings)


def enumerate_to(search: Search, last: int) -> None:
    """Enumerates all weights up to one, as long as the settings allow."""
    for weight in range(min(last, search.max_weight) + 1):
        assert search.enumerate(weight, search.settings.most_steps)


def covers(found: LogicalErrorRate, rate: float) -> bool:
    """Whether the interval has the true value."""
    low, high = found.interval
    return low <= rate <= high


def assert_sampled_weights_equal_exact_ones(circuit: snc.Circuit, seed: int) -> None:
    """Compares weights that are drawn or joined, at least two, with all their sets."""
    exact = {
        share.least_faults: share
        for share in circuit.logical_error_rate(seed=0, postselection_mask="all").strata
    }
    sampled = estimate(circuit, FewExactWeights(0.03), seed)
    compared = 0
    for share in sampled.strata:
        if share.method == "join" and exact[share.least_faults].method == "enumerated":
            difference = share.kept_and_wrong - exact[share.least_faults].kept_and_wrong
            assert abs(difference) < SIGMAS * share.standard_error
            compared += 1
    assert compared >= 2
