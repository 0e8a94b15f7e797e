"""Leakage in engines: all draw the same shots, in every form of rows."""

import numpy as np
import pytest

import stim_nonclifford as snc
from benchmarks.leakage import with_leakage
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation import plan as plans
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import CpuEngine, GpuEngine, ReferenceEngine
from stim_nonclifford.simulation.engines.gpu.host_backend import HostBackend
from stim_nonclifford.simulation.plan import SamplingPlan

from ...support.engines.engine_cases import RememberedReference
from ...support.seeds import slow
from ...support.texts.leaking_circuits import random_leaking_text

SHOTS = 200
MODELS = """
    LEAKAGE_PARTNER(0.3, 0.1, 0) 0 2 4
    LEAKAGE_PARTNER(0.2, 0.2, 0.2) 6
    LEAKAGE_READOUT(0.7) 1
    LOSS_REPLACEMENT(0.5) 7
    LOSS(0.2) 7"""


def memory(
    rounds: int,
    probability: float,
    *,
    relax: float = 0.0,
    observable: bool = True,
    spreads: bool = False,
    models: str = "",
) -> snc.Circuit:
    """A repetition code of five qubits with T gates, in which data qubits and ancillas leak."""
    data, ancillas = (0, 2, 4, 6, 8), (1, 3, 5, 7)
    body = [
        f"LEAKAGE({probability}) {' '.join(map(str, (*data, *ancillas)))}",
        "CX 0 1 2 3 4 5 6 7",
        "DEPOLARIZE2(0.01) 0 1 2 3 4 5 6 7",
        *["LEAKAGE_SPREAD(0.3, 0.1, 0.2, 0.4) 0 1 2 3 4 5 6 7"] * spreads,
        f"LEAKAGE({probability}) 0 2 4",
        f"LOSS({probability / 2}) 6",
        "CX 2 1 4 3 6 5 8 7",
        "MR(0.01) 1 3 5 7",
        *(f"DETECTOR rec[-{k}]" for k in (1, 2, 3, 4)),
        "HERALD_LEAKAGE_EVENT(0.1) 2",
        "DETECTOR rec[-1]",
    ]
    if relax:
        body.append(f"RELAX({relax}) 0 2 4 6 8")
    last = "M 0 2 4 6 8\nOBSERVABLE_INCLUDE(0) rec[-1]" if observable else "M 0 2 4 6 8"
    return snc.Circuit("\n".join([models, "H 9\nT 9\nCX 9 0\nMX 9", f"REPEAT {rounds} {{", *body, "}", last]))


def plans_of(circuit: snc.Circuit) -> list[SamplingPlan]:
    compiled = circuit.compile()
    everything = range(circuit.num_detectors + circuit.num_observables)
    found = [compiled.record_plan(), compiled.detector_plan(RequestedOutputs.of(everything))]
    if circuit.num_detectors:
        kept = RequestedOutputs.of(everything[circuit.num_detectors :], range(circuit.num_detectors))
        found.append(compiled.detector_plan(kept))
        few = RequestedOutputs.of(everything, range(1, circuit.num_detectors, 3))
        found.append(compiled.detector_plan(few))
    return found


@pytest.mark.parametrize("form", ["words", slow("lists")])
@pytest.mark.parametrize(
    "circuit",
    [
        memory(2, 0.01),
        memory(3, 0.05, relax=0.3),
        memory(12, 0.02),
        memory(3, 0.4),
        memory(2, 0.006, spreads=True),
        memory(2, 0.05, spreads=True),
        memory(2, 0.02, models=MODELS),
    ],
    ids=["short", "returning", "long", "likely", "spreading", "spreading and likely", "models"],
)
def test_engines_agree(circuit: snc.Circuit, form: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    found = plans_of(circuit)
    monkeypatch.setattr(plans, "_FORM", form)
    for plan in found:
        assert plan.has_leakage
        reference = RememberedReference(plan)
        expected, numbers = reference.sample_kept_numbered(5, 300, SHOTS)
        tally = reference.count(5, 300, SHOTS, list_errors=True)
        for engine in (CpuEngine(plan, threads=2), GpuEngine(plan, HostBackend())):
            rows, shots = engine.sample_kept_numbered(5, 300, SHOTS)
            np.testing.assert_array_equal(numbers, shots)
            np.testing.assert_array_equal(expected, rows)
            assert engine.count(5, 300, SHOTS, list_errors=True) == tally


def test_rows_that_more_than_64_random_bits_change() -> None:
    """A leaked qubit meets 100 others: each of their records is a fair coin, independent of the others.

    Significance 1e-8 for all: 6 standard errors for each of 100 means, and for the means of 99 products.
    """
    partners = range(1, 101)
    pairs, measured = " ".join(f"0 {k}" for k in partners), " ".join(map(str, partners))
    circuit = snc.Circuit(f"LEAKAGE(0.5) 0\nCX {pairs}\nHERALD_LEAKAGE_EVENT(0) 0\nM {measured}")
    plan = circuit.compile().record_plan()
    np.testing.assert_array_equal(ReferenceEngine(plan).sample(2, 0, 500), CpuEngine(plan).sample(2, 0, 500))
    bits = circuit.compile_sampler(seed=2).sample(40_000)
    leaked, others = bits[bits[:, 0], 1:], bits[~bits[:, 0], 1:]
    assert not others.any()
    limit = 6 * 0.5 / len(leaked) ** 0.5
    assert abs(len(leaked) / 40_000 - 0.5) < 6 * 0.5 / 40_000**0.5
    assert np.abs(leaked.mean(axis=0) - 0.5).max() < limit
    assert np.abs((leaked[:, 1:] ^ leaked[:, :-1]).mean(axis=0) - 0.5).max() < limit


@pytest.mark.parametrize(
    ("p_leak", "shots", "options"),
    [
        (1e-4, 40_000, {}),
        (1e-3, 30_000, {"free_bytes": 1 << 20}),  # memory for few shots at a time
        slow(1e-3, 300_000, {"shared_bytes": 14 << 10, "reversed_order": True}),
    ],
)
def test_cultivation_on_the_gpu(p_leak: float, shots: int, options: dict[str, int]) -> None:
    """Postselected counts, with and without a limit of errors, and kept rows, of calls that begin within a block."""
    circuit = with_leakage(cultivation_circuit(distance=3, p=1e-3), p_leak)
    detectors, bits = range(circuit.num_detectors), range(circuit.num_detectors + circuit.num_observables)
    for outputs, limit in ((bits[len(detectors) :], 2), (bits, 100)):
        checks = detectors if len(outputs) < len(bits) else detectors[::4]
        plan = circuit.compile().detector_plan(RequestedOutputs.of(outputs, checks))
        cpu, gpu = CpuEngine(plan, threads=1), GpuEngine(plan, HostBackend(**options))
        stopped = cpu.count(6, 900, 50 * shots, limit)
        assert limit <= stopped.errors < stopped.shots < 50 * shots
        assert gpu.count(6, 900, 50 * shots, limit) == stopped
        assert gpu.count(6, 900, shots, list_errors=True) == cpu.count(6, 900, shots, list_errors=True)
        for found, expected in zip(
            gpu.sample_kept_numbered(6, 900, shots // 8),
            cpu.sample_kept_numbered(6, 900, shots // 8),
            strict=True,
        ):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(500, 508))
def test_random_circuits_on_all_engines(seed: int) -> None:
    """All instructions of leakage; every other circuit has its models, and in every other pair of them leakage spreads."""
    text = random_leaking_text(seed, length=5, spreads=seed % 4 > 1, models=seed % 2 == 1)
    plan = snc.Circuit(text).compile().record_plan()
    expected = ReferenceEngine(plan).sample(3, 1000, 60)
    for engine in (CpuEngine(plan), GpuEngine(plan, HostBackend())):
        np.testing.assert_array_equal(engine.sample(3, 1000, 60), expected)
    assert expected.any()
