"""Writes circuits of magic state distillation with teleported T gates."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from typing import get_args

import stim

from ...generators.distillation.parities import PROTOCOL_CHOICES
from ...generators.distillation.protocol import GateChoice, distillation_circuit

__all__ = ["add_arguments", "circuits"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    add = parser.add_argument
    add(
        "--protocol",
        nargs="+",
        choices=PROTOCOL_CHOICES,
        default=["15-to-1"],
        help="protocols (default: 15-to-1)",
    )
    add("--t_error", nargs="+", type=float, required=True, help="probabilities of Z errors of the T states")
    add("--p", type=float, default=0.0, help="strength of the other noise (default: 0)")
    add(
        "--gate",
        nargs="+",
        choices=get_args(GateChoice),
        default=["T"],
        help="T: T gates, written as S[T]; S: the S-proxy of 15-to-1 (default: T)",
    )


def circuits(args: argparse.Namespace) -> Iterator[tuple[str, stim.Circuit]]:
    """The circuits that are asked for, with the names of their files."""
    for protocol, t_error, gate in product(args.protocol, args.t_error, args.gate):
        circuit = distillation_circuit(protocol, t_error=t_error, p=args.p, gate=gate)
        yield f"c={protocol},g={gate},e={t_error:g},p={args.p:g}.stim", circuit
