"""Writes circuits of magic state cultivation: injection, cultivation, and the escape into a larger code."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product

import stim

from ...generators.cultivation.builder import GATE_CHOICES
from ...generators.cultivation.end_to_end import (
    DEFAULT_ROUNDS,
    ESCAPE_CHOICES,
    READOUT_CHOICES,
    end_to_end_circuit,
)
from ...generators.cultivation.files import circuit_file_name, end_to_end_file_name
from ...generators.cultivation.noise import NOISE_CHOICES
from ...generators.cultivation.protocol import AVAILABLE_DISTANCES, INJECTION_CHOICES, cultivation_circuit
from ...generators.cultivation.stages.cat_trees import VARIANT_CHOICES
from ..options import whole_number

__all__ = ["add_arguments", "add_noise", "circuits", "strengths_of"]

_ANY = whole_number(0, 2**31 - 1)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    add = parser.add_argument
    add(
        "--distance",
        "--d",
        type=_ANY,
        nargs="+",
        default=[3],
        help=f"distances of the color code: {', '.join(map(str, AVAILABLE_DISTANCES))} (default: 3)",
    )
    add(
        "--gate",
        choices=GATE_CHOICES,
        nargs="+",
        default=["T"],
        help="T: T gates, written as S[T]; S: the S-proxy, with S gates in their place (default: T)",
    )
    add_noise(parser)
    add(
        "--injection",
        choices=INJECTION_CHOICES,
        default="unitary",
        help="how the T state is injected into the code (default: unitary)",
    )
    add(
        "--variant",
        choices=VARIANT_CHOICES,
        default="published",
        help="flagged: distance 5 with flags that see hook errors (default: published)",
    )
    add(
        "--escape_distance",
        "--d2",
        type=_ANY,
        metavar="D2",
        help="go on to the escape into a code of this distance, odd and larger than the first",
    )
    add(
        "--postselected_rounds",
        type=_ANY,
        metavar="N",
        help="with --escape_distance: rounds after the escape that postselect (default: the first distance)",
    )
    add(
        "--rounds",
        type=_ANY,
        metavar="N",
        help=f"with --escape_distance: rounds for the decoder after these (default: {DEFAULT_ROUNDS})",
    )
    add(
        "--readout",
        choices=READOUT_CHOICES,
        help="with --escape_distance: T: a noiseless readout of the T state, for circuits in which all"
        " detectors postselect; expectation_values: those of logical X and Y, for a decoder and a state check"
        " (default: T)",
    )
    add(
        "--escape",
        choices=ESCAPE_CHOICES,
        help="with --escape_distance: into a color code, or into a surface code (default: color)",
    )


def circuits(args: argparse.Namespace) -> Iterator[tuple[str, stim.Circuit]]:
    """The circuits that are asked for, with the names of their files."""
    if args.escape_distance is None:
        for name in ("postselected_rounds", "rounds", "readout", "escape"):
            if getattr(args, name) is not None:
                raise ValueError(
                    f"--{name} is for circuits with an escape. Leave it out, or add --escape_distance."
                )
    for distance, p, gate in product(args.distance, strengths_of(args), args.gate):
        parameters = {
            "distance": distance,
            "p": p,
            "gate": gate,
            "noise": args.noise,
            "injection": args.injection,
            "variant": args.variant,
        }
        if args.escape_distance is None:
            yield circuit_file_name(**parameters), cultivation_circuit(**parameters)
            continue
        parameters |= {
            "escape_distance": args.escape_distance,
            "postselected_rounds": args.postselected_rounds,
            "rounds": DEFAULT_ROUNDS if args.rounds is None else args.rounds,
            "readout": args.readout or "T",
            "escape": args.escape or "color",
        }
        yield end_to_end_file_name(**parameters), end_to_end_circuit(**parameters)


def add_noise(parser: argparse.ArgumentParser) -> None:
    """Adds ``--noise`` and ``--p``."""
    parser.add_argument("--p", type=float, nargs="+", help="noise strengths, 0 to 1")
    parser.add_argument(
        "--noise", choices=NOISE_CHOICES, default="uniform", help="noise model (default: uniform)"
    )


def strengths_of(args: argparse.Namespace) -> list[float]:
    """The noise strengths of the arguments of ``add_noise``.

    Raises:
        ValueError: There is a strength and no noise, or the other way round.
    """
    if args.noise == "none":
        if args.p is not None:
            raise ValueError("--noise none takes no strength; leave out --p")
        return [0.0]
    if args.p is None:
        raise ValueError(f"--noise {args.noise} needs a strength; add for example --p 0.001")
    return list(args.p)
