"""What PyMatching's graph says of its predictions: which detectors matter, and a faster way for few events.

A part of the graph whose edges flip no observable is matched for itself, and its events change no prediction:
in a memory experiment of a surface code, those are the detectors of half of the checks.

A matching by distances predicts what PyMatching predicts. Both find a matching of the least weight in the
same graph. If all of these have the observable flipped, or none, the prediction is known. Otherwise
PyMatching is asked, and so it is if there are many events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import stim

from ...._native import AnswerTable
from ...decoding.matching_graph import Edge, model_errors, split_graph

__all__ = ["PredictingMatching", "detectors_that_matter", "predicting_matching"]

_MOST_EVENTS = 40
"""With more of them, PyMatching is faster: the time for a matching by distances is quadratic in them."""


@dataclass(frozen=True)
class PredictingMatching:
    """The graph of a decoder.

    Attributes:
        num_nodes: The number of detectors, and one: the last node fires if the observable is flipped.
        first: int64, shape (edges,): a node of each edge.
        second: The other node; ``num_nodes``: the boundary.
        weights: int64: even numbers.
        added: bool, shape (detectors,): those that flip the prediction.
    """

    num_nodes: int
    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    weights: npt.NDArray[np.int64]
    added: npt.NDArray[np.bool_]

    def use_in(self, table: AnswerTable, detector_words: int) -> None:
        """Lets a table of answers find those that it does not know."""
        from ...decoding.matching_gap import DISTANCE_BYTES

        bits = np.zeros(64 * detector_words, dtype=np.bool_)
        bits[: len(self.added)] = self.added
        added = np.packbits(bits, bitorder="little").view(np.uint64)
        edges = (self.first, self.second, self.weights)
        table.use_matching(self.num_nodes, *edges, added, _MOST_EVENTS, DISTANCE_BYTES)


def detectors_that_matter(model: stim.DetectorErrorModel, decoder: Any) -> npt.NDArray[np.bool_]:
    r"""The detectors whose events can change what a decoder predicts.

    Args:
        model: The error model, as the decoder gets it.
        decoder: The name of the decoder, or a ``sinter.Decoder``.

    Returns:
        bool, shape (detectors,). They are all but those that PyMatching matches apart from any observable,
        whatever their events are; of another decoder, all.

    Examples:
        >>> text = "error(0.1) D0 L0\nerror(0.1) D0 D1\nerror(0.1) D2 D3\nerror(0.1) D3"
        >>> detectors_that_matter(stim.DetectorErrorModel(text), "pymatching").tolist()
        [True, True, False, False]
    """
    count = model.num_detectors
    if decoder != "pymatching":
        return np.ones(count, dtype=np.bool_)
    edges = _edges_of_pymatching(model)
    part_of = _parts_of_graph(count, edges)
    flipping = {part_of[first] for first, _, known in edges if known["fault_ids"]}
    closed = {*part_of} - {part_of[first] for first, second, _ in edges if second is None} - flipping
    if closed:  # an odd number of events has no matching there, and PyMatching says so
        errors = (Counter(part_of[k] for k in error.detectors) for error in model_errors(model))
        flipping |= closed & {part for counts in errors for part, events in counts.items() if events % 2}
    return np.array([part in flipping for part in part_of], dtype=np.bool_)


def _parts_of_graph(count: int, edges: Iterable[tuple[int, int | None, object]]) -> list[int]:
    """For each node, the number of the part of the graph that it is in."""
    neighbours: list[list[int]] = [[] for _ in range(count)]
    for first, second, _ in edges:
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


def _edges_of_pymatching(model: stim.DetectorErrorModel) -> list[tuple[int, int | None, dict[str, Any]]]:
    """The edges of PyMatching's graph: two detectors, or one and None; and what is known of them."""
    # It takes as long to import as this package: not at the top.
    import pymatching

    edges: list[tuple[int, int | None, dict[str, Any]]]
    edges = pymatching.Matching.from_detector_error_model(model).edges()
    return edges


def predicting_matching(model: stim.DetectorErrorModel, decoder: Any) -> PredictingMatching | None:
    """What predicts as a decoder does.

    Args:
        model: The error model, as the decoder gets it.
        decoder: The name of the decoder, or a ``sinter.Decoder``.

    Returns:
        The graph; None: there is none. The decoder is another one; or the model has not one observable, which
        errors at the boundary decide.
    """
    if decoder != "pymatching" or model.num_observables != 1:
        return None
    from ...decoding.matching_gap import near_edges  # imports Sinter: not at the top

    weights: dict[Edge, float] = {}
    likelihoods: dict[Edge, float] = {}
    for first, second, known in _edges_of_pymatching(model):
        nodes = (first,) if second is None else (min(first, second), max(first, second))
        edge = Edge(nodes, len(known["fault_ids"]))
        weights[edge], likelihoods[edge] = known["weight"], known["error_probability"]
    graph = split_graph(likelihoods, model.num_detectors)
    if graph.copies != [(model.num_detectors,)]:
        return None
    near = near_edges(graph.ends, weights, graph.num_nodes)
    if near is None:
        return None
    return PredictingMatching(graph.num_nodes, near.first, near.second, near.weights, graph.added)
