"""EXP_VAL with noise that is no Pauli error: leakage, loss, decays, biased readout."""

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest

import stim_nonclifford as snc
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.compiler.expectations import ExpectationCircuit, ExpectationPlan
from stim_nonclifford.simulation.engines import CpuEngine, GpuEngine
from stim_nonclifford.simulation.engines.gpu.host_backend import HostBackend
from stim_nonclifford.simulation.sampling.expectation_values import ExpectationEngine

from ...support.laws.exact import exact_outputs, largest_difference, num_rows
from ...support.laws.expectation_oracle import LeakedExpectationSimulator, random_product
from ...support.oracle.agreement import p_value
from ...support.oracle.leakage import leaked_record_distribution

TOLERANCE = 1e-10
IMPROBABLE = 1e-9
MAX_ROWS = 1 << 11

ALONE = (
    "T {a}", "R_X(0.3) {a}", "R_Y(0.6) {a}", "H {a}", "AMPLITUDE_DAMPING(0.3) {a}",
    "THERMAL_RELAXATION(0.2, 0.3) {a}", "PHASE_DAMPING(0.2) {a}", "X_ERROR(0.2) {a}", "DEPOLARIZE1(0.1) {a}",
    "LEAKAGE(0.3) {a}", "LEAKAGE(1) {a}", "LOSS(0.2) {a}", "RELAX(0.6) {a}", "RL {a}", "R {a}",
)  # fmt: skip
PAIRS = ("CX {a} {b}", "CZ {a} {b}", "CS {a} {b}", "CCX 0 1 2", "R_XX(0.3) {a} {b}", "TPP X{a}*Y{b}",
         "LEAKAGE_SPREAD(0.4, 0.1, 0.3, 0.2) {a} {b}", "DEPOLARIZE2(0.1) {a} {b}")  # fmt: skip
READ = ("M(0.1, 0.3) {a}", "MX(0, 0.2) {a}", "MR(0.2, 0) !{a}", "MY {a}", "MPP(0.1, 0.4) X{a}*Z{b}", "MZZ(0.1) {a} {b}",
        "HERALD_LEAKAGE_EVENT(0.1) {a}", "HERALD_LOSS_EVENT(0) {a}")  # fmt: skip
CONTROLLED = ("CX rec[-1] {a}", "C_R_X(0.3) rec[-1] {a}", "CT rec[-1] {a}", "CH rec[-1] {a}")
MODELS = ("LEAKAGE_PARTNER(0.1, 0, 0.3) 1", "LEAKAGE_PARTNER(0, 0, 0) 0 2", "LEAKAGE_READOUT(0.9) 1",
          "LOSS_REPLACEMENT(0.4) 0 1")  # fmt: skip


def random_text(rng: np.random.Generator, length: int, num_qubits: int = 3) -> str:
    """Gates and all kinds of noise, with EXP_VAL in the middle and at the end, and detectors."""
    lines = [
        *rng.choice(MODELS, size=rng.integers(3), replace=False),
        f"LEAKAGE(0.5) {rng.integers(num_qubits)}",
    ]
    num_records = 0
    for _ in range(length):
        a, b = rng.choice(num_qubits, size=2, replace=False)
        pool = (ALONE, ALONE, PAIRS, READ, CONTROLLED if num_records else READ)[rng.integers(5)]
        if pool is READ and num_records > 5:
            pool = CONTROLLED
        lines.append(str(rng.choice(pool)).format(a=a, b=b))
        num_records += pool is READ
        if rng.random() < 0.2:
            lines.append(f"EXP_VAL {random_product(rng, num_qubits)}")
    lines.append(f"EXP_VAL {random_product(rng, num_qubits)} {random_product(rng, num_qubits)}")
    for _ in range(3 if num_records else 0):
        count = min(num_records, 1 + int(rng.integers(2)))
        places = rng.choice(num_records, size=count, replace=False).tolist()
        lines.append(" ".join(["DETECTOR", *(f"rec[-{1 + k}]" for k in places)]))
    return "\n".join(lines)


def values_of(plan: ExpectationPlan, outputs: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """The expectation values of a shot with given outputs of the plan."""
    first_bit = plan.num_requested + len(plan.signed)
    (values,) = plan.values(outputs[None, first_bit:])
    values[plan.signed] *= 1 - 2.0 * outputs[plan.num_requested : first_bit]
    return values


def small_circuit(rng: np.random.Generator) -> snc.Circuit:
    """A random circuit whose shots can all be looked at."""
    while True:
        circuit = snc.Circuit(random_text(rng, int(rng.integers(4, 12))))
        plan = ExpectationCircuit(circuit.compile()).record_plan(max_active_coordinates=24).plan
        if num_rows(plan) <= MAX_ROWS and plan.num_signature_bits <= 8 and plan.num_outcomes <= 8:
            return circuit


def rows_of(plan: ExpectationPlan) -> list[tuple[npt.NDArray[np.bool_], float]]:
    """The outputs of all kept shots, with their probabilities."""
    count = plan.plan.num_outputs
    kept = exact_outputs(plan.plan).kept.items()
    return [(np.array([row >> bit & 1 for bit in range(count)], dtype=np.bool_), p) for row, p in kept]


@pytest.mark.parametrize("seed", range(8))
def test_values_given_the_records_so_far(seed: int) -> None:
    # Exact on both sides: the distribution of the plan's outputs, and the density matrix.
    for k in range(10):
        circuit = small_circuit(np.random.default_rng([31, seed, k]))
        plan = ExpectationCircuit(circuit.compile()).record_plan(max_active_coordinates=24)
        oracle = LeakedExpectationSimulator(circuit.to_stim())
        found: list[dict[tuple[int, ...], float]] = [{} for _ in oracle.traces]
        law: dict[tuple[int, ...], float] = {}
        for outputs, p in rows_of(plan):
            records = tuple(outputs[: plan.num_requested].astype(int).tolist())
            law[records] = law.get(records, 0.0) + p
            for j, value in enumerate(values_of(plan, outputs)):
                so_far = records[: len(next(iter(oracle.traces[j])))]
                found[j][so_far] = found[j].get(so_far, 0.0) + p * value
        expected_law = leaked_record_distribution(circuit.to_stim())
        for expected, sums in zip([*oracle.traces, expected_law], [*found, law], strict=True):
            assert largest_difference(expected, sums) < TOLERANCE, f"circuit {k}\n{circuit}"


@pytest.mark.parametrize("seed", range(4))
def test_values_of_kept_shots(seed: int) -> None:
    # The last two values stand behind all records, so that the oracle knows them for each set of detectors.
    for k in range(10):
        circuit = small_circuit(np.random.default_rng([32, seed, k]))
        if not circuit.num_detectors:
            continue
        plan = ExpectationCircuit(circuit.compile()).detector_plan(
            RequestedOutputs.of([2, 1], [0]), skip_reference_sample=True, max_active_coordinates=24
        )
        oracle = LeakedExpectationSimulator(circuit.to_stim())
        detectors = [
            [circuit.num_measurements + target.value for target in line.targets_copy()]
            for line in circuit.to_stim()
            if line.name == "DETECTOR"
        ]
        expected: dict[tuple[int, int, int], float] = {}
        for j, traces in enumerate(oracle.traces[-2:]):
            for records, trace in traces.items():
                first, *reported = (sum(records[r] for r in places) % 2 for places in detectors)
                if not first:
                    key = (j, reported[1], reported[0])
                    expected[key] = expected.get(key, 0.0) + trace
        found: dict[tuple[int, int, int], float] = {}
        for outputs, p in rows_of(plan):
            for j, value in enumerate(values_of(plan, outputs)[-2:]):
                key = (j, int(outputs[0]), int(outputs[1]))
                found[key] = found.get(key, 0.0) + p * value
        assert largest_difference(expected, found) < TOLERANCE, f"circuit {k}\n{circuit}"


def test_each_shot_has_the_values_of_one_pure_state() -> None:
    # Of n qubits, the squares of all 4^n expectation values add up to 2^n. Wrong signs or paths of rotations break
    # that in single shots, where averages may be right.
    products = [
        "*".join(f"{p}{q}" for q, p in enumerate(each) if p != "I")
        for each in itertools.product("IXYZ", repeat=3)
    ]
    asked = f"EXP_VAL {' '.join(products[1:])}"
    between = 0
    for k in range(40):
        rng = np.random.default_rng([33, k])
        lines = random_text(rng, 15).splitlines()
        lines = [line for line in lines if not line.startswith("EXP_VAL")]
        place = int(rng.integers(3, len(lines)))
        if any("DETECTOR" in line for line in lines[:place]):
            place = len(lines)
        circuit = snc.Circuit("\n".join([*lines[:place], asked, *lines[place:]]))
        _, values = circuit.compile_sampler(seed=k).sample_expectation_values(100)
        assert np.allclose(1 + (values**2).sum(axis=1), 8, atol=1e-8), circuit
        between += int(((abs(values) > 1e-6) & (abs(values) < 1 - 1e-6)).any(axis=1).sum())
    assert between > 500  # shots with another state than that of a stabilizer


@pytest.mark.parametrize("seed", range(12))
def test_samples_of_all_methods(seed: int) -> None:
    rng = np.random.default_rng([34, seed])
    circuit = snc.Circuit(random_text(rng, 14) + "\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]\nEXP_VAL X0 Z1*Z2")
    law = leaked_record_distribution(circuit.to_stim())
    records, values = circuit.compile_sampler(seed=seed).sample_expectation_values(4000)
    assert p_value(records, law) > IMPROBABLE
    assert p_value(circuit.compile_sampler(seed=seed).sample(4000), law) > IMPROBABLE
    oracle = LeakedExpectationSimulator(circuit.to_stim())
    bound = math.sqrt(2 * math.log(2 * len(oracle.traces) / IMPROBABLE) / 4000)  # Hoeffding
    for traces, of_shots in zip(oracle.traces, values.T, strict=True):
        assert abs(of_shots.mean() - sum(traces.values())) < bound
    mask = np.zeros(circuit.num_detectors, dtype=np.bool_)
    mask[:1] = True
    samplers = [
        circuit.compile_detector_sampler(seed=seed, postselection_mask=mask, engine=engine)
        for engine in ("cpu", "cpu", "reference")
    ]
    kept, batches, same = (
        samplers[0].sample_kept(300, expectation_values=True),
        list(samplers[1].iter_kept(max_shots=300, batch_shots=77, expectation_values=True)),
        samplers[2].sample_kept(300, expectation_values=True),
    )
    together = np.concatenate([batch.expectation_values for batch in batches])
    assert np.array_equal(kept.expectation_values, together)  # type: ignore[arg-type]
    assert np.array_equal(kept.expectation_values, same.expectation_values)  # type: ignore[arg-type]
    assert np.array_equal(kept.dets, same.dets)
    asked = ExpectationCircuit(circuit.compile()).record_plan(max_active_coordinates=24)
    cpu = ExpectationEngine(asked, lambda plan: CpuEngine(plan)).sample(seed, 0, 200)
    gpu = ExpectationEngine(asked, lambda plan: GpuEngine(plan, HostBackend())).sample(seed, 0, 200)
    assert np.array_equal(cpu[0], gpu[0])
    assert np.array_equal(cpu[1], gpu[1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Measurements that are 1 for certain because of gates that are no Cliffords.
        ("RX 0\nT 0\nZ 0\nT_DAG 0\nMX 0\nEXP_VAL X0", {(1,): [-1.0]}),
        ("X 0 1\nCCX 0 1 2\nM 2\nEXP_VAL Z2 Z0*Z2", {(1,): [-1.0, 1.0]}),
        ("RX 0\nT 0 0 0 0\nMX 0\nT 0\nEXP_VAL X0 Y0", {(1,): [-(0.5**0.5), -(0.5**0.5)]}),
        # Shots with a leaked qubit and others.
        ("LEAKAGE(0.1) 0\nM(0.02, 0.07) 0\nEXP_VAL Z1", {(0,): [1.0], (1,): [1.0]}),
        ("LEAKAGE(0.5) 0\nHERALD_LEAKAGE_EVENT(0) 0\nRX 1\nT 1\nEXP_VAL X1", {(0,): [0.5**0.5], (1,): [0.5**0.5]}),
    ],
)  # fmt: skip
def test_values_that_the_records_determine(text: str, expected: dict[tuple[int, ...], list[float]]) -> None:
    records, values = snc.Circuit(text).compile_sampler(seed=1).sample_expectation_values(300)
    assert {tuple(record) for record in records.astype(int).tolist()} == expected.keys()
    for record, found in zip(records.astype(int).tolist(), values, strict=True):
        assert found == pytest.approx(expected[tuple(record)], abs=1e-12)


def test_a_state_that_is_the_opposite_of_the_one_asked_for() -> None:
    circuit = snc.Circuit("X 0 1\nCCX 0 1 2\nM 2\nDETECTOR rec[-1]\nEXP_VAL Z2")
    with pytest.raises(ValueError, match=r"Z2 = -1\.0000"):
        circuit.with_logical_readout("Z")
