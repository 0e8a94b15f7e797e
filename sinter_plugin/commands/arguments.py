"""The arguments of ``collect`` beyond those of Sinter, and what Sinter's arguments say about a circuit."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import stim

from stim_nonclifford.base.arrays import Bools
from stim_nonclifford.circuit.logical_states import parsed_state
from stim_nonclifford.commands.options import add_state_check, whole_number

from ..samplers.tasks import json_value


def parse_own_arguments(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Takes the arguments that only this ``collect`` has out of a command line."""
    parser = argparse.ArgumentParser(
        prog="python -m sinter_plugin collect",
        add_help=False,
        allow_abbrev=False,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    group = parser.add_argument_group("arguments beyond those of `sinter collect`, which follow below")
    group.add_argument(
        "--dask",
        metavar="WHERE",
        help="Let the workers of a Dask cluster sample: the address of its scheduler (tcp://host:8786), the\n"
        "scheduler's file (a name that ends with .json), or `local` for --processes workers on this machine.",
    )
    group.add_argument(
        "--shard",
        type=_shard,
        metavar="K/N",
        help="Take only the K-th of N parts of the shots (K = 1 to N). Every part has its own file, and\n"
        "`python -m sinter_plugin combine` adds the files up. Needs --seed and --max_shots.",
    )
    group.add_argument(
        "--seed",
        type=whole_number(0, 2**64 - 1),
        help="Seed of the shots, a number below 2^64. The counts are the same on any number of workers, and\n"
        "after interruptions. Without it, the run takes a fresh one, or that of the saved statistics.",
    )
    group.add_argument(
        "--max_seconds",
        type=positive_number,
        help="End the run so long after the first worker has started, with what has been sampled then. The\n"
        "first range of shots is waited for, with the preparation of its decoder.",
    )
    add_state_check(group)
    decoders = ["--decoders"[:length] for length in range(len("--d"), len("--decoders") + 1)]  # as in Sinter
    group.add_argument(*decoders, nargs="+", dest="decoders", help=argparse.SUPPRESS)
    if "--help" in arguments or "-h" in arguments:
        print(parser.format_help().partition("\n\n")[2])
    own, others = parser.parse_known_args(list(arguments))
    own.checked_state = None if own.state_check is None else parsed_state(own.state_check)
    if own.shard is not None and own.dask is not None:
        raise ValueError("--shard is for job arrays without Dask. Leave out --shard or --dask.")
    if own.shard is not None and own.seed is None:
        raise ValueError("--shard needs --seed, the same for all parts, so that they take different shots.")
    return own, others


def _shard(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    part, parts = map(int, match.groups()) if match else (0, 0)
    if not 1 <= part <= parts:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not K/N with K from 1 to N. For an array that counts from 0, use"
            " $((SLURM_ARRAY_TASK_ID + 1))."
        )
    return part, parts


def positive_number(text: str) -> float:
    """A type of arguments for ``argparse``: positive finite numbers."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return number


def metadata_of(
    circuit: stim.Circuit, path: str, args: argparse.Namespace, added: Mapping[str, str] | None = None
) -> Any:
    """The metadata of a circuit: what ``--metadata_func`` yields, and the state, with room for other keys."""
    found = _called("metadata_func", "", args.metadata_func, path=path, circuit=circuit)
    found = json_value(found, "What --metadata_func yields")
    state = {} if args.state_check is None else {"state_check": args.state_check}
    wanted = {"state_check": "the state"} if state else {}
    for key, what in (wanted | dict(added or {})).items():
        if not isinstance(found, dict) or key in found:
            raise ValueError(
                f'--metadata_func must yield a dictionary without the key "{key}", under which {what} is'
                f" stored, but it yields {found!r}."
            )
    return {**found, **state} if state else found


def postselected_detectors(
    circuit: stim.Circuit, metadata: object, args: argparse.Namespace, *, discards_on_all: str | None
) -> Bools | None:
    """The detectors that the arguments postselect; None if no argument postselects detectors."""
    if args.postselected_detectors_predicate is None:
        return None
    selected = np.zeros(circuit.num_detectors, dtype=np.bool_)
    for index, coordinates in circuit.get_detector_coordinates().items():
        if args.postselect_detectors_with_non_zero_4th_coord:
            selected[index] = len(coordinates) > 3 and coordinates[3] != 0
            continue
        where = f" on detector {index} with the coordinates {coordinates}"
        predicate = args.postselected_detectors_predicate
        selected[index] = bool(
            _called("postselected_detectors_predicate", where, predicate, index, metadata, coordinates)
        )
    if selected.any():
        return selected
    if discards_on_all is not None:
        raise ValueError(
            "The arguments postselect none of the circuit's detectors. Sinter treats this as no mask, and"
            f" without a mask {discards_on_all} discards on all detectors. If that is wanted, leave the"
            " argument out."
        )
    return None


def postselected_observables(
    num_observables: int, metadata: object, args: argparse.Namespace
) -> Bools | None:
    """The observables that the arguments postselect; None if they postselect none."""
    name = "postselected_observables_predicate"
    selected = [
        bool(_called(name, f" on observable {index}", getattr(args, name), index, metadata))
        for index in range(num_observables)
    ]
    return np.array(selected, dtype=np.bool_) if any(selected) else None


def _called(name: str, where: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What a function of the user's returns, who may have made it of any expression."""
    try:
        return function(*arguments, **named)
    except Exception as error:
        raise ValueError(f"--{name} failed with {error!r}{where}.") from error
