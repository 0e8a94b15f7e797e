"""Which shots of a seed a row of statistics counts: kept in the row, so that no shot is ever counted twice.

A row of a run with a seed has a further entry in ``custom_counts``: ``"seed=7 shots=0:4096"`` with the value
4096, for the shots number 0 to 4095 of the seed 7. Sinter adds such rows up without knowing of this. The
entry survives, and if a range was added twice, its value gives that away.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_KEY = re.compile(r"seed=(\d+) shots=(\d+):(\d+)")


class OverlapError(ValueError):
    """Two ranges that count some shots twice."""


@dataclass(frozen=True, order=True)
class ShotRange:
    """Shots with consecutive numbers."""

    seed: int  # the seed of the run
    first: int  # the number of the first shot
    end: int  # one more than the number of the last shot

    @property
    def key(self) -> str:
        """Its name in ``custom_counts``."""
        return f"seed={self.seed} shots={self.first}:{self.end}"

    @property
    def shots(self) -> int:
        """The number of its shots."""
        return self.end - self.first


def ranges_in(custom_counts: Mapping[str, int]) -> list[ShotRange]:
    """The ranges that a row, or a sum of rows, counts."""
    found = []
    for key, value in custom_counts.items():
        match = _KEY.fullmatch(key)
        if match is None:
            continue
        shot_range = ShotRange(*map(int, match.groups()))
        times, rest = divmod(value, max(shot_range.shots, 1))
        if shot_range.shots < 1 or rest or times < 1:
            raise ValueError(f"custom_counts has {value} shots for the range {key!r}")
        if times > 1:
            raise OverlapError(f"the shots {_shown(shot_range)} are counted {times} times")
        found.append(shot_range)
    return sorted(found)


def joined_ranges(ranges: Iterable[ShotRange]) -> list[ShotRange]:
    """Joins ranges that follow one another.

    Examples:
        >>> joined_ranges([ShotRange(7, 5, 9), ShotRange(7, 0, 5), ShotRange(8, 9, 12)])
        [ShotRange(seed=7, first=0, end=9), ShotRange(seed=8, first=9, end=12)]
        >>> joined_ranges([ShotRange(7, 5, 9), ShotRange(7, 0, 6)])
        Traceback (most recent call last):
        ...
        sinter_plugin.statistics.shot_ranges.OverlapError: the shots 5 to 5 of seed 7 are counted 2 times
    """
    joined: list[ShotRange] = []
    for one in sorted(ranges):
        last = joined[-1] if joined and joined[-1].seed == one.seed else None
        if last is not None and one.first < last.end:
            common = ShotRange(one.seed, one.first, min(one.end, last.end))
            raise OverlapError(f"the shots {_shown(common)} are counted 2 times")
        if last is not None and one.first == last.end:
            joined[-1] = ShotRange(one.seed, last.first, one.end)
        else:
            joined.append(one)
    return joined


def with_joined_ranges(custom_counts: Mapping[str, int]) -> Counter[str]:
    """Counts in which ranges that follow one another are one entry."""
    counts = Counter({key: value for key, value in custom_counts.items() if not _KEY.fullmatch(key)})
    counts.update({one.key: one.shots for one in joined_ranges(ranges_in(custom_counts))})
    return counts


def seed_of(strong_id: str, seed: int) -> int:
    """The seed of a task in a run with a seed.

    Examples:
        >>> seed_of("9c31908e2b", 7) == seed_of("9c31908e2b", 7) != seed_of("deadbeef08", 7)
        True
    """
    return int.from_bytes(hashlib.sha256(f"{seed} {strong_id}".encode()).digest()[:8], "little")


def _shown(shot_range: ShotRange) -> str:
    return f"{shot_range.first} to {shot_range.end - 1} of seed {shot_range.seed}"
