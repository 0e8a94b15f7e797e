"""The circuits on which the GPU engine, run from its PTX, is compared with the CPU engine."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import stim

from benchmarks.leakage import with_leakage
from examples.lattice_surgery.decoder_in_the_loop import teleported_t_gate
from stim_nonclifford import Circuit
from stim_nonclifford.circuit.decisions import DecisionSampling
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import DEFAULT_CACHE_BYTES, EngineOptions
from stim_nonclifford.simulation.plan import SamplingPlan
from tests.support.engines.engine_cases import DEEP, FIXED, plans_of
from tests.support.oracle.random_circuits import seeded_circuits

from .comparison import Comparison, compared
from .machine.device import Properties

SMALL_SHARED = {"shared_bytes": 14 << 10}
"""So little shared memory that tables, vectors and most events lie in the device's memory."""

LITTLE_MEMORY = {"free_bytes": 1 << 20}
"""So little memory that queues and lists overflow, chunks are halved, and trees stop growing."""

TWO_STREAMS = {"free_bytes": 1 << 20, "turns": 300}
"""Many chunks, and launches of both streams that take turns."""

T_CIRCUIT = """
    H 0 1 2
    T 0 1
    CX 0 1
    T 1 2
    DEPOLARIZE1(0.05) 0 1 2
    CX 1 2
    H 0 1 2
    T_DAG 0
    H 0
    DEPOLARIZE2(0.05) 0 1
    M(0.01) 0 1 2
"""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A comparison."""

    name: str
    plan: Callable[[], SamplingPlan]  # function that makes the plan
    shots: int  # number of shots of each call
    options: dict[str, Any] = field(default_factory=dict)  # properties of the device
    cache_bytes: int = DEFAULT_CACHE_BYTES  # limit for stored outcome laws
    first: int = 777  # number of the first shot
    times: int = 2  # how often the calls are made

    def run(self, **options: Any) -> Comparison:
        """Compares; ``options`` are properties of the device, besides those of the case."""
        return compared(
            self.plan(),
            Properties(**(self.options | options)),
            seed=7,
            first=self.first,
            shots=self.shots,
            cache_bytes=self.cache_bytes,
            times=self.times,
        )


def counting(circuit: Circuit) -> SamplingPlan:
    """A plan that counts observables; all detectors postselect."""
    detectors = range(circuit.num_detectors)
    bits = circuit.num_detectors + circuit.num_observables
    return circuit.compile().detector_plan(RequestedOutputs.of(range(len(detectors), bits), detectors))


def all_bits(circuit: Circuit) -> SamplingPlan:
    """A plan for all detectors and observables."""
    bits = circuit.num_detectors + circuit.num_observables
    return circuit.compile().detector_plan(RequestedOutputs.of(range(bits)))


def cultivation(distance: int, p: float = 1e-3) -> Circuit:
    return Circuit(cultivation_circuit(distance=distance, p=p))


def leaking_cultivation(distance: int) -> Circuit:
    """Each qubit leaks with the probability with which it depolarizes."""
    return with_leakage(cultivation_circuit(distance=distance, p=1e-3), 1e-3)


def spreading(rounds: int) -> Circuit:
    """Two qubits of which one leaks in most shots; it is lost, returns, spreads its leakage, and is heralded."""
    return Circuit(f"""
        LEAKAGE_PARTNER(0.3, 0.1, 0) 0
        H 3
        T 3
        LEAKAGE(0.7) 0
        REPEAT {rounds} {{
            CX(0.3, 0.1, 0.2, 0.4) 0 1 1 2
            DEPOLARIZE1(0.01) 0 1 2 3
            HERALD_LEAKAGE_EVENT(0.1) 0
            CX rec[-1] 2
            LOSS(0.1) 1
            RELAX(0.2) 2
            MR(0.01) 1
            DETECTOR rec[-1]
            DETECTOR rec[-2]
        }}
        CX 0 3
        H 3
        M 0 3
        OBSERVABLE_INCLUDE(0) rec[-1] rec[-2]
    """)


def surface(distance: int, p: float) -> Circuit:
    return Circuit(
        str(
            stim.Circuit.generated(
                "surface_code:rotated_memory_z",
                distance=distance,
                rounds=distance,
                after_clifford_depolarization=p,
                before_measure_flip_probability=p,
                after_reset_flip_probability=p,
                before_round_data_depolarization=p,
            )
        )
    )


def coherent(code: str, distance: int, rounds: int, every: int, qubits: str) -> SamplingPlan:
    """Records of a memory experiment with rotations of data qubits after some of the ticks."""
    circuit = stim.Circuit.generated(
        code, distance=distance, rounds=rounds, after_clifford_depolarization=0.01
    )
    lines: list[str] = []
    for line in str(circuit.flattened()).splitlines():
        lines.append(line)
        if line.startswith("TICK") and sum(other.startswith("TICK") for other in lines) % every == 0:
            lines.append(f"I[R_X(theta=0.04*pi)] {qubits}")
    return Circuit("\n".join(lines)).compile().record_plan()


def repetition(distance: int) -> SamplingPlan:
    qubits = " ".join(map(str, range(0, 2 * distance, 2)))
    return coherent("repetition_code:memory", distance, 2, 1, qubits)


def deep() -> SamplingPlan:
    return Circuit(DEEP).compile().record_plan()


def t_circuit() -> SamplingPlan:
    return Circuit(T_CIRCUIT).compile().record_plan()


def coherent_surface() -> SamplingPlan:
    return coherent("surface_code:rotated_memory_z", 3, 2, 4, "1 3 5 8 10 12 15 17 19")


def decisions() -> SamplingPlan:
    """T gates by lattice surgery, where each outcome has a random number of its own."""
    circuit = teleported_t_gate(3, 5e-3, 3)
    decoders = {"outcome": "pymatching", "frame": "pymatching"}
    decides = DecisionSampling(circuit.to_stim(), decoders, EngineOptions(), max_active_coordinates=10)
    return decides.plan


def few_outcomes() -> SamplingPlan:
    return dict(plans_of(FIXED["layers"]))["counts"]


def _same(plan: SamplingPlan) -> SamplingPlan:
    return plan


CASES = {
    case.name: case
    for case in (
        Case(name="T gates", plan=t_circuit, shots=500),
        Case(name="d=3", plan=lambda: counting(cultivation(3)), shots=30_000),
        Case(name="d=3, p=0.005", plan=lambda: counting(cultivation(3, 5e-3)), shots=50_000),
        Case(name="d=5", plan=lambda: counting(cultivation(5)), shots=100_000),
        Case(name="d=5, p=0.003", plan=lambda: counting(cultivation(5, 3e-3)), shots=50_000),
        Case(name="d=3, all bits", plan=lambda: all_bits(cultivation(3)), shots=5000),
        Case(name="d=5, all bits", plan=lambda: all_bits(cultivation(5)), shots=500),
        Case(name="surface code, d=5", plan=lambda: all_bits(surface(5, 1e-3)), shots=10_000),
        Case(name="surface code, d=13", plan=lambda: all_bits(surface(13, 3e-3)), shots=2000),
        Case(name="decisions", plan=decisions, shots=300),
        Case(name="coherent, k=4", plan=coherent_surface, shots=100),
        Case(name="coherent, k=7", plan=lambda: repetition(7), shots=200),
        Case(name="coherent, k=11", plan=lambda: repetition(11), shots=30),
        Case(name="deep, small shared memory", plan=deep, shots=20, options=SMALL_SHARED),
        Case(name="k=11, small shared memory", plan=lambda: repetition(11), shots=12, options=SMALL_SHARED),
        Case(
            name="d=3, small shared memory",
            plan=lambda: counting(cultivation(3)),
            shots=20_000,
            options=SMALL_SHARED,
        ),
        Case(
            name="d=3, 1 MB", plan=lambda: counting(cultivation(3, 5e-3)), shots=60_000, options=LITTLE_MEMORY
        ),
        Case(name="d=3, two streams", plan=lambda: all_bits(cultivation(3)), shots=2000, options=TWO_STREAMS),
        Case(name="leakage, d=3", plan=lambda: counting(leaking_cultivation(3)), shots=30_000),
        Case(
            name="leakage, d=3, small shared memory",
            plan=lambda: all_bits(leaking_cultivation(3)),
            shots=3000,
            options=SMALL_SHARED,
        ),
        Case(name="leakage that spreads", plan=lambda: all_bits(spreading(2)), shots=500),
        Case(name="leakage that spreads, long rows", plan=lambda: all_bits(spreading(300)), shots=100),
        Case(name="layers, tiny cache", plan=few_outcomes, shots=1500, cache_bytes=3000),
        Case(name="layers, two streams", plan=few_outcomes, shots=1500, options=TWO_STREAMS),
    )
}


OPTIONS: tuple[dict[str, Any], ...] = ({}, SMALL_SHARED, LITTLE_MEMORY, TWO_STREAMS)


def fixed_plans(shift: int) -> list[Case]:
    """The plans of the circuits on which all engines are compared, the first with the option ``shift``, then the next."""
    named = [(name, kind, plan) for name, text in FIXED.items() for kind, plan in plans_of(text)]
    return [
        Case(
            name=f"{name}, {kind}",
            plan=partial(_same, plan),
            shots=300,
            first=1000,
            options=OPTIONS[(k + shift) % len(OPTIONS)],
            times=1,
        )
        for k, (name, kind, plan) in enumerate(named)
    ]


def random_cases(seed: int) -> Iterator[Case]:
    """Plans of the circuits of the seeds [seed, 0], ..., [seed, 5]; every other one is mirrored."""
    for k, rng, circuit in seeded_circuits(seed, 6, num_qubits=2 + seed % 4, num_operations=30):
        for kind, plan in plans_of(str(circuit)):
            yield Case(
                name=f"random [{seed}, {k}], {kind}",
                plan=partial(_same, plan),
                shots=150,
                first=int(rng.integers(5000)),
                options=OPTIONS[(seed + k) % len(OPTIONS)],
                times=1,
            )
