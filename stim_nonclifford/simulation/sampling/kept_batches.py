"""Kept shots: all at once, or as a stream of batches for decoders and other consumers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...base.arguments import MOST_SHOTS, choice, flag, integer_or_none, number_of_shots
from ...base.memory import check_result_bytes
from ...dialect import num_expectations
from ..compiler import CompiledCircuit
from ..engines import PackedBits, SamplingEngine
from .expectation_values import ShotsWithValues
from .results import KeptSamples
from .rows import OUTPUT_NAMES, OutputName, kept_rows_from, namespace_of, unpack
from .shot_numbers import ShotNumbers

IF_TOO_MANY = (
    "Count with sample_counts, write the shots to a file with sample_write, or take them in several calls."
)

_BATCH_BYTES = 1 << 22
_FIRST_SHOTS = 1 << 12
_MOST_SHOTS = 1 << 24
_VALUE_SHOTS = 1 << 20
_GROWTH = 8


@dataclass(frozen=True, eq=False)
class KeptBatch(KeptSamples):
    """The bits of the kept shots of a batch, and which shots these are.

    Attributes:
        shots: Number of attempted shots.
        discards: Number of discarded shots.
        dets: Detection events of the kept shots, as in ``KeptSamples``.
        obs: Observable flips of the kept shots, as in ``KeptSamples``.
        expectation_values: Those of the kept shots, as in ``KeptSamples``.
        shot_numbers: int64, shape (shots - discards,): the numbers of the kept shots, ascending. The same
            sampler with the same seed gives the shot with this number again.
    """

    shot_numbers: npt.NDArray[np.int64]


class KeptShots:
    """The methods ``sample_kept`` and ``iter_kept`` of ``CompiledDetectorSampler``."""

    if TYPE_CHECKING:
        _compiled: CompiledCircuit
        _seed: int
        _numbers: ShotNumbers
        _num_detectors: int
        _num_observables: int
        _postselected: list[int]

        @property
        def _keeping_engine(self) -> SamplingEngine: ...
        @property
        def _keeping_expectation_engine(self) -> ShotsWithValues: ...
        def _split(self, rows: PackedBits) -> tuple[PackedBits, PackedBits]: ...

    def sample_kept(
        self,
        shots: int,
        *,
        output: OutputName = "numpy",
        expectation_values: bool = False,
        bit_packed: bool = True,
    ) -> KeptSamples:
        r"""Samples shots, and returns the bits of the kept shots.

        Args:
            shots: Number of shots to attempt.
            output: ``"numpy"``, or ``"cupy"`` for arrays in the memory of the GPU.
            expectation_values: Whether to return the expectation values of the kept shots, too. The shots are
                then others than without.
            bit_packed: Whether the result has eight bits per byte, or one bool for each.

        Raises:
            ResourceLimitError: Nothing is postselected, and the result is larger than the machine's memory.
            ValueError: shots is negative, or output is ``"cupy"`` and the engine uses no GPU, or expectation
                values are asked for.

        Examples:
            >>> import numpy as np
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("X_ERROR(1) 0\nM 0\nDETECTOR rec[-1]")
            >>> sampler = circuit.compile_detector_sampler(postselection_mask=np.array([True]))
            >>> sampler.sample_kept(100).discards
            100
            >>> circuit.compile_detector_sampler().sample_kept(2, bit_packed=False).dets
            array([[ True],
                   [ True]])
        """
        bit_packed = flag(bit_packed, "bit_packed")
        shots, expectation_values = number_of_shots(shots), flag(expectation_values, "expectation_values")
        if choice(output, "output", OUTPUT_NAMES) == "numpy" and not self._postselected:  # all shots are kept
            num_bits = self._num_detectors + self._num_observables
            num_values = num_expectations(self._compiled.circuit) * expectation_values
            num_bits += num_values * (64 if bit_packed else 8)  # of a byte each if it is not packed
            check_result_bytes(shots, num_bits, bit_packed, IF_TOO_MANY)
        if expectation_values:
            if output != "numpy":
                raise ValueError(
                    "Expectation values are NumPy arrays in the memory of the machine, but output is"
                    f" {output!r}. Leave output out, or call without expectation_values."
                )
            with self._numbers.call():
                kept = self._kept_with_values(shots)
            return kept if bit_packed else self._unpacked(kept)
        with self._numbers.call():
            engine = self._keeping_engine
            # An array without rows, so that there is something to concatenate if no shot is attempted.
            parts = [kept_rows_from(engine, output, self._seed, self._numbers.next, 0)]
            attempted = 0
            # In chunks, so that memory grows with the number of kept shots, not of attempted ones.
            while attempted < shots:
                size = min(shots - attempted, _MOST_SHOTS)
                parts.append(kept_rows_from(engine, output, self._seed, self._numbers.take(size), size))
                attempted += size
            rows = namespace_of(parts[0]).concatenate(parts)
            dets, obs = self._split(rows)
            kept = KeptSamples(shots, shots - len(rows), dets, obs)
            return kept if bit_packed else self._unpacked(kept)

    def _unpacked(self, kept: KeptSamples) -> KeptSamples:
        return dataclasses.replace(
            kept, dets=unpack(kept.dets, self._num_detectors), obs=unpack(kept.obs, self._num_observables)
        )

    def _kept_with_values(self, shots: int) -> KeptSamples:
        """The kept shots with their expectation values, in a call of the sampler."""
        sizes = [min(_VALUE_SHOTS, shots - first) for first in range(0, shots, _VALUE_SHOTS)] or [0]
        parts = [
            self._keeping_expectation_engine.sample_kept_numbered(self._seed, self._numbers.take(size), size)
            for size in sizes
        ]
        rows, values = (np.concatenate([part[k] for part in parts]) for k in (0, 2))
        dets, obs = self._split(rows)
        return KeptSamples(shots, shots - len(rows), dets, obs, expectation_values=values)

    def iter_kept(
        self,
        *,
        max_shots: int | None = None,
        max_kept: int | None = None,
        batch_shots: int | None = None,
        expectation_values: bool = False,
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
            expectation_values: Whether batches have the expectation values of their shots, which are then the
                shots of ``sample_kept`` with this argument.

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
        shots_left = integer_or_none(max_shots, "max_shots", 0, MOST_SHOTS)
        kept_left = integer_or_none(max_kept, "max_kept")
        size = integer_or_none(batch_shots, "batch_shots", 1, MOST_SHOTS)
        return self._batches(shots_left, kept_left, size, flag(expectation_values, "expectation_values"))

    def _batches(
        self, shots_left: int | None, kept_left: int | None, batch_shots: int | None, with_values: bool
    ) -> Iterator[KeptBatch]:
        size = batch_shots or _FIRST_SHOTS
        while shots_left != 0 and kept_left != 0:
            size = size if shots_left is None else min(size, shots_left)
            batch = self._next_batch(size, kept_left, with_values)
            if shots_left is not None:
                shots_left -= batch.shots
            if kept_left is not None:
                kept_left -= len(batch.shot_numbers)
            if not batch_shots:
                size = self._next_size(batch, kept_left)
            yield batch

    def _next_batch(self, size: int, max_kept: int | None, with_values: bool) -> KeptBatch:
        with self._numbers.call():
            first = self._numbers.take(size)
            values = None
            if with_values:
                engine = self._keeping_expectation_engine
                rows, numbers, values = engine.sample_kept_numbered(self._seed, first, size)
            else:
                rows, numbers = self._keeping_engine.sample_kept_numbered(self._seed, first, size)
            shots = size
            if max_kept is not None and len(numbers) >= max_kept:
                rows, numbers = rows[:max_kept], numbers[:max_kept]
                values = None if values is None else values[:max_kept]
                shots = int(numbers[-1]) + 1 - first
                self._numbers.give_back(size - shots)
            dets, obs = self._split(rows)
        return KeptBatch(shots, shots - len(numbers), dets, obs, numbers, expectation_values=values)

    @staticmethod
    def _next_size(batch: KeptBatch, kept_left: int | None) -> int:
        """As many shots as fill a batch, going by the share of the last one that was kept."""
        row_bytes = batch.dets.shape[1] + batch.obs.shape[1] + batch.shot_numbers.itemsize
        if batch.expectation_values is not None:
            row_bytes += 8 * batch.expectation_values.shape[1]
        wanted = max(1, _BATCH_BYTES // row_bytes)
        if kept_left is not None:
            wanted = min(wanted, kept_left + kept_left // 8 + 16)  # beyond the last one, shots are in vain
        kept = len(batch.shot_numbers)
        needed = wanted * (batch.shots + 2) // (kept + 1)
        return max(1, min(needed, _GROWTH * batch.shots, _MOST_SHOTS))
