"""Command line: writes circuits of a teleported T gate to files and prints their paths.

Usage: `python -m stim_nonclifford.teleportation --d 3 5 --p 0.001 --gate T S --out DIR`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from ..cultivation.builder import GATE_CHOICES
from ..cultivation.noise import NOISE_CHOICES
from .files import PROTOCOL_CHOICES, write_circuit_file
from .protocol import AVAILABLE_DISTANCES, CORRECTION_CHOICES


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        argv: The arguments; None stands for those of the process.

    Returns:
        The exit code 0.

    Raises:
        SystemExit: With code 2, after a message on standard error, if the arguments are wrong or a
            file cannot be written.
    """
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.noise == "none" and arguments.p is not None:
        parser.error("--noise none takes no strength; leave out --p")
    if arguments.noise != "none" and arguments.p is None:
        parser.error(f"--noise {arguments.noise} needs a strength; add for example --p 0.001")
    for distance, p, gate in product(arguments.distance, arguments.p or [0.0], arguments.gate):
        try:
            path = write_circuit_file(
                arguments.out,
                protocol=arguments.protocol,
                distance=distance,
                p=p,
                gate=gate,
                noise=arguments.noise,
                correction=arguments.correction,
            )
        except (OSError, ValueError) as error:
            parser.error(str(error))
        print(path)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m stim_nonclifford.teleportation",
        description="Writes circuits of a T gate that is applied to a surface code by teleportation, "
        "one file for each combination of distance, p and gate, and prints the paths.",
    )
    parser.add_argument(
        "--protocol",
        choices=PROTOCOL_CHOICES,
        default="teleportation",
        help="injection of the T state alone, or the teleported gate (default: teleportation)",
    )
    parser.add_argument(
        "--distance",
        "--d",
        type=int,
        nargs="+",
        choices=AVAILABLE_DISTANCES,
        default=[3],
        help="distance of the patches (default: 3)",
    )
    parser.add_argument("--p", type=float, nargs="+", help="noise strength, 0 to 1")
    parser.add_argument(
        "--gate",
        choices=GATE_CHOICES,
        nargs="+",
        default=["T"],
        help="T: T gates, written as S[T]; S: the S-proxy, with S gates in their place (default: T)",
    )
    parser.add_argument(
        "--noise", choices=NOISE_CHOICES, default="uniform", help="noise model (default: uniform)"
    )
    parser.add_argument(
        "--correction",
        choices=CORRECTION_CHOICES,
        default="gate",
        help="the S correction: a conditional logical gate, or in software (default: gate)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("."),
        metavar="DIR",
        help="folder to write to, created if needed (default: the current one)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
