"""Whether a decoder fails on fault sets: it is asked in batches, and once for equal detection events."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from .mechanisms import FaultModel, Words

__all__ = ["FailureTest", "Predict"]

Gaps = npt.NDArray[np.int64]

_CACHE_BITS = 18


class Predict(Protocol):
    """Predicts the flips of observables from detection events, both bit-packed."""

    def __call__(self, dets: npt.NDArray[np.uint8], /) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """Decodes.

        Args:
            dets: uint8, shape (shots, ceil(num_detectors / 8)).

        Returns:
            uint8, shape (shots, ceil(num_observables / 8)); and how sure the decoder is, int64, shape
            (shots,), 0 if nobody asked.
        """
        ...


class FailureTest:
    """Says on which rows a decoder fails.

    A table holds the latest answers, each at a place that its hash value gives. Of the detection events it
    keeps 128 bits of a random linear hash, which two of n different ones share with probability n^2 2^-129.

    Attributes:
        asked: Number of rows that were asked about.
        decoded: Number of rows that were decoded for them.
    """

    def __init__(self, model: FaultModel, predict: Predict) -> None:
        self._model = model
        self._predict = predict
        size = 1 << _CACHE_BITS
        self._mask = np.uint64(size - 1)
        self._keys: Words = np.zeros((size, 2), dtype=np.uint64)
        self._predictions: Words = np.zeros((size, model.observable_words), dtype=np.uint64)
        self._gaps: Gaps = np.zeros(size, dtype=np.int64)
        self._is_known = np.zeros(size, dtype=np.bool_)
        self.asked = self.decoded = 0

    def __call__(self, rows: Words) -> npt.NDArray[np.bool_]:
        """Whether the decoder predicts an observable wrongly, for each row."""
        return np.asarray(self.wrong(rows).any(axis=1))

    def wrong(self, rows: Words) -> Words:
        """The observables that the decoder predicts wrongly, as words, for each row."""
        return self.answers(rows)[0]

    def answers(self, rows: Words) -> tuple[Words, Gaps]:
        """The observables that the decoder predicts wrongly, and how sure it is, for each row."""
        if not len(rows):
            return np.zeros((0, self._model.observable_words), dtype=np.uint64), np.zeros(0, dtype=np.int64)
        self.asked += len(rows)
        keys = self._model.hashes(rows)
        places = (keys[:, 0] & self._mask).astype(np.intp)
        found = self._is_known[places] & (self._keys[places] == keys).all(axis=1)
        predictions, gaps = self._predictions[places], self._gaps[places]
        new = np.flatnonzero(~found)
        if len(new):
            predictions[new], gaps[new] = self._decoded(rows[new])
            self._keys[places[new]] = keys[new]
            self._predictions[places[new]] = predictions[new]
            self._gaps[places[new]] = gaps[new]
            self._is_known[places[new]] = True
        return predictions ^ self._model.observables(rows), gaps

    def without_memory(self, rows: Words) -> tuple[npt.NDArray[np.bool_], Gaps]:
        """Whether the decoder fails, and how sure it is, with every row decoded and none remembered."""
        if not len(rows):
            return np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.int64)
        self.asked += len(rows)
        predictions, gaps = self._decoded(rows)
        return (predictions != self._model.observables(rows)).any(axis=1), gaps

    def _decoded(self, rows: Words) -> tuple[Words, Gaps]:
        self.decoded += len(rows)
        found, gaps = self._predict(self._model.detectors(rows))
        padded = np.zeros((len(rows), 8 * self._model.observable_words), dtype=np.uint8)
        padded[:, : found.shape[1]] = found
        return padded.view(np.uint64), gaps
