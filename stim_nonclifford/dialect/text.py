"""Translates circuit text with bare non-Clifford gates to Stim's text with tags, and back.

Bare gates, such as ``T 0 1``, ``TPP X0*Y1``, ``R_Z(0.25) 0``, ``R_PAULI(0.1) X0*Z1``, ``U3(0.5, 0, 1) 0``
(angles in half-turns) and ``CCZ 0 1 2``, are rewritten to tagged instructions. All other text is passed to
Stim unchanged and line by line, and Stim parses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import stim

from ..base.arguments import did_you_mean
from ..base.errors import ResourceLimitError
from ..base.memory import can_be_allocated
from .bare_gates import INSTRUCTION, LARGEST_ANGLE, tagged_text, with_own_name
from .channels.channel_tags import bare_channel
from .channels.missing import advice_on_channel
from .channels.readout import bare_readout, readout_noise_of
from .channels.spreading_gates import SPREADING_GATES, spreads, with_spread_behind_gates
from .channels.table import CHANNELS, channel_of
from .exact_text import bracketed
from .expectation_values import EXP_VAL, bare_expectation, is_expectation
from .feed_forward.blocks import (
    condition_of_block,
    condition_of_instruction,
    escaped_conditions,
    with_blocks_of_conditions,
)
from .feed_forward.conditional import conditional_gate
from .feed_forward.control_pairs import groups_of_pairs, is_classical, text_of_target
from .feed_forward.decisions import DECODE, FRAME, SURE, bare_decision, decision_of
from .gates import BARE_NAMES, CONDITIONAL_CARRIER
from .tags import NonCliffordGate, gate_from_tag, is_note, word_of_tag

_SKIPPED = re.compile(r"(?:[ \t\r\n{}]|#[^\n]*)+")

_BRACE = re.compile(r"[{}]|#[^\n]*")

MAX_NESTING = 100
TOO_DEEP = f"REPEAT blocks are nested more than {MAX_NESTING} deep."

_LONG_LINE = 1 << 20
_BYTES_PER_CHARACTER = 128  # of the Python objects of a long line's targets

_PATH = re.compile(r"[^\r\n#]*\.stim\s*", re.IGNORECASE)
_OPENQASM = re.compile(r"(?:\s|//[^\n]*\n)*(?P<line>OPENQASM\b[^\n]*)")
_BYTE_ORDER_MARK = "\ufeff"


def parse(text: str) -> stim.Circuit:
    r"""Parses circuit text in which non-Clifford gates are bare or tagged; messages name the line.

    Examples:
        >>> print(parse('H 0\nT 0\nR_Z(0.125) 0\nM 0'))
        H 0
        S[T] 0
        I[R_Z(theta=0.125*pi)] 0
        M 0
        >>> parse('H 0\nTT 0')
        Traceback (most recent call last):
        ...
        ValueError: Line 2: `TT 0`: Gate not found: 'TT'. Did you mean T?
    """
    text = text.removeprefix(_BYTE_ORDER_MARK)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"The circuit text is not valid Unicode: {error}. Save it as UTF-8.") from None
    try:
        return _parsed(text)
    except ValueError:
        _refuse_other_kinds_of_text(text)
        raise


def _refuse_other_kinds_of_text(text: str) -> None:
    """Raises an error for text of another kind, where Stim's message about the first line would mislead."""
    if _PATH.fullmatch(text):
        raise ValueError(
            f"`{text.strip()}` looks like a path, not like circuit text. Read a file with"
            f" Circuit.from_file({text.strip()!r})."
        ) from None
    program = _OPENQASM.match(text)
    if program:
        line = text.count("\n", 0, program.start("line")) + 1
        raise ValueError(
            f"Line {line}: `{program['line'].strip()}`: this is OpenQASM. Read it with"
            " Circuit.from_qasm(text); a circuit in Stim's language is H 0, CX 0 1, T 0, R_Z(0.25) 0, M 0."
        ) from None


def _check_memory(text: str) -> None:
    """Checks that the targets of the longest line fit into memory; Stim crashes where the memory ends."""
    if len(text) < _LONG_LINE:
        return
    number, longest = max(enumerate(text.split("\n"), start=1), key=lambda line: len(line[1]))
    num_bytes = _BYTES_PER_CHARACTER * len(longest)
    if len(longest) >= _LONG_LINE and not can_be_allocated(num_bytes):
        raise ResourceLimitError(
            f"Line {number} has {len(longest):,} characters. To read its targets takes up to {num_bytes:,}"
            " bytes, and there is less memory. Write the targets in several lines, with other instructions"
            " in between."
        )


def _parsed(text: str) -> stim.Circuit:
    _check_memory(text)
    tagged = _with_tags(escaped_conditions(text))
    try:
        circuit = _stim_circuit(tagged)
    except ValueError as error:
        raise _located(error, text, tagged) from None
    _check_tags(text, tagged, circuit)
    return with_blocks_of_conditions(with_spread_behind_gates(circuit))


def _stim_circuit(text: str) -> stim.Circuit:
    """Parses text with a line end added: Stim's parser never returns if the text ends inside a tag."""
    return stim.Circuit(text + "\n")


def extended_text(circuit: stim.Circuit) -> str:
    """The text of a tagged circuit, with its non-Clifford gates as bare gates."""
    lines: list[str] = []
    for instruction in circuit:
        if isinstance(instruction, stim.CircuitRepeatBlock):
            condition = condition_of_block(instruction)
            tag = bracketed(instruction.tag) if condition is None else f"[{condition}]"
            lines.append(f"REPEAT{tag} {instruction.repeat_count} {{")
            body = extended_text(instruction.body_copy())
            lines += ["    " + line for line in body.split("\n") if line]
            lines.append("}")
            continue
        if is_expectation(instruction):
            lines.append(bare_expectation(instruction))
            continue
        channel = channel_of(instruction)
        if channel is not None:
            lines.append(bare_channel(instruction, channel))
            continue
        noise = readout_noise_of(instruction)
        if noise is not None:
            lines.append(bare_readout(instruction, noise))
            continue
        decision = decision_of(instruction)
        if decision is not None:
            lines.append(bare_decision(instruction, decision))
            continue
        gate = gate_from_tag(instruction)
        lines.append(str(instruction) if gate is None else _bare(instruction, gate))
    return "\n".join(lines)


def circuit_repr(circuit: stim.Circuit) -> str:
    """A tagged circuit as an expression that gives the circuit of this package, with bare gates."""
    text = extended_text(circuit)
    if not text:
        return "stim_nonclifford.Circuit()"
    if "\\" in text or "'''" in text:
        return f"stim_nonclifford.Circuit({text!r})"
    indented = "\n".join(f"    {line}" for line in text.split("\n"))
    return f"stim_nonclifford.Circuit('''\n{indented}\n''')"


def _bare(instruction: stim.CircuitInstruction, gate: NonCliffordGate) -> str:
    written = gate.definition.written_form
    is_written = instruction.name == written.carrier and word_of_tag(instruction.tag) == written.word
    if not is_written and instruction.name != CONDITIONAL_CARRIER:
        return str(instruction)  # the bare gate would be read as another tagged form of the same gate
    too_large = any(abs(angle) > LARGEST_ANGLE for angle in gate.half_turns)
    if too_large or not is_note(gate.user_tag, gate.definition):
        return str(instruction)  # the bare gate would be refused
    name, targets = _name_and_targets(instruction, gate)
    note = bracketed(gate.user_tag)
    angles = ", ".join(repr(value) for value in gate.half_turns)
    return f"{name}{note}{f'({angles})' if angles else ''}{targets}"


def bare_name(instruction: stim.CircuitInstruction) -> str:
    """The name of an instruction in the printed circuit: a non-Clifford gate has its bare name.

    Examples:
        >>> bare_name(stim.Circuit("S_DAG[T] 0")[0]), bare_name(stim.Circuit("S_DAG 0")[0])
        ('T_DAG', 'S_DAG')
        >>> bare_name(stim.Circuit("SPP[R_PAULI(theta=0.1*pi)] X0*X1")[0])
        'R_XX'
    """
    if is_expectation(instruction):
        return EXP_VAL
    channel = channel_of(instruction)
    if channel is not None:
        return channel.name
    gate = gate_from_tag(instruction)
    return instruction.name if gate is None else _name_and_targets(instruction, gate)[0]


def _name_and_targets(instruction: stim.CircuitInstruction, gate: NonCliffordGate) -> tuple[str, str]:
    """The bare name and targets of a gate; a rotation about products X0*X1 is named R_XX."""
    if instruction.name == CONDITIONAL_CARRIER:
        groups = groups_of_pairs(gate.definition, instruction.targets_copy())
        return gate.name, "".join(f" {text_of_target(target)}" for group in groups for target in group)
    plain = str(stim.CircuitInstruction(instruction.name, instruction.targets_copy(), tag=""))
    targets = plain[len(instruction.name) :]
    written = gate.definition.written_form
    if instruction.name != written.carrier:
        return gate.name, targets
    for other in BARE_NAMES.values():
        form = other.written_form
        if form.product and (form.carrier, form.word) == (written.carrier, written.word):
            group = " " + r"\*".join(rf"{pauli}\d+" for pauli in form.product)
            factors = [product.split("*") for product in targets.split()]
            are_different = all(len(set(product)) == len(product) for product in factors)
            if re.fullmatch(f"(?:{group})+", targets) and are_different:
                return other.name, re.sub("[XYZ]", "", targets).replace("*", " ")
    return gate.name, targets


def _with_tags(text: str) -> str:
    """Rewrites bare non-Clifford gates as tagged ones, and keeps the line numbers."""
    out: list[str] = []
    position = depth = 0
    while position < len(text):
        skipped = _SKIPPED.match(text, position)
        if skipped:
            depth = _depth_after(text, position, skipped.end(), depth)
            out.append(skipped.group())
            position = skipped.end()
            continue
        found = INSTRUCTION.match(text, position)
        if found is None:  # not an instruction: Stim will report an error in this line
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            out.append(text[position:end])
            position = end
            continue
        try:
            out.append(tagged_text(found))
        except ValueError as error:
            line = text.count("\n", 0, position) + 1
            raise ValueError(f"Line {line}: `{found.group().strip()}`: {error}") from None
        position = found.end()
    return "".join(out)


def _depth_after(text: str, begin: int, end: int, depth: int) -> int:
    """The nesting depth of blocks after a part of the text that has only braces and comments."""
    for brace in _BRACE.finditer(text, begin, end):
        depth += {"{": 1, "}": -1}.get(brace.group(), 0)
        if depth > MAX_NESTING:
            line = text.count("\n", 0, brace.start()) + 1
            written = text.split("\n")[line - 1].strip()
            shown = written if len(written) <= 60 else f"{written[:60]}..."
            raise ValueError(f"Line {line}: `{shown}`: {TOO_DEEP}")
    return depth


def _instruction_lines(text: str, tagged: str) -> list[tuple[int, str, str]]:
    """For every line: its number, the line as written, and the line as passed to Stim, without braces."""
    pairs = zip(text.split("\n"), tagged.split("\n"), strict=True)
    return [
        (number, written.strip(), _without_braces(seen))
        for number, (written, seen) in enumerate(pairs, start=1)
    ]


def _without_braces(line: str) -> str:
    """A line without the braces at its beginning and the REPEAT before them."""
    return re.sub(r"^[\s}]*(REPEAT[^{]*\{\s*)?", "", line, flags=re.I)


def _located(error: ValueError, text: str, tagged: str) -> ValueError:
    """Stim's error, with the line that causes it; Stim's message does not name the line."""
    for number, written, seen in _instruction_lines(text, tagged):
        try:
            _stim_circuit(seen)
        except ValueError as line_error:
            message = _with_own_name(str(line_error), written, seen)
            return ValueError(f"Line {number}: `{written}`: {message}{_suggestion(message, seen)}")
    return ValueError(str(error))


def _with_own_name(message: str, written: str, seen: str) -> str:
    """Stim's message about a line, with the name of a bare gate in place of its carrier."""
    own, carrier = INSTRUCTION.match(_without_braces(written)), INSTRUCTION.match(seen.lstrip())
    return with_own_name(message, carrier["name"], own["name"]) if own and carrier else message


def _suggestion(message: str, line: str) -> str:
    missing = re.match(r"Gate not found: '(.*)'", message)
    if missing:
        return advice_on_name(missing[1])
    found = INSTRUCTION.match(line.lstrip())
    if not found:
        return ""
    name = found["name"].upper()
    conditional = conditional_gate(f"C_{name}")
    if conditional and any(map(is_classical, found["targets"].split())):
        qubits = " ".join(map(str, range((conditional.num_targets or 2) - 1)))
        return f" To apply {name} if a record is 1, write {conditional.name} rec[-1] {qubits}."
    if name in SPREADING_GATES and found["parens"]:
        return f" With four probabilities, {name}(s01, s10, m01, m10), leakage spreads in it."
    if found["parens"]:
        for rotation, definition in BARE_NAMES.items():
            if definition.parameters and rotation.replace("_", "") == name != rotation:
                return (
                    f" {name} is a reset in Stim. The rotation is {rotation}, with its angle in half-turns:"
                    f" {rotation}(0.25) rotates by a quarter of pi."
                )
    return ""


def advice_on_name(name: str) -> str:
    """What follows in a message after the name of an instruction that does not exist.

    Examples:
        >>> advice_on_name("TT"), advice_on_name("BIT_FLIP"), advice_on_name("QWVWQ")
        ('. Did you mean T?', '. This name is not supported. Write X_ERROR(p).', '.')
    """
    advice = advice_on_channel(name)
    if advice:
        return f". {advice}"
    names = [*BARE_NAMES, *CHANNELS, EXP_VAL, DECODE, FRAME, SURE, *stim.gate_data()]
    return f".{did_you_mean(name.upper(), names)}"


def _check_tags(text: str, tagged: str, circuit: stim.Circuit) -> None:
    """Raises an error for the first wrong tag; the message names its line."""
    problem = first_wrong_tag(circuit)
    if problem is None:
        return
    for number, written, seen in _instruction_lines(text, tagged):
        line_problem = first_wrong_tag(_stim_circuit(seen))
        if line_problem is not None:
            raise ValueError(f"Line {number}: `{written}`: {line_problem}")
    for number, block in _numbered_blocks(circuit, tagged):
        try:
            condition_of_block(block)
        except ValueError as error:
            raise ValueError(f"Line {number}: {error}") from None
    raise ValueError(problem)


def _numbered_blocks(circuit: stim.Circuit, text: str) -> Iterator[tuple[int, stim.CircuitRepeatBlock]]:
    """The blocks of a circuit with their lines in its text, in the order of the text."""
    heads = re.compile(r"#[^\n]*|(?P<head>\{)")
    lines = (text.count("\n", 0, found.start()) + 1 for found in heads.finditer(text) if found["head"])
    yield from zip(lines, _blocks_in_order(circuit), strict=False)


def _blocks_in_order(circuit: stim.Circuit) -> Iterator[stim.CircuitRepeatBlock]:
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            yield part
            yield from _blocks_in_order(part.body_copy())


def with_checked_tags(circuit: stim.Circuit) -> stim.Circuit:
    """A copy of a tagged circuit, with LEAKAGE_SPREAD behind the gates in which leakage spreads."""
    problem = first_wrong_tag(circuit)
    if problem is not None:
        raise ValueError(problem)
    return with_blocks_of_conditions(with_spread_behind_gates(circuit))


def first_wrong_tag(circuit: stim.Circuit) -> str | None:
    """What is wrong with a misused tag of a circuit, or None; REPEAT blocks may be 100 deep."""
    problem = None
    for block, depth in _blocks(circuit):
        if depth > MAX_NESTING:
            return TOO_DEEP
        for instruction in block:
            if problem is None and instruction.tag:
                try:
                    if isinstance(instruction, stim.CircuitRepeatBlock):
                        condition_of_block(instruction)
                    elif condition_of_instruction(instruction) is None and not spreads(instruction):
                        gate_from_tag(instruction)
                except ValueError as error:
                    problem = f"{error}"
    return problem


def is_too_deep(circuit: stim.Circuit, limit: int = MAX_NESTING) -> bool:
    """Whether REPEAT blocks are nested deeper than a limit."""
    return any(depth > limit for _, depth in _blocks(circuit))


def _blocks(circuit: stim.Circuit) -> Iterator[tuple[stim.Circuit, int]]:
    """A circuit and the bodies of its REPEAT blocks, each with the depth of its nesting."""
    # A loop instead of a recursion, so that copies of outer blocks are released before inner ones are made.
    blocks = [(circuit, 0)]
    while blocks:
        block, depth = blocks.pop()
        yield block, depth
        blocks += [
            (instruction.body_copy(), depth + 1)
            for instruction in block
            if isinstance(instruction, stim.CircuitRepeatBlock)
        ]
