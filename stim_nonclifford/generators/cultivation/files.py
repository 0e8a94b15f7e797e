"""Names of circuit files, which contain the parameters."""

from __future__ import annotations

from collections.abc import Mapping

from ...base.arguments import choice, integer, integer_among, integer_or_none, probability
from .builder import GATE_CHOICES, GateChoice
from .end_to_end import (
    DEFAULT_ROUNDS,
    ESCAPE_CHOICES,
    READOUT_CHOICES,
    EscapeChoice,
    ReadoutChoice,
    default_postselected_rounds,
)
from .injections.injection import InjectionChoice
from .noise import NOISE_CHOICES, NoiseChoice
from .protocol import AVAILABLE_DISTANCES, INJECTION_CHOICES
from .stages.cat_trees import VARIANT_CHOICES, VariantChoice


def circuit_file_name(
    *,
    distance: int,
    p: float,
    gate: GateChoice,
    noise: NoiseChoice,
    injection: InjectionChoice = "unitary",
    variant: VariantChoice = "published",
) -> str:
    """Returns the name of the file of a circuit, composed of its parameters.

    The name is a list of `key=value` terms, which Sinter turns into metadata (`sinter collect
    --metadata_func auto`): `c` (the stages of the protocol), `d` (distance), `g` (gate: T, or S for the
    S-proxy), `injection` (left out if it is unitary), `noise`, `p` (noise strength) and `variant` (left out
    if it is the published one).

    Args:
        distance: Distance of the color code.
        p: Noise strength.
        gate: "T" or "S".
        noise: Name of the noise model.
        injection: Name of the injection.
        variant: Name of the variant.

    Returns:
        The name, without a folder.

    Raises:
        TypeError: A parameter is of the wrong type.
        ValueError: A parameter is not one that `cultivation_circuit` accepts.

    Examples:
        >>> name = circuit_file_name(distance=3, p=1e-3, gate="T", noise="uniform")
        >>> name
        'c=inject+cultivate,d=3,g=T,noise=uniform,p=0.001.stim'
        >>> import sinter
        >>> sinter.comma_separated_key_values(name)
        {'c': 'inject+cultivate', 'd': 3, 'g': 'T', 'noise': 'uniform', 'p': 0.001}
        >>> circuit_file_name(distance=5, p=1e-3, gate="S", noise="si1000", injection="bell")
        'c=inject+cultivate,d=5,g=S,injection=bell,noise=si1000,p=0.001.stim'
        >>> circuit_file_name(distance=5, p=1e-3, gate="T", noise="uniform", variant="flagged")
        'c=inject+cultivate,d=5,g=T,noise=uniform,p=0.001,variant=flagged.stim'
    """
    terms: dict[str, object] = {
        "c": "inject+cultivate",
        "d": integer_among(distance, "distance", AVAILABLE_DISTANCES),
        "g": choice(gate, "gate", GATE_CHOICES),
    }
    if choice(injection, "injection", INJECTION_CHOICES) != "unitary":
        terms["injection"] = injection
    terms |= {"noise": choice(noise, "noise", NOISE_CHOICES), "p": probability(p, "p")}
    if choice(variant, "variant", VARIANT_CHOICES) != "published":
        terms["variant"] = variant
    return joined(terms)


def end_to_end_file_name(
    *,
    distance: int,
    escape_distance: int,
    p: float,
    gate: GateChoice,
    noise: NoiseChoice,
    injection: InjectionChoice = "unitary",
    postselected_rounds: int | None = None,
    rounds: int = DEFAULT_ROUNDS,
    variant: VariantChoice = "published",
    readout: ReadoutChoice = "T",
    escape: EscapeChoice = "color",
) -> str:
    """Returns the name of the file of an end-to-end circuit.

    It has the terms of `circuit_file_name`, and `d2` (distance after the escape), `post` (rounds that
    postselect), `r` (rounds for the decoder), `readout` and `escape` (left out if it is "color"). The
    arguments are those of `end_to_end_circuit`.

    Examples:
        >>> end_to_end_file_name(distance=3, escape_distance=9, p=1e-3, gate="T", noise="uniform", rounds=5)
        'c=inject+cultivate+escape,d=3,d2=9,g=T,noise=uniform,p=0.001,post=3,r=5,readout=T.stim'
    """
    terms: dict[str, object] = {
        "c": "inject+cultivate+escape",
        "d": integer_among(distance, "distance", AVAILABLE_DISTANCES),
        "d2": integer(escape_distance, "escape_distance"),
        "g": choice(gate, "gate", GATE_CHOICES),
    }
    if choice(injection, "injection", INJECTION_CHOICES) != "unitary":
        terms["injection"] = injection
    terms |= {"noise": choice(noise, "noise", NOISE_CHOICES), "p": probability(p, "p")}
    postselected_rounds = integer_or_none(postselected_rounds, "postselected_rounds")
    escape = choice(escape, "escape", ESCAPE_CHOICES)
    if postselected_rounds is None:
        postselected_rounds = default_postselected_rounds(distance, escape)
    terms["post"] = postselected_rounds
    terms["r"] = integer(rounds, "rounds")
    terms["readout"] = choice(readout, "readout", READOUT_CHOICES)
    if choice(variant, "variant", VARIANT_CHOICES) != "published":
        terms["variant"] = variant
    if escape != "color":
        terms["escape"] = escape
    return joined(terms)


def joined(terms: Mapping[str, object]) -> str:
    """Joins the terms of a file name."""
    return ",".join(f"{key}={value}" for key, value in terms.items()) + ".stim"
