"""Circuits with decisions: the error models of their questions, and samplers with a decoder in the loop."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import stim

from ..base.arguments import did_you_mean
from ..base.errors import ResourceLimitError
from ..base.masks import Mask
from ..dialect import first_decision, without_decisions
from ..rates.decoded_rates.faults.decisions import (
    DecidedOutcomes,
    PredictsNothing,
    symptoms_with_decisions,
)
from ..rates.decoded_rates.questions import DecodingProblem
from ..rates.decoding.decoders import (
    CompiledRateDecoder,
    RateDecoder,
    checked_decoder,
    decompositions,
    first_error_model,
    known_decoders,
    rate_decoder,
)
from ..rates.decoding.kept_shot_decoding import KeptShotDecoding
from ..rates.decoding.record_gaps import RecordGaps
from ..simulation.compiler import (
    DEFAULT_MAX_ACTIVE_COORDINATES,
    CompiledCircuit,
    ExpectationCircuit,
    RequestedOutputs,
    compile_circuit,
)
from ..simulation.compiler.heralds import herald_detectors
from ..simulation.decisions import (
    DecidedCircuit,
    DecidingDecoder,
    DecisionEngine,
    DecisionPasses,
    DecisionPoint,
    Question,
    Requested,
    frames_of,
)
from ..simulation.engines import (
    EngineOptions,
    PackedBits,
    RowEngine,
    SamplingEngine,
    check_rows,
    likely_outputs,
    row_engine,
)
from ..simulation.faults import FaultTable
from ..simulation.logical_errors.noiseless_outputs import has_small_angles
from ..simulation.logical_errors.refusals import check_logical_errors
from ..simulation.plan import SamplingPlan
from ..simulation.sampling import CompiledDetectorSampler
from ..simulation.sampling.expectation_values import ExpectationEngine
from ..simulation.sampling.rows import columns
from .error_models import error_model_of

RAW = "raw"
"""The name in place of a decoder that leaves records as they are."""

_RANDOM = 0.5
"""The probability of a random outcome in a list of errors."""

_MOST_MODELS = 1024
"""Error models of all decisions. Doubled, circuits whose models depend on ten records and more take longer
before they are refused."""

_STORE_BYTES = 64 << 20
"""Memory for the answers of the decoders of all decisions. Doubled, frequent events are looked up longer."""

Bools = npt.NDArray[np.bool_]


def check_raw(decoder: Any, circuit: stim.Circuit) -> bool:
    """Whether a sampler takes a circuit as it is, without a decoder: it is raw, or has no decisions.

    Raises:
        ValueError: There is a decoder and no decision, or a decision and no decoder.
    """
    found = first_decision(circuit)
    if isinstance(decoder, str) and decoder == RAW:
        return True
    if found is None and decoder is not None:
        raise ValueError(
            "The circuit has no DECODE, and the decoder would have nothing to decide. Leave decoder= out; to"
            " decode the samples afterwards, see docs/guides/decoding.md."
        )
    if found is not None and decoder is None:
        raise ValueError(
            f"{found}: the circuit asks a decoder. Give it one, as in"
            ' compile_detector_sampler(decoder="pymatching") or compile_sampler(decoder="pymatching");'
            f' decoder="{RAW}" takes the raw records.'
        )
    return found is None


class _Frames:
    """A circuit that is asked for the flips of its Pauli frames."""

    def __init__(self, circuit: stim.Circuit) -> None:
        self._circuit = circuit

    def detector_error_model(
        self,
        *,
        approximate_disjoint_errors: bool,
        decompose_errors: bool = False,
        ignore_decomposition_failures: bool = False,
    ) -> stim.DetectorErrorModel:
        flags = {
            "decompose_errors": decompose_errors,
            "flatten_loops": True,
            "allow_gauge_detectors": False,
            "ignore_decomposition_failures": ignore_decomposition_failures,
            "block_decomposition_from_introducing_remnant_edges": False,
        }
        return error_model_of(
            self._circuit,
            lambda: frames_of(self._circuit),
            "noise_only",
            flags,
            approximate_disjoint_errors,
            None,
        )


def decision_model(
    decided: DecidedCircuit,
    number: int,
    attempts: Sequence[Mapping[str, Any]],
) -> stim.DetectorErrorModel:
    """The error model of a decision: which errors flip its records, and which detectors see them.

    Args:
        decided: The circuit.
        number: The number of the decision.
        attempts: Arguments of ``detector_error_model``, the second ones for where the first fail.
    """
    frames = decided.frame_circuit(number)
    model = first_error_model(frames or _Frames(decided.prefix(number)), attempts)
    asks_for_gaps = decided.points[number].gap is not None
    num_detectors = decided.points[number].num_detectors
    num_observables = len(decided.asked_of(number)) + len(decided.axes_of(number))
    seen = stim.DetectorErrorModel()
    for part in model.flattened():
        # What flips records alone, a random outcome among it, is seen by no decoder. But gaps know of errors.
        is_seen = part.type != "error" or any(t.is_relative_detector_id() for t in part.targets_copy())
        if is_seen or (asks_for_gaps and not (frames is None and part.args_copy()[0] == _RANDOM)):
            seen.append(part)
    for detector in range(seen.num_detectors, num_detectors):
        seen.append("detector", [], [stim.target_relative_detector_id(detector)])
    for observable in range(seen.num_observables, num_observables):
        seen.append("logical_observable", [], [stim.target_logical_observable_id(observable)])
    return seen


class _SintersDecisions:
    """Decides by decoders of Sinter, one for each decision; equal rows are decoded once."""

    def __init__(self, decoders: Sequence[RateDecoder | None], points: Sequence[DecisionPoint]) -> None:
        self._decoders, self._points = decoders, points
        self._compiled: list[KeptShotDecoding | None] = []
        self._gaps: dict[int, list[RecordGaps]] = {}

    def begin(self, models: Sequence[stim.DetectorErrorModel]) -> None:
        for number, model in enumerate(models):
            self._add(number, model, _STORE_BYTES // max(1, len(models)))

    def extend(self, number: int, model: stim.DetectorErrorModel) -> None:
        self._add(number, model, _STORE_BYTES // _MOST_MODELS)

    def _add(self, number: int, model: stim.DetectorErrorModel, store_bytes: int) -> None:
        decoder, point = self._decoders[number], self._points[number]
        if decoder is not None and point.gap is not None:
            self._gaps[len(self._compiled)] = [
                RecordGaps(decoder, model, k, f"Line {point.line}", store_bytes // len(point.records))
                for k in range(len(point.records))
            ]
        if decoder is None or point.gap is not None:
            self._compiled.append(None)
            return
        self._compiled.append(
            KeptShotDecoding(replace(decoder, confidence=False).checked(model), store_bytes)
        )

    def gaps(self, number: int, detectors: PackedBits) -> npt.NDArray[np.float64]:
        return np.stack([gaps(detectors) for gaps in self._gaps[number]], axis=1)

    @property
    def is_random(self) -> bool:
        """Whether a decoder was seen to answer equal questions differently."""
        asked = [*self._compiled, *itertools.chain.from_iterable(self._gaps.values())]
        return any(each is not None and each.is_random for each in asked)

    def decide(self, number: int, detectors: PackedBits) -> PackedBits:
        compiled = self._compiled[number]
        assert compiled is not None
        predictions, is_discarded, _ = compiled.decode(detectors)
        if is_discarded.any():
            raise ValueError("it discards shots. A decision needs an answer for each shot.")
        return predictions


def _decoders_of(
    decoder: Any, points: Sequence[DecisionPoint], heralds: frozenset[int]
) -> list[RateDecoder | None]:
    """The decoders of all decisions, by the names in the circuit; None for raw records."""
    # By the identity of the decoder, whether for gaps, and how many heralds it sees.
    found: dict[tuple[int, bool, int], RateDecoder] = {}

    def checked(given: Any) -> RateDecoder | None:
        if isinstance(given, str) and given == RAW:
            return None
        seen = frozenset(herald for herald in heralds if herald < point.num_detectors)
        key = id(given), point.gap is not None, len(seen)
        if key not in found:
            found[key] = rate_decoder(given, confidence=point.gap is not None, heralds=seen)
        return found[key]

    result = []
    for point in points:
        where = f"Line {point.line}: "
        if not isinstance(decoder, Mapping):
            if point.decoder and point.decoder not in (RAW, *known_decoders()):
                raise ValueError(
                    f"{where}DECODE(decoder={point.decoder}) names a decoder that is not known."
                    f" Give it with the sampler: decoder={{{point.decoder!r}: ...}}."
                )
            result.append(checked(point.decoder or decoder))
            continue
        names = ", ".join(map(repr, decoder))
        if not point.decoder and len(decoder) != 1:
            raise ValueError(
                f"{where}DECODE does not say which of the decoders {names} it asks. Write"
                f" DECODE(decoder={next(iter(decoder), 'name')}), or give a single decoder."
            )
        name = point.decoder or next(iter(decoder))
        if name not in decoder:
            raise ValueError(
                f"{where}DECODE(decoder={name}): decoder= has no such name."
                f"{did_you_mean(name, list(map(str, decoder)))} It has {names or 'none'}."
            )
        result.append(checked(decoder[name]))
    return result


class DecisionSampling:
    """A circuit with decisions and its decoder, from which samplers get their engines.

    Args:
        circuit: The circuit.
        decoder: The name of a decoder, a ``sinter.Decoder``, a dictionary of such by the names in the
            circuit, or an object with the methods of ``DecidingDecoder``.
        options: The choice of an engine.
        max_active_coordinates: Limit for the width of the coefficient vector.
        all_records: Whether the records are asked for.
        asks_at_end: Whether a decoder is asked for the observables at the end, too.
        in_hindsight: Whether it is then asked for all decided records once more.
        sampled: The circuit from which shots are drawn, if its observables are others.

    Raises:
        NotImplementedError: A decision is not supported.
        ValueError: There is no such decoder.
    """

    def __init__(
        self,
        circuit: stim.Circuit,
        decoder: Any,
        options: EngineOptions,
        *,
        max_active_coordinates: int,
        all_records: bool = False,
        asks_at_end: bool = False,
        in_hindsight: bool = False,
        sampled: stim.Circuit | None = None,
    ) -> None:
        self.decided = decided = DecidedCircuit(circuit, asks_at_end=asks_at_end, in_hindsight=in_hindsight)
        self._sampled = circuit if sampled is None else sampled
        assert self._sampled.num_observables == circuit.num_observables
        check_rows(options)
        self._options, self._limit = options, max_active_coordinates
        points = [point for point in decided.points if point.records]
        decides = hasattr(decoder, "begin") and hasattr(decoder, "decide")
        if decides and not isinstance(decoder, type):
            unsure = [point for point in points if point.gap is not None]
            if unsure and not hasattr(decoder, "gaps"):
                raise ValueError(
                    f"Line {unsure[0].line}: SURE asks for complementary gaps, and the decoder"
                    f" {type(decoder).__name__} has no method gaps(number, detectors). Add it, or choose"
                    " decoder='pymatching'."
                )
            self.decoder: DecidingDecoder = decoder
            attempts = [[*decompositions(is_matching=True), {}]] * len(points)
            self._raw = []
        else:
            if not isinstance(decoder, (str, Mapping)):
                checked_decoder(decoder)
            decoders = _decoders_of(decoder, points, herald_detectors(circuit))
            self.decoder = _SintersDecisions(decoders, points)
            attempts = [decompositions(each is None or each.is_matching) for each in decoders]
            self._raw = [k for k, each in enumerate(decoders) if each is None]
        switched = [k for k in range(len(points)) if decided.switching(k)]
        if switched and not hasattr(self.decoder, "extend"):
            raise ValueError(
                f"Line {points[switched[0]].line}: the error model depends on records that control gates"
                f" before it, and the decoder {type(self.decoder).__name__} has no method extend(number,"
                " model), by which it gets the models of other values. Add it, or choose"
                " decoder='pymatching'."
            )
        self._attempts = attempts
        self._branches: dict[tuple[int, tuple[bool, ...]], tuple[DecidedCircuit, int]] = {}
        for k in range(len(points)):
            switching = decided.switching(k)
            applied = (False,) * len(switching)
            branch = decided.branch(switching, applied) if switching else decided
            self._branches[k, applied] = branch, k
        self.decoder.begin(
            [
                decision_model(branch, k, attempts_of)
                for (branch, k), attempts_of in zip(self._branches.values(), attempts, strict=True)
            ]
        )
        if all_records:
            records = list(range(circuit.num_measurements))
        elif switched:
            records = sorted({record for axis in decided.all_axes for record in axis.records})
        else:
            records = sorted(
                {
                    r
                    for k in range(len(decided.points))
                    for axis in decided.axes_of(k)
                    for r in decided.all_axes[axis].records
                }
            )
        self.controls = {record: k for k, record in enumerate(records)}
        self._num_known = circuit.num_detectors + circuit.num_observables
        self.num_outputs = self._num_known + len(records) + len(decided.bits)

    @cached_property
    def _compiled(self) -> CompiledCircuit:
        observed = self.decided.observed(self._sampled, list(self.controls))
        return compile_circuit(observed, likely_outputs, with_decisions=True)

    @cached_property
    def plan(self) -> SamplingPlan:
        """The plan: outputs are detectors, observables, records, and whether each decided one is flipped."""
        return self._compiled.detector_plan(
            RequestedOutputs.of(range(self.num_outputs)),
            raw=self._records,
            max_active_coordinates=self._limit,
        )

    @property
    def _records(self) -> int:
        """The outputs that are records, as a mask."""
        return (1 << self.num_outputs) - (1 << self._num_known)

    @cached_property
    def _engine(self) -> RowEngine:
        return row_engine(self._options, self.plan)

    def passes(self) -> DecisionPasses:
        """What lets the decoder decide."""
        return self._passes_of(self.plan, self._engine)

    def _passes_of(self, plan: SamplingPlan, engine: RowEngine) -> DecisionPasses:
        return DecisionPasses(
            plan, engine, self.decided, self.decoder, self.controls, self._raw, self._branch
        )

    def _branch(self, point: int, applied: tuple[bool, ...]) -> tuple[DecidedCircuit, int]:
        """The circuit in which rotations are applied or not, and the number of the decoder's question."""
        key = point, applied
        if key not in self._branches:
            if len(self._branches) >= _MOST_MODELS:
                raise ResourceLimitError(
                    f"Line {self.decided.points[point].line}: the error model depends on records that control"
                    f" gates before it, and {_MOST_MODELS} models do not suffice. Apply these gates about"
                    " logical operators, which commute with the checks, or let the decoder see less, with"
                    " DECODE(latency=n)."
                )
            branch = self.decided.branch(self.decided.switching(point), applied)
            extend: Callable[[int, stim.DetectorErrorModel], None] = getattr(self.decoder, "extend")  # noqa: B009
            extend(point, decision_model(branch, point, self._attempts[point]))
            self._branches[key] = branch, len(self._branches)
        return self._branches[key]

    def detector_engine(self, requested: RequestedOutputs, flipped: int) -> SamplingEngine:
        """The engine for detectors and observables.

        Args:
            requested: The outputs that are asked for, neighbours, and those that must be 0.
            flipped: The outputs that are reported inverted, and are postselected so, as a mask.
        """
        return DecisionEngine(self.passes(), self._engine, _requested(requested, flipped))

    def record_engine(self, flipped: int) -> SamplingEngine:
        """The engine for records, some of which are reported inverted: a mask."""
        return DecisionEngine(self.passes(), self._engine, self._all_records(flipped))

    def detector_expectations(self, requested: RequestedOutputs, flipped: int) -> ExpectationEngine:
        """The engine for detectors, observables and expectation values; see ``detector_engine``."""
        return self._expectations(_requested(requested, flipped))

    def record_expectations(self, flipped: int) -> ExpectationEngine:
        """The engine for records and expectation values; see ``record_engine``."""
        return self._expectations(self._all_records(flipped))

    def _all_records(self, flipped: int) -> Requested:
        stop = self._num_known + self.decided.circuit.num_measurements
        return Requested(self._num_known, stop, (), flipped << self._num_known)

    def _expectations(self, requested: Requested) -> ExpectationEngine:
        plan = ExpectationCircuit(self._compiled).detector_plan(
            RequestedOutputs.of(range(self.num_outputs)),
            raw=self._records,
            max_active_coordinates=self._limit,
        )
        requested.rest = plan.num_requested

        def engine(rows_and_paths: SamplingPlan) -> SamplingEngine:
            draws = row_engine(self._options, rows_and_paths)
            return DecisionEngine(self._passes_of(rows_and_paths, draws), draws, requested)

        return ExpectationEngine(replace(plan, num_requested=requested.stop - requested.start), engine)


class EndSampler(CompiledDetectorSampler):
    """Samples a circuit with decisions that is decoded at its end.

    Behind the observables of its shots stand the records in which the decoder is interested, and then, for
    each decided record, whether it was flipped.

    Args:
        faults: The faults of the circuit that is sampled, without decisions.
        options: The choice of an engine.
        sampling: What decides.
        seed: The seed; None: entropy.
        postselection_mask: The detectors that discard a shot.
        max_active_coordinates: Limit for the width of the coefficient vector.
    """

    def __init__(
        self,
        faults: FaultTable,
        options: EngineOptions,
        sampling: DecisionSampling,
        *,
        seed: int | None,
        postselection_mask: Mask,
        max_active_coordinates: int,
    ) -> None:
        super().__init__(
            faults,
            options,
            decides=sampling,
            seed=seed,
            postselection_mask=postselection_mask,
            max_active_coordinates=max_active_coordinates,
        )
        self._num_observables = sampling.num_outputs - self._num_detectors


class DecodedEnd:
    """The question at the end of a circuit with decisions, with the decoder's model.

    Args:
        sampling: What decides.
        attempts: Arguments of ``detector_error_model``, the second ones for where the first fail.

    Attributes:
        model: The error model. Its observables are those of the circuit, the decided records if it is asked
            for them in hindsight, and the axes of conditional gates.
        num_axes: How many axes there are.
    """

    def __init__(self, sampling: DecisionSampling, attempts: Sequence[Mapping[str, Any]]) -> None:
        decided = sampling.decided
        point = len(decided.points) - 1
        self.model = decision_model(decided, point, attempts)
        self._question = Question(decided, point, decided.num_observables, sampling.controls)
        self._num_observables, self._num_bits = decided.num_observables, len(decided.bits)
        self._first_flip = decided.num_observables + len(sampling.controls)
        self.num_axes = len(self._question.axes)
        self._first_bits = [*decided.first_bits[:point]]
        # The records of SURE are no decisions about an outcome.
        self._are_decided = np.array(
            [each.gap is None for each in decided.points for _ in each.records], dtype=np.bool_
        )

    def seen(self, dets: PackedBits, obs: PackedBits) -> PackedBits:
        """The detectors as the decoder sees them, bit-packed.

        Args:
            dets: Detectors of shots, bit-packed.
            obs: What ``EndSampler`` has in place of their observables.
        """
        return self._question.seen(dets, self._flips(obs))

    def answers(self, predictions: PackedBits, obs: PackedBits) -> tuple[Bools, Bools, Bools]:
        """What follows from the decoder's predictions.

        Args:
            predictions: The predictions of the model's observables, bit-packed.
            obs: What ``EndSampler`` has in place of the observables of these shots.

        Returns:
            bool: which observables are predicted wrongly, shape (shots, num_observables); in which decisions
            a record was flipped, and in which one would have been decided otherwise in hindsight, shape
            (shots, decisions): without hindsight, none.
        """
        bits = np.unpackbits(predictions, axis=1, count=self.model.num_observables, bitorder="little")
        flips = self._flips(obs)
        answers = self._question.answers(bits.view(np.bool_), flips, obs)
        observed = np.unpackbits(obs, axis=1, count=self._num_observables, bitorder="little").view(np.bool_)
        again = answers[:, self._num_observables :]
        revised = (again ^ flips) & self._are_decided if again.shape[1] else np.zeros_like(flips)
        return answers[:, : self._num_observables] ^ observed, self._by_point(flips), self._by_point(revised)

    def _flips(self, obs: PackedBits) -> Bools:
        end = self._first_flip + self._num_bits
        bits = np.unpackbits(obs, axis=1, count=end, bitorder="little")[:, self._first_flip :]
        return bits.view(np.bool_)

    def _by_point(self, bits: Bools) -> Bools:
        if not self._first_bits:
            return bits
        return np.logical_or.reduceat(bits, self._first_bits, axis=1)


def _requested(requested: RequestedOutputs, flipped: int) -> Requested:
    start, stop = (requested.reported[0], requested.reported[-1] + 1) if requested.reported else (0, 0)
    return Requested(start, stop, requested.postselected, flipped)


def decided_question(
    circuit: stim.Circuit, decoder: RateDecoder, loop_decoder: Any, postselected: Bools
) -> DecodingProblem:
    """A circuit with decisions whose rate is wanted.

    Args:
        circuit: The circuit, tagged.
        decoder: What decodes the observables at the end.
        loop_decoder: What decides; None: the same decoder.
        postselected: bool, shape (num_detectors,): the detectors that discard a shot.

    Raises:
        NotImplementedError: A decision is not supported.
        ValueError: There is no such decoder; an output is random without noise; or errors exclude each other.
    """
    DecidedCircuit(circuit)  # refuses blocks that records switch, for which there are other remedies
    plain = compile_circuit(without_decisions(circuit), likely_outputs)
    plain.check_pauli_noise()
    check_logical_errors(plain, (), range(circuit.num_detectors))
    sampling = DecisionSampling(
        circuit,
        (decoder.name if decoder.is_named else decoder.decoder) if loop_decoder is None else loop_decoder,
        EngineOptions(),
        max_active_coordinates=DEFAULT_MAX_ACTIVE_COORDINATES,
        asks_at_end=True,
    )
    end = DecodedEnd(sampling, decompositions(decoder.is_matching))
    last = KeptShotDecoding(decoder.checked(end.model), _STORE_BYTES)
    num_detectors, num_outputs = circuit.num_detectors, sampling.num_outputs

    def wrong(outputs: PackedBits) -> Bools:
        dets, obs = columns(outputs, 0, num_detectors), columns(outputs, num_detectors, num_outputs)
        predictions, is_discarded, _ = last.decode(end.seen(dets, obs))
        if is_discarded.any():
            raise ValueError(
                f"The decoder {decoder.name} discards shots. Count errors with SoftDecodingSampler."
            )
        return end.answers(predictions, obs)[0]

    def is_random() -> bool:
        return last.is_random or bool(getattr(sampling.decoder, "is_random", False))

    passes = sampling.passes()
    outcomes = DecidedOutcomes(
        passes,
        wrong,
        postselected,
        is_random,
        decoder.name,
        # All detectors and observables are certain then, so that decoders see nothing in each shot.
        is_certain_without_faults=not has_small_angles(passes.plan),
    )
    try:
        symptoms = symptoms_with_decisions(passes.plan, num_detectors, circuit.num_observables, outcomes)
    except ValueError as error:
        raise ValueError(
            "Some errors of the circuit exclude each other, and a sum over fault sets needs independent ones."
            " Count errors with the sampler soft_pymatching (docs/methods/decisions.md)."
        ) from error

    def no_faults() -> NoReturn:
        raise NotImplementedError(
            "error_budget and failures are not available for circuits with DECODE: which faults make a shot"
            " fail depends on what the decoders answer without them. Compare the rates of circuits with parts"
            " of their noise."
        )

    predict = PredictsNothing(circuit.num_observables)
    named = CompiledRateDecoder(decoder.name, predict)
    return DecodingProblem(symptoms, named, postselected, None, False, no_faults)
