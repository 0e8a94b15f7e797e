"""The CPU engine's outcome laws of T gates, against amplitudes without rounding."""

import numpy as np
import pytest

from stim_nonclifford.simulation.engines import CpuEngine
from stim_nonclifford.simulation.plan import ROTATE, SamplingPlan

from ...support.engines.engine_cases import law_of, plans_of
from ...support.laws.exact import largest_difference, mask_of
from ...support.laws.ring_vector import ring_law


def assert_exact(plan: SamplingPlan, seed: int) -> None:
    """Compares the laws of signature 0 and of a random one."""
    rng = np.random.default_rng(seed)
    engine = CpuEngine(plan)
    for signature in (0, mask_of(rng.integers(0, 2, plan.num_signature_bits))):
        law, discards = law_of(engine, signature)
        expected, expected_discards = ring_law(plan, signature)
        assert largest_difference(law, expected) < 1e-12
        assert abs(discards - expected_discards) < 1e-12
        assert abs(sum(expected.values()) + expected_discards - 1) < 1e-12


def random_circuit(seed: int, qubits: int, layers: int) -> str:
    """Layers of T gates about random axes with CX between them, noise, and a measurement with feedback."""
    rng = np.random.default_rng(seed)
    every = " ".join(map(str, range(qubits)))
    lines = [f"RX {every}"]
    for layer in range(layers):
        order = rng.permutation(qubits)
        lines += [f"{rng.choice(['T', 'T_DAG'])} {qubit}" for qubit in order[: 1 + qubits // 2]]
        lines.append(f"{rng.choice(['CX', 'CZ'])} {' '.join(map(str, order[: qubits // 2 * 2]))}")
        lines.append(f"{rng.choice(['H', 'SQRT_X', 'S'])} {' '.join(map(str, order[::2]))}")
        lines.append(f"DEPOLARIZE1(0.01) {every}")
        if layer == 1:
            lines += [f"M {order[0]}", "DETECTOR rec[-1]", f"CX rec[-1] {order[1]}", f"RX {order[0]}"]
    lines += [f"T {every}", f"MX {every}", "DETECTOR rec[-1]", "OBSERVABLE_INCLUDE(0) rec[-2] rec[-3]"]
    return "\n".join(lines)


@pytest.mark.parametrize(("seed", "qubits", "layers"), [(1, 3, 3), (2, 4, 4), (3, 5, 3), (4, 7, 2)])
def test_laws_of_narrow_vectors_are_those_of_exact_amplitudes(seed: int, qubits: int, layers: int) -> None:
    """Rotations one by one, and measurements, weak ones among them."""
    plans = dict(plans_of(random_circuit(seed, qubits, layers)))
    for kind in ("records", "kept"):
        assert_exact(plans[kind], seed)


@pytest.mark.parametrize(("qubits", "width"), [(7, 6), (10, 9)])
def test_laws_of_wide_vectors_are_those_of_exact_amplitudes(qubits: int, width: int) -> None:
    """Phases, through which is measured, from width 6 on; groups of rotations from width 9 on."""
    every = " ".join(map(str, range(qubits)))
    ring = " ".join(f"{k} {(k + 1) % qubits}" for k in range(qubits))
    products = " ".join("*".join(f"{'XYZ'[(k + first) % 3]}{k}" for k in range(qubits)) for first in range(3))
    text = f"""
        RX {every}
        T {every}
        Z_ERROR(0.1) {every}
        CZ {ring}
        T_DAG {every}
        MPP X0*X1*X2
        CX {ring}
        SQRT_X {every}
        T {every}
        X_ERROR(0.1) {every}
        CX {ring}
        MPP {products}
    """
    _, plan = next(iter(plans_of(text)))
    rotations = plan.operations[plan.operations["kind"] == ROTATE]
    assert rotations[rotations["x"] != 0]["width"].max() >= width
    assert_exact(plan, qubits)
