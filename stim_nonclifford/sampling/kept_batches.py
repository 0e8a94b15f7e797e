"""Kept shots as a stream of batches, for decoders and other consumers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..engines import PackedBits, SamplingEngine
from .bits import checked_count, checked_integer
from .results import KeptSamples
from .shot_numbers import ShotNumbers

__all__ = ["KeptBatch", "KeptStream"]

_BATCH_BYTES = 1 << 22
_FIRST_SHOTS = 1 << 12
_MOST_SHOTS = 1 << 24
_GROWTH = 8


@dataclass(frozen=True, eq=False)
class KeptBatch(KeptSamples):
    """The bits of the kept shots of a batch, and which shots these are.

    Attributes:
        shots: Number of attempted shots.
        discards: Number of discarded shots.
        dets: Detection events of the kept shots, as in ``KeptSamples``.
        obs: Observable flips of the kept shots, as in ``KeptSamples``.
        shot_numbers: int64, shape (shots - discards,): the numbers of the kept shots, ascending. The same
            sampler with the same seed gives the shot with this number again.
    """

    shot_numbers: npt.NDArray[np.int64]


class KeptStream:
    """The method ``iter_kept`` of ``CompiledDetectorSampler``."""

    if TYPE_CHECKING:
        _seed: int
        _numbers: ShotNumbers

        @property
        def _keeping_engine(self) -> SamplingEngine: ...
        def _split(self, rows: PackedBits) -> tuple[PackedBits, PackedBits]: ...

    def iter_kept(
        self,
        *,
        max_shots: int | None = None,
        max_kept: int | None = None,
        batch_shots: int | None = None,
    ) -> Iterator[KeptBatch]:
        r"""Samples shots, and yields the kept ones in batches. Memory stays at some megabytes.

        The shots are those of ``sample_kept``. Where a batch ends is chosen by speed and memory, and does not
        change the shots. Each batch is a call of its own: what other calls sample in between is not in the
        stream. A batch may be empty.

        Args:
            max_shots: Number of shots to attempt; None for no limit.
            max_kept: The stream ends with the shot that is the ``max_kept``-th to be kept; None for no limit.
                Without any limit, the stream does not end.
            batch_shots: The number of shots to attempt per batch. By default, batches have about 4 MiB.

        Yields:
            The batches, which count ``shots`` and ``discards`` of their own.

        Raises:
            ValueError: A number is out of range.

        Examples:
            >>> import numpy as np
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("X_ERROR(0.75) 0 1\nM 0 1\nDETECTOR rec[-1]\nDETECTOR rec[-2]")
            >>> sampler = circuit.compile_detector_sampler(seed=1, postselection_mask=np.array([True, False]))
            >>> for batch in sampler.iter_kept(max_kept=4):
            ...     print(batch.shots, batch.shot_numbers, batch.dets.tolist())
            14 [ 1  6 11 13] [[0], [2], [2], [2]]
        """
        # The checks must not wait for the first batch.
        shots_left = None if max_shots is None else checked_count(max_shots)
        kept_left = None if max_kept is None else checked_integer(max_kept, "max_kept")
        if kept_left is not None and kept_left < 0:
            raise ValueError(f"max_kept must not be negative, but is {kept_left}.")
        if batch_shots is not None and checked_integer(batch_shots, "batch_shots") < 1:
            raise ValueError(f"batch_shots must be positive, but is {batch_shots}.")
        return self._batches(shots_left, kept_left, batch_shots)

    def _batches(
        self, shots_left: int | None, kept_left: int | None, batch_shots: int | None
    ) -> Iterator[KeptBatch]:
        size = batch_shots or _FIRST_SHOTS
        while shots_left != 0 and kept_left != 0:
            size = size if shots_left is None else min(size, shots_left)
            batch = self._next_batch(size, kept_left)
            if shots_left is not None:
                shots_left -= batch.shots
            if kept_left is not None:
                kept_left -= len(batch.shot_numbers)
            if not batch_shots:
                size = self._next_size(batch, kept_left)
            yield batch

    def _next_batch(self, size: int, max_kept: int | None) -> KeptBatch:
        with self._numbers.call():
            first = self._numbers.take(size)
            rows, numbers = self._keeping_engine.sample_kept_numbered(self._seed, first, size)
            shots = size
            if max_kept is not None and len(numbers) >= max_kept:
                rows, numbers = rows[:max_kept], numbers[:max_kept]
                shots = int(numbers[-1]) + 1 - first
                self._numbers.give_back(size - shots)
            dets, obs = self._split(rows)
        return KeptBatch(shots, shots - len(numbers), dets, obs, numbers)

    @staticmethod
    def _next_size(batch: KeptBatch, kept_left: int | None) -> int:
        """As many shots as fill a batch, going by the share of the last one that was kept."""
        row_bytes = batch.dets.shape[1] + batch.obs.shape[1] + batch.shot_numbers.itemsize
        wanted = max(1, _BATCH_BYTES // row_bytes)
        if kept_left is not None:
            wanted = min(wanted, kept_left + kept_left // 8 + 16)  # beyond the last one, shots are in vain
        kept = len(batch.shot_numbers)
        needed = wanted * (batch.shots + 2) // (kept + 1)
        return max(1, min(needed, _GROWTH * batch.shots, _MOST_SHOTS))
