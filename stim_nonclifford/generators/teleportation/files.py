"""Names of circuit files, which contain the parameters."""

from __future__ import annotations

from typing import Literal, get_args

from ...base.arguments import choice, integer, integer_among, number, probability
from ..cultivation.builder import GATE_CHOICES, GateChoice
from ..cultivation.files import joined
from ..cultivation.noise import NOISE_CHOICES, NoiseChoice
from .protocol import (
    AVAILABLE_DISTANCES,
    CORRECTION_CHOICES,
    INPUT_CHOICES,
    MAGIC_CHOICES,
    MOST_ATTEMPTS,
    S_GATE_CHOICES,
    CorrectionChoice,
    InputChoice,
    MagicChoice,
    SGateChoice,
)

ProtocolChoice = Literal["injection", "teleportation"]
PROTOCOL_CHOICES: tuple[ProtocolChoice, ...] = get_args(ProtocolChoice)


def circuit_file_name(
    *,
    protocol: ProtocolChoice = "teleportation",
    distance: int,
    p: float,
    gate: GateChoice,
    noise: NoiseChoice,
    correction: CorrectionChoice = "gate",
    input: InputChoice = "plus",
    s_gate: SGateChoice = "ideal",
    magic: MagicChoice = "injected",
    magic_error: float | None = None,
    attempts: int = 1,
    gap: float | None = None,
) -> str:
    """Returns the name of the file of a circuit, composed of its parameters.

    The name is a list of `key=value` terms, which Sinter turns into metadata (`sinter collect
    --metadata_func auto`): `c` (the protocol), `correction` (of a teleported gate), `d` (distance), `g`
    (gate: T, or S for the S-proxy), `noise` and `p` (noise strength); and `input`, `magic` and `s` (the S
    gate) of a teleported gate, unless they are "plus", "injected" and "ideal"; and `magic_error`, `attempts`
    and `gap`, unless there is none or one.

    Args:
        protocol: "injection" or "teleportation".
        distance: Distance of the patches.
        p: Noise strength.
        gate: "T" or "S".
        noise: Name of the noise model.
        correction: "gate", "software" or "decoded"; an injection has none, and none of the following.
        input: "plus" or "bell".
        s_gate: "ideal" or "patch".
        magic: "injected", "cultivated" or "perfect".
        magic_error: The error of a cultivated T state.
        attempts: How often an injection is tried at most.
        gap: The gap in decibels from which on it is accepted.

    Returns:
        The name, without a folder.

    Raises:
        TypeError: A parameter is of the wrong type.
        ValueError: A parameter is not one that the functions of the protocols accept.

    Examples:
        >>> circuit_file_name(distance=3, p=1e-3, gate="T", noise="uniform")
        'c=teleportation,correction=gate,d=3,g=T,noise=uniform,p=0.001.stim'
        >>> circuit_file_name(protocol="injection", distance=5, p=1e-3, gate="S", noise="uniform")
        'c=injection,d=5,g=S,noise=uniform,p=0.001.stim'
    """
    terms: dict[str, object] = {"c": choice(protocol, "protocol", PROTOCOL_CHOICES)}
    correction = choice(correction, "correction", CORRECTION_CHOICES)
    others = {
        "input": choice(input, "input", INPUT_CHOICES),
        "magic": choice(magic, "magic", MAGIC_CHOICES),
        "s": choice(s_gate, "s_gate", S_GATE_CHOICES),
    }
    if protocol == "teleportation":
        terms["correction"] = correction
    terms |= {
        "d": integer_among(distance, "distance", AVAILABLE_DISTANCES),
        "g": choice(gate, "gate", GATE_CHOICES),
        "noise": choice(noise, "noise", NOISE_CHOICES),
        "p": probability(p, "p"),
    }
    if protocol == "teleportation":
        usual = ("plus", "injected", "ideal")
        terms |= {key: value for key, value in others.items() if value not in usual}
        if magic_error is not None:
            terms["magic_error"] = probability(magic_error, "magic_error")
        if integer(attempts, "attempts", 1, MOST_ATTEMPTS) > 1:
            terms["attempts"] = attempts
        if gap is not None:
            terms["gap"] = number(gap, "gap", 0)
    return joined(terms)
