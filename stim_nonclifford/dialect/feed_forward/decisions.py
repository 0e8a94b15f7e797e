"""Decisions: measurements whose records are the decoded values.

``DECODE 41`` measures qubit 41, and asks a decoder whether the outcome is flipped by errors. The record is
the outcome, flipped if the decoder says so. All that the record controls afterwards follows this value. In
Stim's text it is ``M[DECODE] 41``, which Stim reads as a measurement with its raw record. ``MX``, ``MPP``
and the other measurements of qubits can have the tag, too.

The decoder sees the detectors that stand before the instruction. With ``DECODE(latency=2)`` these are only
those before the second TICK before it. ``DECODE(decoder=fast)`` asks one of several decoders.

``FRAME Z25*Z26*Z27`` measures nothing: its record says whether errors have flipped this Pauli. In Stim's text
it is ``MPAD[FRAME(Z25*Z26*Z27)] 0``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import stim

from ...base.written_circuits import circuit_of, with_replaced, without_tag
from ..channels.channel_tags import ANNOTATIONS
from ..channels.readout import MEASUREMENTS

__all__ = [
    "DECODE",
    "FRAME",
    "NO_DECODER",
    "Decision",
    "bare_decision",
    "check_no_decisions",
    "decision_head",
    "decision_of",
    "first_decision",
    "frame_text",
    "without_decisions",
]

DECODE = "DECODE"
"""The word of the tag, and the name of the bare instruction."""

FRAME = "FRAME"
"""The word of the tag of a decision about the Pauli frame, and the name of the bare instruction."""

NO_DECODER = (
    "DECODE asks a decoder, and this call has none. Samplers and logical_error_rate take one:"
    ' circuit.compile_detector_sampler(decoder="pymatching"); with decoder="raw" the records are raw. For'
    " other questions, circuit.without_decisions() measures where this circuit decides."
)
"""What messages say where a circuit decides and no decoder is known."""

_WORD = re.compile(rf"\s*(?P<word>{DECODE}|{FRAME})\b(?P<rest>.*)", re.DOTALL | re.IGNORECASE)
_OPTIONS = re.compile(r"(?:\((?P<options>[^()]*)\))?\s*")
_LATENCY = re.compile(r"\s*latency\s*=\s*(?P<ticks>[0-9]{1,9})\s*", re.ASCII)
_DECODER = re.compile(r"\s*decoder\s*=\s*(?P<name>[A-Za-z0-9_.-]+)\s*", re.ASCII)
_PRODUCT = re.compile(r"\s*(?P<product>[XYZ][0-9]+(?:\*[XYZ][0-9]+)*)\s*")
_EXAMPLE_OF_FRAME = f"MPAD[{FRAME}(Z0*Z1)] 0, or, without a tag, {FRAME} Z0*Z1"
_EXAMPLE = f"M[{DECODE}] 0, M[{DECODE}(latency=2)] 0 or M[{DECODE}(latency=2, decoder=fast)] 0"


@dataclass(frozen=True)
class Decision:
    """What the tag of a decision says.

    Attributes:
        latency: The decoder sees the detectors before so many TICKs before the instruction.
        decoder: The name of the decoder; empty for that of the sampler.
        products: Of FRAME, the Pauli products whose flips are asked for, such as ``Z0*Z1``.
    """

    latency: int = 0
    decoder: str = ""
    products: tuple[str, ...] = ()

    @property
    def tag(self) -> str:
        """The tag of the measurement."""
        return self._written(FRAME, self.products) if self.products else self.head

    @property
    def head(self) -> str:
        """The bare instruction before its targets."""
        return self._written(FRAME if self.products else DECODE, ())

    def _written(self, word: str, products: Sequence[str]) -> str:
        options = [*products]
        if self.latency:
            options.append(f"latency={self.latency}")
        if self.decoder:
            options.append(f"decoder={self.decoder}")
        return f"{word}({', '.join(options)})" if options else word


def decision_of(instruction: stim.CircuitInstruction) -> Decision | None:
    """The decision for which the tag of an instruction stands, or None.

    Args:
        instruction: Any instruction of a ``stim.Circuit``.

    Raises:
        ValueError: The tag is malformed, or is on an instruction that measures no qubits.

    Examples:
        >>> decision_of(stim.Circuit("M[DECODE(latency=2)] 41")[0])
        Decision(latency=2, decoder='', products=())
        >>> decision_of(stim.Circuit("M 41")[0]) is None
        True
    """
    found = _WORD.fullmatch(instruction.tag) if instruction.tag else None
    if found is None or instruction.name in ANNOTATIONS:
        return None
    tag, name, word = instruction.tag, instruction.name, found["word"].upper()
    if word == FRAME and not found["rest"].strip().startswith("("):
        return None  # a note
    if word == FRAME and name != "MPAD":
        raise ValueError(f"The tag [{tag}] makes no sense on {name}. Write {_EXAMPLE_OF_FRAME}.")
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
    products = [each["product"] for part in inside if (each := _PRODUCT.fullmatch(part))]
    options = [part for part in inside if not _PRODUCT.fullmatch(part)]
    decision = _read(f"({','.join(options)})" if options else "", where)
    return _frame(decision, products, instruction.targets_copy(), where)


def _frame(
    decision: Decision, products: Sequence[str], targets: Sequence[stim.GateTarget], where: str
) -> Decision:
    """The decision about products, one for each target; Stim joins neighbours of the same tag."""
    qubits = [[factor[1:] for factor in product.split("*")] for product in products]
    if not products or any(len(set(each)) < len(each) for each in qubits):
        raise ValueError(
            f"{where}: it must name products of Paulis on different qubits, as {_EXAMPLE_OF_FRAME}."
        )
    if len(targets) % len(products) or any(target.value for target in targets):
        raise ValueError(f"{where}: there must be one 0 for each product, as in {_EXAMPLE_OF_FRAME}.")
    return replace(decision, products=tuple(products) * (len(targets) // len(products)))


def frame_text(options: str | None, tag: str | None, words: Sequence[str]) -> str:
    """The tagged text of a bare FRAME.

    Args:
        options: The text in its parentheses, or None.
        tag: Its tag, or None.
        words: Its targets, as written.

    Raises:
        ValueError: It has a tag, other options, or other targets than Pauli products.

    Examples:
        >>> frame_text("latency=2", None, ["Z0*Z1"])
        'MPAD[FRAME(Z0*Z1, latency=2)] 0'
    """
    if tag is not None:
        raise ValueError(
            f"{FRAME} cannot have a tag, as a tag stands for the instruction itself. Leave it out."
        )
    rest = "" if options is None else f"({options})"
    decision = _read(rest, f"{FRAME}{rest}")
    products = [each["product"] for word in words if (each := _PRODUCT.fullmatch(word.upper()))]
    zeros = [stim.GateTarget(0)] * len(words)
    decision = _frame(decision, products if len(products) == len(words) else (), zeros, FRAME)
    return f"MPAD[{decision.tag}]{' 0' * len(products)}"


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
        return f"{decision.head} {' '.join(decision.products)}"
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
