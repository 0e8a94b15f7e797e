"""Draws a circuit, as `stim diagram` does, with every gate as what it is.

stim-nonclifford diagram --in circuit.stim --type timeline-svg --remove_noise --out circuit.svg
"""

from __future__ import annotations

import argparse
import re
from typing import Any

import stim

from .options import add_shared
from .streams import naming, read_circuit, write_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    add_shared(parser, "--in", "--out")
    parser.add_argument(
        "--type",
        default="timeline-text",
        metavar="TYPE",
        help="timeline-text, timeline-svg, timeslice-svg, detslice-svg, detslice-with-ops-svg, matchgraph-svg"
        " and others; see `stim help diagram` (default: timeline-text)",
    )
    parser.add_argument("--remove_noise", action="store_true", help="draw the circuit without its noise")
    parser.add_argument(
        "--tick",
        type=_tick,
        metavar="N or START:END",
        help="draw this tick, or the ticks from START up to END (default: all)",
    )
    parser.add_argument(
        "--filter_coords",
        type=_filter,
        metavar="FILTER",
        help="draw only detectors whose coordinates begin so, or of this name: for example 2,3:4,5:D0:L0",
    )


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    circuit = read_circuit(args.circuit)
    if args.remove_noise:
        if args.type.startswith("matchgraph"):
            raise ValueError(f"A {args.type} is a picture of the noise. Leave out --remove_noise.")
        circuit = circuit.without_noise()
    arguments = {
        name: getattr(args, name) for name in ("tick", "filter_coords") if getattr(args, name) is not None
    }
    with naming(args.circuit):
        picture = circuit.diagram(args.type, **arguments)
    write_text(args.out, str(picture))


def _tick(text: str) -> int | range:
    found = re.fullmatch(r"(\d+)(?::(\d+))?", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor START:END")
    return int(found[1]) if found[2] is None else range(int(found[1]), int(found[2]))


def _filter(text: str) -> list[Any]:
    parts: list[Any] = []
    for part in text.split(":"):
        try:
            parts.append(
                stim.DemTarget(part)
                if re.fullmatch(r"[DL]\d+", part)
                else [float(number) for number in part.split(",")]
            )
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{part!r} is neither a list of coordinates such as 2,3 nor a name such as D0 or L0"
            ) from None
    return parts
