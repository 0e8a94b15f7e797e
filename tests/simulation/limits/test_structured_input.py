"""Texts that are large in structure: no crash, no hang, documented exceptions only, within 10 s and 1 GiB each.

The cases are fixed by their numbers. ``STIM_NONCLIFFORD_FUZZ`` says, as in ``test_fuzzed_input``, how many there are.
"""

import os

import pytest

import stim_nonclifford as snc

from ...support.processes.limited_process import run_limited

NUM_CASES = int(os.environ.get("STIM_NONCLIFFORD_FUZZ", "400")) // 10
CASES_OF_A_PROCESS = 200


@pytest.mark.parametrize("first", range(0, NUM_CASES, CASES_OF_A_PROCESS))
def test_large_structures(first: int) -> None:
    end = min(NUM_CASES, first + CASES_OF_A_PROCESS)
    output = run_limited(
        f"""
        from tests.support.texts.structured_texts import print_outcomes
        print_outcomes({first}, {end})
        """,
        seconds=60 * (end - first),
    )
    assert output.count("\n") == end - first
    assert len(set(output.splitlines())) >= 3


def test_many_coordinates_are_refused() -> None:
    coordinates = ", ".join(["1"] * 10_000)
    circuit = snc.Circuit(f"REPEAT 1000 {{\nM 0\nDETECTOR({coordinates}) rec[-1]\n}}")
    for call in (
        circuit.get_detector_coordinates,
        circuit.detector_error_model,
        lambda: circuit.detector_error_model(kind="noise_only"),
    ):
        with pytest.raises(snc.ResourceLimitError, match="10,000,000 coordinates; the limit is 8,388,608"):
            call()


@pytest.mark.slow
def test_long_effects_are_refused_in_time() -> None:
    # An error before a measurement flips all later records, whose number of bits grows quadratically.
    circuit = snc.Circuit("R 0 1 2\nH 0\nT 0\n" + "MYY(0.2) 2 0 0 1\n" * 100_000)
    with pytest.raises(snc.ResourceLimitError, match=r"200,000 measurement records: .*4,294,967,296"):
        circuit.compile_sampler()


def test_many_products_in_one_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of the instruction is for messages. Written for each of 65,536 products, it took ten minutes."""

    def place_of(*arguments: object) -> str:
        pytest.fail("The text of the instruction was written.")

    monkeypatch.setattr(
        "stim_nonclifford.simulation.compiler.program.flattening._Flattener.place_of", place_of
    )
    circuit = snc.Circuit("H 0 1\nT 0\nMPP" + " Y0*Z0*X0*!Z1*Y1*X1" * 4096)
    assert circuit.compile().program.num_records == 4096


def test_chains_of_errors_in_long_loops_are_refused() -> None:
    circuit = snc.Circuit("REPEAT 5000000 {\nE(0.001) X0 X1\nELSE_CORRELATED_ERROR(0.001) Z0\n}\nM 0 1")
    with pytest.raises(snc.ResourceLimitError, match="15,000,002 instruction targets"):
        circuit.compile()


def test_a_line_whose_targets_do_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused before Stim lists its targets, which crashes where the memory ends."""
    monkeypatch.setattr(
        "stim_nonclifford.dialect.text.can_be_allocated", lambda num_bytes: num_bytes < 1 << 27
    )
    long = "M" + " 0" * (1 << 19)
    with pytest.raises(
        snc.ResourceLimitError, match=r"Line 2 has 1,048,577 characters\..* 134,217,856 bytes"
    ):
        snc.Circuit(f"H 0\n{long}")
    assert len(snc.Circuit("M 0\n" * 10 + "# " + "x" * 100)) == 1
