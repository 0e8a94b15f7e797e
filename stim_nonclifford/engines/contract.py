"""What every engine can do with a plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

__all__ = ["DeviceRows", "DeviceSamplingEngine", "PackedBits", "SamplingEngine", "Tally"]

PackedBits = npt.NDArray[np.uint8]
"""Rows of bits, eight to a byte: bit k of row r is ``(rows[r, k // 8] >> (k % 8)) & 1``."""

DeviceRows = Any
"""The same as a CuPy array."""


@dataclass(frozen=True)
class Tally:
    """Counts over a range of shots.

    Attributes:
        shots: Shots attempted.
        discards: Shots in which a postselected output fired.
        errors: Kept shots with any output set.
        patterns: For each non-zero pattern of outputs (bit k is output k) the number of kept shots with it.
    """

    shots: int
    discards: int
    errors: int
    patterns: dict[int, int] = field(default_factory=dict)


class SamplingEngine(Protocol):
    """A plan, ready to be sampled.

    Shots are numbered; what happens in a shot depends on the plan, the seed and the shot's number alone.
    """

    def count(self, seed: int, first_shot: int, shots: int, max_errors: int = 0) -> Tally:
        """Counts shots first_shot, ..., first_shot + shots - 1.

        Args:
            seed: 0 <= seed < 2^64.
            first_shot: Number of the first shot.
            shots: How many.
            max_errors: If positive, stop after the first block of ``plan.BLOCK_SHOTS`` shots (numbered from
                shot 0) with which the number of errors reaches it.
        """
        ...

    def error_shots(self, seed: int, first_shot: int, shots: int, max_errors: int = 0) -> list[int]:
        """The numbers of the kept shots with any output set, ascending, out of those that count counts."""
        ...

    def sample(self, seed: int, first_shot: int, shots: int) -> PackedBits:
        """The outputs of all shots; the plan must not postselect."""
        ...

    def sample_kept(self, seed: int, first_shot: int, shots: int) -> PackedBits:
        """The outputs of the kept shots, in the order of the shots."""
        ...

    def statistics(self) -> dict[str, int]:
        """What the engine has stored and done up to now, by names that the engine chooses."""
        ...


@runtime_checkable
class DeviceSamplingEngine(SamplingEngine, Protocol):
    """An engine that can leave its results in the memory of a GPU."""

    def sample_on_device(self, seed: int, first_shot: int, shots: int) -> DeviceRows:
        """As ``sample``."""
        ...

    def sample_kept_on_device(self, seed: int, first_shot: int, shots: int) -> DeviceRows:
        """As ``sample_kept``."""
        ...
