"""Writes a page to look at in a browser: the circuit by tick, and where its logical errors come from.

The page is one file, which needs no network.

  stim-nonclifford page circuit.stim
  stim-nonclifford page --in circuit.stim --postselect all --out circuit.html
"""

from __future__ import annotations

import argparse
import io
import pathlib

from .options import add_fault_sets, add_shared, fault_set_arguments
from .streams import naming, read_circuit, write_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="circuit to read, in place of --in; the page is then FILE with the ending .html, unless --out"
        " says otherwise, and all detectors are postselected, unless --postselect does",
    )
    add_shared(parser, "--in", "--out", "--seed")
    add_fault_sets(parser)
    parser.add_argument("--title", metavar="TEXT", help="title of the page (default: the name of the file)")


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    if args.file is not None and args.circuit is not None:
        raise ValueError("The circuit is given twice, as FILE and by --in. Leave out one of them.")
    source = args.file or args.circuit
    circuit = read_circuit(source)
    if args.file is not None and args.postselect is None and circuit.num_detectors:
        args.postselect = ["all"]
    out = args.out
    if out is None and args.file is not None:
        out = str(pathlib.Path(args.file).with_suffix(".html"))
    title = args.title or (pathlib.Path(source).name if source else "Circuit")
    page = io.StringIO()
    with naming(source):
        circuit.page(page, title=title, seed=args.seed, **fault_set_arguments(args, circuit))
    write_text(out, page.getvalue())
    if args.file is not None and args.out is None:
        print(out)
