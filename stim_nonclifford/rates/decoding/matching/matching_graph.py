"""Matching graphs in which the class of an error, the observable that it flips or not, is an event of nodes.

An edge is an error that flips one or two detectors, and perhaps the observable; errors at the boundary end in
a further node. Two edges between the same nodes can differ in the observable.

* Detectors are added to the observable, so that a spanning forest of likely edges leaves their sum as it is.
* An edge outside of the forest that still flips the sum ends in a *split node*: a copy of one of its two
  nodes, which takes over that edge and all others that flip the sum there. A copy fires if an odd number of
  them occurs, and then its node fires once more. So the class of an error is the number of copies that fire.

In codes with boundaries, the boundary alone is split. Where closed loops of errors in the bulk flip the
observable, detectors are split as well.
"""

from __future__ import annotations

import collections
import functools
import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import stim

from ....base.arguments import check_types, integer
from ....base.arrays import Bools
from ....base.probabilities import exactly_one
from ....simulation.compiler.heralds import with_heralds_apart

DECIBEL = 10 / math.log(10)
"""Decibels of a weight, which is a natural logarithm of a ratio of probabilities."""

ERROR_LINE = re.compile(r"error(?:\[.*\])?\(([^()]+)\)(.*)")
"""The text of an error of a flattened model, with its probability and its targets."""


class Edge(NamedTuple):
    """What an error flips: none, one or two detectors, ascending, and observables, as a mask."""

    detectors: tuple[int, ...]
    observables: int


@dataclass(frozen=True)
class EdgeProbabilities:
    """The edges of an error model."""

    edges: dict[Edge, float]  # the probability of each edge, if no herald fires
    # for each herald, the probabilities of the errors that it announces, if it fires
    given_herald: dict[int, dict[Edge, float]]


class ModelError(NamedTuple):
    """An error of a model: its probability, which is not 0, and what it flips, observables as a mask."""

    probability: float
    detectors: frozenset[int]
    observables: int


def model_errors(model: stim.DetectorErrorModel) -> list[ModelError]:
    """The errors of a model, with what they flip in all: parts of a decomposition are put together."""
    return [ModelError(p, *_flipped(targets)) for p, targets in _errors(model.flattened())]


def _errors(flat: stim.DetectorErrorModel) -> Iterator[tuple[float, str]]:
    """The probability and the targets of each error that is possible."""
    # Reading text takes a third of the time that Stim's objects do; its numbers are exact.
    for line in str(flat).splitlines():
        error = ERROR_LINE.fullmatch(line)
        if error is not None and float(error[1]) > 0:
            yield float(error[1]), error[2]


@functools.lru_cache(maxsize=1 << 17)
def _flipped(targets: str) -> tuple[frozenset[int], int]:
    """The detectors and the observables that targets flip: ``D0 D1 ^ D1 L0`` flips D0 and L0."""
    detectors: set[int] = set()
    observables = 0
    for target in targets.split():
        if target[0] == "D":
            detectors ^= {int(target[1:])}
        elif target[0] == "L":
            observables ^= 1 << int(target[1:])
    return frozenset(detectors), observables


def edge_probabilities(model: stim.DetectorErrorModel, heralds: Collection[int] = ()) -> EdgeProbabilities:
    r"""The edges of an error model, merged if they flip the same.

    Parts that flip more than two detectors are ignored, as PyMatching does. Edges of probability 0 are left
    out. Errors that flip a herald are in ``given_herald`` alone.

    Examples:
        >>> model = stim.DetectorErrorModel("error(0.1) D0 L0 ^ D1\nerror(0.1) D1\nerror(0.01) D0")
        >>> found = edge_probabilities(model, heralds=[1])
        >>> found.edges
        {Edge(detectors=(0,), observables=0): 0.01}
        >>> found.given_herald
        {1: {Edge(detectors=(0,), observables=1): 0.5}}
    """
    edges: dict[Edge, float] = {}
    announced: dict[int, list[tuple[float, list[Edge]]]] = {}
    for probability, parts, fired in edge_errors(model, heralds):
        for herald in fired:
            announced.setdefault(herald, []).append((probability, parts))
        if not fired:
            for edge in parts:
                edges[edge] = exactly_one(edges.get(edge, 0.0), probability)
    # Parts of certain errors can cancel.
    edges = {edge: probability for edge, probability in edges.items() if probability > 0}
    return EdgeProbabilities(edges, {herald: _given(errors) for herald, errors in announced.items()})


def checked_heralds(heralds: Collection[int], model: stim.DetectorErrorModel | None = None) -> list[int]:
    """Heralds that a user gave, checked, ascending; with a model, they are detectors of it."""
    check_types(heralds, "heralds", "a collection of detectors", list, tuple, set, frozenset, range)
    found = sorted({integer(each, "Each of heralds") for each in heralds})
    if model is not None and found and found[-1] >= model.num_detectors:
        raise ValueError(
            f"heralds has D{found[-1]}, but the error model has {model.num_detectors} detectors. Heralds are"
            " detectors of the circuit: see herald_detectors(circuit)."
        )
    return found


def edge_errors(
    model: stim.DetectorErrorModel, heralds: Collection[int] = ()
) -> Iterator[tuple[float, list[Edge], set[int]]]:
    """The errors of a decomposed model: probability, parts without heralds, and the heralds that fire."""
    known = frozenset(heralds)
    for probability, targets in _errors(with_heralds_apart(model, heralds) if heralds else model.flattened()):
        fired: set[int] = set()
        parts = []
        for part in targets.split("^"):
            detectors, observables = _flipped(part)
            fired ^= detectors & known
            detectors -= known
            if len(detectors) <= 2 and (detectors or observables):
                parts.append(Edge(tuple(sorted(detectors)), observables))
        yield probability, parts, fired


def edges_of(model: stim.DetectorErrorModel) -> set[Edge]:
    r"""The edges of the matching graph of a decomposed model, with what they flip.

    Examples:
        >>> sorted(edges_of(stim.DetectorErrorModel("error(0.1) D0 D1 ^ D1 L0\nerror(0.1) D0 D2 D3")))
        [Edge(detectors=(0, 1), observables=0), Edge(detectors=(1,), observables=1)]
    """
    return {edge for _, parts, _ in edge_errors(model) for edge in parts if edge.detectors}


def _given(errors: list[tuple[float, list[Edge]]]) -> dict[Edge, float]:
    """The probabilities of edges, given that an odd number of errors occurs."""
    found = {}
    for edge in {edge for _, edges in errors for edge in edges}:
        on, off = 0.0, 0.0
        for probability, edges in errors:
            if edges.count(edge) % 2:
                on = exactly_one(on, probability)
            else:
                off = exactly_one(off, probability)
        fires = exactly_one(on, off)
        if on > 0 and fires > 0:
            found[edge] = on * (1 - off) / fires
    return found


def detectors_that_matter(model: stim.DetectorErrorModel) -> Bools:
    r"""The detectors whose events can change a prediction of PyMatching.

    A part of the graph whose edges flip no observable is matched for itself, whatever its events are: in a
    memory experiment of a surface code, those are the detectors of half of the checks.
    """
    # They take as long to import as this package: not at the top.
    import pymatching
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = pymatching.Matching.from_detector_error_model(model).edges()
    inner = np.array([(a, b) for a, b, _ in edges if b is not None], dtype=np.intp).reshape(-1, 2)
    shape = (model.num_detectors, model.num_detectors)
    _, part_of = connected_components(coo_array((np.ones(len(inner)), inner.T), shape), directed=False)
    flipping = {part_of[a] for a, _, known in edges if known["fault_ids"]}
    closed = {*part_of} - {part_of[a] for a, b, _ in edges if b is None} - flipping
    if closed:  # an odd number of events has no matching there, and PyMatching says so
        for error in model_errors(model):
            counts = collections.Counter(part_of[k] for k in error.detectors)
            flipping |= {part for part, events in counts.items() if part in closed and events % 2}
    return np.isin(part_of, [*flipping])


@dataclass(frozen=True)
class SplitGraph:
    """A matching graph with split nodes."""

    ends: dict[Edge, tuple[int, ...]]  # the nodes of each edge, one or two: detectors, then copies
    added: Bools  # shape (num_detectors,): the detectors that are added to the observable
    # for each copy, the nodes that change if it fires: the copy and, unless it is that of the boundary, its
    # detector
    copies: list[tuple[int, ...]]
    num_nodes: int  # number of detectors and copies


def split_graph(likelihoods: Mapping[Edge, float], num_detectors: int) -> SplitGraph:
    """Splits nodes so that the class of an error is an event.

    Edges have at most one observable; likelier ones become part of the forest first. There are no copies if
    all errors that explain the same detection events are of one class.

    Examples:
        >>> graph = split_graph({Edge((0,), 1): 0.1, Edge((0,), 0): 0.2}, 1)
        >>> list(graph.ends.values()), graph.copies
        ([(0, 1), (0,)], [(1,)])
    """
    added = _added_detectors(likelihoods, num_detectors)
    is_odd = {
        edge: (edge.observables + sum(added[k] for k in edge.detectors)) % 2 == 1 for edge in likelihoods
    }
    odd = [edge for edge, flips in is_odd.items() if flips]
    # Detectors such that each edge in the bulk has one of them, each time one with most edges.
    split, left = [], [edge for edge in odd if len(edge.detectors) == 2]
    while left:
        counts = collections.Counter(k for edge in left for k in edge.detectors)
        detector, _ = max(counts.items(), key=lambda item: (item[1], -item[0]))
        split.append(detector)
        left = [edge for edge in left if detector not in edge.detectors]
    ends = {edge: edge.detectors for edge in likelihoods}
    copies: list[tuple[int, ...]] = []
    if any(len(edge.detectors) < 2 for edge in odd):
        copies.append((num_detectors,))
    copy_of = {detector: num_detectors + len(copies) + k for k, detector in enumerate(split)}
    copies += [(copy, detector) for detector, copy in copy_of.items()]
    for edge in odd:
        if len(edge.detectors) < 2:
            ends[edge] = (*edge.detectors, num_detectors)
        else:
            a, b = edge.detectors
            if a not in copy_of:
                a, b = b, a
            ends[edge] = (copy_of[a], b)
    return SplitGraph(ends, added, copies, num_detectors + len(copies))


def _added_detectors(likelihoods: Mapping[Edge, float], num_detectors: int) -> Bools:
    """Detectors whose sum with the observable is flipped by no edge of a spanning forest."""
    boundary = num_detectors
    parent = list(range(num_detectors + 1))
    parity = [False] * (num_detectors + 1)  # relative to the parent

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

    # Edges in the bulk come first, so that fewer of them are left outside of the forest.
    for edge in sorted(likelihoods, key=lambda edge: (-len(edge.detectors), -likelihoods[edge])):
        if edge.detectors:
            a, b = (*edge.detectors, boundary)[:2]
            (root_a, parity_a), (root_b, parity_b) = root(a), root(b)
            if root_a != root_b:
                parent[root_a] = root_b
                parity[root_a] = bool(edge.observables) ^ parity_a ^ parity_b
    outer, outer_parity = root(boundary)
    found = [root(node) for node in range(num_detectors)]
    return np.array([p ^ (outer_parity and r == outer) for r, p in found], dtype=np.bool_)
