"""The arguments of ``python -m sinter_plugin estimate``."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from stim_nonclifford.commands.options import add_state_check
from stim_nonclifford.commands.streams import as_flags
from stim_nonclifford.rates.decoding.decoders import decoder_named, gap_decoder_named
from stim_nonclifford.rates.fault_sets.search.limits import DEFAULT_MAX_BYTES

from ..samplers.by_name import all_samplers, decoder_of
from .sinter_internals import parse_collect_arguments

__all__ = ["chosen_decoder", "parse_estimate_arguments", "sinter_arguments"]

_Number = TypeVar("_Number", int, float)


def parse_estimate_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Parses the arguments.

    Args:
        arguments: The arguments, without the program's name and ``estimate``.

    Returns:
        The arguments, with the names that they have on the command line.

    Raises:
        SystemExit: The arguments are wrong (after a message on standard error), or include ``--help``.
    """
    parser = argparse.ArgumentParser(
        prog="python -m sinter_plugin estimate",
        formatter_class=argparse.RawTextHelpFormatter,
        description=(
            "Computes logical error rates from fault sets instead of sampling. Circuits that differ in\n"
            "noise strength only share the work."
        ),
    )
    add = parser.add_argument
    add(
        "--circuits",
        nargs="+",
        required=True,
        help="Circuit files, with bare (T 0) or tagged gates (S[T] 0).",
    )
    add(
        "--decoders",
        nargs="+",
        default=[None],
        help="What is made of detectors. soft_postselect: all are postselected, or those that arguments\n"
        "below choose. A decoder such as pymatching: it is told all of them, and a shot is wrong if a\n"
        "prediction is. Shots in which one of those that arguments below choose fires are discarded.",
    )
    add(
        "--custom_decoders_module_function",
        nargs="+",
        default=[],
        metavar="MODULE:FUNCTION",
        help="Functions that return a dictionary of decoders of yours by name, as for `sinter collect`.",
    )
    add(
        "--confidence",
        action="store_true",
        help="With a decoder that says how sure it is (pymatching, chromobius, desaturated): a row for\n"
        'each of several least gaps, the key "gap" of its metadata. The row of gap 0 has all shots.',
    )
    add(
        "--relative_error",
        type=_positive,
        default=0.01,
        help="Error over logical error rate at which it stops; 0.01. The error is the larger of the\n"
        "standard error and a third of the distance to the farther end of the interval.",
    )
    add(
        "--max_seconds",
        type=_positive,
        help="No new round of sampling begins after that, for circuits that share the work. The error is\n"
        "then larger than asked for.",
    )
    add("--max_bytes", type=_num_bytes, default=DEFAULT_MAX_BYTES, help="Memory to use, about; 2 GiB.")
    add(
        "--threads",
        type=_num_threads,
        default="auto",
        help='Number of threads, or "auto" (the default). With a decoder, chains walk on them, and other\n'
        "processes decode, one fewer.",
    )
    add(
        "--dask",
        metavar="WHERE",
        help="Let the workers of a Dask cluster estimate groups of circuits that share work: the address\n"
        "of its scheduler, its file (a name that ends with .json), or `local` for --threads workers here.",
    )
    add(
        "--seed",
        type=_seed,
        help="Fixes the estimates, whatever the number of threads. Circuits that share the work get a seed\n"
        "that follows from this one and from the circuit with the strongest noise among them, and not from\n"
        "what else is computed. It is in the row.",
    )
    add(
        "--save_resume_filepath",
        help="File of Sinter's statistics to save rows to. Circuits whose row there has a small enough\n"
        "error are not computed again. Without it, rows are printed.",
    )
    add_state_check(parser)
    add("--also_print_results_to_stdout", action="store_true", help="Print the rows that are saved, too.")
    add("--quiet", action="store_true", help="Do not show progress.")
    add("--postselect_detectors_with_non_zero_4th_coord", action="store_true", help="As for `collect`.")
    add(
        "--postselected_detectors_predicate",
        default="False",
        help="As for `collect`.",
    )
    add("--postselected_observables_predicate", default="False", help="As for `collect`.")
    add("--metadata_func", default="{'path': path}", help='As for `collect`; "auto" reads d=3,p=0.001.stim.')
    return parser.parse_args(list(arguments))


def sinter_arguments(args: argparse.Namespace) -> argparse.Namespace:
    """What Sinter makes of the arguments that this command shares with ``sinter collect``."""
    names = ("metadata_func", "postselected_detectors_predicate", "postselected_observables_predicate")
    shared = [f"--{name}={getattr(args, name)}" for name in names]
    if args.postselect_detectors_with_non_zero_4th_coord:
        shared.append("--postselect_detectors_with_non_zero_4th_coord")
    if args.custom_decoders_module_function:
        shared += ["--custom_decoders_module_function", *args.custom_decoders_module_function]
    # Sinter requires a decoder and a number of processes.
    return parse_collect_arguments(
        [*shared, "--circuits", *args.circuits, "--decoders", "vacuous", "--processes", "1"]
    )


def chosen_decoder(name: str, custom: Mapping[str, Any], *, confidence: bool = False) -> Any:
    """What the name of a decoder stands for.

    Args:
        name: The name.
        custom: The user's decoders by name.
        confidence: Whether it is asked how sure it is.

    Returns:
        The user's decoder, also out of a sampler; or the name of one of Sinter or of this package.

    Raises:
        ValueError: There is no decoder of this name, or it is not installed.

    Examples:
        >>> chosen_decoder("mine", {})
        Traceback (most recent call last):
        ...
        ValueError: There is no decoder 'mine'. ... --custom_decoders_module_function MODULE:FUNCTION.
    """
    plain = name.removeprefix("soft_")
    found = custom.get(name, custom.get(plain, all_samplers().get(name)))
    if found is not None:
        decoder = decoder_of(found, name)
        if not isinstance(decoder, str):
            return decoder
        name = decoder
    try:
        (gap_decoder_named if confidence else decoder_named)(name)
    except ValueError as error:
        raise ValueError(as_flags(str(error))) from None
    return name


def _positive(text: str) -> float:
    number = _read(float, text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not positive.")
    return number


def _num_bytes(text: str) -> int:
    return int(_positive(text))


def _num_threads(text: str) -> int:
    if text == "auto":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    number = _read(int, text)
    if number < 1:
        raise argparse.ArgumentTypeError(f'{text} is neither a positive integer nor "auto".')
    return number


def _seed(text: str) -> int:
    number = _read(int, text)
    if not 0 <= number < 2**64:
        raise argparse.ArgumentTypeError(f"{text} is not in range(2**64).")
    return number


def _read(kind: Callable[[str], _Number], text: str) -> _Number:
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number.") from None
