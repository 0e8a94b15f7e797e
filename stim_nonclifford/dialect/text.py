"""Translates circuit text with bare non-Clifford gates to Stim's text with tags, and back.

Bare gates, such as ``T 0 1``, ``TPP X0*Y1``, ``R_Z(0.25) 0``, ``R_PAULI(0.1) X0*Z1``, ``U3(0.5, 0, 1) 0``
(angles in half-turns) and ``CCZ 0 1 2``, are rewritten to tagged instructions. All other text is passed to
Stim unchanged and line by line, and Stim parses it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

import stim

from .expectation_values import EXP_VAL, bare_expectation, is_expectation, tagged_expectation
from .gates import BARE_NAMES, GateDefinition, gate_named
from .tags import NonCliffordGate, gate_from_tag, tag_of

__all__ = [
    "TOO_DEEP",
    "bare_name",
    "extended_text",
    "first_wrong_tag",
    "is_too_deep",
    "parse",
    "tagged_instruction",
]

# The name, [tag], (arguments), and the targets up to the end of the instruction.
_INSTRUCTION = re.compile(
    r"(?P<name>[A-Za-z]\w*)"
    r"(?:\[(?P<tag>[^\]\r\n]*)\])?"
    r"(?P<parens>\((?P<arguments>[^)\r\n#]*)\))?"
    r"(?P<targets>[^\r\n#{]*)"
)
_SKIPPED = re.compile(r"(?:[ \t\r\n{}]|#[^\n]*)+")

_BRACE = re.compile(r"[{}]|#[^\n]*")

MAX_NESTING = 100
TOO_DEEP = f"REPEAT blocks are nested more than {MAX_NESTING} deep."

_PATH = re.compile(r"[^\r\n#]*\.stim\s*", re.IGNORECASE)
_OPENQASM = re.compile(r"(?:\s|//[^\n]*\n)*(?P<line>OPENQASM\b[^\n]*)")
_BYTE_ORDER_MARK = "\ufeff"


def parse(text: str) -> stim.Circuit:
    r"""Parses circuit text in which non-Clifford gates are bare or tagged.

    Args:
        text: The circuit. A byte-order mark at its beginning is ignored.

    Returns:
        The circuit, with every non-Clifford gate as a tagged instruction.

    Raises:
        ValueError: Stim cannot parse the text, or a gate, tag or angle is malformed. The message names
            the line.

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
            f"Line {line}: `{program['line'].strip()}`: this is OpenQASM, which Stim cannot read. Write the"
            " circuit in Stim's language: H 0, CX 0 1, T 0, R_Z(0.25) 0 (angle in half-turns), M 0."
        ) from None


def _parsed(text: str) -> stim.Circuit:
    tagged = _with_tags(text)
    try:
        circuit = _stim_circuit(tagged)
    except ValueError as error:
        raise _located(error, text, tagged) from None
    _check_tags(text, tagged, circuit)
    return circuit


def _stim_circuit(text: str) -> stim.Circuit:
    """Parses text with a line end added: Stim's parser never returns if the text ends inside a tag."""
    return stim.Circuit(text + "\n")


def extended_text(circuit: stim.Circuit) -> str:
    r"""The text of a tagged circuit, with its non-Clifford gates as bare gates.

    Examples:
        >>> print(extended_text(stim.Circuit('S[T] 0\nI[R_X(theta=0.5*pi)] 1\nS 2')))
        T 0
        R_X(0.5) 1
        S 2
    """
    lines: list[str] = []
    for instruction in circuit:
        if isinstance(instruction, stim.CircuitRepeatBlock):
            tag = str(stim.CircuitInstruction("TICK", [], tag=instruction.tag))[len("TICK") :]
            lines.append(f"REPEAT{tag} {instruction.repeat_count} {{")
            body = extended_text(instruction.body_copy())
            lines += ["    " + line for line in body.split("\n") if line]
            lines.append("}")
            continue
        if is_expectation(instruction):
            lines.append(bare_expectation(instruction))
            continue
        gate = gate_from_tag(instruction)
        lines.append(str(instruction) if gate is None else _bare(instruction, gate))
    return "\n".join(lines)


def _bare(instruction: stim.CircuitInstruction, gate: NonCliffordGate) -> str:
    if instruction.name != gate.definition.written_form.carrier:
        return str(instruction)  # the bare gate would be read as another tagged form of the same gate
    name, targets = _name_and_targets(instruction, gate)
    # Stim escapes special characters of a tag when it prints an instruction.
    note = str(stim.CircuitInstruction("TICK", [], tag=gate.user_tag))[len("TICK") :]
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
    gate = gate_from_tag(instruction)
    return instruction.name if gate is None else _name_and_targets(instruction, gate)[0]


def _name_and_targets(instruction: stim.CircuitInstruction, gate: NonCliffordGate) -> tuple[str, str]:
    """The bare name and targets of a gate; a rotation about products X0*X1 is named R_XX."""
    plain = str(stim.CircuitInstruction(instruction.name, instruction.targets_copy(), tag=""))
    targets = plain[len(instruction.name) :]
    written = gate.definition.written_form
    if instruction.name != written.carrier:
        return gate.name, targets
    for other in BARE_NAMES.values():
        form = other.written_form
        if form.product and (form.carrier, form.word) == (written.carrier, written.word):
            group = " " + r"\*".join(rf"{pauli}\d+" for pauli in form.product)
            if re.fullmatch(f"(?:{group})+", targets):
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
        found = _INSTRUCTION.match(text, position)
        if found is None:  # not an instruction: Stim will report an error in this line
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            out.append(text[position:end])
            position = end
            continue
        try:
            out.append(_tagged_instruction(found))
        except ValueError as error:
            line = text.count("\n", 0, position) + 1
            raise ValueError(f"Line {line}: `{found.group().strip()}`: {error}") from None
        position = found.end()
    return "".join(out)


def _depth_after(text: str, begin: int, end: int, depth: int) -> int:
    """The nesting depth of blocks after a part of the text that has only braces and comments.

    Raises:
        ValueError: The depth exceeds ``MAX_NESTING``. Stim's parser is recursive and could crash.
    """
    for brace in _BRACE.finditer(text, begin, end):
        depth += {"{": 1, "}": -1}.get(brace.group(), 0)
        if depth > MAX_NESTING:
            line = text.count("\n", 0, brace.start()) + 1
            written = text.split("\n")[line - 1].strip()
            shown = written if len(written) <= 60 else f"{written[:60]}..."
            raise ValueError(f"Line {line}: `{shown}`: {TOO_DEEP}")
    return depth


def _tagged_instruction(found: re.Match[str]) -> str:
    name, note, targets = found["name"].upper(), found["tag"], found["targets"]
    if name == EXP_VAL:
        _check_bare(name, has_tag=note is not None, has_arguments=found["parens"] is not None)
        return str(tagged_expectation(targets))
    definition = gate_named(name)
    if definition is None:
        return found.group()
    if note is not None:
        _check_note(name, definition)
    angles: tuple[float, ...] = ()
    if definition.parameters:
        angles = _angles(name, found["arguments"], len(definition.parameters))
    elif found["parens"]:
        raise ValueError(f"{name} takes no arguments.")
    form = definition.written_form
    if form.product:
        targets = _products(name, form.product, targets.split())
    gate = NonCliffordGate(definition.name, angles, note or "")
    return f"{form.carrier}[{tag_of(gate)}]{targets}"


def _check_bare(name: str, *, has_tag: bool, has_arguments: bool) -> None:
    if has_tag:
        raise ValueError(
            f"{name} cannot have a tag, as a tag stands for the instruction itself. Leave it out."
        )
    if has_arguments:
        raise ValueError(f"{name} takes no arguments.")


def _check_note(name: str, definition: GateDefinition) -> None:
    if not definition.takes_note:
        raise ValueError(f"{name} cannot have a tag, as a tag stands for the gate itself. Leave it out.")


def _angles(name: str, arguments: str | None, count: int) -> tuple[float, ...]:
    parts = (arguments or "").split(",") if (arguments or "").strip() else []
    if len(parts) != count:
        raise ValueError(
            f"{name} takes {count} angle{'s' * (count > 1)} in half-turns, as in"
            f" {name}({', '.join(['0.25'] * count)}); got {len(parts)}."
        )
    values = []
    for part in parts:
        try:
            values.append(float(part))
        except ValueError:
            raise ValueError(
                f"The angle {part.strip()!r} of {name} is not a number. Angles are numbers in half-turns:"
                " write 0.25 for a quarter of pi."
            ) from None
    return tuple(values)


def _products(name: str, paulis: str, qubits: list[str]) -> str:
    """Writes groups of qubits as Pauli products with these letters."""
    size = len(paulis)
    if len(qubits) % size or not all(qubit.isdigit() for qubit in qubits):
        wanted = "an even number of qubit targets" if size == 2 else f"qubit targets in groups of {size}"
        raise ValueError(f"{name} needs {wanted}.")
    groups = [zip(paulis, qubits[k : k + size], strict=True) for k in range(0, len(qubits), size)]
    return "".join(" " + "*".join(f"{pauli}{qubit}" for pauli, qubit in group) for group in groups)


def _instruction_lines(text: str, tagged: str) -> list[tuple[int, str, str]]:
    """For every line: its number, the line as written, and the line as passed to Stim, without braces."""
    pairs = zip(text.split("\n"), tagged.split("\n"), strict=True)
    return [
        (number, written.strip(), re.sub(r"^[\s}]*(REPEAT[^{]*\{)?", "", seen, flags=re.I))
        for number, (written, seen) in enumerate(pairs, start=1)
    ]


def _located(error: ValueError, text: str, tagged: str) -> ValueError:
    """Stim's error, with the line that causes it; Stim's message does not name the line."""
    for number, written, seen in _instruction_lines(text, tagged):
        try:
            _stim_circuit(seen)
        except ValueError as line_error:
            message = str(line_error)
            return ValueError(f"Line {number}: `{written}`: {message}{_suggestion(message, seen)}")
    return ValueError(str(error))


def _suggestion(message: str, line: str) -> str:
    missing = re.match(r"Gate not found: '(.*)'", message)
    if missing:
        names = [*BARE_NAMES, EXP_VAL, *stim.gate_data()]
        close = difflib.get_close_matches(missing[1].upper(), names, n=1, cutoff=0.6)
        return f". Did you mean {close[0]}?" if close else "."
    found = _INSTRUCTION.match(line.lstrip())
    if found and found["parens"]:
        name = found["name"].upper()
        for rotation, definition in BARE_NAMES.items():
            if definition.parameters and rotation.replace("_", "") == name != rotation:
                return (
                    f" {name} is a reset in Stim. The rotation is {rotation}, with its angle in half-turns:"
                    f" {rotation}(0.25) rotates by a quarter of pi."
                )
    return ""


def _check_tags(text: str, tagged: str, circuit: stim.Circuit) -> None:
    """Raises an error for the first wrong tag; the message names its line."""
    problem = first_wrong_tag(circuit)
    if problem is None:
        return
    for number, written, seen in _instruction_lines(text, tagged):
        line_problem = first_wrong_tag(_stim_circuit(seen))
        if line_problem is not None:
            raise ValueError(f"Line {number}: `{written}`: {line_problem}")
    raise ValueError(problem)


def first_wrong_tag(circuit: stim.Circuit) -> str | None:
    """What is wrong with a misused tag of a circuit, or None; REPEAT blocks may be 100 deep."""
    if is_too_deep(circuit):
        return TOO_DEEP
    # Not recursive, as there: bodies may be large.
    blocks = [circuit]
    while blocks:
        for instruction in blocks.pop():
            if isinstance(instruction, stim.CircuitRepeatBlock):
                blocks.append(instruction.body_copy())
                continue
            try:
                gate_from_tag(instruction)
            except ValueError as error:
                return f"{error}"
    return None


def is_too_deep(circuit: stim.Circuit, limit: int = MAX_NESTING) -> bool:
    r"""Whether REPEAT blocks are nested deeper than a limit.

    Examples:
        >>> nested = stim.Circuit("REPEAT 2 {\nREPEAT 2 {\nH 0\n}\n}")
        >>> is_too_deep(nested, 1), is_too_deep(nested, 2)
        (True, False)
    """
    # A loop instead of a recursion, so that copies of outer blocks are released before inner ones are made.
    blocks = [(circuit, 0)]
    while blocks:
        block, depth = blocks.pop()
        if depth > limit:
            return True
        blocks += [
            (instruction.body_copy(), depth + 1)
            for instruction in block
            if isinstance(instruction, stim.CircuitRepeatBlock)
        ]
    return False


def tagged_instruction(
    name: str, targets: Any, arg: float | Iterable[float] | None, tag: str
) -> stim.CircuitInstruction | None:
    """The tagged instruction that stands for a bare non-Clifford gate, or for EXP_VAL.

    Args:
        name: The name of a gate.
        targets: Its targets, as for ``stim.Circuit.append``.
        arg: Its angles in half-turns.
        tag: A note by the user.

    Returns:
        The instruction, or None if ``name`` is not a non-Clifford gate.

    Raises:
        ValueError: The number of angles is wrong, or the gate cannot have a note.

    Examples:
        >>> tagged_instruction("R_X", [3], 0.5, "")
        stim.CircuitInstruction('I', [stim.GateTarget(3)], [], tag='R_X(theta=0.5*pi)')
    """
    if name.upper() == EXP_VAL:
        _check_bare(name.upper(), has_tag=bool(tag), has_arguments=arg is not None and arg != ())
        return tagged_expectation(targets)
    definition = gate_named(name)
    if definition is None:
        return None
    values = arg if isinstance(arg, Iterable) else () if arg is None else (arg,)
    angles = tuple(float(value) for value in values)
    wanted = len(definition.parameters)
    if len(angles) != wanted:
        raise ValueError(f"{name.upper()} takes {wanted} angles in half-turns; got {len(angles)}.")
    if tag:
        _check_note(name.upper(), definition)
    form, gate_tag = definition.written_form, tag_of(NonCliffordGate(definition.name, angles, tag))
    if form.product:
        qubits = [str(target.value) for target in _targets("I", targets)]
        products = _products(name.upper(), form.product, qubits)
        return stim.Circuit(f"{form.carrier}[{gate_tag}]{products}")[0]
    return stim.CircuitInstruction(form.carrier, _targets(form.carrier, targets), tag=gate_tag)


def _targets(name: str, targets: Any) -> list[stim.GateTarget]:
    """Converts targets, in any form that ``stim.Circuit.append`` accepts for this instruction."""
    circuit = stim.Circuit()
    circuit.append(name, targets)
    return circuit[0].targets_copy() if len(circuit) else []
