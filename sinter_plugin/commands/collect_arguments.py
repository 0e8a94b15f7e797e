"""The arguments of ``python -m sinter_plugin collect`` that ``sinter collect`` does not have."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import stim_nonclifford as snc
from stim_nonclifford.circuit.logical_states import LogicalState, parsed_state
from stim_nonclifford.commands.options import add_state_check

__all__ = ["CollectArguments", "parse_own_arguments"]


@dataclass(frozen=True)
class CollectArguments:
    """What the arguments say.

    Attributes:
        dask: The address of Dask's scheduler, its file, or ``local``; None: no Dask.
        shard: Which part of the shots, counted from 1, and how many parts there are; None: all shots.
        seed: The seed, or None.
        max_seconds: When the run ends, or None.
        state_check: The logical state that is checked, or None.
        state_check_text: The same as it was written.
    """

    dask: str | None
    shard: tuple[int, int] | None
    seed: int | None
    max_seconds: float | None
    state_check: snc.LogicalStateCheck | LogicalState | None = None
    state_check_text: str | None = None


def parse_own_arguments(arguments: Sequence[str]) -> tuple[CollectArguments, list[str]]:
    """Takes the arguments of this command out of a command line.

    Examples:
        >>> own, left = parse_own_arguments(["--shard", "17/100", "--seed", "5", "--max_shots", "1000"])
        >>> own.shard, own.seed, left
        ((17, 100), 5, ['--max_shots', '1000'])
    """
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
        type=_seed,
        help="Seed of the shots, a number below 2^64. The counts are the same on any number of workers, and\n"
        "after interruptions. Without it, the run takes a fresh one, or that of the saved statistics.",
    )
    group.add_argument(
        "--max_seconds",
        type=_seconds,
        help="End the run so long after the first worker has started, with what has been sampled then. The\n"
        "first range of shots is waited for, with the preparation of its decoder.",
    )
    add_state_check(group)
    if "--help" in arguments or "-h" in arguments:
        print(parser.format_help().partition("\n\n")[2])
    found, others = parser.parse_known_args(list(arguments))
    check: Any = None if found.state_check is None else parsed_state(found.state_check)
    own = CollectArguments(found.dask, found.shard, found.seed, found.max_seconds, check, found.state_check)
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


def _seed(text: str) -> int:
    seed = int(text) if text.replace("_", "").isdigit() else -1
    if not 0 <= seed < 2**64:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 2^64 - 1.")
    return seed


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of seconds.")
    return seconds
