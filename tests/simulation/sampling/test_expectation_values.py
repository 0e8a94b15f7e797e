"""EXP_VAL: its forms, its values against density matrices, and what it must not change."""

import os
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.compiler.expectations import ExpectationCircuit, ExpectationPlan
from stim_nonclifford.simulation.engines import CpuEngine, GpuEngine
from stim_nonclifford.simulation.engines.gpu.host_backend import HostBackend
from stim_nonclifford.simulation.sampling import CompiledDetectorSampler
from stim_nonclifford.simulation.sampling.expectation_values import ExpectationEngine

from ...support.laws.exact import exact_outputs, largest_difference, num_rows
from ...support.laws.expectation_oracle import ExpectationSimulator, with_random_expectations
from ...support.oracle.random_circuits import ALL_FAMILIES, Family, mirrored_circuit, random_circuit
from ...support.published_circuits import FOLDER, needs_published
from ...support.seeds import seeds

pytestmark = pytest.mark.filterwarnings("ignore::stim_nonclifford.RandomObservableWarning")
"""Bits are compared here, whatever they mean: some observables are random without noise."""

TOLERANCE = 1e-10
NUM_CIRCUITS = int(os.environ.get("STIM_NONCLIFFORD_EXPECTATION_CIRCUITS", "1000"))
NUM_SEEDS = 20
MAX_ROWS = 1 << 12
MAX_SIGNATURE_BITS = 6
MAGIC = {
    Family.T, Family.ROTATIONS, Family.CLIFFORD, Family.MEASUREMENTS, Family.MEASUREMENT_NOISE,
    Family.FEEDBACK, Family.RESETS, Family.NOISE,
}  # fmt: skip
PURE = {
    Family.CLIFFORD, Family.PAULI_PHASE, Family.T, Family.ROTATIONS, Family.CONTROLLED, Family.MEASUREMENTS,
    Family.FEEDBACK,
}  # fmt: skip


def record_plan(circuit: snc.Circuit) -> ExpectationPlan:
    return ExpectationCircuit(circuit.compile()).record_plan(max_active_coordinates=24)


def values_of(plan: ExpectationPlan, outputs: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """The expectation values of a shot with given outputs of the plan."""
    first_bit = plan.num_requested + len(plan.signed)
    (values,) = plan.values(outputs[None, first_bit:])
    values[plan.signed] *= 1 - 2.0 * outputs[plan.num_requested : first_bit]
    return values


def quick_circuit(rng: np.random.Generator, k: int) -> snc.Circuit:
    """A random noisy circuit with few different rows and outcome laws."""
    while True:
        num_qubits = 1 + int(rng.integers(5))
        families = (ALL_FAMILIES, MAGIC)[k // 2 % 2]
        count = int(rng.integers(4, 16))
        if k % 2:
            circuit = mirrored_circuit(
                rng, num_qubits=num_qubits, num_operations=count, instructions=families
            )
        else:
            circuit = random_circuit(
                rng, num_qubits=num_qubits, num_operations=2 * count, max_records=6, instructions=families
            )
        found = snc.Circuit(with_random_expectations(circuit, rng, num_qubits))
        plan = record_plan(found).plan
        if num_rows(plan) <= MAX_ROWS and plan.num_signature_bits <= MAX_SIGNATURE_BITS:
            return found


@pytest.mark.parametrize("seed", seeds(NUM_SEEDS, quick=1))
def test_averages_given_the_records_so_far(seed: int) -> None:
    # Exact on both sides: the distribution of the plan's outputs, and the density matrix.
    for k in range(-(-NUM_CIRCUITS // NUM_SEEDS)):
        circuit = quick_circuit(np.random.default_rng([19, seed, k]), k)
        plan = record_plan(circuit)
        oracle = ExpectationSimulator(circuit.to_stim())
        assert plan.num_expectations == circuit.num_expectation_values == len(oracle.traces)
        found: list[dict[tuple[int, ...], float]] = [{} for _ in oracle.traces]
        for row, p in exact_outputs(plan.plan).kept.items():
            outputs = np.array([row >> bit & 1 for bit in range(plan.plan.num_outputs)], dtype=np.bool_)
            for j, value in enumerate(values_of(plan, outputs)):
                length = len(next(iter(oracle.traces[j])))
                records = tuple(outputs[:length].astype(int).tolist())
                found[j][records] = found[j].get(records, 0.0) + p * value
        for expected, sums in zip(oracle.traces, found, strict=True):
            assert largest_difference(expected, sums) < TOLERANCE, f"seed {seed}, circuit {k}\n{circuit}"


def test_each_shot_has_the_value_of_its_own_state() -> None:
    # Without noise and resets, the records so far determine the state.
    checked = 0
    for k in range(30):
        rng = np.random.default_rng([20, k])
        num_qubits = 2 + int(rng.integers(3))
        pure = random_circuit(rng, num_qubits=num_qubits, num_operations=25, instructions=PURE)
        circuit = snc.Circuit(with_random_expectations(pure, rng, num_qubits))
        oracle = ExpectationSimulator(circuit.to_stim())
        records, values = circuit.compile_sampler(seed=k).sample_expectation_values(50)
        for j, (traces, weights) in enumerate(zip(oracle.traces, oracle.weights, strict=True)):
            length = len(next(iter(traces)))
            for shot, value in zip(records, values[:, j], strict=True):
                key = tuple(shot[:length].astype(int).tolist())
                assert value == pytest.approx(traces[key] / weights[key], abs=1e-8)
                checked += 1
    assert checked > 2500


TELEPORTED_T = """
    RX 0
    S[T] 0
    RX 1
    CX 1 0
    DEPOLARIZE1(0.1) 0 1
    M(0.05) 0
    EXP_VAL X1 Y1 Z1
    S[T] 1
    CX rec[-1] 1
    REPEAT 3 {
        R 0
        H 0
        S[T] 0
        CX 0 1
        EXP_VAL X1*Y0 !Z1
        MX 0
        X_ERROR(0.1) 1
        DETECTOR rec[-1]
    }
    EXP_VAL X1 Y1
    MX 1
    OBSERVABLE_INCLUDE(0) rec[-1]
"""


@pytest.mark.parametrize("engine", ["cpu", "auto"])
def test_engines_agree(engine: Any) -> None:
    circuit = snc.Circuit(TELEPORTED_T)
    expected = circuit.compile_sampler(seed=3, engine="reference").sample_expectation_values(700)
    found = circuit.compile_sampler(seed=3, engine=engine).sample_expectation_values(700)
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    mask = np.array([True, False, True])
    reference = circuit.compile_detector_sampler(seed=3, postselection_mask=mask, engine="reference")
    sampler = circuit.compile_detector_sampler(seed=3, postselection_mask=mask, engine=engine)
    kept = reference.sample_kept(700, expectation_values=True)
    same = sampler.sample_kept(700, expectation_values=True)
    assert 0 < kept.discards == same.discards < 700
    assert np.array_equal(kept.dets, same.dets)
    assert np.array_equal(kept.obs, same.obs)
    assert kept.expectation_values is not None
    assert same.expectation_values is not None
    assert np.array_equal(kept.expectation_values, same.expectation_values)
    assert kept.expectation_values.shape == (700 - kept.discards, circuit.num_expectation_values)
    assert kept.expectation_values.dtype == np.float64


def test_the_kernels_of_the_gpu_give_the_same_values() -> None:
    plan = record_plan(snc.Circuit(TELEPORTED_T))
    cpu = ExpectationEngine(plan, lambda plan: CpuEngine(plan))
    gpu = ExpectationEngine(plan, lambda plan: GpuEngine(plan, HostBackend()))
    for found, expected in zip(gpu.sample(3, 500, 3000), cpu.sample(3, 500, 3000), strict=True):
        assert np.array_equal(found, expected)
    found, numbers, values = gpu.sample_kept_numbered(3, 500, 3000)
    assert len(found) == len(numbers) == len(values) == 3000


def test_batches_are_the_shots_of_sample_kept() -> None:
    circuit = snc.Circuit(TELEPORTED_T)
    mask = np.array([True, False, True])

    def sampler() -> CompiledDetectorSampler:
        return circuit.compile_detector_sampler(seed=8, postselection_mask=mask)

    expected = sampler().sample_kept(20_000, expectation_values=True).expectation_values
    for size in (None, 777):
        batches = list(sampler().iter_kept(max_shots=20_000, batch_shots=size, expectation_values=True))
        found = [batch.expectation_values for batch in batches]
        assert np.array_equal(np.concatenate(found), expected)  # type: ignore[arg-type]
    (batch,) = sampler().iter_kept(max_kept=5, batch_shots=1000, expectation_values=True)
    assert np.array_equal(batch.expectation_values, expected[:5])  # type: ignore[index,arg-type]
    assert next(sampler().iter_kept(max_shots=10)).expectation_values is None


def test_shots_do_not_depend_on_calls() -> None:
    circuit = snc.Circuit(TELEPORTED_T)
    whole = circuit.compile_sampler(seed=4).sample_expectation_values(70_000)
    sampler = circuit.compile_sampler(seed=4, threads=2)
    parts = [sampler.sample_expectation_values(size) for size in (1, 1023, 60_000, 8976)]
    for k in range(2):
        assert np.array_equal(np.concatenate([part[k] for part in parts]), whole[k])


def test_bits_are_those_without_expectation_values() -> None:
    for k in range(40):
        rng = np.random.default_rng([22, k])
        circuit = random_circuit(rng, num_qubits=4, num_operations=25)
        if k == 0:
            circuit = stim.Circuit.generated("repetition_code:memory", distance=3, rounds=20)
        asked = snc.Circuit(with_random_expectations(circuit, rng, 4))
        plain = snc.Circuit(circuit)
        assert np.array_equal(
            asked.compile_sampler(seed=k).sample(200), plain.compile_sampler(seed=k).sample(200)
        )
        mask = rng.random(circuit.num_detectors) < 0.5
        a, b = (c.compile_detector_sampler(seed=k, postselection_mask=mask) for c in (asked, plain))
        assert np.array_equal(a.sample(200, append_observables=True), b.sample(200, append_observables=True))
        assert np.array_equal(a.sample_kept(200).obs, b.sample_kept(200).obs)
        if circuit.num_observables:
            assert a.sample_counts(2000) == b.sample_counts(2000)


def test_the_reference_sample_is_subtracted_from_bits_alone() -> None:
    text = "X 0\nM 0\nEXP_VAL Z0 !Z0 X0*Y1*X0 X0\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]"
    circuit = snc.Circuit(text)
    dets, obs, values = circuit.compile_detector_sampler().sample_expectation_values(1)
    raw = circuit.compile_detector_sampler(skip_reference_sample=True).sample_expectation_values(1)
    records, same = circuit.compile_sampler(skip_reference_sample=True).sample_expectation_values(1)
    assert (dets, obs, raw[0], raw[1], records) == ([[False]], [[False]], [[True]], [[True]], [[False]])
    assert values.tolist() == same.tolist() == raw[2].tolist() == [[-1.0, 1.0, 0.0, 0.0]]


def test_forms() -> None:
    circuit = snc.Circuit("EXP_VAL X0*Y1 !Z3\nH 5\nREPEAT 3 {\n    EXP_VAL Z5\n}\nM 5")
    assert str(circuit.to_stim()[0]) == "I[EXP_VAL(XY, !Z)] 0 1 3"
    assert str(circuit) == "EXP_VAL X0*Y1 !Z3\nH 5\nREPEAT 3 {\n    EXP_VAL Z5\n}\nM 5"
    assert snc.Circuit(str(circuit)) == circuit == snc.Circuit(circuit.to_stim())
    assert circuit.num_expectation_values == 5
    assert circuit.without_noise() == circuit
    assert str(circuit.decomposed()).startswith("EXP_VAL X0*Y1 !Z3\n")
    assert str(snc.Circuit("EXP_VAL X0*Y1 !Z3\nT 0").inverse()) == "T_DAG 0\nEXP_VAL !Z3 X0*Y1"
    # Stim fuses equal neighbours.
    fused = snc.Circuit("EXP_VAL X0 Z1\nEXP_VAL X2 Z3")
    assert (len(fused), str(fused)) == (1, "EXP_VAL X0 Z1 X2 Z3")
    built = snc.Circuit()
    built.append(
        "EXP_VAL", [stim.target_x(0), stim.target_combiner(), stim.target_y(1), stim.target_z(3, True)]
    )
    built.append("EXP_VAL", stim.PauliString("XY"))
    assert str(built) == "EXP_VAL X0*Y1 !Z3\nEXP_VAL X0*Y1"
    # For Stim it does nothing.
    assert stim.Circuit(str(circuit.to_stim())).num_measurements == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("H 0\nEXP_VAL", r"Line 2: `EXP_VAL`: EXP_VAL needs Pauli products"),
        ("EXP_VAL 0", r"Line 1: `EXP_VAL 0`: "),
        ("EXP_VAL X0*Z0", r"Line 1: `EXP_VAL X0\*Z0`: the Pauli product X0\*Z0 is not Hermitian"),
        ("EXP_VAL rec[-1]", r"Line 1: .*"),
        ("EXP_VAL(0.1) X0", r"Line 1: .*EXP_VAL takes no arguments"),
        ("EXP_VAL[note] X0", r"Line 1: .*cannot have a tag"),
        ("EXPVAL X0", r"Did you mean EXP_VAL\?"),
        ("I[EXP_VAL] 0", r"Line 1: .*Malformed tag \[EXP_VAL\] on I"),
        ("I[EXP_VAL(XY)] 0", r"has 2 letters, so the number of targets must be a multiple of 2; got 1"),
        ("I[EXP_VAL(XZ)] 0 0", r"Line 1: .*the Pauli product X0\*Z0 is not Hermitian"),
        ("H[EXP_VAL(X)] 0", r"Line 1: .*Malformed tag \[EXP_VAL\(X\)\] on H"),
        ("TICK[EXP_VAL:X0]", r"Line 1: .*Malformed tag"),
    ],
)
def test_wrong_input(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        snc.Circuit(text)
    assert "MPP" not in str(error.value).replace(text, "")


def test_wrong_requests() -> None:
    circuit = snc.Circuit("RX 0\nT 0\nEXP_VAL X0\nMX 0\nDETECTOR rec[-1]")
    with pytest.raises(ValueError, match="Expectation values are NumPy arrays"):
        circuit.compile_detector_sampler().sample_kept(1, output="cupy", expectation_values=True)
    wide = snc.Circuit("RX 0 1 2\nT 0 1 2\nCX 0 1 1 2 2 0\nT 0 1 2\nCX 0 1\nT 1\nEXP_VAL X0*Y1*X2")
    with pytest.raises(snc.ResourceLimitError, match="with its expectation values needs"):
        wide.compile_sampler(max_active_coordinates=1).sample_expectation_values(1)
    with pytest.raises(ValueError, match="shots"):
        circuit.compile_sampler().sample_expectation_values(-1)


def test_paths_share_checkpoints_in_any_order() -> None:
    plan = record_plan(snc.Circuit(TELEPORTED_T))
    rng = np.random.default_rng(7)
    records, _ = ExpectationEngine(plan, lambda plan: CpuEngine(plan)).sample(1, 0, 1)
    assert len(records) == 1
    rows = CpuEngine(plan.plan).sample(1, 0, 500)
    bits = np.unpackbits(rows, axis=1, bitorder="little", count=plan.plan.num_outputs)
    paths = np.unique(bits[:, plan.num_requested + len(plan.signed) :], axis=0)
    assert len(paths) > 10
    alone = np.concatenate([plan.paths.evaluate(path) for path in paths])
    order = rng.permutation(len(paths))
    together = plan.paths.evaluate(paths[order].ravel()).reshape(len(paths), -1)
    assert np.array_equal(together, alone.reshape(len(paths), -1)[order])
    with pytest.raises(ValueError, match="a byte for each"):
        plan.paths.evaluate(paths.ravel()[:-1])


def test_circuits_without_expectation_values() -> None:
    circuit = snc.Circuit("RX 0\nT 0\nMX 0")
    records, values = circuit.compile_sampler(seed=1).sample_expectation_values(10)
    assert (records.shape, values.shape) == ((10, 1), (10, 0))
    _, values = snc.Circuit("EXP_VAL X0 Z0\nM 0").compile_sampler().sample_expectation_values(0)
    assert values.shape == (0, 2)


@needs_published
@pytest.mark.parametrize(("name", "width"), [("e2e_t_d3_p1e-3", 4), ("e2e_t_d5_p1e-3", 10)])
def test_files_of_other_simulators(name: str, width: int) -> None:
    circuit = snc.Circuit.from_file(FOLDER / f"{name}.stim")
    assert circuit.num_expectation_values == 3
    assert snc.Circuit(str(circuit)) == circuit
    plan = ExpectationCircuit(circuit.compile()).detector_plan(
        RequestedOutputs.of(range(circuit.num_detectors)), max_active_coordinates=24
    )
    assert plan.plan.peak_width == width
    _, _, values = circuit.without_noise().compile_detector_sampler(seed=1).sample_expectation_values(100)
    assert np.allclose(np.abs(values), [0.5**0.5, 0.5**0.5, 0.0])
