"""What compiled samplers of this plugin share: batches for Sinter's workers, and ranges of numbered shots."""

from __future__ import annotations

import abc
import collections
import math
import threading
import time
from collections.abc import Sequence

import sinter

from stim_nonclifford.base.arguments import integer, number_of_shots
from stim_nonclifford.simulation.sampling import CompiledDetectorSampler

__all__ = ["BatchSize", "CompiledSampler"]

TARGET_SECONDS = 0.2  # Sinter handles messages, such as errors found by other workers, only between calls.
MAX_SHARE = 1 / 8
MIN_SHOTS = 16


class BatchSize:
    """Chooses batches that take little time, and are small compared with all shots sampled before.

    Sinter checks only between calls whether there are enough errors. It does not tell a sampler what it
    counts as an error (``custom_error_count_key``), how many errors it wants, or how many other workers have
    found. So no batch has more than an eighth of the shots sampled so far: whatever Sinter counts, one batch
    increases it by about an eighth at most. The first batches are small for the same reason.
    """

    def __init__(self) -> None:
        self._shots_taken = 0
        self._affordable_shots = math.inf

    def next_shots(self, suggested_shots: int) -> int:
        """The size of the next batch: at least 1, at most ``suggested_shots``."""
        growing = max(MIN_SHOTS, self._shots_taken * MAX_SHARE)
        return max(1, int(min(suggested_shots, self._affordable_shots, growing)))

    def record(self, *, shots: int, seconds: float) -> None:
        """Records a finished batch."""
        self._shots_taken += shots
        self._affordable_shots = shots * TARGET_SECONDS / seconds if seconds > 0 else math.inf


class CompiledSampler(sinter.CompiledSampler, abc.ABC):  # type: ignore[misc]  # Sinter has no type marker.
    """Samples one task.

    Threads may share the object. A lock runs their calls one after the other, and no two calls return the
    same shots.
    """

    def __init__(
        self, sampler: CompiledDetectorSampler, *, has_seed: bool, row_warnings: Sequence[str]
    ) -> None:
        """Wraps a compiled sampler."""
        self._sampler = sampler
        self._has_seed = has_seed
        self._row_warnings = row_warnings
        self._batch_size = BatchSize()
        self._lock = threading.Lock()

    def handles_throttling(self) -> bool:
        """True: this class chooses batch sizes itself, as Sinter's batches of 1024 shots are too slow."""
        return True

    def sample(self, suggested_shots: int) -> sinter.AnonTaskStats:
        """Samples a batch of shots, for at most about 0.2 seconds.

        Args:
            suggested_shots: The largest number of shots to sample.

        Returns:
            Statistics of at least one shot, and of at most ``suggested_shots``.

        Raises:
            ValueError: The sampler has a seed.
        """
        if self._has_seed:
            raise ValueError(
                "This sampler has a seed, so that every worker, and every run that is resumed, would count"
                " the same shots again. Count ranges of its shots with sample_range, or use"
                " compiled_sampler_for_task(task), whose shots nobody has counted before."
            )
        suggested_shots = number_of_shots(suggested_shots, "suggested_shots")
        with self._lock:
            shots = self._batch_size.next_shots(suggested_shots)
            stats = self._timed(shots, None)
            self._batch_size.record(shots=stats.shots, seconds=stats.seconds)
        return stats

    def sample_range(self, first_shot: int, shots: int) -> sinter.AnonTaskStats:
        """Samples the shots of given numbers, all of them, however long that takes.

        Args:
            first_shot: The number of the first shot.
            shots: How many shots.

        Returns:
            Their statistics, which depend on the seed and these numbers alone, except for ``seconds``, if a
            decoder answers equal questions equally.

        Raises:
            ValueError: The sampler has no seed.
        """
        if not self._has_seed:
            raise ValueError(
                "This sampler has no seed, so that its shots have no numbers. Use"
                " compiled_range_sampler_for_task(task, seed=...), or sample(suggested_shots)."
            )
        first_shot, shots = integer(first_shot, "first_shot"), number_of_shots(shots)
        with self._lock:
            return self._timed(shots, first_shot)

    def _timed(self, shots: int, first_shot: int | None) -> sinter.AnonTaskStats:
        start = time.monotonic()
        taken, discards, errors, counts = self._counted(shots, first_shot=first_shot)
        counts["survivors"] = taken - discards
        counts.update(dict.fromkeys(self._row_warnings, taken))
        return sinter.AnonTaskStats(
            shots=taken,
            errors=errors,
            discards=discards,
            seconds=time.monotonic() - start,
            custom_counts=+counts,  # without zeros, as Sinter drops zeros when it adds counts
        )

    @abc.abstractmethod
    def _counted(
        self, shots: int, *, first_shot: int | None
    ) -> tuple[int, int, int, collections.Counter[str]]:
        """The shots, discards, errors and further counts of the next shots, or of a range of them."""
