"""Decisions of PyMatching by the connected components of its graph, each event of a component decoded once.

Events in one component say nothing about another one, and what an error of a component flips is known when
it is decoded. So the answer to a question is the sum of those of its components, and components that several
questions have in common are decoded for all of them. Without errors that join them, such as those between
noiseless rounds of checks, components stay small: of the gates of a long circuit, only the last one is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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

_BITS = 40
"""Bits of probabilities that are equal but for rounding."""

_BYTES_PER_VALUE = 64
"""Bytes of a stored value, beside its words and its answers, about."""

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]
_Words = npt.NDArray[np.uint64]


class _ReadLines:
    """The edges of PyMatching's graph in the lines of several models: each distinct line is read once.

    The text of a model has all digits. The model of a decision has most lines of the model before it: those
    of all errors whose detectors that one had already, and that flip no observable.

    Attributes:
        observables: The sets of observables that edges flip, by their numbers.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._starts = np.zeros(1, dtype=np.int64)  # of the edges of each line, and their end
        self._edges = np.zeros((0, _EDGE + 1), dtype=np.int64)
        self._probabilities = np.zeros(0)
        self._sets: dict[tuple[int, ...], int] = {}

    @property
    def observables(self) -> list[tuple[int, ...]]:
        """The sets of observables that edges flip, by their numbers."""
        return [*self._sets]

    def edges(self, model: stim.DetectorErrorModel) -> tuple[_Ints, _Floats]:
        """The edges of a model, in its order: parts of errors with one or two detectors.

        Returns:
            Rows of two detectors, equal for an edge with one, and the number of the set of observables that
            it flips; and probabilities.
        """
        lines = str(model.flattened()).splitlines()
        self._read(lines)
        numbers = np.fromiter(map(self._numbers.__getitem__, lines), np.int64, len(lines))
        first, count = self._starts[numbers], self._starts[numbers + 1] - self._starts[numbers]
        chosen = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
        return self._edges[chosen], self._probabilities[chosen]

    def _read(self, lines: Sequence[str]) -> None:
        ends: list[int] = []
        edges: list[tuple[int, int, int]] = []
        probabilities: list[float] = []
        for line in lines:
            if line in self._numbers:
                continue
            self._numbers[line] = len(self._numbers)
            error = ERROR_LINE.fullmatch(line)
            for part in error[2].split("^") if error is not None else ():
                targets = part.split()
                detectors = sorted([int(target[1:]) for target in targets if target[0] == "D"])
                if error is not None and 0 < len(detectors) <= _EDGE:
                    flipped = tuple([int(target[1:]) for target in targets if target[0] == "L"])
                    number = self._sets.setdefault(flipped, len(self._sets))
                    edges.append((detectors[0], detectors[-1], number))
                    probabilities.append(float(error[1]))
            ends.append(len(edges))
        if ends:
            table = np.array(edges, dtype=np.int64).reshape(-1, _EDGE + 1)
            self._starts = np.concatenate([self._starts, self._starts[-1] + np.array(ends)])
            self._edges = np.concatenate([self._edges, table])
            self._probabilities = np.concatenate([self._probabilities, probabilities])


@dataclass(frozen=True)
class _Component:
    """A connected component of one model's graph, or all detectors without an edge.

    Attributes:
        detectors: Its detectors, ascending.
        edges: Rows of ``_ReadLines.edges``, ascending. Parallel edges are one.
        probabilities: That of each edge.
        errors: The edges of errors, in the order of the model.
        error_probabilities: Their probabilities.
    """

    detectors: _Ints
    edges: _Ints
    probabilities: _Floats
    errors: _Ints
    error_probabilities: _Floats

    @property
    def key(self) -> tuple[bytes, ...]:
        """Equal for components that are decoded alike."""
        mantissas, exponents = np.frexp(self.probabilities)
        rounded = np.rint(np.ldexp(mantissas, _BITS))
        return (
            self.detectors.tobytes(),
            self.edges[:, :_EDGE].tobytes(),
            rounded.tobytes(),
            exponents.tobytes(),
        )

    def columns(self, observables: Sequence[tuple[int, ...]]) -> dict[int, bytes]:
        """For each observable the edges that flip it, as bytes; the sets of observables are given."""
        flips, found = self.edges[:, _EDGE], dict[int, list[int]]()
        for number in np.unique(flips).tolist():
            for observable in observables[number]:
                found.setdefault(observable, []).append(number)
        return {
            observable: np.flatnonzero(np.isin(flips, numbers)).tobytes()
            for observable, numbers in found.items()
        }


def _components_of(model: stim.DetectorErrorModel, read: _ReadLines) -> tuple[list[_Component], float]:
    """The components, and the probability of the edge with the largest weight."""
    # It takes as long to import as this package: not at the top.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows, probabilities = read.edges(model)
    used = np.unique(rows[:, :_EDGE])
    alone, none = np.setdiff1d(np.arange(model.num_detectors), used), np.zeros(0, dtype=np.int64)
    without_edges = []
    if len(alone):
        without_edges = [_Component(alone, rows[:0], probabilities[:0], none, probabilities[:0])]
    if not len(rows):
        return without_edges, 0.5
    # As PyMatching does: parallel edges are one, which flips what the first of them flips.
    order = np.lexsort((rows[:, 1], rows[:, 0]))  # keeps the order of parallel ones
    is_first = np.append(True, (rows[order[1:], :_EDGE] != rows[order[:-1], :_EDGE]).any(axis=1))
    starts = np.flatnonzero(is_first)
    sizes = np.diff(starts, append=len(order))
    edges, merged = rows[order[starts]], probabilities[order[starts]]
    for k in range(1, int(sizes.max())):
        more = sizes > k
        p, q = merged[more], probabilities[order[starts[more] + k]]
        merged[more] = p + q - 2 * p * q
    edge_of = np.empty(len(order), dtype=np.int64)
    edge_of[order] = np.cumsum(is_first) - 1
    inner = merged[(merged > 0) & (merged < 1)]
    heaviest = float(inner[np.abs(np.log(inner / (1 - inner))).argmax()]) if len(inner) else 0.5
    graph = coo_array((np.ones(len(edges)), edges[:, :_EDGE].T), (model.num_detectors,) * 2)
    _, part_of = connected_components(graph, directed=False)
    parts = (_split(part_of[each]) for each in (used, edges[:, 0], rows[:, 0]))
    found = []
    for nodes, own, errors in zip(*parts, strict=True):
        numbers = np.searchsorted(own, edge_of[errors])
        found.append(_Component(used[nodes], edges[own], merged[own], numbers, probabilities[errors]))
    return found + without_edges, heaviest


def _split(parts: npt.NDArray[Any]) -> list[npt.NDArray[np.intp]]:
    """The numbers of all rows of each part, ascending; the part of each row is given."""
    order = np.argsort(parts, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(parts[order])) + 1)


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
        self._numbers: dict[bytes, int] = {}  # of observables of this component, by the edges that flip them
        masks: dict[int, int] = {}
        for detector in component.detectors.tolist():
            masks[detector // 64] = masks.get(detector // 64, 0) | 1 << detector % 64
        words = np.array([*masks], dtype=np.uint32)
        self._rows = MaskedRows(words, np.array([*masks.values()], dtype=np.uint64))
        self._decoder: CheckedDecoder | None = None

    def number_of(self, edges: bytes) -> int:
        """The number of the observable that these edges flip."""
        return self._numbers.setdefault(edges, len(self._numbers))

    def compile(self, decoder: RateDecoder, max_bytes: int) -> None:
        """Compiles the decoder, when all observables are known."""
        component = self._component
        places = np.searchsorted(component.detectors, component.edges[:, :_EDGE]).tolist()
        targets = [f"D{a}" if a == b else f"D{a} D{b}" for a, b in places]
        for edges, number in self._numbers.items():
            for edge in np.frombuffer(edges, dtype=np.int64).tolist():
                targets[edge] += f" L{number}"
        errors = zip(component.errors.tolist(), component.error_probabilities.tolist(), strict=True)
        # Stim reads a text far faster than it appends its lines.
        lines = [f"error({probability!r}) {targets[edge]}" for edge, probability in errors]
        # PyMatching rounds weights to parts of the largest one.
        lines.append(f"error({self._heaviest!r}) D{len(component.detectors)}")
        lines.append(f"logical_observable L{len(self._numbers) - 1}")
        model = stim.DetectorErrorModel("\n".join(lines))
        self._decoder = decoder.checked(model)
        row_bytes = 8 * -(-len(component.detectors) // 64) + _BYTES_PER_VALUE + 8 * len(self._numbers)
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
            detectors = self._component.detectors
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
        read = _ReadLines()
        for model in models:
            components, heaviest = _components_of(model, read)
            num_words = -(-model.num_observables // 64)
            shares = []
            for component in components:
                columns = component.columns(read.observables)
                if not columns and len(component.errors):
                    continue  # whatever happens there, no observable is flipped
                answers = shared.setdefault(component.key, _Answers(component, heaviest))
                answers.number_of(b"")  # decoders want at least one observable
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
