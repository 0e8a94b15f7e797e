"""A matching by distances that predicts what PyMatching predicts, without it: for few events it is faster.

Both find a matching of the least weight in the same graph. If all of these have the observable flipped,
or none, the prediction is known. Otherwise PyMatching is asked, and so it is if there are many events.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import stim

from ...._native import AnswerTable

__all__ = ["PredictingMatching", "predicting_matching"]

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
    # They take as long to import as this package: not at the top.
    import pymatching

    from ...decoding.matching_gap import near_edges
    from ...decoding.matching_graph import Edge, split_graph

    weights: dict[Edge, float] = {}
    likelihoods: dict[Edge, float] = {}
    for first, second, known in pymatching.Matching.from_detector_error_model(model).edges():
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
