"""Writes circuits of a T gate that is applied to a surface code by teleportation."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product

import stim

from ...generators.cultivation.builder import GATE_CHOICES
from ...generators.teleportation.files import PROTOCOL_CHOICES, circuit_file_name
from ...generators.teleportation.protocol import (
    AVAILABLE_DISTANCES,
    CORRECTION_CHOICES,
    injection_circuit,
    teleportation_circuit,
)
from .cultivation import add_noise, strengths_of

__all__ = ["add_arguments", "circuits"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    add = parser.add_argument
    add(
        "--protocol",
        choices=PROTOCOL_CHOICES,
        default="teleportation",
        help="injection of the T state alone, or the teleported gate (default: teleportation)",
    )
    add(
        "--distance",
        "--d",
        type=int,
        nargs="+",
        choices=AVAILABLE_DISTANCES,
        default=[3],
        help="distances of the patches (default: 3)",
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
        "--correction",
        choices=CORRECTION_CHOICES,
        default="gate",
        help="the S correction: a conditional logical gate, or in software (default: gate)",
    )


def circuits(args: argparse.Namespace) -> Iterator[tuple[str, stim.Circuit]]:
    """The circuits that are asked for, with the names of their files."""
    for distance, p, gate in product(args.distance, strengths_of(args), args.gate):
        if args.protocol == "injection":
            circuit = injection_circuit(distance, p, gate, args.noise)
        else:
            circuit = teleportation_circuit(distance, p, gate, args.noise, args.correction)
        yield (
            circuit_file_name(
                protocol=args.protocol,
                distance=distance,
                p=p,
                gate=gate,
                noise=args.noise,
                correction=args.correction,
            ),
            circuit,
        )
