"""Command line: writes cultivation circuits to files and prints their paths.

Usage: `python -m stim_nonclifford.cultivation --d 3 5 --p 0.0005 0.001 --gate T S --out DIR`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .builder import GATE_CHOICES
from .cat_trees import VARIANT_CHOICES
from .end_to_end import DEFAULT_ROUNDS, READOUT_CHOICES
from .files import write_circuit_file, write_end_to_end_file
from .noise import NOISE_CHOICES, noise_model
from .protocol import AVAILABLE_DISTANCES, INJECTION_CHOICES, check_distance


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
    strengths = arguments.p
    if arguments.noise == "none":
        if strengths is not None:
            parser.error("--noise none takes no strength; leave out --p")
        strengths = [0.0]
    elif strengths is None:
        parser.error(f"--noise {arguments.noise} needs a strength; add for example --p 0.001")
    try:
        for p in strengths:
            noise_model(arguments.noise, p)
    except ValueError as error:
        parser.error(f"argument --p: {error}")
    for distance in arguments.distance:
        for p in strengths:
            for gate in arguments.gate:
                parameters: dict[str, Any] = {
                    "distance": distance,
                    "p": p,
                    "gate": gate,
                    "noise": arguments.noise,
                    "injection": arguments.injection,
                    "variant": arguments.variant,
                }
                try:
                    if arguments.escape_distance is None:
                        path = write_circuit_file(arguments.out, **parameters)
                    else:
                        path = write_end_to_end_file(
                            arguments.out,
                            **parameters,
                            escape_distance=arguments.escape_distance,
                            postselected_rounds=arguments.postselected_rounds,
                            rounds=arguments.rounds,
                            readout=arguments.readout,
                        )
                except ValueError as error:
                    parser.error(str(error))
                except OSError as error:
                    parser.error(str(error))
                print(path)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m stim_nonclifford.cultivation",
        description="Writes magic state cultivation circuits (injection + cultivation, and escape), one file "
        "for each combination of distance, p and gate, and prints the paths.",
    )
    parser.add_argument(
        "--distance",
        "--d",
        type=_distance,
        nargs="+",
        default=[3],
        help=f"distance of the color code (available: {_listed(AVAILABLE_DISTANCES)}; default: 3)",
    )
    parser.add_argument("--p", type=_probability, nargs="+", help="noise strength, 0 to 1")
    parser.add_argument(
        "--gate",
        choices=GATE_CHOICES,
        nargs="+",
        default=["T"],
        help="T: T gates, written as S[T] and S_DAG[T]; S: the S-proxy, with S gates in their "
        "place (default: T)",
    )
    parser.add_argument(
        "--noise", choices=NOISE_CHOICES, default="uniform", help="noise model (default: uniform)"
    )
    parser.add_argument(
        "--injection",
        choices=INJECTION_CHOICES,
        default="unitary",
        help="how the T state is injected into the code (default: unitary)",
    )
    parser.add_argument(
        "--variant",
        choices=VARIANT_CHOICES,
        default="published",
        help="flagged: distance 5 with flags that see hook errors (default: published)",
    )
    parser.add_argument(
        "--escape-distance",
        "--d2",
        type=int,
        metavar="D2",
        help="go on to the escape into a code of this distance, odd and larger than the first",
    )
    parser.add_argument(
        "--postselected-rounds",
        type=int,
        metavar="N",
        help="with --escape-distance: rounds after the escape that postselect (default: the first distance)",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=DEFAULT_ROUNDS,
        metavar="N",
        help=f"with --escape-distance: rounds for the decoder after these (default: {DEFAULT_ROUNDS})",
    )
    parser.add_argument(
        "--readout",
        choices=READOUT_CHOICES,
        default="T",
        help="with --escape-distance: T: a noiseless readout of the T state, for circuits in which all "
        "detectors postselect; expectation_values: those of logical X and Y, for a decoder and a state check "
        "(default: T)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("."),
        metavar="DIR",
        help="folder to write to, created if needed (default: the current one)",
    )
    return parser


def _distance(text: str) -> int:
    try:
        distance = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
    try:
        check_distance(distance)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return distance


def _probability(text: str) -> float:
    try:
        p = float(text)
    except ValueError:
        p = -1.0
    if not 0 <= p <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a probability between 0 and 1")
    return p


def _listed(values: Sequence[int]) -> str:
    return ", ".join(str(value) for value in values)


if __name__ == "__main__":
    sys.exit(main())
