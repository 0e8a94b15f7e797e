"""Angles and times of other languages: radians to half-turns, and delays to relaxation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...base.arguments import positive, positive_or_none

_FINEST = 64
_ROUNDING = 1e-12
_LARGEST_ROUNDING = 1e-9

PERIOD = 4.0
"""In half-turns: a rotation by that much is the identity, its phase included."""

_PI = Fraction(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534"
)
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "ps": 1e-12}


def half_turns_of(radians: float) -> float:
    """An angle in half-turns, less whole periods of four.

    A multiple of π/64 is recognized from twelve digits, so that π/4 is the angle of a T gate although the
    number is rounded.

    Examples:
        >>> half_turns_of(3 * math.pi / 4), half_turns_of(0.785398163397), half_turns_of(4.25 * math.pi)
        (0.75, 0.25, 0.25)
        >>> half_turns_of(0.7853981)
        0.2499999...
    """
    turns = radians / math.pi
    if not abs(turns) > PERIOD or not math.isfinite(turns):
        return snapped(turns)
    nearest = snapped(turns)
    if (nearest * _FINEST).is_integer() and abs(turns) < 1 / _LARGEST_ROUNDING:
        return reduced(nearest)
    # Division by a rounded π loses digits of a large angle.
    return math.remainder(float(Fraction(radians) / _PI % 4), 4)


def reduced(half_turns: float) -> float:
    """An angle of a rotation between -4 and 4 half-turns; those that are there already are kept."""
    return math.fmod(half_turns, PERIOD) if abs(half_turns) > PERIOD else half_turns


def snapped(half_turns: float) -> float:
    """The nearest multiple of 1/64, if it differs by rounding alone; see ``half_turns_of``."""
    if not math.isfinite(half_turns):
        return half_turns
    nearest = round(half_turns * _FINEST) / _FINEST
    tolerance = min(_ROUNDING * max(1.0, abs(nearest)), _LARGEST_ROUNDING)
    return nearest if abs(half_turns - nearest) < tolerance else half_turns


@dataclass(frozen=True)
class Delays:
    """What becomes of delays: relaxation, or an identity with a note."""

    # T1 and T2 in seconds of each qubit, or of all of them; None if delays are kept as notes.
    times: Mapping[int, tuple[float, float]] | tuple[float, float] | None = None
    dt: float | None = None  # the time step ``dt`` of a device in seconds; None if it is not known

    @classmethod
    def of(cls, relaxation_times: Any, dt: Any) -> Delays:
        """The delays for arguments of users."""
        dt = positive_or_none(dt, "dt")
        if relaxation_times is None:
            return cls(None, dt)
        if isinstance(relaxation_times, Mapping):
            pairs = {qubit: _pair(value, f" of qubit {qubit!r}") for qubit, value in relaxation_times.items()}
            return cls(pairs, dt)
        return cls(_pair(relaxation_times, ""), dt)

    def text(self, qubit: int, amount: float, unit: str) -> str:
        """A line of circuit text for a delay of a qubit, in the unit s, ms, us, ns, ps or dt."""
        if not 0 <= amount < math.inf:
            raise ValueError(f"the duration {amount!r} {unit} is negative or not finite.")
        if unit not in SECONDS and unit != "dt":
            raise ValueError(f"the unit {unit!r} of the duration is none of s, ms, us, ns, ps, dt.")
        if self.times is None:
            return f"I[delay:{amount!r}{unit}] {qubit}"
        if isinstance(self.times, tuple):
            t1, t2 = self.times
        elif qubit in self.times:
            t1, t2 = self.times[qubit]
        else:
            raise ValueError(f"relaxation_times has no times of qubit {qubit}. Add {qubit}: (T1, T2).")
        if unit == "dt" and self.dt is None:
            raise ValueError("the delay is in units of dt. Pass dt, its duration in seconds.")
        seconds = amount * (self.dt if unit == "dt" and self.dt is not None else SECONDS[unit])
        return f"THERMAL_RELAXATION({seconds / t1!r}, {seconds / t2!r}) {qubit}"


def _pair(value: Any, whose: str) -> tuple[float, float]:
    wanted = f"relaxation_times{whose} must be a pair (T1, T2) in seconds, or a dictionary of qubits to pairs"
    pair = tuple(value) if isinstance(value, tuple | list) else ()
    if len(pair) != 2:
        raise ValueError(f"{wanted}; got {value!r}.")
    t1, t2 = (positive(each, f"each time in relaxation_times{whose}") for each in pair)
    if t2 > 2 * t1 * (1 + 1e-12):
        raise ValueError(f"{wanted}, and T2 cannot be longer than 2 T1; got {value!r}.")
    return t1, t2
