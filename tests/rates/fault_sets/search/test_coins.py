"""Coins, of which only those that matter to a signature are tossed: laws, rates of factories, and limits."""

from functools import cache
from math import comb
from random import Random
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest

from stim_nonclifford import Circuit, _native
from stim_nonclifford.generators.distillation import distillation_circuit
from stim_nonclifford.rates.fault_sets.search.mechanisms import Mechanisms, mechanisms_of, native_search
from stim_nonclifford.rates.fault_sets.search.strata import OutcomeClasses
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.plan import SamplingPlan, plain_attributes

from ....support.rates.coin_circuits import random_coin_circuit

Protocol = Literal["15-to-1", "8T-to-CCZ"]
FactoryName = Literal["15-to-1", "8T-to-CCZ", "3k+8-to-k", "49-to-1"]
# The angles of the first coin always matter, those of the second one only where a fault is between them.
TWO_COINS = """
    RX 0 1 8 9
    M 8 9
    S[T] 0
    CZ[C_R_Z(theta=0.25*pi)] rec[-1] 0
    X_ERROR(0.02) 0
    CZ[C_R_Z(theta=-0.25*pi)] rec[-1] 0
    CZ[C_R_Z(theta=0.5*pi)] rec[-2] 1
    X_ERROR(0.02) 1
    CZ[C_R_Z(theta=-0.4*pi)] rec[-2] 1
    DEPOLARIZE2(0.03) 0 1
    CX 0 1
    DEPOLARIZE2(0.03) 0 1
    CZ[C_R_Z(theta=0.125*pi)] rec[-1] 1
    X_ERROR(0.02) 0 1
    CZ[C_R_Z(theta=-0.125*pi)] rec[-1] 1
    MX 0 1
    DETECTOR rec[-1]
    OBSERVABLE_INCLUDE(0) rec[-2]
"""


@cache
def of_circuit(text: str) -> tuple[SamplingPlan, Mechanisms]:
    compiled = Circuit(text).compile()
    detectors, observables = compiled.program.num_detectors, compiled.program.num_observables
    requested = RequestedOutputs.of(range(detectors, detectors + observables), range(detectors))
    plan = compiled.detector_plan(requested)
    return plan, mechanisms_of(plan)


def factory(protocol: Protocol, p: float = 1e-3) -> str:
    return str(distillation_circuit(protocol, t_error=p, p=p))


def average_over_all_tosses(
    plan: SamplingPlan, mechanisms: Mechanisms, key: npt.NDArray[np.uint64]
) -> tuple[float, float]:
    """P(kept) and P(kept and wrong) with a key, from the laws of all tosses of all coins."""
    keys = key[None, :].copy()
    for coin in mechanisms.coins:
        keys = np.concatenate([keys, keys ^ coin])
    words = -(-plan.num_signature_bits // 64)
    signatures = np.ascontiguousarray(keys[:, :words]).ravel()
    laws = _native.kept_branches(plain_attributes(plan), signatures, len(keys))
    outputs = laws["outputs"].reshape(-1, -(-plan.num_outputs // 64))
    outputs ^= np.repeat(keys[:, words:], np.diff(laws["starts"].astype(np.int64)), axis=0)
    probabilities = laws["probabilities"]
    return probabilities.sum() / len(keys), probabilities[outputs.any(axis=1)].sum() / len(keys)


def laws_of_random_sets(text: str) -> tuple[int, int, int]:
    """Compares the laws of the empty set and of random sets of one to four mechanisms with averages over all tosses.

    Returns:
        Numbers of keys, of their laws, and of their laws if all coins were tossed.
    """
    plan, mechanisms = of_circuit(text)
    study = native_search(plan, mechanisms, 1, 1 << 28)
    outcomes = OutcomeClasses(study, plan.num_outputs)
    random = np.random.default_rng(5)
    study.enumerate(0, 100, 100)
    outcomes.evaluate()
    expected = [average_over_all_tosses(plan, mechanisms, mechanisms.base)]
    distinct = {mechanisms.base.tobytes()}
    for weight in range(1, min(4, len(mechanisms.odds)) + 1):
        for _ in range(3):
            members = random.choice(len(mechanisms.odds), weight, replace=False)
            key = mechanisms.base.copy()
            for member in members:
                key ^= mechanisms.effects[member]
            (number,) = study.number_keys(members.astype(np.uint32), weight)
            distinct.add(key.tobytes())
            law = average_over_all_tosses(plan, mechanisms, key)
            if number == len(expected):
                expected.append(law)
            assert (number < len(expected)) == (law[0] > 1e-12)
    outcomes.evaluate()
    keys, laws = study.evaluated
    assert keys == len(distinct)
    np.testing.assert_allclose(np.array(expected), outcomes.probabilities, atol=1e-12)
    return keys, laws, keys << len(mechanisms.coins)


@pytest.mark.parametrize(
    "text", [factory("15-to-1"), factory("8T-to-CCZ"), TWO_COINS], ids=["15-to-1", "8T-to-CCZ", "two"]
)
def test_laws_are_averages_over_all_tosses(text: str) -> None:
    keys, laws, of_all_tosses = laws_of_random_sets(text)
    assert keys > 5
    assert laws < of_all_tosses


@pytest.mark.parametrize("count", [20, pytest.param(500, marks=pytest.mark.slow)])
def test_laws_of_random_circuits(count: int) -> None:
    """Seeds from 89 on. With that one, a rotation between two others keeps the coins from cancelling."""
    totals = np.zeros(3)
    for seed in range(89, 89 + count):
        text = random_coin_circuit(Random(seed))
        if 0 < len(of_circuit.__wrapped__(text)[1].coins) < 8:
            totals += laws_of_random_sets(text)
    assert totals[0] > count / 2
    assert totals[1] < 0.9 * totals[2]


def test_few_coins_of_a_factory_matter() -> None:
    """Without a fault, none of fifteen: what they reverse, a correction or a mirror turns back.

    The plan has three of the corrections as rotations of their own, behind measurements with which they commute.
    """
    plan, mechanisms = of_circuit(factory("15-to-1"))
    assert len(mechanisms.coins) == 15
    study = native_search(plan, mechanisms, 1, 1 << 28)
    study.enumerate(0, 100, 100)
    assert study.evaluated == (1, 1)
    study.enumerate(1, 1000, 1000)
    keys, laws = study.evaluated
    assert laws <= 2 * keys


def test_a_factory_as_counted() -> None:
    """10^7 shots; at most 5.5 standard errors, so that a right estimate fails less than once in 10^7 runs."""
    circuit = Circuit(factory("8T-to-CCZ"))
    estimate = circuit.logical_error_rate(postselection_mask="all", relative_error=0.01, seed=1)
    counts = circuit.compile_detector_sampler(seed=1, postselection_mask="all").sample_counts(10**7)
    kept = counts.shots - counts.discards
    rate = counts.errors / kept
    assert abs(rate - estimate.logical_error_rate) < 5.5 * (rate / kept) ** 0.5 + 3 * estimate.standard_error


@pytest.mark.parametrize(
    ("protocol", "k"), [("15-to-1", None), ("8T-to-CCZ", None), ("3k+8-to-k", 20), ("49-to-1", None)]
)
def test_teleported_gates_leave_the_rate_of_a_factory(protocol: FactoryName, k: int | None) -> None:
    """Errors of T states flip no record alone: none of up to 68 coins matters, and each set has one law."""
    direct, teleported = (
        Circuit(distillation_circuit(protocol, t_error=0.004, k=k, teleported=is_teleported))
        for is_teleported in (False, True)
    )
    plan, mechanisms = of_circuit(str(teleported))
    assert len(plan.coins) == plan.num_mechanisms
    assert not len(mechanisms.coins)
    study = native_search(plan, mechanisms, 1, 1 << 28)
    study.enumerate(2, 10_000, 10_000)
    keys, laws = study.evaluated
    assert keys == laws
    rates = [circuit.logical_error_rate(postselection_mask="all", seed=1) for circuit in (direct, teleported)]
    assert rates[1].kept == pytest.approx(rates[0].kept, rel=1e-12)
    assert rates[1].kept_and_wrong == pytest.approx(rates[0].kept_and_wrong, rel=1e-9)


def test_coins_whose_angles_always_cancel_are_none() -> None:
    """The output is measured directly: its law depends on coefficients, and on none of fifteen coins."""
    text = str(distillation_circuit("15-to-1", t_error=0.01)).rpartition("S[T] 0")[0]
    plan, mechanisms = of_circuit(text + "MX 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    assert len(mechanisms.coins) == 15
    study = native_search(plan, mechanisms, 1, 1 << 28)
    outcomes = OutcomeClasses(study, plan.num_outputs)
    study.enumerate(0, 100, 100)
    outcomes.evaluate()
    rng = np.random.default_rng(7)
    for _ in range(3):
        coins = mechanisms.coins[rng.random(15) < 0.5]
        key = (mechanisms.base ^ np.bitwise_xor.reduce(coins, axis=0))[None]
        laws = _native.kept_branches(plain_attributes(plan), np.ascontiguousarray(key[:, :-1]).ravel(), 1)
        assert laws["probabilities"].sum() == pytest.approx(outcomes.probabilities[0, 0], abs=1e-12)
    study.enumerate(3, 10_000, 10_000)
    keys, laws_evaluated = study.evaluated
    assert keys == laws_evaluated > 1


def test_many_coins_that_matter_where_a_fault_is() -> None:
    """The exact rate of 70 rotations by coins that are undone, with a possible X before each is.

    An X leaves its coin a rotation by twice the angle a, of one sense and the other in turn. Averaged over the
    coins, <X> is cos(a)^k for an even number k of Xs, and one factor more for an odd one.
    """
    count, q, angle = 70, 0.0005, 0.3 * np.pi
    lines = ["RX 0"]
    for _ in range(count):
        undone = [f"CZ[C_R_Z(theta={sign}0.3*pi)] rec[-1] 0" for sign in ("", "-")]
        lines += ["RX 1", "M 1", undone[0], f"X_ERROR({q}) 0", undone[1]]
    circuit = Circuit("\n".join([*lines, "MX 0", "OBSERVABLE_INCLUDE(0) rec[-1]"]))
    assert len(of_circuit(str(circuit))[1].coins) == count
    number = np.arange(count + 1)
    weights = [comb(count, k) * q**k * (1 - q) ** (count - k) for k in range(count + 1)]
    expected = (1 - np.dot(weights, np.cos(angle) ** (number + number % 2))) / 2
    found = circuit.logical_error_rate(relative_error=0.01, seed=1)
    assert found.relative_error < 0.01
    assert found.logical_error_rate == pytest.approx(expected, rel=1e-3)


def test_a_limit_of_laws_leaves_nothing_behind() -> None:
    plan, mechanisms = of_circuit(factory("15-to-1"))
    study = native_search(plan, mechanisms, 1, 1 << 28)
    study.enumerate(0, 100, 100)
    assert not study.enumerate(1, 1000, 1000, max_laws=500)["is_complete"]
    assert study.num_keys == 1
    found = study.enumerate(1, 1000, 1000)
    assert found["is_complete"]
    assert found["num_keys"] > 300


@pytest.mark.slow
def test_15_to_1_as_counted() -> None:
    """As above, with circuits whose weights from 3 on are joined."""
    circuit = Circuit(factory("15-to-1"))
    estimate = circuit.logical_error_rate(postselection_mask="all", seed=1)
    counts = circuit.compile_detector_sampler(seed=1, postselection_mask="all").sample_counts(3 * 10**7)
    kept = counts.shots - counts.discards
    rate = counts.errors / kept
    assert [share.method for share in estimate.strata[:5]] == ["enumerated"] * 3 + ["join"] * 2
    assert abs(rate - estimate.logical_error_rate) < 5.5 * (rate / kept) ** 0.5 + 3 * estimate.standard_error
