"""Error budgets: complete sums, and sampled weights against exact ones. For derivatives see test_faults_by_oracle."""

import functools
import math
from collections import Counter, defaultdict
from itertools import combinations
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
import stim
from scipy import special, stats

import stim_nonclifford as snc
from benchmarks.rates.code_circuits import CIRCUITS, t_state_circuit
from stim_nonclifford.generators import cultivation
from stim_nonclifford.rates.fault_sets.search.mechanisms import mechanisms_of
from stim_nonclifford.rates.results.error_budget import ErrorBudget, NoisePlace
from stim_nonclifford.simulation.engines.reference import fate_of_row
from stim_nonclifford.simulation.plan import SamplingPlan

from ...support.rates.fault_set_cases import FewExactWeights, estimate, rate_of_anything
from ...support.seeds import seeds
from .search.test_fault_sets_exact import Mask, example, plan_of

ANNOTATIONS = {"DETECTOR", "OBSERVABLE_INCLUDE", "QUBIT_COORDS", "SHIFT_COORDS"}


def line_of(place: NoisePlace) -> int:
    return place.line


def scaled(circuit: stim.Circuit, line: int, factor: float) -> stim.Circuit:
    """A circuit without loops in which the noise of a line has other probabilities."""
    result = stim.Circuit()
    for number, instruction in enumerate(circuit, start=1):
        arguments = instruction.gate_args_copy()
        if instruction.name not in ANNOTATIONS and number == line:
            arguments = [factor * argument for argument in arguments]
        result.append(
            stim.CircuitInstruction(
                instruction.name, instruction.targets_copy(), arguments, tag=instruction.tag
            )
        )
    return result


def brute_force_shares(
    circuit: stim.Circuit, detectors: Mask, observables: Mask
) -> tuple[dict[object, float], dict[object, float]]:
    """The shares of lines in P(kept and wrong) and P(discarded): all fault sets one by one."""
    plan = plan_of(circuit, detectors, observables)
    mechanisms = mechanisms_of(plan)
    parts = parts_of_lines(circuit, plan)
    wrong_shares: dict[object, float] = defaultdict(float)
    discarded_shares: dict[object, float] = defaultdict(float)
    rows = plan.effects.dense(plan.num_row_bits)
    for size in range(plan.num_mechanisms + 1):
        for members in combinations(range(plan.num_mechanisms), size):
            row = np.logical_xor.reduce(rows[list(members)], axis=0)
            outputs = fate_of_row(plan, row)[1]
            right, kept = outputs.get(0, 0.0), sum(outputs.values())
            wrong = kept - right
            probability = mechanisms.nothing * float(np.prod(mechanisms.odds[list(members)]))
            if not members:
                wrong_shares["no fault"] += probability * wrong
                discarded_shares["no fault"] += probability * (1 - kept)
            for k in members:
                for line, part in parts[k].items():
                    wrong_shares[line] += probability * wrong * part / size
                    discarded_shares[line] += probability * (1 - kept) * part / size
    return wrong_shares, discarded_shares


def parts_of_lines(circuit: stim.Circuit, plan: SamplingPlan) -> list[dict[int, float]]:
    """The part of each mechanism's rate from each line: from circuits in which only that line has noise."""
    of_mechanism: list[Counter[int]] = [Counter() for _ in range(plan.num_mechanisms)]
    rows = {plan.effects.dense(plan.num_row_bits)[k].tobytes(): k for k in range(plan.num_mechanisms)}
    for line, noisy in enumerate(circuit, start=1):
        if noisy.name in ANNOTATIONS or not any(noisy.gate_args_copy()):
            continue
        alone = circuit.copy()
        for number in set(range(1, len(circuit) + 1)) - {line}:
            alone = scaled(alone, number, 0.0)
        table = snc.Circuit(alone).compile().effects("detectors")
        rates = [(plan.row_of(effect).tobytes(), rate) for effect, rate in table.noise.independent().items()]
        for site in table.noise.exclusive():
            choices: Counter[bytes] = Counter()
            for effect, probability in site.items():
                choices[plan.row_of(effect).tobytes()] += probability
            rates += [(row, -0.5 * math.log1p(-2 * p)) for row, p in choices.items() if row in rows]
            assert sum(row in rows for row in choices) <= 1
        for row, rate in rates:
            if row in rows:
                of_mechanism[rows[row]][line] += rate
    return [{line: rate / sum(lines.values()) for line, rate in lines.items()} for lines in of_mechanism]


@pytest.mark.parametrize("seed", seeds(4, quick=2))
def test_shares_equal_complete_sums(seed: int) -> None:
    compared = 0
    for k in range(20):
        circuit, detectors, observables = example(seed, k)
        circuit = circuit.flattened()
        plan = plan_of(circuit, detectors, observables)
        if (plan.sites >= 0).any() or plan.num_mechanisms > 8 or len(plan.coins) > 5:
            continue
        estimate_ = rate_of_anything(snc.Circuit(circuit), detectors, observables)
        if estimate_.kept_and_wrong < 1e-12:
            continue
        found = estimate_.error_budget(line_of)
        wrong, discarded = brute_force_shares(circuit, detectors, observables)
        assert sum(group.share for group in found.groups) == pytest.approx(1)
        where = f"{circuit}\n{found}"
        for group in found.groups:
            expected = wrong.pop(group.group, 0.0)
            assert group.share * found.kept_and_wrong == pytest.approx(expected, abs=1e-12), where
            if found.kept < 1:
                expected = discarded.pop(group.group, 0.0)
                assert group.discarded * (1 - found.kept) == pytest.approx(expected, abs=1e-12), where
        assert all(left < 1e-12 for left in wrong.values()), where
        compared += 1
    assert compared >= 5


def test_shares_with_sites() -> None:
    """A site with two choices, by hand: X or Z but never both, and a flip of the other qubit."""
    circuit = snc.Circuit(
        """
        RX 1
        PAULI_CHANNEL_1(0.1, 0, 0.2) 0
        X_ERROR(0.25) 2
        M 0 2
        DETECTOR rec[-1] rec[-2]
        OBSERVABLE_INCLUDE(0) rec[-1]
        """
    )
    budget = circuit.logical_error_rate(postselection_mask="all").error_budget("instruction")
    # Z is invisible. Kept and wrong: X and the flip.
    assert budget.kept_and_wrong == pytest.approx(0.1 * 0.25)
    assert [(group.group, pytest.approx(group.share)) for group in budget.groups] == [
        ("line 2: PAULI_CHANNEL_1(0.1, 0, 0.2)", 0.5),
        ("line 3: X_ERROR(0.25)", 0.5),
    ]
    assert [group.discarded * (1 - budget.kept) for group in budget.groups] == pytest.approx([0.075, 0.225])


def cultivation_circuit(distance: int, p: float) -> snc.Circuit:
    return snc.Circuit(cultivation.cultivation_circuit(distance=distance, p=p))


SIGNIFICANCE = 1e-7
"""Right errors fail a comparison of many estimates with this probability; seeds are fixed."""


def bounds_of_mean_square(degrees: int) -> tuple[float, float]:
    """Of the mean over many groups of chi-squared numbers, over their degrees of freedom.

    The numbers of groups depend on each other in unknown ways. By Jensen's inequality, the exponential moments
    of their mean are at most those of one of them, so that Chernoff's bound for one holds for their mean: it is
    x or farther from 1 with a probability below exp(-degrees (x - 1 - ln x) / 2) on either side.
    """
    exponent = 2 / degrees * math.log(2 / SIGNIFICANCE)
    # x - 1 - ln x has the inverse -W(-exp(-1 - exponent)).
    low, high = (-float(special.lambertw(-math.exp(-1 - exponent), k).real) for k in (0, -1))
    return low, high


def assert_consistent(sampled: list[ErrorBudget], exact: ErrorBudget) -> None:
    """Differences from the exact budget are what the standard errors say, neither larger nor smaller."""
    low, high = bounds_of_mean_square(len(sampled))
    assert high < 3, "there are too few to notice errors of half the size"
    for values, errors in (("share", "share_error"), ("sensitivity", "sensitivity_error")):
        pulls = np.array(
            [
                [
                    (getattr(group, values) - getattr(truth, values)) / getattr(group, errors)
                    for group, truth in zip(budget.groups, exact.groups, strict=True)
                ]
                for budget in sampled
            ]
        )
        assert np.abs(pulls).max() < stats.norm.isf(SIGNIFICANCE / 2 / pulls.size)
        assert low < (pulls**2).mean() < high


@pytest.mark.slow
def test_sampled_budgets_equal_exact_ones() -> None:
    """Seeds 0 to 47. Weights from 3 on are drawn or joined; the exact budget has a hundredth of their errors."""
    circuit = cultivation_circuit(3, 2e-3)
    exact = circuit.logical_error_rate(seed=0, relative_error=1e-3, postselection_mask="all")
    sampled = [estimate(circuit, FewExactWeights(0.03), seed) for seed in range(48)]
    assert all(share.method != "enumerated" for share in sampled[0].strata[3:])
    assert_consistent([each.error_budget("qubit") for each in sampled], exact.error_budget("qubit"))


def test_total_sensitivity_is_the_slope_of_the_curve() -> None:
    """Of all noise together, against the rates at neighbouring strengths of a code whose sets are enumerated."""
    strengths = (1e-3, 1e-3 * (1 + 1e-3), 1e-3 * (1 - 1e-3))
    circuits = [t_state_circuit(*CIRCUITS["[[15,1,3]], RP^2"], p) for p in strengths]
    here, above, below = snc.logical_error_rates(circuits, seed=2, postselection_mask="all")
    for by in ("tick", "qubit", "noise", "instruction"):
        groups = here.error_budget(by).groups
        slope = np.log(above.logical_error_rate / below.logical_error_rate) / 2e-3
        assert sum(group.sensitivity for group in groups) == pytest.approx(slope, abs=1e-4)
        assert sum(group.share for group in groups) == pytest.approx(1)
        assert sum(group.discarded for group in groups) == pytest.approx(1)
        kept = sum(group.kept_derivative for group in groups)
        assert kept == pytest.approx((above.kept - below.kept) / 2e-3, rel=1e-5)


def test_groups() -> None:
    """What makes a group, and the order of groups; loops count each tick."""
    circuit = snc.Circuit(
        """
        R 0 1
        REPEAT 2 {
            DEPOLARIZE2(0.01) 1 0
            TICK
        }
        X_ERROR(0.02) 1
        M(0.03) 0 1
        DETECTOR rec[-1] rec[-2]
        OBSERVABLE_INCLUDE(0) rec[-1]
        """
    )
    found = circuit.logical_error_rate(postselection_mask="all")
    labels = {
        by: [group.group for group in found.error_budget(by).groups] for by in ("tick", "qubit", "noise")
    }
    assert labels == {"tick": [0, 1, 2], "qubit": [0, 1], "noise": ["DEPOLARIZE2", "M", "X_ERROR"]}
    instructions = [group.group for group in found.error_budget("instruction").groups]
    assert instructions == ["line 3: DEPOLARIZE2(0.01)", "line 6: X_ERROR(0.02)", "line 7: M(0.03)"]
    places = found.error_budget(lambda place: (place.instruction, place.targets))
    assert [group.group for group in places.groups] == [
        ("DEPOLARIZE2", (1, 0)),
        ("X_ERROR", (1,)),
        ("M", (0,)),
        ("M", (1,)),
    ]
    assert len(places.largest(2).groups) == 2


def test_certain_noise_can_only_get_weaker() -> None:
    """The plan has no mechanism for its absence, unless other noise has the same effect."""
    text = "X_ERROR(1) 0\nX_ERROR(0.1) 1\nM 0 1\nOBSERVABLE_INCLUDE(0) rec[-2]\n"
    circuit = snc.Circuit(text + "OBSERVABLE_INCLUDE(1) rec[-1]")
    certain, flip, nothing = (
        circuit.logical_error_rate(postselection_mask="all").error_budget("instruction").groups
    )
    assert (nothing.group, nothing.share) == ("no fault", pytest.approx(0.9))
    assert flip.share == pytest.approx(0.1)
    assert (certain.share, certain.sensitivity) == (0, pytest.approx(np.nan, nan_ok=True))
    [together, _] = circuit.logical_error_rate(postselection_mask="all").error_budget("noise").groups
    assert math.isnan(together.sensitivity)
    circuit = snc.Circuit(text + "OBSERVABLE_INCLUDE(0) rec[-1]")
    certain, flip, nothing = (
        circuit.logical_error_rate(postselection_mask="all").error_budget("instruction").groups
    )
    # P(wrong) = s (1 - 0.1) + (1 - s) 0.1 for a probability s instead of 1.
    assert certain.kept_and_wrong_derivative == pytest.approx(0.8)


def test_table_and_plot() -> None:
    mpl.use("Agg")
    budget = (
        cultivation_circuit(3, 1e-3).logical_error_rate(seed=1, postselection_mask="all").error_budget("tick")
    )
    lines = str(budget).splitlines()
    assert len(lines) == 3 + len(budget.groups)
    assert lines[2].split() == ["tick", "kept", "and", "wrong", "sensitivity", "discarded"]
    axes = budget.plot()
    assert len(axes.containers) >= 2
    assert axes.get_xlabel() == "tick"
    instructions = (
        cultivation_circuit(3, 1e-3)
        .logical_error_rate(seed=1, postselection_mask="all")
        .error_budget("instruction")
    )
    assert "with smaller shares, together" in str(instructions)


def test_the_header_of_groups_by_a_function() -> None:
    circuit = snc.Circuit("X_ERROR(0.01) 0 1\nM 0 1\nDETECTOR rec[-1] rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-1]")
    rate = circuit.logical_error_rate(postselection_mask="all")
    table = str(rate.error_budget(lambda place: 1 in place.targets)).splitlines()
    assert table[2].startswith("group  kept and wrong")
    assert [line.split()[0] for line in table[3:]] == ["False", "True"]
    assert [line.index(line.split()[0]) for line in table[3:]] == [0, 0]
    assert rate.error_budget(line_of).by == "line_of"
    assert rate.error_budget(functools.partial(line_of)).by == "group"


def test_twice_the_noise_of_a_qubit_is_one_plus_its_sensitivity() -> None:
    """With all of its two-qubit gates, which `by="qubit"` halves; and not 2 to the power of it."""
    circuit = cultivation.cultivation_circuit(distance=3, p=1e-3)
    rate = snc.Circuit(circuit).logical_error_rate(postselection_mask="all", seed=1)
    touching = {group.group: group for group in rate.error_budget(lambda place: 7 in place.targets).groups}
    [half] = [group for group in rate.error_budget("qubit").groups if group.group == 7]
    assert half.share < touching[True].share
    assert half.sensitivity < touching[True].sensitivity
    twice = stim.Circuit()
    for instruction in circuit:
        data = stim.gate_data(instruction.name)
        for group in instruction.target_groups() if data.is_noisy_gate and instruction.name != "MPP" else []:
            factor = 2 if 7 in [target.value for target in group] else 1
            arguments = [factor * argument for argument in instruction.gate_args_copy()]
            twice.append(instruction.name, group, arguments)
        if not data.is_noisy_gate or instruction.name == "MPP":
            twice.append(instruction)
    factor = (
        snc.Circuit(twice).logical_error_rate(postselection_mask="all", seed=1).logical_error_rate
        / rate.logical_error_rate
    )
    sensitivity = touching[True].sensitivity
    assert 1 + sensitivity < factor < 1 + 1.1 * sensitivity
    assert abs(1 + sensitivity - factor) < 0.2 * abs(2**sensitivity - factor)


@pytest.mark.parametrize("by", ["instruction", "qubit", "tick", "noise", line_of])
def test_shares_add_up_to_1(by: Any) -> None:
    """Noise that acts on no qubit included: that of MPAD, and of a product that is the identity."""
    circuit = snc.Circuit(
        "R 0 1\nX_ERROR(0.1) 0\nMPAD(0.1) 0 1\nTICK\nMPP(0.2) X1*X1\nDEPOLARIZE2(0.1) 0 1\nM(0.05) 0 1\n"
        "HERALDED_ERASE(0.1) 1\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-3] rec[-6] rec[-4]\nT 0"
    )
    groups = circuit.logical_error_rate(postselection_mask="all", seed=1).error_budget(by).groups
    assert sum(group.share for group in groups) == pytest.approx(1, abs=1e-12)
    assert sum(group.discarded for group in groups) == pytest.approx(1, abs=1e-12)
    if by == "qubit":
        assert [group.group for group in groups][:3] == [0, 1, "no qubit"]
        assert 0.1 < groups[2].share < 0.9


def test_noise_on_no_qubit_is_a_group() -> None:
    circuit = snc.Circuit("R 0\nX_ERROR(0.1) 0\nMPAD(0.1) 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1] rec[-2]")
    budget = circuit.logical_error_rate(postselection_mask="all", seed=1).error_budget("qubit")
    assert {group.group: round(group.share, 9) for group in budget.groups} == {0: 0.5, "no qubit": 0.5}
    assert "no qubit" in str(budget)
