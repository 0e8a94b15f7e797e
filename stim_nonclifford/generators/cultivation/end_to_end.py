"""Magic state cultivation end to end: injection, cultivation and the escape into a large code."""

from __future__ import annotations

from typing import Literal, get_args

import stim

from ...base.arguments import choice, integer, integer_or_none
from .builder import CircuitBuilder, GateChoice
from .color_code import ColorCode
from .injections.injection import InjectionChoice
from .matchable.escape import append_matchable_escape
from .matchable.grafted_code import GraftedCode
from .matchable.grafts import GRAFTS
from .matchable.readout import append_surface_readout
from .noise import NoiseChoice, add_noise, noise_model
from .protocol import (
    UnavailableError,
    append_inject_and_cultivate,
    chosen_trees,
    cultivated_codes,
    extra_sites,
)
from .stages.cat_trees import VariantChoice
from .stages.escape import append_escape
from .stages.final_check import append_decoded_check, append_logical_readout

DEFAULT_ROUNDS = 5
_LARGEST, _MOST_ROUNDS = 1001, 1_000_000

ReadoutChoice = Literal["T", "expectation_values"]
READOUT_CHOICES: tuple[ReadoutChoice, ...] = get_args(ReadoutChoice)
EscapeChoice = Literal["color", "matchable"]
ESCAPE_CHOICES: tuple[EscapeChoice, ...] = get_args(EscapeChoice)


def end_to_end_circuit(
    distance: int = 3,
    escape_distance: int = 7,
    p: float = 1e-3,
    gate: GateChoice = "T",
    noise: NoiseChoice = "uniform",
    injection: InjectionChoice = "unitary",
    *,
    postselected_rounds: int | None = None,
    rounds: int = DEFAULT_ROUNDS,
    variant: VariantChoice = "published",
    readout: ReadoutChoice = "T",
    escape: EscapeChoice = "color",
) -> stim.Circuit:
    """Returns a circuit of injection, cultivation and escape, with noiseless checks at its end.

    How the state is read out decides what the circuit is for:

    * `readout="T"`: the T gate is undone about logical Z and logical X is measured, without noise. Observable
      0 is 0 for the wanted state and 1 for the orthogonal one. **All detectors postselect**, and everything
      that counts flips of observables counts logical errors: `Circuit.logical_error_rate`, `sample_counts`,
      Sinter's sampler `soft_postselect`.
    * `readout="expectation_values"`: for a decoder. The detectors of cultivation and of the first rounds
      after the escape postselect; those of later rounds and of the final check are for a decoder of color
      codes, such as Chromobius. Expectation values 0 and 1 are those of logical X and Y, and observables 0
      and 1 are their flips, which the decoder predicts. In the frame that it predicts, the wanted state has
      the values (1/√2, 1/√2), and (0, 1) in the S-proxy. The observables are random without noise, and
      their flips are no logical errors: decode with `SoftDecodingSampler(state_check="T")`, or pass
      `state_check="T"` to `logical_error_rate`.

    There is no readout for both. An X on a data qubit that a decoder would correct turns the sign of the T
    gate of the readout around. The decoder learns of it too late: half of such shots have the wrong outcome.

    Args:
        distance: Distance of the code that is cultivated, one of `AVAILABLE_DISTANCES`.
        escape_distance: Distance of the code after the escape, odd and larger than `distance`.
        p: Noise strength, a probability; see `stim_nonclifford.generators.cultivation.noise`.
        gate: "T" for T gates, "S" for the S-proxy; see `cultivation_circuit`.
        noise: Name of the noise model; see `cultivation_circuit`.
        injection: Name of the injection; see `cultivation_circuit`.
        postselected_rounds: Number of syndrome cycles after the escape that postselect; `distance` if None.
        rounds: Number of syndrome cycles after these, whose detectors are for the decoder, if there is one.
        variant: Variant of the cultivation; see `cultivation_circuit`.
        readout: "T" or "expectation_values"; see above.
        escape: "color": into a color code. "matchable": into a rotated surface code, which matching decodes;
            from distance 3, or from 5 into at least 9. `postselected_rounds` is then 0 if None, and rounds
            are those of the surface code. Before them, the color code is grafted onto it; see
            `matchable.escape`.

    Returns:
        The circuit. Without noise, all detectors are 0. Detectors have the coordinates (x, y, moment, color,
        postselect): the color is that of Chromobius (0 to 2 for red, green and blue X checks, 3 to 5 for Z
        checks, -1 for others); postselect is 1 or 0. After a matchable escape, they have the coordinates of
        the circuits of arXiv 2409.17595, (x, y, moment, color, kind): kind is -9 for detectors that
        postselect, 0 and 4 for those that a decoder must know, too, 6 and 7 for X and Z checks of the
        surface code, 1, 2, 3 and 5 for others that errors of the color code flip.

    Raises:
        ValueError: An argument has none of the values above.

    Examples:
        >>> import stim_nonclifford as snc
        >>> circuit = snc.Circuit(end_to_end_circuit(3, 7, 1e-3, postselected_rounds=1, rounds=1))
        >>> rate = circuit.logical_error_rate(postselection_mask="all", relative_error=1e-3, seed=1)
        >>> print(f"{rate.logical_error_rate:.2e}")
        5.14e-06
        >>> circuit = end_to_end_circuit(3, 7, rounds=5, readout="expectation_values")
        >>> circuit.num_qubits, circuit.num_detectors
        (75, 340)
        >>> coordinates = circuit.get_detector_coordinates().values()
        >>> sum(postselect for *_, postselect in coordinates)
        124.0
        >>> circuit = end_to_end_circuit(3, 15, escape="matchable", readout="expectation_values")
        >>> circuit.num_qubits, circuit.num_ticks
        (449, 103)
        >>> circuit = end_to_end_circuit(5, 15, escape="matchable", readout="expectation_values")
        >>> circuit.num_qubits, circuit.num_ticks
        (450, 174)
        >>> end_to_end_circuit(5, 5)  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
            ...
        UnavailableError: escape_distance must be odd and larger than distance=5, but is 5
    """
    model = noise_model(noise, p)
    builder = build_noiseless_end_to_end(
        distance,
        escape_distance,
        gate,
        injection,
        postselected_rounds=postselected_rounds,
        rounds=rounds,
        variant=variant,
        readout=readout,
        escape=escape,
    )
    return add_noise(builder.circuit, model)


def build_noiseless_end_to_end(
    distance: int,
    escape_distance: int,
    gate: GateChoice = "T",
    injection: InjectionChoice = "unitary",
    *,
    postselected_rounds: int | None = None,
    rounds: int = DEFAULT_ROUNDS,
    variant: VariantChoice = "published",
    readout: ReadoutChoice = "T",
    escape: EscapeChoice = "color",
) -> CircuitBuilder:
    """Writes the circuit without noise, and notes its stages.

    Its arguments, and what it refuses, are those of `end_to_end_circuit`.

    Examples:
        >>> arguments = {"postselected_rounds": 1, "rounds": 2, "readout": "expectation_values"}
        >>> for stage in build_noiseless_end_to_end(3, 7, **arguments).stages:
        ...     print(stage.first_moment, stage.name)
        0 unitary injection
        15 syndrome cycle d=3
        25 cat check d=3
        39 escape d=7
        44 syndrome cycle d=7
        54 decoded syndrome cycle d=7
        64 decoded syndrome cycle d=7
        74 final check
    """
    codes = cultivated_codes(distance)
    trees = chosen_trees(codes, variant)
    escape_distance = integer(escape_distance, "escape_distance", 5, _LARGEST)
    if escape_distance <= distance or escape_distance % 2 == 0:
        raise UnavailableError(
            f"escape_distance must be odd and larger than distance={distance}, but is {escape_distance}"
        )
    rounds = integer(rounds, "rounds", 0, _MOST_ROUNDS)
    postselected_rounds = integer_or_none(postselected_rounds, "postselected_rounds", 0, _MOST_ROUNDS)
    readout = choice(readout, "readout", READOUT_CHOICES)
    escape = choice(escape, "escape", ESCAPE_CHOICES)
    if postselected_rounds is None:
        postselected_rounds = default_postselected_rounds(distance, escape)
    if postselected_rounds + rounds == 0:
        raise ValueError("postselected_rounds and rounds must not both be 0: the final check needs a cycle")
    decodes = readout == "expectation_values"
    extra = extra_sites(trees, injection)
    if escape == "matchable":
        _check_graft(distance, escape_distance)
        grafted = GraftedCode.of_distances(distance, escape_distance)
        builder = CircuitBuilder(sorted({*grafted.sites, *extra}), gate=gate, grafted=True)
        append_inject_and_cultivate(builder, codes, injection, trees)
        last = append_matchable_escape(
            builder,
            grafted,
            postselected_rounds=postselected_rounds,
            rounds=rounds,
            all_postselect=not decodes,
        )
        append_surface_readout(builder, grafted.patch, last, decodes=decodes)
        return builder
    large = ColorCode.triangular(escape_distance)
    builder = CircuitBuilder(large.sites(extra=extra), gate=gate, colored=True)
    append_inject_and_cultivate(builder, codes, injection, trees)
    last = append_escape(
        builder,
        codes[-1],
        large,
        postselected_rounds=postselected_rounds,
        rounds=rounds,
        all_postselect=not decodes,
    )
    (append_decoded_check if decodes else append_logical_readout)(builder, large, last)
    return builder


def default_postselected_rounds(distance: int, escape: EscapeChoice) -> int:
    """The number of rounds that postselect if none is given; see `end_to_end_circuit`."""
    return distance if escape == "color" else 0


def _check_graft(distance: int, escape_distance: int) -> None:
    if distance not in GRAFTS:
        available = " or ".join(str(d) for d in GRAFTS)
        raise UnavailableError(
            f"The matchable escape starts from distance {available}, but distance is {distance}."
            " Choose one of these or escape='color'."
        )
    least = GRAFTS[distance].least_distance
    if escape_distance < least:
        raise UnavailableError(
            f"The matchable escape from distance {distance} needs an escape_distance of at least {least}, but"
            f" it is {escape_distance}. Choose a larger one or escape='color'."
        )
