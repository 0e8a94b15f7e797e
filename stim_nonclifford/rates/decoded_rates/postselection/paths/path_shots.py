"""Shots of a stratum in which errors lie on a path between the boundaries: they are wrong more often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ....decoding.desaturation.logical_graphs import LogicalGraph
from ....decoding.matching_graph import DECIBEL
from ...failing.plain_shots import Indices
from ...faults.mechanisms import FaultModel, Floats, Words
from .logical_paths import LogicalPaths, OnEdges, PathKind

__all__ = ["PathShots", "paths_of"]

Bools = npt.NDArray[np.bool_]

_KINDS = tuple(
    PathKind(power, acting, decibels / DECIBEL)
    for power, acting, decibels in ((0.6, 0.9, 60), (0.5, 0.7, 90), (0.5, 0.6, 140))
)
"""From short paths, on which nearly all errors happen, to long ones, on which little more than half do."""


def paths_of(model: FaultModel, graphs: Sequence[LogicalGraph]) -> list[LogicalPaths]:
    """All kinds of paths in the graphs of a decoder."""
    odds = np.exp(model.log_odds[0])
    return [LogicalPaths(graph, model.symptoms, odds, kind) for graph in graphs for kind in _KINDS]


class PathShots:
    """Draws shots with paths, and says how much likelier they are than among plain ones.

    What a kept set flips may itself be a part of a logical error. So the middle of a path is left out: it
    leads to a detector that the kept set flips, and goes on at another one, or begins or ends there.

    Args:
        model: The mechanisms.
        paths: The paths of the decoder.
        choices: bool, shape (kept sets, outputs): what each kept set flips.
    """

    def __init__(
        self, model: FaultModel, paths: Sequence[LogicalPaths], choices: npt.NDArray[np.bool_]
    ) -> None:
        self._model = model
        self._paths, self._choices = paths, choices

    def add_paths(
        self, rows: Words, keys: Indices, choices: Indices, rng: np.random.Generator
    ) -> tuple[Words, Indices]:
        """Makes plain shots ones with paths.

        Args:
            rows: uint64, shape (shots, words).
            keys: intp, ascending: shot * mechanisms + mechanism, of those that act.
            choices: intp, shape (shots,): their kept sets.
            rng: What paths are drawn with.

        Returns:
            The same of the new shots.
        """
        size = self._model.num_mechanisms
        kinds = rng.integers(len(self._paths), size=len(rows))
        changed = []
        for k, paths in enumerate(self._paths):
            shots = np.flatnonzero(kinds == k)
            if not len(shots):
                continue
            before, after, exists = paths.middles(self._choices[choices[shots]])
            # One of those that exist, each as likely as the others.
            number = (rng.random(len(shots)) * exists.sum(axis=1)).astype(np.intp)
            place = (exists.cumsum(axis=1) > number[:, np.newaxis]).argmax(axis=1)
            each = np.arange(len(shots))
            before, after = before[each, place], after[each, place]
            mechanisms = paths.drawn(before, after, rng)
            on_path = shots[:, np.newaxis] * size + mechanisms
            acts = rng.random(mechanisms.shape) < paths.acting
            changed.append(on_path[(mechanisms >= 0) & (np.isin(on_path, keys) != acts)])
        flipped = np.sort(np.concatenate(changed))
        rows = rows.copy()
        some, starts = np.unique(flipped // size, return_index=True)
        if len(some):
            rows[some] ^= np.bitwise_xor.reduceat(self._model.flips[flipped % size], starts, axis=0)
        return rows, np.setxor1d(keys, flipped, assume_unique=True)

    def ratios(self, keys: Indices, choices: Indices) -> Floats:
        """By what factor shots are likelier here than among plain ones: float64, shape (shots,).

        Args:
            keys: As of ``add_paths``.
            choices: The same.
        """
        shots, mechanisms = np.divmod(keys, self._model.num_mechanisms)
        found = np.zeros(len(choices))
        for paths in self._paths:
            edges = paths.edge_of[mechanisms]
            is_on = edges >= 0
            on = OnEdges.of(shots[is_on], edges[is_on], len(choices))
            before, after, exists = paths.middles(self._choices[choices])
            ratios = np.where(exists, paths.ratios(on, before, after), 0.0)
            found += ratios.sum(axis=1) / exists.sum(axis=1)
        return found / len(self._paths)
