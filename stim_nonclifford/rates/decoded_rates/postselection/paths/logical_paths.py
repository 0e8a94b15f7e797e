"""Random paths between the boundaries of a decoder's graph, and how likely they make given errors.

A logical error of a matching decoder is a path from one boundary to the other: errors that happened are a
part of it, and what the decoder takes for the rest is the other part. So shots are drawn in which a path is
chosen first, and each mechanism on it acts with a large probability, b. All others act as they do. Such a
shot is r times as likely as a plain one, where r is a sum over all paths: along each, b / q for a mechanism
that acts with probability q otherwise, (1 - b) / (1 - q) for one that does not. That is a product of
matrices, as paths have no circles here: they only lead to nodes that are nearer to the other boundary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ....decoding.desaturation.logical_graphs import LogicalGraph
from ...faults.mechanisms import Floats, Symptom

__all__ = ["LogicalPaths", "OnEdges", "PathKind"]

Bools = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]

_MOST_NODES = 1500
"""Paths are shorter if there would be more nodes: two matrices of their squared number are kept."""

_MOST_FLIPPED = 4
"""Of what a kept set flips, so many detectors are looked at."""

_PARTS = 8
_NONE = -1
_SHORTEST, _BEYOND = 1e-6, 1e9


@dataclass(frozen=True)
class PathKind:
    """How paths are drawn.

    Attributes:
        power: A path is chosen in proportion to this power of the product of the odds of its edges.
        acting: The probability b with which mechanisms on the path act.
        slack: Edges are left out if each path through them is less likely than the likeliest one by more than
            a factor: its natural logarithm.
    """

    power: float
    acting: float
    slack: float


@dataclass(frozen=True)
class OnEdges:
    """The edges of shots whose mechanisms act, in the order of paths.

    Attributes:
        edges: intp, shape (shots, room): the edges, then -1.
    """

    edges: Indices

    @classmethod
    def of(cls, shots: Indices, edges: Indices, number: int) -> OnEdges:
        """From pairs of a shot and an edge, of so many shots."""
        order = np.lexsort((edges, shots))
        shots, edges = shots[order], edges[order]
        counts = np.bincount(shots, minlength=number)
        place = np.arange(len(shots)) - np.repeat(np.cumsum(counts) - counts, counts)
        found = np.full((number, int(counts.max(initial=0))), _NONE, dtype=np.intp)
        found[shots, place] = edges
        return cls(found)


class LogicalPaths:
    """The paths of one basis.

    Args:
        graph: The decoder's graph.
        symptoms: What each mechanism flips.
        odds: float64, shape (mechanisms,).
        kind: How paths are drawn.

    Attributes:
        edge_of: intp, shape (mechanisms,): the edge of each; -1: it is on no path.
        last: The last node. Nodes are ordered along paths, from 0.
    """

    def __init__(
        self, graph: LogicalGraph, symptoms: Sequence[Symptom], odds: Floats, kind: PathKind
    ) -> None:
        source, target = graph.num_nodes - 1, graph.num_nodes - 2
        ends, weights = graph.ends, graph.weights
        height, through = _heights(graph, source, target)
        usable = np.isfinite(height[ends]).all(axis=1) & (height[ends[:, 0]] != height[ends[:, 1]])
        ends = np.where((height[ends[:, 0]] < height[ends[:, 1]])[:, np.newaxis], ends, ends[:, ::-1])
        detour = through(ends) + weights
        detour -= detour[usable].min()
        usable &= (ends[:, 1] != source) & (ends[:, 0] != target)
        slack = kind.slack
        while len(np.unique(ends[usable & (detour <= slack)])) > _MOST_NODES:
            slack *= 0.9
        usable &= detour <= slack
        on_paths = np.unique(ends[usable])
        order = on_paths[np.argsort(height[on_paths], kind="stable")]
        number = np.full(graph.num_nodes, _NONE, dtype=np.intp)
        number[order] = np.arange(len(order))
        self.last = len(order) - 1
        nodes = number[: len(graph.detectors)]
        by_node = np.argsort(nodes, kind="stable")[np.count_nonzero(nodes < 0) :]
        self._detectors, self._nodes = np.array(graph.detectors, dtype=np.intp)[by_node], nodes[by_node]
        mechanisms = _mechanisms_of(graph, symptoms, height)
        start, end, share, mechanism = [], [], [], []
        for edge in np.flatnonzero(usable).tolist():
            mine = mechanisms.get(edge, [])
            whole = float(odds[mine].sum()) if mine else float(np.exp(-weights[edge]))
            for k in mine or [_NONE]:
                start.append(number[ends[edge, 0]])
                end.append(number[ends[edge, 1]])
                share.append(whole**kind.power * (odds[k] / whole if mine else 1.0))
                mechanism.append(k)
        by_start = np.argsort(np.array(start), kind="stable")
        self._from, self._to, self._mechanism = (
            np.array(each, dtype=np.intp)[by_start] for each in (start, end, mechanism)
        )
        self._share = np.array(share)[by_start]
        can_act = self._mechanism >= 0
        self.edge_of = np.full(len(odds), _NONE, dtype=np.intp)
        self.edge_of[self._mechanism[can_act]] = np.flatnonzero(can_act)
        acts = np.where(can_act, odds[self._mechanism] / (1 + odds[self._mechanism]), 0.0)
        silent = np.where(can_act, (1 - kind.acting) / (1 - acts), 1.0)
        self.acting = kind.acting
        self._all = self._sums(self._share)
        self._silent = self._sums(self._share * silent)
        self._more = self._share * (kind.acting / np.where(can_act, acts, 1.0) - silent)

    def _sums(self, shares: Floats) -> Floats:
        """For each pair of nodes, the sum over the paths between them of products of shares."""
        from scipy.linalg import solve_triangular  # takes as long to import as this package

        size = self.last + 1
        steps = np.zeros((size, size))
        np.add.at(steps, (self._from, self._to), shares)
        return np.asarray(solve_triangular(np.eye(size) - steps, np.eye(size), unit_diagonal=True))

    @cached_property
    def _down(self) -> _Walk:
        rest = self._all[:, self.last]
        return _Walk(self._from, self._to, self._share * rest[self._to], self._mechanism, self.last)

    @cached_property
    def _up(self) -> _Walk:
        rest = self._all[0]
        return _Walk(self._to, self._from, self._share * rest[self._from], self._mechanism, 0)

    def middles(self, flipped: Bools) -> tuple[Indices, Indices, Bools]:
        """What kept sets may stand for in the middle of paths, which lead to a node and go on at another one.

        The first middle is that of paths without one. The others lead from one detector that the kept set
        flips to another, or from the first node to one of them, or from one to the last node.

        Args:
            flipped: bool, shape (shots, outputs): what the kept sets flip.

        Returns:
            Where paths lead to, and where they go on: intp, shape (shots, middles); and which of them exist.
        """
        shots, columns = np.nonzero(flipped[:, self._detectors])
        counts = np.bincount(shots, minlength=len(flipped))
        place = np.arange(len(shots)) - np.repeat(np.cumsum(counts) - counts, counts)
        some = place < _MOST_FLIPPED
        nodes = np.full((len(flipped), _MOST_FLIPPED), _NONE, dtype=np.intp)
        nodes[shots[some], place[some]] = self._nodes[columns[some]]
        first = np.zeros((len(flipped), 1), dtype=np.intp)
        one, other = np.triu_indices(_MOST_FLIPPED, 1)
        before = np.hstack([first, nodes[:, one], np.broadcast_to(first, nodes.shape), nodes])
        after = np.hstack([first, nodes[:, other], nodes, np.full_like(nodes, self.last)])
        exists = (before >= 0) & (after >= 0)
        exists &= (self._all[0, before] > 0) & (self._all[after, self.last] > 0)
        used = exists.any(axis=0)
        return before[:, used], after[:, used], exists[:, used]

    def drawn(self, before: Indices, after: Indices, rng: np.random.Generator) -> Indices:
        """The mechanisms on random paths, whose middle is given.

        Args:
            before: intp, shape (paths,): paths lead from the first node to these,
            after: and from these to the last node.
            rng: What they are drawn with.

        Returns:
            intp, shape (paths, room), with -1 in between.
        """
        return np.hstack([self._up.drawn(before, rng), self._down.drawn(after, rng)])

    def ratios(self, on: OnEdges, before: Indices, after: Indices) -> Floats:
        """By what factor shots are likelier among those with paths than among plain ones.

        Args:
            on: The edges of the shots whose mechanisms act.
            before: As of ``drawn``: intp, shape (shots, middles).
            after: The same.

        Returns:
            float64, shape (shots, middles).
        """
        counts = (on.edges >= 0).sum(axis=1)
        found = np.empty(before.shape)
        # Those with few edges first, as each pair of edges is looked at.
        for some in np.array_split(np.argsort(counts, kind="stable"), _PARTS):
            room = int(counts[some].max(initial=0))
            found[some] = self._ratios(on.edges[some, :room], before[some], after[some])
        return found

    def _ratios(self, edges: Indices, before: Indices, after: Indices) -> Floats:
        is_on = edges >= 0
        start, end, more = self._from[edges], self._to[edges], np.where(is_on, self._more[edges], 0.0)
        room = edges.shape[1]
        # Sums over the paths that end where an edge begins, and over those that begin where one ends.
        to_start, from_end = np.empty((2, *edges.shape))
        for k in range(room):
            to_start[:, k] = self._silent[0, start[:, k]]
            for j in range(k):
                to_start[:, k] += to_start[:, j] * more[:, j] * self._silent[end[:, j], start[:, k]]
        for k in reversed(range(room)):
            from_end[:, k] = self._silent[end[:, k], self.last]
            for j in range(k + 1, room):
                from_end[:, k] += self._silent[end[:, k], start[:, j]] * more[:, j] * from_end[:, j]
        one, other = self._silent[0, before], self._silent[after, self.last]
        for j in range(room):
            each = slice(j, j + 1)
            one = one + to_start[:, each] * more[:, each] * self._silent[end[:, each], before]
            other = other + self._silent[after, start[:, each]] * more[:, each] * from_end[:, each]
        whole = self._all[0, before] * self._all[after, self.last]
        return np.asarray(one * other / np.where(whole > 0, whole, np.inf))


class _Walk:
    """A walk that ends in a node, step by step.

    Args:
        start: intp, shape (edges,): where each edge begins.
        end: Where it ends.
        shares: In proportion to these an edge is taken, of those that begin in the same node.
        mechanism: The mechanism of each edge.
        last: Where walks end.
    """

    def __init__(self, start: Indices, end: Indices, shares: Floats, mechanism: Indices, last: int) -> None:
        order = np.argsort(start, kind="stable")
        self._end, self._mechanism, self._last = end[order], mechanism[order], last
        self._sums = np.concatenate([[0.0], np.cumsum(shares[order])])
        self._first = np.searchsorted(start[order], np.arange(int(max(start.max(), last)) + 2))

    def drawn(self, starts: Indices, rng: np.random.Generator) -> Indices:
        """The mechanisms on walks from given nodes, shape (walks, room), with -1 in between."""
        at, found = starts.copy(), []
        while len(walking := np.flatnonzero(at != self._last)):
            first, last = self._first[at[walking]], self._first[at[walking] + 1]
            low, high = self._sums[first], self._sums[last]
            places = (
                np.searchsorted(self._sums, low + rng.random(len(walking)) * (high - low), side="right") - 1
            )
            edges = np.clip(places, first, last - 1)
            column = np.full(len(at), _NONE, dtype=np.intp)
            column[walking] = self._mechanism[edges]
            at[walking] = self._end[edges]
            found.append(column)
        return np.stack(found, axis=1) if found else np.zeros((len(at), 0), dtype=np.intp)


def _heights(graph: LogicalGraph, source: int, target: int) -> tuple[Floats, Callable[[Indices], Floats]]:
    """How far each node is along paths; and the least weight of paths to and from pairs of nodes."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    # An explicit 0 would be no edge.
    first, second = graph.ends.T
    order = np.lexsort((graph.weights, second, first))
    pairs, chosen = np.unique(graph.ends[order], axis=0, return_index=True)
    lengths = np.maximum(graph.weights[order][chosen], _SHORTEST)
    near = csr_array((lengths, pairs.T), shape=(graph.num_nodes, graph.num_nodes))
    from_source, to_target = dijkstra(near, directed=False, indices=[source, target])
    with np.errstate(invalid="ignore"):
        height = from_source - to_target + 1e-9 * np.arange(graph.num_nodes)
    height[source], height[target] = -_BEYOND, _BEYOND
    return height, lambda ends: np.asarray(from_source[ends[:, 0]] + to_target[ends[:, 1]])


def _mechanisms_of(graph: LogicalGraph, symptoms: Sequence[Symptom], height: Floats) -> dict[int, list[int]]:
    """The mechanisms of each edge.

    Of one that flips more than two detectors of the basis, the two that are farthest from each other count.
    """
    node = {detector: k for k, detector in enumerate(graph.detectors)}
    found: dict[int, list[int]] = {}
    for k, (detectors, *_) in enumerate(symptoms):
        seen = sorted(node[detector] for detector in detectors if detector in node)
        if len(seen) > 2:
            by_height = sorted(seen, key=lambda each: height[each])
            seen = sorted((by_height[0], by_height[-1]))
        edge = graph.known.get(tuple(seen))
        if edge is not None:
            found.setdefault(edge, []).append(k)
    return found
