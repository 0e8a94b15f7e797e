"""The arguments of the command ``estimate``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import get_args

from stim_nonclifford.commands.options import (
    add_postselection,
    add_shared,
    add_state_check,
    add_threads,
    whole_number,
)
from stim_nonclifford.rates.estimation.limits import DEFAULT_MAX_BYTES
from stim_nonclifford.rates.results.error_budget import BudgetKind

from ..samplers.by_name import checks_states
from .arguments import positive_number
from .sinter_internals import add_custom_decoders, parse_shared_arguments

SOFT_POSTSELECT = "soft_postselect"

_DESCRIPTION = """\
Computes logical error rates from fault sets, however small they are, instead of sampling. The rate of one
circuit is printed, as `Circuit.logical_error_rate` has it; for --circuits, rows of Sinter's statistics are.

  stim-nonclifford estimate --in circuit.stim --postselect all --relative_error 0.05
  stim-nonclifford estimate --in circuit.stim --postselect all --error_budget noise
  stim-nonclifford estimate --in circuit.stim --decoder pymatching
  stim-nonclifford estimate --circuits *.stim --decoder pymatching --save_resume_filepath rates.csv"""


def parse_estimate_arguments(arguments: Sequence[str], program: str) -> argparse.Namespace:
    """Parses the arguments."""
    parser = argparse.ArgumentParser(
        prog=f"{program} estimate",
        formatter_class=argparse.RawTextHelpFormatter,
        description=_DESCRIPTION,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add_shared(parser, "--in", "--out")
    add(
        "--circuits",
        nargs="+",
        metavar="FILE",
        help="circuits to read, in place of --in; a row of Sinter's statistics is written for each",
    )
    add(
        "--decoders",
        "--decoder",
        nargs="+",
        default=[None],
        metavar="NAME",
        help="what is made of detectors. A decoder such as pymatching: it is told all of them, and a shot\n"
        "is wrong if a prediction is; shots in which a postselected one fires are discarded.\n"
        "soft_postselect: nothing is decoded, and all detectors are postselected",
    )
    add_custom_decoders(parser)
    add(
        "--confidence",
        action="store_true",
        help="with a decoder that says how sure it is (pymatching, chromobius, desaturated): rates for\n"
        'several least gaps, the key "gap" of the metadata of rows. That of gap 0 is of all shots',
    )
    add_postselection(parser, "none; all with soft_postselect")
    add("--postselect_detectors_with_non_zero_4th_coord", action="store_true", help="as for `collect`")
    add("--postselected_detectors_predicate", default="False", help="as for `collect`")
    add("--postselected_observables_predicate", default="False", help="as for `collect`")
    add_state_check(parser)
    add(
        "--skip_reference_sample",
        action="store_true",
        help="take outputs for raw parities of measurements instead of flips against the noiseless\n"
        "reference sample; only without --decoders",
    )
    add(
        "--relative_error",
        type=positive_number,
        default=0.01,
        metavar="E",
        help="error over logical error rate at which it stops (default: 0.01). The error is the larger of\n"
        "the standard error and a third of the distance to the farther end of the interval",
    )
    add(
        "--max_seconds",
        type=positive_number,
        metavar="T",
        help="no new round of sampling begins after that, for each circuit. The error is then larger than\n"
        "asked for",
    )
    add(
        "--max_bytes",
        type=whole_number(1, 2**63 - 1),
        default=DEFAULT_MAX_BYTES,
        metavar="N",
        help="memory to use, about (default: 2 GiB)",
    )
    add(
        "--error_budget",
        choices=get_args(BudgetKind),
        help="also print what part of the rate comes from which line, gate, qubit, tick or kind of noise",
    )
    add_threads(parser, "auto")
    add(
        "--dask",
        metavar="WHERE",
        help="let the workers of a Dask cluster estimate circuits: the address of its scheduler, its file\n"
        "(a name that ends with .json), or `local` for --threads workers here",
    )
    add(
        "--seed",
        type=whole_number(0, 2**64 - 1),
        metavar="N",
        help="fixes the estimates, whatever the number of threads. With --circuits, each gets a seed that\n"
        "follows from this one and from the circuit. It is in the row",
    )
    add("--metadata_func", default="{'path': path}", help='as for `collect`; "auto" reads d=3,p=0.001.stim')
    add(
        "--save_resume_filepath",
        metavar="FILE",
        help="file of Sinter's statistics to save rows to. Circuits whose row there has a small enough\n"
        "error are not computed again. With --circuits, rows are then not printed",
    )
    add("--also_print_results_to_stdout", action="store_true", help="print the rows that are saved, too")
    add("--quiet", action="store_true", help="do not show progress")
    args = parser.parse_args(list(arguments))
    if args.circuit is not None and args.circuits is not None:
        raise ValueError("--in is for one circuit, and --circuits for several. Leave one of them out.")
    args.prints_text = args.circuits is None
    if args.prints_text:
        args.circuits = [args.circuit]
    elif args.error_budget is not None:
        raise ValueError("--error_budget is printed for one circuit. Use --in, not --circuits.")
    predicates = args.postselected_detectors_predicate, args.postselected_observables_predicate
    has_predicate = args.postselect_detectors_with_non_zero_4th_coord or predicates != ("False", "False")
    if args.postselect is not None and has_predicate:
        raise ValueError(
            "--postselect says which detectors and observables are postselected, and so do arguments of"
            " `sinter collect` such as --postselected_detectors_predicate. Leave one of them out."
        )
    # The arguments that `sinter collect` has, too, become what Sinter makes of them.
    names = ("metadata_func", "postselected_detectors_predicate", "postselected_observables_predicate")
    shared = [f"--{name}={getattr(args, name)}" for name in names]
    if args.postselect_detectors_with_non_zero_4th_coord:
        shared.append("--postselect_detectors_with_non_zero_4th_coord")
    found = parse_shared_arguments(shared, args.custom_decoders_module_function)
    for name in names:
        setattr(args, name, getattr(found, name))
    args.custom_decoders = found.custom_decoders
    # What is not available together with a decoder, or without one.
    decoders = set(args.decoders) - {None, SOFT_POSTSELECT}
    knows_states = all(checks_states(args.custom_decoders.get(name, name)) for name in decoders)
    if decoders and args.state_check is not None and not knows_states:
        raise ValueError(
            f"--decoders {min(decoders)} predicts all observables here. Leave out --state_check (which"
            " --decoders desaturated knows); or count errors: `collect` with soft_pymatching."
        )
    if decoders and args.skip_reference_sample:
        raise ValueError(
            f"--decoders {min(decoders)} is told flips against the reference sample. Leave out"
            " --skip_reference_sample."
        )
    if args.confidence and set(args.decoders) & {None, SOFT_POSTSELECT}:
        raise ValueError(
            "--confidence asks a decoder how sure it is. Pass --decoders pymatching, chromobius or"
            " desaturated, or leave out --confidence."
        )
    return args
