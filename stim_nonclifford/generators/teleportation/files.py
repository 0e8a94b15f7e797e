"""Names of circuit files, which contain the parameters."""

from __future__ import annotations

from typing import Literal, get_args

from ...base.arguments import choice, integer_among, probability
from ..cultivation.builder import GATE_CHOICES, GateChoice
from ..cultivation.files import joined
from ..cultivation.noise import NOISE_CHOICES, NoiseChoice
from .protocol import AVAILABLE_DISTANCES, CORRECTION_CHOICES, CorrectionChoice

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
) -> str:
    """Returns the name of the file of a circuit, composed of its parameters.

    The name is a list of `key=value` terms, which Sinter turns into metadata (`sinter collect
    --metadata_func auto`): `c` (the protocol), `correction` (of a teleported gate), `d` (distance), `g`
    (gate: T, or S for the S-proxy), `noise` and `p` (noise strength).

    Args:
        protocol: "injection" or "teleportation".
        distance: Distance of the patches.
        p: Noise strength.
        gate: "T" or "S".
        noise: Name of the noise model.
        correction: "gate" or "software"; an injection has none.

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
    if protocol == "teleportation":
        terms["correction"] = correction
    terms |= {
        "d": integer_among(distance, "distance", AVAILABLE_DISTANCES),
        "g": choice(gate, "gate", GATE_CHOICES),
        "noise": choice(noise, "noise", NOISE_CHOICES),
        "p": probability(p, "p"),
    }
    return joined(terms)
