"""The samplers ``soft_pymatching`` and others: decode the kept shots of circuits with T gates."""

from __future__ import annotations

import collections
import secrets
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import sinter
import stim

import stim_nonclifford as snc
from stim_nonclifford.base.arguments import choice, flag, integer
from stim_nonclifford.base.arrays import Bools, Bytes, Integers
from stim_nonclifford.circuit.decisions import DecisionSampling, DecodedEnd, EndSampler
from stim_nonclifford.circuit.logical_states import (
    LogicalState,
    LogicalStateCheck,
    state_check_of,
    without_pauli_targets,
)
from stim_nonclifford.circuit.rates import check_loop_decoder
from stim_nonclifford.circuit.rewriting.stand_ins import stim_reads_s_proxy
from stim_nonclifford.dialect import first_decision
from stim_nonclifford.rates.decoding.decoders import (
    RateDecoder,
    checked_decoder,
    decompositions,
    first_error_model,
    rate_decoder,
)
from stim_nonclifford.rates.decoding.distinct_rows import DEFAULT_STORE_BYTES
from stim_nonclifford.rates.decoding.kept_shot_decoding import DecoderFailedError, KeptShotDecoding
from stim_nonclifford.simulation.compiler import DEFAULT_MAX_ACTIVE_COORDINATES
from stim_nonclifford.simulation.engines import EngineName, EngineOptions
from stim_nonclifford.simulation.sampling import CompiledDetectorSampler

from ..statistics.row_warnings import RANDOM_DECODER, RANDOM_DECODER_REMEDY, shown_warnings
from .decoding_warnings import herald_detectors, warn_of_decoding
from .task_sampler import (
    CompiledSampler,
    TaskSampler,
    circuit_of,
    count_mistakes,
    events_counted,
    mask_of,
    naming_the_task,
)
from .tasks import sinter_error_model

ErrorModelName = Literal["s_proxy", "noise_only", "task"]

_MOST_BYTES = (1 << 63) - 1

_MOST_IN_HINDSIGHT = 64
"""Observables and decided records for which a decoder is asked at once, in hindsight:
Sinter's decoders have up to 64. Doubled, some of them refuse."""

_NOISELESS_SHOTS = 64
_SMALLEST_FIDELITY = 0.9
"""A circuit may prepare a state approximately. Of two states with names, the fidelity is at most 0.854."""


class CompiledSoftDecodingSampler(CompiledSampler):
    """Samples and decodes one task; returned by ``SoftDecodingSampler.compiled_sampler_for_task``."""

    def __init__(
        self,
        sampler: CompiledDetectorSampler,
        decoding: KeptShotDecoding,
        settings: SoftDecodingSampler,
        *,
        end: DecodedEnd | None,
        postselected: Bools,
        postselected_observables: Bools,
        state_check: LogicalStateCheck | None,
        seed: int | None,
        row_warnings: Sequence[str],
        task: str,
    ) -> None:
        """Wraps a compiled sampler and a compiled decoder."""
        super().__init__(sampler, has_seed=seed is not None, row_warnings=row_warnings)
        self._settings = settings
        self._task = task
        self._decoding = decoding
        self._end = end  # what the decoder is asked at the end of a circuit with decisions
        self._postselected = postselected
        self._discarding = np.packbits(postselected_observables, bitorder="little")
        self._num_observables = len(postselected_observables)
        self._state_check = state_check
        self._check_seed = secrets.randbits(64) if seed is None else seed

    def statistics(self) -> dict[str, int]:
        """How often equal detection events saved a decode; see ``KeptShotDecoding.statistics``."""
        with self._lock:
            return self._decoding.statistics()

    def _counted(self, shots: int, *, first_shot: int | None) -> sinter.AnonTaskStats:
        was_random = self._decoding.is_random
        found = self._counted_once(shots, first_shot)
        if self._decoding.is_random and not was_random:
            # Some answers may have stood for several shots.
            if self._settings.warn:
                said = f"The decoder answers equal detection events differently. {RANDOM_DECODER_REMEDY}"
                warnings.warn(f"{said} {self._task}", stacklevel=5)
            found = self._counted_once(shots, first_shot)
        if self._decoding.is_random:
            found.custom_counts[RANDOM_DECODER] = shots
        return found

    def _counted_once(self, shots: int, first_shot: int | None) -> sinter.AnonTaskStats:
        discards = errors = 0
        counts: collections.Counter[str] = collections.Counter()
        decoded = self._decoding.statistics()["rows_decoded"]
        with_values = self._state_check is not None
        if first_shot is not None:
            self._sampler.seek(first_shot)
        batches = self._sampler.iter_kept(max_shots=shots, expectation_values=with_values)
        if self._settings.count_detection_events:
            batches = events_counted(batches, self._postselected, counts)
        for batch in batches:
            dets = batch.dets if self._end is None else self._end.seen(batch.dets, batch.obs)
            predictions, is_discarded, confidences = self._decoded(dets, batch.shot_numbers)
            if self._end is None:
                mistakes = predictions ^ batch.obs
            else:
                wrong, corrected, revised = self._end.answers(predictions, batch.obs)
                mistakes = np.packbits(wrong, axis=1, bitorder="little")
            is_discarded |= np.any(mistakes & self._discarding, axis=1)
            if self._end is not None:
                _count_decisions(counts, "corrected", corrected[~is_discarded])
                _count_decisions(counts, "revised", revised[~is_discarded])
            is_wrong = np.any(mistakes, axis=1)
            if self._state_check is not None:
                assert batch.expectation_values is not None
                is_wrong = self._state_check.failures(
                    batch.expectation_values, mistakes, self._check_seed, batch.shot_numbers
                )
            is_wrong = is_wrong[~is_discarded]
            discards += batch.discards + int(np.count_nonzero(is_discarded))
            errors += int(np.count_nonzero(is_wrong))
            if self._settings.confidence:
                gaps = confidences[~is_discarded]
                for letter, chosen in (("C", ~is_wrong), ("E", is_wrong)):
                    for gap, count in zip(*np.unique(gaps[chosen], return_counts=True), strict=True):
                        counts[f"{letter}{gap}"] += int(count)
            if self._settings.count_observable_error_combos:
                count_mistakes(counts, mistakes[~is_discarded][is_wrong], self._num_observables)
        if first_shot is None:  # it depends on what was decoded before
            counts["rows_decoded"] = self._decoding.statistics()["rows_decoded"] - decoded
        return sinter.AnonTaskStats(shots=shots, discards=discards, errors=errors, custom_counts=counts)

    def _decoded(self, dets: Bytes, shot_numbers: Integers) -> tuple[Bytes, Bools, Integers]:
        """Decodes shots; errors name the task and a shot."""
        try:
            return self._decoding.decode(dets)
        except DecoderFailedError as error:
            rows = np.flatnonzero(np.all(dets == error.events, axis=1))
            shot = f" Shot {shot_numbers[rows[0]]} has them." if len(rows) else ""
            raise ValueError(f"{error}{shot} {self._task}") from error
        except ValueError as error:
            raise ValueError(f"{error} {self._task}") from error


@dataclass(frozen=True)
class SoftDecodingSampler(TaskSampler[CompiledSoftDecodingSampler]):
    r"""Samples circuits with T gates, and decodes the shots that postselection keeps.

    What discards a shot, and what is an error, follows Sinter's rules: the decoder sees the detectors of the
    task's ``postselection_mask``, silent; a wrong prediction of a postselected observable discards the shot,
    and so does a decoder that returns a further byte which is not 0. Without a mask, no shot is discarded,
    but the decoder ``"desaturated"`` postselects the detectors that it needs. PyMatching uses heralds
    (``HeraldedMatchingDecoder``), and equal detection events are decoded once.

    ``custom_counts`` has ``"survivors"`` (kept shots), ``"rows_decoded"`` (calls of the decoder), warnings
    (``row_warnings``), with ``confidence`` ``"C20"`` and ``"E20"`` (kept shots with a gap of 20 dB that are
    predicted rightly and wrongly), and in circuits with decisions ``"corrected_0"`` and ``"revised_0"``. See
    docs/guides/decoding.md and docs/methods/decisions.md.

    Attributes:
        decoder: The name of a decoder, such as ``"pymatching"``, or any ``sinter.Decoder``.
        error_model: What the decoder is told: ``"s_proxy"`` or ``"noise_only"`` (see
            ``stim_nonclifford.Circuit.detector_error_model``), ``"task"`` for the ``detector_error_model`` of
            the task, or a model. With a state check, ``"noise_only"`` takes the place of ``"s_proxy"`` where
            Stim refuses this, as the S-proxy of a T state has no X. Circuits with decisions have a model of
            their own (docs/methods/decisions.md).
        loop_decoder: What decides at each DECODE of the circuit: see ``compile_detector_sampler``. None: the
            decoder itself.
        confidence: Whether to count shots by the decoder's confidence. ``"pymatching"`` is then replaced by
            ``MatchingGapDecoder`` and ``"chromobius"`` by ``ChromobiusGapDecoder``; other decoders need the
            method of ``ConfidentDecoder``.
        state_check: The logical state that is checked in the decoded frame, by expectation values: the name
            of a state such as ``"T"``, or a ``LogicalStateCheck``. A kept shot is then an error if the check
            fails, instead of if a prediction is wrong.
        condition_on_postselection: Whether errors that would discard the shot are left out of the model.
        decompose_errors: Whether errors that flip more than two detectors are decomposed as far as possible,
            as Sinter does. False: the decoder gets the errors as they are, as decoders of hypergraphs do best
            with.
        store_bytes: Memory for detection events decoded before; 0 decodes every kept shot.
        engine: The engine to sample with; see ``stim_nonclifford.Circuit.compile_detector_sampler``.
        count_observable_error_combos: Whether to count, for each set of observables, the kept shots in which
            exactly these are predicted wrongly, by Sinter's names (``obs_mistake_mask=_E``).
        count_detection_events: Whether to count the detection events of all shots, as Sinter does for
            decoders: ``custom_counts["detection_events"]`` of ``["detectors_checked"]``. Shots that are
            discarded are then sampled to their end, which takes longer.
        max_active_coordinates: Limit for the width of the coefficient vector.
        device: With ``engine="gpu"``, the number of the GPU.
        warn: Whether to warn of detectors that depend on quantum outcomes and are not postselected, of
            observables that single errors flip by chance, of observables and decoded detectors that are
            random without noise, and of heralds that the decoder cannot use; and to look whether the circuit
            prepares the checked state. What is wrong stands in the row in any case.

    Examples:
        >>> circuit = stim.Circuit.generated(
        ...     "surface_code:rotated_memory_x", distance=3, rounds=3, after_clifford_depolarization=0.01
        ... )
        >>> compiled = SoftDecodingSampler().compiled_sampler_for_task(sinter.Task(circuit=circuit))
        >>> stats = compiled.sample(1000)
        >>> stats.shots, stats.discards
        (16, 0)
    """

    decoder: str | sinter.Decoder = "pymatching"
    error_model: ErrorModelName | stim.DetectorErrorModel = "s_proxy"
    confidence: bool = False
    state_check: LogicalStateCheck | LogicalState | None = None
    condition_on_postselection: bool = False
    decompose_errors: bool = True
    store_bytes: int = DEFAULT_STORE_BYTES
    engine: EngineName = "auto"
    count_observable_error_combos: bool = False
    max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES
    device: int | None = None
    warn: bool = True
    loop_decoder: Any = None
    count_detection_events: bool = False

    def __post_init__(self) -> None:
        """Checks the arguments."""
        super().__post_init__()
        if not isinstance(self.decoder, str):
            checked_decoder(self.decoder)
        check_loop_decoder(self.loop_decoder)
        if not isinstance(self.error_model, stim.DetectorErrorModel):
            choice(
                self.error_model, "error_model", get_args(ErrorModelName), ", or a stim.DetectorErrorModel"
            )
        for name in ("confidence", "condition_on_postselection", "decompose_errors"):
            flag(getattr(self, name), name)
        integer(self.store_bytes, "store_bytes", 0, _MOST_BYTES)

    def _compiled(self, task: sinter.Task, seed: int | None) -> CompiledSoftDecodingSampler:
        circuit = circuit_of(task)
        whole = self._model(circuit, None, task) if self._decodes_kept_shots(circuit) else None
        given = mask_of(task, "postselection_mask", circuit.num_detectors)
        detectors = self._postselected(circuit, given, whole)
        observables = mask_of(task, "postselected_observables_mask", circuit.num_observables)
        if observables is None:
            observables = np.zeros(circuit.num_observables, dtype=np.bool_)
        row_warnings = self._row_warnings(circuit, detectors, observables)
        check = self._state_check_of(circuit)
        sampled = circuit if check is None else frame_circuit(circuit)
        end: DecodedEnd | None = None
        with naming_the_task(task, ValueError, NotImplementedError, snc.ResourceLimitError):
            if first_decision(circuit.to_stim()) is None:
                model = whole or self._model(circuit, detectors, task)
                sampler = self._shots_of(sampled, seed, detectors)
            else:
                sampler, end = self._deciding(circuit, sampled, seed, detectors)
                model = end.model
            decoder = rate_decoder(self.decoder, self.confidence, herald_detectors(circuit))
            checked = replace(decoder, confidence=self.confidence).checked(model)
            decoding = KeptShotDecoding(checked, self.store_bytes)
        return CompiledSoftDecodingSampler(
            sampler,
            decoding,
            self,
            end=end,
            postselected=detectors,
            postselected_observables=observables,
            state_check=check,
            seed=seed,
            row_warnings=row_warnings,
            task=f"(In the task with decoder={task.decoder!r}, json_metadata={task.json_metadata!r}.)",
        )

    def _deciding(
        self, circuit: snc.Circuit, sampled: snc.Circuit, seed: int | None, detectors: Bools
    ) -> tuple[CompiledDetectorSampler, DecodedEnd]:
        """The sampler of a circuit with decisions, and what the decoder is asked at its end."""
        for name, default in (("error_model", "s_proxy"), ("condition_on_postselection", False)):
            value = getattr(self, name)
            if isinstance(value, stim.DetectorErrorModel) or value != default:
                raise ValueError(
                    f"{name} is not for circuits with DECODE, whose decoders are told the models of their"
                    f" questions (docs/methods/decisions.md). Leave {name} out."
                )
        options = EngineOptions(engine=self.engine, device=self.device)
        num_bits = sum(len(point.records) for point in circuit.decision_points())
        in_hindsight = not self.confidence and circuit.num_observables + num_bits <= _MOST_IN_HINDSIGHT
        try:
            sampling = DecisionSampling(
                circuit.to_stim(),
                self.decoder if self.loop_decoder is None else self.loop_decoder,
                options,
                max_active_coordinates=self.max_active_coordinates,
                asks_at_end=True,
                in_hindsight=in_hindsight,
                sampled=sampled.to_stim(),
            )
        except ValueError as error:
            here = "with the sampler: SoftDecodingSampler(loop_"
            raise ValueError(
                str(error).replace("with the sampler: ", here).replace("...}.", "...}).")
            ) from None
        end = DecodedEnd(sampling, self._decompositions())
        if self.confidence and end.num_axes:
            raise ValueError(
                "confidence is not available for this circuit, in which an observable depends on errors"
                " before a gate that a record controls: the decoder is asked for these, too, and its gap"
                " would be that of all questions together. Leave confidence out."
            )
        sampler = EndSampler(
            sampled._undecided()._fault_table(),
            options,
            sampling,
            seed=seed,
            postselection_mask=np.zeros_like(detectors) if self.count_detection_events else detectors,
            max_active_coordinates=self.max_active_coordinates,
        )
        return sampler, end

    def _decompositions(self) -> list[dict[str, Any]]:
        """The ways to decompose the decoder's model, the second one where the first is impossible."""
        decoder = self._chosen
        if not self.decompose_errors or decoder.decodes_kept_shots:
            return [{}]
        return decompositions(decoder.is_matching or (self.confidence and not decoder.is_named))

    def _state_check_of(self, circuit: snc.Circuit) -> LogicalStateCheck | None:
        """The state check, with the numbers of the circuit's expectation values and observables."""
        if self.state_check is None:
            return None
        check = state_check_of(circuit.to_stim(), self.state_check)
        if not check.observables:
            raise ValueError(
                "The state check has no observables, so that no decoder can say in which frame the state is."
                " Add OBSERVABLE_INCLUDE with the Pauli product of each EXP_VAL, at its place."
            )
        return check

    def _decodes_kept_shots(self, circuit: snc.Circuit) -> bool:
        if not circuit.num_detectors or not self._chosen.decodes_kept_shots:
            return False
        if first_decision(circuit.to_stim()) is not None:
            raise ValueError(
                f"The decoder {self._chosen.name} does not decide: it decodes kept shots only. Use"
                " soft_pymatching for circuits with DECODE."
            )
        if self.condition_on_postselection:
            raise ValueError(
                "Desaturation explains pairs of errors that flip the same postselected detector, which a"
                " conditioned model has forgotten. Leave out condition_on_postselection, or decode with"
                " pymatching."
            )
        return True

    def _postselected(
        self, circuit: snc.Circuit, given: Bools | None, whole: stim.DetectorErrorModel | None = None
    ) -> Bools:
        """The detectors that discard a shot: the given ones, or those that the decoder needs."""
        if not self._decodes_kept_shots(circuit):
            return np.zeros(circuit.num_detectors, dtype=np.bool_) if given is None else given
        return self._chosen.postselected(whole or self._model_of_circuit(circuit, "s_proxy"), given)

    def check(
        self, circuit: snc.Circuit, detectors: Bools | None, observables: Bools | None = None
    ) -> list[str]:
        """The warnings that belong into the rows; see ``TaskSampler.check``."""
        return self._row_warnings(circuit, self._postselected(circuit, detectors), observables)

    def _row_warnings(self, circuit: snc.Circuit, detectors: Bools, observables: Bools | None) -> list[str]:
        chosen = self._chosen
        if circuit.num_observables == 0:
            raise ValueError(
                "The circuit has no observables, so there is nothing to predict. Declare an observable with"
                " OBSERVABLE_INCLUDE."
            )
        if detectors.all():
            which = "All detectors are postselected" if len(detectors) else "There are no detectors"
            if first_decision(circuit.to_stim()) is not None:
                raise ValueError(
                    f"{which}, so that no record of a kept shot is ever corrected. Sample"
                    " circuit.without_decisions(), with soft_postselect."
                )
            raise ValueError(
                f"{which}, so there is nothing left to decode. To count the errors among the kept shots, use"
                " the sampler soft_postselect."
            )
        check = self._state_check_of(circuit)
        has_rules = self.count_observable_error_combos or (observables is not None and observables.any())
        if check is not None and has_rules:
            raise ValueError(
                "With a state check, a prediction alone is neither right nor wrong. Leave out"
                " postselected_observables_mask and count_observable_error_combos."
            )
        if check is not None and self.warn:
            _check_state_without_noise(circuit, check, detectors)
        with shown_warnings(self.warn):
            return warn_of_decoding(
                circuit,
                detectors,
                decoder=chosen.name if chosen.is_named else None,
                counts_flips=check is None,
                stacklevel=4,
            )

    @property
    def _chosen(self) -> RateDecoder:
        return rate_decoder(self.decoder, self.confidence)

    def _model(
        self, circuit: snc.Circuit, detectors: Bools | None, task: sinter.Task
    ) -> stim.DetectorErrorModel:
        kind: Any = self.error_model
        if isinstance(kind, str) and kind == "task":
            if task.detector_error_model is None:
                raise ValueError('error_model="task" needs a task with a detector_error_model.')
            kind = task.detector_error_model
            stims = circuit.to_stim()
            if not stim_reads_s_proxy(stims) and kind == sinter_error_model(stims):
                raise ValueError(
                    "The task's detector_error_model is the one that Stim computes, which ignores tags: it"
                    " reads rotations such as R_X(0.5) as the identity or as SPP, and gates that a record"
                    ' controls as CZ. Choose error_model="s_proxy" or "noise_only", or set the task\'s model'
                    " to stim_nonclifford.Circuit.detector_error_model(...)."
                )
        return self._model_of_circuit(circuit, kind, detectors)

    def _model_of_circuit(
        self, circuit: snc.Circuit, kind: Any, detectors: Bools | None = None
    ) -> stim.DetectorErrorModel:
        """The first model that there is: the decomposed one if it is asked for, and then ``noise_only``."""
        arguments: dict[str, Any] = {"kind": kind}
        if self.condition_on_postselection:
            arguments["postselection_mask"] = detectors
        attempts = self._decompositions()
        if self.state_check is not None and kind == "s_proxy":
            # The S-proxy of a T state has no X, so that Stim refuses an observable of it.
            attempts += [{"kind": "noise_only", **attempt} for attempt in attempts]
        return first_error_model(circuit, [arguments | attempt for attempt in attempts])


def _count_decisions(counts: collections.Counter[str], name: str, happened: Bools) -> None:
    for decision, count in enumerate(happened.sum(axis=0).tolist()):
        counts[f"{name}_{decision}"] += count


def frame_circuit(circuit: snc.Circuit) -> snc.Circuit:
    """The circuit whose observables are sums of records alone."""
    return snc.Circuit(without_pauli_targets(circuit.to_stim()))


def _check_state_without_noise(circuit: snc.Circuit, check: LogicalStateCheck, detectors: Bools) -> None:
    """Checks by some kept shots without noise that a circuit prepares the state that is checked."""
    # Without noise, decided records are raw.
    noiseless = circuit.without_decisions().without_noise()
    sampler = frame_circuit(noiseless).compile_detector_sampler(seed=0, postselection_mask=detectors)
    for batch in sampler.iter_kept(max_shots=_NOISELESS_SHOTS, expectation_values=True):
        assert batch.expectation_values is not None
        fidelities = check.fidelities(batch.expectation_values, batch.obs)
        worst = int(fidelities.argmin())
        if fidelities[worst] < _SMALLEST_FIDELITY:
            values = batch.expectation_values[worst]
            shown = ", ".join(f"expectation value {k} is {values[k]:.4f}" for k in check.expectation_values)
            raise ValueError(
                f"Without noise the fidelity with the checked state is {fidelities[worst]:.6f} ({shown})."
                " Check the state that the circuit prepares: another name or other weights, or turn the sign"
                " of an EXP_VAL around (EXP_VAL !Y0*Y1)."
            )
