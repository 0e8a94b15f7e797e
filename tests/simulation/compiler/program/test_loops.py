"""REPEAT blocks: steps of later iterations are copied, blocks of Clifford gates are one gate, depth is limited."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.simulation.compiler.algebra.gf2 import masks_of
from stim_nonclifford.simulation.compiler.program import extent
from stim_nonclifford.simulation.compiler.program.extent import extent_of
from stim_nonclifford.simulation.compiler.program.flattening import program_of
from stim_nonclifford.simulation.compiler.program.loops import unrolled

from ....support.laws.steps import one_by_one
from ....support.oracle.random_circuits import random_circuit
from ....support.processes.limited_process import run_limited
from ....support.rates.fault_choices import that_can_happen
from ....support.seeds import slow


def random_loops(seed: int, count: int) -> Iterator[stim.Circuit]:
    """Random circuits inside of nested loops, between others."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        before, body, inner, after = (
            random_circuit(rng, num_qubits=3, num_operations=8, measure_at_end=bool(rng.integers(2)))
            for _ in range(4)
        )
        circuit = stim.Circuit("M 0 1 2\nTICK")  # records to refer to
        circuit += before
        block = body + stim.Circuit("TICK")
        block.append(stim.CircuitRepeatBlock(int(rng.integers(1, 4)), inner + stim.Circuit("TICK\nTICK")))
        block += after
        circuit.append(stim.CircuitRepeatBlock(int(rng.integers(1, 5)), block))
        yield circuit + after


def test_iterations_are_those_of_the_unrolled_circuit() -> None:
    """Seed 1; all instructions, records and chains of correlated errors that reach over the ends."""
    num_chains = 0
    for circuit in random_loops(1, 30):
        flat = circuit.flattened()
        looped = program_of(circuit)
        assert list(one_by_one(looped)) == list(one_by_one(program_of(flat)))
        instructions = list(unrolled(circuit))
        ticks = np.cumsum([instruction.name == "TICK" for instruction in instructions])
        places = list(looped.places)
        assert [place.tick for place in places] == [ticks[place.number] for place in places]
        assert [place.source for place in places] == [instructions[place.number] for place in places]
        assert [looped.places[k] for k in range(-1, len(places) - 1)] == places[-1:] + places[:-1]
        assert [looped.steps[k] for k in range(len(places))] == list(looped.steps)
        num_chains += "CORRELATED_ERROR" in str(circuit)
    assert num_chains > 7


@pytest.mark.parametrize(
    "body",
    [
        "E(0.1) X0\nELSE_CORRELATED_ERROR(0.2) X1",
        "ELSE_CORRELATED_ERROR(0.1) X0\nM 0",
        "ELSE_CORRELATED_ERROR(0.1) X0\nE(0.2) X1\nELSE_CORRELATED_ERROR(0.3) Z0\nMR 1",
        "E(0.1) X0\nREPEAT 3 {\nELSE_CORRELATED_ERROR(0.2) X1\n}\nMR 0",
        "ELSE_CORRELATED_ERROR(0.1) X0\nREPEAT 3 {\nE(0.2) X1\nH 0\n}\nMR 0 1",
        "E(0.1) X0\nMR 0\nREPEAT 2 {\nREPEAT 4 {\nE(0.2) X1\nMR 1\nE(0.3) X0\n}\nELSE_CORRELATED_ERROR(0.3) Z0\n}\nH 0",
    ],
)
@pytest.mark.parametrize("before", ["", "E(0.25) Z1\n"])
def test_chains_of_correlated_errors(body: str, before: str) -> None:
    """In nested loops and over their ends; and what native code makes of them, with errors before a T gate."""
    circuit = stim.Circuit(
        f"H 0 1\n{before}REPEAT 5 {{\n{body}\n}}\nELSE_CORRELATED_ERROR(0.5) Y0\nS[T] 0\nH 0\nM 0 1"
    )
    looped, flat = program_of(circuit), program_of(circuit.flattened())
    assert list(looped.steps) == list(flat.steps)
    tables = [snc.Circuit(each).compile().effects("records") for each in (circuit, circuit.flattened())]
    for values in ([getattr(table.noise, name) for table in tables] for name in ("rates", "sites")):
        assert np.array_equal(*values)
    assert masks_of(tables[0].noise.effects) == masks_of(tables[1].noise.effects)
    shots = [
        snc.Circuit(each).compile_sampler(seed=2, engine="trajectory").sample(50)
        for each in (circuit, circuit.flattened())
    ]
    assert np.array_equal(*shots)


def test_loops_of_correlated_errors_are_stored_twice() -> None:
    """Once for the last iteration, whose chain may go on."""
    body = "E(0.1) X0\nELSE_CORRELATED_ERROR(0.2) X1\n" + "MR 0 1\n" * 10
    program = program_of(stim.Circuit(f"REPEAT 100000 {{\n{body}\n}}"))
    assert len(program.stored_steps) == 2 * 22
    assert len(program.steps) == 100_000 * 22


def clifford_loops(seed: int, count: int) -> Iterator[str]:
    """Blocks of Clifford gates, nested ones too, between T gates and noise."""
    rng = np.random.default_rng(seed)
    names = [name for name, data in stim.gate_data().items() if data.is_unitary and "SPP" not in name]

    def gates() -> str:
        lines = []
        for _ in range(int(rng.integers(1, 5))):
            name = names[int(rng.integers(len(names)))]
            width = 2 if stim.gate_data(name).is_two_qubit_gate else 1
            lines.append(f"{name} {' '.join(map(str, rng.permutation([2, 5, 9])[:width]))}")
        return "\n".join([*lines, "TICK"])

    for _ in range(count):
        numbers = [int(rng.integers(2, 30)) for _ in range(2)]
        inner = f"REPEAT {numbers[0]} {{\n{gates()}\n}}\n{gates()}"
        yield (
            f"T 2 9\nREPEAT {numbers[1]} {{\n{inner}\n}}\nDEPOLARIZE1(0.1) 2 5 9\nTICK\nT 5\n"
            f"REPEAT 7 {{\n{gates()}\n}}\nX_ERROR(0.1) 2\nMX 2 5 9\nM 2 5 9\nDETECTOR rec[-1] rec[-4]"
        )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::stim_nonclifford.InexactErrorModelWarning")
def test_powers_are_the_repeated_gates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seed 2: the same shots, faults and plans, with T gates and without."""
    for text in clifford_loops(2, 25):
        for written in (text, re.sub("(?m)^T ", "S ", text)):
            found = []
            for power_from in (10**9, 0):
                monkeypatch.setattr(extent, "_POWER_FROM", power_from)
                circuit = snc.Circuit(written)
                assert extent_of(circuit.to_stim()).has_powers == (power_from == 0)
                places = [(fault.line, fault.tick, fault.pauli) for fault in circuit.faults()]
                lines = [
                    (op.line, op.tick, op.pauli) for op in circuit.plan("sample_measurements").operations
                ]
                samples = circuit.compile_sampler(seed=4).sample(100)
                dem = circuit.detector_error_model(kind="noise_only")
                noisy = str(circuit.with_faults(that_can_happen(circuit.faults()[1:5])))
                found.append(
                    (places, lines, samples.tolist(), circuit.reference_sample().tolist(), dem, noisy)
                )
            assert found[0] == found[1], written


def test_many_repetitions_of_clifford_gates() -> None:
    """10^18 + 1 = 1 mod 2, 5 mod 6, 0 mod 7: powers of gates of these orders."""
    circuit = snc.Circuit(
        "REPEAT 1000000000000000001 {\n    X 3\n    C_XYZ 4\n    TICK\n}\nT 4\nTICK\nX_ERROR(0.1) 3\nM 3 4\nM !5"
    )
    assert circuit.compile_sampler(seed=1).sample(100)[:, 0].mean() > 0.8
    [fault] = circuit.faults()
    assert (fault.line, fault.tick) == (8, 10**18 + 2)
    with pytest.raises(snc.ResourceLimitError, match=r"3,000,000,000,000,000,\d+ instruction targets"):
        circuit.with_faults([fault])


def test_instructions_can_be_numbered() -> None:
    nested = "REPEAT 1000000000000000001 {\n" * 2 + "X 0\n" + "}\n" * 2 + "M 0"
    with pytest.raises(snc.ResourceLimitError, match="instructions once its REPEAT blocks are unrolled"):
        snc.Circuit(nested).compile()


@pytest.mark.parametrize("depth", [20_000, slow(300_000)])
def test_deep_nesting_is_refused_before_stim_sees_it(depth: int) -> None:
    """10^5 levels end Stim's parser with a segmentation fault, 20 000 took 1.35 GB."""
    output = run_limited(
        f"""
        for body in ("", "T 0\\nM 0\\n"):
            text = "H 0\\n" + "REPEAT 2 {{\\n" * {depth} + body + "}}\\n" * {depth}
            print(refusal(snc.Circuit, text))
            circuit = snc.Circuit("H 0")
            print(refusal(circuit.append_from_stim_program_text, text))
        """,
        memory=400 << 20,
        seconds=8,
    )
    assert output == "ValueError: Line 102: `REPEAT 2 {`: REPEAT blocks are nested more than 100 deep.\n" * 4


def test_braces_that_open_no_block_do_not_count() -> None:
    text = "# {\n" * 300 + "M[{] 0 # {\n" * 300 + "REPEAT 1 {\n    H 0 # {\n}\n" * 300
    assert len(snc.Circuit(text)) == 301  # equal neighbours are one instruction


def test_the_limit_of_the_depth() -> None:
    deepest = "REPEAT 1 {\n" * 100 + "T 0\n" + "}\n" * 100
    assert snc.Circuit(deepest).num_qubits == 1
    with pytest.raises(ValueError, match=r"Line 101: `REPEAT\[note\] 1 \{`: .* more than 100 deep"):
        snc.Circuit("REPEAT[note] 1 {\n" * 101 + "T 0\n" + "}\n" * 101)


@pytest.mark.slow
def test_deep_circuits_of_stim() -> None:
    """Refused without a copy of each level being held."""
    output = run_limited(
        """
        deep = stim.Circuit("REPEAT 2 {\\n" * 3_000 + "M 0\\n" + "}\\n" * 3_000)
        print(refusal(snc.Circuit, deep))
        print(refusal(snc.Circuit().append, deep))
        circuit = snc.Circuit("H 0")
        def multiply():
            global circuit
            for _ in range(3_000):
                circuit = circuit * 2 + snc.Circuit("H 0")
        print(refusal(multiply))
        """,
        memory=600 << 20,
    )
    lines = output.splitlines()
    assert lines[:2] == ["ValueError: REPEAT blocks are nested more than 100 deep."] * 2
    assert lines[2].startswith(
        "ValueError: REPEAT blocks are nested more than 100 deep. Combine repetitions: multiply less often"
    )


@pytest.mark.parametrize(
    "call",
    [
        "flattened()", "detecting_regions()", "shortest_graphlike_error()",
        "explain_detector_error_model_errors()", "diagram()", "diagram('timeslice-svg')",
        "get_detector_coordinates()", "count_determined_measurements()", "missing_detectors()",
        "detector_error_model(kind='noise_only')", "detector_error_model(flatten_loops=True)", "plan()",
        "faults()", "reference_sample()", "compile_sampler()", "compile_detector_sampler()",
    ],
)  # fmt: skip
def test_what_would_be_unrolled_is_refused(call: str) -> None:
    """Stim fills the memory of the machine with these."""
    circuit = snc.Circuit("REPEAT 1000000000000 {\n    R 0\n    M 0\n    DETECTOR rec[-1]\n}")
    with pytest.raises(snc.ResourceLimitError, match=r"3,000,000,000,000 instruction targets.*limit is"):
        eval(f"circuit.{call}", {"circuit": circuit})
