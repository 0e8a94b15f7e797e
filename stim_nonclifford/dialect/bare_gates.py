"""One bare non-Clifford gate becomes a tagged instruction of Stim."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import stim

from .channels.channel_tags import tagged_channel, text_of_channel
from .channels.readout import NOISY_MEASUREMENTS, readout_head
from .channels.spreading_gates import SPREADING_GATES, spreading_head
from .channels.table import CHANNELS
from .exact_text import number_of
from .expectation_values import EXP_VAL, tagged_expectation
from .feed_forward.blocks import conditional_text, is_conditional
from .feed_forward.conditional import PRODUCT_GATES, conditional_gate, refusal, rotation_gate_name
from .feed_forward.control_pairs import is_classical, pairs_of_groups, targets_of_products, text_of_target
from .feed_forward.decisions import DECODE, FRAME, SURE, decision_head, question_text
from .gates import GateDefinition
from .names import gate_named
from .tags import NonCliffordGate, is_note, tag_of
from .targets import Target

LARGEST_ANGLE = 4.0
"""In half-turns: a rotation by that much is the identity. Larger bare angles are probably in degrees."""

_QUBIT = re.compile(r"[0-9]+")

# The name, [tag], (arguments), and the targets up to the end of the instruction.
INSTRUCTION = re.compile(
    r"(?P<name>[A-Za-z]\w*)"
    r"(?:\[(?P<tag>[^\]\r\n]*)\])?"
    r"(?P<parens>\((?P<arguments>[^)\r\n#]*)\))?"
    r"(?P<targets>[^\r\n#{]*)"
)


def tagged_instruction(
    name: str, targets: Sequence[Target], arg: float | Iterable[float] | None, tag: str
) -> stim.CircuitInstruction | None:
    """The tagged instruction of a bare gate, a channel or EXP_VAL; None if the name is that of another.

    Examples:
        >>> tagged_instruction("R_X", [3], 0.5, "")
        stim.CircuitInstruction('I', [stim.GateTarget(3)], [], tag='R_X(theta=0.5*pi)')
    """
    if name.upper() == EXP_VAL:
        _check_bare(name.upper(), has_tag=bool(tag), has_arguments=arg is not None and arg != ())
        return tagged_expectation(" ".join(_texts(targets)))
    if name.upper() in CHANNELS:
        _check_bare(name.upper(), has_tag=bool(tag), has_arguments=False)
        values = arg if isinstance(arg, Iterable) else () if arg is None else (arg,)
        return tagged_channel(CHANNELS[name.upper()], targets, values)
    values = tuple(arg) if isinstance(arg, Iterable) else () if arg is None else (arg,)
    if name.upper() == FRAME:
        if values:
            raise ValueError(f"{FRAME} takes no numbers. Append it as text.")
        return stim.Circuit(question_text(FRAME, None, tag or None, _texts(targets)))[0]
    if name.upper() == SURE:
        options = ", ".join(repr(float(value)) for value in values)
        return stim.Circuit(question_text(SURE, options, tag or None, _texts(targets)))[0]
    if name.upper() == DECODE:
        if values:
            raise ValueError(
                f'{DECODE} takes no numbers. Write append("M", targets, tag="DECODE(latency=2)").'
            )
        return stim.Circuit(f"{decision_head(tag or None, None)} {' '.join(_texts(targets))}")[0]
    head = readout_head(name.upper(), tag, values) or spreading_head(name.upper(), tag, values)
    if head is not None:
        return stim.Circuit(f"{head} {' '.join(_texts(targets))}")[0]
    parens = f"({', '.join(map(repr, map(float, values)))})" if values else None
    switched = conditional_text(name.upper(), tag or None, parens, _texts(targets))
    if switched is not None:
        return stim.Circuit(switched)[0]
    definition = gate_named(name)
    if definition is None and name.upper() not in PRODUCT_GATES and refusal(name.upper()) is None:
        return None
    angles = tuple(float(value) for value in values)
    for angle in angles:
        _check_size(name.upper(), angle)
    texts = _texts(targets)
    if definition is None or definition.needs_record or any(map(is_classical, texts)):
        return _parsed_instruction(name, texts, angles, tag)
    wanted = len(definition.parameters)
    if len(angles) != wanted:
        raise ValueError(f"{name.upper()} takes {wanted} angles in half-turns; got {len(angles)}.")
    if tag:
        _check_note(name.upper(), definition, tag)
    form, gate_tag = definition.written_form, tag_of(NonCliffordGate(definition.name, angles, tag))
    if form.product:
        qubits = [str(target.value) for target in _targets(name, "I", targets)]
        products = _products(name.upper(), form.product, qubits)
        return stim.Circuit(f"{form.carrier}[{gate_tag}]{products}")[0]
    return stim.CircuitInstruction(form.carrier, _targets(name, form.carrier, targets), tag=gate_tag)


def _targets(name: str, carrier: str, targets: Sequence[Target]) -> list[stim.GateTarget]:
    """The targets of a gate, which Stim checks as those of its carrier."""
    circuit = stim.Circuit()
    try:
        circuit.append(carrier, targets)
    except ValueError as error:
        raise ValueError(with_own_name(str(error), carrier, name)) from None
    return circuit[0].targets_copy() if len(circuit) else []


def with_own_name(message: str, carrier: str, name: str) -> str:
    """Stim's message about an instruction, with the name of a bare gate in place of its carrier.

    Examples:
        >>> with_own_name("Target Z0 has invalid modifiers for gate type 'S'.", "S", "T")
        "Target Z0 has invalid modifiers for gate type 'T'."
    """
    of_carrier = rf"(\bgate (?:type )?'?){carrier}\b"
    return re.sub(of_carrier, lambda found: f"{found[1]}{name.upper()}", message, flags=re.IGNORECASE)


def _texts(targets: Iterable[Target]) -> list[str]:
    """Targets as text, the factors of a product as one."""
    texts = [text_of_target(t) if isinstance(t, stim.GateTarget) else str(t) for t in targets]
    return " ".join(texts).replace(" * ", "*").split()


def _parsed_instruction(
    name: str, targets: list[str], angles: tuple[float, ...], tag: str
) -> stim.CircuitInstruction:
    """The tagged instruction of a gate with records among its targets, from the text that it would have."""
    note = f"[{tag}]" if tag else ""
    arguments = f"({', '.join(map(repr, angles))})" if angles else ""
    found = INSTRUCTION.fullmatch(f"{name}{note}{arguments} {' '.join(targets)}")
    if found is None:
        raise ValueError(f"{name.upper()} cannot have the targets {' '.join(targets)}.")
    return stim.Circuit(tagged_text(found))[0]


def tagged_text(found: re.Match[str]) -> str:
    """The text of a match of ``INSTRUCTION``, with a tag in place of the name of a non-Clifford gate."""
    if _is_plain(found["name"], found["parens"] is not None):
        return found.group()
    name, note, targets = found["name"].upper(), found["tag"], found["targets"]
    if name == EXP_VAL:
        _check_bare(name, has_tag=note is not None, has_arguments=found["parens"] is not None)
        return str(tagged_expectation(targets))
    if name in (FRAME, SURE):
        return question_text(name, found["arguments"] if found["parens"] else None, note, targets.split())
    if name == DECODE:
        return f"{decision_head(note, found['arguments'] if found['parens'] else None)}{targets}"
    if name in CHANNELS:
        _check_bare(name, has_tag=note is not None, has_arguments=False)
        return text_of_channel(CHANNELS[name], found["arguments"], targets)
    words = targets.split()
    if name in PRODUCT_GATES:
        return _conditional_rotation(name, note, found["arguments"], words)
    switched = conditional_text(name, note, found["parens"], words)
    if switched is not None:
        return switched
    definition = gate_named(name)
    if definition is None:
        problem = refusal(name)
        if problem is not None:
            raise ValueError(problem[0].upper() + problem[1:])
        numbers = _numbers(found["arguments"])
        head = readout_head(name, note, numbers) or spreading_head(name, note, numbers)
        return found.group() if head is None else f"{head}{targets}"
    if note is not None:
        _check_note(name, definition, note)
    angles: tuple[float, ...] = ()
    if definition.parameters:
        angles = _angles(name, found["arguments"], len(definition.parameters))
    elif found["parens"]:
        raise ValueError(f"{name} takes no arguments.")
    form = definition.written_form
    if definition.conditional_form and (definition.needs_record or any(map(is_classical, words))):
        form = definition.conditional_form
        targets = "".join(f" {text}" for text in pairs_of_groups(definition, name, words))
    elif any(map(is_classical, words)):
        raise ValueError(_without_control(definition))
    elif form.product:
        targets = _products(name, form.product, words)
    gate = NonCliffordGate(definition.name, angles, note or "")
    return f"{form.carrier}[{tag_of(gate, form)}]{targets}"


@lru_cache(maxsize=1024)
def _is_plain(name: str, has_arguments: bool) -> bool:
    """Whether an instruction of this name is passed to Stim as it is, whatever its arguments."""
    upper = name.upper()
    is_own = upper in (EXP_VAL, DECODE, FRAME, SURE) or upper in CHANNELS or upper in PRODUCT_GATES
    takes_more = has_arguments and (upper in NOISY_MEASUREMENTS or upper in SPREADING_GATES)
    return not (is_own or takes_more or gate_named(upper) or refusal(upper) or is_conditional(upper))


def _without_control(definition: GateDefinition) -> str:
    """What to write instead of a gate that has a record as its target but no control."""
    if definition.num_targets is None:
        example = "C_R_PAULI(0.25) rec[-1] X0*Y1"
    else:
        controlled = conditional_gate(f"C_{definition.name}")
        name = controlled.name if controlled else f"C_{definition.name}"
        angles = f"({', '.join(['0.25'] * len(definition.parameters))})" if definition.parameters else ""
        example = f"{name}{angles} rec[-1] {' '.join(map(str, range(definition.num_targets)))}"
    return f"{definition.name} has no control. To apply it if a record is 1, write {example}."


def _conditional_rotation(name: str, note: str | None, arguments: str | None, words: list[str]) -> str:
    """The tagged instruction of a conditional rotation about products such as X0*Y1."""
    letters, negative, targets = targets_of_products(name, words)
    definition = gate_named(rotation_gate_name(letters))
    assert definition is not None
    if note is not None:
        _check_note(name, definition, note)
    fixed = PRODUCT_GATES[name]
    if fixed is None:
        (angle,) = _angles(name, arguments, 1)
    elif arguments is not None:
        raise ValueError(f"{name} takes no arguments.")
    else:
        angle = fixed
    gate = NonCliffordGate(definition.name, (-angle if negative else angle,))
    pairs = pairs_of_groups(definition, name, targets)
    return f"{definition.written_form.carrier}[{tag_of(gate)}] {' '.join(pairs)}"


def _check_bare(name: str, *, has_tag: bool, has_arguments: bool) -> None:
    if has_tag:
        raise ValueError(
            f"{name} cannot have a tag, as a tag stands for the instruction itself. Leave it out."
        )
    if has_arguments:
        raise ValueError(f"{name} takes no arguments.")


def _check_note(name: str, definition: GateDefinition, note: str) -> None:
    if not definition.takes_note:
        raise ValueError(f"{name} cannot have a tag, as a tag stands for the gate itself. Leave it out.")
    if not is_note(note, definition):
        form = definition.written_form
        raise ValueError(
            f"The tag of {name} is a note, but [{note}] would be a gate or a channel on another instruction."
            f" Write another note, or {form.carrier}[{form.word}:{note}] if the note is to be just this."
        )


def _check_size(name: str, angle: float) -> None:
    """Refuses angles in degrees. NaN and infinity pass; they are refused where the tag is written."""
    if math.isfinite(angle) and abs(angle) > LARGEST_ANGLE:
        raise ValueError(
            f"The angle {angle:.12g} of {name} is too large: angles are in half-turns, and a rotation by 4 is"
            f" the identity. {angle:.12g} degrees are {angle / 180:.12g} half-turns; {angle:.12g} half-turns"
            f" are the same as {math.fmod(angle, 4):.12g}."
        )


def _numbers(text: str | None) -> list[float]:
    """The arguments of an instruction, or nothing if they are none; then Stim reports it."""
    numbers = [number_of(part) for part in (text or "").split(",")]
    return [] if None in numbers else [number for number in numbers if number is not None]


def _angles(name: str, arguments: str | None, count: int) -> tuple[float, ...]:
    parts = (arguments or "").split(",") if (arguments or "").strip() else []
    if len(parts) != count:
        raise ValueError(
            f"{name} takes {count} angle{'s' * (count > 1)} in half-turns, as in"
            f" {name}({', '.join(['0.25'] * count)}); got {len(parts)}."
        )
    values = []
    for part in parts:
        value = number_of(part)
        if value is None:
            raise ValueError(
                f"The angle {part.strip()!r} of {name} is not a number. Angles are numbers in half-turns:"
                " write 0.25 for a quarter of pi."
            )
        _check_size(name, value)
        values.append(value)
    return tuple(values)


def _products(name: str, paulis: str, qubits: list[str]) -> str:
    """Writes groups of qubits as Pauli products with these letters."""
    size = len(paulis)
    if len(qubits) % size or not all(_QUBIT.fullmatch(qubit) for qubit in qubits):
        wanted = "an even number of qubit targets" if size == 2 else f"qubit targets in groups of {size}"
        raise ValueError(f"{name} needs {wanted}.")
    products = []
    for k in range(0, len(qubits), size):
        group = [int(qubit) for qubit in qubits[k : k + size]]
        if len(set(group)) < size:
            raise ValueError(f"{name} needs different qubits in a group; got {' '.join(map(str, group))}.")
        products.append(" " + "*".join(map("{}{}".format, paulis, group)))
    return "".join(products)
