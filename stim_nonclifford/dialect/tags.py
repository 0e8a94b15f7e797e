"""Tags that turn a Clifford instruction of Stim into a non-Clifford gate.

In Stim, every instruction may have a tag, a free text that Stim ignores. A non-Clifford gate is written as a
Clifford gate with a tag, so every Stim tool can still read, draw and edit the circuit:

=====================================================  ==========================================
tagged instruction                                     gate
=====================================================  ==========================================
``S[T] 0`` / ``S_DAG[T] 0``                            T / T_DAG
``SPP[T] X0*Y1`` / ``SPP_DAG[T] X0*Y1``                exp(-iπ/8 P) / exp(+iπ/8 P)
``I[R_X(theta=0.25*pi)] 0``                            exp(-i θ/2 P)
``SPP[R_PAULI(theta=0.25*pi)] X0*Y1``                  exp(-i θ/2 P); with ``SPP_DAG`` exp(+i θ/2 P)
``II[CS] 0 1``                                         a controlled gate
``CZ[CS] rec[-1] 1``                                   a gate controlled by a record (``conditional``)
=====================================================  ==========================================

``dialect.gates`` has the complete table. Angles are in half-turns, and the factor ``*pi`` is mandatory.
``S[T:my tag]`` is a T gate with the note ``my tag``. The tags are those of `tsim
<https://github.com/QuEraComputing/tsim>`_, whose files can be read. ``S[HONEST_T]``, which bloq writes, is a
T gate, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import stim

from .channels.channel_tags import ANNOTATIONS
from .channels.missing import NOISE_CARRIERS, advice_on_channel, is_channel_in_tag
from .channels.table import has_tag_of_channel
from .exact_text import NUMBER
from .expectation_values import EXP_VAL, expectation_products
from .feed_forward.control_pairs import groups_of_pairs
from .feed_forward.decisions import decision_of
from .gates import CONDITIONAL_CARRIER, FORMS_OF_WORD, GateDefinition, TaggedForm
from .names import forms_of_word, gate_named
from .targets import check_groups

_CALL = re.compile(r"\s*(?P<word>[A-Za-z_]\w*)\s*\((?P<arguments>.*)\)\s*", re.DOTALL)
_ARGUMENT = re.compile(rf"[ \t]*(?P<key>\w+)[ \t]*=[ \t]*(?P<value>{NUMBER})[ \t]*\*[ \t]*pi[ \t]*", re.ASCII)

_DELAY = ("I", "delay")
"""``I[delay:100ns] 0`` is a note: that a qubit waits, in a circuit that was written in another language."""

# On these instructions an unknown tag is an error, as it is probably a misspelled gate. On CZ it is a note.
_CARRIERS = {carrier for forms in FORMS_OF_WORD.values() for carrier in forms} - {CONDITIONAL_CARRIER}


@dataclass(frozen=True)
class NonCliffordGate:
    """A non-Clifford gate, as read from a tag."""

    name: str  # the name of the gate, as ``dialect.gate_named`` knows it
    # The angles in half-turns (1 half-turn = π radians), in the order of the gate's parameters: none for T
    # gates, (θ) for rotations, (θ, φ, λ) for ``U3``.
    half_turns: tuple[float, ...] = ()
    user_tag: str = ""  # the note after ``T:`` in the tag of a T gate; empty if there is none

    @property
    def definition(self) -> GateDefinition:
        """The gate's entry in the table of gates."""
        definition = gate_named(self.name)
        if definition is None:
            raise ValueError(f"There is no non-Clifford gate {self.name}.")
        return definition


def tag_of(gate: NonCliffordGate, form: TaggedForm | None = None) -> str:
    """The tag that turns the carrier of a form into the gate; that of the bare gate by default.

    Examples:
        >>> tag_of(NonCliffordGate("T_DAG")), tag_of(NonCliffordGate("T", user_tag="first layer"))
        ('T', 'T:first layer')
        >>> tag_of(NonCliffordGate("R_Z", (0.25,)))
        'R_Z(theta=0.25*pi)'
    """
    form = form or gate.definition.written_form
    for value in gate.half_turns:
        if not math.isfinite(value):
            raise ValueError(
                f"The angle of {gate.name} must be a finite number of half-turns, but is {value}."
            )
    if not gate.half_turns:
        return f"{form.word}:{gate.user_tag}" if gate.user_tag else form.word
    values = [-value if form.inverted else value for value in gate.half_turns]
    return f"{form.word}({_arguments(gate.definition, values)})"


def _arguments(definition: GateDefinition, values: Sequence[float]) -> str:
    return ", ".join(f"{key}={value!r}*pi" for key, value in zip(definition.parameters, values, strict=True))


def target_groups(instruction: stim.CircuitInstruction) -> list[list[stim.GateTarget]]:
    """The targets of an instruction, one group for each time that its gate is applied, with a tag or without.

    Examples:
        >>> instruction = stim.Circuit("I[CCZ] 0 1 2 3 4 5")[0]
        >>> [[target.value for target in group] for group in target_groups(instruction)]
        [[0, 1, 2], [3, 4, 5]]
    """
    gate = None if instruction.name == CONDITIONAL_CARRIER else gate_from_tag(instruction)
    size = None if gate is None else gate.definition.num_targets
    if size is None:
        return instruction.target_groups()
    targets = instruction.targets_copy()
    return [targets[k : k + size] for k in range(0, len(targets), size)]


def gate_from_tag(instruction: stim.CircuitInstruction) -> NonCliffordGate | None:
    """The gate for which the tag of an instruction stands, or None.

    A tag that is unknown or malformed on a carrier is an error (``S[t]``, ``I[R_Z(0.25)]``), and so is the
    tag of a gate on another instruction (``H[T]``, which ``stim.Circuit.decomposed`` returns).

    Examples:
        >>> import stim
        >>> gate_from_tag(stim.CircuitInstruction("S", [0], tag="T"))
        NonCliffordGate(name='T', half_turns=(), user_tag='')
        >>> gate_from_tag(stim.CircuitInstruction("I", [0], tag="R_X(theta=-0.5*pi)"))
        NonCliffordGate(name='R_X', half_turns=(-0.5,), user_tag='')
        >>> gate_from_tag(stim.CircuitInstruction("S", [0])) is None
        True
        >>> gate_from_tag(stim.CircuitInstruction("H", [0], tag="T"))
        Traceback (most recent call last):
        ...
        ValueError: The tag [T] makes no sense on H...
    """
    name, tag = instruction.name, instruction.tag
    if not tag:
        return None
    word, arguments, note = _split(tag)
    if word.upper() == EXP_VAL:
        expectation_products(instruction)  # for its checks
        return None
    if has_tag_of_channel(instruction) or decision_of(instruction) is not None:
        return None
    forms = _forms(word, has_arguments=arguments is not None, has_note=note is not None)
    if name in forms:
        definition, form = forms[name]
        if name == CONDITIONAL_CARRIER:
            groups_of_pairs(definition, instruction.targets_copy())
        else:
            _check_groups(definition, instruction)
        half_turns = () if arguments is None else _half_turns(name, tag, arguments, definition.parameters)
        if form.inverted:
            half_turns = tuple(-value for value in half_turns)
        return NonCliffordGate(definition.name, half_turns, note or "")
    if not forms and (arguments is not None or name == CONDITIONAL_CARRIER):
        forms = _forms(word.upper(), has_arguments=arguments is not None)
    if forms:
        raise ValueError(_misplaced(name, tag, list(forms)))
    if name in NOISE_CARRIERS or (is_channel_in_tag(word) and name not in ANNOTATIONS):
        raise ValueError(_unknown_channel(name, tag, word))
    if name in _CARRIERS and (name, word) != _DELAY:
        raise ValueError(f"Unknown tag [{tag}] on {name}. {_advice(name, word)}")
    return None


def is_note(text: str, definition: GateDefinition) -> bool:
    """Whether a text in the brackets of a bare gate can only be a note, as no other gate or channel has it.

    Examples:
        >>> t_gate = gate_named("T")
        >>> is_note("first layer", t_gate), is_note("T", t_gate), is_note("R_X(theta=0.1*pi)", t_gate)
        (True, True, False)
    """
    word, _, _ = _split(text)
    if word == definition.written_form.word:
        return True
    return not (word.upper() == EXP_VAL or forms_of_word(word) or is_channel_in_tag(word))


def word_of_tag(tag: str) -> str:
    """The word of a tag, without angles and note."""
    return _split(tag)[0]


def _split(tag: str) -> tuple[str, str | None, str | None]:
    """The word of a tag, the text in parentheses, and the note after a colon; None if absent."""
    call = _CALL.fullmatch(tag)
    if call:
        return call["word"], call["arguments"], None
    word, colon, note = tag.partition(":")
    return word, None, note if colon else None


def _forms(
    word: str, *, has_arguments: bool, has_note: bool = False
) -> Mapping[str, tuple[GateDefinition, TaggedForm]]:
    """The gates for which a tag of this shape can stand, by carrier."""
    forms = forms_of_word(word)
    if not forms:
        return {}
    definition, _ = next(iter(forms.values()))  # all gates of a word have the same shape
    fits = bool(definition.parameters) == has_arguments and (definition.takes_note or not has_note)
    return forms if fits else {}


def _half_turns(name: str, tag: str, text: str, keys: tuple[str, ...]) -> tuple[float, ...]:
    parts = [_ARGUMENT.fullmatch(part) for part in text.split(",")]
    found = {part["key"]: float(part["value"]) for part in parts if part}
    if len(parts) != len(keys) or set(found) != set(keys):
        wanted = ", ".join(f"{key}=0.25*pi" for key in keys)
        raise ValueError(
            f"Malformed tag [{tag}] on {name}: it must have angles in half-turns with the factor *pi, for"
            f" example ({wanted})."
        )
    values = tuple(found[key] for key in keys)
    if not all(math.isfinite(value) for value in values):
        raise ValueError(f"Malformed tag [{tag}] on {name}: the angle must be a finite number.")
    return values


def _check_groups(definition: GateDefinition, instruction: stim.CircuitInstruction) -> None:
    """Checks the targets if Stim does not: if the gate acts on more qubits than its carrier."""
    size = definition.num_targets or 1
    if size == 1 or size == qubits_of_carrier(instruction.name):
        return
    check_groups(definition.name, size, instruction)


@cache
def qubits_of_carrier(carrier: str) -> int:
    """The number of qubits in a group of targets of the carrier."""
    return 2 if stim.gate_data(carrier).is_two_qubit_gate else 1


def _misplaced(name: str, tag: str, carriers: list[str]) -> str:
    hint = (
        " stim.Circuit.decomposed() copies tags to all gates of a decomposition: call it before tagging."
        if name in {"H", "CX", "H_YZ", "H_XY", "S", "R", "M"}
        else ""
    )
    if name in carriers:
        return f"The tag [{tag}] makes no sense on {name}: write gates in tags in upper case."
    *others, last = carriers
    belongs = f"{', '.join(others)} and {last}" if others else last
    return f"The tag [{tag}] makes no sense on {name}; it belongs on {belongs}.{hint}"


_ELSEWHERE = (
    "Put other notes on another instruction (for example on a TICK), or remove them with"
    " stim.Circuit.without_tags()."
)


def _unknown_channel(name: str, tag: str, word: str) -> str:
    """What is wrong with a tag that may stand for noise of another simulator."""
    advice = advice_on_channel(word.strip())
    if name in NOISE_CARRIERS:
        known = f"A tag on {name} stands for a noise channel, and none is known by this tag."
        return " ".join(filter(None, [f"Unknown tag [{tag}] on {name}. {known}", advice, _ELSEWHERE]))
    return f"The tag [{tag}] on {name} looks like a noise channel of another simulator. {advice} {_ELSEWHERE}"


def _advice(name: str, word: str) -> str:
    """The part of a message that says what to write instead of an unknown tag."""
    meant = gate_named(word)
    if meant and name.startswith("SPP"):
        meant = gate_named(word.upper().replace("T", "TPP", 1)) or meant
    if meant:
        form = next((form for form in meant.forms if not form.product), meant.written_form)
        written = f"{form.carrier}{_example(meant, form)}"
        return f"The gate {meant.name} is written {written} or, without a tag, {meant.name}."
    known = [_example(*forms[name]) for forms in FORMS_OF_WORD.values() if name in forms]
    return f"A tag on {name} selects a gate; known tags are {', '.join(known)}. {_ELSEWHERE}"


def _example(definition: GateDefinition, form: TaggedForm) -> str:
    if not definition.parameters:
        return f"[{form.word}]"
    return f"[{form.word}({_arguments(definition, [0.25] * len(definition.parameters))})]"
