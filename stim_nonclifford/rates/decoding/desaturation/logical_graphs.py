"""The graphs in which paths from one boundary to the other are logical errors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import stim
from numpy.typing import NDArray

from ..matching_graph import model_errors, split_graph
from .detector_kinds import detector_kinds
from .pair_graph import BasisGraph, basis_graphs, hidden_detectors

__all__ = ["LogicalGraph", "logical_graphs"]


@dataclass(frozen=True)
class LogicalGraph:
    """The matching graph of one basis. An error on a path between its two boundaries is a logical error.

    Attributes:
        detectors: The detectors that are nodes: the first ones, in this order.
        num_nodes: Number of nodes. The last two of them are the boundaries.
        ends: intp, shape (edges, 2): the nodes of each edge.
        weights: float64, shape (edges,): ln((1 - p) / p) of the probability p of each edge; at least 0.
        known: For the ascending nodes of detectors that an error flips, one or two, its edge.
    """

    detectors: tuple[int, ...]
    num_nodes: int
    ends: NDArray[np.intp]
    weights: NDArray[np.float64]
    known: dict[tuple[int, ...], int]


def logical_graphs(dem: stim.DetectorErrorModel) -> tuple[LogicalGraph, ...]:
    r"""The graphs of the desaturated decoder, for bases in which two boundaries tell logical errors.

    Args:
        dem: The model of the whole circuit, not conditioned on the postselection.

    Examples:
        >>> (graph,) = logical_graphs(stim.DetectorErrorModel('''
        ...     error(0.1) D0 L0
        ...     error(0.1) D0 D1
        ...     error(0.1) D1
        ...     detector(0, 0, 0, 2, 2) D0
        ...     detector(1, 0, 0, 2, 2) D1
        ... '''))
        >>> graph.num_nodes, sorted(sorted(pair) for pair in graph.ends.tolist())
        (4, [[0, 1], [0, 3], [1, 2]])
    """
    kinds, errors = detector_kinds(dem), model_errors(dem)
    graphs = basis_graphs(errors, kinds, hidden_detectors(errors, kinds))
    found = [_logical_graph(graph) for graph in graphs if graph.observables]
    return tuple(each for each in found if each is not None)


def _logical_graph(graph: BasisGraph) -> LogicalGraph | None:
    edges = graph.probabilities.edges
    split = split_graph(edges, graph.num_nodes)
    if split.copies != [(graph.num_nodes,)]:
        return None  # more than the boundary is split
    # The copy of the boundary has the number of nodes, the boundary itself the next one.
    ends = [(*nodes, graph.num_nodes + 1)[:2] for nodes in split.ends.values()]
    numbers = {edge.detectors: k for k, edge in enumerate(split.ends)}
    weights = [math.log((1 - edges[edge]) / edges[edge]) if edges[edge] < 0.5 else 0.0 for edge in split.ends]
    return LogicalGraph(
        detectors=graph.detectors,
        num_nodes=graph.num_nodes + 2,
        ends=np.array(ends, dtype=np.intp).reshape(-1, 2),
        weights=np.array(weights),
        known={nodes: k for nodes, k in numbers.items() if nodes and max(nodes) < len(graph.detectors)},
    )
