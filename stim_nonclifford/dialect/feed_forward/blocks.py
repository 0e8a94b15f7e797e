r"""Blocks that records switch, and attempts that are repeated until one of them is accepted.

``REPEAT[IF rec[-1]] 1 { ... }`` is a block that is executed if the record is 1. ``REPEAT[UNTIL rec[-1]] 5
{ ... }`` is executed once, and again until its last record is 1, five times at most. Several terms must all
hold. ``!rec[-1]`` holds if the record is 0, and ``rec[-1]^rec[-3]`` if the records differ.

Records of instructions that are not executed are 0, and detectors among them do not fire. So a circuit has a
fixed number of both, as Stim counts them. Of attempts, the last one that is executed has the last places:
after the block, ``rec[-1]`` is the last record of the attempt that was accepted.

In Stim's text, ``]`` in a tag is ``\C``: ``REPEAT[IF rec[-1\C] 1 {``. Bare text may have the bracket.
``C_M rec[-1] 0`` and ``C_R rec[-1] 0`` are blocks of one instruction. As Stim joins neighbours that have
equal tags, the records of ``M[IF rec[-1]] 0 1`` are counted from each target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import stim

from ...base.written_circuits import circuit_of, with_replaced, without_tag
from ..channels.channel_tags import ANNOTATIONS
from ..channels.readout import MEASUREMENTS
from .control_pairs import is_classical
from .decisions import check_no_decisions

NO_TRAJECTORY = (
    "whether these instructions are executed depends on records, which only an engine that follows each shot"
    ' knows. Sample the circuit with engine="trajectory", which "auto" chooses by itself: compile_sampler()'
    " or compile_detector_sampler()."
)
"""What messages say where a block is switched by records, and no shot is followed."""

_WORD = re.compile(r"\s*(?P<word>IF|UNTIL)\b(?P<terms>.*)", re.DOTALL | re.IGNORECASE)
_RECORD = r"rec\[-[1-9][0-9]{0,8}\]"
_TERM = re.compile(rf"(?P<inverted>!?)(?P<records>{_RECORD}(?:\^{_RECORD})*)")
_IN_TEXT = re.compile(
    r"#[^\n]*|(?P<head>(?<!\w)[A-Za-z]\w*\[\s*(?:IF|UNTIL)\b)(?P<terms>(?:[^\[\]#\r\n{]|rec\[[^\[\]#\r\n{]*\])*)\]",
    re.IGNORECASE,
)
_IN_TAG = re.compile(r"\[\s*IF\b", re.IGNORECASE)
_EXAMPLES = {
    "IF": "REPEAT[IF rec[-1]] 1 {",
    "UNTIL": "REPEAT[UNTIL !rec[-1]] 5 {",
}
_PREFIX = "C_"
_RESETS = frozenset({"R", "RX", "RY"})
_TARGETS_OF_PAIR = frozenset({"MXX", "MYY", "MZZ"})


@dataclass(frozen=True)
class Term:
    """It holds if the sum of these records is odd; if it is inverted, even. ``rec[-k]`` is -k."""

    records: tuple[int, ...]
    inverted: bool

    def __str__(self) -> str:
        return "!" * self.inverted + "^".join(f"rec[-{-record}]" for record in self.records)


@dataclass(frozen=True)
class Condition:
    """The condition of a block: all of its terms must hold."""

    word: Literal["IF", "UNTIL"]
    # its terms. The records of ``"IF"`` are counted from the beginning of the block, and those of
    # ``"UNTIL"`` from the end of an attempt
    terms: tuple[Term, ...]

    def __str__(self) -> str:
        return " ".join([self.word, *map(str, self.terms)])


def condition_of_block(block: stim.CircuitRepeatBlock) -> Condition | None:
    r"""The condition for which the tag of a REPEAT block stands, or None.

    Examples:
        >>> block = stim.Circuit("REPEAT[IF !rec[-2\\C] 1 {\n    M 0\n}")[0]
        >>> condition_of_block(block)
        Condition(word='IF', terms=(Term(records=(-2,), inverted=True),))
    """
    condition = _condition(block.tag, "REPEAT")
    if condition is None:
        return None
    where = f"`REPEAT[{condition}] {block.repeat_count}`"
    if condition.word == "IF" and block.repeat_count != 1:
        raise ValueError(
            f"{where}: a block that is executed if a record is 1 has the count 1. To repeat it, put a REPEAT"
            f" block inside: REPEAT[{condition}] 1 {{ REPEAT {block.repeat_count} {{ ... }} }}."
        )
    if condition.word == "UNTIL":
        own = block.body_copy().num_measurements
        if not any(-record <= own for term in condition.terms for record in term.records):
            raise ValueError(
                f"{where}: an attempt makes {own} records, and the condition looks at none of them, so that"
                " all attempts would have the same result. Its records are counted from the end of an"
                " attempt: rec[-1] is the last record of the block."
            )
    return condition


def condition_of_instruction(instruction: stim.CircuitInstruction) -> Condition | None:
    r"""The condition for which the tag of a measurement or reset stands, or None.

    Examples:
        >>> print(condition_of_instruction(stim.Circuit("M[IF rec[-1\\C] 0")[0]))
        IF rec[-1]
    """
    name = instruction.name
    if not instruction.tag or name in ANNOTATIONS:
        return None
    condition = _condition(instruction.tag, name)
    if condition is None:
        return None
    if condition.word != "IF" or (name not in MEASUREMENTS and name not in _RESETS):
        raise ValueError(
            f"The tag [{condition}] makes no sense on {name}. Conditions stand on REPEAT, as in"
            f" {_EXAMPLES[condition.word]}; IF stands on measurements and resets of qubits, too."
        )
    return condition


def _condition(tag: str, name: str) -> Condition | None:
    found = _WORD.fullmatch(tag)
    if found is None or (name != "REPEAT" and "rec[" not in tag):
        return None  # a note
    word, words = found["word"].upper(), found["terms"].split()
    terms = [each for part in words if (each := _TERM.fullmatch(part))]
    if word not in tag or not terms or len(terms) < len(words):
        raise ValueError(
            f"Malformed tag [{tag}] on {name}: a condition is {word} and then terms that must all hold, such"
            f" as rec[-1], !rec[-1] or rec[-1]^rec[-2], as in {_EXAMPLES[word]}."
        )
    return Condition(
        "IF" if word == "IF" else "UNTIL",
        tuple(
            Term(tuple(int(record[4:-1]) for record in each["records"].split("^")), bool(each["inverted"]))
            for each in terms
        ),
    )


def has_condition(block: stim.CircuitRepeatBlock) -> bool:
    """Whether records switch a block."""
    return bool(block.tag) and condition_of_block(block) is not None


def with_blocks_of_conditions(circuit: stim.Circuit) -> stim.Circuit:
    r"""A copy of a circuit with blocks in the place of measurements and resets that have a condition.

    Examples:
        >>> print(with_blocks_of_conditions(stim.Circuit("M[IF rec[-1\\C] 0")))
        REPEAT[IF rec[-1\C] 1 {
            M 0
        }
    """
    if not _IN_TAG.search(str(circuit)):
        return circuit.copy()

    def stand_in(part: stim.CircuitInstruction) -> stim.Circuit | None:
        condition = condition_of_instruction(part)
        if condition is None:
            return None
        plain = without_tag(part)
        bodies = [plain]
        if part.num_measurements:
            bodies = [
                stim.CircuitInstruction(plain.name, group, plain.gate_args_copy())
                for group in _measured(plain)
            ]
        blocks = [stim.CircuitRepeatBlock(1, circuit_of(body), tag=str(condition)) for body in bodies]
        return circuit_of(*blocks)

    return with_replaced(circuit, stand_in)


def _measured(instruction: stim.CircuitInstruction) -> Iterator[list[stim.GateTarget]]:
    """The targets of each measurement of an instruction."""
    for group in instruction.target_groups():
        if instruction.name != "MPP":
            yield group
            continue
        product = [group[0]]
        for factor in group[1:]:
            product += [stim.target_combiner(), factor]
        yield product


def escaped_conditions(text: str) -> str:
    r"""Circuit text with the brackets in conditions as Stim reads them.

    Examples:
        >>> print(escaped_conditions("REPEAT[IF rec[-1]] 1 {"))
        REPEAT[IF rec[-1\C] 1 {
    """

    def escaped(found: re.Match[str]) -> str:
        if found["head"] is None:
            return found.group()
        return f"{found['head']}{found['terms'].replace(']', chr(92) + 'C')}]"

    return _IN_TEXT.sub(escaped, text)


def is_conditional(name: str) -> bool:
    """Whether a name in upper case is that of a conditional measurement or reset.

    Examples:
        >>> is_conditional("C_MZ"), is_conditional("C_H")
        (True, False)
    """
    return _switched_gate(name) is not None


@cache
def _switched_gate(name: str) -> stim.GateData | None:
    inner = name.removeprefix(_PREFIX)
    if inner == name:
        return None
    gate = next((gate for gate in stim.gate_data().values() if inner in gate.aliases), None)
    return gate if gate is not None and (gate.name in MEASUREMENTS or gate.name in _RESETS) else None


def conditional_text(name: str, tag: str | None, parens: str | None, words: Sequence[str]) -> str | None:
    r"""The tagged text of a bare conditional measurement or reset; None if the name is that of another.

    Examples:
        >>> print(conditional_text("C_MX", None, "(0.1)", ["rec[-1]", "0"]))
        MX[IF rec[-1\C](0.1) 0
    """
    gate = _switched_gate(name)
    if gate is None:
        return None
    if tag is not None:
        raise ValueError(
            f"{name} cannot have a tag, as a tag stands for the instruction itself. Leave it out."
        )
    if parens is not None and "," in parens:
        raise ValueError(
            f"{name} takes one probability at most. With two, write a block of a line each:"
            f" REPEAT[IF rec[-1]] 1 {{, {gate.name}{parens} 0 and }}."
        )
    size = 2 if gate.name in _TARGETS_OF_PAIR else 1
    groups = [words[k : k + size + 1] for k in range(0, len(words), size + 1)]
    example = f"{name} rec[-1] {'X0*X1' if gate.name == 'MPP' else ' '.join(map(str, range(size)))}"
    for group in groups:
        if len(group) != size + 1 or not _TERM.fullmatch(group[0]) or any(map(is_classical, group[1:])):
            raise ValueError(
                f"{name} needs a record and then what it acts on, as in {example}; got {' '.join(group)}."
                f" For several qubits and one record, write a block: REPEAT[IF rec[-1]] 1 {{, {gate.name} 0 1"
                " and }, in three lines."
            )
    controls = {group[0] for group in groups}
    if len(groups) != 1 and (gate.produces_measurements or len(controls) > 1):
        raise ValueError(
            f"{name} {' '.join(words)}: does the second record count from before the line, or from before its"
            " own measurement? Write a line for each; or, for one record and several qubits, a block:"
            f" REPEAT[IF rec[-1]] 1 {{, {gate.name} 0 1 and }}, in three lines."
            if gate.produces_measurements
            else f"{name} has different records: {' '.join(sorted(controls))}. Write a line for each."
        )
    (control,) = controls or {"rec[-1]"}
    head = escaped_conditions(f"{gate.name}[IF {control}]")
    return f"{head}{parens or ''} {' '.join(word for group in groups for word in group[1:])}"


def has_no_tags(circuit: stim.Circuit) -> bool:
    """Whether Stim reads a circuit as it is: no instruction has a tag, and no block a condition.

    Stim does not compare the tags of blocks.
    """
    return circuit == circuit.without_tags() and _first_block(circuit, 1) is None


def first_conditional_block(circuit: stim.Circuit) -> str | None:
    r"""How messages name the first block that records switch, with its line; None if there is none.

    Examples:
        >>> circuit = stim.Circuit("M 0\nREPEAT[IF rec[-1\\C] 1 {\n    R 0\n}")
        >>> first_conditional_block(circuit)
        'Line 2: `REPEAT[IF rec[-1]] 1`'
    """
    found = _first_block(circuit, 1)
    return None if found is None else f"Line {found[0]}: `{found[1]}`"


def _first_block(circuit: stim.Circuit, line: int) -> tuple[int, str] | None:
    """The line and the text of the first block, measurement or reset that records switch."""
    for part in circuit:
        if isinstance(part, stim.CircuitInstruction):
            if condition_of_instruction(part) is not None:
                return line, str(part)
        else:
            if has_condition(part):
                return line, f"REPEAT[{part.tag}] {part.repeat_count}"
            body = part.body_copy()
            found = _first_block(body, line + 1)
            if found is not None:
                return found
            line += _num_lines(body) + 1
        line += 1
    return None


def _num_lines(circuit: stim.Circuit) -> int:
    blocks = [part.body_copy() for part in circuit if isinstance(part, stim.CircuitRepeatBlock)]
    return len(circuit) + sum(_num_lines(body) + 1 for body in blocks)


def check_unconditional(circuit: stim.Circuit) -> None:
    """Checks that no records switch a block, where no shot is followed."""
    found = first_conditional_block(circuit)
    if found is not None:
        raise NotImplementedError(f"{found}: {NO_TRAJECTORY}")


def check_static(circuit: stim.Circuit) -> None:
    """Checks that what a circuit does depends on no decoder, and on no records but for gates."""
    check_no_decisions(circuit)
    check_unconditional(circuit)
