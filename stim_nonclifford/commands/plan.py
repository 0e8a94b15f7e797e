"""Says what a shot costs: the quantum operations, and the instructions that cause them.

stim-nonclifford plan --in circuit.stim --postselect all
"""

from __future__ import annotations

import argparse
from typing import get_args

from ..circuit.plan_report import PlanMethod
from .options import add_postselection, add_shared, masks_of
from .streams import naming, read_circuit, write_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    add_shared(parser, "--in", "--out")
    parser.add_argument(
        "--method",
        choices=get_args(PlanMethod),
        help="what is asked of the shots (default: sample_counts with --postselect, else sample, or"
        " sample_measurements if the circuit has no detectors)",
    )
    add_postselection(parser, "none")


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    circuit = read_circuit(args.circuit)
    detectors, observables = masks_of(args, circuit)
    with naming(args.circuit):
        report = circuit.plan(
            args.method, postselection_mask=detectors, postselected_observables_mask=observables
        )
    write_text(args.out, str(report))
