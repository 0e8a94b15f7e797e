"""Writes circuit files, with names that contain the parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from ..base.arguments import choice, integer_among, path, probability
from ..cultivation.builder import GATE_CHOICES, GateChoice
from ..cultivation.noise import NOISE_CHOICES, NoiseChoice
from ..dialect import exact_text
from .protocol import (
    AVAILABLE_DISTANCES,
    CORRECTION_CHOICES,
    CorrectionChoice,
    injection_circuit,
    teleportation_circuit,
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
    return ",".join(f"{key}={value}" for key, value in terms.items()) + ".stim"


def write_circuit_file(
    folder: str | Path,
    *,
    protocol: ProtocolChoice = "teleportation",
    distance: int,
    p: float,
    gate: GateChoice,
    noise: NoiseChoice,
    correction: CorrectionChoice = "gate",
) -> Path:
    """Writes one circuit to a file, and replaces a file of that name.

    Args:
        folder: The folder of the file; created if it does not exist.
        protocol: "injection" or "teleportation".
        distance: Distance of the patches.
        p: Noise strength.
        gate: "T" or "S".
        noise: Name of the noise model.
        correction: "gate" or "software"; an injection has none.

    Returns:
        The path of the file.

    Raises:
        ValueError: A parameter is not one that `injection_circuit` or `teleportation_circuit` accepts.
        OSError: The file or its folder cannot be written.
    """
    folder = path(folder, "folder")
    if choice(protocol, "protocol", PROTOCOL_CHOICES) == "injection":
        circuit = injection_circuit(distance, p, gate, noise)
    else:
        circuit = teleportation_circuit(distance, p, gate, noise, correction)
    name = circuit_file_name(
        protocol=protocol, distance=distance, p=p, gate=gate, noise=noise, correction=correction
    )
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{exact_text(circuit)}\n", encoding="utf-8")
    return file
