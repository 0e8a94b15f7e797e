"""Qubit numbers are labels: circuits are compiled over the qubits that occur in them."""

import re

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.simulation.compiler.program.flattening import program_of
from stim_nonclifford.simulation.compiler.sweeps.clifford_records import without_gaps
from stim_nonclifford.simulation.compiler.sweeps.forward_sweep import forward_sweep

from ....support.oracle.random_circuits import ALL_FAMILIES, Family, random_circuit, seeded_circuits
from ....support.processes.limited_process import run_limited
from ....support.rates.fault_choices import that_can_happen
from ....support.seeds import slow

LARGEST = 16_777_215
"""The largest number that Stim takes."""

WITH_PROXY = ALL_FAMILIES - {Family.CONDITIONAL}


def spread(circuit: stim.Circuit, labels: list[int]) -> stim.Circuit:
    """The circuit with other numbers for its qubits, line for line; the order of the numbers is kept."""

    def target(match: re.Match[str]) -> str:
        return f"{match['before']}{labels[int(match['number'])]}"

    lines = []
    for line in str(circuit).split("\n"):
        parts = re.match(r"(\s*(\w+)(?:\[.*?\])?(?:\([^)]*\))?)(.*)", line)
        if parts is None or parts[2] in ("DETECTOR", "MPAD", "REPEAT", "SHIFT_COORDS", "TICK"):
            lines.append(line)
            continue
        targets = re.sub(r"(?P<before>[ *]!?[XYZ]?)(?P<number>\d+)", target, parts[3])
        lines.append(parts[1] + targets)
    return stim.Circuit("\n".join(lines))


WITH_A_LABEL = (
    "M {0}",
    "RX {0}\nT {0}\nMX {0}",
    "H {0} 5\nCX {0} 5\nMPP X{0}*X5\nM 5",
    "QUBIT_COORDS(1, 2) {0}\nM 0",
    "REPEAT 3 {{\n    H {0}\n    R_XX(0.1) {0} 3\n    MR {0}\n    CX rec[-1] {0}\n}}",
)


@pytest.mark.parametrize("label", [1_000_000, LARGEST])
def test_large_numbers(label: int) -> None:
    """Each of these ended the interpreter, or took gigabytes."""
    output = run_limited(
        f"""
        import contextlib
        for text in {WITH_A_LABEL!r}:
            circuit = snc.Circuit(text.format({label}) + "\\nDETECTOR rec[-1]\\nOBSERVABLE_INCLUDE(0) rec[-1]")
            print(circuit.num_qubits, circuit.compile_sampler(seed=1).sample(2).shape[0])
            sampler = circuit.compile_detector_sampler(seed=1)
            print(sampler.sample(2).shape, sampler.sample_counts(100).shots, len(circuit.reference_sample()) > 0)
            circuit.plan(), circuit.detector_error_model(kind="noise_only"), circuit.faults()
            with contextlib.suppress(ValueError):  # Stim refuses random observables
                circuit.detector_error_model(allow_gauge_detectors=True)
            circuit.count_determined_measurements(), circuit.missing_detectors()
        """,
        memory=400 << 20,
    )
    assert output == f"{label + 1} 2\n(2, 1) 100 True\n" * len(WITH_A_LABEL)


@pytest.mark.filterwarnings("ignore::stim_nonclifford.InexactErrorModelWarning")
def test_shots_do_not_depend_on_the_numbers() -> None:
    """Seed 3. Neither do the faults, except for their qubits."""
    labels = [3, 7, 10_203, 999_999, LARGEST]
    for k, _, circuit in seeded_circuits(3, 12, num_qubits=5, num_operations=25):
        other = spread(circuit, labels)
        ours, theirs = snc.Circuit(circuit), snc.Circuit(other)
        samples = [c.compile_sampler(seed=k).sample(200) for c in (ours, theirs)]
        np.testing.assert_array_equal(*samples)
        np.testing.assert_array_equal(ours.reference_sample(), theirs.reference_sample())
        samples = [c.compile_detector_sampler(seed=k).sample(200) for c in (ours, theirs)]
        np.testing.assert_array_equal(*samples)
        models = [
            c.detector_error_model(kind="noise_only", approximate_disjoint_errors=True)
            for c in (ours, theirs)
        ]
        assert models[0] == models[1]
        faults = [
            (
                tuple(labels[qubit] for qubit in fault.targets),
                re.sub(r"\d+", lambda match: str(labels[int(match[0])]), fault.pauli),
                (fault.line, fault.tick, fault.instruction, fault.records, fault.step, fault.group),
            )
            for fault in ours.faults()
        ]
        assert faults == [
            (f.targets, f.pauli, (f.line, f.tick, f.instruction, f.records, f.step, f.group))
            for f in theirs.faults()
        ]
        assert theirs.with_faults(that_can_happen(theirs.faults())).to_stim() == spread(
            ours.with_faults(that_can_happen(ours.faults())).to_stim(), labels
        )
        methods = ("sample", "sample_measurements") if circuit.num_detectors else ("sample_measurements",)
        for method in methods:
            operations = [c.plan(method).operations for c in (ours, theirs)]  # type: ignore[arg-type]
            for mine, its in zip(*operations, strict=True):
                pauli = re.sub(r"\d+", lambda match: str(labels[int(match[0])]), mine.pauli)
                assert (pauli, mine.line, mine.tick, mine.instruction) == (
                    its.pauli,
                    its.line,
                    its.tick,
                    its.instruction,
                )


def test_what_users_see_has_the_labels() -> None:
    circuit = snc.Circuit("RX 10203\nDEPOLARIZE1(0.1) 10203\nT 10203\nE(0.1) X7 Z10203\nMX(0.1) 10203")
    assert [str(fault) for fault in circuit.faults()] == [
        "line 2, tick 0: DEPOLARIZE1 10203: X10203",
        "line 2, tick 0: DEPOLARIZE1 10203: Z10203",
        "line 2, tick 0: DEPOLARIZE1 10203: Y10203",
        "line 4, tick 0: E 7 10203: X7*Z10203",
        "line 5, tick 0: MX 10203: record 0 flips",
    ]
    assert [operation.pauli for operation in circuit.plan().operations] == ["Z10203", "X10203"]
    assert str(circuit.with_faults(circuit.faults()[3:])) == "RX 10203\nT 10203\nX 7\nZ 10203\nMX !10203"
    assert "q10203" in circuit.diagram()


def test_qubits_are_those_that_something_is_done_to() -> None:
    """No coordinates, padding bits, records and sweep bits."""
    program = program_of(
        stim.Circuit(
            "QUBIT_COORDS(1) 90\nMPAD 0 1\nM !7\nCX rec[-1] 9 sweep[80] 4\nDETECTOR rec[-1]\n"
            "OBSERVABLE_INCLUDE(0) X11\nI_ERROR(0.1) 12\nE(0.1) Z5"
        )
    )
    assert program.labels == [4, 5, 7, 9, 11]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("M {0}\nH {0}\nCX {1}\nM {0}", "The circuit uses 60,000 qubits, up to 60,000 of which are connected"),
        slow("RX {0}\nT {0}\nCX {1}\nMX {0}", "The circuit uses 60,000 qubits"),
    ],
)  # fmt: skip
def test_too_many_connected_qubits(text: str, message: str) -> None:
    """Refused at once, with the bytes."""
    output = run_limited(
        f"""
        qubits = " ".join(map(str, range(60_000)))
        pairs = " ".join(f"{{k}} {{k + 1}}" for k in range(59_999))
        text = {text!r}.format(qubits, pairs)
        print(refusal(snc.Circuit(text).compile_sampler))
        """
    )
    assert output.startswith(f"ResourceLimitError: {message}")
    assert re.search(r"need [\d,]{13,} bytes( or more)?\. The limit is 1,073,741,824 bytes", output)


def test_too_many_qubits_are_counted_before_what_is_done_with_them() -> None:
    """The refusal took 10 s and more."""
    output = run_limited(
        """
        qubits = " ".join(map(str, range(1_000_000)))
        circuit = snc.Circuit(f"T 0\\nMR {qubits}")
        print(refusal(circuit.compile))
        """,
        seconds=8,
    )
    assert output == (
        "ResourceLimitError: The circuit uses 1,000,000 qubits: the tables of the compiler need 24,576,000,000"
        " bytes or more. The limit is 1,073,741,824 bytes. Sample the circuit in parts.\n"
    )


def test_patches_give_stims_reference_sample() -> None:
    """Seed 8. With many qubits the sweep replaces Stim; both put 0 for every fair coin."""
    rng = np.random.default_rng(8)
    for _ in range(150):
        circuit = stim.Circuit(
            str(
                snc.Circuit(
                    random_circuit(rng, num_qubits=5, num_operations=25, instructions=WITH_PROXY)
                ).s_proxy()
            )
        )
        expected = circuit.reference_sample().astype(int).tolist()
        assert forward_sweep(program_of(circuit)).base_records.tolist() == expected, circuit


def test_without_gaps_is_the_same_circuit() -> None:
    """Seed 9."""
    rng = np.random.default_rng(9)
    for _ in range(50):
        circuit = snc.Circuit(
            random_circuit(rng, num_qubits=4, num_operations=25, instructions=WITH_PROXY)
        ).s_proxy()
        other = without_gaps(spread(circuit, [2, 3, 5000, 10_000]))
        assert other.num_qubits <= 4
        np.testing.assert_array_equal(other.reference_sample(), circuit.reference_sample())
