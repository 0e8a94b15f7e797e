"""Which shots are accepted, which of these are decoded wrongly, and with which gap, within a time limit."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..decoded_rates.faults.mechanisms import FaultModel, Words
from ..estimation.deadline import Deadline
from .failure_test import FailureTest, Gaps, Predict
from .matching.pymatching_graph import PredictingMatching

__all__ = ["Classes", "Classifier"]

_FIRST_ROWS, _MOST_ROWS = 32, 1 << 14
"""Rows that are decoded at once before the decoder's speed is known, and at most. Doubled, ``max_seconds`` is
exceeded by twice as much with slow decoders."""

_SECONDS = 0.2
"""The time that one call of a decoder is to take. Doubled, ``max_seconds`` is exceeded by twice as much."""

_REPEATED = 256
"""Rows that are decoded once more at the end. Doubled, decoders that are random are found out sooner."""


_MIXER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Classes:
    """Classified shots, the first ones of those that were given if time has run out.

    Attributes:
        shots: How many were classified.
        accepted: intp, shape (accepted,): those in which no postselected detector fires.
        wrong: bool, shape (accepted, observables): which observables are predicted wrongly.
        gaps: int64, shape (accepted,): how sure the decoder is.
    """

    shots: int
    accepted: npt.NDArray[np.intp]
    wrong: npt.NDArray[np.bool_]
    gaps: Gaps


class Classifier:
    """Classifies shots, of which equal ones are decoded once.

    Args:
        model: The mechanisms, with the detectors that discard a shot.
        predict: The decoder.
        deadline: The limit on the time.
        matching: A matching by distances that predicts the same, but faster, where it predicts.

    Attributes:
        test: The decoder with its table of predictions.
        num_observables: Number of observables.
    """

    def __init__(
        self,
        model: FaultModel,
        predict: Predict,
        deadline: Deadline,
        matching: PredictingMatching | None = None,
    ) -> None:
        self.test = FailureTest(model, predict, _REPEATED, matching)
        self.num_observables = model.num_observables
        self._model, self._deadline = model, deadline
        self._rows = _FIRST_ROWS

    def classify(self, rows: Words) -> Classes:
        """Classifies shots, given as rows of the model with what outcomes flip."""
        accepted = np.flatnonzero(self._model.fired(rows) == 0)
        shown = rows[accepted]
        # Equal shots once, in the order in which they come first, so that a first part of all is known.
        names = self._model.hashes(shown)[:, 0].copy()
        for word in self._model.observables(shown).T:
            names = (names ^ word) * _MIXER
        _, first, group = np.unique(names, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        wrong, gaps = self._judged(shown[first[order]])
        number = len(rows)
        if len(gaps) < len(order):
            place = int(first[order[len(gaps)]])
            number = int(accepted[place])
            accepted, group = accepted[:place], group.ravel()[:place]
        which = rank[group.ravel()]
        bits = np.unpackbits(wrong.view(np.uint8), axis=1, bitorder="little")
        return Classes(
            number, accepted, bits[which, : self._model.num_observables].astype(np.bool_), gaps[which]
        )

    def _judged(self, rows: Words) -> tuple[Words, Gaps]:
        """What the decoder makes of a first part of some rows: of all of them if there is time."""
        wrong = np.zeros((len(rows), self._model.observable_words), dtype=np.uint64)
        gaps = np.zeros(len(rows), dtype=np.int64)
        # Blocks do not depend on the speed, nor does what the table forgets between them.
        for start in range(0, len(rows), _MOST_ROWS):
            block = rows[start : start + _MOST_ROWS]
            end = start + len(block)
            wrong[start:end], gaps[start:end], unknown = self.test.known(block)
            done = 0
            while done < len(unknown):
                if self._deadline.is_over:
                    end = start + int(unknown[done])
                    return wrong[:end], gaps[:end]
                some = unknown[done : done + self._rows]
                began = time.monotonic()
                wrong[start + some], gaps[start + some] = self.test.decode(block[some])
                self._pace(time.monotonic() - began, len(some))
                done += len(some)
        return wrong, gaps

    def _pace(self, seconds: float, decoded: int) -> None:
        """Chooses how many rows to decode next, and leaves time for those that are decoded once more."""
        fitting = int(_SECONDS * decoded / max(seconds, 1e-9))
        self._rows = int(np.clip(fitting, min(_FIRST_ROWS, max(fitting, 1)), min(2 * self._rows, _MOST_ROWS)))
        self._deadline.reserve(_REPEATED * seconds / decoded)
