"""A color-code decoder with a complementary gap: Chromobius, with the logical operators as tiles.

The logical X along the red boundary of a triangular color code acts like the X check of one more red tile,
outside of the boundary: its data qubits are in a green and a blue tile each. The same holds for logical Z.
So the logical flips can be made detectors of a color code, and a decoder can be asked for the weight of the
likeliest error of each logical class. This needs an error model that tells both logical flips, as
`stim_nonclifford.cultivation.frame_error_model` makes it.

Chromobius matches in a graph in which most errors appear more than once, so the gap in decibels overstates
the ratio of probabilities, by a factor of about 1.7. As a dial it does not matter.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sinter
import stim
from numpy.typing import NDArray

from stim_nonclifford.cultivation import frame_error_model

_DECIBEL = 10 / math.log(10)
_X_CHECKS, _Z_CHECKS = 0, 3  # Chromobius's color of the first, red, of the three colors


@dataclass(frozen=True)
class ColorCodeGapDecoder(sinter.Decoder):  # type: ignore[misc]  # Sinter has no type marker.
    """Predicts the observable of an end-to-end circuit, with the complementary gap as confidence.

    Attributes:
        circuit: The circuit, as `end_to_end_circuit` returned it.
        flipped: For circuits with T gates, the `flipped` of the circuit: shots in which it does not agree
            with the likeliest error are discarded, as their observable is random. None keeps all shots.
    """

    circuit: stim.Circuit
    flipped: bool | None = None

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> CompiledColorCodeGap:
        """Prepares the decoder.

        Args:
            dem: An error model of the circuit. It knows one logical flip only, so the decoder makes a model
                of its own, without the errors that postselection discards.

        Raises:
            ValueError: The model has not the detectors of the circuit.
            ImportError: Chromobius is not installed.
        """
        if dem.num_detectors != self.circuit.num_detectors:
            raise ValueError(
                f"the model has {dem.num_detectors} detectors, but the circuit {self.circuit.num_detectors}"
            )
        return CompiledColorCodeGap(frame_error_model(self.circuit), self.flipped)


_Error = tuple[float, list[int], list[int]]  # probability, and what is flipped: detectors, observables


def _flipped_by(error: stim.DemInstruction) -> tuple[list[int], list[int]]:
    targets = error.targets_copy()
    return (
        [target.val for target in targets if target.is_relative_detector_id()],
        [target.val for target in targets if target.is_logical_observable_id()],
    )


class CompiledColorCodeGap(sinter.CompiledDecoder):  # type: ignore[misc]
    """Decodes with confidence; returned by ``ColorCodeGapDecoder.compile_decoder_for_dem``."""

    def __init__(self, dem: stim.DetectorErrorModel, flipped: bool | None) -> None:
        """Prepares the decoder.

        Args:
            dem: The model that `frame_error_model` returned.
            flipped: See `ColorCodeGapDecoder`.
        """
        self._flipped = flipped
        coordinates = dem.get_detector_coordinates()
        colors = {k: int(found[3]) for k, found in coordinates.items()}
        postselected = {k for k, found in coordinates.items() if found[4]}
        errors = [
            (error.args_copy()[0], detectors, observables)
            for error in dem
            if error.type == "error"
            for detectors, observables in [_flipped_by(error)]
            # Faults that nothing detects flip both, before the cat check: the state is an eigenstate of that.
            if detectors and postselected.isdisjoint(detectors)
        ]
        self._num_detectors = dem.num_detectors
        self._halves = [_Half(errors, colors, first) for first in (_X_CHECKS, _Z_CHECKS)]

    def decode_shots_bit_packed(
        self, *, bit_packed_detection_event_data: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        """The predictions alone; see ``sinter.CompiledDecoder``."""
        return self.decode_shots_bit_packed_with_confidence(
            bit_packed_detection_event_data=bit_packed_detection_event_data
        )[0]

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: NDArray[np.uint8]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """The predictions and their complementary gaps.

        Args:
            bit_packed_detection_event_data: uint8, shape (shots, ceil(num_detectors / 8)).

        Returns:
            The predictions, uint8, shape (shots, 1), with a second column that says which shots are discarded
            if `flipped` is not None; and the gaps in decibels, float64, shape (shots,).
        """
        events = np.unpackbits(
            bit_packed_detection_event_data, axis=1, count=self._num_detectors, bitorder="little"
        )
        of_x, of_z = (half.weights(events) for half in self._halves)
        total = of_x[:, np.newaxis] + of_z[np.newaxis]  # by the flips of logical X, of logical Z, and shot
        # The readout of the S-proxy is flipped if exactly one of logical X and Z is.
        right = np.minimum(total[0, 0], total[1, 1])
        wrong = np.minimum(total[0, 1], total[1, 0])
        predictions = (wrong < right).astype(np.uint8)[:, np.newaxis]
        if self._flipped is None:
            return predictions, np.abs(wrong - right) * _DECIBEL
        # T gates tell all four classes apart. Logical Z is flipped by logical X errors.
        is_flipped = total[:, 1].min(axis=0) < total[:, 0].min(axis=0)
        best, second = np.sort(total.reshape(4, -1), axis=0)[:2]
        predictions ^= self._flipped  # the wanted outcome is that of a state with the flip
        return np.c_[predictions, is_flipped != self._flipped].astype(np.uint8), (second - best) * _DECIBEL


class _Half:
    """The checks of one basis, with the logical operator of that basis as a further red tile."""

    def __init__(self, errors: Sequence[_Error], colors: Mapping[int, int], first: int) -> None:
        chromobius: Any = importlib.import_module("chromobius")
        detectors = [k for k in sorted(colors) if first <= colors[k] < first + 3]
        number = {k: j for j, k in enumerate(detectors)}
        logical = len(detectors)
        merged: dict[tuple[int, ...], float] = {}
        for p, flipped, observables in errors:
            here = [k for k in flipped if k in number]
            # Logical X is observable 1, and logical Z is the sum of both.
            parity = observables.count(1) if first == _X_CHECKS else len(observables)
            # Logical X on all data qubits, times the X checks of all red tiles, is that on the red boundary.
            parity += sum(colors[k] == first for k in here)
            key = tuple(number[k] for k in here) + (logical,) * (parity % 2)
            other = merged.get(key, 0.0)
            merged[key] = p * (1 - other) + other * (1 - p)
        model = stim.DetectorErrorModel()
        for key, p in merged.items():
            if key:
                model.append("error", p, [stim.target_relative_detector_id(k) for k in key])
        for k, color in enumerate([*(colors[k] for k in detectors), first]):
            model.append("detector", [0, 0, 0, color], [stim.target_relative_detector_id(k)])
        self._detectors = detectors
        self._red = np.array([colors[k] == first for k in detectors])
        self._decoder: Any = chromobius.compile_decoder_for_dem(model)

    def weights(self, events: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The weights of the likeliest errors without and with the logical flip, shape (2, shots)."""
        mine = events[:, self._detectors]
        rows = np.packbits(mine, axis=1, bitorder="little")
        _, first, inverse = np.unique(
            np.ascontiguousarray(rows).view(f"V{rows.shape[1]}")[:, 0], return_index=True, return_inverse=True
        )
        mine = mine[first]  # X and Z are decoded apart, since equal halves are more frequent than equal shots
        parity = np.bitwise_xor.reduce(mine[:, self._red], axis=1)
        found = []
        for flip in (0, 1):
            asked = np.packbits(np.c_[mine, parity ^ flip], axis=1, bitorder="little")
            _, weights = self._decoder.predict_weighted_obs_flips_from_dets_bit_packed(asked)
            found.append(np.asarray(weights, dtype=np.float64)[inverse])
        return np.array(found)
