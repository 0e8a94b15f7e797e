"""The complementary gap: by how much the likeliest error beats that of the other logical class."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sinter
import stim

from ...._native import MatchingWeights
from ....base.arguments import check_types
from ....base.arrays import Bytes, Floats, Indices
from ....base.probabilities import exactly_one
from ...estimation.limits import DEFAULT_MAX_BYTES, PART_FOR_PAIRS
from ..kept_shot_decoding import ConfidentDecoder
from .matching_graph import (
    DECIBEL,
    Edge,
    EdgeProbabilities,
    SplitGraph,
    checked_heralds,
    edge_probabilities,
    split_graph,
)

_SMALLEST_PROBABILITY = 1e-12
"""The least probability of an edge and of its absence, as weights must be finite. Doubled, gaps of certain
errors are smaller by 3 dB."""

_MOST_SPLIT_DETECTORS = 6
"""Split detectors at most. Each doubles the number of matchings per shot: doubled, 64 times as many."""

_MOST_EVENTS = 200
"""Shots with more events are left to PyMatching. Doubled, the largest ones take four times as long."""

_LARGEST_WEIGHT = (1 << 24) - 1
"""PyMatching rounds weights to this fraction of the largest one: another number makes other predictions."""


@dataclass(frozen=True)
class MatchingGapDecoder(sinter.Decoder):  # type: ignore[misc]
    r"""Minimum-weight matching, with the complementary gap as its confidence.

    Both values k of the observable are decoded by matching (E. Dennis, A. Kitaev, A. Landahl, J. Preskill,
    quant-ph/0110143): over the errors E of this class that explain the detection events,

        w_k = min sum_{e in E} ln((1 - p_e) / p_e),   gap = (10 / ln 10) |w_1 - w_0|.

    The likelier value is the prediction. The gap is 10 log10 of the ratio of the probabilities of the two
    likeliest errors, in decibels (C. Gidney, M. Newman, P. Brooks, C. Jones, arXiv 2312.04522).

    The observable becomes a detector of its own, which the errors at one boundary flip. For this, its flips
    are moved to the boundary: a detector is added to the observable where this removes flips from the bulk.
    Where closed loops of errors flip the observable, this leaves some in the bulk. Detectors on these loops
    are then split (see ``matching_graph``), up to 6 of them, and the best of all combinations is taken. No
    edge is left out: two errors that differ in the observable alone are two edges.

    Where only the boundary is split and there are no heralds, events are matched by their distances, and the
    second matching continues the first one, with PyMatching's weights and results. PyMatching does the rest:
    there, and where a shot has more than 200 events or an error is likelier than 1/2.

    Attributes:
        heralds: Detectors that announce errors, such as those of HERALDED_ERASE. Edges have the probability
            that they have given the heralds of the shot. Each new combination of heralds costs about a
            microsecond per edge. By default there are none.

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

    heralds: Collection[int] = ()

    def __post_init__(self) -> None:
        """Checks the heralds; see ``checked_heralds``."""
        checked_heralds(self.heralds)

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> CompiledMatchingGap:
        """Prepares the decoder for an error model.

        Args:
            dem: The model, decomposed, with one observable. Parts that flip more than two detectors are
                ignored, as PyMatching does.

        Raises:
            ValueError: The model has not exactly one observable; closed loops of errors flip it in too many
                places, as in codes without boundaries; the detection events determine it; or a herald is no
                detector of the model.
        """
        check_types(dem, "dem", "a stim.DetectorErrorModel", stim.DetectorErrorModel)
        if dem.num_observables != 1:
            raise ValueError(
                "The complementary gap is defined for one observable, but the error model has"
                f" {dem.num_observables}. Declare one observable, or decode without confidence, for example"
                " with soft_pymatching."
            )
        heralds = checked_heralds(self.heralds, dem)
        return CompiledMatchingGap(edge_probabilities(dem, heralds), dem.num_detectors, heralds)


class CompiledMatchingGap(ConfidentDecoder, sinter.CompiledDecoder):  # type: ignore[misc]
    """Decodes with confidence; returned by ``MatchingGapDecoder.compile_decoder_for_dem``."""

    def __init__(
        self, probabilities: EdgeProbabilities, num_detectors: int, heralds: Sequence[int] = ()
    ) -> None:
        """Constructs the graph of the edges of an error model."""
        self._base = {edge: 0.0 for given in probabilities.given_herald.values() for edge in given}
        likelihoods = dict(self._base)
        for given in probabilities.given_herald.values():
            likelihoods.update({edge: max(p, likelihoods[edge]) for edge, p in given.items()})
        self._base |= probabilities.edges
        graph = split_graph(likelihoods | probabilities.edges, num_detectors)
        if not graph.copies:
            raise ValueError(
                "No error at a boundary and no closed loop of errors flips the observable alone, so there is"
                " no error of the other logical class and no complementary gap. Check that the model has the"
                " noise that causes logical errors, or decode without confidence."
            )
        split = [nodes[1] for nodes in graph.copies if len(nodes) == 2]
        if len(split) > _MOST_SPLIT_DETECTORS:
            raise ValueError(
                f"Closed loops of errors flip the observable, through {len(split)} detectors (D{split[0]},"
                f" D{split[1]}, ...). The complementary gap is computed by matching if all loops lead through"
                f" at most {_MOST_SPLIT_DETECTORS}, as in codes with boundaries. Decode without confidence,"
                " for example with soft_pymatching, or sample with another model:"
                " SoftDecodingSampler(error_model=...)."
            )
        self._graph = graph
        self._num_detectors = num_detectors
        self._given_herald = probabilities.given_herald
        self._heralds = heralds
        self._added = np.packbits(graph.added, bitorder="little")
        self._row_bytes = -(-graph.num_nodes // 8)
        # The combinations of copies that fire: their class, and the nodes that change, bit-packed.
        self._firing: list[tuple[int, Bytes]] = []
        for chosen in itertools.product((False, True), repeat=len(graph.copies)):
            nodes = np.zeros(8 * self._row_bytes, dtype=np.bool_)
            for changed in itertools.compress(graph.copies, chosen):
                nodes[list(changed)] ^= True
            self._firing.append((sum(chosen) % 2, np.packbits(nodes, bitorder="little")))
        self._near: MatchingWeights | None = None
        if not self._heralds and graph.copies == [(num_detectors,)]:  # the boundary is split, and no detector
            weights = {edge: _weight(probability) for edge, probability in self._base.items()}
            self._near, self._unit = _distances(graph, weights)

    @functools.cached_property
    def _matching(self) -> Any:
        """The graph for PyMatching, whose import and edges take a second: few shots need it."""
        import pymatching

        matching = pymatching.Matching(stim.DetectorErrorModel(f"detector D{self._graph.num_nodes - 1}"))
        self._weigh(self._base, matching)
        return matching

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: Bytes
    ) -> tuple[Bytes, Floats]:
        """The predictions and their complementary gaps; see ``ConfidentDecoder``."""
        rows = bit_packed_detection_event_data
        events = np.zeros((len(rows), self._row_bytes), dtype=np.uint8)
        events[:, : rows.shape[1]] = rows
        weights = np.empty((2, len(rows)))
        for chosen, fired in self._by_heralds(events):
            changed = self._given(fired)
            try:
                self._weigh(changed)
                weights[:, chosen] = self._weights(events[chosen])
            finally:
                self._weigh({edge: self._base[edge] for edge in changed})
        byte_parity = np.bitwise_xor.reduce(events[:, : len(self._added)] & self._added, axis=1)
        parity = np.bitwise_xor.reduce(np.unpackbits(byte_parity[:, np.newaxis], axis=1), axis=1)
        predictions = (weights[1] < weights[0]).astype(np.uint8) ^ parity
        return predictions[:, np.newaxis], np.abs(weights[1] - weights[0]) * DECIBEL

    def _by_heralds(self, events: Bytes) -> Iterator[tuple[Indices, list[int]]]:
        """Groups of shots with equal heralds, which are taken out of the events."""
        if not self._heralds:
            yield np.arange(len(events)), []
            return
        places = np.array(self._heralds)
        fired = events[:, places >> 3] >> (places & 7).astype(np.uint8) & 1
        is_herald = np.isin(np.arange(8 * self._row_bytes), places)
        events &= ~np.packbits(is_herald, bitorder="little")
        patterns, group = np.unique(fired, axis=0, return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(group.ravel(), minlength=len(patterns)))
        for pattern, chosen in zip(patterns, np.split(order, ends[:-1]), strict=True):
            yield chosen, places[pattern.astype(np.bool_)].tolist()

    def _given(self, fired: list[int]) -> dict[Edge, float]:
        """The probabilities of the edges that change if these heralds fire."""
        changed: dict[Edge, float] = {}
        for herald in fired:
            for edge, p in self._given_herald.get(herald, {}).items():
                changed[edge] = exactly_one(changed.get(edge, self._base[edge]), p)
        return changed

    def _weigh(self, probabilities: Mapping[Edge, float], graph: Any = None) -> None:
        """Sets the weights of edges, of the graph for PyMatching or of another one."""
        for edge, probability in probabilities.items():
            ends, matching = self._graph.ends[edge], self._matching if graph is None else graph
            add = matching.add_boundary_edge if len(ends) == 1 else matching.add_edge
            add(*ends, weight=_weight(probability), merge_strategy="replace")

    def _weights(self, events: Bytes) -> Floats:
        """The least weight of each class, shape (2, shots)."""
        if self._near is None:
            return self._weights_by_pymatching(events)
        copy = self._num_detectors  # of the boundary
        found = self._near.least(events.ravel(), self._row_bytes, copy, _MOST_EVENTS).reshape(-1, 2)
        least: Floats = found.T / self._unit
        left = found[:, 0] < 0
        if left.any():
            least[:, left] = self._weights_by_pymatching(events[left])
        return least

    def _weights_by_pymatching(self, events: Bytes) -> Floats:
        least = np.full((2, len(events)), np.inf)
        for value, changed in self._firing:
            shots = events ^ changed
            _, found = self._matching.decode_batch(shots, bit_packed_shots=True, return_weights=True)
            least[value] = np.minimum(least[value], found)
        return least


def _distances(graph: SplitGraph, weight_of: Mapping[Edge, float]) -> tuple[MatchingWeights | None, float]:
    """Matching by distances, with weights that are rounded as by PyMatching, and their unit.

    There is none for weights below 0, or weights that PyMatching cannot have.
    """
    weights = np.array([weight_of[edge] for edge in graph.ends])
    if weights.min() < 0:
        return None, 1.0
    is_whole = bool((weights == np.rint(weights)).all())
    unit = 1.0 if is_whole else _LARGEST_WEIGHT / float(weights.max())
    rounded = np.floor(weights * unit + 0.5).astype(np.int64)
    if rounded.max() > _LARGEST_WEIGHT:
        return None, unit
    ends = np.array([[*each, graph.num_nodes][:2] for each in graph.ends.values()], dtype=np.int64)
    first, second = ends.reshape(-1, 2).T.copy()
    distance_bytes = DEFAULT_MAX_BYTES // PART_FOR_PAIRS
    return MatchingWeights(graph.num_nodes, first, second, 2 * rounded, distance_bytes), 2 * unit


def _weight(probability: float) -> float:
    probability = min(max(probability, _SMALLEST_PROBABILITY), 1 - _SMALLEST_PROBABILITY)
    return math.log((1 - probability) / probability)
