"""The sampler ``soft_postselect``: discards shots in which a detector fires, and counts the others."""

from __future__ import annotations

import collections
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sinter
from numpy.typing import NDArray

import stim_nonclifford as snc
from stim_nonclifford.base.arrays import Bools
from stim_nonclifford.circuit.logical_states import LogicalState
from stim_nonclifford.circuit.rates import checked_circuit
from stim_nonclifford.dialect import first_decision
from stim_nonclifford.simulation.compiler import DEFAULT_MAX_ACTIVE_COORDINATES
from stim_nonclifford.simulation.engines import EngineName
from stim_nonclifford.simulation.logical_errors.refusals import detectors_left, warn_of_random_outputs
from stim_nonclifford.simulation.sampling import CompiledDetectorSampler

from ..statistics.row_warnings import IGNORED_DETECTORS, RANDOM_OUTPUTS, shown_warnings
from .task_sampler import (
    CompiledSampler,
    TaskSampler,
    circuit_of,
    count_mistakes,
    events_counted,
    mask_of,
    naming_the_task,
)


class CompiledSoftPostselectSampler(CompiledSampler):
    """Samples one task; returned by ``SoftPostselectSampler.compiled_sampler_for_task``."""

    def __init__(
        self,
        sampler: CompiledDetectorSampler,
        settings: SoftPostselectSampler,
        *,
        postselected: tuple[Bools, Bools],
        max_errors: int | None,
        has_seed: bool,
        row_warnings: Sequence[str],
    ) -> None:
        """Wraps a compiled sampler."""
        super().__init__(sampler, has_seed=has_seed, row_warnings=row_warnings)
        self._settings = settings
        self._postselected = postselected
        self._max_errors = max_errors
        self._errors_seen = 0

    def _counted(self, shots: int, *, first_shot: int | None) -> sinter.AnonTaskStats:
        if first_shot is not None:
            self._sampler.seek(first_shot)
        if self._settings.count_detection_events:
            return self._counted_with_events(shots)
        errors_left = None
        if self._max_errors is not None and first_shot is None:
            errors_left = max(1, self._max_errors - self._errors_seen)
        found = self._sampler.sample_counts(shots, max_errors=errors_left)
        self._errors_seen += found.errors
        counts: collections.Counter[str] = collections.Counter()
        if self._settings.count_observable_error_combos:
            for pattern, count in found.error_patterns.items():
                letters = ("_E"[pattern >> k & 1] for k in range(self._sampler.num_observables))
                counts[f"obs_mistake_mask={''.join(letters)}"] = count
        return sinter.AnonTaskStats(
            shots=found.shots, discards=found.discards, errors=found.errors, custom_counts=counts
        )

    def _counted_with_events(self, shots: int) -> sinter.AnonTaskStats:
        discards = errors = 0
        counts: collections.Counter[str] = collections.Counter()
        detectors, observables = self._postselected
        discarding = np.packbits(observables, bitorder="little")
        for batch in events_counted(self._sampler.iter_kept(max_shots=shots), detectors, counts):
            is_discarded = np.any(batch.obs & discarding, axis=1)
            flips = batch.obs[~is_discarded]
            flips = flips[np.any(flips, axis=1)]
            discards += batch.discards + int(np.count_nonzero(is_discarded))
            errors += len(flips)
            if self._settings.count_observable_error_combos:
                count_mistakes(counts, flips, self._sampler.num_observables)
        return sinter.AnonTaskStats(shots=shots, discards=discards, errors=errors, custom_counts=counts)


@dataclass(frozen=True)
class SoftPostselectSampler(TaskSampler[CompiledSoftPostselectSampler]):
    r"""Samples circuits with T gates, and discards a shot if a postselected detector fires.

    It does not decode: a kept shot is an error if any observable is flipped.

    Without a ``postselection_mask`` in the task, all detectors discard; with one, others are ignored, with a
    warning. A flip of a postselected observable discards the shot, and is no error.
    ``custom_counts["survivors"]`` is the number of kept shots, at which Sinter stops with
    ``custom_error_count_key="survivors"``.

    The object can be pickled. Each worker seeds its random numbers with entropy of its own: a sampler with a
    seed would let several workers, and a run that is resumed, count the same shots again. A seed belongs to
    ranges of numbered shots: ``compiled_range_sampler_for_task``, ``sinter_plugin.collect`` and
    ``python -m sinter_plugin collect --seed``. A worker ends when the process that started it ends.

    Attributes:
        engine: The engine to sample with; see ``stim_nonclifford.Circuit.compile_detector_sampler``.
        count_observable_error_combos: Whether to count, for each set of observables, the kept shots in which
            exactly these are flipped, as Sinter does for decoders. With two observables, the count for
            observable 1 alone is ``custom_counts["obs_mistake_mask=_E"]``.
        count_detection_events: Whether to count the detection events of all shots, as Sinter does for
            decoders: ``custom_counts["detection_events"]`` of ``["detectors_checked"]``. Shots that are
            discarded are then sampled to their end, which takes longer.
        max_active_coordinates: Limit for the width of the coefficient vector. Every worker stores 2^width
            complex numbers.
        device: With ``engine="gpu"``, the number of the GPU among those in ``CUDA_VISIBLE_DEVICES``.
        warn: Whether to warn of observables that are random without noise, and of detectors that are not
            postselected. What is wrong stands in the row in any case.
        state_check: A logical state, such as ``"T"``, in place of the observables: a kept shot is an error
            with probability 1 - fidelity. See ``stim_nonclifford.Circuit.with_logical_readout``, whose
            circuit is sampled.

    Examples:
        >>> import sinter, stim
        >>> circuit = stim.Circuit('''
        ...     X_ERROR(0.25) 1
        ...     M 1
        ...     DETECTOR rec[-1]
        ...     RX 0
        ...     S[T] 0
        ...     X_ERROR(0.25) 0
        ...     S_DAG[T] 0
        ...     MX 0
        ...     OBSERVABLE_INCLUDE(0) rec[-1]
        ... ''')
        >>> compiled = SoftPostselectSampler().compiled_sampler_for_task(sinter.Task(circuit=circuit))
        >>> stats = compiled.sample(1000)
        >>> stats.shots
        16
        >>> stats.custom_counts["survivors"] == stats.shots - stats.discards
        True
    """

    engine: EngineName = "auto"
    count_observable_error_combos: bool = False
    max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES
    device: int | None = None
    warn: bool = True
    state_check: snc.LogicalStateCheck | LogicalState | None = None
    count_detection_events: bool = False

    def _compiled(self, task: sinter.Task, seed: int | None) -> CompiledSoftPostselectSampler:
        given = circuit_of(task)
        check_soft_postselect(given, self.state_check)
        circuit = self._read_out(given, task.postselected_observables_mask)
        detectors = mask_of(task, "postselection_mask", circuit.num_detectors)
        if detectors is None:
            detectors = np.ones(circuit.num_detectors, dtype=np.bool_)
        observables = mask_of(task, "postselected_observables_mask", circuit.num_observables)
        with naming_the_task(task, NotImplementedError, snc.ResourceLimitError):
            sampler = self._shots_of(circuit, seed, detectors, observables)
            row_warnings = self.check(given, detectors, observables)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", snc.RandomObservableWarning)  # check() has said it
                sampler.sample_counts(0)
        if observables is None:
            observables = np.zeros(circuit.num_observables, dtype=np.bool_)
        return CompiledSoftPostselectSampler(
            sampler,
            self,
            postselected=(detectors, observables),
            max_errors=task.collection_options.max_errors,
            has_seed=seed is not None,
            row_warnings=row_warnings,
        )

    def _read_out(self, circuit: snc.Circuit, observables: NDArray[Any] | None) -> snc.Circuit:
        """The circuit whose observable is the state check, if there is one."""
        if self.state_check is not None and self.count_observable_error_combos:
            raise ValueError(
                "A state check takes the place of the observables. Leave out state_check or"
                " count_observable_error_combos."
            )
        return checked_circuit(circuit, self.state_check, observables)

    def check(
        self, circuit: snc.Circuit, detectors: Bools | None, observables: Bools | None = None
    ) -> list[str]:
        """The warnings that belong into the rows; see ``TaskSampler.check``."""
        check_soft_postselect(circuit, self.state_check)
        circuit = self._read_out(circuit, observables)
        if detectors is None:
            detectors = np.ones(circuit.num_detectors, dtype=np.bool_)
        names = []
        left = np.flatnonzero(~detectors).tolist()
        with shown_warnings(self.warn):
            if left:
                names.append(IGNORED_DETECTORS)
                warnings.warn(
                    f"{detectors_left(left, len(detectors))}: soft_postselect does not decode, and ignores"
                    " what they see. To decode them, use soft_pymatching or another soft_ decoder"
                    " (docs/guides/decoding.md); without a mask, all detectors discard.",
                    snc.UnusedDetectorsWarning,
                    stacklevel=4,
                )
            chosen = [] if observables is None else np.flatnonzero(observables).tolist()
            postselected = [*np.flatnonzero(detectors).tolist(), *(len(detectors) + k for k in chosen)]
            if warn_of_random_outputs(circuit.compile(), postselected, stacklevel=4):
                names.append(RANDOM_OUTPUTS)
        return names


def check_soft_postselect(
    circuit: snc.Circuit, state_check: snc.LogicalStateCheck | LogicalState | None = None
) -> None:
    """Checks that ``soft_postselect`` finds detectors and observables in a circuit, and no DECODE."""
    found = first_decision(circuit.to_stim())
    if found is not None:
        raise ValueError(
            f"{found}: the circuit asks a decoder, and soft_postselect has none. Use soft_pymatching or"
            " another soft_ decoder, with the postselection mask that you want. If all detectors are"
            " postselected, no record of a kept shot is corrected: then circuit.without_decisions() is the"
            " same circuit."
        )
    if circuit.num_observables == 0 and state_check is None:
        raise ValueError(
            "The circuit has no observables, so logical errors cannot be counted. Declare an observable with"
            " OBSERVABLE_INCLUDE."
        )
    if circuit.num_detectors == 0:
        raise ValueError(
            "The circuit has no detectors, so soft_postselect cannot discard shots. Declare a detector with"
            " DETECTOR."
        )
