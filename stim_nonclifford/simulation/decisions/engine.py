"""Draws shots of circuits with decisions, in passes.

A decided bit is an input bit of the plan: its flip flips bits of a shot's row, as a coin does. First no
record is flipped. Before each decision the outcomes of the shots are drawn, and the decoder answers. Then
simulations go on from there, or the outcomes are drawn anew, with the same random numbers. Each outcome has
its own one, so that those before the decision stay as they are. The noise of a shot is drawn once. A shot
that a check before a decision discards is not decoded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ...base.arrays import Bools, bits_of_words, words_of_bits
from ..engines import KeptRowsEngine, OutcomePasses, PackedBits, PassEngine, RowEngine
from ..plan import BLOCK_SHOTS, SamplingPlan, SparseRows
from ..sampling.rows import columns
from .points import DecidedCircuit
from .questions import Question, Turns

_CHUNK_SHOTS = 16 * BLOCK_SHOTS
"""Shots that are decided together. Doubled, their rows take twice the memory."""

_MANY_WITH_NOISE = 0.5
"""The part of shots with noise above which simulations go on after a decision. Otherwise outcomes are drawn
anew, as those of shots without noise are stored. Doubled, chains of 16 T gates take twice as long."""

Words = npt.NDArray[np.uint64]


class DecidingDecoder(Protocol):
    """An object that decides, for shots of which it sees the detectors so far."""

    def begin(self, models: Sequence[Any]) -> None:
        """Gets the error models of all decisions, before any shot.

        Args:
            models: For each decision a ``stim.DetectorErrorModel``, that of ``Circuit.decision_model``.
        """
        ...

    def decide(self, number: int, detectors: PackedBits) -> PackedBits:
        """Predicts which observables of the model of a decision are flipped.

        Args:
            number: The number of the decision.
            detectors: uint8, shape (shots, ceil(detectors of the model / 8)): the detectors, bit-packed. The
                shots are any; equal rows may come once.

        Returns:
            uint8, shape (shots, ceil(observables of the model / 8)): the predictions, bit-packed.
        """
        ...


class BranchDecoder(DecidingDecoder, Protocol):
    """An object that also decides where the error model depends on records."""

    def extend(self, number: int, model: Any) -> None:
        """Gets one more error model, that of a decision if records have other values.

        ``decide`` and ``gaps`` name it by the next number: that of the first one is how many decisions there
        are.

        Args:
            number: The number of the decision.
            model: The model. The one that ``begin`` got is for gates that were not applied.
        """
        ...


class GapDecoder(DecidingDecoder, Protocol):
    """An object that decides, and says how sure it is, for circuits with SURE."""

    def gaps(self, number: int, detectors: PackedBits) -> npt.NDArray[np.float64]:
        """Complementary gaps of each record that SURE asks for.

        Args:
            number: The number of the decision.
            detectors: uint8, shape (shots, ceil(detectors of the model / 8)): the detectors, bit-packed. The
                shots are any; equal rows may come once.

        Returns:
            Numbers, shape (shots, records): decibels; infinite if there is no other explanation.
        """
        ...


class DecisionsFailedError(ValueError):
    """A decoder raised an error in a decision, or answered in a wrong form."""


class Requested:
    """The outputs of a plan with decisions that are asked for, and those that must be 0.

    Attributes:
        start: The first of the outputs that are asked for.
        stop: The end of them.
        postselected: The outputs that must be 0 in a kept shot.
        flipped: All outputs that are inverted, as a mask.
        rest: From this output on, all are asked for, too; None: no others are.
    """

    def __init__(
        self,
        start: int,
        stop: int,
        postselected: Sequence[int] = (),
        flipped: int = 0,
        rest: int | None = None,
    ) -> None:
        self.start, self.stop, self.rest = start, stop, rest
        self.postselected = np.array(sorted(postselected), dtype=np.int64)
        self.flipped = flipped
        self.wanted = np.array([flipped >> k & 1 for k in self.postselected.tolist()], dtype=np.bool_)

    def fails(self, outputs: PackedBits, end: int) -> Bools:
        """Whether any of the postselected outputs below ``end`` is 1, as it is reported, in each shot."""
        count = int(np.searchsorted(self.postselected, end))
        bits = self.postselected[:count]
        mask, wanted = (np.zeros(outputs.shape[1], dtype=np.uint8) for _ in range(2))
        values = np.left_shift(1, bits % 8).astype(np.uint8)
        np.bitwise_or.at(mask, bits // 8, values)
        np.bitwise_or.at(wanted, bits // 8, values * self.wanted[:count])
        return ((outputs & mask) != wanted).any(axis=1)


class _Point:
    """A point at which a decoder is asked, with its questions by the rotations that shots have applied."""

    def __init__(
        self,
        decided: DecidedCircuit,
        number: int,
        first_control: int,
        controls: dict[int, int],
        branches: Callable[[int, tuple[bool, ...]], tuple[DecidedCircuit, int]],
    ) -> None:
        self.number, self._branches = number, branches
        self.num_detectors = decided.points[number].num_detectors
        self.first_bit, self.num_asked = decided.first_bits[number], len(decided.points[number].records)
        self._records = first_control, controls
        switching = decided.switching(number)
        self._turns = Turns(decided, switching, first_control, controls)
        axes = decided.all_axes if switching else [decided.all_axes[k] for k in decided.axes_of(number)]
        self.controls = [first_control + controls[record] for axis in axes for record in axis.records]
        self._asked: dict[bytes, tuple[Question, int]] = {}

    def questions(self, outputs: PackedBits) -> Iterator[tuple[Any, Question, int]]:
        """The places of shots that are asked the same, their question, and its number for the decoder."""
        applied = self._turns.all_applied(outputs)
        if not applied.shape[1]:
            yield slice(None), *self._question(applied[:1])
            return
        patterns, of_shots = np.unique(applied, axis=0, return_inverse=True)
        for k in range(len(patterns)):
            yield np.flatnonzero(of_shots.reshape(-1) == k), *self._question(patterns[k : k + 1])

    def _question(self, applied: Bools) -> tuple[Question, int]:
        key = applied.tobytes()
        if key not in self._asked:
            branch, number = self._branches(self.number, tuple(applied[0].tolist()))
            self._asked[key] = Question(branch, self.number, *self._records), number
        return self._asked[key]


class DecisionPasses:
    """Draws outcomes of shots in passes, between which a decoder decides.

    Args:
        plan: The plan. Its outputs are detectors, observables, the records in ``controls``, a constant for
            each decided record, which then says whether the decoder flipped it, and any others.
        engine: Draws its rows and outcomes.
        decided: The circuit.
        decoder: The decoder, which has begun.
        controls: Records, with their numbers among the outputs behind the observables.
        raw: The numbers of decisions that leave records as they are.
        branches: Returns what is asked at a point, if rotations before it that change the error model were
            applied or not, and by which number the decoder knows it.

    Attributes:
        counts: How many records were decided, and how many of them flipped.
    """

    def __init__(
        self,
        plan: SamplingPlan,
        engine: RowEngine,
        decided: DecidedCircuit,
        decoder: DecidingDecoder,
        controls: dict[int, int],
        raw: Collection[int],
        branches: Callable[[int, tuple[bool, ...]], tuple[DecidedCircuit, int]],
    ) -> None:
        assert plan.num_checks == plan.num_outcome_checks == 0
        self.plan, self._engine, self._decoder = plan, engine, decoder
        self.first_output = -(-plan.num_signature_bits // 64)  # of the words of a row
        first_control = decided.circuit.num_detectors + decided.circuit.num_observables
        self._points = [
            _Point(decided, k, first_control, controls, branches)
            for k, point in enumerate(decided.points)
            if k not in raw and point.records
        ]
        self._lines = [point.line for point in decided.points]
        self._num_bits = len(decided.bits)
        self._decisions = _packed(plan, plan.decisions)
        for bit, row in enumerate(self._decisions):
            word, place = divmod(first_control + len(controls) + bit, 64)
            row[self.first_output + word] |= np.uint64(1 << place)
        self._detectors_before = decided.detectors_before
        by_outcomes = np.zeros(plan.num_outputs, dtype=np.bool_)
        flipped = plan.outcome_effects.bits - plan.num_signs
        by_outcomes[flipped[flipped >= 0]] = True
        self._by_outcomes = by_outcomes
        self._pass_engine: PassEngine | None = None
        if isinstance(engine, PassEngine) and self._points:
            read = np.array([words_of_bits(self._read(point)) for point in self._points])
            bits = np.array([self._bits(point, None) for point in self._points])
            self._pass_engine = engine if engine.can_go_on(read, bits) else None
        self.counts: Counter[str] = Counter()

    def run(self, rows: Words, numbers: Words, seed: int, requested: Requested) -> tuple[PackedBits, Words]:
        """Lets the decoder decide.

        Args:
            rows: uint64, shape (shots, words): signature and outputs before outcomes, which are changed.
            numbers: uint64, shape (shots,): with the seed, they fix the outcomes.
            seed: 0 <= seed < 2^64.
            requested: The outputs that must be 0: other shots are left out.

        Returns:
            uint8, shape (kept shots, bytes): their outputs, bit-packed, with zeros behind them; and their
            numbers.
        """
        flips = np.zeros((len(rows), self._num_bits), dtype=np.bool_)
        postselected = requested.postselected
        passes = None if len(postselected) else self._passes(rows, numbers, seed)
        for point in self._points:
            end = self._detectors_before[point.number]
            before = postselected[postselected < end]
            outputs = self._outputs(rows, numbers, seed, self._read(point, before), passes)
            if len(before):
                kept = ~requested.fails(outputs, end)
                rows, numbers, flips, outputs = rows[kept], numbers[kept], flips[kept], outputs[kept]
            if not len(rows):
                break
            answers = np.zeros((len(rows), point.num_asked), dtype=np.bool_)
            for places, question, number in point.questions(outputs):
                answers[places] = self._answers(question, number, flips[places], outputs[places])
            for j in range(point.num_asked):
                bit = point.first_bit + j
                flips[:, bit] = answers[:, j]
                rows[answers[:, j]] ^= self._decisions[bit]
            if passes is not None:
                passes.flip(self._bits(point, answers))
            self.counts["decided_records"] += answers.size
            self.counts["flipped_records"] += int(answers.sum())
        outputs = self._outputs(rows, numbers, seed, np.ones(self.plan.num_outputs, dtype=np.bool_), passes)
        if len(postselected):
            kept = ~requested.fails(outputs, self.plan.num_outputs)
            outputs, numbers = outputs[kept], numbers[kept]
        return outputs, numbers

    def run_without_noise(self, shots: int, rng: np.random.Generator) -> PackedBits:
        """The outputs of shots without noise; see ``run``."""
        rows = np.zeros((shots, self.first_output + -(-self.plan.num_outputs // 64)), dtype=np.uint64)
        for coin in _packed(self.plan, self.plan.coins):
            rows[rng.random(shots) < 0.5] ^= coin
        constant = np.zeros((1, self.plan.num_row_bits), dtype=np.bool_)
        constant[0, self.plan.constant] = True
        rows[:, self.first_output :] ^= words_of_bits(constant[:, self.plan.num_signature_bits :])
        numbers = rng.integers(1 << 64, size=shots, dtype=np.uint64)
        return self.run(rows, numbers, 0, Requested(0, 0))[0]

    def _answers(self, question: Question, number: int, flips: Bools, outputs: PackedBits) -> Bools:
        """Which of the records that are asked for are flipped, by a question with a number."""
        detectors = question.seen(columns(outputs, 0, question.num_detectors), flips)
        if question.gap is not None:  # without a flip the record is 1
            return self._gaps(question, number, detectors) < question.gap
        return question.answers(self._predictions(question, number, detectors), flips, outputs)

    def _passes(self, rows: Words, numbers: Words, seed: int) -> OutcomePasses | None:
        """Simulations that go on after each decision, if that takes less time."""
        signatures = rows[:, : self.first_output]
        if self._pass_engine is None or signatures.any(axis=1).sum() <= _MANY_WITH_NOISE * len(rows):
            return None
        return self._pass_engine.passes(signatures.copy(), numbers, seed)

    def _read(self, point: _Point, postselected: Iterable[int] = ()) -> Bools:
        """The outputs that are read at a point: shape (outputs,)."""
        read = np.zeros(self.plan.num_outputs, dtype=np.bool_)
        read[: point.num_detectors] = True
        read[[*postselected, *point.controls]] = True
        return read

    def _bits(self, point: _Point, answers: Bools | None) -> Words:
        """The signature bits that the answers of shots flip: words; None: that any answer may flip."""
        decisions = self._decisions[point.first_bit :][: point.num_asked, : self.first_output]
        if answers is None:
            return np.bitwise_or.reduce(decisions, axis=0)
        return np.bitwise_xor.reduce(np.where(answers[:, :, np.newaxis], decisions, np.uint64(0)), axis=1)

    def _outputs(
        self, rows: Words, numbers: Words, seed: int, read: Bools, passes: OutcomePasses | None
    ) -> PackedBits:
        """The outputs of shots, bit-packed, with zeros behind them; those that are not read may be wrong."""
        outputs = rows[:, self.first_output :].copy()
        if (self._by_outcomes & read).any() and len(rows):
            if passes is None:
                outputs ^= self._engine.outcomes(rows[:, : self.first_output], numbers, seed)
            else:
                outputs ^= passes.draw(words_of_bits(read))
        return outputs.view(np.uint8).reshape(len(rows), 8 * outputs.shape[1])

    def _asked(self, method: str, question: Question, number: int, detectors: PackedBits) -> tuple[Any, str]:
        """What a method of the decoder returns, and how messages name the decision."""
        where = f"Line {self._lines[question.number]}: decision {question.number}"
        try:
            return getattr(self._decoder, method)(number, detectors), where
        except Exception as error:
            raise DecisionsFailedError(
                f"{where}: the decoder raised {type(error).__name__}: {error}"
            ) from error

    def _gaps(self, question: Question, number: int, detectors: PackedBits) -> npt.NDArray[np.float64]:
        found, where = self._asked("gaps", question, number, detectors)
        gaps, wanted = np.asarray(found), (len(detectors), question.num_asked)
        if gaps.shape != wanted or gaps.dtype.kind not in "fiu" or np.isnan(gaps).any():
            raise DecisionsFailedError(
                f"{where}: gaps() of the decoder must return decibels, numbers of shape {wanted} without NaN,"
                f" but returned {gaps.dtype} of shape {gaps.shape}."
            )
        return gaps.astype(np.float64)

    def _predictions(self, question: Question, number: int, detectors: PackedBits) -> Bools:
        found, where = self._asked("decide", question, number, detectors)
        wanted = (len(detectors), -(-question.num_observables // 8))
        if not isinstance(found, np.ndarray) or found.dtype != np.uint8 or found.shape != wanted:
            kind = (
                f"{found.dtype} of shape {found.shape}" if isinstance(found, np.ndarray) else f"{found!r:.80}"
            )
            raise DecisionsFailedError(
                f"{where}: the decoder must return bit-packed predictions, uint8 of shape {wanted}, but"
                f" returned {kind}."
            )
        return bits_of_words(found, question.num_observables)


class DecisionEngine(KeptRowsEngine):
    """Draws shots in which a decoder decides.

    Args:
        passes: Lets it decide.
        engine: Draws the noise.
        requested: The outputs that are asked for.
    """

    def __init__(self, passes: DecisionPasses, engine: RowEngine, requested: Requested) -> None:
        self._passes, self._engine, self._requested = passes, engine, requested
        asked = requested.flipped >> requested.start & (1 << requested.stop - requested.start) - 1
        self._flipped = _packed_mask(asked, requested.stop - requested.start)

    @property
    def name(self) -> str:
        """See ``SamplingEngine.name``."""
        return self._engine.name

    def sample_kept_numbered(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64]]:
        """See ``SamplingEngine.sample_kept_numbered``."""
        found = [self._decided_shots(seed, first, size) for first, size in _chunks(first_shot, shots)]
        return np.concatenate([rows for rows, _ in found]), np.concatenate([kept for _, kept in found])

    def statistics(self) -> dict[str, int]:
        """The statistics of the engine that draws; how many records were decided, and how many flipped."""
        return {**self._engine.statistics(), **self._passes.counts}

    def _decided_shots(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64]]:
        """The outputs of the kept shots that are asked for, and their numbers."""
        requested = self._requested
        rows = self._engine.rows(seed, first_shot, shots)
        numbers = np.arange(first_shot, first_shot + shots, dtype=np.uint64)
        outputs, numbers = self._passes.run(rows, numbers, seed, requested)
        asked = columns(outputs, requested.start, requested.stop) ^ self._flipped
        if requested.rest is not None:
            end = self._passes.plan.num_outputs
            more = columns(outputs, requested.rest, end)
            bits = [
                np.unpackbits(asked, axis=1, count=requested.stop - requested.start, bitorder="little"),
                np.unpackbits(more, axis=1, count=end - requested.rest, bitorder="little"),
            ]
            asked = np.packbits(np.concatenate(bits, axis=1), axis=1, bitorder="little")
        return asked, numbers.astype(np.int64)


def _chunks(first_shot: int, shots: int) -> list[tuple[int, int]]:
    """Ranges of shots that end at multiples of the chunk's size: first shots and sizes."""
    found: list[tuple[int, int]] = []
    first, end = first_shot, first_shot + shots
    while first < end or not found:
        size = min(_CHUNK_SHOTS - first % _CHUNK_SHOTS, end - first)
        found.append((first, size))
        first += size
    return found


def _packed(plan: SamplingPlan, rows: SparseRows) -> npt.NDArray[np.uint64]:
    """Rows of a plan without checks as words: signature, then outputs."""
    signature = plan.num_signature_bits
    dense = rows.dense(plan.num_row_bits)
    return np.hstack([words_of_bits(dense[:, :signature]), words_of_bits(dense[:, signature:])])


def _packed_mask(mask: int, num_bits: int) -> PackedBits:
    return np.frombuffer(mask.to_bytes(-(-num_bits // 8), "little"), dtype=np.uint8)
