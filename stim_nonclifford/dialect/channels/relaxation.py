"""Relaxation: amplitude damping, phase damping, and thermal relaxation at zero temperature.

``AMPLITUDE_DAMPING(0.01) 0`` is written for Stim as ``I_ERROR[AMPLITUDE_DAMPING(gamma=0.01)] 0``, a channel
that does nothing. Stim carries it along in files, prints it, and removes it with ``without_noise``.

Each of these channels is a decay followed by a dephasing. The decay, with the Kraus operators
diag(1, sqrt(1 - γ)) and sqrt(γ) |0><1|, is no mixture of Clifford operations. It is applied exactly: an
ancilla in |0> is rotated about Y by θ if the qubit is in |1>, with sin²(θ/2) = γ; then it flips the qubit,
and is discarded. The rotation by θ that the qubit controls is a rotation by θ/2 about Y of the ancilla, and
one by -θ/2 about Z⊗Y (Nielsen and Chuang 2010, section 8.3.5).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import stim

from ..gates import CliffordPart, Part, RotationPart

__all__ = [
    "CARRIER",
    "RELAXATION",
    "Relaxation",
    "bare_relaxation",
    "relaxation_of",
    "relaxation_text",
    "tagged_relaxation",
]

CARRIER = "I_ERROR"

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_TAG = re.compile(r"\s*(?P<word>[A-Za-z_]\w*)\s*(?:\((?P<arguments>.*)\))?\s*", re.DOTALL)
_ARGUMENT = re.compile(rf"\s*(?P<key>\w+)\s*=\s*(?P<value>{_NUMBER})\s*")


@dataclass(frozen=True)
class RelaxationDefinition:
    """A channel of relaxation.

    Attributes:
        name: The bare name, which is the word of the tag, too.
        description: What the channel does, as a formula.
        parameters: The names of its arguments in the tag, in the order of the bare channel's arguments.
        problem: What is wrong with values of the arguments, or the empty text.
        rates: From the arguments, the probability γ that |1> decays, and the probability of a Z after that.
        example: Arguments for messages.
    """

    name: str
    description: str
    parameters: tuple[str, ...]
    problem: Callable[..., str]
    rates: Callable[..., tuple[float, float]]
    example: tuple[float, ...]


@dataclass(frozen=True)
class Relaxation:
    """A channel of relaxation, as read from a tag.

    Attributes:
        name: The name of the channel.
        values: Its arguments.
    """

    name: str
    values: tuple[float, ...]

    @property
    def decay(self) -> float:
        """The probability γ that a qubit in |1> decays to |0>."""
        return RELAXATION[self.name].rates(*self.values)[0]

    @property
    def dephasing(self) -> float:
        """The probability of a Z after the decay."""
        return RELAXATION[self.name].rates(*self.values)[1]

    @property
    def decomposition(self) -> tuple[Part, ...]:
        """The decay as gates on the qubit and an ancilla in |0>, which is discarded afterwards."""
        angle = 2 * math.asin(math.sqrt(self.decay)) / math.pi
        return (RotationPart("_Y", angle / 2), RotationPart("ZY", -angle / 2), CliffordPart("CX", (1, 0)))

    @property
    def twirl(self) -> tuple[float, float, float]:
        """The probabilities of X, Y and Z in the Pauli twirl of the channel.

        The twirl of the decay is (γ/4, γ/4, (1 - sqrt(1 - γ))/2 - γ/4) (Geller and Zhou 2013); the dephasing
        multiplies it by Z with its probability.
        """
        flip = self.decay / 4
        phase = self.decay / (2 * (1 + math.sqrt(1 - self.decay))) - flip
        nothing = 1 - 2 * flip - phase
        return flip, flip, phase * (1 - self.dephasing) + nothing * self.dephasing


def _probability_problem(value: float) -> str:
    return "" if 0 <= value <= 1 else f"the probability must be from 0 to 1, but is {value!r}"


def _times_problem(over_t1: float, over_t2: float) -> str:
    if not (0 <= over_t1 < math.inf and 0 <= over_t2 < math.inf):
        return f"times must be finite and not negative, but are {over_t1!r} T1 and {over_t2!r} T2"
    if over_t2 < over_t1 / 2 * (1 - 1e-12):
        return (
            f"T2 cannot be longer than 2 T1, so that t/T2 must be at least half of t/T1; got t/T1 ="
            f" {over_t1!r} and t/T2 = {over_t2!r}"
        )
    return ""


def _dephasing(exponent: float) -> float:
    """The probability of a Z that multiplies coherences by exp(-exponent)."""
    return -math.expm1(-max(exponent, 0.0)) / 2


_DEFINITIONS = (
    RelaxationDefinition(
        "AMPLITUDE_DAMPING",
        "|1> decays to |0> with probability γ: Kraus operators diag(1, sqrt(1 - γ)), sqrt(γ) |0><1|",
        ("gamma",),
        _probability_problem,
        lambda gamma: (gamma, 0.0),
        (0.01,),
    ),
    RelaxationDefinition(
        "PHASE_DAMPING",
        "Kraus operators diag(1, sqrt(1 - λ)), sqrt(λ) |1><1|: the same as Z_ERROR((1 - sqrt(1 - λ))/2)",
        ("lambda",),
        _probability_problem,
        lambda damping: (0.0, damping / (2 * (1 + math.sqrt(1 - damping)))),
        (0.01,),
    ),
    RelaxationDefinition(
        "THERMAL_RELAXATION",
        "waiting for a time t at zero temperature: γ = 1 - exp(-t/T1), and coherences decay by exp(-t/T2)",
        ("t_over_T1", "t_over_T2"),
        _times_problem,
        lambda over_t1, over_t2: (-math.expm1(-over_t1), _dephasing(over_t2 - over_t1 / 2)),
        (0.01, 0.02),
    ),
)

RELAXATION: Mapping[str, RelaxationDefinition] = MappingProxyType({each.name: each for each in _DEFINITIONS})
"""The channels by their names."""


def relaxation_of(instruction: stim.CircuitInstruction) -> Relaxation | None:
    """Reads the tag of an instruction.

    Args:
        instruction: Any instruction of a ``stim.Circuit``.

    Returns:
        The channel, or None if the tag names none.

    Raises:
        ValueError: The tag names a channel but is malformed, has impossible values, or is on another
            instruction than I_ERROR.

    Examples:
        >>> channel = relaxation_of(stim.CircuitInstruction("I_ERROR", [0], tag="PHASE_DAMPING(lambda=0.19)"))
        >>> channel, round(channel.dephasing, 12)
        (Relaxation(name='PHASE_DAMPING', values=(0.19,)), 0.05)
        >>> relaxation_of(stim.CircuitInstruction("X_ERROR", [0], [0.1])) is None
        True
    """
    found = _TAG.fullmatch(instruction.tag) if instruction.tag else None
    definition = RELAXATION.get(found["word"]) if found else None
    if found is None or definition is None:
        return None
    example = tagged_relaxation(definition.name, (), definition.example).tag
    written = f"it is written {CARRIER}[{example}] 0 or, without a tag, {_call(definition)} 0"
    if instruction.name != CARRIER:
        raise ValueError(f"The tag [{instruction.tag}] makes no sense on {instruction.name}: {written}.")
    if instruction.gate_args_copy():
        raise ValueError(
            f"{CARRIER} with the tag [{instruction.tag}] takes no probability in parentheses: {written}."
        )
    parts = [_ARGUMENT.fullmatch(part) for part in (found["arguments"] or "").split(",")]
    values = {part["key"]: float(part["value"]) for part in parts if part}
    if len(parts) != len(values) or set(values) != set(definition.parameters):
        raise ValueError(f"Malformed tag [{instruction.tag}] on {CARRIER}: {written}.")
    ordered = tuple(values[key] for key in definition.parameters)
    _check(definition, ordered)
    return Relaxation(definition.name, ordered)


def tagged_relaxation(name: str, targets: Any, values: Iterable[float]) -> stim.CircuitInstruction:
    """The tagged instruction of a bare channel.

    Args:
        name: The name of the channel, in upper case.
        targets: Its qubits, as for ``stim.Circuit.append``.
        values: Its arguments.

    Returns:
        The instruction.

    Raises:
        ValueError: There are too few or too many arguments, or their values are impossible.

    Examples:
        >>> print(tagged_relaxation("AMPLITUDE_DAMPING", [0, 2], [0.01]))
        I_ERROR[AMPLITUDE_DAMPING(gamma=0.01)] 0 2
    """
    definition, values = RELAXATION[name], tuple(map(float, values))
    if len(values) != len(definition.parameters):
        raise ValueError(
            f"{name} takes {_arguments(definition)}, as in {_call(definition)} 0; got {len(values)}."
        )
    _check(definition, values)
    pairs = zip(definition.parameters, values, strict=True)
    circuit = stim.Circuit()
    tag = f"{name}({', '.join(f'{key}={value!r}' for key, value in pairs)})"
    circuit.append(CARRIER, targets, tag=tag)
    return circuit[0]


def relaxation_text(name: str, arguments: str | None, targets: str) -> str:
    """The text of the tagged instruction, from the parts of the bare one.

    Args:
        name: The name of the channel, in upper case.
        arguments: The text in parentheses, or None.
        targets: The text of the targets, with the space before it.

    Raises:
        ValueError: An argument is missing, impossible or no number.

    Examples:
        >>> relaxation_text("THERMAL_RELAXATION", "0.1, 0.1", " 0 1")
        'I_ERROR[THERMAL_RELAXATION(t_over_T1=0.1, t_over_T2=0.1)] 0 1'
    """
    values = []
    for part in (arguments or "").split(",") if (arguments or "").strip() else []:
        try:
            values.append(float(part))
        except ValueError:
            raise ValueError(f"The argument {part.strip()!r} of {name} is not a number.") from None
    tagged = tagged_relaxation(name, [0], values)
    return f"{CARRIER}[{tagged.tag}]{targets}"


def bare_relaxation(instruction: stim.CircuitInstruction, channel: Relaxation) -> str:
    """The text of the instruction without a tag.

    Examples:
        >>> tagged = tagged_relaxation("AMPLITUDE_DAMPING", [0, 2], [0.01])
        >>> bare_relaxation(tagged, relaxation_of(tagged))
        'AMPLITUDE_DAMPING(0.01) 0 2'
    """
    plain = str(stim.CircuitInstruction(CARRIER, instruction.targets_copy()))
    values = ", ".join(map(repr, channel.values))
    return f"{channel.name}({values}){plain[len(CARRIER) :]}"


def _check(definition: RelaxationDefinition, values: tuple[float, ...]) -> None:
    problem = definition.problem(*values)
    if problem:
        raise ValueError(f"{definition.name}: {problem}.")


def _arguments(definition: RelaxationDefinition) -> str:
    count = len(definition.parameters)
    return f"{count} argument{'s' * (count > 1)} ({', '.join(definition.parameters)})"


def _call(definition: RelaxationDefinition) -> str:
    return f"{definition.name}({', '.join(map(str, definition.example))})"
