"""The number of shots per call of a sampler that limits its own batches."""

from __future__ import annotations

import math

__all__ = ["BatchSize"]

TARGET_SECONDS = 0.2  # Sinter handles messages, such as errors found by other workers, only between calls.
MAX_SHARE = 1 / 8
MIN_SHOTS = 16


class BatchSize:
    """Chooses batches that take little time, and are small compared with all shots sampled before.

    Sinter checks only between calls whether there are enough errors. It does not tell a sampler what it
    counts as an error (``custom_error_count_key``), how many errors it wants, or how many other workers have
    found. So no batch has more than an eighth of the shots sampled so far: whatever Sinter counts, one batch
    increases it by about an eighth at most. The first batches are small for the same reason.

    Examples:
        >>> batch = BatchSize()
        >>> batch.next_shots(10**6)  # the first batch is small
        16
        >>> batch.record(shots=8000, seconds=0.001)
        >>> batch.next_shots(10**6)  # an eighth of 8000
        1000
        >>> batch.next_shots(10)  # never more than suggested
        10
        >>> batch.record(shots=1000, seconds=0.5)
        >>> batch.next_shots(10**6)  # 0.2 s at 2000 shots/s
        400
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
