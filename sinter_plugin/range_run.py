"""A run over ranges of shots, from tasks to saved rows, whoever the workers are."""

from __future__ import annotations

import pathlib
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence

import sinter

from stim_nonclifford.base.arguments import seed_of

from .collection_progress import ProgressLine
from .range_collection import CollectionTask, RangeCollection, Workers
from .range_jobs import RangeSampler, TaskPackage
from .range_start import seed_in
from .soft_decoding import SoftDecodingSampler
from .soft_postselect import SoftPostselectSampler
from .statistics.shot_ranges import with_joined_ranges
from .statistics.statistics_file import StatisticsFile, sums_of

__all__ = ["RangeRun", "sampler_of"]


def sampler_of(name: str | None, samplers: Mapping[str, object]) -> RangeSampler:
    """The sampler with a name.

    Args:
        name: The name.
        samplers: Samplers by name.

    Returns:
        The sampler.

    Raises:
        ValueError: There is none with this name that can take ranges of shots.
    """
    sampler = None if name is None else samplers.get(name)
    if isinstance(sampler, SoftPostselectSampler | SoftDecodingSampler):
        return sampler
    able = [
        known
        for known, one in samplers.items()
        if isinstance(one, SoftPostselectSampler | SoftDecodingSampler)
    ]
    raise ValueError(
        f"{name} cannot take ranges of numbered shots, which a run with a seed, on Dask or in shards needs."
        f" Choose a sampler of this package: {', '.join(able)}."
    )


class RangeRun:
    """A run over ranges of shots.

    Args:
        workers: Those who sample.
        tasks: The tasks with their samplers.
        seed: The seed; None for that of the existing statistics if they have one, or for a fresh one.
        shard: Which part of the shots, counted from 1, and how many parts there are.
        max_shots: Limit for the shots of a task, including existing ones, or None.
        max_errors: Limit for its errors, or None.
        error_key: The custom count that ``max_errors`` limits instead, or None.
        max_seconds: Limit for the time, or None.
        job_seconds: How long a range should take, about; None for the default.
        existing_paths: Files with statistics that there are already.
        save_file: The file for new rows, or None.
        print_progress: Whether to show progress.

    Raises:
        ValueError: There is no limit, or existing statistics do not fit the run.
    """

    def __init__(
        self,
        workers: Workers,
        tasks: Sequence[tuple[sinter.Task, RangeSampler]],
        *,
        seed: int | None,
        max_shots: int | None,
        max_errors: int | None,
        error_key: str | None = None,
        shard: tuple[int, int] = (1, 1),
        max_seconds: float | None = None,
        job_seconds: float | None = None,
        existing_paths: Iterable[str | pathlib.Path] = (),
        save_file: StatisticsFile | None = None,
        print_progress: bool = False,
    ) -> None:
        existing: dict[str, sinter.TaskStats] = {}
        for path in existing_paths:
            for stats in sinter.read_stats_from_csv_files(path):
                known = existing.get(stats.strong_id)
                existing[stats.strong_id] = stats if known is None else known + stats
        by_id = {task.strong_id(): (task, sampler) for task, sampler in tasks}
        starts = {}
        for strong_id in by_id:
            known = existing.get(strong_id)
            starts[strong_id] = sinter.AnonTaskStats() if known is None else known.to_anon_stats()
        if seed is None:
            found = {seed_in(start) for start in starts.values()} - {None}
            [seed] = found if len(found) == 1 else [secrets.randbits(53)]
        seed = seed_of(seed)
        self._save_file = save_file
        self._counted: dict[str, sinter.TaskStats] = {}
        self._callback: Callable[[sinter.Progress], None] | None = None
        self._progress = ProgressLine() if print_progress else None
        self.collection = RangeCollection(
            workers,
            seed=seed,
            on_row=self._on_row,
            on_tick=self._on_tick,
            max_seconds=max_seconds,
            job_seconds=job_seconds,
        )
        for strong_id, (task, sampler) in by_id.items():
            limits = task.collection_options.combine(
                sinter.CollectionOptions(max_shots=max_shots, max_errors=max_errors)
            )
            if limits.max_shots is None and limits.max_errors is None and max_seconds is None:
                raise ValueError("The run would never end: give max_shots, max_errors or max_seconds.")
            try:
                self.collection.add(
                    task,
                    TaskPackage.of(sampler, task, seed),
                    starts[strong_id],
                    shard=shard,
                    max_shots=limits.max_shots,
                    max_errors=limits.max_errors,
                    error_key=error_key,
                )
            except ValueError as error:
                raise ValueError(f"Task {task.json_metadata!r}: {error}") from None

    def call_with_rows(self, callback: Callable[[sinter.Progress], None]) -> None:
        """Sets what is called with new rows.

        Args:
            callback: The function.
        """
        self._callback = callback

    def run(self) -> list[sinter.TaskStats]:
        """Runs to the end.

        Returns:
            The statistics of each task, with what there was before.
        """
        try:
            self.collection.run()
        finally:
            if self._progress is not None:
                self._progress.end(self.collection)
        return [self._stats(each) for each in self.collection.tasks]

    def _stats(self, each: CollectionTask) -> sinter.TaskStats:
        task, stats = each.task, each.start + each.saved
        counts = stats.custom_counts.copy()
        counts.update(each.own_counts(self.collection.seed))
        return sinter.TaskStats(
            strong_id=task.strong_id(),
            decoder=task.decoder,
            json_metadata=task.json_metadata,
            shots=stats.shots,
            errors=stats.errors,
            discards=stats.discards,
            seconds=stats.seconds,
            custom_counts=with_joined_ranges(counts),
        )

    def _on_row(self, row: sinter.TaskStats) -> None:
        if self._save_file is not None:
            self._counted = sums_of([*self._counted.values(), row])
            self._save_file.save(self._counted.values())
        if self._callback is not None:
            self._callback(sinter.Progress(new_stats=(row,), status_message=""))

    def _on_tick(self, run: RangeCollection) -> None:
        if self._progress is not None:
            self._progress.show(run)
