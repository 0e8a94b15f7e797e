"""Which shots are accepted, which of these are decoded wrongly, and with which gap, within a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...base.arrays import Bools, Bytes, Indices, Integers, Words, bits_of_words
from ..decoded_rates.faults.mechanisms import MOST_ROWS, FaultModel
from ..estimation.limits import MOST_AT_A_TIME, Deadline, TimeIsOver
from .distinct_rows import DistinctRows

Predict = Callable[[Bytes], tuple[Bytes, Integers]]
"""A function from detection events to predictions of observables and gaps, which say how sure it is.

Events and predictions are bit-packed: uint8, shape (shots, ceil(num_detectors / 8)) and (shots,
ceil(num_observables / 8)). Integers are int64, shape (shots,), 0 for decoders without a confidence.
"""


@dataclass(frozen=True)
class Classes:
    """Classified shots, the first ones of those that were given if time has run out."""

    shots: int  # how many were classified
    accepted: Indices  # shape (accepted,): those in which no postselected detector fires
    wrong: Bools  # shape (accepted, observables): which observables are predicted wrongly
    gaps: Integers  # shape (accepted,): how sure the decoder is


class Classifier:
    """Classifies shots, of which equal ones are decoded once."""

    def __init__(
        self, model: FaultModel, predict: Predict, deadline: Deadline, stores_failures: bool = False
    ) -> None:
        self.stores_failures = stores_failures  # whether samplers keep failing sets, for error budgets
        self.num_observables = model.num_observables
        self._model, self._predict, self.deadline = model, predict, deadline
        self._observable_bytes = -(-model.num_observables // 8)
        # A result has the bytes of the predictions and those of the gap.
        self._none: Bytes = np.empty((0, self._observable_bytes + 8), dtype=np.uint8)
        self._distinct = DistinctRows(
            row_bytes=-(-model.num_detectors // 8), result_bytes=self._none.shape[1]
        )
        self._rows = 1  # before the decoder's speed is known

    @property
    def asked(self) -> int:
        """Number of shots that were decoded or equal to one that was."""
        return self._distinct.asked

    @property
    def decoded(self) -> int:
        """Number of decodes."""
        return self._distinct.decoded + self._distinct.repeated

    def classify(self, rows: Words) -> Classes:
        """Classifies shots, given as rows of the model with what outcomes flip."""
        accepted = np.flatnonzero(self._model.fired(rows) == 0)
        results, done = [self._none], 0
        # Blocks do not depend on the speed, nor does what is decoded.
        while done < len(accepted):
            block = accepted[done : done + MOST_ROWS]
            results.append(self._distinct.results(self._model.detectors(rows[block]), self._decode_in_time))
            done += len(results[-1])
            if len(results[-1]) < len(block):
                break
        shots = len(rows) if done == len(accepted) else int(accepted[done])
        found = np.concatenate(results)
        gaps = np.ascontiguousarray(found[:, self._observable_bytes :]).view(np.int64)[:, 0]
        return Classes(shots, accepted[:done], self._wrong(rows[accepted[:done]], found), gaps)

    def classify_all(self, rows: Words) -> Classes:
        """What the decoder makes of all of some rows; TimeIsOver if there is no time for that."""
        self.deadline.check()
        found = self.classify(rows)
        if found.shots < len(rows):
            raise TimeIsOver
        return found

    def wrong(self, rows: Words) -> Bools:
        """The observables that are predicted wrongly, whatever the time and postselected detectors are."""
        return self._wrong(rows, self._distinct.results(self._model.detectors(rows), self._decode))

    def fails(self, rows: Words) -> Bools:
        """Whether the decoder predicts an observable wrongly, for each row; see ``wrong``."""
        return np.asarray(self.wrong(rows).any(axis=1))

    def check_repeats(self, name: str) -> None:
        """Refuses a decoder that answered equal detection events differently, after a last look."""
        self._distinct.decode_again(self._decode_in_time)
        if self._distinct.is_random:
            raise ValueError(
                f"The decoder {name} is not deterministic: it decoded {self._distinct.repeated} detection"
                " events once more, in another batch and order, and some of its answers were other ones than"
                " before. Which fault sets fail has no meaning then. Let equal detection events have equal"
                " answers: a seed that follows from the events, and not one stream for all. Or count errors"
                " with SoftDecodingSampler, which decodes every shot of such a decoder."
            )

    def _wrong(self, rows: Words, results: Bytes) -> Bools:
        """The wrong predictions among results."""
        flipped = np.ascontiguousarray(self._model.observables(rows)).view(np.uint8)
        mistakes = flipped[:, : self._observable_bytes] ^ results[:, : self._observable_bytes]
        return bits_of_words(mistakes, self.num_observables)

    def _decode(self, dets: Bytes) -> Bytes:
        """Predictions with the bytes of their gaps beside them."""
        predictions, gaps = self._predict(dets)
        return np.hstack([predictions, np.ascontiguousarray(gaps)[:, np.newaxis].view(np.uint8)])

    def _decode_in_time(self, dets: Bytes) -> Bytes:
        """The results of the first rows: of all of them if there is time."""
        results, done = [self._none], 0
        while done < len(dets) and not self.deadline.is_over:
            began = time.monotonic()
            results.append(self._decode(dets[done : done + self._rows]))
            done += len(results[-1])
            fitting = int(MOST_AT_A_TIME * len(results[-1]) / max(time.monotonic() - began, 1e-9))
            self._rows = max(1, min(fitting, 2 * self._rows, MOST_ROWS))
        return np.concatenate(results)
