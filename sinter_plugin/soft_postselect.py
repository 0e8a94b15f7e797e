"""The sampler ``soft_postselect``: discards on detectors, counts what is left over."""

from __future__ import annotations

import collections
import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import sinter

import stim_nonclifford as snc
from stim_nonclifford.compiler import DEFAULT_MAX_ACTIVE_COORDINATES

from .batch_size import BatchSize
from .masks import unpacked_mask
from .parent_watch import SpawningProcess

__all__ = ["CompiledSoftPostselectSampler", "SoftPostselectSampler"]

_SPAWNING_PROCESS = "spawning process"  # in the state that is pickled, not an attribute


@dataclass(frozen=True)
class SoftPostselectSampler(sinter.Sampler):  # type: ignore[misc]  # Sinter has no type marker.
    r"""Samples circuits with T gates; discards a shot when a postselected detector fires.

    No decoding: a kept shot is an error if any observable is flipped in it.

    * With the task's ``postselection_mask`` a shot is discarded on the detectors in the mask (other
      detectors are ignored), without a mask on all detectors.
    * With the task's ``postselected_observables_mask``, a shot in which an observable in the mask is flipped
      is discarded, and is no error.
    * Of the kept shots, ``custom_counts["survivors"]`` has the number, so that
      ``custom_error_count_key="survivors"`` makes Sinter stop by survivors.

    The object can be pickled; each worker draws its random numbers from fresh entropy of its own. A worker
    that it is sent to ends with the process that started the worker.

    Attributes:
        engine: The engine to sample with; see ``stim_nonclifford.Circuit.compile_detector_sampler``.
        count_observable_error_combos: Whether to count, for each combination of observables, the kept shots
            in which just these are flipped, as Sinter does for decoders: in
            ``custom_counts["obs_mistake_mask=_E"]``, here for observable 1 of 2.
        max_active_coordinates: Limit for the width of the coefficient vector, which needs 2^width complex
            numbers, in every worker.
        device: With ``engine="gpu"``, the number of the GPU among those that ``CUDA_VISIBLE_DEVICES`` shows.

    Examples:
        >>> import sinter, stim
        >>> circuit = stim.Circuit('''
        ...     X_ERROR(0.25) 1
        ...     M 1
        ...     DETECTOR rec[-1]
        ...     RX 0
        ...     S[T] 0
        ...     H 0
        ...     M 0
        ...     OBSERVABLE_INCLUDE(0) rec[-1]
        ... ''')
        >>> compiled = SoftPostselectSampler().compiled_sampler_for_task(sinter.Task(circuit=circuit))
        >>> stats = compiled.sample(1000)
        >>> stats.shots
        16
        >>> stats.custom_counts["survivors"] == stats.shots - stats.discards
        True
    """

    engine: snc.EngineName = "auto"
    count_observable_error_combos: bool = False
    max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES
    device: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, _SPAWNING_PROCESS: SpawningProcess.current()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        spawning_process = state.pop(_SPAWNING_PROCESS, None)
        if spawning_process is not None:
            spawning_process.end_with_it()
        self.__dict__.update(state)

    def compiled_sampler_for_task(self, task: sinter.Task) -> CompiledSoftPostselectSampler:
        """Compiles a task's circuit.

        Args:
            task: The task. Its ``detector_error_model`` is not used.

        Returns:
            The sampler for the task.

        Raises:
            ValueError: The circuit has no observables or no detectors, or a mask has the wrong size.
            NotImplementedError: An instruction is not supported.
            ResourceLimitError: The circuit needs more than ``max_active_coordinates``.
            EngineUnavailableError: ``engine`` is ``"gpu"``, and there is none.
        """
        if task.circuit is None:
            circuit = snc.Circuit.from_file(task.circuit_path)
        else:
            circuit = snc.Circuit(task.circuit)
        check_soft_postselect(circuit)

        if task.postselection_mask is None:
            detectors = np.ones(circuit.num_detectors, dtype=np.bool_)
        else:
            detectors = unpacked_mask(task.postselection_mask, circuit.num_detectors, "postselection_mask")
        observables = None
        if task.postselected_observables_mask is not None:
            observables = unpacked_mask(
                task.postselected_observables_mask,
                circuit.num_observables,
                "postselected_observables_mask",
            )
        try:
            sampler = circuit.compile_detector_sampler(
                seed=None,  # Every worker compiles for itself: no two draw the same random numbers.
                postselection_mask=detectors,
                postselected_observables_mask=observables,
                engine=self.engine,
                threads=1,  # Sinter pins a worker to one core.
                max_active_coordinates=self.max_active_coordinates,
                device=self.device,
            )
        except (NotImplementedError, snc.ResourceLimitError) as error:
            # Sinter does not say which of many tasks failed.
            raise type(error)(f"{error} (In the task with json_metadata={task.json_metadata!r}.)") from error
        return CompiledSoftPostselectSampler(
            sampler,
            num_observables=circuit.num_observables,
            count_observable_error_combos=self.count_observable_error_combos,
            max_errors=task.collection_options.max_errors,
        )


def check_soft_postselect(circuit: snc.Circuit) -> None:
    """Checks that ``soft_postselect`` has something to count in a circuit.

    Args:
        circuit: The circuit.

    Raises:
        ValueError: The circuit has no observables or no detectors.
    """
    if circuit.num_observables == 0:
        raise ValueError(
            "The circuit has no observables for a logical error count."
            " Declare what counts as an error with OBSERVABLE_INCLUDE."
        )
    if circuit.num_detectors == 0:
        raise ValueError(
            "The circuit has no detectors for soft_postselect to discard on. Declare them with DETECTOR."
        )


class CompiledSoftPostselectSampler(sinter.CompiledSampler):  # type: ignore[misc]
    """Samples one task; made by ``SoftPostselectSampler.compiled_sampler_for_task``.

    Threads may share it: their calls follow one another, and no shot is given to two of them.
    """

    def __init__(
        self,
        sampler: snc.CompiledDetectorSampler,
        *,
        num_observables: int,
        count_observable_error_combos: bool = False,
        max_errors: int | None = None,
    ) -> None:
        """Wraps a compiled sampler.

        Args:
            sampler: The sampler, compiled with its masks.
            num_observables: The number of observables of the circuit.
            count_observable_error_combos: Whether to report which observables flipped together.
            max_errors: The number of errors that are wanted of this sampler, if known: a batch ends when
                it is reached.
        """
        self._sampler = sampler
        self._num_observables = num_observables
        self._count_observable_error_combos = count_observable_error_combos
        self._max_errors = max_errors
        self._errors_seen = 0
        self._batch_size = BatchSize()
        self._lock = threading.Lock()

    def handles_throttling(self) -> bool:
        """True: batch sizes are chosen here, as Sinter's limit of 1024 shots would cost most of the speed."""
        return True

    def sample(self, suggested_shots: int) -> sinter.AnonTaskStats:
        """Takes a batch of shots, about 0.2 seconds of work.

        Args:
            suggested_shots: The number of shots that are left to take.

        Returns:
            Statistics of at least one shot and of at most ``suggested_shots``.
        """
        with self._lock:
            shots = self._batch_size.next_shots(suggested_shots)
            errors_left = None if self._max_errors is None else max(1, self._max_errors - self._errors_seen)
            start = time.monotonic()
            counts = self._sampler.sample_counts(shots, max_errors=errors_left)
            seconds = time.monotonic() - start
            self._batch_size.record(shots=counts.shots, seconds=seconds)
            self._errors_seen += counts.errors

        custom_counts = collections.Counter({"survivors": counts.kept})
        if self._count_observable_error_combos:
            for pattern, count in counts.error_patterns.items():
                letters = ("_E"[pattern >> k & 1] for k in range(self._num_observables))
                custom_counts[f"obs_mistake_mask={''.join(letters)}"] = count
        return sinter.AnonTaskStats(
            shots=counts.shots,
            errors=counts.errors,
            discards=counts.discards,
            seconds=seconds,
            custom_counts=+custom_counts,  # without zeros, which Sinter drops at the first addition anyway
        )
