"""The question of one point: what the decoder sees, and what follows from its answer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..engines import PackedBits
from .points import DecidedCircuit

Bools = npt.NDArray[np.bool_]


class Question:
    """What a decoder is asked at one point, with what known flips of records do to it.

    Args:
        decided: The circuit.
        point: The number of the point.
        first_control: The number of the first one of the outputs that are records.
        controls: The numbers of records among these outputs.
    """

    def __init__(
        self, decided: DecidedCircuit, point: int, first_control: int, controls: dict[int, int]
    ) -> None:
        self.number, self.gap = point, decided.points[point].gap
        knowledge, asked = decided.knowledge, decided.asked_of(point)
        self.num_detectors = decided.points[point].num_detectors
        self.first_bit = decided.first_bits[point]
        self.num_asked = len(asked)
        self.axes = decided.axes_of(point)
        self.num_observables = self.num_asked + len(self.axes)
        # For each earlier bit: the detectors that its flip flips, and the observables of the model.
        self.detectors = np.packbits(
            knowledge.detectors[: self.first_bit, : self.num_detectors], axis=1, bitorder="little"
        )
        self.observables = np.concatenate(
            [knowledge.asked[: self.first_bit, asked], knowledge.axes[: self.first_bit][:, self.axes]], axis=1
        )
        self.axis_flips = np.concatenate(
            [
                knowledge.asked_by_axes[self.axes][:, asked],
                knowledge.axes_by_axes[np.ix_(self.axes, self.axes)],
            ],
            axis=1,
        )
        self.turns = [decided.all_axes[k].turns for k in self.axes]
        self.controls = [
            [first_control + controls[record] for record in decided.all_axes[k].records] for k in self.axes
        ]

    def seen(self, detectors: PackedBits, flips: Bools) -> PackedBits:
        """The detectors as the decoder sees them: without what known flips did."""
        result = detectors
        for k in np.flatnonzero(self.detectors.any(axis=1)).tolist():
            flipped = flips[:, k]
            if flipped.any():
                if result is detectors:
                    result = detectors.copy()
                result[flipped] ^= self.detectors[k]
        return result

    def answers(self, predictions: Bools, flips: Bools, outputs: PackedBits) -> Bools:
        """Whether each record or observable that is asked for is flipped.

        Args:
            predictions: The answer of the decoder: bool, shape (shots, num_observables).
            flips: The flips of earlier records: bool, shape (shots, all bits).
            outputs: The outputs of these shots.
        """
        found = predictions.copy()
        for k in np.flatnonzero(self.observables.any(axis=1)).tolist():
            found ^= flips[:, k, np.newaxis] & self.observables[k]
        for k, turns in enumerate(self.turns):
            if not self.axis_flips[k].any():
                continue
            index = np.zeros(len(found), dtype=np.intp)
            for j, output in enumerate(self.controls[k]):
                index |= _bit(outputs, output).astype(np.intp) << j
            happens = found[:, self.num_asked + k] & turns[index]
            found ^= happens[:, np.newaxis] & self.axis_flips[k]
        return found[:, : self.num_asked]


def _bit(rows: PackedBits, k: int) -> Bools:
    return (rows[:, k // 8] >> np.uint8(k % 8) & 1).astype(np.bool_)
