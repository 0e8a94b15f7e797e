"""Samplers with a decoder in the loop."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import stim

from ...base.errors import ResourceLimitError
from ...base.memory import collector_paused
from ...rates.decoding.decoders import checked_decoder, decompositions
from ...simulation.compiler import (
    CompiledCircuit,
    ExpectationCircuit,
    RequestedOutputs,
    compile_circuit,
)
from ...simulation.compiler.heralds import herald_detectors
from ...simulation.decisions import (
    DecidedCircuit,
    DecidingDecoder,
    DecisionEngine,
    DecisionPasses,
    Requested,
)
from ...simulation.engines import (
    EngineOptions,
    RowEngine,
    SamplingEngine,
    check_rows,
    likely_outputs,
    row_engine,
)
from ...simulation.plan import SamplingPlan
from ...simulation.sampling.expectation_values import ExpectationEngine
from .deciding_decoders import MOST_MODELS, STORE_BYTES, FixedDecisions, SintersDecisions, decoders_of
from .models import decision_model


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
        lines: For each line of the circuit, the one that messages name; None: the line itself.
        records: Further records whose values are outputs.
        store_bytes: Memory for the answers of decoders.

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
        lines: Sequence[int] | None = None,
        records: Collection[int] = (),
        store_bytes: int = STORE_BYTES,
    ) -> None:
        self.decided = decided = DecidedCircuit(
            circuit, asks_at_end=asks_at_end, in_hindsight=in_hindsight, lines=lines
        )
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
            decoders = decoders_of(decoder, points, herald_detectors(circuit))
            self.decoder = SintersDecisions(decoders, points, store_bytes)
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
        with collector_paused():
            models = [
                decision_model(branch, k, attempts_of)
                for (branch, k), attempts_of in zip(self._branches.values(), attempts, strict=True)
            ]
        self.decoder.begin(models)
        if all_records:
            wanted = {*range(circuit.num_measurements)}
        elif switched:
            wanted = {record for axis in decided.all_axes for record in axis.records}
        else:
            wanted = {
                record
                for k in range(len(decided.points))
                for axis in decided.axes_of(k)
                for record in decided.all_axes[axis].records
            }
        self.controls = {record: k for k, record in enumerate(sorted(wanted.union(records)))}
        self._num_known = circuit.num_detectors + circuit.num_observables
        self.num_outputs = self._num_known + len(self.controls) + len(decided.bits)

    def fixed_decoder(self) -> FixedDecisions:
        """The decoder with the models of this circuit, for circuits with less noise.

        Raises:
            NotImplementedError: Models depend on records.
        """
        for number, point in enumerate(self.decided.points):
            if self.decided.switching(number):
                raise NotImplementedError(
                    f"Line {point.line}: the error model depends on records that control gates before it."
                    " Compare the rates of circuits with parts of their noise."
                )
        return FixedDecisions(self.decoder)

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
            if len(self._branches) >= MOST_MODELS:
                raise ResourceLimitError(
                    f"Line {self.decided.points[point].line}: the error model depends on records that control"
                    f" gates before it, and {MOST_MODELS} models do not suffice. Apply these gates about"
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
        return self.engine(_requested(requested, flipped))

    def record_engine(self, flipped: int) -> SamplingEngine:
        """The engine for records, some of which are reported inverted: a mask."""
        return self.engine(self._all_records(flipped))

    def detector_expectations(self, requested: RequestedOutputs, flipped: int) -> ExpectationEngine:
        """The engine for detectors, observables and expectation values; see ``detector_engine``."""
        return self.expectations(_requested(requested, flipped))

    def record_expectations(self, flipped: int) -> ExpectationEngine:
        """The engine for records and expectation values; see ``record_engine``."""
        return self.expectations(self._all_records(flipped))

    def _all_records(self, flipped: int) -> Requested:
        stop = self._num_known + self.decided.circuit.num_measurements
        return Requested(self._num_known, stop, (), flipped << self._num_known)

    @property
    def reference(self) -> int:
        """The detectors and observables of the reference sample, as a mask."""
        return self._compiled.reference_detectors(self._limit) & (1 << self._num_known) - 1

    @property
    def engine_name(self) -> str:
        """The name of the engine that draws."""
        return self._engine.name

    def engine(self, requested: Requested) -> DecisionEngine:
        """The engine for some outputs."""
        return DecisionEngine(self.passes(), self._engine, requested)

    def expectations(self, requested: Requested) -> ExpectationEngine:
        """The engine for some outputs and expectation values."""
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


def _requested(requested: RequestedOutputs, flipped: int) -> Requested:
    start, stop = (requested.reported[0], requested.reported[-1] + 1) if requested.reported else (0, 0)
    return Requested(start, stop, requested.postselected, flipped)
