"""Noise channels of other simulators that this package does not have, and what it has instead.

Such a channel may be an instruction of its own (``AMPLITUDE_DAMPING(0.01) 0``) or a tag on an instruction
that does nothing (``I_ERROR[LEAKAGE:0.5](0.5) 0``). Both are refused, with a message that says what can be
written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

NOISE_CARRIERS = frozenset({"I_ERROR", "II_ERROR"})
"""Stim's channels that do nothing, and exist to carry the tags of other channels."""


@dataclass(frozen=True)
class _MissingChannel:
    """A kind of noise that is not simulated."""

    names: str  # the names of its instructions and the words of its tags, as a regular expression
    kind: str  # what it is called in messages
    instead: str  # what can be written instead
    in_tags: bool = False  # whether tags on other instructions than I_ERROR and II_ERROR stand for it too


_TABLE = (
    _MissingChannel(
        r"(HERALD_)?LEAK(AGE)?(_\w+)?|LEVEL_TRANSITION(_\w+)?",
        "This kind of leakage",
        "A qubit leaks in LEAKAGE(p), returns in RELAX(p), RL and resets, and a record says so in"
        " HERALD_LEAKAGE_EVENT(p).",
        in_tags=True,
    ),
    _MissingChannel(
        r"(HERALD_|CORRELATED_)?(LOSS|ERASURE)(_\w+)?|ERASE",
        "This kind of loss",
        "A qubit is lost in LOSS(p), resets replace it, and a record says so in HERALD_LOSS_EVENT(p). If it"
        " is replaced at once, write HERALDED_ERASE(p): it becomes completely mixed, and a record says so.",
        in_tags=True,
    ),
    _MissingChannel(
        r"(GENERALIZED_)?AMPLITUDE_DAMP(ING)?(_\w+)?|THERMAL_\w+|RELAX(ATION)?(_\w+)?",
        "This kind of relaxation",
        "Relaxation to |0> is AMPLITUDE_DAMPING(gamma), or THERMAL_RELAXATION(t/T1, t/T2); the return of"
        " leaked qubits is RELAX(p).",
        in_tags=True,
    ),
    _MissingChannel(r"PHASE_DAMP", "This name", "Write PHASE_DAMPING(lambda)."),
    _MissingChannel(r"DEPHAS(E|ING)(_\w+)?|PHASE_FLIP", "This name", "Write Z_ERROR(p)."),
    _MissingChannel(r"BIT_FLIP", "This name", "Write X_ERROR(p)."),
    _MissingChannel(r"BIT_PHASE_FLIP", "This name", "Write Y_ERROR(p)."),
    _MissingChannel(
        r"COHERENT_\w+|OVER_?ROTATION",
        "Coherent noise as a channel",
        "Write it as a gate, such as R_X(0.01) 0; the angle is in half-turns.",
    ),
    _MissingChannel(
        r"(DEPOLARIZE|PAULI_CHANNEL_)([4-9]|\d\d+)",
        "A channel on so many qubits",
        "Write its errors as a chain: E(p) X0 Y1 Z2 X3, then ELSE_CORRELATED_ERROR(p) for each further one.",
    ),
    _MissingChannel(
        r"READOUT_(NOISE|ERROR)(_\w+)?",
        "Readout noise as an instruction",
        "Write it at the measurement: M(p01, p10) 0 reads 0 as 1 with probability p01, and 1 as 0 with"
        " probability p10. M(p) 0 flips the record with probability p, whatever the outcome.",
        in_tags=True,
    ),
    _MissingChannel(
        r"KRAUS_\w+|KRAUS[3-9]|KRAUS1\d*",
        "This name of a channel that is given by its Kraus operators",
        "On one qubit, write KRAUS(...) with its operators, and on two KRAUS2(...); on more, gates with an"
        " ancilla that is reset.",
    ),
)


@lru_cache(maxsize=1024)
def _find(word: str) -> _MissingChannel | None:
    return next((channel for channel in _TABLE if re.fullmatch(channel.names, word)), None)


def advice_on_channel(word: str) -> str:
    """What there is in the place of a channel, or an empty text if the word names none.

    Examples:
        >>> print(advice_on_channel("phase_flip"))
        This name is not supported. Write Z_ERROR(p).
        >>> advice_on_channel("X_ERROR")
        ''
    """
    channel = _find(word.upper())
    return "" if channel is None else f"{channel.kind} is not supported. {channel.instead}"


def is_channel_in_tag(word: str) -> bool:
    """Whether a tag with this word stands for a channel of another simulator, on any instruction.

    Examples:
        >>> is_channel_in_tag("LEAKAGE_TRANSITION_1"), is_channel_in_tag("leakage is seen here")
        (True, False)
    """
    channel = _find(word.strip())
    return channel is not None and channel.in_tags
