"""Engines keep tables of rows as words or as lists of ones; shots are the same in both forms."""

import dataclasses
import itertools
import math
from typing import Any, Literal

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit, _native
from stim_nonclifford._native import available_instruction_sets
from stim_nonclifford.simulation import plan as plans
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import AutoEngine, CpuEngine, GpuEngine, ReferenceEngine
from stim_nonclifford.simulation.engines.gpu.host_backend import HostBackend
from stim_nonclifford.simulation.plan import SamplingPlan, SparseRows

from ...support.engines.engine_cases import FIXED, SEED, RememberedReference, plans_of
from ...support.oracle.random_circuits import seeded_circuits
from ...support.seeds import seeds
from ...support.texts.memory_circuits import memory

pytestmark = pytest.mark.filterwarnings("ignore::stim_nonclifford.RandomObservableWarning")
"""Bits are compared here, whatever they mean: some observables are random without noise."""

Form = Literal["words", "lists"]
FORMS: tuple[Form, ...] = ("words", "lists")

# More than eight words of outputs. The first error flips all records of qubit 0, and the coin all records of qubit 1.
LONG_EFFECTS = """
    X_ERROR(0.3) 0
    H 1
    RX 2
    T 2
    X_ERROR(0.1) 2
    MX 2
    M 0 1
    REPEAT 300 {
        X_ERROR(0.01) 0
        PAULI_CHANNEL_1(0.02, 0.02, 0.01) 1
        M 0 1
        DETECTOR rec[-2]
        DETECTOR rec[-1] rec[-3]
    }
    OBSERVABLE_INCLUDE(0) rec[-2]
    OBSERVABLE_INCLUDE(3) rec[-2] rec[-400] rec[-603]
"""


def surface_code(distance: int, p: float = 5e-3) -> stim.Circuit:
    return memory("surface_code:rotated_memory_z", distance, distance, gates=p, reads=p, resets=p)


def detector_plan(circuit: stim.Circuit) -> SamplingPlan:
    outputs = range(circuit.num_detectors + circuit.num_observables)
    return Circuit(circuit).compile().detector_plan(RequestedOutputs.of(outputs))


def assert_same_in_both_forms(
    monkeypatch: pytest.MonkeyPatch, plan: SamplingPlan, first_shot: int, shots: int, where: str
) -> None:
    """Compares every engine and every method with the reference engine."""
    reference = RememberedReference(plan)
    kept = reference.sample_kept(SEED, first_shot, shots)
    assert kept.shape == (len(kept), -(-plan.num_outputs // 8)), where
    counts = list(itertools.product((0, 3), (False, True)))
    tallies = [reference.count(SEED, first_shot, shots, limit, list_errors=lists) for limit, lists in counts]
    keeps_all = not plan.num_checks + plan.num_outcome_checks and not plan.never_kept
    for form in FORMS:
        monkeypatch.setattr(plans, "_FORM", form)
        assert plan.effects_are_lists == plan.coins_are_lists == (form == "lists")
        assert plan.signature_images_are_lists == plan.outcome_effects_are_lists == (form == "lists")
        for engine in (CpuEngine(plan), CpuEngine(plan, threads=2), GpuEngine(plan, HostBackend())):
            at = f"{where}, {form}, {type(engine).__name__}"
            np.testing.assert_array_equal(engine.sample_kept(SEED, first_shot, shots), kept, err_msg=at)
            for (limit, lists), tally in zip(counts, tallies, strict=True):
                assert engine.count(SEED, first_shot, shots, limit, list_errors=lists) == tally, at
            if keeps_all:
                np.testing.assert_array_equal(engine.sample(SEED, first_shot, shots), kept, err_msg=at)
    monkeypatch.undo()


@pytest.mark.parametrize("name", [*FIXED, "long effects"])
def test_fixed_circuits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, plan in plans_of(FIXED.get(name, LONG_EFFECTS)):
        assert_same_in_both_forms(monkeypatch, plan, 1000, 60, f"{name}, {kind}")


@pytest.mark.parametrize("seed", seeds(8, quick=3))
def test_random_circuits(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for k, rng, circuit in seeded_circuits(seed, 4, num_qubits=2 + seed % 4, num_operations=30):
        for kind, plan in plans_of(str(circuit)):
            first_shot = int(rng.integers(5000))
            assert_same_in_both_forms(monkeypatch, plan, first_shot, 30, f"{seed}, {k}, {kind}\n{circuit}")


@pytest.mark.parametrize("kind", ["detectors", "kept"])
@pytest.mark.parametrize("seed", seeds(6, quick=2))
def test_random_effects(seed: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Effects and coins flip none to 300 outputs, besides checks and signature; some effects have a site."""
    rng = np.random.default_rng(seed)
    plan = dict(plans_of(FIXED["wide"]))[kind]
    first_output = plan.num_checks + plan.num_signature_bits

    def outputs() -> list[int]:
        size = rng.choice([0, 1, 2, 3, 4, 5, 6, 7, 30, 300])
        return sorted((first_output + rng.choice(plan.num_outputs, size, replace=False)).tolist())

    def effect(mechanism: int) -> list[int]:
        bits = plan.effects.row(mechanism).tolist()
        return [*(bit for bit in bits if bit < first_output), *outputs()]

    sites = np.where(rng.random(plan.num_mechanisms) < 0.3, rng.integers(0, 40, plan.num_mechanisms), -1)
    changed = dataclasses.replace(
        plan,
        effects=SparseRows.of(map(effect, range(plan.num_mechanisms))),
        coins=SparseRows.of(outputs() for _ in range(70)),
        coin_readouts=SparseRows.of([[]] * 70),
        sites=sites.astype(np.int32) if seed % 2 else plan.sites,
    )
    assert_same_in_both_forms(monkeypatch, changed, 500, 100, f"seed {seed}, {kind}")


@pytest.mark.parametrize("instruction_set", available_instruction_sets())
def test_tables_larger_than_the_nearest_caches(instruction_set: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look-ups in long tables are announced. Shots around the end of a block, and blocks of many events."""
    plan = detector_plan(surface_code(11))
    assert plan.num_mechanisms > 1 << 14
    expected = ReferenceEngine(plan).sample(SEED, 1021, 6)
    for form in (None, *FORMS):
        monkeypatch.setattr(plans, "_FORM", form)
        engine = CpuEngine(plan, instruction_set=instruction_set)
        np.testing.assert_array_equal(engine.sample(SEED, 1021, 6), expected)
        rows = engine.sample(SEED, 0, 3000)
        np.testing.assert_array_equal(rows[1021:1027], expected)
        np.testing.assert_array_equal(CpuEngine(plan, threads=3).sample(SEED, 0, 3000), rows)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["wide", "layers", "coins", "long effects"])
def test_first_outputs(name: str, form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every engine returns the first so many outputs, with zeros behind them, and writes nothing else."""
    monkeypatch.setattr(plans, "_FORM", form)
    for kind, plan in plans_of(FIXED.get(name, LONG_EFFECTS)):
        if plan.num_checks + plan.num_outcome_checks:
            continue
        engines: list[Any] = [RememberedReference(plan), CpuEngine(plan), GpuEngine(plan, HostBackend())]
        engines.append(AutoEngine(CpuEngine(plan), lambda plan=plan: GpuEngine(plan, HostBackend())))
        all_outputs = engines[0].sample(SEED, 1020, 9)
        bits = np.unpackbits(all_outputs, axis=1, count=plan.num_outputs, bitorder="little")
        for wanted in {0, 1, 7, 8, 9, 63, 64, 65, 72, 127, 128, plan.num_outputs - 1, plan.num_outputs}:
            if wanted > plan.num_outputs:
                continue
            expected = np.packbits(bits[:, :wanted], axis=1, bitorder="little")
            for engine in engines:
                rows = engine.sample(SEED, 1020, 9, num_outputs=wanted)
                assert rows.flags.c_contiguous
                np.testing.assert_array_equal(rows, expected, err_msg=f"{name}, {kind}, {wanted}, {engine}")
    with pytest.raises(ValueError, match="num_outputs is above the number of outputs"):
        CpuEngine(plan).sample(SEED, 0, 1, num_outputs=plan.num_outputs + 1)


def test_the_plan_chooses_the_faster_form() -> None:
    """Few ones in long rows are lists; short rows and rows full of ones are words."""
    forms = {}
    for distance in (5, 7, 9, 15):
        plan = detector_plan(surface_code(distance))
        forms[distance] = (plan.num_row_words, plan.effects_are_lists)
    assert forms == {5: (2, False), 7: (6, False), 9: (12, True), 15: (53, True)}
    [records] = [plan for kind, plan in plans_of(LONG_EFFECTS) if kind == "records"]
    assert records.num_row_words == 10
    assert not records.effects_are_lists  # on average more than four ones, and a quarter of the words
    empty = detector_plan(stim.Circuit())
    assert not empty.effects_are_lists | empty.outcome_effects_are_lists
    for name, lists in (("wide", True), ("layers", False)):
        for _, plan in plans_of(FIXED[name]):
            wide = plan.num_branch_words > 8
            assert plan.outcome_effects_are_lists == plan.signature_images_are_lists == (lists and wide)
    for plan in (records, detector_plan(surface_code(9))):
        ones = float(np.diff(plan.effects.starts) @ plan.rates / plan.rates.sum())
        assert plan.effects_are_lists == (ones <= max(4, plan.num_row_words / 4))


@pytest.mark.parametrize("qubits", [3, 700])
def test_many_events_of_a_shot_at_sites(qubits: int) -> None:
    """Some 700 events of each shot, far more than are compared with each other; narrow rows and long ones."""
    lines = [f"HERALDED_PAULI_CHANNEL_1(0, 0.25, 0.5, 0.125) {k % qubits}" for k in range(400)]
    circuit = Circuit("\n".join([*lines, f"M {' '.join(map(str, range(qubits)))}"]))
    detectors = Circuit(f"{circuit}\n" + "\n".join(f"DETECTOR rec[-{k + 1}]" for k in range(qubits)))
    for sampler, same in (
        (circuit.compile_sampler, lambda found: found.sample(40)),
        (detectors.compile_detector_sampler, lambda found: found.sample(40)),
    ):
        np.testing.assert_array_equal(
            same(sampler(seed=3, engine="cpu")), same(sampler(seed=3, engine="reference"))
        )


def circuit_with_close_decisions(num_qubits: int) -> Circuit:
    """The second measurement differs from the first one with about the probability that counts as 0.

    Of each signature, rounding decides on which side of it. The measurements after them are random.
    """
    tiny = 2 * math.asin(math.sqrt(_native.CERTAIN)) / math.pi
    qubits = range(num_qubits)
    every = " ".join(map(str, qubits))
    parity = "*".join(f"X{q}" for q in qubits)
    lines = [f"RX {every}", f"T {every}"]
    lines += [f"R_ZZ({0.13 + 0.02 * q}) {q} {(q + 1) % num_qubits}" for q in qubits]
    lines += [
        f"Z_ERROR(0.2) {every}",
        *(f"R_X({0.21 + 0.03 * q}) {q}" for q in qubits),
        f"X_ERROR(0.2) {every}",
    ]
    lines += [f"R_ZZ({0.23 + 0.02 * q}) {q} {(q + 1) % num_qubits}" for q in qubits]
    lines += [f"MPP {parity}", f"R_Z({tiny!r}) 0", f"MPP {parity}"]
    lines += [f"R_Z(0.2) {q}\nMX {q}" for q in range(3)]
    return Circuit("\n".join(lines))


@pytest.mark.parametrize("num_qubits", [4, 5])
def test_shots_do_not_depend_on_what_is_stored(num_qubits: int) -> None:
    """Seed 3. Simulations of single shots and of batches round differently, and both store what they find."""
    plan = circuit_with_close_decisions(num_qubits).compile().record_plan()
    stored, alone = CpuEngine(plan), CpuEngine(plan, cache_bytes=0)
    shots = 400_000
    rows = stored.sample(3, 0, shots)
    assert stored.statistics()["simulations"] < shots / 10
    np.testing.assert_array_equal(rows, alone.sample(3, 0, shots))
