"""Exact outcome laws where the coefficient vector is wide enough for phases that are kept apart from it."""

import numpy as np
import pytest

from stim_nonclifford import Circuit
from stim_nonclifford._native import available_instruction_sets
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import CpuEngine, ReferenceEngine
from stim_nonclifford.simulation.plan import ROTATE, SamplingPlan

from ...support.engines.engine_cases import assert_same_laws, law_of
from ...support.seeds import slow

QUBITS = 10


def wide_circuit(rng: np.random.Generator, *, layers: int, turned: float) -> str:
    """Layers of rotations about Z and products of Zs, a part ``turned`` of them about X, and measurements mostly of Xs."""
    lines = ["RX " + " ".join(map(str, range(QUBITS)))]
    for _ in range(layers):
        for qubit in range(QUBITS):
            if rng.random() < 0.8:
                axis = "X" if rng.random() < turned else "Z"
                lines.append(f"R_{axis}({rng.uniform(-1, 1):.3f}) {qubit}")
        for _ in range(rng.integers(0, 8)):
            a, b = rng.choice(QUBITS, 2, replace=False)
            lines.append(f"R_ZZ({rng.uniform(-1, 1):.3f}) {a} {b}")
        lines.append("Z_ERROR(0.05) " + " ".join(map(str, range(QUBITS))))
        lines.append("X_ERROR(0.05) " + " ".join(map(str, range(QUBITS))))
        for _ in range(2):
            support = rng.choice(QUBITS, rng.integers(2, QUBITS), replace=False)
            product = "*".join("XXXXXYZ"[rng.integers(7)] + str(qubit) for qubit in support)
            lines.append(f"MPP {product}")
    for record in range(1, 2 * layers + 1):
        lines.append(f"DETECTOR rec[-{record}]")
    return "\n".join(lines)


def plans_of(text: str) -> dict[str, SamplingPlan]:
    circuit = Circuit(text).to_stim()
    compiled = Circuit(circuit).compile()
    detectors = range(circuit.num_detectors)
    return {
        "records": compiled.record_plan(),
        "kept": compiled.detector_plan(RequestedOutputs.of(detectors, detectors[:2])),
    }


@pytest.mark.parametrize("instruction_set", available_instruction_sets())
@pytest.mark.parametrize("turned", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("seed", range(5))
def test_laws_are_exact(seed: int, turned: float, instruction_set: str) -> None:
    rng = np.random.default_rng(seed)
    plans = plans_of(wide_circuit(rng, layers=3, turned=turned))
    assert plans["records"].peak_width >= (7 if turned < 0.5 else 6)
    for plan in plans.values():
        assert_same_laws(CpuEngine(plan, instruction_set=instruction_set), rng, 1)


@pytest.mark.parametrize("cache_bytes", [0, 40_000, 1 << 24])
def test_shots_do_not_depend_on_what_is_stored(cache_bytes: int) -> None:
    """Long simulations start where others have been; the reference engine's never do. Seed 5."""
    rng = np.random.default_rng(5)
    plan = plans_of(wide_circuit(rng, layers=3, turned=0.05))["records"]
    engine = CpuEngine(plan, cache_bytes=cache_bytes)
    rows = engine.sample(3, 0, 4000)
    np.testing.assert_array_equal(rows[:60], ReferenceEngine(plan).sample(3, 0, 60))
    np.testing.assert_array_equal(rows, CpuEngine(plan, instruction_set="generic").sample(3, 0, 4000))
    for first_shot in (0, 1700):
        np.testing.assert_array_equal(
            CpuEngine(plan, cache_bytes=cache_bytes).sample(3, first_shot, 2000),
            rows[first_shot : first_shot + 2000],
        )
    assert engine.statistics()["bytes"] <= cache_bytes


def test_long_circuits_stay_normalized() -> None:
    """Each measurement changes the norm of the vector, by factors that would leave the range of numbers."""
    text = "RX " + " ".join(map(str, range(8))) + "\nREPEAT 300 {\n"
    for qubit in range(8):
        text += f"    R_Z(0.03) {qubit}\n"
    for qubit in range(7):
        text += f"    MXX {qubit} {qubit + 1}\n"
    text += "}\nMX 0"
    plan = Circuit(text).compile().record_plan()
    assert plan.num_outcomes > 1000
    rows = ReferenceEngine(plan).sample(1, 0, 3)
    np.testing.assert_array_equal(CpuEngine(plan).sample(1, 0, 3), rows)


@pytest.mark.parametrize("instruction_set", available_instruction_sets())
@pytest.mark.parametrize("qubits", [5, 10, 15])
def test_rounding_makes_no_outcomes(qubits: int, instruction_set: str) -> None:
    """Many gates and their inverses leave every outcome certain: the law has one branch. Seed 6."""
    gates = Circuit(layers_of_gates(np.random.default_rng(6), qubits=qubits, layers=10, noise=False))
    circuit = gates + gates.inverse() + Circuit("M " + " ".join(map(str, range(qubits))))
    # A rotation before them all, so that something is left to measure.
    plan = (Circuit("R_X(0.1) 0") + circuit).compile().record_plan()
    assert len(plan.rotation_terms) > 100 * qubits
    law, _ = law_of(CpuEngine(plan, instruction_set=instruction_set), 0)
    assert set(law) == {0, 1}
    assert law[1] == pytest.approx(np.sin(0.05 * np.pi) ** 2, abs=1e-12)


def test_wide_shots_do_not_depend_on_threads() -> None:
    """Seed 2. Few shots of a wide plan, which are divided among the threads in small pieces."""
    rng = np.random.default_rng(2)
    qubits = 16
    lines = []
    for _ in range(10):
        for qubit in range(qubits):
            lines += [f"R_Z({rng.uniform(-1, 1):.3f}) {qubit}", f"R_X({rng.uniform(-1, 1):.3f}) {qubit}"]
        order = rng.permutation(qubits)
        lines.append("CX " + " ".join(map(str, order)))
    lines.append("M " + " ".join(map(str, range(qubits))))
    plan = Circuit("\n".join(lines)).compile().record_plan()
    assert plan.peak_width == qubits
    expected = CpuEngine(plan).sample(1, 0, 20)
    for threads in (2, 3):
        engine = CpuEngine(plan, threads=threads)
        np.testing.assert_array_equal(engine.sample(1, 0, 20), expected)
        np.testing.assert_array_equal([engine.sample(1, shot, 1)[0] for shot in range(3)], expected[:3])


def layers_of_gates(rng: np.random.Generator, *, qubits: int, layers: int, noise: bool = True) -> str:
    """Gates on random pairs of qubits, of one or several rotations about Paulis of the pair, and noise."""
    lines = []
    for _ in range(layers):
        order = rng.permutation(qubits)
        for a, b in zip(order[::2], order[1::2], strict=False):
            for _ in range(rng.integers(1, 6)):
                pair = f"{a} {b}"
                lines += [
                    f"U3({rng.uniform(-1, 1):.3f},{rng.uniform(-1, 1):.3f},{rng.uniform(-1, 1):.3f}) {pair}"
                ]
                lines += [f"R_{rng.choice(['XX', 'YY', 'ZZ'])}({rng.uniform(-1, 1):.3f}) {pair}"]
                lines += [f"{rng.choice(['CX', 'CZ', 'ISWAP', 'H', 'S'])} {pair}"] * rng.integers(0, 2)
            if noise:
                lines.append(f"DEPOLARIZE2(0.01) {a} {b}")
    return "\n".join(lines)


def measured_layers(rng: np.random.Generator, qubits: int) -> SamplingPlan:
    """Three of these layers, and measurements of three products of Paulis."""
    text = layers_of_gates(rng, qubits=qubits, layers=3) + "\nMPP "
    text += " ".join("*".join(f"{rng.choice(list('XYZ'))}{q}" for q in range(k, qubits, 3)) for k in range(3))
    return Circuit(text).compile().record_plan()


@pytest.mark.parametrize("instruction_set", available_instruction_sets())
@pytest.mark.parametrize(("seed", "qubits"), [(2, 10), (3, 11), (4, 12), (5, 13), slow(6, 15), slow(7, 18)])
def test_laws_of_grouped_rotations_are_exact(seed: int, qubits: int, instruction_set: str) -> None:
    """Vectors to which many rotations are applied in few passes, with signs that noise has changed."""
    rng = np.random.default_rng(seed)
    plan = measured_layers(rng, qubits)
    assert plan.peak_width >= qubits - 1
    assert_same_laws(CpuEngine(plan, instruction_set=instruction_set), rng, 1)


@pytest.mark.parametrize(("qubits", "saved"), [(13, 4), (18, 7)])
def test_groups_of_rotations_save_passes(qubits: int, saved: int) -> None:
    """Seed 5. Applied one by one, the rotations alone would read so many times as many coefficients."""
    plan = measured_layers(np.random.default_rng(5), qubits=qubits)
    engine = CpuEngine(plan)
    engine.sample(1, 0, 1)
    wide = (plan.operations["kind"] == ROTATE) & (plan.operations["width"] >= 9)
    one_by_one = (1 << plan.operations["width"][wide]).sum()
    assert engine.statistics()["coefficients_read"] < one_by_one / saved
