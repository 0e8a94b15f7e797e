"""The row of a shot: the same distribution of what is read, in as few bits as possible."""

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import pytest

from stim_nonclifford import Circuit
from stim_nonclifford.simulation.compiler.algebra.gf2 import masks_of, ones
from stim_nonclifford.simulation.compiler.plans import row_layout
from stim_nonclifford.simulation.compiler.plans.requested_outputs import RequestedOutputs, needed_operations
from stim_nonclifford.simulation.compiler.sweeps.effects import EffectTable, NoiseEffects
from stim_nonclifford.simulation.compiler.sweeps.operations import OperationKind
from stim_nonclifford.simulation.plan import SamplingPlan, SparseRows

from ....support.laws.exact import mask, rank
from ....support.laws.plans import plan_of, plan_of_noise, random_request, swept
from ....support.laws.records import assert_records_agree
from ....support.oracle.random_circuits import random_circuit
from ....support.seeds import seeds


def random_table(rng: np.random.Generator, num_outputs: int) -> EffectTable:
    """Effects on few outputs, so that many of them are equal where they are read."""

    def effect() -> int:
        return int(rng.integers(1 << num_outputs) & rng.integers(1 << num_outputs))

    def site() -> dict[int, float]:
        effects = {effect() or 1 for _ in range(rng.integers(1, 4))}
        return {e: float(rng.uniform(0.02, 0.3)) for e in effects}

    return EffectTable(
        num_outputs,
        num_signs=0,
        constant=effect(),
        noise=NoiseEffects.of(
            {effect() or 1: float(rng.uniform(0.01, 0.5)) for _ in range(rng.integers(6))},
            [site() for _ in range(rng.integers(3))],
        ),
        coins=SparseRows.of(ones(effect() or 1) for _ in range(rng.integers(3))),
    )


def assert_no_row_is_there_twice(plan: SamplingPlan) -> None:
    rows = [tuple(plan.effects.row(m).tolist()) for m in range(plan.num_mechanisms)]
    assert all(rows)
    independent = [row for row, site in zip(rows, plan.sites.tolist(), strict=True) if site < 0]
    assert len(set(independent)) == len(independent)
    assert rank(mask(plan.coins.row(c).tolist()) for c in range(len(plan.coins))) == len(plan.coins)
    signature = range(plan.num_checks, plan.num_checks + plan.num_signature_bits)
    assert not set(signature) & set(plan.constant.tolist())


def test_mechanisms_with_equal_effects_on_what_is_read_are_one() -> None:
    rates = {0b0001: 0.1, 0b0101: 0.2, 0b1010: 0.3, 0b1000: 0.4, 0b1110: 0.5}
    plan = plan_of_noise(EffectTable(4, 0, noise=NoiseEffects.of(rates)), RequestedOutputs.of([1], [0]))
    assert plan.num_checks == 1
    rows = {tuple(plan.effects.row(m).tolist()): rate for m, rate in enumerate(plan.rates.tolist())}
    # The check is bit 0 of a row, the output bit 1.
    assert rows == {(0,): pytest.approx(0.3), (1,): pytest.approx(0.8)}


def test_a_site_with_one_choice_left_is_an_independent_mechanism() -> None:
    """Its probability p is that of an odd number of events of rate -ln(1 - 2p) / 2."""
    table = EffectTable(2, 0, noise=NoiseEffects.of({}, [{1: 0.1, 2: 0.2, 3: 0.05}]))
    plan = plan_of_noise(table, RequestedOutputs.of([1]))
    assert plan.sites.tolist() == [-1]
    assert plan.rates.tolist() == [pytest.approx(-np.log(1 - 2 * 0.25) / 2)]
    assert plan_of_noise(table, RequestedOutputs.of([0, 1])).sites.tolist() == [0, 0, 0]


def test_checks_that_contradict_each_other() -> None:
    """Two outputs that the same noise flips, of which one is 1 without noise."""
    table = EffectTable(2, 0, noise=NoiseEffects.of({3: 0.2}))
    for constant, never_kept in ((0, False), (1, True), (2, True), (3, False)):
        plan = plan_of_noise(table, RequestedOutputs.of([], [0, 1]), constant)
        assert plan.num_checks == 1
        assert plan.never_kept == never_kept


def test_rows_of_faults_are_those_of_mechanisms() -> None:
    """``SamplingPlan.row_of`` takes an effect to the row that the plan has for it. Seed 14."""
    rng = np.random.default_rng(14)
    for _ in range(20):
        num_outputs = int(rng.integers(1, 8))
        table = random_table(rng, num_outputs)
        plan = plan_of_noise(table, random_request(rng, num_outputs))
        rows = {tuple(plan.effects.row(m).tolist()) for m in range(plan.num_mechanisms)} | {()}
        for effect in table.noise.independent():
            assert tuple(np.flatnonzero(plan.row_of(effect)).tolist()) in rows


def noise_only_sums(outcomes: Sequence[int], postselected: Sequence[int]) -> list[int]:
    """All sums of postselected outputs, as masks, that no outcome flips."""
    sizes = range(1, len(postselected) + 1)
    subsets = itertools.chain.from_iterable(itertools.combinations(postselected, size) for size in sizes)
    return [m for m in map(mask, subsets) if not any((effect & m).bit_count() % 2 for effect in outcomes)]


@pytest.mark.parametrize("seed", seeds(20, quick=4))
def test_no_bit_too_many(seed: int) -> None:
    """Checks are as many as noise can tell apart, signature bits as many as are then left. Seeds [12, seed, k]."""
    most_signature_bits = most_checks = 0
    for k in range(15):
        rng = np.random.default_rng([12, seed, k])
        quantum, table = swept(random_circuit(rng, num_qubits=3, num_operations=25, max_records=7))
        requested = random_request(rng, table.num_outputs)
        plan = plan_of(quantum.operations, table, requested, table.base_outputs)
        causes = [*masks_of(table.noise.effects), *masks_of(table.coins)]

        def flipped_by(masks: Iterable[int], causes: Sequence[int] = causes) -> list[int]:
            return [mask(c for c, cause in enumerate(causes) if (cause & m).bit_count() % 2) for m in masks]

        needed = needed_operations(quantum.operations, table.outcomes, requested)
        effects = masks_of(table.outcomes)
        outcomes = [effects[operation.outcome] for operation in needed if operation.measures]
        rotations = [operation for operation in needed if operation.kind == OperationKind.ROTATE]
        signs = [1 << table.num_outputs + term.sign for operation in rotations for term in operation.terms]
        checks = flipped_by(noise_only_sums(outcomes, requested.postselected))
        branch = flipped_by([*signs, *(1 << output for output in requested.postselected)])
        assert plan.num_checks == rank(checks)
        assert plan.num_signature_bits == rank([*checks, *branch]) - rank(checks)
        assert_no_row_is_there_twice(plan)
        most_signature_bits = max(most_signature_bits, plan.num_signature_bits)
        most_checks = max(most_checks, plan.num_checks)
    assert most_signature_bits >= 2
    assert most_checks >= 2


@pytest.mark.parametrize("seed", range(5))
def test_without_elimination(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are too many bits for a basis, only equal ones are merged; the distribution is the same."""
    monkeypatch.setattr(row_layout, "_MAX_BASIS_BITS", 0)
    for k in range(5):
        rng = np.random.default_rng([13, seed, k])
        circuit = Circuit(random_circuit(rng, num_qubits=3, num_operations=25, max_records=6))
        assert_records_agree(circuit)
        assert_no_row_is_there_twice(circuit.compile().record_plan())
