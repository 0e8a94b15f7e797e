"""PyMatching's graph of an error model: which detectors matter, and a faster way to decode few events.

A part of the graph whose edges flip no observable is matched for itself, and its events change no prediction:
in a memory experiment of a surface code, those are the detectors of half of the checks.

A matching by distances finds a matching of the least weight in the same graph, with the same weights. If all
matchings of that weight have the observable flipped, or none, PyMatching predicts the same. Otherwise, and if
there are many events, PyMatching decodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import stim

from ...._native import AnswerTable, MatchingWeights
from .matching_graph import Edge, model_errors, split_graph

__all__ = ["PredictingMatching", "PyMatchingGraph", "RoundedEdges", "rounded_edges"]

Integers = npt.NDArray[np.int64]

_MOST_EVENTS = 40
"""Shots with more events are left to PyMatching: the time for a matching by distances is quadratic in them.

Doubled, shots with that many events take four times as long.
"""

_DISTANCE_BYTES = 256 << 20
"""Memory for distances. Doubled, graphs of 1.4 times as many nodes are not left to PyMatching."""

_LARGEST_WEIGHT = (1 << 24) - 1
"""PyMatching rounds weights to this fraction of the largest one: another number makes other predictions."""


@dataclass(frozen=True)
class RoundedEdges:
    """The edges of a graph, with weights that are rounded as by PyMatching.

    Attributes:
        num_nodes: The number of nodes.
        first: int64, shape (edges,): a node of each edge.
        second: The other node; ``num_nodes``: the boundary.
        weights: int64: even numbers, in the units of PyMatching.
        unit: The number of these units in a weight of 1.
    """

    num_nodes: int
    first: Integers
    second: Integers
    weights: Integers
    unit: float

    def distances(self) -> MatchingWeights:
        """The least weights of matchings in this graph, by the distances between nodes."""
        return MatchingWeights(self.num_nodes, self.first, self.second, self.weights, _DISTANCE_BYTES)


def rounded_edges(
    ends: Mapping[Edge, tuple[int, ...]], weight_of: Mapping[Edge, float], num_nodes: int
) -> RoundedEdges | None:
    """Edges for matching by distances, with weights that are rounded as by PyMatching.

    Args:
        ends: The nodes of each edge, one or two.
        weight_of: The weight of each edge.
        num_nodes: The number of nodes.

    Returns:
        None: there are weights below 0, or weights that PyMatching cannot have.
    """
    weights = np.array([weight_of[edge] for edge in ends])
    if len(weights) and weights.min() < 0:
        return None
    is_whole = bool((weights == np.rint(weights)).all())
    unit = 1.0 if is_whole else _LARGEST_WEIGHT / float(weights.max())
    rounded = np.floor(weights * unit + 0.5).astype(np.int64)
    if rounded.max(initial=0) > _LARGEST_WEIGHT:
        return None
    nodes = list(ends.values())
    return RoundedEdges(
        num_nodes,
        np.array([each[0] for each in nodes], dtype=np.int64),
        np.array([each[1] if len(each) == 2 else num_nodes for each in nodes], dtype=np.int64),
        2 * rounded,
        2 * unit,
    )


@dataclass(frozen=True)
class PredictingMatching:
    """A matching by distances that predicts an observable as PyMatching does.

    Attributes:
        edges: The edges between the detectors and one more node, which fires if the observable is flipped.
        added: bool, shape (detectors,): those that flip the prediction.
    """

    edges: RoundedEdges
    added: npt.NDArray[np.bool_]

    def use_in(self, table: AnswerTable, detector_words: int) -> None:
        """Lets a table of predictions find those that it does not know."""
        bits = np.zeros(64 * detector_words, dtype=np.bool_)
        bits[: len(self.added)] = self.added
        added = np.packbits(bits, bitorder="little").view(np.uint64)
        graph = self.edges
        table.use_matching(
            graph.num_nodes, graph.first, graph.second, graph.weights, added, _MOST_EVENTS, _DISTANCE_BYTES
        )


class PyMatchingGraph:
    r"""The graph that PyMatching makes of an error model.

    Args:
        model: The error model, as the decoder gets it.

    Examples:
        >>> text = "error(0.1) D0 L0\nerror(0.1) D0 D1\nerror(0.1) D2 D3\nerror(0.1) D3"
        >>> PyMatchingGraph(stim.DetectorErrorModel(text)).detectors_that_matter().tolist()
        [True, True, False, False]
    """

    def __init__(self, model: stim.DetectorErrorModel) -> None:
        import pymatching  # takes as long to import as this package: not at the top

        self._model = model
        # Two detectors, or one and None; and what is known of the edge.
        self._edges: list[tuple[int, int | None, dict[str, Any]]]
        self._edges = pymatching.Matching.from_detector_error_model(model).edges()

    def detectors_that_matter(self) -> npt.NDArray[np.bool_]:
        """The detectors whose events can change a prediction.

        Returns:
            bool, shape (detectors,). They are all but those that are matched apart from any observable,
            whatever their events are.
        """
        part_of = self._parts()
        flipping = {part_of[first] for first, _, known in self._edges if known["fault_ids"]}
        closed = {*part_of} - {part_of[first] for first, second, _ in self._edges if second is None}
        closed -= flipping
        if closed:  # an odd number of events has no matching there, and PyMatching says so
            errors = (Counter(part_of[k] for k in error.detectors) for error in model_errors(self._model))
            flipping |= closed & {part for counts in errors for part, events in counts.items() if events % 2}
        return np.array([part in flipping for part in part_of], dtype=np.bool_)

    def _parts(self) -> list[int]:
        """For each node, the number of the part of the graph that it is in."""
        count = self._model.num_detectors
        neighbours: list[list[int]] = [[] for _ in range(count)]
        for first, second, _ in self._edges:
            if second is not None:
                neighbours[first].append(second)
                neighbours[second].append(first)
        found = [-1] * count
        for start in range(count):
            waiting = [] if found[start] >= 0 else [start]
            while waiting:
                node = waiting.pop()
                if found[node] < 0:
                    found[node] = start
                    waiting += neighbours[node]
        return found

    def predicting_matching(self) -> PredictingMatching | None:
        """A matching by distances that predicts the same.

        Returns:
            None: the model has not one observable, which errors at the boundary decide.
        """
        if self._model.num_observables != 1:
            return None
        weights: dict[Edge, float] = {}
        likelihoods: dict[Edge, float] = {}
        for first, second, known in self._edges:
            nodes = (first,) if second is None else (min(first, second), max(first, second))
            edge = Edge(nodes, len(known["fault_ids"]))
            weights[edge], likelihoods[edge] = known["weight"], known["error_probability"]
        graph = split_graph(likelihoods, self._model.num_detectors)
        if not graph.splits_boundary_only:
            return None
        edges = rounded_edges(graph.ends, weights, graph.num_nodes)
        return None if edges is None else PredictingMatching(edges, graph.added)
