"""The trajectory engine against density matrices, Stim and the other engines.

Statistical comparisons reject a correct engine with a probability below ``ALPHA`` each. There are fewer than a
thousand of them, so that a whole run raises a false alarm with a probability below 1e-6.
"""

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford import _native
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.engines import TrajectoryEngine
from stim_nonclifford.simulation.sampling import CompiledDetectorSampler

from ....support.oracle.agreement import p_value
from ....support.oracle.density_matrix import record_distribution
from ....support.oracle.leakage import leaked_record_distribution
from ....support.oracle.random_circuits import random_circuit
from ....support.seeds import seeds
from ....support.texts.leaking_circuits import random_leaking_text

ALPHA = 1e-10
SHOTS = 50_000

RELAXATIONS = (
    "AMPLITUDE_DAMPING(0.3)", "PHASE_DAMPING(0.4)", "AMPLITUDE_DAMPING(1)", "THERMAL_RELAXATION(0.3, 0.3)",
    "THERMAL_RELAXATION(0.2, 0.5)",  # T2 < T1
    "THERMAL_RELAXATION(0.3, 0.25)", "THERMAL_RELAXATION(0.5, 0.3)", "THERMAL_RELAXATION(0.4, 0.2)",  # T2 > T1
)  # fmt: skip


def with_relaxation(circuit: stim.Circuit, rng: np.random.Generator, count: int) -> snc.Circuit:
    """The circuit with relaxation at random places, and measurements that misread 0 and 1 differently."""
    lines = str(circuit).splitlines()
    for _ in range(count):
        line = f"{rng.choice(RELAXATIONS)} {' '.join(map(str, rng.choice(4, size=2, replace=False)))}"
        lines.insert(int(rng.integers(len(lines) + 1)), line)
    for k, line in enumerate(lines):
        words = line.split()
        if words[0] in ("M", "MX", "MR", "MRY", "MZZ") and rng.random() < 0.5:
            lines[k] = " ".join([f"{words[0]}(0.05, 0.3)", *words[1:]])
    return snc.Circuit("\n".join(lines))


def records_of(engine: TrajectoryEngine, shots: int, num_records: int) -> np.ndarray:
    rows = engine.sample(7, 0, shots)
    return np.unpackbits(rows, axis=1, count=num_records, bitorder="little").astype(np.bool_)


@pytest.mark.parametrize("seed", seeds(60, quick=10))
def test_records_have_the_distribution_of_the_density_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    circuit = with_relaxation(
        random_circuit(rng, num_operations=25, max_records=8), rng, count=int(rng.integers(5))
    )
    sampler = circuit.compile_sampler(seed=seed, engine="trajectory")
    assert p_value(sampler.sample(SHOTS), record_distribution(circuit.to_stim())) > ALPHA


@pytest.mark.parametrize("seed", seeds(60, quick=6))
def test_leaking_circuits_have_the_distribution_of_the_density_matrix(seed: int) -> None:
    circuit = snc.Circuit(random_leaking_text(seed, spreads=seed % 2 == 0, models=seed % 3 == 0))
    sampler = circuit.compile_sampler(seed=seed, engine="trajectory")
    assert p_value(sampler.sample(SHOTS), leaked_record_distribution(circuit.to_stim())) > ALPHA


@pytest.mark.parametrize("seed", seeds(60, quick=8))
def test_leakage_of_states_has_the_distribution_of_the_density_matrix(seed: int) -> None:
    text = random_leaking_text(seed, spreads=seed % 2 == 0, models=seed % 3 == 0, of_states=True)
    circuit = snc.Circuit(text)
    samples = circuit.compile_sampler(seed=seed).sample(SHOTS)
    assert p_value(samples, leaked_record_distribution(circuit.to_stim())) > ALPHA


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("LEAKAGE_FROM_ONE(0.3) 0", ["LEAKAGE(0.15) 0", "LEAKAGE_FROM_ONE(0.31) 0"]),
        ("LEAKAGE_FROM_11(0.3) 0 1", ["LEAKAGE_FROM_ONE(0.15) 0", "LEAKAGE_FROM_11(0.3) 1 0"]),
        ("LEAKAGE(0.3) 0\nRELAX_TO_ONE(0.5) 0", ["LEAKAGE(0.3) 0\nRELAX(0.5) 0"]),
        ("LEAKAGE_SKIPS_GATES 0\nLOSS(0.3) 0\nCZ 0 1", ["LOSS(0.3) 0\nCZ 0 1"]),
        (
            "LEAKAGE_SKIPS_GATES 0\nLOSS(0.3) 0\nCCZ 0 1 2",
            ["LEAKAGE_PARTNER(0, 0, 0) 0\nLOSS(0.3) 0\nCCZ 0 1 2"],
        ),
    ],
)
def test_another_model_of_leakage_is_noticed(line: str, changes: list[str]) -> None:
    text = "RX 0 1 2\nT 0 1\nH 0\n{}\nHERALD_LEAKAGE_EVENT(0) 0 1\nM 0\nMX 1 2"
    right = snc.Circuit(text.format(line))
    samples = right.compile_sampler(seed=5).sample(2_000_000)
    assert p_value(samples, leaked_record_distribution(right.to_stim())) > ALPHA
    for change in changes:
        wrong = snc.Circuit(text.format(change))
        assert p_value(samples, leaked_record_distribution(wrong.to_stim())) < ALPHA


def test_a_wrong_time_is_noticed() -> None:
    """A coherence time that is off by 2%, and a relaxation time that is off by 3%."""
    right = "THERMAL_RELAXATION(0.3, 0.25)"
    text = "RX 0\nT 0\n" + 6 * f"{right} 0\nH 0\n" + "MX 0"
    samples = snc.Circuit(text).compile_sampler(seed=5, engine="trajectory").sample(5_000_000)
    assert p_value(samples, record_distribution(snc.Circuit(text).to_stim())) > ALPHA
    for change in ("THERMAL_RELAXATION(0.3, 0.256)", "THERMAL_RELAXATION(0.309, 0.25)"):
        wrong = snc.Circuit(text.replace(right, change))
        assert p_value(samples, record_distribution(wrong.to_stim())) < ALPHA


def test_resets_in_a_code_as_in_stim() -> None:
    """Resets of data qubits in the middle of a memory of 49 qubits, each with probability 1, as Stim has them."""
    memory = stim.Circuit.generated(
        "surface_code:rotated_memory_x", distance=5, rounds=3, after_clifford_depolarization=0.01
    ).flattened()
    plain, decaying = stim.Circuit(), stim.Circuit()
    for number, instruction in enumerate(memory):
        for circuit in (plain, decaying):
            circuit.append(instruction)
        if instruction.name == "TICK" and number % 3 == 0:
            qubit = (7 * number) % 50
            if qubit in memory.get_final_qubit_coordinates():
                plain.append("R", [qubit])
                decaying.append("I_ERROR", [qubit], tag="AMPLITUDE_DAMPING(gamma=1)")
    shots, count = 100_000, memory.num_detectors + 1
    expected = plain.compile_detector_sampler(seed=1).sample(shots, append_observables=True)
    sampler = snc.Circuit(str(decaying)).compile_detector_sampler(
        seed=2, engine="trajectory", skip_reference_sample=True
    )
    found = sampler.sample(shots, append_observables=True)
    reference = plain.reference_sample()
    flips = stim.CompiledMeasurementsToDetectionEventsConverter(plain, skip_reference_sample=True).convert(
        measurements=reference[np.newaxis], append_observables=True
    )
    moments = [(rows.astype(np.float64).T @ rows) / shots for rows in (expected ^ flips, found)]
    error = np.sqrt(np.maximum(sum(m * (1 - m) for m in moments), 1 / shots) / shots)
    # 7,000 pairs of outputs; a normal deviate exceeds 7.5 with a probability below 1e-13.
    assert np.abs((moments[0] - moments[1]) / error).max() < 7.5
    assert found.shape == (shots, count)


def test_cultivation_as_on_the_cpu_engine() -> None:
    lines = str(cultivation_circuit(distance=3, p=0.002)).splitlines()
    circuit = snc.Circuit(
        "\n".join(line.replace("DEPOLARIZE1(0.002)", "THERMAL_RELAXATION(0.004, 0.003)") for line in lines)
    )
    shots = 20_000
    kept = [
        circuit.compile_detector_sampler(seed=1, postselection_mask="all", engine=engine).sample_counts(shots)
        for engine in ("cpu", "trajectory")
    ]
    accepted = [shots - counts.discards for counts in kept]
    assert 0.2 * shots < accepted[0] < 0.9 * shots
    assert abs(accepted[0] - accepted[1]) < 7 * np.sqrt(sum(accepted))


CIRCUIT = """
    R 0 1 2
    RX 0
    T 0
    DEPOLARIZE1(0.2) 0 1
    E(0.1) X0 Z1
    ELSE_CORRELATED_ERROR(0.3) Y2
    THERMAL_RELAXATION(0.2, 0.15) 0 1 2
    T_DAG 0
    LEAKAGE(0.05) 2
    M(0.01, 0.1) 1 2
    DETECTOR rec[-1]
    DETECTOR rec[-2]
    MX(0.05) 0
    DETECTOR rec[-1]
    OBSERVABLE_INCLUDE(0) rec[-1] rec[-2]
    OBSERVABLE_INCLUDE(1) rec[-1]"""


def test_shots_depend_on_the_seed_and_the_number_alone() -> None:
    def sampler(threads: int, seed: int = 3) -> CompiledDetectorSampler:
        return snc.Circuit(CIRCUIT).compile_detector_sampler(
            seed=seed, postselection_mask=[True, False, False], engine="trajectory", threads=threads
        )

    whole = sampler(1).sample(3000, append_observables=True)
    parts = sampler(3)
    pieces = [parts.sample(size, append_observables=True) for size in (1, 999, 0, 2000)]
    assert (np.concatenate(pieces) == whole).all()
    assert (sampler(1, seed=4).sample(3000, append_observables=True) != whole).any()
    kept = sampler(2).sample_kept(3000, bit_packed=False)
    accepted = ~whole[:, 0]
    assert kept.discards == (~accepted).sum()
    assert (np.hstack([kept.dets, kept.obs]) == whole[accepted]).all()
    counts = sampler(1).sample_counts(3000)
    wrong = whole[accepted, 3:].any(axis=1)
    assert (counts.discards, counts.errors) == (kept.discards, wrong.sum())
    assert (counts.observable_flips == whole[accepted, 3:].sum(axis=0)).all()
    few = sampler(2).sample_counts(3000, max_errors=int(wrong[: accepted[:1024].sum()].sum()) + 1)
    assert few.shots == 2048
    assert few.errors == whole[:2048][accepted[:2048], 3:].any(axis=1).sum()


def test_shots_do_not_depend_on_the_instruction_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gates and noise of a circuit whose vectors have blocks, and fewer coefficients than a block."""
    lines = [f"T {' '.join(map(str, range(6)))}", "CX 0 1 2 3 4 5", "R_X(0.3) 1 4", "CZ 1 2 3 4 0 5"]
    noise = "THERMAL_RELAXATION(0.1, 0.06) 0 1 2 3 4 5"  # with amplitude damping
    circuit = snc.Circuit(
        "\n".join(["H 0 1 2 3 4 5", *lines, noise, *lines, "MPP X0*Y1", noise, "MX 0 1 2 3 4 5"])
    )
    found = []
    for name in _native.available_instruction_sets():
        monkeypatch.setenv("STIM_NONCLIFFORD_ISA", name)
        sampler = circuit.compile_sampler(seed=5, engine="trajectory")
        found.append(sampler.sample(2000))
        assert sampler.statistics()["largest_width"] > 3
    assert all((each == found[0]).all() for each in found)


def test_batches_are_the_kept_shots() -> None:
    sampler = snc.Circuit(CIRCUIT).compile_detector_sampler(
        seed=3, postselection_mask=[True, False, False], engine="trajectory"
    )
    kept = sampler.sample_kept(2000)
    sampler.seek(0)
    batches = list(sampler.iter_kept(max_shots=2000, batch_shots=300))
    assert (np.concatenate([batch.dets for batch in batches]) == kept.dets).all()


def test_relaxation_needs_no_wider_vector() -> None:
    circuit = snc.Circuit.generated("surface_code:rotated_memory_z", distance=5, rounds=5).to_stim()
    noisy = stim.Circuit()
    for instruction in circuit.flattened():
        noisy.append(instruction)
        if instruction.name == "TICK":
            noisy.append("I_ERROR", range(50), tag="THERMAL_RELAXATION(t_over_T1=0.01, t_over_T2=0.01)")
    with pytest.raises(snc.ResourceLimitError, match="engine='trajectory'"):
        snc.Circuit(str(noisy)).compile_detector_sampler(max_active_coordinates=10, engine="cpu")
    sampler = snc.Circuit(str(noisy)).compile_detector_sampler(seed=1)
    sampler.sample(100)
    found = sampler.statistics()
    assert found["largest_width"] == 0
    assert found["structural_events"] > 1000


def relaxing(circuit: stim.Circuit) -> snc.Circuit:
    """The circuit with relaxation of all qubits at each TICK."""
    qubits = " ".join(map(str, range(circuit.num_qubits)))
    text = str(circuit.without_noise().flattened())
    return snc.Circuit(text.replace("TICK", f"TICK\nTHERMAL_RELAXATION(0.001, 0.001) {qubits}"))


def test_the_cheaper_engine_by_counted_operations_is_chosen() -> None:
    """A small code has a plan, and cultivation is followed; the same shots as with the name of the engine."""
    memory = stim.Circuit.generated("surface_code:rotated_memory_z", distance=3, rounds=3)
    for circuit, follows in ((memory, False), (cultivation_circuit(distance=3, p=0.001), True)):
        relaxes = relaxing(circuit)
        engines = ("auto", "trajectory" if follows else "cpu")
        samplers = [relaxes.compile_detector_sampler(seed=1, engine=engine) for engine in engines]
        rows = [sampler.sample(200, append_observables=True) for sampler in samplers]
        assert (rows[0] == rows[1]).all()
        assert rows[0].any()
        assert ("structural_events" in samplers[0].statistics()) == follows
        cost = relaxes.plan("sample_counts").cost
        assert cost is not None
        assert cost.follows == follows
        assert f'engine="auto" {"follows each shot" if follows else "takes the plan"}' in " ".join(
            str(relaxes.plan()).split()
        )
    # Nothing to choose without relaxation, or with narrow plans.
    for text in ("RX 0\nT 0\nX_ERROR(0.1) 0\nMX 0", "RX 0\nAMPLITUDE_DAMPING(0.1) 0\nM(0.1, 0.2) 0"):
        assert snc.Circuit(text).plan().cost is None
        assert "structural_events" not in snc.Circuit(text).compile_sampler().statistics()


def test_records_of_a_circuit_that_relaxation_makes_too_wide() -> None:
    circuit = stim.Circuit.generated("surface_code:rotated_memory_z", distance=5, rounds=3)
    sampler = relaxing(circuit).compile_sampler(seed=1)
    assert sampler.sample(50).shape == (50, circuit.num_measurements)
    assert sampler.statistics()["largest_width"] == 0


def test_a_shot_that_is_too_wide_is_no_discarded_shot() -> None:
    circuit = snc.Circuit("RX 0 1 2\nT 0 1 2\nMX 0 1 2")
    sampler = circuit.compile_sampler(seed=1, engine="trajectory", max_active_coordinates=2)
    with pytest.raises(snc.ResourceLimitError, match=r"Shot 0 needs 3 active coordinates at line 2.*=2"):
        sampler.sample(10)


REFUSALS = [
    ("M 0\nOBSERVABLE_INCLUDE(0) X0", "sample", r"Line 2: .*Pauli targets.*\(MPP\)"),
    ("M 0\nOBSERVABLE_INCLUDE(0) rec[-1]", "sample_failures", "sample_counts"),
    (f"M {' '.join(map(str, range(1025)))}", "sample", "1,025 qubits.*at most 1,024"),
    ("REPEAT 20000000 {\n  X_ERROR(0.1) 0\n  M 0\n}", "sample", "limit"),
]


@pytest.mark.parametrize(("text", "method", "message"), REFUSALS, ids=[method for _, method, _ in REFUSALS])
def test_what_the_engine_does_not_do(text: str, method: str, message: str) -> None:
    with pytest.raises((ValueError, snc.ResourceLimitError), match=message):
        getattr(snc.Circuit(text).compile_detector_sampler(engine="trajectory"), method)(10)
