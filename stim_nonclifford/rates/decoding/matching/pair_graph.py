"""The matching graph of a color code after desaturation, with a node for each pair of its detectors.

Red X and green Z detectors of the color code are postselected, so that errors flip at most two of the others.
A model without the errors that flip a postselected detector forgets pairs of them: two errors that flip the
same one leave it silent, and the shot is kept. So here these errors stay. An error that flips a red, a green
and a blue detector becomes three edges, each from one of them to a node that stands for the other two. Two
errors that have two detectors in common are then a path through that node. The node itself never fires.

In a triangular color code, closed paths through all three sides would flip the observable. So where all of
the code is a color code, postselected detectors are no ends of paths, and stand for pairs alone: an error at
the green side that flips a red and a blue detector connects the blue one with the pair of red and nothing.
What is left are the two other colors, joined at the side of the postselected one. This is a surface code: the
color code, unfolded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ....base.probabilities import exactly_one
from .detector_kinds import Basis, DetectorKind
from .matching_graph import Edge, EdgeProbabilities, ModelError


@dataclass(frozen=True)
class BasisGraph:
    """The matching graph of the detectors of one basis."""

    # the detectors of the basis that the decoder knows, ascending. They are the first nodes, in this order;
    # the nodes of pairs follow.
    detectors: tuple[int, ...]
    num_nodes: int
    # the edges between nodes. Observable 0 of an edge stands for ``observables``.
    probabilities: EdgeProbabilities
    observables: int  # the observables that a logical error of this basis flips, as a mask; 0: none


_End = int | frozenset[int] | tuple[frozenset[int], int]
"""A detector, a pair of detectors, or a postselected detector as the pair that lacks a color at its side."""


def hidden_detectors(errors: Iterable[ModelError], kinds: Sequence[DetectorKind]) -> frozenset[int]:
    """The postselected detectors that the decoder does not know.

    They are those without a basis, and outside of the color code both ends of errors that flip two detectors
    of one basis and an observable: these are where the codes are joined.
    """
    found = {k for k, kind in enumerate(kinds) if kind.basis is None}
    for error in () if _is_color_code(kinds) else errors:
        bases = {kinds[k].basis for k in error.detectors}
        if error.observables and len(error.detectors) == 2 and len(bases) == 1:
            found |= error.detectors
    return frozenset(found)


def basis_graphs(
    errors: Iterable[ModelError], kinds: Sequence[DetectorKind], hidden: frozenset[int]
) -> list[BasisGraph]:
    """The matching graphs of X and of Z detectors, for errors of the whole circuit.

    Errors that flip a hidden detector are left out. An error of which both bases see a part becomes an edge
    in each of them, unless it is not known which part flips the observables: if there is no error of one part
    alone.
    """
    known = [error for error in errors if not error.detectors & hidden]
    bases: tuple[Basis, ...] = ("X", "Z")
    alone = {
        error.detectors: error.observables
        for error in known
        if len({kinds[k].basis for k in error.detectors}) == 1
    }
    parts: dict[Basis, list[tuple[float, frozenset[int]]]] = {basis: [] for basis in bases}
    for error in known:
        halves = {basis: frozenset(k for k in error.detectors if kinds[k].basis == basis) for basis in bases}
        flipped = 0
        for half in halves.values():
            flipped ^= alone.get(half, 0)
        if flipped == error.observables and all(half in alone for half in halves.values() if half):
            for basis, half in halves.items():
                if half:
                    parts[basis].append((error.probability, half))
    graphs = []
    for basis in bases:
        detectors = tuple(k for k, kind in enumerate(kinds) if kind.basis == basis and k not in hidden)
        masks = sorted({alone[half] for _, half in parts[basis]} - {0})
        if len(masks) > 1:
            raise ValueError(
                f"Errors that {basis} detectors see flip different sets of observables (masks"
                f" {masks[0]:b} and {masks[1]:b}). The gap is defined for one logical qubit: declare its"
                " observables alone."
            )
        nodes: dict[_End, int] = {detector: k for k, detector in enumerate(detectors)}
        edges: dict[Edge, float] = {}
        silent = {k for k in detectors if kinds[k].postselected} if _is_color_code(kinds) else set()
        for probability, half in parts[basis]:
            colors = {k: kinds[k].color for k in half}
            for ends in _edges(half, colors, silent):
                numbers = sorted([nodes.setdefault(end, len(nodes)) for end in ends])
                edge = Edge(tuple(numbers), int(alone[half] != 0))
                edges[edge] = exactly_one(edges.get(edge, 0.0), probability)
        observables = masks[0] if masks else 0
        graphs.append(BasisGraph(detectors, len(nodes), EdgeProbabilities(edges, {}), observables))
    return graphs


def _is_color_code(kinds: Sequence[DetectorKind]) -> bool:
    return all(kind.color is not None for kind in kinds if kind.basis is not None)


def _edges(half: frozenset[int], colors: dict[int, int | None], silent: set[int]) -> Iterator[list[_End]]:
    """The edges of an error in one basis: one or two ends, detectors, or pairs where these are silent."""
    at_side = len(half) == 2 and len({*colors.values()} - {None}) == 2
    if len(half) <= 2:
        ends: list[_End] = [*(half - silent)]
        if at_side and half & silent:
            ends.append((half & silent, 3 - sum(color for color in colors.values() if color is not None)))
        if half - silent:
            yield ends
        if at_side:
            yield [half]
    elif len(half) == 3 and {*colors.values()} == {0, 1, 2}:
        for k in half - silent:
            yield [k, half - {k}]
