"""The CPU engine gives the same shots as the reference engine, however it is configured and called."""

import functools
import itertools
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats

from stim_nonclifford import Circuit
from stim_nonclifford._native import available_instruction_sets
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import (
    DEFAULT_CACHE_BYTES,
    CpuEngine,
    GpuEngine,
    ReferenceEngine,
    SamplingEngine,
    Tally,
)
from stim_nonclifford.simulation.engines.gpu.host_backend import HostBackend
from stim_nonclifford.simulation.engines.reference import likely_outputs, sample_shots
from stim_nonclifford.simulation.plan import BLOCK_SHOTS, SamplingPlan

from ...support.engines.engine_cases import (
    FIXED,
    LAYERS,
    LONG_SIGNATURE,
    REPETITION,
    SEED,
    RememberedReference,
    assert_same_laws,
    plans_of,
)
from ...support.laws.exact import exact_outputs
from ...support.oracle.agreement import p_value
from ...support.oracle.density_matrix import record_distribution
from ...support.oracle.random_circuits import seeded_circuits
from ...support.seeds import seeds, slow


def on_host(plan: SamplingPlan) -> GpuEngine:
    return GpuEngine(plan, HostBackend())


ENGINES = [CpuEngine, ReferenceEngine, on_host]


def assert_same_shots(
    plan: SamplingPlan, cpu: CpuEngine, first_shot: int, shots: int, where: str, max_errors: int = 3
) -> None:
    """Compares all methods of the engines."""
    reference = RememberedReference(plan)
    kept = reference.sample_kept(SEED, first_shot, shots)
    np.testing.assert_array_equal(cpu.sample_kept(SEED, first_shot, shots), kept, err_msg=where)
    if not plan.num_checks + plan.num_outcome_checks and not plan.never_kept:
        np.testing.assert_array_equal(cpu.sample(SEED, first_shot, shots), kept, err_msg=where)
    assert kept.shape == (len(kept), -(-plan.num_outputs // 8)), where
    assert kept.dtype == np.uint8, where
    for limit in (0, max_errors):
        for listed in (False, True):
            expected = reference.count(SEED, first_shot, shots, limit, list_errors=listed)
            assert cpu.count(SEED, first_shot, shots, limit, list_errors=listed) == expected, where


@pytest.mark.parametrize("seed", seeds(20, quick=3))
def test_random_circuits(seed: int) -> None:
    """Circuits of the seeds [seed, 0], [seed, 1], ...; every other one is mirrored."""
    for k, rng, circuit in seeded_circuits(seed, 6, num_qubits=2 + seed % 4, num_operations=30):
        for kind, plan in plans_of(str(circuit)):
            where = f"seed {seed}, {k}, {kind}\n{circuit}"
            first_shot = int(rng.integers(5000))
            assert_same_shots(plan, CpuEngine(plan), first_shot, 40, where)
            assert_same_laws(CpuEngine(plan), rng, 2, where)


def test_many_fair_outcomes() -> None:
    """Shots whose decisions halve the mass of their random number until a new one is drawn."""
    circuit = Circuit(cultivation_circuit(distance=5, p=4e-3))
    plan = circuit.compile().detector_plan(
        RequestedOutputs.of(range(circuit.num_detectors + circuit.num_observables))
    )
    rows = ReferenceEngine(plan).sample(7, 430, 20)
    np.testing.assert_array_equal(CpuEngine(plan).sample(7, 430, 20), rows)


def test_fixed_circuits_are_what_they_should_be() -> None:
    """The sizes for which the circuits above are made."""
    plans = {name: dict(plans_of(text)) for name, text in FIXED.items()}
    assert plans["layers"]["records"].peak_width >= 5
    assert plans["layers"]["kept"].num_outcome_checks >= 1
    assert plans["repetition"]["kept"].num_signature_bits >= 5
    for kind in ("records", "detectors", "kept"):
        assert plans["wide"][kind].num_outputs > 512
    assert plans["wide"]["kept"].num_checks > 128
    assert len(plans["coins"]["records"].coins) == 150
    assert plans["events"]["records"].mean_events > 50
    assert plans["wide events"]["records"].mean_events > 50
    assert plans["wide events"]["records"].num_outputs > 512
    assert plans["long signature"]["records"].num_signature_bits > 64
    assert plans["long signature"]["counts"].num_outputs > 64
    sites = plans["sites"]["records"]
    repeated = 0
    for shot in sample_shots(sites, SEED, 0, 100):
        used = [int(sites.sites[m]) for m in shot.mechanisms if sites.sites[m] >= 0]
        repeated += len(used) > len(set(used))
    assert repeated > 30


@pytest.mark.parametrize("instruction_set", available_instruction_sets())
@pytest.mark.parametrize("name", ["layers", "wide", "sites"])
def test_every_instruction_set(name: str, instruction_set: str) -> None:
    """Against the reference on a few shots, and against the default instruction set on many."""
    for kind, plan in plans_of(FIXED[name]):
        engine = CpuEngine(plan, instruction_set=instruction_set)
        assert engine.instruction_set == instruction_set
        assert_same_shots(plan, engine, 7, 20, f"{name}, {kind}, {instruction_set}")
        rows = CpuEngine(plan).sample_kept(SEED, 0, 3000)
        np.testing.assert_array_equal(engine.sample_kept(SEED, 0, 3000), rows)


def test_likely_outputs() -> None:
    ones = 0
    for seed in range(40):
        for k, _, circuit in seeded_circuits(seed, 3, num_qubits=2 + seed % 4, num_operations=30):
            plan = Circuit(str(circuit)).compile().record_plan()
            expected = likely_outputs(plan)
            for instruction_set in available_instruction_sets():
                likely = CpuEngine(plan, instruction_set=instruction_set).likely_outputs()
                assert likely.dtype == np.bool_
                assert likely.shape == (plan.num_outputs,)
                where = f"seed {seed}, {k}, {instruction_set}\n{circuit}"
                np.testing.assert_array_equal(likely, expected, err_msg=where)
            ones += int(expected.sum())
    assert ones > 50


def test_instruction_sets_round_alike() -> None:
    """Probabilities agree bit by bit: the code alone says which products and sums are rounded at once."""
    for text in (LAYERS, REPETITION):
        for kind, plan in plans_of(text):
            signature = np.zeros(plan.num_signature_bits, dtype=np.bool_)
            laws = [
                [probability.hex() for probability, _, _ in engine.outcome_law(signature)]
                for engine in (CpuEngine(plan, instruction_set=name) for name in available_instruction_sets())
            ]
            assert all(law == laws[0] for law in laws), kind


@functools.cache
def shots_of_one_thread(name: str, kind: str) -> tuple[npt.NDArray[np.uint8], Tally]:
    """The rows and the counts of 5000 shots of a plan of a fixed circuit."""
    engine = CpuEngine(dict(plans_of(FIXED[name]))[kind])
    return engine.sample_kept(SEED, 77, 5000), engine.count(SEED, 77, 5000)


@pytest.mark.parametrize(
    ("threads", "cache_bytes"), [(1, 0), (1, 100_000), (2, 100_000), (3, 0), (3, DEFAULT_CACHE_BYTES)]
)
def test_threads_and_cache_change_nothing(threads: int, cache_bytes: int) -> None:
    """The second round finds the outcome laws of the first one, as far as they were stored."""
    for name in ("layers", "repetition", "long signature"):
        for kind, plan in plans_of(FIXED[name]):
            where = f"{name}, {kind}"
            rows, tally = shots_of_one_thread(name, kind)
            engine = CpuEngine(plan, threads=threads, cache_bytes=cache_bytes)
            for _ in range(2):
                np.testing.assert_array_equal(engine.sample_kept(SEED, 77, 5000), rows, err_msg=where)
                assert engine.count(SEED, 77, 5000) == tally, where
            assert engine.statistics()["bytes"] <= cache_bytes


def test_threads_share_outcome_laws() -> None:
    """What one thread has simulated, no other one simulates again, whoever draws which shots."""
    plan = dict(plans_of(REPETITION))["counts"]
    engine = CpuEngine(plan, threads=3)
    tally = engine.count(SEED, 0, 300_000)
    work = engine.statistics()
    assert work["simulations"] > 100
    # So few signatures fit into the table as it is from the beginning.
    assert 10 < work["signatures"] < 500
    for _ in range(3):
        assert engine.count(SEED, 0, 300_000) == tally
    assert engine.statistics()["simulations"] == work["simulations"]


@pytest.mark.parametrize("cache_bytes", [1 << 21, slow(DEFAULT_CACHE_BYTES)])
def test_threads_add_signatures_while_others_look_them_up(cache_bytes: int) -> None:
    """The table of signatures grows four times and more, or as far as there is memory, under way."""
    plan = dict(plans_of(LONG_SIGNATURE))["detectors"]
    expected = CpuEngine(plan).sample(SEED, 0, 200_000)
    for _ in range(3):
        engine = CpuEngine(plan, threads=4, cache_bytes=cache_bytes)
        np.testing.assert_array_equal(engine.sample(SEED, 0, 200_000), expected)
        work = engine.statistics()
        assert work["bytes"] <= cache_bytes
        assert work["signatures"] > (100 if cache_bytes < DEFAULT_CACHE_BYTES else 10_000)


LATER = 1 << 15
"""After so many shots without a store, the CPU engine simulates narrow vectors in batches."""


@functools.cache
def shots_that_come_later() -> list[tuple[str, SamplingPlan, npt.NDArray[np.uint8], Tally, dict[str, int]]]:
    """Plans, rows of 24 shots by the reference engine, the counts of 3000 and what simulating these takes.

    Circuits of seed 5 are among them. 3000 shots are too few for batches.
    """
    random = seeded_circuits(5, 12, num_qubits=4, num_operations=30)
    found = []
    for name, text in [*FIXED.items(), *((f"circuit {k}", str(circuit)) for k, _, circuit in random)]:
        for kind, plan in plans_of(text):
            if not len(plan.operations) or plan.num_outputs > 300:
                continue
            alone, stored = CpuEngine(plan, cache_bytes=0), CpuEngine(plan)
            tally = alone.count(SEED, LATER, 3000)
            assert stored.count(SEED, 0, LATER + 3000).shots == LATER + 3000
            assert stored.count(SEED, LATER, 3000) == tally, f"{name}, {kind}"
            rows = ReferenceEngine(plan).sample_kept(SEED, LATER, 24)
            found.append((f"{name}, {kind}", plan, rows, tally, alone.statistics()))
    return found


@pytest.mark.parametrize(
    "instruction_set",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "generic" else ())
        for name in available_instruction_sets()
    ],
)
def test_shots_that_are_simulated_together(instruction_set: str) -> None:
    """Nothing is stored, so that after a while narrow vectors are simulated in batches.

    ``steps`` shows that they are: single simulations begin at a stored vector and stop at the check that fires.
    """
    in_batches = 0
    for where, plan, rows, tally, alone in shots_that_come_later():
        engine = CpuEngine(plan, cache_bytes=0, instruction_set=instruction_set)
        engine.count(SEED, 0, LATER)
        np.testing.assert_array_equal(engine.sample_kept(SEED, LATER, 24), rows, err_msg=where)
        before = engine.statistics()
        assert engine.count(SEED, LATER, 3000) == tally, where
        # The same shots take the same steps if they are simulated in the same way.
        work = {key: value - before[key] for key, value in engine.statistics().items()}
        assert work["simulations"] == alone["simulations"], where
        in_batches += work["steps"] != alone["steps"]
    assert in_batches > 10


def test_cache_saves_simulations() -> None:
    """With a store, the second round simulates nothing; without, as much as the first."""
    plan = dict(plans_of(REPETITION))["counts"]
    stored, simulated = CpuEngine(plan), CpuEngine(plan, cache_bytes=0)
    for engine in (stored, simulated):
        engine.count(SEED, 0, 2000)
    first = [engine.statistics()["simulations"] for engine in (stored, simulated)]
    for engine in (stored, simulated):
        engine.count(SEED, 0, 2000)
    second = [engine.statistics()["simulations"] for engine in (stored, simulated)]
    assert second[0] == first[0] > 0
    assert second[1] == 2 * first[1]
    assert stored.statistics()["signatures"] > 1
    assert simulated.statistics()["nodes"] == 0


def test_signatures_share_the_paths_of_signature_0() -> None:
    """Most faults come after measurements that they do not change: these are not simulated again."""
    round_ = "R_X(0.05) 0 1 2 3 4\nDEPOLARIZE1(0.01) 0 1 2 3 4\nMZZ(0.01) 0 1 1 2 2 3 3 4\n"
    text = "R 0 1 2 3 4\n" + 12 * round_ + "M 0 1 2 3 4\n"
    text += "".join(f"DETECTOR rec[-{k}] rec[-{k + 4}]\n" for k in range(6, 50))
    for kind, plan in plans_of(text):
        stored, simulated = CpuEngine(plan), CpuEngine(plan, cache_bytes=0)
        np.testing.assert_array_equal(
            stored.sample_kept(SEED, 0, 3000), simulated.sample_kept(SEED, 0, 3000), err_msg=kind
        )
        work, all_work = stored.statistics(), simulated.statistics()
        assert work["signatures"] > 10, kind
        steps = work["steps"] / work["simulations"]
        assert steps < 0.7 * all_work["steps"] / all_work["simulations"], kind


def test_kept_shots_of_a_plan_without_outputs() -> None:
    """Whether a shot is kept does not hang on there being anything to report of it."""
    text = "R 0\nR_X(0.25) 0\nX_ERROR(0.1) 0\nM 0\nR_X(0.25) 0\nM 0\nDETECTOR rec[-1] rec[-2]\n"
    plan = dict(plans_of(text))["counts"]
    assert plan.num_outputs == 0
    expected = ReferenceEngine(plan).count(SEED, 0, 2000)
    assert 100 < expected.discards < 1900
    for cache_bytes in (0, DEFAULT_CACHE_BYTES):
        assert CpuEngine(plan, cache_bytes=cache_bytes).count(SEED, 0, 2000) == expected


def test_stores_nothing_more_where_nothing_repeats() -> None:
    """Each shot has other random outcomes than any before it."""
    layer = "R_Z(0.3) 0 1 2 3\nMXX 0 1 2 3\nR_X(0.2) 0 1 2 3\nMZZ 1 2 3 0\n"
    plan = Circuit("RX 0 1 2 3\n" + 20 * layer).compile().record_plan()
    stored, simulated = CpuEngine(plan), CpuEngine(plan, cache_bytes=0)
    stored.sample(SEED, 0, 20_000)
    nodes = stored.statistics()["nodes"]
    assert nodes > 10_000
    np.testing.assert_array_equal(stored.sample(SEED, 20_000, 60_000), simulated.sample(SEED, 20_000, 60_000))
    assert stored.statistics()["nodes"] == nodes
    assert stored.statistics()["lookups"] == simulated.statistics()["lookups"] + 20_000


@pytest.mark.parametrize("first_shot", [0, 1, 1023, 1024, 1025, 10**12 + 7, 2**62 + 1000])
def test_any_first_shot(first_shot: int) -> None:
    """Shots are numbered with 64 bits, and blocks need not begin where calls do."""
    for name in ("layers", "coins", "sites", "events"):
        for kind, plan in plans_of(FIXED[name]):
            assert_same_shots(plan, CpuEngine(plan), first_shot, 30, f"{name}, {kind}, {first_shot}")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["layers", "wide", "sites", "coins"])
def test_split_calls(name: str, engine: Callable[[SamplingPlan], SamplingEngine]) -> None:
    """Rows of consecutive calls are those of one call, and counts add up."""
    parts = [1, 0, 9, 20, 63, 7]
    start = BLOCK_SHOTS - 50
    ends = [start + end for end in itertools.accumulate(parts)]
    for kind, plan in plans_of(FIXED[name]):
        if engine is ReferenceEngine and (name == "wide" or kind not in ("records", "counts")):
            continue
        whole, split = engine(plan), engine(plan)
        pieces = [split.sample_kept(SEED, end - size, size) for end, size in zip(ends, parts, strict=True)]
        rows = whole.sample_kept(SEED, start, sum(parts))
        np.testing.assert_array_equal(np.concatenate(pieces), rows, err_msg=kind)
        tallies = [split.count(SEED, end - size, size) for end, size in zip(ends, parts, strict=True)]
        assert sum_of(tallies) == whole.count(SEED, start, sum(parts)), kind


def sum_of(tallies: list[Tally]) -> Tally:
    patterns: dict[int, int] = {}
    for tally in tallies:
        for pattern, count in tally.patterns.items():
            patterns[pattern] = patterns.get(pattern, 0) + count
    return Tally(
        sum(t.shots for t in tallies),
        sum(t.discards for t in tallies),
        sum(t.errors for t in tallies),
        patterns,
    )


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("max_errors", [1, 2, 700, 20_000, 10**9])
def test_limit_of_errors(max_errors: int, threads: int) -> None:
    """The block in which counting stops does not depend on threads; the limit is found by hand."""
    plan = Circuit("X_ERROR(0.01) 0\nM 0").compile().record_plan()
    first_shot, shots = 300, 1_500_000
    engine = CpuEngine(plan, threads=threads)
    errors = engine.sample(SEED, first_shot, shots)[:, 0]
    reached = np.flatnonzero(np.cumsum(errors) >= max_errors)
    attempted = shots
    if len(reached):
        block = (first_shot + int(reached[0])) // BLOCK_SHOTS
        attempted = (block + 1) * BLOCK_SHOTS - first_shot
    assert (attempted < shots) == (max_errors <= 700)
    found = int(errors[:attempted].sum())
    assert engine.count(SEED, first_shot, shots, max_errors) == Tally(attempted, 0, found, {1: found})
    numbers = (first_shot + np.flatnonzero(errors[:attempted])).tolist()
    listed = engine.count(SEED, first_shot, shots, max_errors, list_errors=True)
    assert listed == Tally(attempted, 0, found, {1: found}, numbers)


@pytest.mark.parametrize("max_errors", [1, 3, 1000])
def test_limit_of_errors_in_both_engines(max_errors: int) -> None:
    """The first 60 of the shots are in one block, with more than three errors."""
    plan = dict(plans_of(LAYERS))["counts"]
    tally = CpuEngine(plan).count(SEED, BLOCK_SHOTS - 60, 200, max_errors)
    assert tally == ReferenceEngine(plan).count(SEED, BLOCK_SHOTS - 60, 200, max_errors)
    assert tally.shots == (60 if max_errors <= 3 else 200)
    assert tally.errors >= 3


def test_instruction_set_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Circuit("M 0").compile().record_plan()
    monkeypatch.setenv("STIM_NONCLIFFORD_ISA", "generic")
    assert CpuEngine(plan).instruction_set == "generic"
    monkeypatch.setenv("STIM_NONCLIFFORD_ISA", "avx3")
    with pytest.raises(ValueError, match=r"no instruction set 'avx3'.*generic"):
        CpuEngine(plan)
    with pytest.raises(ValueError, match="no instruction set 'avx3'"):
        Circuit("M 0").compile_sampler()
    assert CpuEngine(plan, instruction_set="generic").instruction_set == "generic"
    monkeypatch.delenv("STIM_NONCLIFFORD_ISA")
    assert CpuEngine(plan).instruction_set == available_instruction_sets()[-1]


@pytest.mark.parametrize("seed", [0, 1, 2**53 + 1, 2**63 - 1, 2**63 + 12345, 2**64 - 1])
def test_any_seed(seed: int) -> None:
    plan = dict(plans_of(REPETITION))["detectors"]
    rows = CpuEngine(plan).sample(seed, 5, 50)
    np.testing.assert_array_equal(rows, ReferenceEngine(plan).sample(seed, 5, 50))
    assert not np.array_equal(rows, CpuEngine(plan).sample(seed ^ 1, 5, 50))


@pytest.mark.parametrize("seed", range(50, 60))
def test_samples_follow_the_exact_distribution(seed: int) -> None:
    """Circuits of the seeds [seed, 0], ..., 2 * 10^4 shots of seed 9; false alarms: 2e-9 each, 1e-7 in all.

    Exclusive noise with large probabilities is in them: both engines could agree and be wrong.
    """
    for k, _, circuit in seeded_circuits(seed, 5, num_qubits=3, num_operations=25):
        compiled = Circuit(circuit).compile()
        rows = CpuEngine(compiled.record_plan()).sample(9, 0, 20_000)
        samples = np.unpackbits(rows, axis=1, count=circuit.num_measurements, bitorder="little").astype(
            np.bool_
        )
        assert p_value(samples, record_distribution(circuit)) > 2e-9, f"seed {seed}, {k}\n{circuit}"


def test_counts_follow_the_exact_distribution() -> None:
    """10^6 shots of seed 11, with postselection, of three rounds: exact sums of four take 10 s. False alarms: 1e-8."""
    plan = dict(plans_of(REPETITION.replace("REPEAT 4", "REPEAT 3")))["counts"]
    shots = 10**6
    tally = CpuEngine(plan).count(11, 0, shots)
    exact = exact_outputs(plan)
    assert 0.1 < exact.discarded < 0.9
    assert 0.01 < exact.kept[1] < 0.9
    assert tally.patterns == {1: tally.errors}
    for count, probability in ((tally.discards, exact.discarded), (tally.errors, exact.kept[1])):
        assert scipy.stats.binomtest(count, shots, probability).pvalue > 1e-8 / 2
    assert tally.shots == shots


def test_never_kept() -> None:
    """The postselected detector always fires."""
    compiled = Circuit("X 0\nM 0\nDETECTOR rec[-1]").compile()
    plan = compiled.detector_plan(RequestedOutputs.of((0,), (0,)), skip_reference_sample=True)
    assert plan.never_kept
    for engine in ENGINES:
        assert engine(plan).count(SEED, 0, 2000) == Tally(2000, 2000, 0, {})
        assert engine(plan).sample_kept(SEED, 0, 2000).shape == (0, 1)
    assert on_host(plan).sample_kept_on_device(SEED, 0, 2000).shape == (0, 1)
