"""Magic state cultivation: all stages in order, with noise."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import stim

from ...base.arguments import choice, integer_among
from .builder import CircuitBuilder, GateChoice
from .color_code import ColorCode, Coord
from .injections.injection import INJECTIONS, InjectionChoice
from .noise import NoiseChoice, add_noise, noise_model
from .stages.cat_check import append_double_cat_check
from .stages.cat_trees import CAT_TREES, FLAGGED_CAT_TREES, VARIANT_CHOICES, CatTree, VariantChoice
from .stages.final_check import append_final_check
from .stages.growth import append_growth
from .stages.syndrome_cycle import append_syndrome_cycle

AVAILABLE_DISTANCES: tuple[int, ...] = tuple(CAT_TREES)
INJECTION_CHOICES: tuple[InjectionChoice, ...] = tuple(INJECTIONS)


class UnavailableError(ValueError):
    """Arguments that are allowed each by itself, but of which there is no circuit together."""


def cultivation_circuit(
    distance: int = 3,
    p: float = 1e-3,
    gate: GateChoice = "T",
    noise: NoiseChoice = "uniform",
    injection: InjectionChoice = "unitary",
    variant: VariantChoice = "published",
) -> stim.Circuit:
    """Returns a circuit of injection and cultivation, with a noiseless final check at its end.

    Every detector postselects: a shot in which one fires is discarded. Observable 0 of a kept shot is
    flipped if its logical state is wrong.

    Args:
        distance: Distance of the color code, one of `AVAILABLE_DISTANCES`.
        p: Noise strength, a probability; see `stim_nonclifford.generators.cultivation.noise`.
        gate: "T" for T gates, written as the tagged gates `S[T]` and `S_DAG[T]`; "S" for the
            S-proxy, with plain S and S_DAG in their place.
        noise: Name of the noise model: "uniform" (depolarizing), "si1000" (superconducting inspired)
            or "none" (p is ignored).
        injection: How the T state is injected into the code, one of `INJECTION_CHOICES`.
        variant: "published", or "flagged" (distance 5 only): the last cat check has flags that see hook
            errors, and with T gates a larger fault distance; see `cat_trees`.

    Returns:
        The circuit. Without noise all detectors and the observable are 0, for T gates and for the
        S-proxy. Qubits are numbered in the order of their coordinates. Detectors have the coordinates
        (x, y, moment, 1), where the non-zero fourth coordinate means "postselect".

    Raises:
        ValueError: An argument has none of the values above.

    Examples:
        >>> circuit = cultivation_circuit(distance=3, p=5e-4)
        >>> sum(instruction.tag == "T" for instruction in circuit)
        5
        >>> circuit == cultivation_circuit(3, p=5e-4, gate="S")
        False
        >>> cultivation_circuit(distance=5).num_qubits
        42
        >>> cultivation_circuit(distance=11)
        Traceback (most recent call last):
            ...
        ValueError: distance must be 3, 5, 7 or 9, but is 11.
    """
    model = noise_model(noise, p)
    return add_noise(build_noiseless(distance, gate, injection, variant).circuit, model)


def build_noiseless(
    distance: int,
    gate: GateChoice = "T",
    injection: InjectionChoice = "unitary",
    variant: VariantChoice = "published",
) -> CircuitBuilder:
    """Writes the circuit without noise, and notes its stages.

    Its arguments, and what it refuses, are those of `cultivation_circuit`.

    Examples:
        >>> for stage in build_noiseless(5).stages:
        ...     print(stage.first_moment, stage.name)
        0 unitary injection
        15 syndrome cycle d=3
        25 cat check d=3
        39 growth d=5
        44 syndrome cycle d=5
        54 syndrome cycle d=5
        64 syndrome cycle d=5
        74 cat check d=5
        94 final check
    """
    codes = cultivated_codes(distance)
    trees = chosen_trees(codes, variant)
    builder = CircuitBuilder(codes[-1].sites(extra=extra_sites(trees, injection)), gate=gate)
    append_inject_and_cultivate(builder, codes, injection, trees)
    append_final_check(builder, codes[-1])
    return builder


def cultivated_codes(distance: int) -> list[ColorCode]:
    """Lists the codes that cultivation goes through, from distance 3 to `distance`."""
    integer_among(distance, "distance", AVAILABLE_DISTANCES)
    return [ColorCode.triangular(d) for d in range(3, distance + 1, 2)]


def chosen_trees(codes: Sequence[ColorCode], variant: VariantChoice) -> list[CatTree]:
    """Lists the trees of the cat checks, one for each code."""
    variant = choice(variant, "variant", VARIANT_CHOICES)
    trees = [CAT_TREES[code.distance] for code in codes]
    if variant == "flagged":
        distance = codes[-1].distance
        if distance not in FLAGGED_CAT_TREES:
            available = ", ".join(str(d) for d in FLAGGED_CAT_TREES)
            raise UnavailableError(
                f"variant 'flagged' is not available at distance {distance}; distances available: {available}"
            )
        trees[-1] = FLAGGED_CAT_TREES[distance]
    return trees


def extra_sites(trees: Sequence[CatTree], injection: InjectionChoice) -> list[Coord]:
    """Lists sites that injection and cultivation use beside those of the codes.

    Some may be sites of a code, too.
    """
    injection = choice(injection, "injection", INJECTION_CHOICES)
    flags = [site for tree in trees for site in (*tree.flags, *tree.hook_flags)]
    return [*INJECTIONS[injection].extra_sites, *flags]


def append_inject_and_cultivate(
    builder: CircuitBuilder,
    codes: Sequence[ColorCode],
    injection: InjectionChoice,
    trees: Sequence[CatTree],
) -> None:
    """Appends injection and cultivation to a circuit without operations."""
    chosen = INJECTIONS[injection]
    chosen.append(builder)
    append_syndrome_cycle(builder, codes[0], arriving=chosen.arriving)
    append_double_cat_check(builder, codes[0], trees[0])
    for (small, large), tree in zip(pairwise(codes), trees[1:], strict=True):
        append_growth(builder, small, large)
        append_double_cat_check(builder, large, tree)
