"""Sums over fault sets that can be done by hand, and limits. Nothing is sampled."""

from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.rates.estimation.limits import Settings
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.plan import SamplingPlan

from ....support.laws.exact import mask
from ....support.oracle.random_circuits import ALL_FAMILIES, Family, random_circuit
from ....support.rates.fault_set_cases import rate_of_anything, search_of

MAX_MECHANISMS = 14

MIXTURES: list[Collection[Family]] = [
    ALL_FAMILIES,
    ALL_FAMILIES - {Family.CLIFFORD, Family.PAULI_PHASE, Family.ANNOTATIONS},
    {
        Family.T,
        Family.CLIFFORD,
        Family.MEASUREMENTS,
        Family.MEASUREMENT_NOISE,
        Family.FEEDBACK,
        Family.NOISE,
        Family.EXOTIC_NOISE,
        Family.DETECTORS,
        Family.OBSERVABLES,
    },
]


Mask = npt.NDArray[np.bool_]


def example(seed: int, k: int) -> tuple[stim.Circuit, Mask, Mask]:
    """Circuit k of a seed with masks, drawn again until it has few mechanisms and something to flip."""
    rng = np.random.default_rng([seed, k])
    while True:
        circuit = random_circuit(
            rng,
            num_qubits=1 + int(rng.integers(4)),
            num_operations=int(rng.integers(8, 30)),
            instructions=MIXTURES[k % len(MIXTURES)],
        )
        detectors = rng.random(circuit.num_detectors) < 0.8
        observables = rng.random(circuit.num_observables) < 0.2
        plan = plan_of(circuit, detectors, observables)
        small = 0 < plan.num_mechanisms <= MAX_MECHANISMS and len(plan.coins) <= 10
        if circuit.num_observables and small and not plan.never_kept:
            return circuit, detectors, observables


def plan_of(circuit: stim.Circuit, detectors: Mask, observables: Mask) -> SamplingPlan:
    num_outputs = circuit.num_detectors + circuit.num_observables
    postselected = np.flatnonzero(np.concatenate([detectors, observables])).tolist()
    requested = RequestedOutputs.of(range(circuit.num_detectors, num_outputs), postselected)
    return snc.Circuit(circuit).compile().detector_plan(requested)


def test_coins_on_checks() -> None:
    """A coin that flips two checks: both agree in half of the shots, and a fault that flips one of them."""
    circuit = snc.Circuit(
        """
        H 0
        M 0
        X_ERROR(0.125) 1
        M 1
        DETECTOR rec[-2]
        DETECTOR rec[-1] rec[-2]
        OBSERVABLE_INCLUDE(0) rec[-1]
        """
    )
    found = circuit.logical_error_rate(postselection_mask="all")
    assert found.kept == pytest.approx(0.5 * 0.875, abs=1e-15)
    assert found.kept_and_wrong == 0


def test_certain_and_likely_noise() -> None:
    """Probabilities of 1, above 1/2, and exactly 1/2."""
    circuit = snc.Circuit(
        """
        X_ERROR(1) 0
        X_ERROR(0.75) 1
        X_ERROR(0.5) 2
        X_ERROR(0.25) 3
        M 0 1 2 3
        DETECTOR rec[-1]
        OBSERVABLE_INCLUDE(0) rec[-4]
        OBSERVABLE_INCLUDE(1) rec[-3]
        OBSERVABLE_INCLUDE(2) rec[-2]
        """
    )
    found = circuit.logical_error_rate(postselection_mask="all")
    assert found.kept == pytest.approx(0.75)
    assert found.logical_error_rate == pytest.approx(1)
    assert found.observable_rates == pytest.approx([1, 0.75, 0.5])
    assert mask([0, 1, 2]) in found.error_patterns


def test_sets_are_smaller_where_mechanisms_exclude_each_other() -> None:
    """Four mechanisms at two places, of which two can act at most."""
    circuit = snc.Circuit("RX 1\nCX 1 0 1 2\nPAULI_CHANNEL_1(0.1, 0.2, 0) 0 2\nMPP X0*X1*X2\nMZZ 0 1 1 2")
    circuit += snc.Circuit("DETECTOR rec[-1]\nDETECTOR rec[-3]\nOBSERVABLE_INCLUDE(0) rec[-2]")
    plan = plan_of(circuit.to_stim(), np.ones(2, dtype=np.bool_), np.zeros(1, dtype=np.bool_))
    assert (plan.sites >= 0).sum() == 4
    assert len(search_of(plan, Settings(seed=1)).bounds) == 3
    found = circuit.logical_error_rate(postselection_mask="all", seed=1)
    # D0 sees X2 and Y2; D1 sees Y0 and Y2. So X0 alone is kept and wrong.
    assert found.kept == pytest.approx((1 - 0.1 - 0.2) * (1 - 0.2))
    assert found.kept_and_wrong == pytest.approx(0.1 * (1 - 0.1 - 0.2))


def test_many_coins() -> None:
    """Each of 2^15 tosses has outputs of its own."""
    circuit = snc.Circuit("H " + " ".join(map(str, range(15))) + "\nM " + " ".join(map(str, range(15))))
    for k in range(15):
        circuit.append("OBSERVABLE_INCLUDE", [stim.target_rec(-1 - k)], k)
    found = rate_of_anything(circuit)
    assert found.kept_and_wrong == 1 - 2.0**-15
    assert set(found.error_patterns.values()) == {2.0**-15}
