"""Quasi-static noise: turns about Z by an angle that is drawn once for each shot and qubit.

``QUASISTATIC(sigma) 0`` turns qubit 0 by sigma·x half-turns, where x is a normal deviate that is the same
at all such places of the qubit in a shot. ``QUASISTATIC_VALUES(a, p, b, q) 0`` turns it by a half-turns with
probability p, and by b with q; which of them it is, is drawn once for a shot and qubit, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import stim

from .channel_tags import ChannelDefinition, TaggedChannel, probability_problem, read_channel

MAX_VALUES = 64
"""How many values a list may have."""

_ROUNDING = 1e-9
"""By how much the sum of weights may differ from 1."""


@dataclass(frozen=True)
class Quasistatic(TaggedChannel):
    """A turn by quasi-static noise, as read from a tag."""

    @property
    def angles(self) -> tuple[float, ...]:
        """The angles in half-turns; of a Gaussian one, the standard deviation alone."""
        return self.values[::2]

    @property
    def weights(self) -> tuple[float, ...]:
        """The probabilities of the angles; none for a Gaussian one."""
        return self.values[1::2]

    @property
    def twirl(self) -> float:
        """The probability of a Z in the Pauli twirl: the mean of sin² of half the angle."""
        if not self.weights:
            return -math.expm1(-((math.pi * self.angles[0]) ** 2) / 2) / 2
        turned = (math.sin(math.pi / 2 * angle) ** 2 for angle in self.angles)
        return min(1.0, math.fsum(p * z for p, z in zip(self.weights, turned, strict=True)))


def _angle_problem(angle: float) -> str:
    return "" if math.isfinite(angle) else f"angles must be finite numbers, but one is {angle!r}"


def _values_problem(*values: float) -> str:
    if not values or len(values) % 2 or len(values) > 2 * MAX_VALUES:
        return (
            f"it takes from 1 to {MAX_VALUES} pairs of an angle in half-turns and its probability; got"
            f" {len(values)} arguments"
        )
    angles, weights = values[::2], values[1::2]
    problem = next(filter(None, [*map(_angle_problem, angles), *map(probability_problem, weights)]), "")
    total = math.fsum(weights)
    off = f"the probabilities must add up to 1, but their sum is {total:.9g}"
    return problem or (off if abs(total - 1) > _ROUNDING else "")


_DEFINITIONS = (
    ChannelDefinition(
        "QUASISTATIC",
        "R_Z(σx), where x is a normal deviate: one for each shot and qubit",
        ("sigma",),
        _angle_problem,
        (0.01,),
    ),
    ChannelDefinition(
        "QUASISTATIC_VALUES",
        "R_Z of one of these angles in half-turns, each of which has a probability: the number of the angle"
        " is drawn once for each shot and qubit",
        ("angle", "probability", "..."),
        _values_problem,
        (-0.01, 0.5, 0.01, 0.5),
        is_list=True,
    ),
)

QUASISTATIC: Mapping[str, ChannelDefinition] = MappingProxyType({each.name: each for each in _DEFINITIONS})
"""The channels by their names."""


def quasistatic_of(instruction: stim.CircuitInstruction) -> Quasistatic | None:
    """The quasi-static noise for which the tag of an instruction stands, or None.

    Examples:
        >>> tag = "QUASISTATIC_VALUES(-0.5, 0.25, 0.5, 0.75)"
        >>> channel = quasistatic_of(stim.CircuitInstruction("I_ERROR", [0], tag=tag))
        >>> channel.angles, channel.weights, round(channel.twirl, 12)
        ((-0.5, 0.5), (0.25, 0.75), 0.5)
    """
    found = read_channel(instruction, QUASISTATIC)
    return None if found is None else Quasistatic(found.name, found.values)
