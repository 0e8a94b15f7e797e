"""Compiled samplers that decode kept shots, and count what is predicted wrongly."""

from __future__ import annotations

import collections
import secrets
import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stim_nonclifford.rates.decoding.kept_shot_decoding import DecoderFailedError, KeptShotDecoding
from stim_nonclifford.simulation.sampling import CompiledDetectorSampler, KeptBatch

from ..statistics.row_warnings import RANDOM_DECODER, RANDOM_DECODER_REMEDY
from .compiled_sampler import CompiledSampler
from .state_check import LogicalStateCheck

__all__ = ["CompiledSoftDecodingSampler"]


class CompiledSoftDecodingSampler(CompiledSampler):
    """Samples and decodes one task; returned by ``SoftDecodingSampler.compiled_sampler_for_task``.

    Threads may share the object. A lock runs their calls one after the other, and no two calls return the
    same shots.
    """

    def __init__(
        self,
        sampler: CompiledDetectorSampler,
        decoding: KeptShotDecoding,
        *,
        postselected_observables: NDArray[np.bool_],
        confidence: bool,
        count_observable_error_combos: bool,
        state_check: LogicalStateCheck | None,
        seed: int | None,
        row_warnings: Sequence[str],
        warn: bool,
        task: str,
    ) -> None:
        """Wraps a compiled sampler and a compiled decoder."""
        super().__init__(sampler, has_seed=seed is not None, row_warnings=row_warnings)
        self._warn = warn
        self._task = task
        self._decoding = decoding
        self._discarding = np.packbits(postselected_observables, bitorder="little")
        self._confidence = confidence
        self._count_observable_error_combos = count_observable_error_combos
        self._state_check = state_check
        self._check_seed = secrets.randbits(64) if seed is None else seed

    def statistics(self) -> dict[str, int]:
        """How often equal detection events saved a decode; see ``KeptShotDecoding.statistics``."""
        with self._lock:
            return self._decoding.statistics()

    def _counted(
        self, shots: int, *, first_shot: int | None
    ) -> tuple[int, int, int, collections.Counter[str]]:
        was_random = self._decoding.is_random
        found = self._counted_once(shots, first_shot)
        if self._decoding.is_random and not was_random:
            # Some answers may have stood for several shots.
            if self._warn:
                warnings.warn(
                    f"The decoder answers equal detection events differently. {RANDOM_DECODER_REMEDY}"
                    f" {self._task}".rstrip(),
                    stacklevel=5,
                )
            found = self._counted_once(shots, first_shot)
        if self._decoding.is_random:
            found[-1][RANDOM_DECODER] = shots
        return found

    def _counted_once(
        self, shots: int, first_shot: int | None
    ) -> tuple[int, int, int, collections.Counter[str]]:
        discards = errors = 0
        counts: collections.Counter[str] = collections.Counter()
        decoded = self._decoding.statistics()["rows_decoded"]
        with_values = self._state_check is not None
        if first_shot is not None:
            self._sampler.seek(first_shot)
        for batch in self._sampler.iter_kept(max_shots=shots, expectation_values=with_values):
            predictions, is_discarded, confidences = self._decoded(batch)
            mistakes = predictions ^ batch.obs
            is_discarded |= np.any(mistakes & self._discarding, axis=1)
            is_wrong = self._failures(batch, mistakes)[~is_discarded]
            discards += batch.discards + int(np.count_nonzero(is_discarded))
            errors += int(np.count_nonzero(is_wrong))
            if self._confidence:
                _count_gaps(counts, confidences[~is_discarded], is_wrong)
            if self._count_observable_error_combos:
                _count_mistakes(counts, mistakes[~is_discarded][is_wrong], self._sampler.num_observables)
        if first_shot is None:  # it depends on what was decoded before
            counts["rows_decoded"] = self._decoding.statistics()["rows_decoded"] - decoded
        return shots, discards, errors, counts

    def _decoded(self, batch: KeptBatch) -> tuple[NDArray[np.uint8], NDArray[np.bool_], NDArray[np.int64]]:
        """Decodes shots; errors name the task and a shot."""
        try:
            return self._decoding.decode(batch.dets)
        except DecoderFailedError as error:
            rows = np.flatnonzero(np.all(batch.dets == error.events, axis=1))
            shot = f" Shot {batch.shot_numbers[rows[0]]} has them." if len(rows) else ""
            raise ValueError(f"{error}{shot} {self._task}".rstrip()) from error
        except ValueError as error:
            raise ValueError(f"{error} {self._task}".rstrip()) from error

    def _failures(self, batch: KeptBatch, mistakes: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Whether each kept shot is an error."""
        if self._state_check is None:
            return np.any(mistakes, axis=1)
        assert batch.expectation_values is not None
        return self._state_check.failures(
            batch.expectation_values, mistakes, self._check_seed, batch.shot_numbers
        )


def _count_gaps(
    counts: collections.Counter[str], gaps: NDArray[np.int64], is_wrong: NDArray[np.bool_]
) -> None:
    for letter, chosen in (("C", ~is_wrong), ("E", is_wrong)):
        for gap, count in zip(*np.unique(gaps[chosen], return_counts=True), strict=True):
            counts[f"{letter}{gap}"] += int(count)


def _count_mistakes(
    counts: collections.Counter[str], mistakes: NDArray[np.uint8], num_observables: int
) -> None:
    patterns, numbers = np.unique(mistakes, axis=0, return_counts=True)
    bits = np.unpackbits(patterns, axis=1, count=num_observables, bitorder="little")
    for pattern, number in zip(bits, numbers, strict=True):
        counts["obs_mistake_mask=" + "".join("_E"[bit] for bit in pattern)] += int(number)
