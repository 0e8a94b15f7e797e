"""The question of one point: what the decoder sees, and what follows from its answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..engines import PackedBits
from .points import DecidedCircuit

Bools = npt.NDArray[np.bool_]


class Turns:
    """Which conditional rotations shots have applied, by the records that control them.

    Args:
        decided: The circuit.
        axes: The axes of the rotations.
        first_control: The number of the first one of the outputs that are records.
        controls: The numbers of records among these outputs.

    Attributes:
        controls: The outputs that control each rotation.
    """

    def __init__(
        self, decided: DecidedCircuit, axes: Sequence[int], first_control: int, controls: dict[int, int]
    ) -> None:
        rotations = [decided.all_axes[k] for k in axes]
        self._turns = [rotation.turns for rotation in rotations]
        self.controls = [[first_control + controls[record] for record in each.records] for each in rotations]

    def is_applied(self, rotation: int, outputs: PackedBits) -> Bools:
        """Whether each shot has applied a rotation an odd number of times."""
        index = np.zeros(len(outputs), dtype=np.intp)
        for j, output in enumerate(self.controls[rotation]):
            index |= _bit(outputs, output).astype(np.intp) << j
        return np.asarray(self._turns[rotation][index])

    def all_applied(self, outputs: PackedBits) -> Bools:
        """Which rotations shots have applied: shape (shots, rotations)."""
        columns = [self.is_applied(k, outputs) for k in range(len(self._turns))]
        return np.stack(columns, axis=1) if columns else np.zeros((len(outputs), 0), dtype=np.bool_)


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
        self._turns = Turns(decided, self.axes, first_control, controls)
        self.controls = self._turns.controls

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
        for k in np.flatnonzero(self.axis_flips.any(axis=1)).tolist():
            happens = found[:, self.num_asked + k] & self._turns.is_applied(k, outputs)
            found ^= happens[:, np.newaxis] & self.axis_flips[k]
        return found[:, : self.num_asked]


def _bit(rows: PackedBits, k: int) -> Bools:
    return (rows[:, k // 8] >> np.uint8(k % 8) & 1).astype(np.bool_)
