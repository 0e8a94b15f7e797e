"""The distribution of a plan's outputs equals that of a density-matrix simulation, without sampling.

By default 1000 random circuits over all instructions are compared, a tenth of them found by Hypothesis.
``STIM_NONCLIFFORD_CIRCUITS=50000`` compares as many as it says.
"""

import os
from collections.abc import Collection, Iterable, Mapping

import numpy as np
import pytest
import stim
from hypothesis import assume, given, settings

from stim_nonclifford import Circuit
from stim_nonclifford.simulation.compiler import CompiledCircuit, RequestedOutputs

from ...support.laws.exact import (
    Distribution,
    ExactOutputs,
    exact_outputs,
    largest_difference,
    mask,
    mask_of,
    num_rows,
    row_distribution,
)
from ...support.oracle.density_matrix import detector_distribution, record_distribution, unique_reference
from ...support.oracle.random_circuits import ALL_FAMILIES, Family, circuits, mirrored_circuit, random_circuit
from ...support.seeds import seeds

TOLERANCE = 1e-10
NUM_CIRCUITS = int(os.environ.get("STIM_NONCLIFFORD_CIRCUITS", "1000"))
NUM_FOUND = NUM_CIRCUITS // 10
"""Circuits that Hypothesis chooses."""
NUM_SEEDS = 20
CIRCUITS_PER_SEED = -(-(NUM_CIRCUITS - NUM_FOUND) // NUM_SEEDS)
CIRCUITS_PER_MASK_SEED = 30

# Mixtures of instructions, so that each one meets the others often.
MIXTURES: list[Collection[Family]] = [
    ALL_FAMILIES,
    ALL_FAMILIES - {Family.CLIFFORD, Family.PAULI_PHASE, Family.ANNOTATIONS},
    {
        Family.CLIFFORD, Family.T, Family.ROTATIONS, Family.MEASUREMENTS, Family.FEEDBACK, Family.RESETS,
        Family.NOISE, Family.DETECTORS, Family.OBSERVABLES,
    },
    {
        Family.T, Family.MEASUREMENT_NOISE, Family.EXOTIC_NOISE, Family.DETECTORS, Family.OBSERVABLES,
        Family.REPEAT,
    },
    {
        Family.T, Family.ROTATIONS, Family.MEASUREMENTS, Family.MEASUREMENT_NOISE, Family.NOISE,
        Family.DETECTORS, Family.OBSERVABLES,
    },
    {
        Family.CLIFFORD, Family.T, Family.MEASUREMENT_NOISE, Family.RESETS, Family.NOISE, Family.CONDITIONAL,
        Family.FEEDBACK, Family.REPEAT,
    },
]  # fmt: skip


MAX_ROWS = 1 << 12
MAX_SIGNATURE_BITS = 6


def example(seed: int, k: int) -> tuple[stim.Circuit, CompiledCircuit]:
    """Circuit k of a seed: of 1 to 6 qubits, every other one mirrored, of each mixture in turn.

    Circuits that would take long are drawn again.
    """
    rng = np.random.default_rng([seed, k])
    instructions = MIXTURES[k // 2 % len(MIXTURES)]
    while True:
        num_qubits = 1 + int(rng.integers(6))
        if k % 2:
            circuit = mirrored_circuit(
                rng, num_qubits=num_qubits, num_operations=int(rng.integers(5, 25)), instructions=instructions
            )
        else:
            circuit = random_circuit(
                rng,
                num_qubits=num_qubits,
                num_operations=int(rng.integers(10, 45)),
                instructions=instructions,
            )
        compiled = Circuit(circuit).compile()
        if is_quick(compiled):
            return circuit, compiled


def is_quick(compiled: CompiledCircuit) -> bool:
    """Whether there are few different rows and outcome laws."""
    plan = compiled.record_plan()
    return num_rows(plan) <= MAX_ROWS and plan.num_signature_bits <= MAX_SIGNATURE_BITS


def folded(distribution: Mapping[tuple[int, ...], float], flipped: int = 0) -> Distribution:
    """A distribution with rows as ints, some of their bits flipped."""
    result: Distribution = {}
    for bits, p in distribution.items():
        row = mask_of(bits) ^ flipped
        result[row] = result.get(row, 0.0) + p
    return result


def assert_equal(found: ExactOutputs, expected: Mapping[int, float], where: str) -> None:
    """Compares probabilities of outputs together with keeping the shot, and the discards."""
    assert largest_difference(found.kept, expected) < TOLERANCE, where
    assert found.discarded == pytest.approx(1 - sum(expected.values()), abs=TOLERANCE), where


def assert_records_agree(circuit: stim.Circuit, compiled: CompiledCircuit, where: str) -> None:
    expected = folded(record_distribution(circuit))
    assert_equal(exact_outputs(compiled.record_plan()), expected, f"records, {where}\n{circuit}")


def assert_detectors_agree(circuit: stim.Circuit, compiled: CompiledCircuit, where: str) -> None:
    """Raw parities, and flips against the reference."""
    raw = detector_distribution(circuit)
    outputs = range(circuit.num_detectors + circuit.num_observables)
    plan = compiled.detector_plan(RequestedOutputs.of(outputs), skip_reference_sample=True)
    assert_equal(exact_outputs(plan), folded(raw), f"raw parities, {where}\n{circuit}")
    reference = unique_reference(circuit)
    if reference is not None:
        flips = exact_outputs(compiled.detector_plan(RequestedOutputs.of(outputs)))
        assert_equal(flips, folded(raw, mask_of(reference[1])), f"flips, {where}\n{circuit}")


@pytest.mark.parametrize("seed", seeds(NUM_SEEDS, quick=1))
def test_random_circuits(seed: int) -> None:
    """Circuits 0, 1, ... of each seed. Nothing is sampled."""
    for k in range(CIRCUITS_PER_SEED):
        circuit, compiled = example(seed, k)
        assert_records_agree(circuit, compiled, f"seed {seed}, {k}")
        assert_detectors_agree(circuit, compiled, f"seed {seed}, {k}")


@pytest.mark.parametrize("seed", seeds(10, quick=1, first=100))
def test_postselection(seed: int) -> None:
    """Random masks, and random choices of what is reported, in any order. Nothing is sampled."""
    for k in range(CIRCUITS_PER_MASK_SEED):
        circuit, compiled = example(seed, k)
        raw = detector_distribution(circuit)
        rng = np.random.default_rng([seed, k, 1])
        num_outputs = circuit.num_detectors + circuit.num_observables
        for skip_reference_sample in (False, True):
            postselected = [output for output in range(num_outputs) if rng.random() < 0.5]
            reported = [int(o) for o in rng.permutation(num_outputs)[: rng.integers(num_outputs + 1)]]
            plan = compiled.detector_plan(
                RequestedOutputs.of(reported, postselected), skip_reference_sample=skip_reference_sample
            )
            reference = 0 if skip_reference_sample else compiled.reference_detectors()
            expected = kept_part(folded(raw, reference), postselected, reported)
            where = f"seed {seed}, {k}, postselected {postselected}, reported {reported}\n{circuit}"
            assert_equal(exact_outputs(plan), expected, where)


def kept_part(
    distribution: Distribution, postselected: Iterable[int], reported: Collection[int]
) -> Distribution:
    """The distribution of the reported outputs, together with the postselected ones being 0."""
    forbidden = mask(postselected)
    result: Distribution = {}
    for row, p in distribution.items():
        if not row & forbidden:
            report = mask_of(row >> output & 1 for output in reported)
            result[report] = result.get(report, 0.0) + p
    return result


@settings(max_examples=NUM_FOUND, deadline=None, derandomize=True, database=None)
@given(circuits(max_qubits=6))
def test_any_circuit(circuit: stim.Circuit) -> None:
    """Circuits that Hypothesis finds and shrinks."""
    compiled = Circuit(circuit).compile()
    assume(is_quick(compiled))
    assert_records_agree(circuit, compiled, "")
    assert_detectors_agree(circuit, compiled, "")


@pytest.mark.slow
def test_examples_are_diverse() -> None:
    """The circuits above reach every stage of a plan: otherwise they would test too little."""
    plans = []
    references = 0
    skewed = 0
    for seed in range(3):
        for k in range(CIRCUITS_PER_MASK_SEED):
            circuit, compiled = example(seed, k)
            num_outputs = circuit.num_detectors + circuit.num_observables
            plans.append(compiled.record_plan())
            plans.append(compiled.detector_plan(RequestedOutputs.of(range(num_outputs), range(num_outputs))))
            references += unique_reference(circuit) is not None
            values = [p for p in record_distribution(circuit, cutoff=1e-12).values() if p > 1e-12]
            skewed += max(values, default=1.0) > 1.01 * min(values, default=1.0)
    num_circuits = len(plans) // 2
    assert references > num_circuits / 4
    assert skewed > num_circuits / 2
    assert max(plan.peak_width for plan in plans) >= 4
    for has in (
        lambda plan: plan.num_checks,
        lambda plan: plan.num_signature_bits,
        lambda plan: plan.num_outcome_checks,
        lambda plan: len(plan.coins),
        lambda plan: len(plan.constant),
        lambda plan: len(plan.branch_constant),
        lambda plan: plan.never_kept,
        lambda plan: (plan.sites >= 0).any(),
        lambda plan: (plan.sites < 0).any(),
        lambda plan: (plan.rotation_terms["sign"] >= 0).any(),
    ):
        assert sum(bool(has(plan)) for plan in plans) >= 2


def test_reference_is_the_most_likely_sample() -> None:
    """Seeds [200, 0], [200, 1], ...: the records, where no two outcomes are equally likely."""
    unique = 0
    for k in range(75):
        circuit, compiled = example(200, k)
        reference = unique_reference(circuit)
        if reference is not None:
            assert compiled.reference_records() == mask_of(reference[0]), f"{k}\n{circuit}"
            unique += 1
    assert unique > 25


def test_reference_follows_the_order_of_the_circuit() -> None:
    """The likely outcome of qubit 0 is 1, and then of qubit 1; the other way round it is 0 and 0."""
    text = "R_Y(0.3) 0\nR_YY(0.4) 0 1\nCZ 0 1\nR_Y(0.2) 0\nM 0 1"
    assert Circuit(text).reference_sample().tolist() == [True, True]
    assert Circuit(text.replace("M 0 1", "M 1 0")).reference_sample().tolist() == [False, False]


def test_row_distribution_by_hand() -> None:
    """The helper of this file: X_ERROR(0.25) and a site, whose events exclude each other."""
    plan = Circuit("X_ERROR(0.25) 0\nM 0").compile().record_plan()
    assert row_distribution(plan) == pytest.approx({0: 0.75, 1: 0.25})
    circuit = stim.Circuit("E(0.25) X0\nELSE_CORRELATED_ERROR(0.5) X1\nM 0 1")
    plan = Circuit(circuit).compile().record_plan()
    assert len(plan.sites) == 2
    assert len(set(plan.sites.tolist())) == 1
    assert row_distribution(plan) == pytest.approx({0: 0.375, 1: 0.25, 2: 0.375})
