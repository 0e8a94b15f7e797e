"""Decisions: measurements whose records are the decoded values.

``DECODE 41`` measures qubit 41, and asks a decoder whether the outcome is flipped by errors. The record is
the outcome, flipped if the decoder says so. All that the record controls afterwards follows this value. In
Stim's text it is ``M[DECODE] 41``, which Stim reads as a measurement with its raw record. ``MX``, ``MPP``
and the other measurements of qubits can have the tag, too.

The decoder sees the detectors that stand before the instruction. With ``DECODE(latency=2)`` these are only
those before the second TICK before it. ``DECODE(decoder=fast)`` asks one of several decoders.

``FRAME Z25*Z26*Z27`` measures nothing: its record says whether errors have flipped this Pauli. In Stim's text
it is ``MPAD[FRAME(Z25*Z26*Z27)] 0``.

``SURE(20) 41`` measures nothing, either: its record is 1 if the decoder is sure whether errors have flipped
Z41. This is so if the complementary gap is at least 20 decibels. In Stim's text it is ``MPAD[SURE(20, Z41)]
1``, as without errors the decoder is sure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import stim

from ...base.written_circuits import circuit_of, with_replaced, without_tag
from ..channels.channel_tags import ANNOTATIONS
from ..channels.readout import MEASUREMENTS

DECODE = "DECODE"
"""The word of the tag, and the name of the bare instruction."""

FRAME = "FRAME"
"""The word of the tag of a decision about the Pauli frame, and the name of the bare instruction."""

SURE = "SURE"
"""The word of the tag of a question about the gap of a decoder, and the name of the bare instruction."""

NO_DECODER = (
    "DECODE asks a decoder, and this call has none. Samplers and logical_error_rate take one:"
    ' circuit.compile_detector_sampler(decoder="pymatching"); with decoder="raw" the records are raw. For'
    " other questions, circuit.without_decisions() measures where this circuit decides."
)
"""What messages say where a circuit decides and no decoder is known."""

_WORD = re.compile(rf"\s*(?P<word>{DECODE}|{FRAME}|{SURE})\b(?P<rest>.*)", re.DOTALL | re.IGNORECASE)
_OPTIONS = re.compile(r"(?:\((?P<options>[^()]*)\))?\s*")
_LATENCY = re.compile(r"\s*latency\s*=\s*(?P<ticks>[0-9]{1,9})\s*", re.ASCII)
_DECODER = re.compile(r"\s*decoder\s*=\s*(?P<name>[A-Za-z0-9_.-]+)\s*", re.ASCII)
_PRODUCT = re.compile(r"\s*(?P<product>[XYZ][0-9]+(?:\*[XYZ][0-9]+)*)\s*")
_QUBIT = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)
_EXAMPLES = {
    FRAME: f"MPAD[{FRAME}(Z0*Z1)] 0, or, without a tag, {FRAME} Z0*Z1",
    SURE: f"MPAD[{SURE}(20, Z0*Z1)] 1, or, without a tag, {SURE}(20) Z0*Z1",
}
_RAW = {FRAME: 0, SURE: 1}
"""The records without a decoder."""
_EXAMPLE = f"M[{DECODE}] 0, M[{DECODE}(latency=2)] 0 or M[{DECODE}(latency=2, decoder=fast)] 0"


@dataclass(frozen=True)
class Decision:
    """What the tag of a decision says.

    Attributes:
        latency: The decoder sees the detectors before so many TICKs before the instruction.
        decoder: The name of the decoder; empty for that of the sampler.
        products: Of FRAME and SURE, the Pauli products whose flips are asked for, such as ``Z0*Z1``.
        gap: Of SURE, the least complementary gap with which the decoder is sure, in decibels.
    """

    latency: int = 0
    decoder: str = ""
    products: tuple[str, ...] = ()
    gap: float | None = None

    @property
    def word(self) -> str:
        """The name of the bare instruction."""
        return DECODE if not self.products else FRAME if self.gap is None else SURE

    @property
    def tag(self) -> str:
        """The tag of the measurement."""
        return self._written(self.products)

    @property
    def head(self) -> str:
        """The bare instruction before its targets."""
        return self._written(())

    def _written(self, products: Sequence[str]) -> str:
        options = [*products]
        if self.gap is not None:
            options.insert(0, repr(self.gap).removesuffix(".0"))
        if self.latency:
            options.append(f"latency={self.latency}")
        if self.decoder:
            options.append(f"decoder={self.decoder}")
        return f"{self.word}({', '.join(options)})" if options else self.word


def decision_of(instruction: stim.CircuitInstruction) -> Decision | None:
    """The decision for which the tag of an instruction stands, or None.

    Args:
        instruction: Any instruction of a ``stim.Circuit``.

    Raises:
        ValueError: The tag is malformed, or is on an instruction that measures no qubits.

    Examples:
        >>> decision_of(stim.Circuit("M[DECODE(latency=2)] 41")[0])
        Decision(latency=2, decoder='', products=(), gap=None)
        >>> decision_of(stim.Circuit("M 41")[0]) is None
        True
    """
    found = _WORD.fullmatch(instruction.tag) if instruction.tag else None
    if found is None or instruction.name in ANNOTATIONS:
        return None
    tag, name, word = instruction.tag, instruction.name, found["word"].upper()
    if word in _RAW and not found["rest"].strip().startswith("("):
        return None  # a note
    if word in _RAW and name != "MPAD":
        raise ValueError(f"The tag [{tag}] makes no sense on {name}. Write {_EXAMPLES[word]}.")
    if word == DECODE and name not in MEASUREMENTS:
        raise ValueError(
            f"The tag [{tag}] makes no sense on {name}. A decision is a measurement of qubits: {_EXAMPLE}."
        )
    if word not in tag:
        raise ValueError(f"The tag [{tag}] makes no sense on {name}: write {word} in upper case.")
    where = f"Malformed tag [{tag}] on {name}"
    if word == DECODE:
        return _read(found["rest"], where)
    inside = found["rest"].strip()[1:-1].split(",")
    gap = _gap_of(inside.pop(0), where) if word == SURE else None
    products = [each["product"] for part in inside if (each := _PRODUCT.fullmatch(part))]
    options = [part for part in inside if not _PRODUCT.fullmatch(part)]
    decision = replace(_read(f"({','.join(options)})" if options else "", where), gap=gap)
    return _about_products(word, decision, products, instruction.targets_copy(), where)


def _gap_of(text: str, where: str) -> float:
    """The decibels of SURE."""
    try:
        gap = float(text)
    except ValueError:
        gap = math.nan
    if not 0 <= gap < math.inf:
        raise ValueError(
            f"{where}: its first number is a gap in decibels, at least 0, as in {_EXAMPLES[SURE]}."
        )
    return gap


def _about_products(
    word: str,
    decision: Decision,
    products: Sequence[str],
    targets: Sequence[stim.GateTarget],
    where: str,
) -> Decision:
    """The decision about products, one for each target; Stim joins neighbours of the same tag."""
    qubits = [[factor[1:] for factor in product.split("*")] for product in products]
    if not products or any(len(set(each)) < len(each) for each in qubits):
        raise ValueError(
            f"{where}: it must name products of Paulis on different qubits, as {_EXAMPLES[word]}."
        )
    raw = _RAW[word]
    if len(targets) % len(products) or any(target.value != raw for target in targets):
        raise ValueError(f"{where}: there must be one {raw} for each product, as in {_EXAMPLES[word]}.")
    return replace(decision, products=tuple(products) * (len(targets) // len(products)))


def question_text(word: str, options: str | None, tag: str | None, words: Sequence[str]) -> str:
    """The tagged text of a bare FRAME or SURE.

    Args:
        word: Its name.
        options: The text in its parentheses, or None.
        tag: Its tag, or None.
        words: Its targets, as written. Of SURE, a qubit stands for its Z.

    Raises:
        ValueError: It has a tag, other options, or other targets than Pauli products.

    Examples:
        >>> question_text("FRAME", "latency=2", None, ["Z0*Z1"])
        'MPAD[FRAME(Z0*Z1, latency=2)] 0'
        >>> question_text("SURE", "20", None, ["41"])
        'MPAD[SURE(20, Z41)] 1'
    """
    if tag is not None:
        raise ValueError(
            f"{word} cannot have a tag, as a tag stands for the instruction itself. Leave it out."
        )
    gap = None
    where = word if options is None else f"{word}({options})"
    if word == SURE:
        first, _, rest = (options or "").partition(",")
        gap, options = _gap_of(first, where), rest if rest.strip() else None
        words = [f"Z{target}" if _QUBIT.fullmatch(target) else target for target in words]
    decision = replace(_read("" if options is None else f"({options})", where), gap=gap)
    products = [each["product"] for target in words if (each := _PRODUCT.fullmatch(target.upper()))]
    raw = [stim.GateTarget(_RAW[word])] * len(words)
    decision = _about_products(word, decision, products if len(products) == len(words) else (), raw, where)
    return f"MPAD[{decision.tag}]{f' {_RAW[word]}' * len(products)}"


def _read(rest: str, where: str) -> Decision:
    """The decision with these options, in parentheses or none."""
    options = _OPTIONS.fullmatch(rest)
    parts = [] if options is None or options["options"] is None else options["options"].split(",")
    latencies = [found for part in parts if (found := _LATENCY.fullmatch(part))]
    decoders = [found for part in parts if (found := _DECODER.fullmatch(part))]
    is_read = len(latencies) + len(decoders) == len(parts) and max(len(latencies), len(decoders)) <= 1
    if options is None or not is_read or (options["options"] is not None and not parts[0].strip()):
        raise ValueError(
            f"{where}: its options are latency=n, a number of TICKs, and decoder=name, as in {_EXAMPLE}."
        )
    latency = int(latencies[0]["ticks"]) if latencies else 0
    return Decision(latency, decoders[0]["name"] if decoders else "")


def decision_head(tag: str | None, options: str | None) -> str:
    """The text before the targets of a bare DECODE.

    Args:
        tag: Its tag, or None.
        options: The text in its parentheses, or None.

    Raises:
        ValueError: It has a tag, or other options.

    Examples:
        >>> decision_head(None, "latency=2")
        'M[DECODE(latency=2)]'
    """
    if tag is not None:
        raise ValueError(
            f"{DECODE} cannot have a tag, as a tag stands for the instruction itself. Leave it out."
        )
    rest = "" if options is None else f"({options})"
    return f"M[{_read(rest, f'{DECODE}{rest}').tag}]"


def bare_decision(instruction: stim.CircuitInstruction, decision: Decision) -> str:
    """The text of a decision; without the tag where that is possible.

    Examples:
        >>> (instruction,) = stim.Circuit("M[DECODE(latency=2)] 41")
        >>> bare_decision(instruction, decision_of(instruction))
        'DECODE(latency=2) 41'
    """
    if decision.products and not instruction.gate_args_copy():
        words = list(decision.products)
        if decision.gap is not None:
            words = [word[1:] if word[0] == "Z" and "*" not in word else word for word in words]
        return f"{decision.head} {' '.join(words)}"
    if instruction.name != "M" or instruction.gate_args_copy():
        return str(instruction)
    plain = str(stim.CircuitInstruction("M", instruction.targets_copy()))
    return f"{decision.tag}{plain[1:]}"


def first_decision(circuit: stim.Circuit) -> str | None:
    """How messages name the first decision of a circuit, with its line; None if it has none.

    Examples:
        >>> first_decision(stim.Circuit("M[DECODE] 0"))
        'Line 1: `M[DECODE] 0`'
    """
    found = _first_decision(circuit, 1)
    return None if found is None else f"Line {found[0]}: `{found[1]}`"


def _first_decision(circuit: stim.Circuit, line: int) -> tuple[int, stim.CircuitInstruction] | None:
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            body = part.body_copy()
            found = _first_decision(body, line + 1)
            if found is not None:
                return found
            line += _num_lines(body) + 1
        elif part.tag and decision_of(part) is not None:
            return line, part
        line += 1
    return None


def _num_lines(circuit: stim.Circuit) -> int:
    blocks = [part.body_copy() for part in circuit if isinstance(part, stim.CircuitRepeatBlock)]
    return len(circuit) + sum(_num_lines(body) + 1 for body in blocks)


def check_no_decisions(circuit: stim.Circuit) -> None:
    """Checks that a circuit decides nothing, where no decoder is asked.

    Raises:
        NotImplementedError: It has decisions.
    """
    found = first_decision(circuit)
    if found is not None:
        raise NotImplementedError(f"{found}: {NO_DECODER}")


def without_decisions(circuit: stim.Circuit) -> stim.Circuit:
    """The circuit that measures where this one decides.

    Examples:
        >>> print(without_decisions(stim.Circuit("M[DECODE] 41")))
        M 41
    """

    def stand_in(part: stim.CircuitInstruction) -> stim.Circuit | None:
        return circuit_of(without_tag(part)) if part.tag and decision_of(part) is not None else None

    return with_replaced(circuit, stand_in)
