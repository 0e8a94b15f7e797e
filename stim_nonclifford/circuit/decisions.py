"""Circuits with decisions: the error models of their questions, and samplers with a decoder in the loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import stim

from ..base.arguments import did_you_mean
from ..dialect import first_decision
from ..rates.decoding.decoders import (
    RateDecoder,
    checked_decoder,
    decompositions,
    first_error_model,
    known_decoders,
    rate_decoder,
)
from ..rates.decoding.kept_shot_decoding import KeptShotDecoding
from ..simulation.compiler import RequestedOutputs, compile_circuit
from ..simulation.decisions import (
    DecidedCircuit,
    DecidingDecoder,
    DecisionEngine,
    Requested,
    frame_circuit,
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
from ..simulation.plan import SamplingPlan
from .error_models import error_model_of

__all__ = ["RAW", "DecisionSampling", "check_raw", "decision_model"]

RAW = "raw"
"""The name in place of a decoder that leaves records as they are."""

_STORE_BYTES = 64 << 20
"""Memory for the answers of the decoders of all decisions. Doubled, frequent events are looked up longer."""


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
    circuit = decided.prefix(number)
    model = first_error_model(frame_circuit(circuit) or _Frames(circuit), attempts)
    seen = stim.DetectorErrorModel()
    for part in model.flattened():
        # What flips records alone, a random outcome among it, is seen by no decoder.
        if part.type != "error" or any(target.is_relative_detector_id() for target in part.targets_copy()):
            seen.append(part)
    for detector in range(seen.num_detectors, circuit.num_detectors):
        seen.append("detector", [], [stim.target_relative_detector_id(detector)])
    for observable in range(seen.num_observables, circuit.num_observables):
        seen.append("logical_observable", [], [stim.target_logical_observable_id(observable)])
    return seen


class _SintersDecisions:
    """Decides by decoders of Sinter, one for each decision; equal rows are decoded once."""

    def __init__(self, decoders: Sequence[RateDecoder | None]) -> None:
        self._decoders = decoders
        self._compiled: list[KeptShotDecoding | None] = []

    def begin(self, models: Sequence[stim.DetectorErrorModel]) -> None:
        self._compiled = [
            None
            if decoder is None
            else KeptShotDecoding(
                decoder.decoder,
                model,
                name=decoder.name,
                num_observables=model.num_observables,
                confidence=False,
                store_bytes=_STORE_BYTES // len(models),
            )
            for decoder, model in zip(self._decoders, models, strict=True)
        ]

    def decide(self, number: int, detectors: PackedBits) -> PackedBits:
        compiled = self._compiled[number]
        assert compiled is not None
        predictions, is_discarded, _ = compiled.decode(detectors)
        if is_discarded.any():
            raise ValueError("it discards shots. A decision needs an answer for each shot.")
        return predictions


def _decoders_of(decoder: Any, decided: DecidedCircuit) -> list[RateDecoder | None]:
    """The decoders of all decisions, by the names in the circuit; None for raw records."""
    found: dict[int, RateDecoder] = {}  # by the identity of the decoder

    def checked(given: Any) -> RateDecoder | None:
        if isinstance(given, str) and given == RAW:
            return None
        return found.setdefault(id(given), rate_decoder(given))

    result = []
    for point in decided.points:
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
    ) -> None:
        self._decided = decided = DecidedCircuit(circuit)
        check_rows(options)
        self._options, self._limit = options, max_active_coordinates
        decides = hasattr(decoder, "begin") and hasattr(decoder, "decide")
        if decides and not isinstance(decoder, type):
            self._decoder: DecidingDecoder = decoder
            attempts = [decompositions(is_matching=True)] * len(decided.points)
            self._raw = []
        else:
            if not isinstance(decoder, (str, Mapping)):
                checked_decoder(decoder)
            decoders = _decoders_of(decoder, decided)
            self._decoder = _SintersDecisions(decoders)
            attempts = [decompositions(each is None or each.is_matching) for each in decoders]
            self._raw = [k for k, each in enumerate(decoders) if each is None]
        models = [decision_model(decided, k, attempts_of) for k, attempts_of in enumerate(attempts)]
        self._decoder.begin(models)
        if all_records:
            records = list(range(circuit.num_measurements))
        else:
            records = sorted(
                {
                    r
                    for k in range(len(models))
                    for axis in decided.axes_of(k)
                    for r in decided.all_axes[axis].records
                }
            )
        self._controls = {record: k for k, record in enumerate(records)}

    @cached_property
    def _plan(self) -> SamplingPlan:
        circuit = self._decided.circuit
        compiled = compile_circuit(
            self._decided.observed(list(self._controls)), likely_outputs, with_decisions=True
        )
        num_known = circuit.num_detectors + circuit.num_observables
        num_outputs = num_known + len(self._controls)
        return compiled.detector_plan(
            RequestedOutputs.of(range(num_outputs)),
            raw=(1 << num_outputs) - (1 << num_known),
            max_active_coordinates=self._limit,
        )

    @cached_property
    def _engine(self) -> RowEngine:
        return row_engine(self._options, self._plan)

    def detector_engine(self, requested: RequestedOutputs, flipped: int) -> SamplingEngine:
        """The engine for detectors and observables.

        Args:
            requested: The outputs that are asked for, neighbours, and those that must be 0.
            flipped: The outputs that are reported inverted, and are postselected so, as a mask.
        """
        start, stop = (requested.reported[0], requested.reported[-1] + 1) if requested.reported else (0, 0)
        return self._with(Requested(start, stop, requested.postselected, flipped))

    def record_engine(self, flipped: int) -> SamplingEngine:
        """The engine for records, some of which are reported inverted: a mask."""
        circuit = self._decided.circuit
        first = circuit.num_detectors + circuit.num_observables
        stop = first + circuit.num_measurements
        return self._with(Requested(first, stop, (), flipped << first))

    def _with(self, requested: Requested) -> SamplingEngine:
        return DecisionEngine(
            self._plan, self._engine, self._decided, self._decoder, self._controls, requested, self._raw
        )
