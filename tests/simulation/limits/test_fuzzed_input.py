"""Mutated circuit texts and tags: no crash, no hang, and only the documented exceptions.

Valid texts over all instructions are changed in one to four places, by character, token and line, and tags of
every carrier likewise. Whatever comes out is parsed; what can be parsed is printed and parsed again; and what is
small is compiled and sampled, if and only if Stim samples it too. Case k is fixed by its number, so a failure
stands in the report with a text that shows it again.

By default 500 cases run; ``make fuzz`` runs 100,000, as CI does once per week. ``STIM_NONCLIFFORD_FUZZ`` says how
many. A crash or a hang in C++ ends the process: the text is then in ``last_case.txt`` in the temporary folder of
the test, and what ran for too long in ``traceback.txt``.
"""

import faulthandler
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.simulation.compiler.program.flattening import program_of
from stim_nonclifford.simulation.compiler.program.steps import Step

from ...support.laws.steps import one_by_one
from ...support.texts.instruction_lines import NON_CLIFFORD
from ...support.texts.mutated_texts import CARRIERS, CORPUS, mutated_tag, mutated_text

pytestmark = pytest.mark.filterwarnings("ignore::stim_nonclifford.RandomObservableWarning")

NUM_CASES = int(os.environ.get("STIM_NONCLIFFORD_FUZZ", "500"))
NUM_TAG_CASES = NUM_CASES // 4
NUM_TEXT_CASES = NUM_CASES - NUM_TAG_CASES
SLOW = 5.0
"""Seconds of the processor that a case may take; it takes some milliseconds."""
HUNG = 20.0
"""Seconds after which the process is ended."""

# What must hold

MAX_QUBITS = 20
MAX_TARGETS = 1000
MAX_DEPTH = 50


def check(make: Callable[[], snc.Circuit]) -> str:
    """Parses, prints, compiles and samples; returns how far it came."""
    try:
        circuit = make()
    except ValueError:
        return "refused"
    again = assert_round_trip(circuit)
    size = size_of(circuit.to_stim())
    counts = (circuit.num_measurements, circuit.num_detectors, circuit.num_observables)
    if circuit.num_qubits > MAX_QUBITS or max(*counts, size.targets) > MAX_TARGETS or size.depth > MAX_DEPTH:
        return "large"
    assert steps_of(circuit) == steps_of(again)
    refusal = sampling_refusal(circuit)
    if size.observable < 2**63:
        stims = stims_refusal(circuit)
        assert (refusal is None) == (stims is None), f"{refusal}, but Stim: {stims}"
    return "sampled" if refusal is None else "not sampled"


def assert_round_trip(circuit: snc.Circuit) -> snc.Circuit:
    """The printed circuit can be parsed, and printing and parsing then changes nothing more."""
    again = snc.Circuit(str(circuit))
    text = str(again)  # now equal neighbors are one instruction
    assert snc.Circuit(text) == again
    assert str(snc.Circuit(text)) == text
    assert snc.Circuit(again.to_stim()) == again
    assert snc.Circuit(str(again.to_stim())) == again
    counts = [(c.num_qubits, c.num_measurements, c.num_detectors) for c in (circuit, again)]
    assert counts[0] == counts[1]
    if size_of(circuit.to_stim()).observable < 10**6:  # Stim prints six digits
        assert circuit.num_observables == again.num_observables
    return again


def steps_of(circuit: snc.Circuit) -> list[Step] | None:
    """What a circuit means, gate by gate, with the digits that Stim prints; None if it is refused."""
    printed = stim.Circuit(str(circuit.to_stim()))
    try:
        program = program_of(printed)
    except (ValueError, snc.ResourceLimitError):
        return None
    return list(one_by_one(program))


@dataclass(frozen=True)
class Size:
    """What sampling takes, as far as it can be seen from outside."""

    targets: int  # targets of all instructions after unrolling
    depth: int  # how deep blocks are nested
    observable: float  # the largest number of an observable, as a float: Stim keeps some of its bits only


def size_of(circuit: stim.Circuit) -> Size:
    targets, deepest, observable = 0, 0, 0.0
    blocks = [(circuit, 1, 0)]
    while blocks:
        block, times, depth = blocks.pop()
        deepest = max(deepest, depth)
        targets += times  # blocks may be empty
        for instruction in block:
            if isinstance(instruction, stim.CircuitRepeatBlock):
                blocks.append((instruction.body_copy(), times * instruction.repeat_count, depth + 1))
                continue
            targets += times * max(1, len(instruction.targets_copy()))
            if instruction.name == "OBSERVABLE_INCLUDE":
                observable = max(observable, *instruction.gate_args_copy())
    return Size(targets, deepest, observable)


def sampling_refusal(circuit: snc.Circuit) -> str | None:
    """Samples three shots; None if that works. Exceptions that are not documented are not caught."""
    try:
        records = circuit.compile_sampler(seed=1, max_active_coordinates=12).sample(3)
        detectors, observables = circuit.compile_detector_sampler(seed=1, max_active_coordinates=12).sample(
            3, separate_observables=True
        )
    except (ValueError, NotImplementedError, snc.ResourceLimitError) as error:
        return str(error)
    for bits, width in (
        (records, circuit.num_measurements),
        (detectors, circuit.num_detectors),
        (observables, circuit.num_observables),
    ):
        assert bits.shape == (3, width)
        assert bits.dtype == np.bool_
    return None


def stims_refusal(circuit: snc.Circuit) -> str | None:
    """The same for Stim, with every non-Clifford gate as its carrier."""
    tagged = circuit.to_stim()
    try:
        tagged.compile_sampler().sample(3)
        tagged.compile_detector_sampler().sample(3)
    except (ValueError, IndexError) as error:
        return str(error)
    return None


@contextmanager
def watched(folder: Path, shown: str) -> Iterator[None]:
    """Notes the text, and ends what hangs; a failure shows the case."""
    (folder / "last_case.txt").write_text(shown, encoding="utf-8")
    start = time.process_time()
    with (folder / "traceback.txt").open("w") as file:
        faulthandler.dump_traceback_later(HUNG, exit=True, file=file)
        try:
            yield
        except Exception as error:
            raise AssertionError(f"{type(error).__name__} ({error}) of {shown}") from error
        finally:
            faulthandler.cancel_dump_traceback_later()
    assert time.process_time() - start <= SLOW, f"slow: {shown}"


def test_corpus_is_valid_and_complete() -> None:
    for text in CORPUS:
        assert check(lambda text=text: snc.Circuit(text)) == "sampled", text
    words = set(re.findall(r"\w+", "\n".join(CORPUS)))
    assert set(stim.gate_data()) <= words
    assert set(NON_CLIFFORD) <= words


def test_mutated_texts(tmp_path: Path) -> None:
    """Cases "text 0", "text 1", ...: fixed, so nothing fails by chance."""
    outcomes: Counter[str] = Counter()
    for k in range(NUM_TEXT_CASES):
        text = mutated_text(random.Random(f"text {k}"))
        with watched(tmp_path, f"case {k}: {text!r}"):
            outcomes[check(lambda text=text: snc.Circuit(text))] += 1
    assert min(outcomes["refused"], outcomes["sampled"]) > NUM_TEXT_CASES / 5
    assert min(outcomes["not sampled"], outcomes["large"]) > NUM_TEXT_CASES / 500


def test_mutated_tags(tmp_path: Path) -> None:
    """Cases "tag 0", "tag 1", ...: tags of any characters, as Stim's constructors take them."""
    outcomes: Counter[str] = Counter()
    for k in range(NUM_TAG_CASES):
        rng = random.Random(f"tag {k}")
        tag, carrier = mutated_tag(rng), rng.choice(list(CARRIERS))
        with watched(tmp_path, f"case {k}: {carrier} with {tag!r}"):
            outcomes[check(lambda tag=tag, carrier=carrier: snc.Circuit(tagged(carrier, tag)))] += 1
            outcomes[check(lambda tag=tag: note_on_t(tag))] += 1
    assert min(outcomes["refused"], outcomes["sampled"]) > NUM_TAG_CASES / 5


@pytest.mark.parametrize(
    "text",
    [
        "H 0\nM[unclosed",
        "H 0\nM[unclosed\nM 0",
        "REPEAT[unclosed",
        "I[R_X(theta=" + "1" * 15_000 + ")] 0",
        "R_X(" + "1" * 20_000 + "x) 0",
        "I[U3(" + "theta=1*pi," * 5_000 + ")] 0",
        "X" * 20_000 + " 0",
        "TICK\n" * 20_000 + "S[t] 0",
        "R_XX(0.1)" + " 0 1" * 20_000 + " 2",
        "REPEAT 1 {\n" * 1_100 + "T 0\n" + "}\n" * 1_100,
        "REPEAT 1000000000000 {\n" * 5 + "T 0\nMR 0\n" + "}\n" * 5,
    ],
    ids=lambda text: text[:20],
)
def test_long_texts(tmp_path: Path, text: str) -> None:
    """What takes long when parsing is not linear, and what ends in the middle of something."""
    with watched(tmp_path, f"{text[:60]!r}..."):
        check(lambda: snc.Circuit(text))


@pytest.mark.parametrize("body", ["T 0\nMR 0", "T 0", "TICK", ""])
def test_unrolling_is_limited(tmp_path: Path, body: str) -> None:
    circuit = snc.Circuit("REPEAT 1000000000000 {\n" * 5 + body + "\n}" * 5)
    with watched(tmp_path, body), pytest.raises(snc.ResourceLimitError, match="REPEAT"):
        circuit.compile_sampler()


def tagged(carrier: str, tag: str) -> stim.Circuit:
    """A circuit with this tag on this carrier."""
    circuit = stim.Circuit("R 0 1 2")
    (plain,) = stim.Circuit(f"{carrier} {CARRIERS[carrier]}")
    circuit.append(stim.CircuitInstruction(carrier, plain.targets_copy(), tag=tag))
    circuit += stim.Circuit("MX 0 1 2\nDETECTOR rec[-1]")
    return circuit


def note_on_t(tag: str) -> snc.Circuit:
    """A T gate with a note, which printing and parsing must keep."""
    circuit = snc.Circuit("H 0")
    circuit.append("T", [0], tag=tag)
    kept = snc.Circuit(str(circuit))[1].tag
    assert kept == (f"T:{tag}" if tag else "T")
    circuit.append("M", [0])
    return circuit


@pytest.mark.parametrize("text", ["T 0\nM 0", "REPEAT 3 {\n    T 0\n}"])
def test_check_sees_what_it_is_to_see(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """The check fails if a gate is lost in printing."""
    monkeypatch.setattr(snc.Circuit, "__str__", lambda self: str(self._stim).replace("[T]", ""))
    with pytest.raises(AssertionError):
        check(lambda: snc.Circuit(text))
