"""What samplers return besides arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..faults import CircuitFault

__all__ = ["FailureSamples", "KeptFailure", "KeptSamples", "SampleCounts"]


@dataclass(frozen=True, eq=False)
class SampleCounts:
    """Counts of discarded and of wrong shots. Counts of disjoint sets of shots can be added.

    Attributes:
        shots: Shots attempted.
        discards: Shots that were discarded because a postselected detector (or observable) fired.
        errors: Kept shots in which any observable flipped.
        observable_flips: int64, shape (num_observables,): kept shots in which each observable flipped.
        error_patterns: For each combination of flipped observables, as an int with bit k for observable k,
            the number of kept shots with it; without the combination of none.

    Examples:
        >>> one = SampleCounts(100, 40, 3, np.array([2, 2]), {1: 1, 2: 1, 3: 1})
        >>> (one + one).errors, one.kept
        (6, 60)
    """

    shots: int
    discards: int
    errors: int
    observable_flips: npt.NDArray[np.int64]
    error_patterns: Mapping[int, int] = field(default_factory=dict)

    @property
    def kept(self) -> int:
        """Shots that were not discarded."""
        return self.shots - self.discards

    def __add__(self, other: SampleCounts) -> SampleCounts:
        patterns = dict(self.error_patterns)
        for pattern, count in other.error_patterns.items():
            patterns[pattern] = patterns.get(pattern, 0) + count
        return SampleCounts(
            self.shots + other.shots,
            self.discards + other.discards,
            self.errors + other.errors,
            self.observable_flips + other.observable_flips,
            patterns,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SampleCounts):
            return NotImplemented
        return (
            (self.shots, self.discards, self.errors) == (other.shots, other.discards, other.errors)
            and np.array_equal(self.observable_flips, other.observable_flips)
            and dict(self.error_patterns) == dict(other.error_patterns)
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class KeptSamples:
    """The bits of the kept shots.

    Attributes:
        shots: Shots attempted.
        discards: Shots that were discarded.
        dets: uint8, shape (shots - discards, ceil(num_detectors / 8)): the bit of detector m in kept shot s
            is ``(dets[s, m // 8] >> (m % 8)) & 1``.
        obs: uint8, shape (shots - discards, ceil(num_observables / 8)), likewise for observables.
    """

    shots: int
    discards: int
    dets: npt.NDArray[np.uint8]
    obs: npt.NDArray[np.uint8]


@dataclass(frozen=True)
class KeptFailure:
    """A kept shot with a logical error.

    Attributes:
        shot: Its number.
        observables: The observables that flipped.
        causes: One entry per noise event: the faults that have the event's effect, any one of which may have
            been the cause; no measurement can tell them apart. Events of channels that more likely do
            something than nothing have no entry.
    """

    shot: int
    observables: tuple[int, ...]
    causes: tuple[tuple[CircuitFault, ...], ...]

    @property
    def faults(self) -> tuple[CircuitFault, ...]:
        """One fault per event: a set of faults that has the effect of what happened."""
        return tuple(alternatives[0] for alternatives in self.causes)


@dataclass(frozen=True)
class FailureSamples:
    """Counts, and what went wrong in each error among them.

    Attributes:
        counts: Shots, discards and errors.
        failures: The errors, in the order of the shots.
    """

    counts: SampleCounts
    failures: tuple[KeptFailure, ...]
