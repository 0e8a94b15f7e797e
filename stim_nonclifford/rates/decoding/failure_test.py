"""Whether a decoder fails on fault sets: in batches, and once for equal detection events."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..._native import AnswerTable
from ..decoded_rates.faults.mechanisms import FaultModel, Words
from .matching.pymatching_graph import PredictingMatching

__all__ = ["LISTED_BITS", "FailureTest", "Gaps", "Predict", "RepeatedRows", "check_answers"]

Gaps = npt.NDArray[np.int64]
_Bytes = npt.NDArray[np.uint8]

_CACHE_BITS = 18
"""The table has 2^18 places. With one bit more, it takes twice the memory and forgets half as many rows."""

LISTED_BITS = (1 << 9) - 1
"""One row in 512 that a matching by distances has decoded is compared with the decoder at most.

Doubled, that takes half the time, and a difference in few rows is found half as often.
"""


class Predict(Protocol):
    """Predicts the flips of observables from detection events, both bit-packed."""

    def __call__(self, dets: _Bytes, /) -> tuple[_Bytes, Gaps]:
        """Decodes.

        Args:
            dets: uint8, shape (shots, ceil(num_detectors / 8)).

        Returns:
            uint8, shape (shots, ceil(num_observables / 8)); and how sure the decoder is, int64, shape
            (shots,), 0 if it does not say so.
        """
        ...


class RepeatedRows:
    """A sample of the rows that were decoded, and of the predictions, to see whether they are repeated.

    Rows are chosen by their hash values, so that equal ones are in it once, and fewer if they get too many.

    Args:
        most_rows: How many to keep at most.
    """

    def __init__(self, most_rows: int) -> None:
        self._most_rows = most_rows
        self._mask = np.uint64(0)
        self._kept: list[tuple[Words, _Bytes, _Bytes]] = []  # hash values, events, predictions with gaps
        self._count = 0

    def add(self, keys: Words, dets: _Bytes, predictions: _Bytes, gaps: Gaps) -> None:
        """Takes some of the rows of a batch that was decoded.

        Args:
            keys: uint64, shape (rows, 2): their hash values.
            dets: uint8, shape (rows, bytes): the detection events.
            predictions: uint8, shape (rows, bytes).
            gaps: int64, shape (rows,).
        """
        chosen = np.flatnonzero((keys[:, 1] & self._mask) == 0)
        if len(chosen):
            self._kept.append((keys[chosen, 1], dets[chosen], _with_gaps(predictions, gaps)[chosen]))
            self._count += len(chosen)
        if self._count > 2 * self._most_rows:
            self._choose()

    def _choose(self) -> None:
        """Leaves out rows that are there already, and those whose hash values have a bit of the mask."""
        keys, dets, results = (np.concatenate(each) for each in zip(*self._kept, strict=True))
        keys, first = np.unique(keys, return_index=True)
        while np.count_nonzero(keys & self._mask == 0) > self._most_rows:
            self._mask = self._mask << np.uint64(1) | np.uint64(1)
        chosen = keys & self._mask == 0
        self._kept = [(keys[chosen], dets[first[chosen]], results[first[chosen]])]
        self._count = len(self._kept[0][0])

    def differing(self, predict: Predict, most: int | None = None) -> tuple[int, int]:
        """Decodes the sample once more, in one batch and in another order.

        Where it has fewer rows than it may have, they are decoded again and again: that many predictions are
        compared, however few different detection events there are.

        Args:
            predict: The decoder.
            most: How many predictions to compare; None: as many as rows that are kept at most.

        Returns:
            How many predictions are not what they were, and of how many.
        """
        if not self._kept:
            return 0, 0
        self._choose()
        most = self._most_rows if most is None else most
        places = np.arange(most)
        places = places * self._count // most if most < self._count else places % self._count
        _, dets, results = self._kept[0]
        again = _with_gaps(*predict(np.ascontiguousarray(dets[places])))
        return int(np.count_nonzero((again != results[places]).any(axis=1))), most


def _with_gaps(predictions: _Bytes, gaps: Gaps) -> _Bytes:
    """Predictions with the bytes of their gaps beside them."""
    return np.hstack([predictions, np.ascontiguousarray(gaps)[:, np.newaxis].view(np.uint8)])


class FailureTest:
    """Says on which rows a decoder fails.

    A table holds the latest predictions, each at a place that its hash value gives. Of the detection events
    it keeps 128 bits of a random linear hash, which two of n different ones share with probability
    n^2 2^-129.

    Args:
        model: The mechanisms.
        predict: The decoder.
        most_repeated: How many rows to keep, at most, for ``differing``.
        matching: A matching by distances that predicts the same, but faster, where it predicts.

    Attributes:
        asked: Number of rows that were looked up.
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
        wrong, gaps, unknown = self.known(rows)
        if len(unknown):
            wrong[unknown], gaps[unknown] = self.decode(rows[unknown])
        return wrong, gaps

    def known(self, rows: Words) -> tuple[Words, Gaps, npt.NDArray[np.int64]]:
        """What is known of rows without the decoder: from the table, or by the matching.

        Returns:
            The observables that are predicted wrongly, as words; the gaps; and the numbers of the rows of
            which nothing is known, where both have no meaning.
        """
        rows = np.ascontiguousarray(rows)
        predictions, gaps, unknown, fresh = self._table.look_up(rows.ravel(), rows.shape[1])
        self.asked += len(rows)
        self.decoded += len(fresh)
        sampled = fresh[self._model.hashes(rows[fresh])[:, 1] & np.uint64(LISTED_BITS) == 0]
        if len(sampled):
            packed = predictions[sampled].view(np.uint8)[:, : -(-self._model.num_observables // 8)]
            self._add_repeated(rows[sampled], packed, gaps[sampled])
        return predictions ^ self._model.observables(rows), gaps, unknown

    def decode(self, rows: Words) -> tuple[Words, Gaps]:
        """Decodes rows of which nothing is known; returns what ``answers`` does."""
        self.decoded += len(rows)
        found, gaps = self._predict(self._model.detectors(rows))
        self._add_repeated(rows, found, gaps)
        padded = np.zeros((len(rows), 8 * self._model.observable_words), dtype=np.uint8)
        padded[:, : found.shape[1]] = found
        predictions = padded.view(np.uint64)
        self._table.put(rows.ravel(), rows.shape[1], predictions.ravel(), gaps)
        return predictions ^ self._model.observables(rows), gaps

    def differing(self, most: int | None = None) -> tuple[int, int]:
        """Decodes a sample of the rows once more; see ``RepeatedRows.differing``."""
        found = self._repeated.differing(self._predict, most)
        self.decoded += found[1]
        return found

    def _add_repeated(self, rows: Words, predictions: _Bytes, gaps: Gaps) -> None:
        self._repeated.add(self._model.hashes(rows), self._model.detectors(rows), predictions, gaps)


def check_answers(test: FailureTest, name: str, most: int | None = None) -> None:
    """Decodes a sample of what a decoder has decoded once more.

    Of n predictions that are compared, none differs with probability (1 - r)^n if a part r of them is random.

    Args:
        test: The decoder.
        name: The name of the decoder.
        most: How many predictions to compare; None: as many as rows that are kept at most.

    Raises:
        ValueError: Some predictions are other ones than before.
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
