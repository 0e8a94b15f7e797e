"""Circuits, and the plans made of them, on which engines are compared."""

from collections.abc import Iterable, Iterator

import numpy as np

from stim_nonclifford import Circuit
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import CpuEngine, ReferenceEngine
from stim_nonclifford.simulation.engines.reference import Shot
from stim_nonclifford.simulation.plan import SamplingPlan

from ..laws.exact import Distribution, bools, exact_outcome_law, largest_difference, mask_of
from ..texts.instruction_lines import three_qubit_channel

SEED = 0x1E3779B97F4A7C15

LAYERS = """
    # Three layers of T gates that do not commute, with noise, a measurement in the middle and feedback.
    RX 0 1 2 3 4 5
    T 0 1 2 3 4 5
    DEPOLARIZE1(0.05) 0 1 2 3 4 5
    CX 0 1 2 3 4 5
    SQRT_X 0 1 2 3 4 5
    T 0 1 2 3 4 5
    DEPOLARIZE2(0.1) 1 2 3 4 5 0
    CX 1 2 3 4 5 0
    M(0.02) 2
    DETECTOR rec[-1]
    CX rec[-1] 4
    CZ rec[-1] 1
    R 2
    SQRT_X 0 1 2 3 4 5
    T 0 1 2 3 4 5
    X_ERROR(0.1) 0 1 2 3 4 5
    CX 3 2 0 5
    R_XX(0.123) 0 1
    MPP X0*Z1*Y3
    DETECTOR rec[-1] rec[-2]
    MX 0 1 2 3 4 5
    DETECTOR rec[-1] rec[-2]
    DETECTOR rec[-3] rec[-8]
    OBSERVABLE_INCLUDE(0) rec[-4]
    OBSERVABLE_INCLUDE(1) rec[-5] rec[-6]
"""

REPETITION = """
    # A distance-3 repetition code with coherent and incoherent noise and a T gate on the logical qubit.
    R 0 1 2 3 4
    REPEAT 4 {
        R_X(0.06) 0 2 4
        DEPOLARIZE1(0.03) 0 2 4
        CX 0 1 2 3
        DEPOLARIZE2(0.02) 0 1 2 3
        CX 2 1 4 3
        T 0
        MR(0.01) 1 3
        CX rec[-1] 4
        DETECTOR rec[-1]
        DETECTOR rec[-2]
    }
    M 0 2 4
    DETECTOR rec[-1] rec[-2]
    OBSERVABLE_INCLUDE(0) rec[-1]
"""

# More than eight words of outputs; 30 quantum measurements among them.
WIDE = """
    REPEAT 30 {
        RX 1
        T 1
        X_ERROR(0.02) 1
        SQRT_X 1
        Z_ERROR(0.1) 1
        T 1
        MRX 1
        DETECTOR rec[-1]
    }
    REPEAT 600 {
        X_ERROR(0.004) 0
        DEPOLARIZE2(0.002) 0 2
        MR 0
        DETECTOR rec[-1]
    }
    OBSERVABLE_INCLUDE(0) rec[-1] rec[-300] rec[-601]
"""

MANY_COINS = "RX " + " ".join(map(str, range(150))) + "\nM " + " ".join(map(str, range(150)))

# The sites have rates of up to ln 16, so that many shots draw them more than once.
REPEATED_SITES = """
    HERALDED_ERASE(0.9375) 0 1
    PAULI_CHANNEL_1(0.25, 0.5, 0.125) 2
    E(0.4) X3 Z4
    ELSE_CORRELATED_ERROR(0.8) X4
    ELSE_CORRELATED_ERROR(0.5) X3 X0
    PAULI_CHANNEL_2(0.3, 0, 0, 0, 0.1, 0, 0, 0, 0, 0.2, 0, 0, 0, 0, 0.1) 0 1
    H 4
    M 0 1 2 3 4
"""

# Independent errors on three qubits, a choice of exclusive ones, and an error that is likelier than none.
THREE_QUBIT_ERRORS = f"""
    RX 0 1 2
    CCZ 0 1 2
    DEPOLARIZE3(0.3) 2 0 1
    T 0 1
    {three_qubit_channel({"XIY": 0.2, "ZZI": 0.1, "IIX": 0.3})} 1 2 0
    {three_qubit_channel({"IYZ": 0.7})} 0 1 2
    MX 0 1
    M 2
    DETECTOR rec[-1] rec[-2]
    OBSERVABLE_INCLUDE(0) rec[-3]
"""

# On average 76 events per shot: more than eight words, or one.
MANY_EVENTS = """
    REPEAT 150 {
        X_ERROR(0.2) 0 1
        CX 0 1
    }
    M 0 1
"""
MANY_WIDE_EVENTS = """
    REPEAT 600 {
        X_ERROR(0.1) 0
        MR 0
    }
"""

# More than 64 signature bits and more than 64 operations' signs.
LONG_SIGNATURE = """
    REPEAT 70 {
        RX 0
        T 0
        X_ERROR(0.05) 0
        SQRT_X 0
        T 0
        Z_ERROR(0.02) 0
        MX 0
        DETECTOR rec[-1]
    }
    OBSERVABLE_INCLUDE(69) rec[-1]
    OBSERVABLE_INCLUDE(3) rec[-5] rec[-7]
"""

FIXED = {
    "layers": LAYERS, "repetition": REPETITION, "wide": WIDE, "coins": MANY_COINS, "sites": REPEATED_SITES,
    "errors on three qubits": THREE_QUBIT_ERRORS,
    "events": MANY_EVENTS, "wide events": MANY_WIDE_EVENTS, "long signature": LONG_SIGNATURE, "nothing": "",
}  # fmt: skip

QUBITS = "0 1 2 3 4 5 6 7 8 9 10"
DEEP = f"""
    # Width 10, with rotations about many Paulis between the measurements.
    RX {QUBITS}
    REPEAT 3 {{
        T {QUBITS}
        DEPOLARIZE1(0.01) {QUBITS}
        CX 0 1 2 3 4 5 6 7 8 9 10 0
        R_ZZ(0.3) 1 2 3 4 5 6 7 8 9 0
        SQRT_X {QUBITS}
        R_X(0.7) {QUBITS}
        CZ 1 2 3 4 5 6 7 8
        R_Z(-0.45) {QUBITS}
        R_XX(0.2) 0 5 1 6
    }}
    M {QUBITS}
"""


def plans_of(text: str) -> Iterator[tuple[str, SamplingPlan]]:
    """Plans for records, for detectors, for kept shots and for counting."""
    circuit = Circuit(text).to_stim()
    compiled = Circuit(circuit).compile()
    detectors = range(circuit.num_detectors)
    observables = range(circuit.num_detectors, circuit.num_detectors + circuit.num_observables)
    yield "records", compiled.record_plan()
    if not circuit.num_detectors + circuit.num_observables:
        return
    yield "detectors", compiled.detector_plan(RequestedOutputs.of([*detectors, *observables]))
    yield "kept", compiled.detector_plan(RequestedOutputs.of([*observables, *detectors], detectors[::3]))
    yield "counts", compiled.detector_plan(RequestedOutputs.of(observables, detectors[:2]))


class RememberedReference(ReferenceEngine):
    """The reference engine, which simulates the shots of a range once for all of its methods."""

    def __init__(self, plan: SamplingPlan) -> None:
        super().__init__(plan)
        self._known: dict[tuple[int, int, int], list[Shot]] = {}

    def _shots(self, seed: int, first_shot: int, shots: int) -> Iterable[Shot]:
        key = (seed, first_shot, shots)
        if key not in self._known:
            self._known[key] = list(super()._shots(*key))
        return self._known[key]


def law_of(engine: CpuEngine, signature: int) -> tuple[Distribution, float]:
    """Probabilities of the outputs of kept shots, and of being discarded."""
    law: Distribution = {}
    discards = 0.0
    bits = bools(signature, engine.plan.num_signature_bits)
    for probability, discarded, outputs in engine.outcome_law(bits):
        assert outputs.shape == (engine.plan.num_outputs,)
        if discarded:
            discards += probability
        else:
            law[mask_of(outputs)] = law.get(mask_of(outputs), 0.0) + probability
    return law, discards


def assert_same_laws(engine: CpuEngine, rng: np.random.Generator, num_random: int, where: str = "") -> None:
    """Compares outcome laws of the empty and of random signatures."""
    size = engine.plan.num_signature_bits
    for signature in (0, *(mask_of(rng.integers(0, 2, size)) for _ in range(num_random))):
        expected, expected_discards = exact_outcome_law(engine.plan, signature)
        law, discards = law_of(engine, signature)
        assert largest_difference(law, expected) < 1e-12, where
        assert abs(discards - expected_discards) <= 1e-12, where
