"""Writes circuits of magic state distillation with teleported T gates."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from typing import get_args

import stim

from ...generators.distillation import PROTOCOL_CHOICES, GateChoice, distillation_circuit

__all__ = ["add_arguments", "circuits"]


_WITH_K = "3k+8-to-k"
"""The protocol with any even number of outputs."""


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
        help="T: T gates, written as S[T]; S: the S-proxy, where there is one (default: T)",
    )
    add("--direct", action="store_true", help="apply each T gate as one gate, not by teleportation")
    add("--k", nargs="+", type=int, help="even numbers of outputs of 3k+8-to-k")


def circuits(args: argparse.Namespace) -> Iterator[tuple[str, stim.Circuit]]:
    """The circuits that are asked for, with the names of their files."""
    if bool(args.k) != (_WITH_K in args.protocol):
        raise ValueError(
            f"--k is the number of outputs of {_WITH_K}: write --protocol {_WITH_K} --k 2, or leave out both."
        )
    for protocol in args.protocol:
        sizes = args.k if protocol == _WITH_K else [None]
        for k, t_error, gate in product(sizes, args.t_error, args.gate):
            circuit = distillation_circuit(
                protocol, t_error=t_error, p=args.p, gate=gate, k=k, teleported=not args.direct
            )
            size = "" if k is None else f"k={k},"
            direct = "direct=1," if args.direct else ""
            yield f"c={protocol},{size}{direct}g={gate},e={t_error:g},p={args.p:g}.stim", circuit
