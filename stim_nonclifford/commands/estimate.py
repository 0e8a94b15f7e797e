"""Computes the logical error rate of kept or decoded shots from fault sets, however small it is.

With --circuits FILE ... in place of --in, it estimates many circuits and writes rows of Sinter's statistics:
`python -m sinter_plugin estimate --help` lists the arguments for that.

  stim-nonclifford estimate --in circuit.stim --postselect all --relative_error 0.05
  stim-nonclifford estimate --in circuit.stim --postselect all --error_budget noise
  stim-nonclifford estimate --in circuit.stim --decoder pymatching
"""

from __future__ import annotations

import argparse
import math
import sys

from .options import add_circuit, add_fault_sets, add_output, add_seed, fault_set_arguments, whole_number
from .streams import naming, read_circuit, write_text

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    add_circuit(parser)
    add_output(parser)
    add_fault_sets(parser)
    parser.add_argument(
        "--decoder",
        "--decoders",
        metavar="NAME",
        help="is told all detectors; a shot is wrong if a prediction is. Then --postselect may be left out",
    )
    parser.add_argument(
        "--relative_error",
        type=_positive,
        default=0.01,
        metavar="E",
        help="standard error over logical error rate at which it stops (default: 0.01)",
    )
    parser.add_argument(
        "--max_seconds", type=_positive, metavar="T", help="begin no further round of sampling after that"
    )
    parser.add_argument(
        "--max_bytes",
        type=whole_number(1, 2**63 - 1),
        default=2 << 30,
        metavar="N",
        help="memory to use, about (default: 2 GiB)",
    )
    parser.add_argument(
        "--error_budget",
        choices=("instruction", "place", "qubit", "tick", "noise"),
        help="also say what part of the rate comes from which line, gate, qubit, tick or kind of noise",
    )
    add_seed(parser)


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    circuit = read_circuit(args.circuit)
    asked = fault_set_arguments(args, circuit)
    with naming(args.circuit):
        rate = circuit.logical_error_rate(
            **asked,
            decoder=args.decoder,
            relative_error=args.relative_error,
            max_seconds=args.max_seconds,
            max_bytes=args.max_bytes,
            seed=args.seed,
            progress=sys.stderr.isatty(),
        )
        parts = [str(rate)]
        if args.error_budget is not None:
            parts += ["", str(rate.error_budget(args.error_budget))]
    write_text(args.out, "\n".join(parts))


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return number
