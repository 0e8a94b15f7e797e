"""What the samplers of this plugin share: their arguments, compiling a task, and sampling it."""

from __future__ import annotations

import abc
import collections
import contextlib
import math
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Generic, TypeVar, get_args

import numpy as np
import sinter

import stim_nonclifford as snc
from stim_nonclifford.base.arguments import choice, flag, integer, number_of_shots, seed_of
from stim_nonclifford.base.arrays import Bools, Bytes
from stim_nonclifford.circuit.logical_states import LogicalState
from stim_nonclifford.simulation.engines import EngineName, EngineOptions
from stim_nonclifford.simulation.sampling import CompiledDetectorSampler, KeptBatch

from .parent_watch import EndsWithItsParent
from .tasks import bools_of

TARGET_SECONDS = 0.2  # Sinter handles messages, such as errors found by other workers, only between calls.
MAX_SHARE = 1 / 8
MIN_SHOTS = 16


class BatchSize:
    """Chooses batches that take little time, and have at most an eighth of all shots sampled before.

    Sinter checks only between calls whether there are enough errors, and does not tell a sampler what it
    counts, how much it wants, or what other workers have found.
    """

    def __init__(self) -> None:
        self._shots_taken = 0
        self._affordable_shots = math.inf

    def next_shots(self, suggested_shots: int) -> int:
        """The size of the next batch: at least 1, at most ``suggested_shots``."""
        growing = max(MIN_SHOTS, self._shots_taken * MAX_SHARE)
        return max(1, int(min(suggested_shots, self._affordable_shots, growing)))

    def record(self, *, shots: int, seconds: float) -> None:
        """Records a finished batch."""
        self._shots_taken += shots
        self._affordable_shots = shots * TARGET_SECONDS / seconds if seconds > 0 else math.inf


class CompiledSampler(sinter.CompiledSampler, abc.ABC):  # type: ignore[misc]  # Sinter has no type marker.
    """Samples one task.

    Threads may share the object. A lock runs their calls one after the other, and no two calls return the
    same shots.
    """

    def __init__(
        self, sampler: CompiledDetectorSampler, *, has_seed: bool, row_warnings: Sequence[str]
    ) -> None:
        """Wraps a compiled sampler."""
        self._sampler = sampler
        self._has_seed = has_seed
        self._row_warnings = row_warnings
        self._batch_size = BatchSize()
        self._lock = threading.Lock()

    def handles_throttling(self) -> bool:
        """True: this class chooses batch sizes itself, as Sinter's batches of 1024 shots are too slow."""
        return True

    def sample(self, suggested_shots: int) -> sinter.AnonTaskStats:
        """Samples a batch of shots, for at most about 0.2 seconds.

        Args:
            suggested_shots: The largest number of shots to sample.

        Returns:
            Statistics of at least one shot, and of at most ``suggested_shots``.

        Raises:
            ValueError: The sampler has a seed.
        """
        if self._has_seed:
            raise ValueError(
                "This sampler has a seed, so that every worker, and every run that is resumed, would count"
                " the same shots again. Count ranges of its shots with sample_range, or use"
                " compiled_sampler_for_task(task), whose shots nobody has counted before."
            )
        suggested_shots = number_of_shots(suggested_shots, "suggested_shots")
        with self._lock:
            shots = self._batch_size.next_shots(suggested_shots)
            stats = self._timed(shots, None)
            self._batch_size.record(shots=stats.shots, seconds=stats.seconds)
        return stats

    def sample_range(self, first_shot: int, shots: int) -> sinter.AnonTaskStats:
        """Samples the shots of given numbers, all of them, however long that takes.

        Args:
            first_shot: The number of the first shot.
            shots: How many shots.

        Returns:
            Their statistics, which depend on the seed and these numbers alone, except for ``seconds``, if a
            decoder answers equal questions equally.

        Raises:
            ValueError: The sampler has no seed.
        """
        if not self._has_seed:
            raise ValueError(
                "This sampler has no seed, so that its shots have no numbers. Use"
                " compiled_range_sampler_for_task(task, seed=...), or sample(suggested_shots)."
            )
        first_shot, shots = integer(first_shot, "first_shot"), number_of_shots(shots)
        with self._lock:
            return self._timed(shots, first_shot)

    def _timed(self, shots: int, first_shot: int | None) -> sinter.AnonTaskStats:
        start = time.monotonic()
        found = self._counted(shots, first_shot=first_shot)
        counts = found.custom_counts
        counts["survivors"] = found.shots - found.discards
        counts.update(dict.fromkeys(self._row_warnings, found.shots))
        # Without zeros, as Sinter drops zeros when it adds counts.
        return replace(found, seconds=time.monotonic() - start, custom_counts=+counts)

    @abc.abstractmethod
    def _counted(self, shots: int, *, first_shot: int | None) -> sinter.AnonTaskStats:
        """The counts of the next shots, or of a range of them."""


Compiled = TypeVar("Compiled", bound=CompiledSampler)


class TaskSampler(EndsWithItsParent, sinter.Sampler, abc.ABC, Generic[Compiled]):  # type: ignore[misc]  # Sinter has no type marker.
    """A sampler of Sinter's tasks, whose subclasses are dataclasses with these attributes and others."""

    engine: EngineName
    count_observable_error_combos: bool
    count_detection_events: bool
    max_active_coordinates: int
    device: int | None
    warn: bool
    state_check: snc.LogicalStateCheck | LogicalState | None

    def __post_init__(self) -> None:
        """Checks the arguments that all samplers take."""
        EngineOptions(engine=self.engine, device=self.device)
        for name in ("count_observable_error_combos", "count_detection_events", "warn"):
            flag(getattr(self, name), name)
        integer(self.max_active_coordinates, "max_active_coordinates")
        if self.state_check is not None and not isinstance(self.state_check, snc.LogicalStateCheck):
            choice(self.state_check, "state_check", get_args(LogicalState), ", a LogicalStateCheck or None")

    def compiled_sampler_for_task(self, task: sinter.Task) -> Compiled:
        """Compiles a task's circuit, and its decoder if there is one.

        Args:
            task: The task. Its ``detector_error_model`` is used only by a decoder with
                ``error_model="task"``.

        Returns:
            The sampler for the task.

        Raises:
            ValueError: There is nothing to count, to discard or to decode; the decoder is unknown, not
                installed, or refuses the error model; a mask has the wrong size; or the state cannot be
                checked.
            NotImplementedError: An instruction is not supported.
            ResourceLimitError: The circuit needs more than ``max_active_coordinates``.
            EngineUnavailableError: ``engine`` is ``"gpu"``, and no GPU can be used.
        """
        return self._compiled(task, None)

    def compiled_range_sampler_for_task(self, task: sinter.Task, *, seed: int) -> Compiled:
        """Compiles a task's circuit, and its decoder if there is one, for ranges of numbered shots.

        Args:
            task: The task, as for ``compiled_sampler_for_task``.
            seed: The seed of the shots, in range(2**64).

        Returns:
            A sampler that has the method ``sample_range``, and refuses ``sample``.

        Raises:
            ValueError: The seed is out of range; further errors as for ``compiled_sampler_for_task``.

        Examples:
            >>> import stim
            >>> from sinter_plugin import SoftDecodingSampler
            >>> circuit = stim.Circuit.generated(
            ...     "repetition_code:memory", distance=3, rounds=2, before_round_data_depolarization=0.1
            ... )
            >>> task = sinter.Task(circuit=circuit)
            >>> compiled = SoftDecodingSampler().compiled_range_sampler_for_task(task, seed=1)
            >>> first, second, both = (compiled.sample_range(*r) for r in [(0, 500), (500, 500), (0, 1000)])
            >>> first.errors + second.errors == both.errors
            True
        """
        return self._compiled(task, seed_of(seed))

    @abc.abstractmethod
    def check(
        self, circuit: snc.Circuit, detectors: Bools | None, observables: Bools | None = None
    ) -> list[str]:
        """Checks that there is something to count, and warns of what changes the meaning of a count.

        ``detectors`` are the postselected ones, bool, shape (num_detectors,); None: those that discard
        without a mask. ``observables`` likewise; None: none of them. Returned are the warnings that belong
        into the rows, as names of ``custom_counts``; see ``row_warnings``.
        """

    @abc.abstractmethod
    def _compiled(self, task: sinter.Task, seed: int | None) -> Compiled:
        """Compiles a task. Without a seed, workers have fresh entropy, so that no two draw the same shots."""

    def _shots_of(
        self, circuit: snc.Circuit, seed: int | None, detectors: Bools, observables: Bools | None = None
    ) -> CompiledDetectorSampler:
        """The sampler of a circuit's kept shots; of all shots if their detection events are counted."""
        if self.count_detection_events:
            detectors, observables = np.zeros_like(detectors), None
        return circuit.compile_detector_sampler(
            seed=seed,
            postselection_mask=detectors,
            postselected_observables_mask=observables,
            engine=self.engine,
            threads=1,  # Sinter starts one worker per core
            max_active_coordinates=self.max_active_coordinates,
            device=self.device,
        )


def events_counted(
    batches: Iterable[KeptBatch], postselected: Bools, counts: collections.Counter[str]
) -> Iterator[KeptBatch]:
    """Adds up the detection events of batches of all shots, as Sinter does, and yields the kept shots."""
    mask = np.packbits(postselected, bitorder="little")
    for batch in batches:
        counts["detectors_checked"] += batch.shots * len(postselected)
        counts["detection_events"] += int(np.unpackbits(batch.dets).sum(dtype=np.int64))
        is_kept = ~np.any(batch.dets & mask, axis=1)
        values = batch.expectation_values
        yield KeptBatch(
            batch.shots,
            int(np.count_nonzero(~is_kept)),
            batch.dets[is_kept],
            batch.obs[is_kept],
            batch.shot_numbers[is_kept],
            expectation_values=None if values is None else values[is_kept],
        )


def count_mistakes(counts: collections.Counter[str], mistakes: Bytes, num_observables: int) -> None:
    """Counts mistakes, bit-packed, by Sinter's names of sets of observables."""
    patterns, numbers = np.unique(mistakes, axis=0, return_counts=True)
    bits = np.unpackbits(patterns, axis=1, count=num_observables, bitorder="little")
    for pattern, number in zip(bits, numbers, strict=True):
        counts["obs_mistake_mask=" + "".join("_E"[bit] for bit in pattern)] += int(number)


def circuit_of(task: sinter.Task) -> snc.Circuit:
    """The circuit of a task."""
    return snc.Circuit.from_file(task.circuit_path) if task.circuit is None else snc.Circuit(task.circuit)


def mask_of(task: sinter.Task, name: str, num_bits: int) -> Bools | None:
    """A mask of a task, by its name; None if there is none."""
    mask = getattr(task, name)
    return None if mask is None else bools_of(mask, num_bits, name)


@contextlib.contextmanager
def naming_the_task(task: sinter.Task, *errors: type[Exception]) -> Iterator[None]:
    """A context in which errors name the task, which Sinter's report of a failed worker does not."""
    try:
        yield
    except errors as error:
        cause = str(error).replace("kind=", "error_model=")  # as samplers call the argument
        raise type(error)(f"{cause} (In the task with json_metadata={task.json_metadata!r}.)") from error
