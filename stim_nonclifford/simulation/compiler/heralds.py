"""Heralds in detector error models: detectors that announce errors, and are no ends of edges.

An error that a herald D0 announces is written ``D3 D9 L0 ^ D0``, so that its edge D3 D9 is that of the error
which nothing announces. Stim does so with its own heralded channels, but not with other errors that flip a
herald: to it, D0 and a detector at a boundary are an edge like any other.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Collection, Iterable, Sequence

import stim

from ...base.written_circuits import instructions_in
from .error_models import Part, parts_of, targets_of
from .program.loops import unrolled

_HERALDED = ("HERALDED_ERASE", "HERALDED_PAULI_CHANNEL_1")

_EDGE = 2
"""An edge has at most two detectors."""

_MOST_DETECTORS = 16
"""Largest number of detectors of an error for which edges are sought."""


def herald_detectors(circuit: stim.Circuit) -> frozenset[int]:
    r"""The detectors that contain no other records than those of HERALDED_ERASE and HERALDED_PAULI_CHANNEL_1.

    Examples:
        >>> circuit = stim.Circuit("HERALDED_ERASE(0.01) 0\nDETECTOR rec[-1]\nM 0\nDETECTOR rec[-1] rec[-2]")
        >>> herald_detectors(circuit)
        frozenset({0})
    """
    if all(part.name not in _HERALDED for part in instructions_in(circuit)):
        return frozenset()
    heralds: set[int] = set()
    found = []
    num_records = num_detectors = 0
    for instruction in unrolled(circuit):
        if instruction.name in _HERALDED:
            heralds.update(range(num_records, num_records + instruction.num_measurements))
        elif instruction.name == "DETECTOR":
            records = [num_records + target.value for target in instruction.targets_copy()]
            if records and heralds.issuperset(records):
                found.append(num_detectors)
            num_detectors += 1
        num_records += instruction.num_measurements
    return frozenset(found)


def with_heralds_apart(
    model: stim.DetectorErrorModel,
    heralds: Collection[int],
    *,
    is_trusted: bool = True,
    new_edges: bool = True,
) -> stim.DetectorErrorModel:
    r"""The model with errors decomposed into edges, which have no heralds, and one part for each herald.

    If the model suggests edges of its own, these are taken, and the likeliest ones if not. Parts that flip
    observables alone, which a matching cannot explain, are joined to others. ``is_trusted`` keeps errors
    without heralds as they are, and takes a suggestion whose heralds share parts with other detectors: Stim
    takes such a part for an edge, and looks for the others from there. ``new_edges``: an error that edges of
    the model do not explain may be decomposed into others, if the model suggests them.

    Examples:
        >>> model = stim.DetectorErrorModel(
        ...     "error(0.25) D0 D2 ^ D1 L0 ^ L0\nerror(0.25) D1 D2\nerror(0.25) D2\nerror(0.25) D1 L0"
        ... )
        >>> print(with_heralds_apart(model, heralds={0}))
        error(0.25) D1 D2 ^ D0
        error(0.25) D1 D2
        error(0.25) D2
        error(0.25) D1 L0
    """
    flat = model.flattened()
    known = frozenset(map(stim.target_relative_detector_id, heralds))
    search = _Search(flat, known, is_trusted=is_trusted, new_edges=new_edges)
    result = stim.DetectorErrorModel()
    for instruction in flat:
        if instruction.type == "error":
            parts = search.parts(instruction)
            if parts != list(parts_of(instruction)):
                result.append("error", instruction.args_copy(), targets_of(parts), tag=instruction.tag)
                continue
        result.append(instruction)
    return result


class _Search:
    """A search for the edges that explain an error."""

    def __init__(
        self, model: stim.DetectorErrorModel, heralds: Part, *, is_trusted: bool, new_edges: bool
    ) -> None:
        self.heralds = heralds  # the heralds
        self.is_trusted = is_trusted  # as in ``with_heralds_apart``, and so is ``new_edges``
        self.new_edges = new_edges
        self.edges: dict[Part, float] = {}  # the edges of the model, and their probabilities
        self.of_detector: dict[stim.DemTarget, list[Part]] = {}  # the edges that flip a detector
        self.likeliest = functools.cache(self._likeliest)
        for error in model:
            if error.type != "error" or error.args_copy()[0] == 0:
                continue
            parts = list(parts_of(error))
            if not _sum(parts).isdisjoint(heralds):
                parts = [_sum(parts) - heralds]
            for part in parts:
                if 0 < len(_detectors(part)) <= _EDGE and part.isdisjoint(heralds):
                    self.edges[part] = self.edges.get(part, 0.0) + error.args_copy()[0]
        for edge in self.edges:
            for detector in _detectors(edge):
                self.of_detector.setdefault(detector, []).append(edge)

    def parts(self, error: stim.DemInstruction) -> list[Part]:
        """The parts of an error."""
        given = list(parts_of(error))
        flipped = _sum(given)
        fired, rest = flipped & self.heralds, flipped - self.heralds
        if not flipped or (not fired and (self.is_trusted or all(map(_detectors, given)))):
            return given
        alone = [frozenset({herald}) for herald in _detectors(fired)]
        suggested = [part - self.heralds for part in given if _detectors(part - self.heralds)]
        is_apart = all(part.isdisjoint(self.heralds) or not _detectors(part - self.heralds) for part in given)
        if (is_apart or self.is_trusted) and _sum(suggested) == rest and self.edges.keys() >= set(suggested):
            return [*suggested, *alone]
        if _detectors(rest):
            return [*self._edges_of(rest, suggested), *alone]
        return [alone[0] | rest, *alone[1:]] if alone else [rest]

    def _edges_of(self, rest: Part, suggested: Sequence[Part]) -> Sequence[Part]:
        """The edges that flip ``rest``."""
        if len(_detectors(rest)) <= _EDGE:
            return [rest]
        found = self.likeliest(rest)[1] if len(_detectors(rest)) <= _MOST_DETECTORS else None
        if found is None and self.new_edges and len(suggested) > 1:
            return [suggested[0] ^ _sum(suggested) ^ rest, *suggested[1:]]
        return [rest] if found is None else found

    def _likeliest(self, rest: Part) -> tuple[float, tuple[Part, ...] | None]:
        """The edges of the model that flip ``rest``, with the logarithm of their probability."""
        detectors = _detectors(rest)
        if not detectors:
            return (-math.inf, None) if rest else (0.0, ())
        best: tuple[float, tuple[Part, ...] | None] = (-math.inf, None)
        for edge in self.of_detector.get(detectors[0], ()):
            if set(_detectors(edge)) <= rest:
                logarithm, others = self.likeliest(rest ^ edge)
                logarithm += math.log(self.edges[edge])
                if others is not None and logarithm > best[0]:
                    best = logarithm, (edge, *others)
        return best


def _sum(parts: Iterable[Part]) -> Part:
    """What parts flip together."""
    return functools.reduce(operator.xor, parts, frozenset())


def _detectors(part: Part) -> list[stim.DemTarget]:
    """The detectors of a part, ascending."""
    found = [target for target in part if target.is_relative_detector_id()]
    return sorted(found, key=lambda target: target.val)
