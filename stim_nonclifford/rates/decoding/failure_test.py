"""Whether a decoder fails on fault sets: it is asked in batches, and once for equal detection events."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..._native import AnswerTable, look_up
from ..decoded_rates.faults.mechanisms import FaultModel, Words
from .matching.pymatching_graph import PredictingMatching

__all__ = [
    "LISTED_BITS",
    "FailureTest",
    "Predict",
    "RepeatedRows",
    "check_answers",
]

Gaps = npt.NDArray[np.int64]

_CACHE_BITS = 18
LISTED_BITS = (1 << 9) - 1
"""Of rows that a matching has decoded, one in 512 is compared with the decoder at most: that takes longer."""


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


class RepeatedRows:
    """A sample of the rows that were decoded, and of the answers, to see whether they are the same again.

    Rows are chosen by their hash values, so that equal ones are in it once, and fewer if they get too many.

    Args:
        most_rows: How many to keep at most.
    """

    def __init__(self, most_rows: int) -> None:
        self._most_rows = most_rows
        self._mask = 0
        self._answers: dict[int, tuple[bytes, bytes]] = {}
        self._waiting: list[tuple[Words, npt.NDArray[np.uint8], npt.NDArray[np.uint8], Gaps]] = []
        self._num_waiting = 0

    def add(
        self, keys: Words, dets: npt.NDArray[np.uint8], predictions: npt.NDArray[np.uint8], gaps: Gaps
    ) -> None:
        """Takes some of the rows of a batch that was decoded.

        Args:
            keys: uint64, shape (rows, 2): their hash values.
            dets: uint8, shape (rows, bytes): the detection events.
            predictions: uint8, shape (rows, bytes).
            gaps: int64, shape (rows,).
        """
        chosen = np.flatnonzero((keys[:, 1] & np.uint64(self._mask)) == 0)
        if len(chosen):
            self._waiting.append((keys[chosen, 1], dets[chosen], predictions[chosen], gaps[chosen]))
            self._num_waiting += len(chosen)
        if self._num_waiting > self._most_rows:
            self._choose()

    def _choose(self) -> None:
        """Looks at the rows that wait: one by one would take longer."""
        if not self._waiting:
            return
        keys, dets, predictions, gaps = (np.concatenate(each) for each in zip(*self._waiting, strict=True))
        self._waiting, self._num_waiting = [], 0
        values, first = np.unique(keys, return_index=True)
        while np.count_nonzero(values & np.uint64(self._mask) == 0) > self._most_rows:
            self._mask = 2 * self._mask + 1
        is_chosen = values & np.uint64(self._mask) == 0
        for key, k in zip(values[is_chosen].tolist(), first[is_chosen].tolist(), strict=True):
            if key not in self._answers:
                self._answers[key] = dets[k].tobytes(), _answer_bytes(predictions[k], gaps[k])
        while len(self._answers) > self._most_rows:
            kept = {key: each for key, each in self._answers.items() if not key & self._mask}
            if len(kept) == len(self._answers):
                self._mask = 2 * self._mask + 1
            self._answers = kept

    def differing(self, predict: Predict, most: int | None = None) -> tuple[int, int]:
        """Decodes the sample once more, in one batch and in another order.

        Where it has fewer rows than it may have, they are asked for again and again: so many answers are
        compared, however few different detection events there are.

        Args:
            predict: The decoder.
            most: How many answers to compare; None: as many as rows that are kept at most.

        Returns:
            How many answers are not what they were, and of how many.
        """
        self._choose()
        kept = [self._answers[key] for key in sorted(self._answers)]
        if not kept:
            return 0, 0
        most = self._most_rows if most is None else most
        kept = [kept[k * len(kept) // most if most < len(kept) else k % len(kept)] for k in range(most)]
        dets = np.frombuffer(b"".join(events for events, _ in kept), dtype=np.uint8).reshape(len(kept), -1)
        predictions, gaps = predict(np.ascontiguousarray(dets))
        again = [_answer_bytes(*each) for each in zip(predictions, gaps, strict=True)]
        return sum(one != other for (_, one), other in zip(kept, again, strict=True)), len(kept)


def _answer_bytes(prediction: npt.NDArray[np.uint8], gap: np.int64) -> bytes:
    return prediction.tobytes() + np.int64(gap).tobytes()


class FailureTest:
    """Says on which rows a decoder fails.

    A table holds the latest answers, each at a place that its hash value gives. Of the detection events it
    keeps 128 bits of a random linear hash, which two of n different ones share with probability n^2 2^-129.

    Args:
        model: The mechanisms.
        predict: The decoder.
        most_repeated: How many rows to keep, at most, for ``differing``.
        matching: What answers like ``predict``, but faster, where it answers.

    Attributes:
        asked: Number of rows that were asked about.
        decoded: Number of rows that were decoded for them.
    """

    def __init__(
        self,
        model: FaultModel,
        predict: Predict,
        most_repeated: int = 256,
        matching: PredictingMatching | None = None,
    ) -> None:
        self._model = model
        self._predict = predict
        self._table = AnswerTable(model.detector_words, model.observable_words, _CACHE_BITS)
        if matching is not None:
            matching.use_in(self._table, model.detector_words)
        self._repeated = RepeatedRows(most_repeated)
        self.asked = self.decoded = 0

    def __call__(self, rows: Words) -> npt.NDArray[np.bool_]:
        """Whether the decoder predicts an observable wrongly, for each row."""
        return np.asarray(self.wrong(rows).any(axis=1))

    def wrong(self, rows: Words) -> Words:
        """The observables that the decoder predicts wrongly, as words, for each row."""
        return self.answers(rows)[0]

    def answers(self, rows: Words) -> tuple[Words, Gaps]:
        """The observables that the decoder predicts wrongly, and how sure it is, for each row."""
        rows = np.ascontiguousarray(rows)
        own = np.zeros(len(rows), dtype=np.int64)  # all rows are looked up in the one table
        predictions, gaps, unknown, fresh = look_up([self._table], rows.ravel(), rows.shape[1], own)
        self.asked += len(rows)
        self.decoded += len(fresh)
        sampled = fresh[self._model.hashes(rows[fresh])[:, 1] & np.uint64(LISTED_BITS) == 0]
        if len(unknown):
            predictions[unknown], gaps[unknown] = self._remember(rows[unknown])
        if len(sampled):
            self._sample(rows[sampled], predictions[sampled])
        return predictions ^ self._model.observables(rows), gaps

    def wrong_without_memory(self, rows: Words) -> Words:
        """The observables that the decoder predicts wrongly, with every row decoded and none remembered."""
        if not len(rows):
            return np.zeros((0, self._model.observable_words), dtype=np.uint64)
        self.asked += len(rows)
        return self._decoded(rows)[0] ^ self._model.observables(rows)

    def differing(self, most: int | None = None) -> tuple[int, int]:
        """Decodes a sample of all rows once more; how many answers are not what they were, of how many."""
        found = self._repeated.differing(self._predict, most)
        self.decoded += found[1]
        return found

    def _decoded(self, rows: Words) -> tuple[Words, Gaps]:
        self.decoded += len(rows)
        dets = self._model.detectors(rows)
        found, gaps = self._predict(dets)
        self._repeated.add(self._model.hashes(rows), dets, found, gaps)
        padded = np.zeros((len(rows), 8 * self._model.observable_words), dtype=np.uint8)
        padded[:, : found.shape[1]] = found
        return padded.view(np.uint64), gaps

    def _remember(self, rows: Words) -> tuple[Words, Gaps]:
        """Decodes rows of which the table knows nothing."""
        found = self._decoded(rows)
        self._table.put(rows.ravel(), rows.shape[1], found[0].ravel(), found[1])
        return found

    def _sample(self, rows: Words, predictions: Words) -> None:
        """Takes some of the rows that the matching has decoded, for ``differing``."""
        bytes_of_prediction = -(-self._model.num_observables // 8)
        packed = predictions.view(np.uint8).reshape(len(rows), -1)[:, :bytes_of_prediction]
        gaps = np.zeros(len(rows), dtype=np.int64)
        self._repeated.add(self._model.hashes(rows), self._model.detectors(rows), packed, gaps)


def check_answers(test: FailureTest, name: str, most: int | None = None) -> None:
    """Asks a decoder again about a sample of what it has decoded.

    Of n answers that are compared, none differs with probability (1 - r)^n if a part r of the answers is
    random.

    Args:
        test: The decoder.
        name: Its name.
        most: How many answers to compare; None: as many as rows that are kept at most.

    Raises:
        ValueError: Some answers are other ones than before.
    """
    different, total = test.differing(most)
    if different:
        raise ValueError(
            f"The decoder {name} is not deterministic: it decoded {total} detection events once more, in"
            f" another batch and order, and {different} of its answers were not what they had been. Which"
            " fault sets fail has no meaning then. Let equal detection events have equal answers: a seed that"
            " follows from the events, and not one stream for all. Or count errors with"
            " SoftDecodingSampler, which decodes every shot of such a decoder."
        )
