"""The classes that samplers return besides arrays."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.arguments import number, probability, refuse_argument, text
from ...base.probabilities import clopper_pearson
from ..faults import CircuitFault


@dataclass(frozen=True, eq=False)
class SampleCounts:
    """Counts of discarded shots and of logical errors. Counts of disjoint sets of shots can be added.

    Attributes:
        shots: Number of attempted shots.
        discards: Number of discarded shots, in which a postselected detector or observable was flipped.
        errors: Number of kept shots in which any observable was flipped.
        observable_flips: int64, shape (num_observables,): for each observable, the number of kept shots in
            which it was flipped.
        error_patterns: For each non-empty set of observables, as an int with bit k for observable k, the
            number of kept shots in which exactly these were flipped.

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
        """Number of shots that were not discarded."""
        return self.shots - self.discards

    @property
    def rate(self) -> float:
        """Logical error rate: errors per kept shot; NaN if no shot was kept."""
        return self.errors / self.kept if self.kept else math.nan

    def interval(self, coverage: float = 0.95) -> tuple[float, float]:
        """The interval of Clopper and Pearson for the logical error rate per kept shot.

        Args:
            coverage: The probability with which the interval contains the true rate, at least.

        Returns:
            (low, high); (0, 1) if no shot was kept.

        Raises:
            ValueError: ``coverage`` is not between 0 and 1.

        Examples:
            >>> SampleCounts(2000, 1000, 10, np.array([10])).interval()
            (0.0048..., 0.0183...)
        """
        coverage = probability(coverage, "coverage")
        if coverage in (0, 1):
            refuse_argument("coverage", "a number between 0 and 1", coverage, kind=ValueError)
        return clopper_pearson(self.errors, self.kept, coverage)

    def to_sinter(self, json_metadata: Any, *, decoder: str = "soft_postselect", seconds: float = 0) -> Any:
        """The counts as a row of Sinter's statistics, for its plots and its files.

        Args:
            json_metadata: What tells the circuit apart, such as ``{"d": 3, "p": 0.001}``. Sinter adds up rows
                with the same ``strong_id``, and here that is a hash of the metadata and the decoder.
            decoder: The name in the column for decoders. These are the counts of ``soft_postselect``.
            seconds: Core seconds that sampling has taken, if they matter.

        Returns:
            The row, a ``sinter.TaskStats``. As in Sinter, ``errors`` are among the kept shots. Custom counts
            have the sets of flipped observables by Sinter's names, such as ``obs_mistake_mask=_E``.

        Raises:
            TypeError: ``json_metadata`` is not JSON.

        Examples:
            >>> counts = SampleCounts(2000, 1000, 10, np.array([10]), {1: 10})
            >>> row = counts.to_sinter({"p": 0.001})
            >>> row.shots, row.errors, row.discards, row.decoder, row.custom_counts
            (2000, 10, 1000, 'soft_postselect', Counter({'obs_mistake_mask=E': 10}))
        """
        import sinter  # takes as long to import as all of this package

        decoder, seconds = text(decoder, "decoder"), number(seconds, "seconds", 0)
        try:
            named = json.dumps([decoder, json_metadata], sort_keys=True)
        except (TypeError, ValueError):
            refuse_argument("json_metadata", "JSON, such as a dict of numbers", json_metadata)
        return sinter.TaskStats(
            strong_id=hashlib.sha256(named.encode()).hexdigest(),
            decoder=decoder,
            json_metadata=json_metadata,
            shots=self.shots,
            errors=self.errors,
            discards=self.discards,
            seconds=seconds,
            custom_counts=Counter(
                {
                    f"obs_mistake_mask={self._mask_text(pattern)}": count
                    for pattern, count in self.error_patterns.items()
                }
            ),
        )

    def _mask_text(self, pattern: int) -> str:
        return "".join("_E"[pattern >> k & 1] for k in range(len(self.observable_flips)))

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
        shots: Number of attempted shots.
        discards: Number of discarded shots.
        dets: uint8, shape (shots - discards, ceil(num_detectors / 8)): the bit of detector m in kept shot s
            is ``(dets[s, m // 8] >> (m % 8)) & 1``.
        obs: uint8, shape (shots - discards, ceil(num_observables / 8)): the same for observables. With
            ``sample_kept(..., bit_packed=False)``, ``dets`` and ``obs`` are bool, shape (shots - discards,
            num_detectors) and (shots - discards, num_observables).
        expectation_values: float64, shape (shots - discards, num_expectation_values), if they were asked for,
            otherwise None.
    """

    shots: int
    discards: int
    dets: npt.NDArray[Any]
    obs: npt.NDArray[Any]
    expectation_values: npt.NDArray[np.float64] | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class KeptFailure:
    """A kept shot with a logical error.

    Attributes:
        shot: The number of the shot.
        observables: The observables that were flipped.
        causes: One entry per noise event: all faults with the effect of the event. Any one of them may have
            occurred, and no measurement can distinguish them. An event has no entry if its only cause is that
            nothing happened where an error is more likely than none.
        faults: Faults that give this shot: ``circuit.with_faults`` and ``circuit.outcome_probabilities`` of
            them have the probabilities of a shot with these events. Usually that is one fault per event, the
            first of its causes. Events at the same place are one fault, as X and Z of a depolarizing channel
            are Y. Errors that are more likely than none are there unless an event says otherwise.
    """

    shot: int
    observables: tuple[int, ...]
    causes: tuple[tuple[CircuitFault, ...], ...]
    faults: tuple[CircuitFault, ...]


@dataclass(frozen=True)
class FailureSamples:
    """Counts of shots, and the faults behind each logical error.

    Attributes:
        counts: The counts of shots, discards and errors.
        failures: The kept shots with a logical error, in the order of the shots.
    """

    counts: SampleCounts
    failures: tuple[KeptFailure, ...]
