"""The complementary gap: by how much the likeliest error beats that of the other logical class."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sinter
import stim
from numpy.typing import NDArray

from .gap_decoder import DECIBEL, CompiledGapDecoder, exactly_one

__all__ = ["MatchingGapDecoder"]

_BOUNDARY = -1
_ALMOST_ONE = 1 - 1e-12  # weights must be finite


@dataclass(frozen=True)
class _Edge:
    """An edge of the matching graph; ``b`` is ``_BOUNDARY`` for errors that flip one detector."""

    a: int
    b: int
    flips: bool
    probability: float


class MatchingGapDecoder(sinter.Decoder):  # type: ignore[misc]
    r"""PyMatching, with the complementary gap as its confidence.

    Both values of the observable are decoded. The likelier one is the prediction. The gap is the difference
    of the weights, in decibels: 10 log10 of the ratio of the probabilities of the two likeliest errors.

    The observable becomes a detector of its own, which the errors at one boundary flip. For this, its flips
    are moved to the boundary: a detector is added to the observable where this removes flips from the bulk.
    That is possible if every closed loop of errors leaves the observable as it is, as in a code with
    boundaries. PyMatching's own graph keeps one of two parallel edges that differ in the observable. This one
    keeps both at a boundary, and in the bulk the likelier one.

    Examples:
        >>> model = stim.DetectorErrorModel("error(0.1) D0 L0\nerror(0.1) D0 D1\nerror(0.01) D1")
        >>> decoder = MatchingGapDecoder().compile_decoder_for_dem(dem=model)
        >>> events = np.array([[0b00], [0b01], [0b10]], dtype=np.uint8)
        >>> predictions, gaps = decoder.decode_shots_bit_packed_with_confidence(
        ...     bit_packed_detection_event_data=events
        ... )
        >>> predictions.tolist(), gaps.round(1).tolist()  # for D0: error 1, or errors 2 and 3
        ([[0], [1], [1]], [39.0, 20.0, 0.9])
    """

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> CompiledMatchingGap:
        """Prepares the decoder for an error model.

        Args:
            dem: The model, decomposed, with one observable. Parts that flip more than two detectors are
                ignored, as PyMatching does.

        Raises:
            ValueError: The model has not exactly one observable; a closed loop of errors flips it; or no
                error at a boundary does.
            ImportError: PyMatching is not installed.
        """
        if dem.num_observables != 1:
            raise ValueError(
                "The complementary gap is defined for one observable, but the error model has"
                f" {dem.num_observables}."
            )
        edges = _edges(dem)
        added = _added_detectors(edges, dem.num_detectors)
        return CompiledMatchingGap(edges, added)


class CompiledMatchingGap(CompiledGapDecoder):
    """Decodes with confidence; returned by ``MatchingGapDecoder.compile_decoder_for_dem``."""

    def __init__(self, edges: list[_Edge], added: NDArray[np.bool_]) -> None:
        """Constructs the graph.

        Args:
            edges: The edges of the matching graph.
            added: bool, shape (num_detectors,): the detectors that are added to the observable.
        """
        import pymatching

        self._num_detectors = len(added)
        self._added = np.packbits(added, bitorder="little")
        observable = self._num_detectors
        merged: dict[tuple[int, int], float] = {}
        for edge in _moved(edges, added):
            pair = (edge.a, observable if edge.flips else edge.b)
            merged[pair] = exactly_one(merged.get(pair, 0.0), edge.probability)
        if not any(observable in pair for pair in merged):
            raise ValueError(
                "No error at a boundary flips the observable, so there is no error of the other logical class"
                " and no complementary gap."
            )
        self._matching: Any = pymatching.Matching()
        for (a, b), probability in merged.items():
            weight = _weight(probability)
            if b == _BOUNDARY:
                self._matching.add_boundary_edge(a, weight=weight)
            else:
                self._matching.add_edge(a, b, weight=weight)
        for detector in set(range(self._num_detectors)).difference(*merged):
            self._matching.add_boundary_edge(detector, weight=0)  # no error of the model flips it

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: NDArray[np.uint8]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """The predictions and their complementary gaps; see ``CompiledGapDecoder``."""
        rows = bit_packed_detection_event_data
        byte, bit = divmod(self._num_detectors, 8)
        events = np.zeros((len(rows), byte + 1), dtype=np.uint8)
        events[:, : rows.shape[1]] = rows
        weights = []
        for value in (0, 1):
            events[:, byte] |= np.uint8(value << bit)
            _, weight = self._matching.decode_batch(events, bit_packed_shots=True, return_weights=True)
            weights.append(weight)
        byte_parity = np.bitwise_xor.reduce(rows & self._added, axis=1, initial=0)
        parity = np.bitwise_xor.reduce(np.unpackbits(byte_parity[:, np.newaxis], axis=1), axis=1)
        predictions = (weights[1] < weights[0]).astype(np.uint8) ^ parity
        return predictions[:, np.newaxis], np.abs(weights[1] - weights[0]) * DECIBEL


def _edges(model: stim.DetectorErrorModel) -> list[_Edge]:
    """The parts of errors that are edges, merged if they flip the same."""
    merged: dict[tuple[int, int, bool], float] = {}
    for error in model.flattened():
        if error.type != "error":
            continue
        probability = error.args_copy()[0]
        for part in error.target_groups():
            detectors = sorted(target.val for target in part if target.is_relative_detector_id())
            flips = sum(target.is_logical_observable_id() for target in part) % 2 == 1
            if not 1 <= len(detectors) <= 2:
                continue
            key = (detectors[0], detectors[1] if len(detectors) == 2 else _BOUNDARY, flips)
            merged[key] = exactly_one(merged.get(key, 0.0), probability)
    return [_Edge(*key, probability) for key, probability in merged.items() if probability > 0]


def _added_detectors(edges: list[_Edge], num_detectors: int) -> NDArray[np.bool_]:
    """Detectors whose sum with the observable is flipped by no error in the bulk.

    They are found along a spanning forest of the likeliest edges.
    """
    parent = list(range(num_detectors))
    parity = [False] * num_detectors  # relative to the parent

    def root(node: int) -> tuple[int, bool]:
        path = []
        while parent[node] != node:
            path.append(node)
            node = parent[node]
        total = False
        for child in reversed(path):
            total ^= parity[child]
            parent[child], parity[child] = node, total
        return node, total

    for edge in sorted(edges, key=lambda edge: -edge.probability):
        if edge.b != _BOUNDARY:
            (root_a, parity_a), (root_b, parity_b) = root(edge.a), root(edge.b)
            if root_a != root_b:
                parent[root_a] = root_b
                parity[root_a] = edge.flips ^ parity_a ^ parity_b
    return np.array([root(node)[1] for node in range(num_detectors)], dtype=np.bool_)


def _moved(edges: list[_Edge], added: NDArray[np.bool_]) -> Iterator[_Edge]:
    """The edges with what they flip of the observable and its added detectors."""
    moved = [
        _Edge(e.a, e.b, bool(e.flips ^ added[e.a] ^ (e.b != _BOUNDARY and added[e.b])), e.probability)
        for e in edges
    ]
    pairs = {(edge.a, edge.b) for edge in moved if not edge.flips}
    for edge in moved:
        if edge.b == _BOUNDARY or not edge.flips:
            yield edge
        elif (edge.a, edge.b) not in pairs:
            raise ValueError(
                "A closed loop of errors flips the observable (it contains the error D"
                f"{edge.a} D{edge.b} with probability {edge.probability:g}), so that the observable cannot be"
                " moved to a boundary, and the complementary gap cannot be computed by matching."
            )


def _weight(probability: float) -> float:
    probability = min(probability, _ALMOST_ONE)
    return math.log((1 - probability) / probability)
