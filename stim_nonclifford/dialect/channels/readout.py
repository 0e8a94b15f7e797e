"""Readout noise that depends on the outcome, as a tag on a measurement.

``M[READOUT_NOISE(p01=0.01, p10=0.05)](0.03) 0`` takes 0 for 1 with probability ``p01``, and 1 for 0 with
probability ``p10``. The number in parentheses is the mean of both, so that Stim, which ignores the tag, reads
the nearest noise that it has. The qubit is left in the state of the true outcome. In bare form this is a
measurement with two probabilities, ``M(0.01, 0.05) 0``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import stim

from ...base.written_circuits import circuit_of, with_replaced, without_tag
from ..exact_text import NUMBER
from .channel_tags import ANNOTATIONS, check_free_tag, probability_problem

READOUT_NOISE = "READOUT_NOISE"
"""The word of the tag."""

MEASUREMENTS = ("M", "MX", "MY", "MR", "MRX", "MRY", "MXX", "MYY", "MZZ", "MPP")
"""The instructions that may have it."""

NOISY_MEASUREMENTS = (*MEASUREMENTS, "MZ", "MRZ")
"""The instructions that may have the tag, with their aliases."""

_TAG = re.compile(rf"\s*{READOUT_NOISE}\b(?P<rest>.*)", re.DOTALL)
_NAMED = re.compile(
    rf"\([ \t]*p01[ \t]*=[ \t]*({NUMBER})[ \t]*,[ \t]*p10[ \t]*=[ \t]*({NUMBER})[ \t]*\)[ \t]*", re.ASCII
)
_EXAMPLE = "M[READOUT_NOISE(p01=0.01, p10=0.05)](0.03) 0 or, without a tag, M(0.01, 0.05) 0"
_ROUNDING = 1e-5


@dataclass(frozen=True)
class ReadoutNoise:
    """Readout noise of one measurement.

    It is a flip of the record with probability ``flip``, followed by a decay: a record that differs from
    ``decays_to`` becomes ``decays_to`` with probability ``decay``.
    """

    p01: float  # the probability that the outcome 0 is read as 1
    p10: float  # the probability that the outcome 1 is read as 0

    @property
    def mean(self) -> float:
        """The probability of a wrong record for a random outcome: that of the Pauli twirl."""
        return (self.p01 + self.p10) / 2

    @property
    def number(self) -> float:
        """The number in parentheses: the mean with six digits, which is what Stim prints."""
        return float(f"{self.mean:.6g}")

    @property
    def decay(self) -> float:
        """The probability of the decay."""
        return abs(self.p10 - self.p01)

    @property
    def decays_to(self) -> int:
        """The value to which the record decays."""
        return int(self.p01 > self.p10)

    @property
    def flip(self) -> float:
        """The probability of the flip before the decay."""
        return min(1.0, min(self.p01, self.p10) / (1 - self.decay)) if self.decay < 1 else 0.0

    @property
    def decays(self) -> tuple[float, float]:
        """The probabilities that the decay makes 1 of 0, and 0 of 1; one of them is 0."""
        return (self.decay, 0.0) if self.decays_to else (0.0, self.decay)

    @property
    def tag(self) -> str:
        """The tag of the measurement."""
        return f"{READOUT_NOISE}(p01={self.p01!r}, p10={self.p10!r})"


def readout_noise_of(instruction: stim.CircuitInstruction) -> ReadoutNoise | None:
    """The readout noise for which the tag of an instruction stands, or None.

    Examples:
        >>> (instruction,) = stim.Circuit("MX[READOUT_NOISE(p01=0.01, p10=0.05)](0.03) 0")
        >>> readout_noise_of(instruction)
        ReadoutNoise(p01=0.01, p10=0.05)
        >>> readout_noise_of(stim.Circuit("M(0.03) 0")[0]) is None
        True
    """
    found = _TAG.fullmatch(instruction.tag) if instruction.tag else None
    if found is None or instruction.name in ANNOTATIONS:
        return None
    tag, name = instruction.tag, instruction.name
    if name not in MEASUREMENTS:
        raise ValueError(
            f"The tag [{tag}] makes no sense on {name}. Readout noise belongs to a measurement of qubits:"
            f" {_EXAMPLE}."
        )
    values = _NAMED.fullmatch(found["rest"])
    if values is None:
        raise ValueError(f"Malformed tag [{tag}] on {name}: readout noise is written {_EXAMPLE}.")
    noise = _checked(float(values[1]), float(values[2]))
    arguments = instruction.gate_args_copy()
    if not arguments:
        raise ValueError(
            f"{name}[{tag}] has no number in parentheses, as stim.Circuit.without_noise leaves it. With the"
            f" noise, write {name}[{noise.tag}]({noise.number!r}), whose number is the mean of p01 and p10;"
            f" without, write {name} with no tag, or call without_noise() of stim_nonclifford.Circuit."
        )
    if not math.isclose(arguments[0], noise.mean, rel_tol=_ROUNDING, abs_tol=1e-300):
        raise ValueError(
            f"The number in parentheses of {name}[{tag}]({arguments[0]!r}) must be the mean of p01 and p10,"
            f" which is {noise.number!r}: it is what Stim reads. For other noise, change the tag."
        )
    return noise


def readout_head(name: str, tag: str | None, arguments: Sequence[float]) -> str | None:
    """The text before the targets of a measurement (in upper case) with two probabilities; None for others.

    Examples:
        >>> readout_head("M", None, [0.01, 0.05])
        'M[READOUT_NOISE(p01=0.01, p10=0.05)](0.03)'
    """
    if len(arguments) != 2 or name not in NOISY_MEASUREMENTS:
        return None
    check_free_tag(name, tag, "two")
    noise = _checked(*arguments)
    return f"{name}[{noise.tag}]({noise.number!r})"


def bare_readout(instruction: stim.CircuitInstruction, noise: ReadoutNoise) -> str:
    """The text of a measurement with readout noise without the tag.

    Examples:
        >>> (instruction,) = stim.Circuit("M[READOUT_NOISE(p01=0.01, p10=0.05)](0.03) !0")
        >>> bare_readout(instruction, readout_noise_of(instruction))
        'M(0.01, 0.05) !0'
    """
    plain = str(stim.CircuitInstruction(instruction.name, instruction.targets_copy()))
    return f"{instruction.name}({noise.p01!r}, {noise.p10!r}){plain[len(instruction.name) :]}"


def without_noise(circuit: stim.Circuit) -> stim.Circuit:
    """A tagged circuit without noise, as by ``stim.Circuit.without_noise``, and tags of readout noise."""

    def stand_in(part: stim.CircuitInstruction) -> stim.Circuit | None:
        if part.name in MEASUREMENTS and _TAG.fullmatch(part.tag):
            return circuit_of(without_tag(part))
        return None

    return with_replaced(circuit.without_noise(), stand_in)


def _checked(p01: float, p10: float) -> ReadoutNoise:
    problem = probability_problem(p01) or probability_problem(p10)
    if problem:
        raise ValueError(f"{READOUT_NOISE}: {problem}.")
    return ReadoutNoise(p01, p10)
