"""Relaxation: amplitude damping, phase damping, and thermal relaxation at zero temperature.

Each of these channels is a decay followed by a dephasing. The decay, with the Kraus operators
diag(1, sqrt(1 - γ)) and sqrt(γ) |0><1|, is no mixture of Clifford operations. It is applied exactly: an
ancilla in |0> is rotated about Y by θ if the qubit is in |1>, with sin²(θ/2) = γ; then it flips the qubit,
and is discarded. The rotation by θ that the qubit controls is a rotation by θ/2 about Y of the ancilla, and
one by -θ/2 about Z⊗Y (Nielsen and Chuang 2010, section 8.3.5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import stim

from ..gates import CliffordPart, Part, RotationPart
from .channel_tags import ChannelDefinition, TaggedChannel, probability_problem, read_channel


def decay_parts(probability: float) -> tuple[Part, ...]:
    """A decay as gates on the qubit and an ancilla in |0>, which is discarded afterwards."""
    angle = 2 * math.asin(math.sqrt(probability)) / math.pi
    return (RotationPart("_Y", angle / 2), RotationPart("ZY", -angle / 2), CliffordPart("CX", (1, 0)))


@dataclass(frozen=True, kw_only=True)
class RelaxationDefinition(ChannelDefinition):
    """A channel of relaxation."""

    # From the arguments, the probability γ that |1> decays, and the probability of a Z after that.
    rates: Callable[..., tuple[float, float]]


@dataclass(frozen=True)
class Relaxation(TaggedChannel):
    """A channel of relaxation, as read from a tag."""

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
        return decay_parts(self.decay)

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
        probability_problem,
        (0.01,),
        rates=lambda gamma: (gamma, 0.0),
    ),
    RelaxationDefinition(
        "PHASE_DAMPING",
        "Kraus operators diag(1, sqrt(1 - λ)), sqrt(λ) |1><1|: the same as Z_ERROR((1 - sqrt(1 - λ))/2)",
        ("lambda",),
        probability_problem,
        (0.01,),
        rates=lambda damping: (0.0, damping / (2 * (1 + math.sqrt(1 - damping)))),
    ),
    RelaxationDefinition(
        "THERMAL_RELAXATION",
        "waiting for a time t at zero temperature: γ = 1 - exp(-t/T1), and coherences decay by exp(-t/T2)",
        ("t_over_T1", "t_over_T2"),
        _times_problem,
        (0.01, 0.02),
        rates=lambda over_t1, over_t2: (-math.expm1(-over_t1), _dephasing(over_t2 - over_t1 / 2)),
    ),
)

RELAXATION: Mapping[str, RelaxationDefinition] = MappingProxyType({each.name: each for each in _DEFINITIONS})
"""The channels by their names."""


def relaxation_of(instruction: stim.CircuitInstruction) -> Relaxation | None:
    """The channel of relaxation for which the tag of an instruction stands, or None.

    Examples:
        >>> channel = relaxation_of(stim.CircuitInstruction("I_ERROR", [0], tag="PHASE_DAMPING(lambda=0.19)"))
        >>> channel, round(channel.dephasing, 12)
        (Relaxation(name='PHASE_DAMPING', values=(0.19,)), 0.05)
        >>> relaxation_of(stim.CircuitInstruction("X_ERROR", [0], [0.1])) is None
        True
    """
    found = read_channel(instruction, RELAXATION)
    return None if found is None else Relaxation(found.name, found.values)
