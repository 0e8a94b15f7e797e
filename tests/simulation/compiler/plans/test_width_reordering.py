"""Patches side by side are sampled one after the other, with the same laws."""

import numpy as np
import pytest

from stim_nonclifford import Circuit, ResourceLimitError
from stim_nonclifford.simulation.compiler import CompiledCircuit, RequestedOutputs
from stim_nonclifford.simulation.compiler.plans import plan_construction
from stim_nonclifford.simulation.engines import CpuEngine, ReferenceEngine
from stim_nonclifford.simulation.plan import SamplingPlan

from ....support.laws.exact import exact_outcome_law, largest_difference, mask_of
from ....support.oracle.agreement import p_value
from ....support.oracle.density_matrix import record_distribution
from ....support.seeds import seeds

QUBITS = 4


def patches_side_by_side(rng: np.random.Generator, *, patches: int, rounds: int) -> str:
    """Patches of four qubits, of which every round measures a product, with noise and with feedback.

    Now and then the last record decides a Pauli on a qubit of any patch. At the end, all qubits but one of each patch
    are measured, and then that one of the first and of the last patch together.
    """
    lines = []
    for _ in range(rounds):
        for patch in range(patches):
            a, b, c, d = (patch * QUBITS + rng.permutation(QUBITS)).tolist()
            lines += [f"R_{'XYZ'[rng.integers(3)]}({rng.uniform(-1, 1):.3f}) {q}" for q in (a, b, c, d)]
            lines += [f"CX {a} {b} {b} {c}", f"R_ZZ({rng.uniform(-1, 1):.3f}) {c} {d} {a} {c}"]
            lines += [f"R_X({rng.uniform(-1, 1):.3f}) {q}" for q in (a, b, c, d)]
            lines += [f"DEPOLARIZE1(0.1) {a} {d}", f"MPP X{a}*Z{b}*Y{c}*X{d}"]
            if rng.random() < 0.3:
                lines.append(f"C{'XZ'[rng.integers(2)]} rec[-1] {rng.integers(patches * QUBITS)}")
    for patch in range(patches):
        lines.append("M " + " ".join(str(patch * QUBITS + k) for k in range(1, QUBITS)))
    return "\n".join([*lines, f"MXX 0 {(patches - 1) * QUBITS}"] if patches > 1 else lines)


def plans_of(compiled: CompiledCircuit) -> list[SamplingPlan]:
    return [compiled.record_plan(), compiled.detector_plan(RequestedOutputs.of(range(2, 6), range(2)))]


@pytest.mark.parametrize("seed", seeds(7, quick=1))
def test_laws_do_not_depend_on_the_order(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    text = patches_side_by_side(rng, patches=2, rounds=2)
    for record in range(1, 7):
        text += f"\nDETECTOR rec[-{record}] rec[-{record + 5}]"
    circuit = Circuit(text).to_stim()
    compiled = Circuit(circuit).compile()
    plans, reference = plans_of(compiled), compiled.reference_records()
    monkeypatch.setattr(plan_construction, "reorder_for_width", lambda operations, *_, **__: list(operations))
    in_order = Circuit(circuit).compile()
    assert reference == in_order.reference_records()
    for plan, expected in zip(plans, plans_of(in_order), strict=True):
        assert plan.peak_width < expected.peak_width
        for signature in (0, mask_of(rng.integers(0, 2, plan.num_signature_bits))):
            law, discards = exact_outcome_law(plan, signature)
            expected_law, expected_discards = exact_outcome_law(expected, signature)
            assert largest_difference(law, expected_law) < 1e-12
            assert discards == pytest.approx(expected_discards, abs=1e-12)
        rows = CpuEngine(plan).sample_kept(seed, 0, 200)
        np.testing.assert_array_equal(rows, ReferenceEngine(plan).sample_kept(seed, 0, 200))


def test_patches_do_not_add_up() -> None:
    """Eight patches: 24 and more coordinates in the order of the circuit."""
    circuit = Circuit(patches_side_by_side(np.random.default_rng(3), patches=8, rounds=2))
    assert circuit.compile().quantum.peak_width > 24
    assert circuit.plan("sample_measurements").peak_width <= 12
    assert circuit.compile_sampler(seed=1).sample(100).shape == (100, circuit.num_measurements)


def test_a_single_patch_keeps_its_order() -> None:
    circuit = Circuit(patches_side_by_side(np.random.default_rng(1), patches=1, rounds=6)).to_stim()
    compiled = Circuit(circuit).compile()
    outcomes = [op.step for op in compiled.quantum.operations if op.measures]
    plan = compiled.record_plan()
    measured = plan.operations["outcome"] >= 0
    assert plan.operation_steps[measured].tolist() == outcomes


LAYERS = (
    "R_X(0.1) {0} {1} {2}\nMZZ {0} {1} {1} {2}",
    "R_X(0.2) {0} {1} {2}\nMXX {0} {1} {1} {2}",
    "R_Y(0.3) {0} {1} {2}\nX_ERROR(0.05) {0} {1} {2}\nM {0} {1} {2}",
)


def layers_on(patches: int) -> list[list[str]]:
    """For each patch of three qubits, a part of the circuit for each layer."""
    return [[layer.format(3 * k, 3 * k + 1, 3 * k + 2) for layer in LAYERS] for k in range(patches)]


@pytest.mark.slow
def test_more_coordinates_than_an_index_has_bits() -> None:
    """Eighty patches, layer by layer: the plan is that of one patch after the other, and has the laws of each."""
    patches = 80
    parts = layers_on(patches)
    side_by_side = Circuit("\n".join(part for layer in zip(*parts, strict=True) for part in layer))
    compiled = side_by_side.compile()
    assert compiled.quantum.peak_width > 64
    plan = compiled.record_plan()
    one_by_one = Circuit("\n".join(part for patch in parts for part in patch)).compile().record_plan()
    assert plan.peak_width == one_by_one.peak_width == 1
    np.testing.assert_array_equal(plan.operations, one_by_one.operations)
    for field in ("cosine", "sine", "is_reversed"):
        found, expected = (p.rotation_terms[field] for p in (plan, one_by_one))
        np.testing.assert_array_equal(found, expected, err_msg=field)

    shots = 10_000
    records = side_by_side.compile_sampler(seed=4).sample(shots)
    layers = np.split(records, np.cumsum([2 * patches, 2 * patches]), axis=1)
    of_patches = np.concatenate([layer.reshape(shots, patches, -1) for layer in layers], axis=2)
    law = record_distribution(Circuit("\n".join(parts[0])).to_stim(), cutoff=1e-14)
    assert p_value(of_patches.reshape(shots * patches, -1), law) > 1e-7


def test_wide_and_not_to_be_split() -> None:
    """A last measurement of a product over all patches needs all their coordinates at once."""
    parts = [patch[0] for patch in layers_on(70)]
    joint = (
        "R_X(0.3) "
        + " ".join(str(3 * k) for k in range(70))
        + "\nMPP "
        + "*".join(f"Z{3 * k}" for k in range(70))
    )
    compiled = Circuit("\n".join([*parts, joint])).compile()
    with pytest.raises(
        ResourceLimitError, match=r"needs \d{2,} active coordinates.* the limit is 2\^24\. A higher"
    ):
        compiled.record_plan()
