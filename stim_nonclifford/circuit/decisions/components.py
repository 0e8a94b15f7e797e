"""Decisions of PyMatching by the connected components of its graph, each event of a component decoded once.

Events in one component say nothing about another one, and what an error of a component flips is known when
it is decoded. So the answer to a question is the sum of those of its components, and components that several
questions have in common are decoded for all of them. Without errors that join them, such as those between
noiseless rounds of checks, components stay small: of the gates of a long circuit, only the last one is new.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import stim

from ..._native import MaskedRows
from ...rates.decoding.decoders import RateDecoder
from ...rates.decoding.kept_shot_decoding import CheckedDecoder
from ...rates.decoding.matching.matching_graph import ERROR_LINE
from ...simulation.engines import PackedBits

_EDGE = 2
"""An edge has at most two detectors."""

_DIGITS = 12
"""Digits of probabilities that are equal but for rounding."""

_BYTES_PER_VALUE = 64
"""Bytes of a stored value, beside its words and its answers, about."""

_Edge = tuple[int, ...]
_Words = npt.NDArray[np.uint64]


@dataclass
class _Component:
    """A connected component of one model's graph, or all detectors without an edge."""

    detectors: list[int]
    errors: list[tuple[_Edge, float]] = field(default_factory=list)
    probabilities: dict[_Edge, float] = field(default_factory=dict)
    observables: dict[_Edge, tuple[int, ...]] = field(default_factory=dict)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for components that are decoded alike."""
        edges = sorted((edge, f"{p:.{_DIGITS}e}") for edge, p in self.probabilities.items())
        return tuple(self.detectors), tuple(edges)

    def columns(self) -> dict[int, frozenset[_Edge]]:
        """For each observable the edges that flip it."""
        found: dict[int, set[_Edge]] = {}
        for edge, observables in self.observables.items():
            for observable in observables:
                found.setdefault(observable, set()).add(edge)
        return {observable: frozenset(edges) for observable, edges in found.items()}


def _edges_of(model: stim.DetectorErrorModel) -> Iterator[tuple[_Edge, float, tuple[int, ...]]]:
    """The edges of PyMatching's graph: parts of errors with one or two detectors."""
    # The text has all digits, and its lines are read far faster than the targets of instructions.
    for line in str(model.flattened()).splitlines():
        error = ERROR_LINE.fullmatch(line)
        if error is None:
            continue
        probability = float(error[1])
        for part in error[2].split("^"):
            targets = part.split()
            detectors = sorted([int(target[1:]) for target in targets if target[0] == "D"])
            if 0 < len(detectors) <= _EDGE:
                observables = tuple([int(target[1:]) for target in targets if target[0] == "L"])
                yield tuple(detectors), probability, observables


def _components_of(model: stim.DetectorErrorModel) -> tuple[list[_Component], float]:
    """The components, and the probability of the edge with the largest weight."""
    root = list(range(model.num_detectors))

    def root_of(detector: int) -> int:
        while root[detector] != detector:
            root[detector] = root[root[detector]]
            detector = root[detector]
        return detector

    edges = list(_edges_of(model))
    has_edge = np.zeros(model.num_detectors, dtype=np.bool_)
    for edge, _, _ in edges:
        has_edge[[*edge]] = True
        root[root_of(edge[-1])] = root_of(edge[0])
    found: dict[int, _Component] = {}
    alone = np.flatnonzero(~has_edge).tolist()
    for detector in np.flatnonzero(has_edge).tolist():
        found.setdefault(root_of(detector), _Component([])).detectors.append(detector)
    for edge, probability, observables in edges:
        component = found[root_of(edge[0])]
        component.errors.append((edge, probability))
        # As PyMatching does: parallel edges are one, which flips what the first of them flips.
        before = component.probabilities.get(edge, 0.0)
        component.probabilities[edge] = before + probability - 2 * before * probability
        component.observables.setdefault(edge, observables)
    heaviest = max(
        (p for each in found.values() for p in each.probabilities.values() if 0 < p < 1),
        key=lambda p: abs(math.log(p / (1 - p))),
        default=0.5,
    )
    return [*found.values(), *([_Component(alone)] if alone else [])], heaviest


class _Rows:
    """Rows of an array to which rows are added."""

    def __init__(self, width: int, dtype: npt.DTypeLike) -> None:
        self._all, self._size = np.zeros((16, width), dtype=dtype), 0

    @property
    def rows(self) -> npt.NDArray[Any]:
        """The rows."""
        return self._all[: self._size]

    def append(self, rows: npt.NDArray[Any]) -> None:
        """Adds rows."""
        end = self._size + len(rows)
        if end > len(self._all):
            room = np.zeros(
                (max(end, 2 * len(self._all)) - len(self._all), self._all.shape[1]), self._all.dtype
            )
            self._all = np.concatenate([self._all, room])
        self._all[self._size : end] = rows
        self._size = end


class _Answers:
    """The answers of PyMatching for one component, for all questions that have it.

    Args:
        component: The component, of the first question that has it.
        heaviest: The probability of the heaviest edge of the whole model, which sets the scale of weights.
    """

    def __init__(self, component: _Component, heaviest: float) -> None:
        self._component, self._heaviest = component, heaviest
        self._numbers: dict[frozenset[_Edge], int] = {}  # of observables of this component
        masks: dict[int, int] = {}
        for detector in component.detectors:
            masks[detector // 64] = masks.get(detector // 64, 0) | 1 << detector % 64
        words = np.array([*masks], dtype=np.uint32)
        self._rows = MaskedRows(words, np.array([*masks.values()], dtype=np.uint64))
        self._decoder: CheckedDecoder | None = None

    def number_of(self, edges: frozenset[_Edge]) -> int:
        """The number of the observable that these edges flip."""
        return self._numbers.setdefault(edges, len(self._numbers))

    def compile(self, decoder: RateDecoder, max_bytes: int) -> None:
        """Compiles the decoder, when all observables are known."""
        place = {detector: k for k, detector in enumerate(self._component.detectors)}
        flipped: dict[_Edge, list[int]] = {}
        for edges, number in self._numbers.items():
            for edge in edges:
                flipped.setdefault(edge, []).append(number)
        model = stim.DetectorErrorModel()
        for edge, probability in self._component.errors:
            model.append(
                "error",
                probability,
                [
                    *(stim.target_relative_detector_id(place[detector]) for detector in edge),
                    *(stim.target_logical_observable_id(number) for number in flipped.get(edge, ())),
                ],
            )
        # PyMatching rounds weights to parts of the largest one.
        model.append("error", self._heaviest, [stim.target_relative_detector_id(len(place))])
        if self._numbers:
            last = stim.target_logical_observable_id(len(self._numbers) - 1)
            model.append("logical_observable", [], [last])
        self._decoder = decoder.checked(model)
        row_bytes = 8 * -(-len(place) // 64) + _BYTES_PER_VALUE + 8 * len(self._numbers)
        self._max_values = max(1, max_bytes // row_bytes)
        self._forget()

    def _forget(self) -> None:
        self._rows.clear()
        self.generation = object()  # another one whenever rows get other numbers
        self._predictions = _Rows(len(self._numbers), np.uint8)
        self._predictions.append(self._decoded(np.zeros((1, len(self._component.detectors)), dtype=np.uint8)))

    @property
    def predictions(self) -> npt.NDArray[np.uint8]:
        """The flips of the observables, a byte for each: by the numbers of rows."""
        return self._predictions.rows

    def _decoded(self, events: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        assert self._decoder is not None
        padded = np.zeros((len(events), 8 * self._decoder.detector_bytes), dtype=np.uint8)
        padded[:, : events.shape[1]] = events
        predictions, _, _ = self._decoder.decode(np.packbits(padded, axis=1, bitorder="little"))
        return np.unpackbits(predictions, axis=1, count=len(self._numbers), bitorder="little")

    def numbers(self, flat: PackedBits, row_bytes: int) -> npt.NDArray[np.uint32]:
        """The numbers of the rows among ``predictions``, in which new ones are decoded."""
        if len(self._rows) > self._max_values:
            self._forget()
        numbers, fresh = self._rows.number(flat, row_bytes)
        if len(fresh):
            rows = flat.reshape(-1, row_bytes)[fresh]
            detectors = np.array(self._component.detectors)
            events = rows[:, detectors // 8] >> (detectors % 8).astype(np.uint8) & np.uint8(1)
            try:
                self._predictions.append(self._decoded(events))
            except BaseException:
                self._forget()
                raise
        return numbers


class _Share:
    """What one component contributes to the answers to one question.

    Args:
        answers: Those of the component.
        bits: For each observable of the component that the question asks for, its number there and the
            number in the question.
        num_words: The words of an answer to the question.
    """

    def __init__(self, answers: _Answers, bits: dict[int, list[int]], num_words: int) -> None:
        self._answers, self._bits, self._num_words = answers, bits, num_words
        self._generation = object()
        self._table = _Rows(num_words, np.uint64)

    def add(self, flat: PackedBits, row_bytes: int, sums: _Words) -> None:
        """Adds the contributions to the answers of rows."""
        numbers = self._answers.numbers(flat, row_bytes)
        if not self._bits:
            return
        if self._generation is not self._answers.generation:
            self._generation, self._table = self._answers.generation, _Rows(self._num_words, np.uint64)
        predictions = self._answers.predictions
        if len(self._table.rows) < len(predictions):
            new = predictions[len(self._table.rows) :]
            words = np.zeros((len(new), self._num_words), dtype=np.uint64)
            for number, places in self._bits.items():
                for place in places:
                    words[:, place // 64] |= new[:, number].astype(np.uint64) << np.uint64(place % 64)
            self._table.append(words)
        if self._num_words == 1:
            sums[:, 0] ^= self._table.rows[:, 0][numbers]
        else:
            sums ^= self._table.rows[numbers]


class ComponentDecoding:
    """Answers to several questions by PyMatching.

    Args:
        decoder: PyMatching, without confidences.
        models: The error models of the questions.
        max_bytes: Memory for answers that are stored, about.
    """

    def __init__(
        self, decoder: RateDecoder, models: Sequence[stim.DetectorErrorModel], max_bytes: int
    ) -> None:
        shared: dict[tuple[object, ...], _Answers] = {}
        self._questions: list[tuple[int, int, list[_Share]]] = []
        for model in models:
            components, heaviest = _components_of(model)
            num_words = -(-model.num_observables // 64)
            shares = []
            for component in components:
                columns = component.columns()
                if not columns and component.errors:
                    continue  # whatever happens there, no observable is flipped
                answers = shared.setdefault(component.key, _Answers(component, heaviest))
                answers.number_of(frozenset())  # decoders want at least one observable
                bits: dict[int, list[int]] = {}
                for observable, edges in columns.items():
                    bits.setdefault(answers.number_of(edges), []).append(observable)
                shares.append(_Share(answers, bits, num_words))
            self._questions.append((num_words, -(-model.num_observables // 8), shares))
        for answers in shared.values():
            answers.compile(decoder, max_bytes // len(shared))

    def decide(self, question: int, detectors: PackedBits) -> PackedBits:
        """The predictions for a question, bit-packed; see ``DecidingDecoder.decide``."""
        num_words, num_bytes, shares = self._questions[question]
        sums = np.zeros((len(detectors), num_words), dtype=np.uint64)
        flat, row_bytes = np.ascontiguousarray(detectors).reshape(-1), detectors.shape[1]
        if row_bytes:
            for share in shares:
                share.add(flat, row_bytes, sums)
        return np.ascontiguousarray(sums.view(np.uint8)[:, :num_bytes])
