"""Writes the detector error model of a circuit, for decoders, as `stim analyze_errors` does.

Without T gates the model is Stim's. With T gates no model is exact: the S-proxy's is the best for decoders.

  stim-nonclifford analyze_errors --in circuit.stim --decompose_errors --out model.dem
"""

from __future__ import annotations

import argparse
from typing import get_args

from ..circuit.error_models import ErrorModelKind
from .options import add_postselection, add_shared, masks_of
from .streams import naming, read_circuit, write_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    add_shared(parser, "--in", "--out")
    add = parser.add_argument
    add("--decompose_errors", action="store_true", help="decompose errors that flip more than two detectors")
    add("--fold_loops", action="store_true", help="allow repeat blocks in the output")
    add("--allow_gauge_detectors", action="store_true", help="allow detectors that are random without noise")
    add(
        "--approximate_disjoint_errors",
        nargs="?",
        type=float,
        const=1.0,
        default=0.0,
        metavar="PROBABILITY",
        help="replace exclusive errors up to this probability by independent ones (without a value: all)",
    )
    add("--ignore_decomposition_failures", action="store_true", help="leave errors that cannot be decomposed")
    add(
        "--block_decompose_from_introducing_remnant_edges",
        action="store_true",
        help="decompose only into parts that all occur as errors of their own",
    )
    add(
        "--kind",
        choices=get_args(ErrorModelKind),
        default="s_proxy",
        help="s_proxy: the model of the circuit with S in place of T; noise_only: the direct flips by noise,"
        " which exist for every circuit (default: s_proxy)",
    )
    add_postselection(parser, "none; errors that flip a postselected detector are left out")


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    circuit = read_circuit(args.circuit)
    detectors, observables = masks_of(args, circuit)
    if observables is not None:
        raise ValueError(
            "--postselect: an error model can be postselected on detectors only, not on observables."
        )
    with naming(args.circuit):
        model = circuit.detector_error_model(
            decompose_errors=args.decompose_errors,
            flatten_loops=not args.fold_loops,
            allow_gauge_detectors=args.allow_gauge_detectors,
            approximate_disjoint_errors=args.approximate_disjoint_errors,
            ignore_decomposition_failures=args.ignore_decomposition_failures,
            block_decomposition_from_introducing_remnant_edges=(
                args.block_decompose_from_introducing_remnant_edges
            ),
            kind=args.kind,
            postselection_mask=detectors,
        )
    write_text(args.out, str(model))
