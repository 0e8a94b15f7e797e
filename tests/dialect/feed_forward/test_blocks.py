"""The text of blocks that records switch, and of measurements and resets that are such blocks."""

import io
import pickle

import pytest
import stim

import stim_nonclifford as snc

from ...support.processes.limited_process import run_limited

TEXTS = {
    "M 0\nREPEAT[IF rec[-1]] 1 {\n    T 0\n}": "",
    "M 0 1\nREPEAT[IF !rec[-1]^rec[-2] rec[-1]] 1 {\n    R 0\n}": "",
    "REPEAT[UNTIL !rec[-1] !rec[-2]] 5 {\n    M 0 1\n}": "",
    "M 0\nC_M rec[-1] 0": "M 0\nREPEAT[IF rec[-1]] 1 {\n    M 0\n}",
    "M 0\nC_MX(0.1) !rec[-1] !0  # no ] here": "M 0\nREPEAT[IF !rec[-1]] 1 {\n    MX(0.1) !0\n}",
    "M 0\nC_MPP rec[-1] X0*Z1": "M 0\nREPEAT[IF rec[-1]] 1 {\n    MPP X0*Z1\n}",
    "M 0\nC_MZZ rec[-1] 0 1": "M 0\nREPEAT[IF rec[-1]] 1 {\n    MZZ 0 1\n}",
    "M 0\nC_R rec[-1] 0 rec[-1] 1": "M 0\nREPEAT[IF rec[-1]] 1 {\n    R 0 1\n}",
    "M 0\nc_mr rec[-1]^rec[-2] 0": "M 0\nREPEAT[IF rec[-1]^rec[-2]] 1 {\n    MR 0\n}",
    # Stim joins neighbours: the second record is the one that the first line makes.
    "M 0\nC_M rec[-1] 0\nC_M rec[-1] 1": "M 0\n" + 2 * "REPEAT[IF rec[-1]] 1 {{\n    M {}\n}}\n",
}


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_read_and_written(text: str) -> None:
    circuit = snc.Circuit(text)
    assert str(circuit) == (
        (TEXTS[text] or text).rstrip("\n").format(0, 1) if "{{" in TEXTS[text] else TEXTS[text] or text
    )
    file = io.StringIO()
    circuit.to_file(file)
    file.seek(0)
    for copy in (
        snc.Circuit(str(circuit)), snc.Circuit.from_file(file), snc.Circuit(circuit.to_stim()),
        snc.Circuit(str(circuit.to_stim())), pickle.loads(pickle.dumps(circuit)),
        eval(repr(circuit), {"stim_nonclifford": snc}),
    ):  # fmt: skip
        assert copy == circuit
    # Stim reads all of it, with the same number of records.
    assert stim.Circuit(str(circuit.to_stim())).num_measurements == circuit.num_measurements


def test_append() -> None:
    circuit = snc.Circuit("M 0")
    circuit.append("C_M", [stim.target_rec(-1), 0], 0.125)
    circuit.append(stim.CircuitRepeatBlock(2, stim.Circuit("M 0"), tag="UNTIL rec[-1]"))
    assert circuit == snc.Circuit("M 0\nC_M(0.125) rec[-1] 0\nREPEAT[UNTIL rec[-1]] 2 {\nM 0\n}")


def test_notes_are_no_conditions() -> None:
    circuit = snc.Circuit("TICK[IF rec]\nH[if it must be] 0\nREPEAT[iffy] 2 {\n    M 0\n}")
    assert circuit.compile_sampler(engine="cpu").sample(1).shape == (1, 2)


WRONG = {
    "M 0\n\nREPEAT[IF] 1 {\n    M 0\n}": "Line 3: Malformed tag",
    "M 0\nREPEAT[if rec[-1]] 1 {\n    M 0\n}": "Line 2: Malformed tag",
    "M 0\nREPEAT[IF rec[0]] 1 {\n    M 0\n}": "Line 2: Malformed tag",
    "M 0\nREPEAT[IF rec[-1] and rec[-2]] 1 {\n    M 0\n}": "Line 2: Malformed tag",
    "M 0\nREPEAT[IF rec[-1]] 3 {\n    M 0\n}": "Line 2: .*REPEAT 3",
    "REPEAT 2 {\n    REPEAT[UNTIL rec[-2]] 3 {\n        M 0\n    }\n}": "Line 2: .*an attempt makes 1 records",
    "M 0\nH[IF rec[-1]] 0": "Line 2: .*makes no sense on H",
    "M 0\nM[UNTIL rec[-1]] 0": "Line 2: .*makes no sense on M",
    "M 0\nC_M rec[-1] 0 rec[-1] 1": "Line 2: .*a line for each.*a block",
    "M 0\nC_M rec[-1] 0 1": "Line 2: .*needs a record",
    "M 0 1\nC_R rec[-1] 0 rec[-2] 1": "Line 2: .*a line for each",
    "M 0\nC_M(0.1, 0.2) rec[-1] 0": "Line 2: .*one probability",
    "M 0\nC_M[note] rec[-1] 0": "Line 2: .*cannot have a tag",
    "M 0\nC_M sweep[0] 0": "Line 2: .*needs a record",
    "M 0\nC_X_ERROR(0.1) rec[-1] 0": "Line 2: .*X_ERROR in a block",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_text(text: str) -> None:
    with pytest.raises(ValueError, match=WRONG[text]):
        snc.Circuit(text)


def test_long_tags_are_searched_for_conditions_once() -> None:
    """Within 10 s of the processor; a search from each letter took minutes."""
    run_limited(
        """
        circuit = snc.Circuit("TICK[" + "x" * 1_000_000 + "]")
        assert len(str(circuit)) == 1_000_006
        """
    )
