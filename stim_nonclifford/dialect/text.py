"""Circuit text with bare non-Clifford gates, to and from Stim's text with tags.

``T 0 1``, ``T_DAG 0``, ``TPP X0*Y1``, ``R_Z(0.25) 0``, ``R_XX(0.1) 0 1``, ``R_PAULI(0.1) X0*Z1``,
``U3(0.5, 0, 1) 0`` (angles in half-turns), ``CCZ 0 1 2``, ``CS 0 1`` and their like are rewritten to tagged
instructions; everything else is passed to Stim as it stands, line for line, so that Stim does the parsing.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

import stim

from .tags import CONTROLLED_CARRIERS, NonCliffordGate, gate_from_tag, tag_of_rotation, tag_of_t

__all__ = ["BARE_GATES", "extended_text", "first_wrong_tag", "parse", "tagged_instruction"]

# name, [tag], (arguments), then everything up to the end of the instruction
_INSTRUCTION = re.compile(
    r"(?P<name>[A-Za-z]\w*)"
    r"(?:\[(?P<tag>[^\]\r\n]*)\])?"
    r"(?P<parens>\((?P<arguments>[^)\r\n#]*)\))?"
    r"(?P<targets>[^\r\n#{]*)"
)
_SKIPPED = re.compile(r"(?:[ \t\r\n{}]|#[^\n]*)+")

MAX_NESTING = 100

_T_GATES = {"T": "S", "T_DAG": "S_DAG", "TPP": "SPP", "TPP_DAG": "SPP_DAG"}
_NUM_ANGLES = {"R_X": 1, "R_Y": 1, "R_Z": 1, "R_PAULI": 1, "U3": 3, "U": 3}
_PAIR_ROTATIONS = {"R_XX": "X", "R_YY": "Y", "R_ZZ": "Z"}
BARE_GATES = [*_T_GATES, *_NUM_ANGLES, *_PAIR_ROTATIONS, *CONTROLLED_CARRIERS]
"""The names of non-Clifford gates in circuit text."""
_PAIR = re.compile(r" ([XYZ])(\d+)\*\1(\d+)")


def parse(text: str) -> stim.Circuit:
    r"""Parses circuit text in which non-Clifford gates are bare or tagged.

    Args:
        text: The circuit.

    Returns:
        The same circuit with every non-Clifford gate as a tagged instruction.

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
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"The circuit text is not valid Unicode: {error}") from None
    tagged = _with_tags(text)
    try:
        circuit = _stim_circuit(tagged)
    except ValueError as error:
        raise _located(error, text, tagged) from None
    _check_tags(text, tagged, circuit)
    return circuit


def _stim_circuit(text: str) -> stim.Circuit:
    """Stim's parser does not come back from a tag that the text ends in, so a line end is added."""
    return stim.Circuit(text + "\n")


def extended_text(circuit: stim.Circuit) -> str:
    r"""Prints a tagged circuit with its non-Clifford gates as bare gates.

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
        gate = gate_from_tag(instruction)
        lines.append(str(instruction) if gate is None else _bare(instruction, gate))
    return "\n".join(lines)


def _bare(instruction: stim.CircuitInstruction, gate: NonCliffordGate) -> str:
    if gate.half_turns and instruction.name in ("II", "SPP_DAG"):
        return str(instruction)  # bare text stands for another tagged form of the same gate
    plain = str(stim.CircuitInstruction(instruction.name, instruction.targets_copy(), tag=""))
    targets = plain[len(instruction.name) :]
    if gate.name in CONTROLLED_CARRIERS:
        return f"{gate.name}{targets}"
    if not gate.half_turns:
        # Print an empty instruction to have Stim escape the user's tag.
        tag = str(stim.CircuitInstruction("TICK", [], tag=gate.user_tag))[len("TICK") :]
        return f"{gate.name}{tag}{targets}"
    angles = ", ".join(repr(value) for value in gate.half_turns)
    pairs = _PAIR.findall(targets) if gate.name == "R_PAULI" else []
    axes = {axis for axis, _, _ in pairs}
    if len(axes) == 1 and "".join(f" {axis}{a}*{axis}{b}" for axis, a, b in pairs) == targets:
        return f"R_{axes.pop() * 2}({angles})" + "".join(f" {a} {b}" for _, a, b in pairs)
    return f"{gate.name}({angles}){targets}"


def _with_tags(text: str) -> str:
    """Rewrites bare non-Clifford gates; keeps every line where it is."""
    out: list[str] = []
    position = 0
    while position < len(text):
        skipped = _SKIPPED.match(text, position)
        if skipped:
            out.append(skipped.group())
            position = skipped.end()
            continue
        found = _INSTRUCTION.match(text, position)
        if found is None:  # not an instruction: leave the rest of the line for Stim to complain about
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


def _tagged_instruction(found: re.Match[str]) -> str:
    name, tag, targets = found["name"].upper(), found["tag"], found["targets"]
    if name in _T_GATES:
        if found["parens"]:
            raise ValueError(f"{name} takes no arguments.")
        return f"{_T_GATES[name]}[{tag_of_t(tag or '')}]{targets}"
    if name not in BARE_GATES:
        return found.group()
    if tag is not None:
        raise ValueError(f"{name} cannot carry a tag: in Stim's text the tag says which gate it is.")
    if name in CONTROLLED_CARRIERS:
        if found["parens"]:
            raise ValueError(f"{name} takes no arguments.")
        return f"{CONTROLLED_CARRIERS[name]}[{name}]{targets}"
    angles = _angles(name, found["arguments"], _NUM_ANGLES.get(name, 1))
    if name in _PAIR_ROTATIONS:
        products = _pair_products(name, targets)
        return f"SPP[{tag_of_rotation('R_PAULI', angles)}]{products}"
    if name == "R_PAULI":
        return f"SPP[{tag_of_rotation(name, angles)}]{targets}"
    return f"I[{tag_of_rotation('U3' if name == 'U' else name, angles)}]{targets}"


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
                f"The angle {part.strip()!r} of {name} is not a number. Angles are plain numbers in"
                " half-turns: write 0.25 for a quarter of pi."
            ) from None
    return tuple(values)


def _pair_products(name: str, targets: str) -> str:
    qubits = targets.split()
    if len(qubits) % 2 or not all(qubit.isdigit() for qubit in qubits):
        raise ValueError(f"{name} needs an even number of qubit targets.")
    pauli = _PAIR_ROTATIONS[name]
    pairs = zip(qubits[::2], qubits[1::2], strict=True)
    return "".join(f" {pauli}{a}*{pauli}{b}" for a, b in pairs)


def _instruction_lines(text: str, tagged: str) -> list[tuple[int, str, str]]:
    """(line number, line as written, line as Stim sees it) of every line, without braces."""
    pairs = zip(text.split("\n"), tagged.split("\n"), strict=True)
    return [
        (number, written.strip(), re.sub(r"^[\s}]*(REPEAT[^{]*\{)?", "", seen, flags=re.I))
        for number, (written, seen) in enumerate(pairs, start=1)
    ]


def _located(error: ValueError, text: str, tagged: str) -> ValueError:
    """Stim's message with the line that it is about; Stim itself does not say."""
    for number, written, seen in _instruction_lines(text, tagged):
        try:
            _stim_circuit(seen)
        except ValueError as line_error:
            message = str(line_error)
            return ValueError(f"Line {number}: `{written}`: {message}{_suggestion(message)}")
    return ValueError(str(error))


def _suggestion(message: str) -> str:
    missing = re.match(r"Gate not found: '(.*)'", message)
    if not missing:
        return ""
    names = [*BARE_GATES, *stim.gate_data()]
    close = difflib.get_close_matches(missing[1].upper(), names, n=1, cutoff=0.6)
    return f". Did you mean {close[0]}?" if close else "."


def _check_tags(text: str, tagged: str, circuit: stim.Circuit) -> None:
    """Raises for the first wrong tag, with the line in which it stands."""
    problem = first_wrong_tag(circuit)
    if problem is None:
        return
    for number, written, seen in _instruction_lines(text, tagged):
        line_problem = first_wrong_tag(_stim_circuit(seen))
        if line_problem is not None:
            raise ValueError(f"Line {number}: `{written}`: {line_problem}")
    raise ValueError(problem)


def first_wrong_tag(circuit: stim.Circuit, depth: int = 0) -> str | None:
    """What is wrong with the first misused tag of a circuit, or None; REPEAT blocks may be 100 deep."""
    if depth > MAX_NESTING:
        return f"REPEAT blocks are nested more than {MAX_NESTING} deep."
    for instruction in circuit:
        if isinstance(instruction, stim.CircuitRepeatBlock):
            problem = first_wrong_tag(instruction.body_copy(), depth + 1)
            if problem is not None:
                return problem
            continue
        try:
            gate_from_tag(instruction)
        except ValueError as error:
            return f"{error}"
    return None


def tagged_instruction(
    name: str, targets: Any, arg: float | Iterable[float] | None, tag: str
) -> stim.CircuitInstruction | None:
    """The tagged instruction of a bare non-Clifford gate; None if ``name`` is none.

    Args:
        name: The name of a gate.
        targets: Its targets, as for ``stim.Circuit.append``.
        arg: Its angles in half-turns.
        tag: A note of the user's.

    Raises:
        ValueError: The number of angles is wrong, or the gate cannot carry a note.

    Examples:
        >>> tagged_instruction("R_X", [3], 0.5, "")
        stim.CircuitInstruction('I', [stim.GateTarget(3)], [], tag='R_X(theta=0.5*pi)')
    """
    upper = name.upper()
    if upper not in BARE_GATES:
        return None
    angles = () if arg is None else (arg,) if isinstance(arg, (int, float)) else tuple(arg)
    wanted = _NUM_ANGLES.get(upper, 1 if upper in _PAIR_ROTATIONS else 0)
    if len(angles) != wanted:
        raise ValueError(f"{upper} takes {wanted} angles in half-turns; got {len(angles)}.")
    if upper in _T_GATES:
        carrier, gate_tag = _T_GATES[upper], tag_of_t(tag)
    elif tag:
        raise ValueError(f"{upper} cannot carry a tag: in Stim's text the tag says which gate it is.")
    elif upper in CONTROLLED_CARRIERS:
        carrier, gate_tag = CONTROLLED_CARRIERS[upper], upper
    elif upper in _PAIR_ROTATIONS:
        text = f"{upper}({angles[0]!r}) {' '.join(str(int(target)) for target in targets)}"
        return parse(text)[0]
    else:
        carrier = "SPP" if upper == "R_PAULI" else "I"
        gate_tag = tag_of_rotation("U3" if upper == "U" else upper, angles)
    # Through a circuit, which takes everything as targets that users may hand in.
    circuit = stim.Circuit()
    circuit.append(carrier, targets, tag=gate_tag)
    return circuit[0] if len(circuit) else stim.CircuitInstruction(carrier, [], tag=gate_tag)
