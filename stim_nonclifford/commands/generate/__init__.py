"""Writes circuits of magic state cultivation, of distillation, or of T gates teleported into surface codes.

One circuit is written to standard output or to --out FILE. Several circuits, one for each combination of the
arguments that take lists, are written to a folder, --out_dir DIR. Their paths are printed. `sinter collect
--metadata_func auto` reads the parameters from their names.

  stim-nonclifford generate cultivation --distance 3 --p 0.001 | stim-nonclifford detect --shots 10
  stim-nonclifford generate cultivation --distance 3 5 --p 0.001 0.002 --gate T S --out_dir circuits
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

import stim

from ...dialect import exact_text
from ..streams import write_text
from . import cultivation as generate_cultivation
from . import distillation as generate_distillation
from . import teleportation as generate_teleportation

__all__ = ["add_arguments", "run"]

_FAMILIES = {
    "cultivation": generate_cultivation,
    "distillation": generate_distillation,
    "teleportation": generate_teleportation,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    families = parser.add_subparsers(metavar="FAMILY", required=True)
    for name, module in _FAMILIES.items():
        summary, _, more = (module.__doc__ or "").partition("\n")
        family = families.add_parser(
            name,
            help=summary,
            description=summary + more,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_arguments(family)
        family.add_argument("--out", metavar="FILE", help="file for one circuit (default: standard output)")
        family.add_argument(
            "--out_dir", type=Path, metavar="DIR", help="folder for any number of circuits, created if needed"
        )
        family.set_defaults(circuits=module.circuits)


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    if args.out is not None and args.out_dir is not None:
        raise ValueError(
            "--out is for one circuit, and --out_dir for a folder of circuits. Leave one of them out."
        )
    circuits: list[tuple[str, stim.Circuit]] = list(args.circuits(args))
    if args.out_dir is not None:
        paths = list(_written(circuits, args.out_dir))
        # Printed when all are written, as who reads the names may not read them to the end.
        write_text(None, "\n".join(map(str, paths)))
        return
    if len(circuits) > 1:
        raise ValueError(f"These are {len(circuits)} circuits. Name a folder for their files: --out_dir DIR.")
    write_text(args.out, exact_text(circuits[0][1]))


def _written(circuits: Iterable[tuple[str, stim.Circuit]], folder: Path) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, circuit in circuits:
        write_text(str(folder / name), exact_text(circuit))
        yield folder / name
