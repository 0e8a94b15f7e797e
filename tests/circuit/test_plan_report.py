"""What ``Circuit.plan`` says a circuit costs."""

import math
from pathlib import Path

import numpy as np
import pytest

from stim_nonclifford import Circuit, ResourceLimitError
from stim_nonclifford.circuit.plan_report import PlannedOperation, PlanReport
from stim_nonclifford.generators.cultivation import cultivation_circuit


def counting_plan(circuit: Circuit) -> PlanReport:
    return circuit.plan(postselection_mask="all")


def layers_of_rotations(seed: int) -> Circuit:
    """Rotations by angles that all differ, Clifford gates, measurements of some qubits, in a loop."""
    rng = np.random.default_rng(seed)
    lines = ["RX 0 1 2 3 4 5"]
    for _ in range(4):
        lines += [f"R_{'XYZ'[rng.integers(3)]}({rng.uniform(0.01, 0.49):.6f}) {q}" for q in range(6)]
        a, b, c, d = rng.permutation(6)[:4]
        lines += [f"CX {a} {b} {c} {d}", f"R_ZZ({rng.uniform(0.01, 0.49):.6f}) {a} {d}", "TICK"]
        lines += [f"MR {b}", "TICK"]
    lines += ["REPEAT 3 {", f"    T {a} {b}", "    TICK", f"    MXX {a} {c}", "}", "M 0 1 2 3 4 5"]
    return Circuit("\n".join(lines))


@pytest.mark.parametrize("seed", range(20))
def test_widths_are_those_that_the_engine_allocates(seed: int) -> None:
    report = layers_of_rotations(seed).plan()
    assert report.widths.max() == report.peak_width == report.sampling_plan.peak_width
    plan = report.sampling_plan
    assert report.widths.shape == (len(report.operations),) == (len(plan.rotation_terms) + plan.num_outcomes,)


def test_a_weak_measurement_needs_no_larger_vector() -> None:
    """Three magic states: two are activated, the third is activated and measured with the parity of the others."""
    text = "RX 0 1 2\nT 0 1 2\nMPP X0*X1*X2\nTICK\nCX 0 1\nT 0\nMX 0 1 2"
    operations = Circuit(text).plan().operations
    found = [(op.kind, op.weak, op.width, op.coefficients, op.outcome) for op in operations]
    assert found == [
        ("activation", False, 1, 2, None),
        ("activation", False, 2, 4, None),
        ("activation", True, 2, 4, None),
        ("measurement", True, 2, 0, 0),
        ("measurement", False, 2, 4, 1),
        ("measurement", False, 1, 2, 2),
        ("activation", True, 0, 1, None),
        ("measurement", True, 0, 0, 3),
    ]


def test_gathered_rotations_are_one() -> None:
    """T, then T T on the same qubit, and a rotation about another Pauli."""
    report = Circuit("RX 0\nT 0\nTICK\nT 0\nR_X(0.1) 0\nMY 0").plan()
    assert [(op.kind, op.coefficients) for op in report.operations] == [
        ("activation", 2),
        ("rotation", 0),
        ("rotation", 2),
        ("measurement", 2),
    ]
    assert report.total_coefficients == 6


def test_diagonal_rotations_need_no_pass() -> None:
    """All rotations of cultivation commute with those that activate coordinates; an R_X after T does not."""
    cultivation = counting_plan(Circuit(cultivation_circuit(distance=5, p=1e-3))).operations
    rotations = [op for op in cultivation if op.kind == "rotation"]
    assert len(rotations) > 50
    assert all(op.coefficients == 0 and (op.diagonal or op.joined) for op in rotations)
    turned, _ = [
        op for op in Circuit("RX 0\nT 0\nR_X(0.1) 0\nT 0\nMY 0").plan().operations if op.kind == "rotation"
    ]
    assert (turned.instruction, turned.diagonal, turned.coefficients) == ("R_X", False, 2)


def test_circuits_too_wide_to_be_sampled() -> None:
    qubits = " ".join(map(str, range(70)))
    assert Circuit(f"RX {qubits}\nT {qubits}\nMX {qubits}").plan().peak_width == 0
    narrow, wide = (
        Circuit(f"RX {qubits}\nT {qubits}\nMPP {'*'.join(f'X{q}' for q in range(n))}") for n in (40, 70)
    )
    assert narrow.plan().peak_width == 39
    with pytest.raises(ResourceLimitError, match=r"needs (69|70) active coordinates"):
        wide.plan()


def expected_cosine(operation: PlannedOperation) -> float:
    return abs(math.cos(operation.half_turns * math.pi / 2))


@pytest.mark.parametrize("seed", range(20))
def test_places_are_those_of_the_operations(seed: int) -> None:
    """Angles tell the rotations apart, whatever order the compiler puts them in."""
    circuit = layers_of_rotations(seed)
    report = circuit.plan()
    lines = str(circuit).splitlines()
    terms = iter(report.sampling_plan.rotation_terms)
    outcomes = iter(range(report.sampling_plan.num_outcomes))
    for operation in report.operations:
        text = lines[operation.line - 1].strip()
        assert text.startswith(operation.instruction)
        for factor in operation.pauli.split("*"):
            assert factor[1:] in text.split()
        if operation.kind == "measurement":
            assert operation.instruction in ("MR", "MXX", "M")
            assert operation.half_turns == 0
            assert operation.outcome == next(outcomes)
            assert not operation.sign_controlled
            continue
        term = next(terms)
        assert operation.outcome is None
        assert operation.sign_controlled == (term["sign"] >= 0)
        assert abs(term["cosine"]) == pytest.approx(expected_cosine(operation), abs=1e-12)
        if operation.instruction != "T":
            assert f"({operation.half_turns:g}" in text
    assert len({op.half_turns for op in report.operations}) > 10


def test_iterations_of_a_loop_are_told_apart() -> None:
    circuit = Circuit("RX 0\nTICK\nREPEAT 3 {\n    R_Z(0.1) 0\n    TICK\n    R_X(0.2) 0\n    TICK\n}\nM 0")
    report = circuit.plan()
    rotations = [op for op in report.operations if op.kind != "measurement"]
    assert [op.line for op in rotations if op.instruction == "R_Z"] == [4, 4, 4]
    assert sorted((op.tick, op.instruction) for op in rotations) == [
        (tick, "R_Z" if tick % 2 else "R_X") for tick in range(1, 7)
    ]
    assert len({op.step for op in rotations}) == 6


@pytest.mark.parametrize("method", ["sample", "sample_kept", "sample_counts"])
def test_plans_are_those_of_the_detector_sampler(method: str) -> None:
    circuit = Circuit(cultivation_circuit(distance=3, p=1e-3))
    mask = np.arange(circuit.num_detectors) % 2 == 0
    report = circuit.plan(method, postselection_mask=mask)  # type: ignore[arg-type]
    sampler = circuit.compile_detector_sampler(postselection_mask=mask, skip_reference_sample=True)
    assert report.sampling_plan == sampler._plan_for(method)  # type: ignore[arg-type]
    assert f"compile_detector_sampler().{method}" in str(report)
    assert ("10 of 20 detectors postselected" in str(report)) == (method != "sample")


def test_plan_of_the_measurement_sampler() -> None:
    circuit = Circuit(cultivation_circuit(distance=3, p=1e-3))
    report = circuit.plan("sample_measurements")
    assert report.sampling_plan == circuit.compile().record_plan()
    assert report.sampling_plan.num_outputs == circuit.num_measurements
    assert "compile_sampler().sample" in str(report)


def test_default_methods() -> None:
    bare = Circuit("RX 0\nT 0\nMX 0")
    assert "compile_sampler().sample" in bare.plan().question
    with_detector = Circuit("RX 0\nT 0\nMX 0\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]")
    assert with_detector.plan().question == "compile_detector_sampler().sample, nothing postselected"
    counting = with_detector.plan(postselected_observables_mask=np.array([True]))
    assert counting.question == (
        "compile_detector_sampler().sample_counts, 0 of 1 detectors postselected, 1 of 1 observables"
    )


def rows_of(text: str) -> list[str]:
    lines = text.splitlines()
    return lines[next(k for k, line in enumerate(lines) if line.startswith("width")) + 1 :]


def coefficients_in(rows: list[str]) -> int:
    """Of the column after the bar."""
    return sum(int(row.partition("#")[2].lstrip("# ").split()[0].replace(",", "")) for row in rows)


@pytest.mark.parametrize("distance", [3, 5])
@pytest.mark.parametrize("max_rows", [60, 40, 6])
def test_table_of_cultivation(distance: int, max_rows: int) -> None:
    """However many rows there are, every operation is in one of them."""
    report = counting_plan(Circuit(cultivation_circuit(distance=distance, p=1e-3)))
    text = report.table(max_rows)
    rows = rows_of(text)
    if rows[-1].startswith("..."):
        assert max_rows == 6
        assert len(rows) == max_rows + 1
        assert coefficients_in(rows[:-1]) < report.total_coefficients
    else:
        assert len(rows) <= max_rows
        assert coefficients_in(rows) == report.total_coefficients
    assert f"takes {report.total_coefficients:,} coefficient operations" in text
    assert max(map(len, text.splitlines())) <= 150


def test_printed_form_is_the_table() -> None:
    report = counting_plan(Circuit(cultivation_circuit(distance=5, p=1e-3)))
    assert str(report) == repr(report) == report.table()
    assert len(rows_of(str(report))) > 20  # an instruction each
    assert str(report.sampling_plan) in str(report).replace("\n", " ")


def test_the_first_five_minutes_show_what_is_printed() -> None:
    root = Path(__file__).parents[2]
    printed = str(counting_plan(Circuit(cultivation_circuit(distance=3, p=1e-3))))
    blocks = (root / "docs/start/first_five_minutes.md").read_text(encoding="utf-8").split("```")
    [shown] = [block for block in blocks if block.startswith("\nPlan: ")]
    assert shown.strip() in printed


def test_clifford_circuits_have_no_table() -> None:
    text = str(Circuit.generated("surface_code:rotated_memory_x", distance=3, rounds=3).plan())
    assert "No quantum operations" in text
    assert "width  " not in text
