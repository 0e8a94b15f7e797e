"""The complementary gap of color codes: Chromobius, with the logical operators as tiles."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sinter
import stim

from ...base.arguments import check_types
from ...base.arrays import Bytes, Floats
from ...base.probabilities import exactly_one
from ...simulation.compiler.algebra.gf2 import mask_of
from ..decoded_rates.faults.mechanisms import symptoms_of
from .boundary_tile import BoundaryTile, possible_tiles
from .kept_shot_decoding import ConfidentDecoder
from .matching.detector_kinds import NUM_COLORS
from .matching.matching_graph import DECIBEL, ModelError

_BASES = {"X": 0, "Z": NUM_COLORS}
"""Chromobius's number of the first of the three colors of X and of Z checks."""

_COIN = 0.5
"""The probability that models give an observable that is random without noise."""


@dataclass(frozen=True)
class ChromobiusGapDecoder(sinter.Decoder):  # type: ignore[misc]  # Sinter has no type marker.
    r"""Chromobius (C. Gidney, C. Jones, arXiv 2312.08813), with the complementary gap as its confidence.

    The logical operator of a basis becomes a detector: one more tile, outside of a boundary of the code (see
    ``boundary_tile``). Both values of it are decoded, and the lighter error is the prediction. The gap is the
    difference of the weights, in decibels. Chromobius's weights depend on the boundary b, so the difference
    is the mean over all boundaries, which predicts better than each of them,

        gap = (10 / ln 10) |mean_b (w_1b - w_0b)|.

    The gap of two logical operators is the smaller one of their gaps. X and Z checks are decoded apart.

    This works for one logical qubit of a color code with boundaries, such as a triangular one, and for one or
    two observables. One observable is flipped by errors of one basis alone: logical X or logical Z, as in a
    memory experiment. For logical Y, a second observable tells X from Z errors.

    An error that no detector sees limits the gap, unless its probability is 1/2: then the observable is
    random without noise, as one of two may be if ``LogicalStateCheck`` uses the other. Errors that flip
    ignored detectors alone (coordinate -1) are left out: postselect these.

    The weights are those of Chromobius's matching, in which an error counts as often as it is matched: a gap
    of g decibels is not the logarithm of a ratio of probabilities (see docs/guides/decoding.md).

    Examples:
        A triangle of three tiles, the Steane code.

        >>> model = stim.DetectorErrorModel("\n".join(f"error(0.01) {flipped} L0" for flipped in (
        ...     "D0", "D1", "D2", "D0 D1", "D1 D2", "D0 D2", "D0 D1 D2"
        ... )))
        >>> for color in range(3):
        ...     model.append("detector", [0, 0, 0, color], [stim.target_relative_detector_id(color)])
        >>> decoder = ChromobiusGapDecoder().compile_decoder_for_dem(dem=model)
        >>> predictions, gaps = decoder.decode_shots_bit_packed_with_confidence(
        ...     bit_packed_detection_event_data=np.array([[0b000], [0b111]], dtype=np.uint8)
        ... )
        >>> predictions.tolist()
        [[0], [1]]
    """

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> CompiledChromobiusGap:
        """Prepares the decoder for an error model.

        Args:
            dem: The model, with one or two observables. Detectors have Chromobius's fourth coordinate: 0,
                1, 2 for X checks of red, green and blue tiles, 3, 4, 5 for Z checks, and -1 for others,
                which are ignored.

        Raises:
            ValueError: A detector has no color; the model has not one or two observables; or an observable is
                not a logical operator along a boundary.
            ImportError: Chromobius is not installed.
        """
        check_types(dem, "dem", "a stim.DetectorErrorModel", stim.DetectorErrorModel)
        if dem.num_observables not in (1, 2):
            raise ValueError(
                "The complementary gap of a color code is defined for one logical qubit, which has one or two"
                f" observables, but the error model has {dem.num_observables}."
            )
        colors = {}
        for k, coordinates in dem.get_detector_coordinates().items():
            if len(coordinates) < 4 or coordinates[3] not in range(-1, 2 * NUM_COLORS):
                raise ValueError(
                    f"Detector D{k} has the coordinates ({', '.join(f'{value:g}' for value in coordinates)}),"
                    " but Chromobius reads its color from the fourth: 0, 1, 2 for X checks of red, green and"
                    " blue tiles, 3, 4, 5 for Z checks, -1 for detectors to ignore."
                )
            colors[k] = int(coordinates[3])
        symptoms = symptoms_of(dem)
        errors = [
            ModelError(p, frozenset(detectors), mask_of(observables))
            for (detectors, observables), p in symptoms.probabilities.items()
        ]
        silent = [error for error in errors if not error.detectors and error.probability != _COIN]
        errors = [error for error in errors if any(colors[k] >= 0 for k in error.detectors)]
        halves, sums = [], []
        for name, first in _BASES.items():
            mine = {k: color - first for k, color in colors.items() if 0 <= color - first < NUM_COLORS}
            seen = [error._replace(detectors=error.detectors & mine.keys()) for error in errors]
            try:
                tiles = possible_tiles(seen, mine)
            except ValueError as error:
                raise ValueError(
                    f"The complementary gap of a color code is that of one logical qubit, but {error}: {name}"
                    " checks."
                ) from None
            if tiles:
                accepted = [_accepted_tile(seen + silent, mine, possible) for possible in tiles]
                halves.append((sorted(mine), accepted))
                sums.append(tiles[0][0].observables)
        classes = range(1 << dem.num_observables)
        number = {
            sum((flipped & mask).bit_count() % 2 << k for k, mask in enumerate(sums)): flipped
            for flipped in classes
        }
        if len(number) < len(classes):
            reason = (
                "The observable is not a logical X or logical Z along a boundary of a color code: closed"
                " loops of errors flip it, or errors of both bases do. For logical Y, add logical X as a"
                " second observable."
                if dem.num_observables == 1
                else "The two observables are not logical operators of both bases along boundaries of a"
                " color code: closed loops of errors flip a sum of them."
            )
            raise ValueError(
                f"{reason} If errors before the code is complete do, postselect their detectors and sample"
                " with SoftDecodingSampler(condition_on_postselection=True)."
            )
        constant, always = symptoms.expected
        predictions = np.array([number[k] ^ mask_of(always) for k in range(len(number))], dtype=np.uint8)
        return CompiledChromobiusGap(halves, predictions, constant, dem.num_detectors)


@dataclass(frozen=True)
class CompiledChromobiusGap(ConfidentDecoder, sinter.CompiledDecoder):  # type: ignore[misc]
    """Decodes with confidence; returned by ``ChromobiusGapDecoder.compile_decoder_for_dem``."""

    # for each basis, the detectors of its checks, and a tile of each color that has a boundary
    _halves: Sequence[tuple[list[int], list[_Tile]]]
    _predictions: Bytes  # the flipped observables as a mask; bit k of its index is that of half k
    _constant: Sequence[int]  # the detectors that are flipped before the halves decode them
    _num_detectors: int

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: Bytes
    ) -> tuple[Bytes, Floats]:
        """The predictions and their complementary gaps; see ``ConfidentDecoder``."""
        events = np.unpackbits(
            bit_packed_detection_event_data, axis=1, count=self._num_detectors, bitorder="little"
        )
        events[:, [*self._constant]] ^= 1
        flipped = np.zeros(len(events), dtype=np.intp)
        gaps = np.full(len(events), np.inf)
        for k, (detectors, tiles) in enumerate(self._halves):
            mine = np.take(events, detectors, axis=1)
            # By how much the lightest error with the logical flip is heavier.
            advantage = np.mean([tile.advantages(mine) for tile in tiles], axis=0)
            flipped |= (advantage < 0).astype(np.intp) << k
            gaps = np.minimum(gaps, np.abs(advantage))
        return self._predictions[flipped][:, np.newaxis], gaps * DECIBEL


def _accepted_tile(
    errors: Sequence[ModelError], colors: dict[int, int], possible: Sequence[BoundaryTile]
) -> _Tile:
    """The first of the possible tiles of a color with which Chromobius can decompose all errors."""
    for tile in possible[:-1]:
        with contextlib.suppress(ValueError):
            return _Tile(errors, colors, tile)
    return _Tile(errors, colors, possible[-1])


class _Tile:
    """Chromobius with the detectors of one basis, and the logical operator as a further tile."""

    def __init__(self, errors: Sequence[ModelError], colors: dict[int, int], tile: BoundaryTile) -> None:
        chromobius: Any = importlib.import_module("chromobius")
        detectors = sorted(colors)
        place = {k: j for j, k in enumerate(detectors)}
        logical = len(detectors)
        merged: dict[tuple[int, ...], float] = {}
        for error in errors:
            key = tuple(place[k] for k in sorted(error.detectors)) + (logical,) * tile.is_flipped_by(error)
            if key:
                merged[key] = exactly_one(merged.get(key, 0.0), error.probability)
        lines = [f"error({p}) {' '.join(f'D{k}' for k in key)}" for key, p in merged.items()]
        all_colors = [*(colors[k] for k in detectors), tile.color]
        lines += [f"detector(0, 0, 0, {color}) D{k}" for k, color in enumerate(all_colors)]
        model = stim.DetectorErrorModel("\n".join(lines))
        self._added = np.array([k in tile.added for k in detectors])
        self._decoder: Any = chromobius.compile_decoder_for_dem(model)

    def advantages(self, events: Bytes) -> Floats:
        """By how much the lightest error with the logical flip is heavier, given one byte per detector."""
        parity = np.bitwise_xor.reduce(events[:, self._added], axis=1)
        without, with_flip = (
            self._decoder.predict_weighted_obs_flips_from_dets_bit_packed(
                np.packbits(np.c_[events, parity ^ flip], axis=1, bitorder="little")
            )[1]
            for flip in (0, 1)
        )
        return np.asarray(with_flip, dtype=np.float64) - without
