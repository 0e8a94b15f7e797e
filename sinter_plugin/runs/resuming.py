"""Where a run begins and ends, given what there is already."""

from __future__ import annotations

from dataclasses import dataclass

import sinter

from ..statistics.shot_ranges import joined_ranges, ranges_in
from .jobs import BLOCK_SHOTS, count_of

__all__ = ["Start", "seeds_in", "shard_bounds", "start_of"]


@dataclass(frozen=True)
class Start:
    """What is left to do.

    Attributes:
        first: The number of the first shot.
        end: The number of the shot before which the run ends; None for no limit.
        missing_errors: The number of errors that are missing; None for no limit.
    """

    first: int
    end: int | None
    missing_errors: int | None


def shard_bounds(shots: int, shard: tuple[int, int]) -> tuple[int, int]:
    """The shots of one of several parts, which are as large as whole blocks allow.

    Examples:
        >>> shard_bounds(10_000, (1, 3)), shard_bounds(10_000, (2, 3)), shard_bounds(10_000, (3, 3))
        ((0, 3072), (3072, 6144), (6144, 10000))
    """
    part, parts = shard
    first, end = (shots * k // parts // BLOCK_SHOTS * BLOCK_SHOTS for k in (part - 1, part))
    return first, shots if part == parts else end


def seeds_in(existing: sinter.AnonTaskStats) -> set[int]:
    """The seeds of which the first shots are there, so that a run can go on."""
    ranges = joined_ranges(ranges_in(existing.custom_counts))
    return {one.seed for one in ranges if one.first == 0} - {one.seed for one in ranges if one.first > 0}


def start_of(
    existing: sinter.AnonTaskStats,
    *,
    seed: int,
    shard: tuple[int, int],
    max_shots: int | None,
    max_errors: int | None,
    error_key: str | None,
) -> Start:
    """Where a run begins and ends.

    Shots with other seeds, or without one, count towards the limits, too.

    Examples:
        >>> counts = sinter.AnonTaskStats(shots=5000, errors=7, custom_counts={"seed=1 shots=0:4096": 4096})
        >>> start_of(counts, seed=1, shard=(1, 1), max_shots=10_000, max_errors=10, error_key=None)
        Start(first=4096, end=9096, missing_errors=3)
    """
    own = [one for one in joined_ranges(ranges_in(existing.custom_counts)) if one.seed == seed]
    others = existing.shots - sum(one.shots for one in own)
    first, end = 0, None
    if max_shots is not None:
        first, end = shard_bounds(max_shots if shard[1] > 1 else max(max_shots - others, 0), shard)
    if any(one.first != first for one in own) or (shard[1] > 1 and own and own[0].end > (end or 0)):
        found = ", ".join(f"{one.first} to {one.end - 1}" for one in own)
        raise ValueError(
            f"of seed {seed}, the shots {found} are counted already, but this run begins with shot {first}"
            f"{'' if end is None else f' and ends before {end}'}. Save to another file, and add the files up"
            " with `python -m sinter_plugin combine`; or choose another --seed."
        )
    missing_errors = None if max_errors is None else max_errors - count_of(existing, error_key)
    return Start(own[0].end if own else first, end, missing_errors)
